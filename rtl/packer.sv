// SPDX-License-Identifier: MIT
// The bit packer: pieces of any length become words of WORD bits, the first bit lowest. It takes a
// piece when less than a word is pending, and gives a word when it has one. `flush` gives the
// last bits, of which there are `tail`, filled up with zeros, once no piece comes any more.
module vs_packer #(
    parameter WORD  = 16,
    parameter PIECE = 12
) (
    input  logic                       clk,
    input  logic                       reset,
    input  logic                       piece_valid,
    output logic                       piece_ready,
    input  logic [PIECE-1:0]           piece,    // zero above its length
    input  logic [$clog2(PIECE+1)-1:0] length,
    input  logic                       flush,
    output logic                       word_valid,
    input  logic                       word_ready,
    output logic [WORD-1:0]            word,
    output logic [$clog2(WORD+1)-1:0]  tail
);
    localparam MOST = WORD - 1 + PIECE;
    localparam BITS = $clog2(MOST + 1);
    localparam TAIL = $clog2(WORD + 1);

    logic [MOST-1:0] pending;
    logic [BITS-1:0] fill;

    wire full  = fill >= BITS'(WORD);
    wire taken = piece_valid && piece_ready;

    assign piece_ready = !full;
    assign word_valid  = full || (flush && fill != 0 && !piece_valid);
    assign word        = pending[WORD-1:0];
    assign tail        = full ? TAIL'(WORD) : TAIL'(fill);

    always_ff @(posedge clk) begin
        if (reset) begin
            pending <= '0;
            fill    <= '0;
        end else if (taken) begin
            pending <= pending | MOST'(piece) << fill;
            fill    <= fill + BITS'(length);
        end else if (word_valid && word_ready) begin
            pending <= pending >> WORD;
            fill    <= full ? fill - BITS'(WORD) : '0;
        end
    end
endmodule
