// SPDX-License-Identifier: MIT
// mlvCF_b and mlvCF_e, whose chunks are parameters, for CORES cores with data caches of their own
// and one port. docs/hardware.md describes parameters and ports. What belongs to core i is the i-th
// element of a port, from the lowest bits on. `free` says that a core may take a step: values that
// are left out would be missed, so that a core has to wait.
module vs_mlvcf #(
    parameter CORES     = 1,
    parameter SETS      = 128,
    parameter WAYS      = 4,
    parameter LINE      = 64,
    parameter GRANULE   = 4,
    parameter HITS      = 32,
    parameter ICNT      = 32,
    parameter TIME      = 0,
    parameter BLOCK     = 4,
    parameter FAH_FIRST = 2,
    parameter FAH_NEXT  = 2,
    parameter DCC_FIRST = 4,
    parameter DCC_NEXT  = 2,
    parameter CHUNKS    = 2,
    parameter AT_ONCE   = 2,    // bytes of a value that are sent in a clock
    parameter RECORDS   = 4,    // places for records of each core, at least 2
    parameter WORD      = 16,
    parameter WORDS     = 16,   // places for words
    // bytes of a record
    parameter SPAN      = GRANULE < 8 ? 8 + (GRANULE > 1 ? GRANULE : 0) : 2 * GRANULE,
    parameter BYTES     = SPAN > (ICNT + 24) / 8 ? SPAN : (ICNT + 24) / 8,
    parameter LENGTH    = $clog2(BYTES + 1),
    parameter SET       = $clog2(SETS),
    parameter WAY       = $clog2(WAYS),
    parameter OFFSET    = $clog2(LINE),
    parameter T         = TIME != 0 ? TIME : 1
) (
    input  logic                      clk,
    input  logic                      reset,
    input  logic                      forget,  // no flag counts any more; `free` says when it is done

    input  logic [CORES-1:0]          step,
    input  logic [3*CORES-1:0]        kind,
    input  logic [CORES-1:0]          goes_on,
    input  logic [BLOCK*CORES-1:0]    icount,
    input  logic [SET*CORES-1:0]      row,      // the set of the line
    input  logic [OFFSET*CORES-1:0]   offset,
    input  logic [4*CORES-1:0]        size,
    input  logic [T*CORES-1:0]        cycle,
    output logic [CORES-1:0]          free,

    input  logic [WAY*CORES-1:0]      way_2,
    input  logic [CORES-1:0]          hit_2,
    input  logic [CORES-1:0]          changed_2,
    input  logic [LENGTH*CORES-1:0]   length_2,
    input  logic [8*BYTES*CORES-1:0]  bytes_2,

    input  logic                      flush,
    output logic                      word_valid,
    input  logic                      word_ready,
    output logic [WORD-1:0]           word,
    output logic [$clog2(WORD+1)-1:0] tail,
    output logic                      idle
);
    localparam RECORD = 4 + LENGTH + HITS + 8 * BYTES + TIME;
    localparam LEVEL  = $clog2(RECORDS + 1);

    function integer greater(input integer a, input integer b);
        greater = a > b ? a : b;
    endfunction
    localparam PIECE = greater(greater(greater(9 * CHUNKS, 8 * AT_ONCE + 1),
                                       greater(FAH_FIRST + 1 + (CHUNKS - 1) * (FAH_NEXT + 1),
                                               CHUNKS * (FAH_NEXT + 1))),
                               TIME != 0 ? greater(DCC_FIRST + 1 + (CHUNKS - 1) * (DCC_NEXT + 1),
                                                   CHUNKS * (DCC_NEXT + 1)) : 0);

    logic           sweep;
    logic [SET-1:0] sweep_at;
    always_ff @(posedge clk)
        if (reset || forget) begin
            sweep    <= 1'b1;
            sweep_at <= '0;
        end else if (sweep) begin
            sweep    <= sweep_at != {SET{1'b1}};
            sweep_at <= sweep_at + 1'd1;
        end

    // ---- cores ----------------------------------------------------------------------------------

    logic [CORES-1:0]        push, begins, coming, filled, pop, next;
    logic [RECORD*CORES-1:0] heads;
    logic                    any, popped, ends;
    genvar i;
    generate
        for (i = 0; i < CORES; i = i + 1) begin : core
            logic [RECORD-1:0] record;
            logic [LEVEL-1:0]  level;

            vs_mlvcf_core #(
                .SETS(SETS), .WAYS(WAYS), .LINE(LINE), .GRANULE(GRANULE), .HITS(HITS), .ICNT(ICNT),
                .TIME(TIME), .BLOCK(BLOCK), .BYTES(BYTES)
            ) mlvcf_core (
                .clk(clk), .reset(reset), .sweep(sweep), .sweep_at(sweep_at),
                .step(step[i] && free[i]), .kind(kind[3*i+:3]), .goes_on(goes_on[i]),
                .icount(icount[BLOCK*i+:BLOCK]), .row(row[SET*i+:SET]),
                .offset(offset[OFFSET*i+:OFFSET]), .size(size[4*i+:4]), .cycle(cycle[T*i+:T]),
                .way_2(way_2[WAY*i+:WAY]), .hit_2(hit_2[i]), .changed_2(changed_2[i]),
                .length_2(length_2[LENGTH*i+:LENGTH]), .bytes_2(bytes_2[8*BYTES*i+:8*BYTES]),
                .coming(coming[i]), .push(push[i]), .begins(begins[i]), .record(record)
            );
            vs_fifo #(.WIDTH(RECORD), .DEPTH(RECORDS)) records (
                .clk(clk), .reset(reset), .push(push[i]), .in(record), .pop(pop[i]),
                .out(heads[RECORD*i+:RECORD]), .level(level)
            );
            assign free[i]   = !sweep && level + LEVEL'(coming[i]) < LEVEL'(RECORDS);
            assign filled[i] = level != 0;
        end
    endgenerate

    // ---- messages: a core is served until its message ends ----------------------------------------

    vs_arbiter #(.CORES(CORES), .DEPTH(CORES * RECORDS)) arbiter (
        .clk(clk), .reset(reset), .push(push & begins), .any(any), .next(next), .pop(popped && ends)
    );
    logic [RECORD-1:0] record;
    integer k;
    always_comb begin
        record = '0;
        for (k = 0; k < CORES; k = k + 1)
            if (next[k]) record = record | heads[RECORD*k+:RECORD];
    end
    assign pop = popped ? next : '0;

    logic                       piece_valid, piece_ready, port_idle;
    logic [PIECE-1:0]           piece;
    logic [$clog2(PIECE+1)-1:0] length;
    vs_mlvcf_format #(
        .CORES(CORES), .HITS(HITS), .ICNT(ICNT), .TIME(TIME), .BYTES(BYTES),
        .FAH_FIRST(FAH_FIRST), .FAH_NEXT(FAH_NEXT), .DCC_FIRST(DCC_FIRST), .DCC_NEXT(DCC_NEXT),
        .CHUNKS(CHUNKS), .AT_ONCE(AT_ONCE), .PIECE(PIECE)
    ) format (
        .clk(clk), .reset(reset), .valid(any && (next & filled) != 0), .core(next),
        .record(record), .pop(popped), .ends(ends), .piece_valid(piece_valid),
        .piece_ready(piece_ready), .piece(piece), .length(length)
    );
    vs_port #(.WORD(WORD), .WORDS(WORDS), .PIECE(PIECE)) port (
        .clk(clk), .reset(reset), .piece_valid(piece_valid), .piece_ready(piece_ready),
        .piece(piece), .length(length), .flush(flush), .word_valid(word_valid),
        .word_ready(word_ready), .word(word), .tail(tail), .idle(port_idle)
    );
    assign idle = port_idle && !any && coming == 0 && !sweep;
endmodule
