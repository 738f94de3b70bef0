// SPDX-License-Identifier: MIT
// vs_mcftr as the test bench drives it: ports have the same widths whatever its parameters are.
module top #(
    parameter CORES       = 1,
    parameter GSHARE      = 4096,
    parameter FOLDED      = 0,
    parameter RAS         = 32,
    parameter IBTB        = 64,
    parameter PIR_ALL     = 0,
    parameter PIR_BITS    = 16,
    parameter PIR_PC_BITS = 13,
    parameter TAGGED      = 0,
    parameter BASE        = 512,
    parameter TABLES      = 6,
    parameter ENTRIES     = 128,
    parameter TAG         = 8,
    parameter [16*TABLES-1:0] LENGTHS = {16'd120, 16'd57, 16'd27, 16'd13, 16'd6, 16'd3},
    parameter LOOPS       = 16,
    parameter ITTAGE      = 16,
    parameter ITTAGE_TABLES = 3,
    parameter ITTAGE_TAG  = 8,
    parameter TARGET_BITS = 20,
    parameter BCNT        = 16,
    parameter ICNT        = 16,
    parameter ADDRESS     = 64,
    parameter TIME        = 0,
    parameter BLOCK       = 4,
    parameter BCNT_FIRST  = 4,
    parameter BCNT_NEXT   = 2,
    parameter ICNT_FIRST  = 4,
    parameter ICNT_NEXT   = 2,
    parameter TA_FIRST    = 3,
    parameter TA_NEXT     = 5,
    parameter DCC_FIRST   = 4,
    parameter DCC_NEXT    = 2,
    parameter CHUNKS      = 2,
    parameter RECORDS     = 4,
    parameter WORD        = 16,
    parameter WORDS       = 16
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
    localparam T = TIME != 0 ? TIME : 1;

    assign cores     = CORES;
    assign block     = BLOCK;
    assign word_bits = WORD;
    assign time_bits = TIME;

    logic [ADDRESS*CORES-1:0] pcs, targets;
    logic [BLOCK*CORES-1:0]   icounts;
    logic [T*CORES-1:0]       cycles;
    genvar i;
    generate
        for (i = 0; i < CORES; i = i + 1) begin : core
            assign pcs[ADDRESS*i+:ADDRESS]     = pc[64*i+:ADDRESS];
            assign targets[ADDRESS*i+:ADDRESS] = target[64*i+:ADDRESS];
            assign icounts[BLOCK*i+:BLOCK]     = icount[16*i+:BLOCK];
            assign cycles[T*i+:T]              = cycle[64*i+:T];
        end
    endgenerate

    logic [CORES-1:0]          rooms, losts;
    logic [WORD-1:0]           out;
    logic [$clog2(WORD+1)-1:0] out_tail;
    assign room = 4'(rooms);
    assign lost = 4'(losts);
    assign word = 32'(out);
    assign tail = 6'(out_tail);

`ifdef NETLIST  // it has its parameters
    vs_mcftr mcftr (
`else
    vs_mcftr #(
        .CORES(CORES), .GSHARE(GSHARE), .FOLDED(FOLDED), .RAS(RAS), .IBTB(IBTB), .PIR_ALL(PIR_ALL),
        .PIR_BITS(PIR_BITS), .PIR_PC_BITS(PIR_PC_BITS), .TAGGED(TAGGED), .BASE(BASE),
        .TABLES(TABLES), .ENTRIES(ENTRIES), .TAG(TAG), .LENGTHS(LENGTHS), .LOOPS(LOOPS),
        .ITTAGE(ITTAGE), .ITTAGE_TABLES(ITTAGE_TABLES), .ITTAGE_TAG(ITTAGE_TAG),
        .TARGET_BITS(TARGET_BITS), .BCNT(BCNT), .ICNT(ICNT),
        .ADDRESS(ADDRESS), .TIME(TIME), .BLOCK(BLOCK), .BCNT_FIRST(BCNT_FIRST),
        .BCNT_NEXT(BCNT_NEXT), .ICNT_FIRST(ICNT_FIRST), .ICNT_NEXT(ICNT_NEXT),
        .TA_FIRST(TA_FIRST), .TA_NEXT(TA_NEXT), .DCC_FIRST(DCC_FIRST), .DCC_NEXT(DCC_NEXT),
        .CHUNKS(CHUNKS), .RECORDS(RECORDS), .WORD(WORD), .WORDS(WORDS)
    ) mcftr (
`endif
        .clk(clk), .reset(reset), .ready(ready), .step(step[CORES-1:0]), .kind(kind[3*CORES-1:0]),
        .icount(icounts), .pc(pcs), .target(targets), .size(size[4*CORES-1:0]),
        .taken(taken[CORES-1:0]), .returns(returns[CORES-1:0]), .calls(calls[CORES-1:0]),
        .cycle(cycles), .room(rooms), .lost(losts), .flush(flush), .word_valid(word_valid),
        .word_ready(word_ready), .word(out), .tail(out_tail), .idle(idle)
    );
endmodule
