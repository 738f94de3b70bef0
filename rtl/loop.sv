// SPDX-License-Identifier: MIT
// The loop predictor, as src/model/loop.h describes it. A branch is asked for in one clock; the
// next one says whether the predictor is sure, and of what, and learns, with what TAGE said
// (`other`).
module vs_loop #(
    parameter ENTRIES = 16,
    parameter ADDRESS = 64,
    parameter BITS    = ENTRIES > 4 ? $clog2(ENTRIES / 4) : 1  // of a set's number
) (
    input  logic               clk,
    input  logic               reset,
    input  logic               sweep,
    input  logic [BITS-1:0]    sweep_at,
    input  logic               update,
    input  logic [ADDRESS-1:0] pc,
    input  logic               taken,
    input  logic               other,
    output logic               sure,
    output logic               predicted
);
    localparam WAYS  = ENTRIES < 4 ? ENTRIES : 4;
    localparam SETS  = ENTRIES / WAYS;
    localparam LOG   = $clog2(SETS);
    localparam WAY   = WAYS > 1 ? $clog2(WAYS) : 1;
    localparam TAG   = 10;
    localparam COUNT = 10;  // bits of a length
    localparam ENTRY = 3 + 2 + 1 + 2 * COUNT + TAG;
    localparam SURE  = 2'd3, OLDEST = 3'd7;

    wire [BITS-1:0] set = LOG != 0 ? BITS'(pc >> 1) ^ BITS'(pc >> (1 + LOG)) : '0;
    logic [TAG-1:0] tag;
    logic           update_2, taken_2;
    always_ff @(posedge clk) begin
        update_2 <= update && !reset;
        if (update) begin
            tag     <= TAG'(pc >> 1) ^ TAG'(pc >> 7);
            taken_2 <= taken;
        end
    end

    logic [ENTRY*WAYS-1:0] ways, ways_in;
    logic                  write;
    vs_table #(.WIDTH(ENTRY * WAYS), .DEPTH(LOG != 0 ? SETS : 2)) sets (
        .clk(clk), .sweep(sweep), .sweep_at(sweep_at), .read(update), .at(set), .out(ways),
        .write(write), .in(ways_in)
    );

    // ---- the entry that the branch has, or the one whose turn it is ---------------------------

    logic [WAY-1:0]  turn;
    logic [WAYS-1:0] way;
    logic            hit;
    integer w;
    always_comb begin
        way = '0;
        hit = 1'b0;
        for (w = 0; w < WAYS; w = w + 1) begin
            way[w] = !hit && ways[ENTRY*w+:TAG] == tag && ways[ENTRY*w+ENTRY-3+:3] != 3'd0;
            hit    = hit || way[w];
        end
    end
    wire [WAYS-1:0] chosen = hit ? way : WAYS'(1) << turn;

    logic [ENTRY-1:0] entry, entry_in;
    integer v;
    always_comb begin
        entry = '0;
        for (v = 0; v < WAYS; v = v + 1)
            entry = entry | (ways[ENTRY*v+:ENTRY] & {ENTRY{chosen[v]}});
    end

    logic [2:0]       age;
    logic [1:0]       confidence;
    logic             body;
    logic [COUNT-1:0] done, length;
    /* verilator lint_off UNUSEDSIGNAL */
    logic [TAG-1:0]   entry_tag;
    /* verilator lint_on UNUSEDSIGNAL */
    assign {age, confidence, body, done, length, entry_tag} = entry;

    wire [COUNT:0] iteration = {1'b0, done} + 1'd1;
    assign sure      = hit && confidence == SURE;
    assign predicted = body != (iteration == {1'b0, length});

    // ---- what it learns ------------------------------------------------------------------------

    wire [COUNT-1:0] passed = iteration[COUNT-1:0];
    wire too_far = length != '0 && passed > length;
    wire [COUNT-1:0] known = too_far ? '0 : length;
    wire [1:0] trusted = too_far ? 2'd0 : confidence;
    wire [2:0] older   = sure && other != taken_2 && age != OLDEST ? age + 3'd1 : age;
    always_comb begin
        if (!hit)
            entry_in = age != 3'd0 ? {age - 3'd1, entry[ENTRY-4:0]}
                                   : {OLDEST, 2'd0, !taken_2, {(2 * COUNT) {1'b0}}, tag};
        else if (sure && predicted != taken_2) entry_in = '0;
        else if (taken_2 == body) entry_in = {older, trusted, body, passed, known, tag};
        else if (passed == COUNT'(1) || passed == COUNT'(2)) entry_in = '0;
        else if (known == '0) entry_in = {older, trusted, body, COUNT'(0), passed, tag};
        else if (passed != known) entry_in = {older, 2'd0, body, {(2 * COUNT) {1'b0}}, tag};
        else
            entry_in = {older, trusted == SURE ? SURE : trusted + 2'd1, body, COUNT'(0), known,
                        tag};
    end

    wire creates = !hit && other != taken_2;
    assign write = update_2 && (hit || creates);
    genvar g;
    generate
        for (g = 0; g < WAYS; g = g + 1) begin : entries
            assign ways_in[ENTRY*g+:ENTRY] = chosen[g] ? entry_in : ways[ENTRY*g+:ENTRY];
        end
    endgenerate

    always_ff @(posedge clk) begin
        if (reset) turn <= '0;
        else if (WAYS > 1 && update_2 && creates) turn <= turn + 1'd1;
    end
endmodule
