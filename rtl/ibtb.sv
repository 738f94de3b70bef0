// SPDX-License-Identifier: MIT
// The indirect branch target buffer with tags, as src/model/ibtb.h describes it. A jump is asked
// for and learnt in one clock; the next one, which has its target, says whether it was predicted.
// While `sweep` is set, after reset, the sets are emptied, one at a time.
module vs_ibtb #(
    parameter ENTRIES     = 64,
    parameter PIR_ALL     = 0,
    parameter PIR_BITS    = 16,
    parameter PIR_PC_BITS = 13,
    parameter ADDRESS     = 64
) (
    input  logic                         clk,
    input  logic                         reset,
    input  logic                         sweep,
    input  logic [$clog2(ENTRIES/2)-1:0] sweep_at,
    input  logic                         update,       // an indirect jump that uses the buffer
    input  logic                         conditional,  // a conditional branch, for the path
    input  logic [ADDRESS-1:0]           pc,
    input  logic                         taken,
    input  logic [ADDRESS-1:0]           target_2,     // of the jump in the clock before
    output logic                         right
);
    localparam SETS  = ENTRIES / 2;
    localparam BITS  = $clog2(SETS);
    localparam WAY   = 1 + 8 + ADDRESS;  // valid, tag, target

    logic [PIR_BITS-1:0] path;
    logic [7:0]          tag_2;
    logic                update_2;
    logic [2*WAY:0]      set, next;

    wire [PIR_BITS-1:0] path_next =
        {path[PIR_BITS-3:0], 2'b0} ^ PIR_BITS'(PIR_PC_BITS'(pc >> 4));
    wire outcome = update || taken;

    vs_table #(.WIDTH(2 * WAY + 1), .DEPTH(SETS)) sets (
        .clk(clk), .sweep(sweep), .sweep_at(sweep_at), .read(update),
        .at(BITS'(path >> 8) ^ BITS'(pc >> 4)), .out(set), .write(update_2), .in(next)
    );

    wire [WAY-1:0] way_0 = set[WAY-1:0];
    wire [WAY-1:0] way_1 = set[2*WAY-1:WAY];
    wire [WAY-1:0] found = {1'b1, tag_2, target_2};
    wire hit_0 = way_0[WAY-1:ADDRESS] == {1'b1, tag_2};
    wire hit_1 = way_1[WAY-1:ADDRESS] == {1'b1, tag_2};
    wire use_1 = !hit_0 && (hit_1 || set[2*WAY]);
    assign right = hit_0 ? way_0[ADDRESS-1:0] == target_2
                         : hit_1 && way_1[ADDRESS-1:0] == target_2;
    assign next = use_1 ? {1'b0, found, way_0} : {1'b1, way_1, found};

    always_ff @(posedge clk) begin
        update_2 <= update && !reset;
        if (reset) begin
            path <= '0;
        end else begin
            if (update || (PIR_ALL != 0 && conditional))
                path <= {path_next[PIR_BITS-1:1], path_next[0] | outcome};
            if (update) tag_2 <= 8'(path) ^ 8'(pc >> 10);
        end
    end
endmodule
