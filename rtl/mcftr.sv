// SPDX-License-Identifier: MIT
// mcfTR_b and mcfTR_e, whose chunks are parameters, and mcfTG, for CORES cores with predictors of
// their own and one port. docs/hardware.md describes parameters and ports. What belongs to core i is
// the i-th element of a port, from the lowest bits on.
module vs_mcftr #(
    parameter CORES       = 1,
    parameter GSHARE      = 4096,
    parameter FOLDED      = 0,
    parameter RAS         = 32,
    parameter IBTB        = 64,
    parameter PIR_ALL     = 0,
    parameter PIR_BITS    = 16,
    parameter PIR_PC_BITS = 13,
    parameter TAGGED      = 0,   // TAGE and its like instead of gshare and buffer
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
    parameter RECORDS     = 4,   // places for records of each core, at least 3
    parameter WORD        = 16,
    parameter WORDS       = 16,  // places for words
    parameter T           = TIME != 0 ? TIME : 1
) (
    input  logic                      clk,
    input  logic                      reset,
    output logic                      ready,

    input  logic [CORES-1:0]          step,
    input  logic [3*CORES-1:0]        kind,
    input  logic [BLOCK*CORES-1:0]    icount,
    input  logic [ADDRESS*CORES-1:0]  pc,
    input  logic [ADDRESS*CORES-1:0]  target,
    input  logic [4*CORES-1:0]        size,
    input  logic [CORES-1:0]          taken,
    input  logic [CORES-1:0]          returns,
    input  logic [CORES-1:0]          calls,
    input  logic [T*CORES-1:0]        cycle,
    output logic [CORES-1:0]          room,  // false: a step that comes now is lost
    output logic [CORES-1:0]          lost,  // this core's steps are being lost

    input  logic                      flush,
    output logic                      word_valid,
    input  logic                      word_ready,
    output logic [WORD-1:0]           word,
    output logic [$clog2(WORD+1)-1:0] tail,  // how many of its bits count: all, but for the last one
    output logic                      idle   // nothing waits
);
    localparam COUNT  = BCNT > ICNT ? BCNT : ICNT;
    localparam RECORD = 4 + COUNT + ADDRESS + TIME;
    localparam LEVEL  = $clog2(RECORDS + 1);

    function integer greater(input integer a, input integer b);
        greater = a > b ? a : b;
    endfunction
    // the longest piece: of first chunks, or of others; diffTA's first has a sign
    localparam FIRSTS = greater(greater(BCNT_FIRST + (CHUNKS - 1) * (BCNT_NEXT + 1),
                                        ICNT_FIRST + (CHUNKS - 1) * (ICNT_NEXT + 1)),
                                greater(TA_FIRST + 1 + (CHUNKS - 1) * (TA_NEXT + 1),
                                        TIME != 0 ? DCC_FIRST + (CHUNKS - 1) * (DCC_NEXT + 1) : 0))
                        + 1;
    localparam OTHERS = CHUNKS * (greater(greater(BCNT_NEXT, ICNT_NEXT),
                                          greater(TA_NEXT, TIME != 0 ? DCC_NEXT : 0)) + 1);
    localparam PIECE  = greater(greater(FIRSTS, OTHERS), $clog2(CORES));
    localparam LENGTH = $clog2(PIECE + 1);

    logic [CORES-1:0]        core_ready, push, pop, next;
    logic [RECORD*CORES-1:0] heads;
    logic                    any, popped;

    genvar i;
    generate
        for (i = 0; i < CORES; i = i + 1) begin : core
            logic [RECORD-1:0] record;
            logic [LEVEL-1:0]  level;
            logic              coming, rests;

            assign room[i] = level + LEVEL'(coming) <= LEVEL'(RECORDS - 2) && !rests;
            vs_mcftr_core #(
                .GSHARE(GSHARE), .FOLDED(FOLDED), .RAS(RAS), .IBTB(IBTB), .PIR_ALL(PIR_ALL),
                .PIR_BITS(PIR_BITS), .PIR_PC_BITS(PIR_PC_BITS), .TAGGED(TAGGED), .BASE(BASE),
                .TABLES(TABLES), .ENTRIES(ENTRIES), .TAG(TAG), .LENGTHS(LENGTHS), .LOOPS(LOOPS),
                .ITTAGE(ITTAGE), .ITTAGE_TABLES(ITTAGE_TABLES), .ITTAGE_TAG(ITTAGE_TAG),
                .TARGET_BITS(TARGET_BITS), .BCNT(BCNT), .ICNT(ICNT), .ADDRESS(ADDRESS), .TIME(TIME),
                .BLOCK(BLOCK)
            ) mcftr_core (
                .clk(clk), .reset(reset), .ready(core_ready[i]), .rests(rests),
                .step(step[i]), .kind(kind[3*i+:3]), .icount(icount[BLOCK*i+:BLOCK]),
                .pc(pc[ADDRESS*i+:ADDRESS]), .target(target[ADDRESS*i+:ADDRESS]),
                .size(size[4*i+:4]), .taken(taken[i]), .returns(returns[i]), .calls(calls[i]),
                .cycle(cycle[T*i+:T]), .room(room[i]),
                .ample(level + LEVEL'(coming) <= LEVEL'((RECORDS - 2) / 2) && !rests),
                .coming(coming),
                .push(push[i]), .record(record), .lost(lost[i])
            );
            vs_fifo #(.WIDTH(RECORD), .DEPTH(RECORDS)) records (
                .clk(clk), .reset(reset), .push(push[i]), .in(record), .pop(pop[i]),
                .out(heads[RECORD*i+:RECORD]), .level(level)
            );
        end
    endgenerate
    assign ready = &core_ready;

    vs_arbiter #(.CORES(CORES), .DEPTH(CORES * RECORDS)) arbiter (
        .clk(clk), .reset(reset), .push(push), .any(any), .next(next), .pop(popped)
    );

    logic [RECORD-1:0] record;
    integer k;
    always_comb begin
        record = '0;
        for (k = 0; k < CORES; k = k + 1)
            if (next[k]) record = record | heads[RECORD*k+:RECORD];
    end
    assign pop = popped ? next : '0;

    logic              piece_valid, piece_ready;
    logic [PIECE-1:0]  piece;
    logic [LENGTH-1:0] length;

    vs_mcftr_format #(
        .CORES(CORES), .BCNT(BCNT), .ICNT(ICNT), .ADDRESS(ADDRESS), .TIME(TIME),
        .BCNT_FIRST(BCNT_FIRST), .BCNT_NEXT(BCNT_NEXT), .ICNT_FIRST(ICNT_FIRST),
        .ICNT_NEXT(ICNT_NEXT), .TA_FIRST(TA_FIRST), .TA_NEXT(TA_NEXT), .DCC_FIRST(DCC_FIRST),
        .DCC_NEXT(DCC_NEXT), .CHUNKS(CHUNKS), .PIECE(PIECE)
    ) format (
        .clk(clk), .reset(reset), .valid(any), .core(next), .record(record), .pop(popped),
        .piece_valid(piece_valid), .piece_ready(piece_ready), .piece(piece), .length(length)
    );

    vs_port #(.WORD(WORD), .WORDS(WORDS), .PIECE(PIECE)) port (
        .clk(clk), .reset(reset), .piece_valid(piece_valid), .piece_ready(piece_ready),
        .piece(piece), .length(length), .flush(flush), .word_valid(word_valid),
        .word_ready(word_ready), .word(word), .tail(tail), .idle(idle)
    );
endmodule
