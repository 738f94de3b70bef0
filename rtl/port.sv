// SPDX-License-Identifier: MIT
// The port: pieces are packed into words, which wait until they are taken.
module vs_port #(
    parameter WORD  = 16,
    parameter WORDS = 16,
    parameter PIECE = 12
) (
    input  logic                       clk,
    input  logic                       reset,
    input  logic                       piece_valid,
    output logic                       piece_ready,
    input  logic [PIECE-1:0]           piece,
    input  logic [$clog2(PIECE+1)-1:0] length,
    input  logic                       flush,
    output logic                       word_valid,
    input  logic                       word_ready,
    output logic [WORD-1:0]            word,
    output logic [$clog2(WORD+1)-1:0]  tail,
    output logic                       idle
);
    localparam TAIL  = $clog2(WORD + 1);
    localparam LEVEL = $clog2(WORDS + 1);

    logic             packed_valid, packed_ready;
    logic [WORD-1:0]  packed_word;
    logic [TAIL-1:0]  packed_tail, last_tail;
    logic [LEVEL-1:0] level;

    vs_packer #(.WORD(WORD), .PIECE(PIECE)) packer (
        .clk(clk), .reset(reset), .piece_valid(piece_valid), .piece_ready(piece_ready),
        .piece(piece), .length(length), .flush(flush), .word_valid(packed_valid),
        .word_ready(packed_ready), .word(packed_word), .tail(packed_tail)
    );

    wire push = packed_valid && packed_ready;
    wire pop  = word_valid && word_ready;
    assign packed_ready = level != LEVEL'(WORDS);
    assign word_valid   = level != 0;
    vs_fifo #(.WIDTH(WORD), .DEPTH(WORDS)) queue (
        .clk(clk), .reset(reset), .push(push), .in(packed_word), .pop(pop), .out(word),
        .level(level)
    );

    // only the last word can be short
    assign tail = level == LEVEL'(1) ? last_tail : TAIL'(WORD);
    always_ff @(posedge clk) if (push) last_tail <= packed_tail;

    assign idle = !piece_valid && !packed_valid && level == 0;
endmodule
