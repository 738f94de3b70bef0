// SPDX-License-Identifier: MIT
// First-access flags (src/model/granules.h): one for each granule of each line of a core's data
// cache, set if the debugger knows the granule. The flags of a set are read with its tags, and in
// the next clock the cache says in which way the line is, and whether it was there. A line that was
// not there has no flags, wherever it comes from; so nobody has to tell when a line leaves.
//
// A load sets the flags of what it touches, and a store those of granules that it writes whole. An
// operand in two lines is told in two clocks; `second` is set with its other part.
module vs_first_access #(
    parameter SETS    = 128,
    parameter WAYS    = 4,
    parameter LINE    = 64,
    parameter GRANULE = 4
) (
    input  logic                    clk,
    input  logic                    reset,
    input  logic                    sweep,     // no line has flags any more: one set in each clock
    input  logic [$clog2(SETS)-1:0] sweep_at,

    input  logic                    access,
    input  logic                    store,
    input  logic                    second,
    input  logic [$clog2(SETS)-1:0] row,       // the line's set
    input  logic [$clog2(LINE)-1:0] offset,    // of the operand, in its first line
    input  logic [3:0]              size,      // bytes, up to 8

    input  logic [$clog2(WAYS)-1:0] way_2,
    input  logic                    hit_2,
    output logic                    known_2    // all that this part of a load touches was flagged
);
    localparam FLAGS = LINE / GRANULE;
    localparam LOW   = $clog2(GRANULE);
    localparam SPAN  = $clog2(LINE) + 2;  // bits of an offset in two lines

    // ---- the granules ---------------------------------------------------------------------------

    wire [SPAN-1:0] from = SPAN'(offset) + (store ? SPAN'(GRANULE - 1) : '0);
    wire [SPAN-1:0] to   = SPAN'(offset) + SPAN'(size) + (store ? '0 : SPAN'(GRANULE - 1));
    // those from there on, in two lines
    wire [2*FLAGS:0] since = {(2 * FLAGS + 1) {1'b1}} << (from >> LOW);
    wire [2*FLAGS:0] after = {(2 * FLAGS + 1) {1'b1}} << (to >> LOW);
    /* verilator lint_off UNUSEDSIGNAL */
    wire [2*FLAGS:0] both  = since & ~after;
    /* verilator lint_on UNUSEDSIGNAL */

    // ---- their flags ----------------------------------------------------------------------------

    logic                  access_2;
    logic [FLAGS-1:0]      touched_2, flags;
    logic [WAYS*FLAGS-1:0] entry, next;

    vs_table #(.WIDTH(WAYS * FLAGS), .DEPTH(SETS)) sets (
        .clk(clk), .sweep(sweep), .sweep_at(sweep_at), .read(access), .at(row), .out(entry),
        .write(access_2), .in(next)
    );
    always_ff @(posedge clk) begin
        access_2 <= access && !reset;
        if (access) touched_2 <= second ? both[FLAGS+:FLAGS] : both[FLAGS-1:0];
    end

    integer w;
    always_comb begin
        flags = '0;
        for (w = 0; w < WAYS; w = w + 1)
            if (hit_2 && way_2 == $clog2(WAYS)'(w)) flags = flags | entry[FLAGS*w+:FLAGS];
        next = entry;
        for (w = 0; w < WAYS; w = w + 1)
            if (way_2 == $clog2(WAYS)'(w)) next[FLAGS*w+:FLAGS] = flags | touched_2;
    end
    assign known_2 = (touched_2 & ~flags) == 0;
endmodule
