// SPDX-License-Identifier: MIT
// Makes mlvCF's messages of records, one core's after the other's, as src/technique/cfiat.c has
// them: Ti, dCC, fahCnt, and then a value; registers, or how many instructions passed; or nothing.
// Registers come after an escape, which a value's first byte must not be taken for. What does not
// fit into a record is in the next ones of the same core.
module vs_mlvcf_format #(
    parameter CORES    = 1,
    parameter HITS     = 32,
    parameter ICNT     = 32,
    parameter TIME     = 0,
    parameter BYTES    = 12,
    parameter FAH_FIRST = 2,
    parameter FAH_NEXT  = 2,
    parameter DCC_FIRST = 4,
    parameter DCC_NEXT  = 2,
    parameter CHUNKS    = 2,   // in a piece
    parameter AT_ONCE   = 2,   // bytes in a piece
    parameter PIECE     = 18,
    parameter LENGTH    = $clog2(BYTES + 1),
    parameter RECORD    = 4 + LENGTH + HITS + 8 * BYTES + TIME,
    parameter TI        = $clog2(CORES)
) (
    input  logic                       clk,
    input  logic                       reset,
    input  logic                       valid,
    input  logic [CORES-1:0]           core,    // whose record it is, one-hot
    input  logic [RECORD-1:0]          record,
    output logic                       pop,
    output logic                       ends,    // with this record its message
    output logic                       piece_valid,
    input  logic                       piece_ready,
    output logic [PIECE-1:0]           piece,
    output logic [$clog2(PIECE+1)-1:0] length
);
    localparam IS_VALUE = 2'd0, IS_STATE = 2'd1, IS_MORE = 2'd2, IS_NOTHING = 2'd3;
    localparam ESCAPE = 8'hc1;
    localparam T      = TIME != 0 ? TIME : 1;
    localparam SIZE   = 17;                      // bits of the registers' size plus 1
    localparam STATE  = ICNT > SIZE ? ICNT : SIZE;
    localparam BITS   = $clog2(PIECE + 1);

    function integer greater(input integer a, input integer b);
        greater = a > b ? a : b;
    endfunction
    localparam W = greater(greater(8 * BYTES, HITS), greater(STATE, T));
    typedef enum logic [2:0] {CORE, CYCLES, COUNT, MARK, INSTRUCTIONS, NUMBER, DATA} field_t;
    localparam field_t START = CORES > 1 ? CORE : TIME != 0 ? CYCLES : COUNT;

    // ---- the record -----------------------------------------------------------------------------

    wire               passed, follows;
    wire [1:0]         what;
    wire [LENGTH-1:0]  count;
    wire [HITS-1:0]    hits;
    wire [8*BYTES-1:0] bytes;
    wire [T-1:0]       cycle;
    generate
        if (TIME != 0) begin : timed
            assign {passed, what, follows, count, hits, bytes, cycle} = record;
        end else begin : not_timed
            assign {passed, what, follows, count, hits, bytes} = record;
            assign cycle = '0;
        end
    endgenerate

    logic told;  // of the two messages of a record, the first
    wire  first_of_two = passed && !told;  // it says that iCnt is full

    // ---- fields ---------------------------------------------------------------------------------

    logic [T-1:0] cycle_before;
    logic [TI:0]  number;
    integer c;
    always_comb begin
        number = '0;
        for (c = 0; c < CORES; c = c + 1) if (core[c]) number = number | (TI + 1)'(c);
    end

    field_t            field, field_now, field_next;
    logic              begun;       // this is not the field's first piece
    logic [W-1:0]      rest, value;
    logic [LENGTH-1:0] left, left_now;
    wire [T-1:0]       cycles_passed = cycle - cycle_before;
    assign field_now = what == IS_MORE ? DATA : field;
    assign left_now  = begun ? left : count;

    always_comb begin
        if (begun) value = rest;
        else
            case (field_now)
                CYCLES: value = W'(cycles_passed);
                COUNT: value = told ? '0 : W'(hits);
                INSTRUCTIONS: value = first_of_two ? W'({ICNT{1'b1}}) : W'(bytes[SIZE+:ICNT]);
                NUMBER: value = W'(bytes[SIZE-1:0]);
                default: value = W'(bytes);
            endcase
    end

    logic [PIECE-1:0] hits_piece, dcc_piece, state_piece;
    logic [BITS-1:0]  hits_length, dcc_length, state_length;
    logic             hits_more, dcc_more, state_more;
    logic [HITS-1:0]  hits_rest;
    logic [T-1:0]     dcc_rest;
    logic [STATE-1:0] state_rest;

    vs_chunks #(.VALUE(HITS), .FIRST(FAH_FIRST), .OTHER(FAH_NEXT), .COUNT(CHUNKS), .PIECE(PIECE))
        code_hits (.value(value[HITS-1:0]), .first(!begun), .piece(hits_piece),
           .length(hits_length), .rest(hits_rest), .more(hits_more));
    vs_chunks #(.VALUE(STATE), .FIRST(8), .OTHER(8), .COUNT(CHUNKS), .PIECE(PIECE))
        code_state (.value(value[STATE-1:0]), .first(!begun), .piece(state_piece),
           .length(state_length), .rest(state_rest), .more(state_more));
    generate
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
                    else if (goes && last && what != IS_MORE && core[k]) cycles[k] <= cycle;
            vs_chunks #(.VALUE(T), .FIRST(DCC_FIRST), .OTHER(DCC_NEXT), .COUNT(CHUNKS),
                        .PIECE(PIECE))
                code_dcc (.value(value[T-1:0]), .first(!begun), .piece(dcc_piece),
                   .length(dcc_length), .rest(dcc_rest), .more(dcc_more));
        end else begin : no_cycles
            assign cycle_before = '0;
            assign dcc_piece    = '0;
            assign dcc_length   = '0;
            assign dcc_rest     = '0;
            assign dcc_more     = 1'b0;
        end
    endgenerate

    // some bytes; after a value's first one that looks like an escape there is a 0
    wire escaped = what == IS_VALUE && !begun && value[7:0] == ESCAPE;
    wire [LENGTH-1:0] taken = left_now < LENGTH'(AT_ONCE) ? left_now : LENGTH'(AT_ONCE);
    logic [8*AT_ONCE-1:0] some;
    integer b;
    always_comb
        for (b = 0; b < AT_ONCE; b = b + 1)
            some[8*b+:8] = LENGTH'(b) < taken ? value[8*b+:8] : 8'd0;

    logic         more, last;  // of the field, and of the message or record
    logic [W-1:0] rest_next;
    always_comb begin
        rest_next = '0;
        case (field_now)
            CORE: begin
                piece  = PIECE'(number);
                length = BITS'(TI);
                more   = 1'b0;
            end
            CYCLES: begin
                piece     = dcc_piece;
                length    = dcc_length;
                more      = dcc_more;
                rest_next = W'(dcc_rest);
            end
            COUNT: begin
                piece     = hits_piece;
                length    = hits_length;
                more      = hits_more;
                rest_next = W'(hits_rest);
            end
            MARK: begin
                piece  = PIECE'({1'b1, ESCAPE});
                length = BITS'(9);
                more   = 1'b0;
            end
            INSTRUCTIONS, NUMBER: begin
                piece     = state_piece;
                length    = state_length;
                more      = state_more;
                rest_next = W'(state_rest);
            end
            default: begin
                piece     = escaped ? PIECE'({some[8*AT_ONCE-1:8], 1'b0, some[7:0]}) : PIECE'(some);
                length    = (BITS'(taken) << 3) + BITS'(escaped);
                more      = left_now > LENGTH'(AT_ONCE);
                rest_next = value >> (8 * AT_ONCE);
            end
        endcase
        case (field_now)
            CORE: field_next = TIME != 0 ? CYCLES : COUNT;
            CYCLES: field_next = COUNT;
            COUNT: field_next = first_of_two || what == IS_STATE ? MARK : DATA;
            MARK: field_next = INSTRUCTIONS;
            default: field_next = NUMBER;
        endcase
        last = !more && (field_now == DATA || field_now == NUMBER ||
               (field_now == COUNT && !first_of_two && what == IS_VALUE && count == 0) ||
               (field_now == INSTRUCTIONS && first_of_two));
    end

    assign piece_valid = valid;
    wire goes = piece_valid && piece_ready;
    assign pop  = goes && last && (!first_of_two || what == IS_NOTHING);
    assign ends = !follows;

    always_ff @(posedge clk) begin
        if (reset) begin
            field <= START;
            begun <= 1'b0;
            told  <= 1'b0;
        end else if (goes) begin
            begun <= more;
            if (!more) field <= last ? START : field_next;
            if (last) told <= first_of_two && what != IS_NOTHING;
        end
        if (goes) begin
            rest <= rest_next;
            left <= left_now - LENGTH'(AT_ONCE);
        end
    end
endmodule
