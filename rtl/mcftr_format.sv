// SPDX-License-Identifier: MIT
// Makes mcfTR's messages of records, one core's after the other's: Ti, dCC, bCnt, iCnt, diffTA, as
// src/technique/mispredict.h has them. A field takes as many clocks as there are pieces of it.
module vs_mcftr_format #(
    parameter CORES       = 1,
    parameter BCNT        = 16,
    parameter ICNT        = 16,
    parameter ADDRESS     = 64,
    parameter TIME        = 0,
    parameter BCNT_FIRST  = 4,
    parameter BCNT_NEXT   = 2,
    parameter ICNT_FIRST  = 4,
    parameter ICNT_NEXT   = 2,
    parameter TA_FIRST    = 3,
    parameter TA_NEXT     = 5,
    parameter DCC_FIRST   = 4,
    parameter DCC_NEXT    = 2,
    parameter CHUNKS      = 2,   // in a piece
    parameter PIECE       = 12,
    parameter COUNT       = BCNT > ICNT ? BCNT : ICNT,
    parameter RECORD      = 4 + COUNT + ADDRESS + TIME,
    parameter TI          = $clog2(CORES)
) (
    input  logic                       clk,
    input  logic                       reset,
    input  logic                       valid,
    input  logic [CORES-1:0]           core,    // whose record it is, one-hot
    input  logic [RECORD-1:0]          record,
    output logic                       pop,
    output logic                       piece_valid,
    input  logic                       piece_ready,
    output logic [PIECE-1:0]           piece,
    output logic [$clog2(PIECE+1)-1:0] length
);
    localparam BRANCH = 3'd0, TARGET = 3'd1, ELSEWHERE = 3'd2, FULL_BCNT = 3'd3, FULL_ICNT = 3'd4;
    localparam T = TIME != 0 ? TIME : 1;
    localparam W = ADDRESS > TIME ? ADDRESS : TIME;
    localparam LENGTH = $clog2(PIECE + 1);
    typedef enum logic [2:0] {CORE, CYCLES, BRANCHES, INSTRUCTIONS, ADDRESSES} field_t;
    localparam field_t START = CORES > 1 ? CORE : TIME != 0 ? CYCLES : BRANCHES;

    // ---- the record ---------------------------------------------------------------------------

    wire               twice;  // iCnt was full before
    wire [2:0]         report_own;
    wire [COUNT-1:0]   count_own;
    wire [ADDRESS-1:0] target;
    wire [T-1:0]       cycle;
    generate
        if (TIME != 0) begin : timed
            assign {twice, report_own, count_own, target, cycle} = record;
        end else begin : not_timed
            assign {twice, report_own, count_own, target} = record;
            assign cycle = '0;
        end
    endgenerate

    logic told;  // of the two messages of a record, the first
    wire first_of_two = twice && !told;
    wire [2:0]       report = first_of_two ? FULL_ICNT : report_own;
    wire [COUNT-1:0] count  = first_of_two ? COUNT'({ICNT{1'b1}}) : count_own;
    wire counts_branches = report == BRANCH || report == TARGET || report == FULL_BCNT;
    wire has_target      = report == TARGET || report == ELSEWHERE;

    // ---- what each core's last message said -----------------------------------------------------

    logic [ADDRESS-1:0] targets[0:CORES-1];
    logic [ADDRESS-1:0] target_before;
    logic [T-1:0]       cycle_before;
    logic [TI:0]        number;

    integer c;
    always_comb begin
        target_before = '0;
        number        = '0;
        for (c = 0; c < CORES; c = c + 1)
            if (core[c]) begin
                target_before = target_before | targets[c];
                number        = number | (TI + 1)'(c);
            end
    end

    wire [ADDRESS-1:0] difference = target - target_before;
    wire               negative   = difference[ADDRESS-1];
    wire [ADDRESS-1:0] magnitude  = negative ? -difference : difference;

    // ---- fields ---------------------------------------------------------------------------------

    wire [T-1:0] cycles_passed = cycle - cycle_before;

    field_t       field, field_next;
    logic         begun;       // this is not the field's first piece
    logic [W-1:0] rest, value;

    always_comb begin
        if (begun) value = rest;
        else
            case (field)
                CYCLES: value = W'(cycles_passed);
                BRANCHES: value = counts_branches ? W'(count) : '0;
                INSTRUCTIONS: value = W'(count);
                default: value = W'(magnitude);
            endcase
    end

    logic [PIECE-1:0]  ta_piece, bcnt_piece, icnt_piece, dcc_piece;
    logic [LENGTH-1:0] ta_length, bcnt_length, icnt_length, dcc_length;
    logic              ta_more, bcnt_more, icnt_more, dcc_more;
    logic [ADDRESS-1:0] ta_rest;
    logic [BCNT-1:0]    bcnt_rest;
    logic [ICNT-1:0]    icnt_rest;
    logic [T-1:0]       dcc_rest;

    // diffTA's first piece has its sign
    vs_chunks #(.VALUE(ADDRESS), .FIRST(TA_FIRST), .OTHER(TA_NEXT), .COUNT(CHUNKS), .PIECE(PIECE))
        code_ta (.value(value[ADDRESS-1:0]), .first(!begun), .piece(ta_piece), .length(ta_length),
            .rest(ta_rest), .more(ta_more));
    vs_chunks #(.VALUE(BCNT), .FIRST(BCNT_FIRST), .OTHER(BCNT_NEXT), .COUNT(CHUNKS), .PIECE(PIECE))
        code_bcnt (.value(value[BCNT-1:0]), .first(!begun), .piece(bcnt_piece), .length(bcnt_length),
           .rest(bcnt_rest), .more(bcnt_more));
    generate
        if (BCNT == ICNT && BCNT_FIRST == ICNT_FIRST && BCNT_NEXT == ICNT_NEXT) begin : same_code
            assign icnt_piece  = bcnt_piece;
            assign icnt_length = bcnt_length;
            assign icnt_rest   = bcnt_rest;
            assign icnt_more   = bcnt_more;
        end else begin : own_code
            vs_chunks #(.VALUE(ICNT), .FIRST(ICNT_FIRST), .OTHER(ICNT_NEXT), .COUNT(CHUNKS),
                        .PIECE(PIECE))
                code_icnt (.value(value[ICNT-1:0]), .first(!begun), .piece(icnt_piece),
                   .length(icnt_length), .rest(icnt_rest), .more(icnt_more));
        end
        if (TIME != 0) begin : has_cycles
            logic [T-1:0] cycles[0:CORES-1];
            integer k;
            always_comb begin
                cycle_before = '0;
                for (k = 0; k < CORES; k = k + 1)
                    if (core[k]) cycle_before = cycle_before | cycles[k];
            end
            always_ff @(posedge clk)
                for (k = 0; k < CORES; k = k + 1)
                    if (reset) cycles[k] <= '0;
                    else if (piece_valid && piece_ready && last && core[k]) cycles[k] <= cycle;
            vs_chunks #(.VALUE(T), .FIRST(DCC_FIRST), .OTHER(DCC_NEXT), .COUNT(CHUNKS),
                        .PIECE(PIECE))
                code_dcc (.value(value[T-1:0]), .first(!begun), .piece(dcc_piece), .length(dcc_length),
                   .rest(dcc_rest), .more(dcc_more));
        end else begin : no_cycles
            assign cycle_before = '0;
            assign dcc_piece    = '0;
            assign dcc_length   = '0;
            assign dcc_rest     = '0;
            assign dcc_more     = 1'b0;
        end
    endgenerate

    logic         more, last;  // of the field, and of the message
    logic [W-1:0] rest_next;
    always_comb begin
        rest_next = '0;
        case (field)
            CORE: begin
                piece  = PIECE'(number);
                length = LENGTH'(TI);
                more   = 1'b0;
            end
            CYCLES: begin
                piece     = dcc_piece;
                length    = dcc_length;
                more      = dcc_more;
                rest_next = W'(dcc_rest);
            end
            BRANCHES: begin
                piece     = bcnt_piece;
                length    = bcnt_length;
                more      = bcnt_more;
                rest_next = W'(bcnt_rest);
            end
            INSTRUCTIONS: begin
                piece     = icnt_piece;
                length    = icnt_length;
                more      = icnt_more;
                rest_next = W'(icnt_rest);
            end
            default: begin
                piece     = begun ? ta_piece : PIECE'({ta_piece, negative});
                length    = begun ? ta_length : ta_length + 1'd1;
                more      = ta_more;
                rest_next = W'(ta_rest);
            end
        endcase
        case (field)
            CORE: field_next = TIME != 0 ? CYCLES : BRANCHES;
            CYCLES: field_next = BRANCHES;
            BRANCHES: field_next = counts_branches ? ADDRESSES : INSTRUCTIONS;
            default: field_next = ADDRESSES;
        endcase
        last = !more && (field == ADDRESSES || (!has_target &&
               (field == INSTRUCTIONS || (field == BRANCHES && counts_branches))));
    end

    assign piece_valid = valid;
    wire goes = piece_valid && piece_ready;
    assign pop = goes && last && !first_of_two;

    always_ff @(posedge clk) begin
        if (reset) begin
            field <= START;
            begun <= 1'b0;
            told  <= 1'b0;
            for (c = 0; c < CORES; c = c + 1) targets[c] <= '0;
        end else if (goes) begin
            begun <= more;
            if (!more) field <= last ? START : field_next;
            if (last) told <= first_of_two;
            if (pop && has_target)
                for (c = 0; c < CORES; c = c + 1) if (core[c]) targets[c] <= target;
        end
        if (goes) rest <= rest_next;
    end
endmodule
