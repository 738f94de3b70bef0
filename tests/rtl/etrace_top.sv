// SPDX-License-Identifier: MIT
// vs_etrace as the test bench drives it: as vs_mcftr of one core, whose blocks are whole steps.
module top #(
    parameter PACKETS = 4,
    parameter WORD    = 16,
    parameter WORDS   = 16
) (
    input  logic         clk,
    input  logic         reset,
    output logic         ready,
    input  logic [3:0]   step,
    input  logic [11:0]  kind,
    input  logic [63:0]  icount,
    input  logic [255:0] pc,
    input  logic [255:0] target,
    input  logic [15:0]  size,
    input  logic [3:0]   taken,
    input  logic [3:0]   returns,
    input  logic [3:0]   calls,
    input  logic [255:0] cycle,
    output logic [3:0]   room,
    output logic [3:0]   lost,
    input  logic         flush,
    output logic         word_valid,
    input  logic         word_ready,
    output logic [31:0]  word,
    output logic [5:0]   tail,
    output logic         idle,
    output logic [31:0]  cores,
    output logic [31:0]  block,
    output logic [31:0]  word_bits,
    output logic [31:0]  time_bits
);
    assign cores     = 1;
    assign block     = 16;
    assign word_bits = WORD;
    assign time_bits = 0;
    assign lost      = 0;
    assign ready     = 1;

    logic                      free;
    logic [WORD-1:0]           out;
    logic [$clog2(WORD+1)-1:0] out_tail;
    assign room = 4'(free);
    assign word = 32'(out);
    assign tail = 6'(out_tail);

`ifdef NETLIST  // it has its parameters
    vs_etrace etrace (
`else
    vs_etrace #(.PACKETS(PACKETS), .WORD(WORD), .WORDS(WORDS)) etrace (
`endif
        .clk(clk), .reset(reset), .ready(free), .step(step[0]), .kind(kind[2:0]),
        .one(icount[15:0] == 1), .none(icount[15:0] == 0), .pc(pc[63:0]), .target(target[63:0]),
        .taken(taken[0]), .flush(flush), .word_valid(word_valid), .word_ready(word_ready),
        .word(out), .tail(out_tail), .idle(idle)
    );
endmodule
