// SPDX-License-Identifier: MIT
// Tagged predictors as one set, as src/technique/tagged.h describes it: TAGE, loops, ITTAGE and a
// return address stack. A branch enters in each clock; the next one says whether it was wrongly
// predicted. `rests`: see tage.sv.
module vs_tagged #(
    parameter BASE          = 512,
    parameter TABLES        = 6,
    parameter ENTRIES       = 128,
    parameter TAG           = 8,
    parameter [16*TABLES-1:0] LENGTHS = {16'd120, 16'd57, 16'd27, 16'd13, 16'd6, 16'd3},
    parameter LOOPS         = 16,
    parameter ITTAGE        = 16,
    parameter ITTAGE_TABLES = 3,
    parameter ITTAGE_TAG    = 8,
    parameter RAS           = 16,
    parameter TARGET_BITS   = 20,  // bits of an address that are kept
    parameter ADDRESS       = 64
) (
    input  logic               clk,
    input  logic               reset,
    output logic               ready,
    output logic               rests,
    input  logic               conditional,
    input  logic               jump,
    input  logic               call,  // direct, or a jump
    input  logic               returns,
    input  logic [ADDRESS-1:0] pc,
    input  logic [ADDRESS-1:0] after,
    input  logic               taken,
    input  logic [ADDRESS-1:0] target,
    // the same in the next clock
    input  logic               conditional_2,
    input  logic               jump_2,
    input  logic               returns_2,
    input  logic               taken_2,
    input  logic [ADDRESS-1:0] target_2,
    output logic               wrong
);
    localparam NAME = TARGET_BITS < ADDRESS ? TARGET_BITS + 2 : ADDRESS;

    function integer greater(input integer a, input integer b);
        greater = a > b ? a : b;
    endfunction
    localparam SWEEP = $clog2(greater(greater(BASE, ENTRIES), greater(LOOPS / 4, ITTAGE)));

    logic             sweep;
    logic [SWEEP-1:0] sweep_at;
    vs_sweep #(.BITS(SWEEP)) sweeper (.clk(clk), .reset(reset), .sweep(sweep), .at(sweep_at));
    assign ready = !sweep;

    // ---- outcomes ------------------------------------------------------------------------------

    logic        tage_says;
    logic [63:0] history;
    vs_tage #(
        .BASE(BASE), .TABLES(TABLES), .ENTRIES(ENTRIES), .TAG(TAG), .LENGTHS(LENGTHS),
        .SWEEP(SWEEP), .ADDRESS(ADDRESS)
    ) tage (
        .clk(clk), .reset(reset), .sweep(sweep), .sweep_at(sweep_at), .rests(rests),
        .update(conditional), .pc(pc), .taken(taken), .jump(jump),
        .path(3'(target >> 1) ^ 3'(target >> 4) ^ 3'(target >> 7)), .recent(history),
        .predicted(tage_says)
    );

    logic outcome;
    generate
        if (LOOPS != 0) begin : has_loops
            logic sure, loop_says, update_2;
            logic signed [6:0] trust;
            localparam BITS = LOOPS > 4 ? $clog2(LOOPS / 4) : 1;
            vs_loop #(.ENTRIES(LOOPS), .ADDRESS(ADDRESS)) loop (
                .clk(clk), .reset(reset), .sweep(sweep), .sweep_at(BITS'(sweep_at)),
                .update(conditional), .pc(pc), .taken(taken), .other(tage_says), .sure(sure),
                .predicted(loop_says)
            );
            assign outcome = sure && trust >= 0 ? loop_says : tage_says;
            always_ff @(posedge clk) begin
                update_2 <= conditional;
                if (reset) trust <= '0;
                else if (update_2 && sure && loop_says != tage_says) begin
                    if (loop_says == taken_2 && trust != 7'sd63) trust <= trust + 7'sd1;
                    if (loop_says != taken_2 && trust != -7'sd64) trust <= trust - 7'sd1;
                end
            end
        end else begin : no_loops
            assign outcome = tage_says;
        end
    endgenerate

    // ---- targets -------------------------------------------------------------------------------

    logic [NAME-1:0] target_name, after_name, top, aim;
    logic            found, any, right;
    vs_region #(.LOW(TARGET_BITS), .ADDRESS(ADDRESS)) region (
        .clk(clk), .reset(reset), .names_target(jump && !returns), .names_after(call),
        .target(target), .after(after), .target_name(target_name), .after_name(after_name),
        .predicted_2(returns_2 ? top : aim), .target_2(target_2), .right(right)
    );
    generate
        if (RAS != 0) begin : has_ras
            vs_ras #(.ENTRIES(RAS), .ADDRESS(NAME)) ras (
                .clk(clk), .reset(reset), .push(call), .pop(jump && returns), .address(after_name),
                .found(found), .top(top)
            );
        end else begin : no_ras
            assign found = 1'b0;
            assign top   = '0;
        end
        if (ITTAGE != 0) begin : has_ittage
            vs_ittage #(
                .ENTRIES(ITTAGE), .TABLES(ITTAGE_TABLES), .TAG(ITTAGE_TAG), .NAME(NAME),
                .ADDRESS(ADDRESS)
            ) ittage (
                .clk(clk), .reset(reset), .sweep(sweep), .sweep_at($clog2(ITTAGE)'(sweep_at)),
                .update(jump && !returns), .pc(pc), .history(history), .target(target_name),
                .any(any), .predicted(aim)
            );
        end else begin : no_ittage
            assign any = 1'b0;
            assign aim = '0;
        end
    endgenerate

    assign wrong = (conditional_2 && outcome != taken_2) ||
                   (jump_2 && !((returns_2 ? found : any) && right));
endmodule
