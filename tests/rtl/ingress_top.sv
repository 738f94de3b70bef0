// SPDX-License-Identifier: MIT
// vs_ingress and one core's vs_mcftr, as tests/rtl/ingress.cpp drives them.
module top #(
    parameter CORES       = 1,
    parameter GSHARE      = 4096,
    parameter FOLDED      = 0,
    parameter RAS         = 32,
    parameter IBTB        = 64,
    parameter PIR_ALL     = 0,
    parameter PIR_BITS    = 16,
    parameter PIR_PC_BITS = 13,
    parameter BCNT        = 16,
    parameter ICNT        = 16,
    parameter TIME        = 0,
    parameter BLOCK       = 12,
    parameter BCNT_FIRST  = 4,
    parameter BCNT_NEXT   = 2,
    parameter ICNT_FIRST  = 4,
    parameter ICNT_NEXT   = 2,
    parameter TA_FIRST    = 3,
    parameter TA_NEXT     = 5,
    parameter DCC_FIRST   = 4,
    parameter DCC_NEXT    = 2,
    parameter CHUNKS      = 2
) (
    input  logic        clk,
    input  logic        reset,
    output logic        ready,
    input  logic        valid,
    input  logic [3:0]  itype,
    input  logic [63:0] iaddr,
    input  logic [12:0] iretire,
    input  logic        ilastsize,
    input  logic [11:0] icount,
    input  logic [63:0] now,
    input  logic        halt,
    output logic        room,
    output logic        lost,
    output logic        step,
    input  logic        flush,
    output logic        word_valid,
    input  logic        word_ready,
    output logic [15:0] word,
    output logic [4:0]  tail,
    output logic        idle,
    output logic [31:0] time_bits
);
    localparam T = TIME != 0 ? TIME : 1;
    assign time_bits = TIME;

    logic [2:0]       kind;
    logic [BLOCK-1:0] count;
    logic [63:0]      pc, target;
    logic [3:0]       size;
    logic             taken, returns, calls;
    logic [T-1:0]     cycle;

    vs_ingress #(.BLOCK(BLOCK), .RETIRE(13), .TIME(TIME)) ingress (
        .clk(clk), .reset(reset), .valid(valid), .itype(itype), .iaddr(iaddr), .iretire(iretire),
        .ilastsize(ilastsize), .icount(BLOCK'(icount)), .now(T'(now)), .halt(halt), .step(step),
        .kind(kind), .count(count), .pc(pc), .target(target), .size(size), .taken(taken),
        .returns(returns), .calls(calls), .cycle(cycle)
    );
    vs_mcftr #(
        .CORES(CORES), .GSHARE(GSHARE), .FOLDED(FOLDED), .RAS(RAS), .IBTB(IBTB), .PIR_ALL(PIR_ALL),
        .PIR_BITS(PIR_BITS), .PIR_PC_BITS(PIR_PC_BITS), .BCNT(BCNT), .ICNT(ICNT), .TIME(TIME),
        .BLOCK(BLOCK), .BCNT_FIRST(BCNT_FIRST), .BCNT_NEXT(BCNT_NEXT), .ICNT_FIRST(ICNT_FIRST),
        .ICNT_NEXT(ICNT_NEXT), .TA_FIRST(TA_FIRST), .TA_NEXT(TA_NEXT), .DCC_FIRST(DCC_FIRST),
        .DCC_NEXT(DCC_NEXT), .CHUNKS(CHUNKS)
    ) mcftr (
        .clk(clk), .reset(reset), .ready(ready), .step(step), .kind(kind), .icount(count), .pc(pc),
        .target(target), .size(size), .taken(taken), .returns(returns), .calls(calls),
        .cycle(cycle), .room(room), .lost(lost), .flush(flush), .word_valid(word_valid),
        .word_ready(word_ready), .word(word), .tail(tail), .idle(idle)
    );
endmodule
