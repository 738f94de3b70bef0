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

    logic [BITS-1:0] history, index, index_2;
    logic            update_2, taken_2, forward;
    logic [1:0]      stored, forwarded, counter, next;

    wire [BITS-1:0] fold = FOLDED != 0 ? BITS'(pc) ^ BITS'(pc >> (4 + BITS)) : '0;
    assign index = history ^ BITS'(pc >> 4) ^ fold;

    vs_ram #(.WIDTH(2), .DEPTH(ENTRIES)) table_of_counters (
        .clk(clk),
        .write(sweep || update_2),
        .write_at(sweep ? sweep_at : index_2),
        .in(sweep ? 2'd1 : next),
        .read(update),
        .read_at(index),
        .out(stored)
    );

    // the branch before may be about to write the counter that this one reads
    assign counter   = forward ? forwarded : stored;
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
            history   <= BITS'({history, taken});
            index_2   <= index;
            taken_2   <= taken;
            forward   <= update_2 && index == index_2;
            forwarded <= next;
        end
    end
endmodule
