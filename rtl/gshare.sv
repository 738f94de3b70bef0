// SPDX-License-Identifier: MIT
// The outcome predictor of conditional branches, as src/model/gshare.h describes it. A branch is
// asked for and learnt in one clock; the next one has the prediction. While `sweep` is set, after
// reset, the counters get their first value, one at a time.
module vs_gshare #(
    parameter ENTRIES = 4096,
    parameter FOLDED  = 0,
    parameter ADDRESS = 64
) (
    input  logic                       clk,
    input  logic                       reset,
    input  logic                       sweep,
    input  logic [$clog2(ENTRIES)-1:0] sweep_at,
    input  logic                       update,
    input  logic [ADDRESS-1:0]         pc,
    input  logic                       taken,
    output logic                       predicted
);
    localparam BITS = $clog2(ENTRIES);

    logic [BITS-1:0] history;
    logic            update_2, taken_2;
    logic [1:0]      counter, next;

    wire [BITS-1:0] fold = FOLDED != 0 ? BITS'(pc) ^ BITS'(pc >> (4 + BITS)) : '0;

    vs_table #(.WIDTH(2), .DEPTH(ENTRIES), .FIRST(1)) counters (
        .clk(clk), .sweep(sweep), .sweep_at(sweep_at), .read(update),
        .at(history ^ BITS'(pc >> 4) ^ fold), .out(counter), .write(update_2), .in(next)
    );

    assign predicted = counter[1];
    always_comb begin
        next = counter;
        if (taken_2 && counter != 2'd3) next = counter + 2'd1;
        if (!taken_2 && counter != 2'd0) next = counter - 2'd1;
    end

    always_ff @(posedge clk) begin
        update_2 <= update && !reset;
        if (reset) begin
            history <= '0;
        end else if (update) begin
            history <= BITS'({history, taken});
            taken_2 <= taken;
        end
    end
endmodule
