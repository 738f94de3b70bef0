// SPDX-License-Identifier: MIT
// The tags of a core's data cache, as src/model/cache.h describes them: what a core has anyway, so
// that the first-access flags have something to stand beside. Every access of every core is told to
// every cache. The core's own brings its line in, and appears a clock later as a way, and as a hit
// if the line was there. One of another core that `drops` takes the line away, as a store does.
// While `sweep` is set the sets are emptied, one at a time.
module vs_cache #(
    parameter SETS    = 128,
    parameter WAYS    = 4,   // a power of two, at least 2
    parameter LINE    = 64,
    parameter POLICY  = 0,   // 0: round robin, from the highest way downwards; 1: LRU; 2: FIFO
    parameter ADDRESS = 64
) (
    input  logic                    clk,
    input  logic                    reset,
    input  logic                    sweep,
    input  logic [$clog2(SETS)-1:0] sweep_at,
    input  logic                    access,
    input  logic                    own,
    input  logic                    drops,
    /* verilator lint_off UNUSEDSIGNAL */
    input  logic [ADDRESS-1:0]      address,
    /* verilator lint_on UNUSEDSIGNAL */
    output logic [$clog2(WAYS)-1:0] way,
    output logic                    hit
);
    localparam OFFSET = $clog2(LINE);
    localparam SET    = $clog2(SETS);
    localparam WAY    = $clog2(WAYS);
    localparam TAG    = ADDRESS - OFFSET - SET;
    localparam ENTRY  = 1 + TAG;                       // valid, tag
    localparam ORDER  = POLICY == 0 ? WAY : WAYS * WAY;  // the next way, or each way's rank

    logic                        access_2, own_2, drops_2, forward;
    logic [SET-1:0]              set_2;
    logic [TAG-1:0]              tag_2;
    logic [WAYS*ENTRY+ORDER-1:0] stored, forwarded, row, next, at_first;

    wire [SET-1:0] set = address[OFFSET+:SET];
    wire           changes = access_2 && (own_2 || drops_2);

    vs_ram #(.WIDTH(WAYS * ENTRY + ORDER), .DEPTH(SETS)) sets (
        .clk(clk), .write(sweep || changes), .write_at(sweep ? sweep_at : set_2),
        .in(sweep ? at_first : next), .read(access), .read_at(set), .out(stored)
    );

    always_ff @(posedge clk) begin
        access_2 <= access && !reset;
        if (access) begin
            own_2     <= own;
            drops_2   <= drops;
            set_2     <= set;
            tag_2     <= address[ADDRESS-1:OFFSET+SET];
            forward   <= changes && set == set_2;
            forwarded <= next;
        end
    end
    assign row = forward ? forwarded : stored;

    logic [WAYS-1:0]  there;
    logic [WAY-1:0]   found, empty, victim;
    logic             full;
    logic [ORDER-1:0] order, order_next;
    assign order = row[WAYS*ENTRY+:ORDER];
    integer i;
    always_comb begin
        found = '0;
        empty = '0;
        full  = 1'b1;
        for (i = 0; i < WAYS; i = i + 1) begin
            there[i] = row[ENTRY*i+:ENTRY] == {1'b1, tag_2};
            if (there[i]) found = found | WAY'(i);
            if (!row[ENTRY*i+TAG]) begin
                empty = WAY'(i);
                full  = 1'b0;
            end
        end
    end
    assign hit = |there;
    assign way = hit ? found : full ? victim : empty;

    genvar g;
    generate
        for (g = 0; g < WAYS; g = g + 1) begin : entry
            assign at_first[ENTRY*g+:ENTRY] = '0;
            assign next[ENTRY*g+:ENTRY] = own_2 && way == WAY'(g) ? {1'b1, tag_2}
                : !own_2 && drops_2 && there[g] ? '0 : row[ENTRY*g+:ENTRY];
        end
        if (POLICY == 0) begin : round_robin
            assign at_first[WAYS*ENTRY+:ORDER] = WAY'(WAYS - 1);
            assign victim     = order;
            assign order_next = !hit && way == order ? order - 1'd1 : order;
        end else begin : ranks
            for (g = 0; g < WAYS; g = g + 1) begin : rank
                assign at_first[WAYS*ENTRY+WAY*g+:WAY] = WAY'(g);
            end
            integer k;
            logic [WAY-1:0] rank_used;
            always_comb begin
                victim    = '0;
                rank_used = '0;
                for (k = 0; k < WAYS; k = k + 1) begin
                    if (order[WAY*k+:WAY] == WAY'(WAYS - 1)) victim = victim | WAY'(k);
                    if (way == WAY'(k)) rank_used = rank_used | order[WAY*k+:WAY];
                end
                order_next = order;
                if (POLICY == 1 || !hit)
                    for (k = 0; k < WAYS; k = k + 1)
                        if (way == WAY'(k)) order_next[WAY*k+:WAY] = '0;
                        else if (order[WAY*k+:WAY] < rank_used)
                            order_next[WAY*k+:WAY] = order[WAY*k+:WAY] + 1'd1;
            end
        end
    endgenerate
    assign next[WAYS*ENTRY+:ORDER] = own_2 ? order_next : order;
endmodule
