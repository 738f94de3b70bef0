// SPDX-License-Identifier: MIT
// One core's part of mlvCF: the flags of its cache, fahCnt, and iCnt, which counts the instructions
// since the core's registers were told last. It takes a step in every clock, and makes a record of
// what is to be reported in the next one, when the cache says whether it has the line and what the
// bytes are.
//
// kind of step        `size`, `offset`, `row`   `goes_on`                  a clock later: `bytes`
// 0  a load           the operand's             its other part follows     the touched granules
// 1  a store          the operand's             its other part follows
// 2  from outside                               more bytes follow          the value
// 3  registers                                  bytes follow               their number plus 1; 0:
//                                                                          the core ends
// 4  more bytes, of 2 or 3                      and more follow            they
// 5  instructions only
//
// `icount` instructions come before what the step tells; in one step there are fewer than iCnt can
// count.
module vs_mlvcf_core #(
    parameter SETS    = 128,
    parameter WAYS    = 4,
    parameter LINE    = 64,
    parameter GRANULE = 4,
    parameter HITS    = 32,   // bits of fahCnt
    parameter ICNT    = 32,   // and of iCnt
    parameter TIME    = 0,
    parameter BLOCK   = 4,
    parameter BYTES   = 12,   // of a record: an operand's granules; iCnt and 17 bits fit, too
    parameter LENGTH  = $clog2(BYTES + 1),
    parameter RECORD  = 4 + LENGTH + HITS + 8 * BYTES + TIME
) (
    input  logic                    clk,
    input  logic                    reset,
    input  logic                    sweep,
    input  logic [$clog2(SETS)-1:0] sweep_at,

    input  logic                    step,
    input  logic [2:0]              kind,
    input  logic                    goes_on,
    input  logic [BLOCK-1:0]        icount,
    input  logic [$clog2(SETS)-1:0] row,
    input  logic [$clog2(LINE)-1:0] offset,
    input  logic [3:0]              size,
    /* verilator lint_off UNUSEDSIGNAL */
    input  logic [(TIME != 0 ? TIME : 1)-1:0] cycle,
    /* verilator lint_on UNUSEDSIGNAL */

    input  logic [$clog2(WAYS)-1:0] way_2,
    input  logic                    hit_2,
    input  logic                    changed_2,  // the load met bytes that nobody told of
    input  logic [LENGTH-1:0]       length_2,   // of bytes, if this is neither load nor store
    input  logic [8*BYTES-1:0]      bytes_2,

    output logic                    coming,     // a record may be pushed in this clock
    output logic                    push,
    output logic                    begins,     // and is the first one of its message
    output logic [RECORD-1:0]       record
);
    localparam LOAD = 3'd0, STORE = 3'd1, VALUE = 3'd2, REGISTERS = 3'd3, MORE = 3'd4;
    // what a record is
    localparam IS_VALUE = 2'd0, IS_STATE = 2'd1, IS_MORE = 2'd2, IS_NOTHING = 2'd3;

    // ---- first clock ------------------------------------------------------------------------------

    wire  accesses = step && (kind == LOAD || kind == STORE);
    logic second, known, step_2, goes_on_2;
    logic [2:0]        kind_2;
    logic [BLOCK-1:0]  icount_2;
    logic [LENGTH-1:0] granules_2;

    vs_first_access #(.SETS(SETS), .WAYS(WAYS), .LINE(LINE), .GRANULE(GRANULE)) first_access (
        .clk(clk), .reset(reset), .sweep(sweep), .sweep_at(sweep_at), .access(accesses),
        .store(kind == STORE), .second(second), .row(row), .offset(offset), .size(size),
        .way_2(way_2), .hit_2(hit_2), .known_2(known)
    );

    // what a message has: whole granules
    localparam LOW = $clog2(GRANULE);
    localparam SUM = LENGTH + 2;
    wire [SUM-1:0] spanned = (SUM'(offset) & SUM'(GRANULE - 1)) + SUM'(size) + SUM'(GRANULE - 1);
    always_ff @(posedge clk) begin
        step_2 <= step && !reset;
        if (reset) second <= 1'b0;
        else if (accesses) second <= goes_on;
        if (step) begin
            kind_2     <= kind;
            goes_on_2  <= goes_on;
            icount_2   <= icount;
            granules_2 <= LENGTH'(spanned >> LOW << LOW);
        end
    end

    // ---- second clock -----------------------------------------------------------------------------

    logic            missed;  // in an operand's first part
    logic [HITS-1:0] hits;
    logic [ICNT-1:0] instructions;

    wire [ICNT:0]   sum    = (ICNT + 1)'(instructions) + (ICNT + 1)'(icount_2);
    wire            passed = step_2 && sum >= (ICNT + 1)'({ICNT{1'b1}});  // iCnt is full
    wire [ICNT-1:0] since  = passed ? sum[ICNT-1:0] + 1'd1 : sum[ICNT-1:0];

    wire loaded = step_2 && kind_2 == LOAD && !goes_on_2;
    wire found  = known && !missed && !changed_2;
    wire [HITS-1:0] counted = (passed ? '0 : hits) + HITS'(loaded && found);
    wire full   = loaded && found && counted == {HITS{1'b1}};
    wire states = step_2 && kind_2 == REGISTERS;
    wire more   = step_2 && kind_2 == MORE;
    wire told   = (loaded && !found) || full || states || (step_2 && kind_2 == VALUE);

    wire [1:0] what = more ? IS_MORE : states ? IS_STATE : told ? IS_VALUE : IS_NOTHING;
    wire [LENGTH-1:0] length = full ? '0 : kind_2 == LOAD ? granules_2 : length_2;
    wire [HITS-1:0]   tells  = full ? counted : hits;
    wire [8*BYTES-1:0] bytes = states ? (8 * BYTES)'({since, bytes_2[16:0]}) : bytes_2;
    wire follows = goes_on_2 && kind_2 != LOAD && kind_2 != STORE;

    assign coming = step_2;
    assign push   = told || more || passed;
    assign begins = !more;
    generate
        if (TIME != 0) begin : timed
            logic [TIME-1:0] cycle_2;
            always_ff @(posedge clk) if (step) cycle_2 <= cycle;
            assign record = {passed, what, follows, length, tells, bytes, cycle_2};
        end else begin : not_timed
            assign record = {passed, what, follows, length, tells, bytes};
        end
    endgenerate

    always_ff @(posedge clk) begin
        if (reset) begin
            hits         <= '0;
            instructions <= '0;
            missed       <= 1'b0;
        end else if (step_2) begin
            hits         <= told ? '0 : counted;
            instructions <= states ? '0 : since;
            if (kind_2 == LOAD) missed <= goes_on_2 && !(known && !changed_2);
        end
    end
endmodule
