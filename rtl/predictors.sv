// SPDX-License-Identifier: MIT
// gshare, a return address stack and a target buffer as one set, as src/technique/predictors.h
// describes it. A branch enters in each clock; the next one says whether it was wrongly predicted.
module vs_predictors #(
    parameter GSHARE      = 4096,
    parameter FOLDED      = 0,
    parameter RAS         = 32,
    parameter IBTB        = 64,
    parameter PIR_ALL     = 0,
    parameter PIR_BITS    = 16,
    parameter PIR_PC_BITS = 13,
    parameter ADDRESS     = 64
) (
    input  logic               clk,
    input  logic               reset,
    output logic               ready,
    input  logic               conditional,
    input  logic               jump,
    input  logic               call,  // direct, or a jump
    input  logic               returns,
    input  logic [ADDRESS-1:0] pc,
    input  logic [ADDRESS-1:0] after,
    input  logic               taken,
    // the same in the next clock
    input  logic               conditional_2,
    input  logic               jump_2,
    input  logic               returns_2,
    input  logic               taken_2,
    input  logic [ADDRESS-1:0] target_2,
    output logic               wrong
);
    localparam SETS  = IBTB != 0 ? IBTB / 2 : 1;
    localparam SWEEP = $clog2(GSHARE > SETS ? GSHARE : SETS);

    logic             sweep;
    logic [SWEEP-1:0] sweep_at;
    vs_sweep #(.BITS(SWEEP)) sweeper (.clk(clk), .reset(reset), .sweep(sweep), .at(sweep_at));
    assign ready = !sweep;

    logic predicted, ras_right, ibtb_right;
    vs_gshare #(.ENTRIES(GSHARE), .FOLDED(FOLDED), .ADDRESS(ADDRESS)) gshare (
        .clk(clk), .reset(reset), .sweep(sweep), .sweep_at($clog2(GSHARE)'(sweep_at)),
        .update(conditional), .pc(pc), .taken(taken), .predicted(predicted)
    );
    generate
        if (RAS != 0) begin : has_ras
            logic               found;
            logic [ADDRESS-1:0] top;
            vs_ras #(.ENTRIES(RAS), .ADDRESS(ADDRESS)) ras (
                .clk(clk), .reset(reset), .push(call), .pop(jump && returns), .address(after),
                .found(found), .top(top)
            );
            assign ras_right = found && top == target_2;
        end else begin : no_ras
            assign ras_right = 1'b0;
        end
        if (IBTB != 0) begin : has_ibtb
            vs_ibtb #(
                .ENTRIES(IBTB), .PIR_ALL(PIR_ALL), .PIR_BITS(PIR_BITS), .PIR_PC_BITS(PIR_PC_BITS),
                .ADDRESS(ADDRESS)
            ) ibtb (
                .clk(clk), .reset(reset), .sweep(sweep), .sweep_at($clog2(SETS)'(sweep_at)),
                .update(jump && !returns), .conditional(conditional), .pc(pc), .taken(taken),
                .target_2(target_2), .right(ibtb_right)
            );
        end else begin : no_ibtb
            assign ibtb_right = 1'b0;
        end
    endgenerate

    assign wrong = (conditional_2 && predicted != taken_2) ||
                   (jump_2 && !(returns_2 ? ras_right : ibtb_right));
endmodule
