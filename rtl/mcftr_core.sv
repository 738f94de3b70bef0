// SPDX-License-Identifier: MIT
// One core's part of mcfTR and mcfTG: predictors and counters. It takes a step in every clock and
// makes a record of what is to be reported, two clocks later.
//
// A step is one of src/technique/step.h, or only counts instructions: so a block of instructions
// without a branch is told. In one block there are fewer instructions than iCnt can count.
//
// `room` says that the record of a step, and one more, will find a place. Without room the step is
// lost. What comes before it ends as a core ends, with a discontinuity to address 0; from then on
// the predictors learn nothing, as their twins in the debugger cannot; and at the first step for
// which there is `ample` room the core starts again at that step's successor. A decoder sees a gap.
module vs_mcftr_core #(
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
    parameter TIME        = 0,   // bits of a commit cycle; 0: not timed
    parameter BLOCK       = 4,   // bits of a block's instruction count
    parameter COUNT       = BCNT > ICNT ? BCNT : ICNT,
    parameter RECORD      = 4 + COUNT + ADDRESS + TIME
) (
    input  logic               clk,
    input  logic               reset,
    output logic               ready,  // false after reset, until the tables are empty
    output logic               rests,  // the predictors take no branch

    input  logic               step,
    input  logic [2:0]         kind,
    input  logic [BLOCK-1:0]   icount,
    input  logic [ADDRESS-1:0] pc,
    input  logic [ADDRESS-1:0] target,
    input  logic [3:0]         size,
    input  logic               taken,
    input  logic               returns,
    input  logic               calls,
    /* verilator lint_off UNUSEDSIGNAL */
    input  logic [(TIME != 0 ? TIME : 1)-1:0] cycle,
    /* verilator lint_on UNUSEDSIGNAL */

    input  logic               room,
    input  logic               ample,
    output logic               coming,  // a record may be pushed in this clock
    output logic               push,
    output logic [RECORD-1:0]  record,
    output logic               lost
);
    // as enum vs_step_kind, whose last one is never sent and here stands for instructions only
    localparam CONDITIONAL = 3'd0, INDIRECT = 3'd1, CALL = 3'd2, DISCONTINUITY = 3'd3, ONLY = 3'd4;
    // what a record reports
    localparam BRANCH = 3'd0, TARGET = 3'd1, ELSEWHERE = 3'd2, FULL_BCNT = 3'd3, FULL_ICNT = 3'd4;

    // ---- first clock: the step enters, and the tables are read -------------------------------

    logic alive;

    wire leaves = kind == DISCONTINUITY && target == '0;
    wire loses  = step && !lost && !room && !leaves;
    wire cuts   = loses && alive;                   // tell that the core is lost
    wire starts = step && lost && ample && kind != ONLY && !leaves;
    wire passes = step && !lost && (room || leaves);  // an end always has a place, see below
    wire learns = passes && kind != DISCONTINUITY && kind != ONLY;

    wire conditional = learns && kind == CONDITIONAL;
    wire jump        = learns && kind == INDIRECT;
    wire call        = learns && (kind == CALL || (jump && calls));
    wire [ADDRESS-1:0] after = pc + ADDRESS'(size);
    wire goes = kind == DISCONTINUITY || taken;

    logic               step_2, conditional_2, jump_2, returns_2, taken_2, elsewhere_2;
    logic [BLOCK-1:0]   icount_2;
    logic [ADDRESS-1:0] target_2;

    always_ff @(posedge clk) begin
        if (reset) begin
            step_2 <= 1'b0;
            lost   <= 1'b0;
            alive  <= 1'b0;
        end else begin
            step_2 <= passes || cuts || starts;
            if (loses) lost <= 1'b1;
            else if (starts || (step && leaves)) lost <= 1'b0;
            if (cuts || (step && leaves)) alive <= 1'b0;
            else if (starts || (passes && kind == DISCONTINUITY)) alive <= 1'b1;
        end
        if (step) begin
            conditional_2 <= conditional;
            jump_2        <= jump;
            returns_2     <= returns;
            taken_2       <= taken;
            elsewhere_2   <= cuts || starts || kind == DISCONTINUITY;
            icount_2      <= cuts || starts ? '0 : icount;
            target_2      <= cuts ? '0 : goes ? target : after;
        end
    end

    // ---- second clock: what was predicted ----------------------------------------------------

    logic wrong;
    generate
        if (TAGGED != 0) begin : has_tagged
            vs_tagged #(
                .BASE(BASE), .TABLES(TABLES), .ENTRIES(ENTRIES), .TAG(TAG), .LENGTHS(LENGTHS),
                .LOOPS(LOOPS), .ITTAGE(ITTAGE), .ITTAGE_TABLES(ITTAGE_TABLES),
                .ITTAGE_TAG(ITTAGE_TAG), .RAS(RAS), .TARGET_BITS(TARGET_BITS), .ADDRESS(ADDRESS)
            ) predictors (
                .clk(clk), .reset(reset), .ready(ready), .rests(rests), .conditional(conditional),
                .jump(jump), .call(call), .returns(returns), .pc(pc), .after(after), .taken(taken),
                .target(target), .conditional_2(conditional_2), .jump_2(jump_2),
                .returns_2(returns_2), .taken_2(taken_2), .target_2(target_2), .wrong(wrong)
            );
        end else begin : has_plain
            vs_predictors #(
                .GSHARE(GSHARE), .FOLDED(FOLDED), .RAS(RAS), .IBTB(IBTB), .PIR_ALL(PIR_ALL),
                .PIR_BITS(PIR_BITS), .PIR_PC_BITS(PIR_PC_BITS), .ADDRESS(ADDRESS)
            ) predictors (
                .clk(clk), .reset(reset), .ready(ready), .conditional(conditional), .jump(jump),
                .call(call), .returns(returns), .pc(pc), .after(after), .taken(taken),
                .conditional_2(conditional_2), .jump_2(jump_2), .returns_2(returns_2),
                .taken_2(taken_2), .target_2(target_2), .wrong(wrong)
            );
            assign rests = 1'b0;
        end
    endgenerate

    // ---- second clock: the counters ----------------------------------------------------------

    logic [BCNT-1:0] bcnt, branches;
    logic [ICNT-1:0] icnt, instructions;
    logic            full_before;
    logic [2:0]      report;
    logic            reports;

    // iCnt may have been full before the step's own instruction, which may have a message too; of
    // instructions alone, the last one counts as such, which makes no difference
    wire own = !elsewhere_2 && icount_2 != 0;
    wire [ICNT:0] so_far = {1'b0, icnt} + (ICNT + 1)'(icount_2) - (ICNT + 1)'(own);
    wire [ICNT:0] excess = so_far - {1'b0, {ICNT{1'b1}}};
    assign full_before  = !excess[ICNT];
    assign instructions = (full_before ? excess[ICNT-1:0] : so_far[ICNT-1:0]) + ICNT'(own);
    assign branches     = (full_before ? '0 : bcnt) + BCNT'(conditional_2 || jump_2);

    wire bcnt_full = branches == {{(BCNT - 1) {1'b1}}, 1'b0};  // all ones say that it is full
    wire icnt_full = instructions == '1;

    always_comb begin
        reports = 1'b1;
        if (elsewhere_2) report = ELSEWHERE;
        else if (wrong) report = jump_2 ? TARGET : BRANCH;
        else if (bcnt_full) report = FULL_BCNT;
        else begin
            report  = FULL_ICNT;
            reports = icnt_full;
        end
    end

    assign coming = step_2;
    assign push   = step_2 && (reports || full_before);
    wire [COUNT-1:0] count = report == BRANCH || report == TARGET ? COUNT'(branches)
                           : report == FULL_BCNT ? COUNT'({BCNT{1'b1}})
                           : report == ELSEWHERE ? COUNT'(instructions) : COUNT'({ICNT{1'b1}});
    wire [4+COUNT+ADDRESS-1:0] untimed = {full_before && reports, report, count, target_2};
    generate
        if (TIME != 0) begin : timed
            logic [TIME-1:0] cycle_2;
            always_ff @(posedge clk) if (step) cycle_2 <= cycle;
            assign record = {untimed, cycle_2};
        end else begin : not_timed
            assign record = untimed;
        end
    endgenerate

    always_ff @(posedge clk) begin
        if (reset || (step_2 && reports)) begin
            bcnt <= '0;
            icnt <= '0;
        end else if (step_2) begin
            bcnt <= branches;
            icnt <= instructions;
        end
    end
endmodule
