// SPDX-License-Identifier: MIT
// Serialises packets of RISC-V Efficient Trace, a byte in each clock: the byte with the length, and
// then as many bytes as are left when the top bits that are alike are dropped but for one.
module vs_etrace_format #(
    parameter A      = 63,
    parameter PACKET = 41 + A
) (
    input  logic              clk,
    input  logic              reset,
    input  logic              valid,
    input  logic [PACKET-1:0] packet,
    output logic              pop,
    output logic              piece_valid,
    input  logic              piece_ready,
    output logic [7:0]        piece
);
    localparam MAP = 3'd0, PLACE = 3'd1, SYNC = 3'd2, HANDLER = 3'd3, UNSEEN = 3'd4;
    localparam BYTES = (2 + 5 + 31 + A + 3 + 7) / 8;
    localparam BITS  = 8 * BYTES;

    wire [2:0]   what;
    wire         updiscon, bit_1;
    wire [4:0]   branches;
    wire [30:0]  map;
    wire [A-1:0] address;
    assign {what, updiscon, bit_1, branches, map, address} = packet;

    // the address with its flags, each of which is coded by whether it differs from the bit before;
    // all that follows is a copy of the last one
    wire top = address[A-1];
    wire [BITS-3:0] tail = {{(BITS - A - 3) {top ^ updiscon}}, top, address};

    logic [BITS-1:0] bits;
    always_comb begin
        case (what)
            MAP: bits = {{(BITS - 38) {map[30]}}, map, 5'd0, 2'd1};
            PLACE:
                if (branches == 0) bits = {tail, 2'd2};
                else if (branches == 1) bits = {tail[BITS-9:0], map[0], branches, 2'd1};
                else if (branches < 4) bits = {tail[BITS-11:0], map[2:0], branches, 2'd1};
                else if (branches < 8) bits = {tail[BITS-15:0], map[6:0], branches, 2'd1};
                else if (branches < 16) bits = {tail[BITS-23:0], map[14:0], branches, 2'd1};
                else bits = {tail[BITS-39:0], map, branches, 2'd1};
            // branch, privilege, address
            SYNC: bits = {{(BITS - A - 7) {top}}, address, 2'd0, bit_1, 2'd0, 2'd3};
            // branch, privilege, cause, interrupt, thaddr, address
            HANDLER, UNSEEN:
                bits = {{(BITS - A - 15) {top}}, address, what == HANDLER, 1'b1, 6'd0, 2'd0, bit_1,
                        2'd1, 2'd3};
            // ienable, mode, status, and options that are all off
            default: bits = BITS'({bit_1 ? 2'd0 : branches[0] ? 2'd1 : 2'd3, 1'b0, bit_1, 2'd3, 2'd3});
        endcase
    end

    // the highest bit that differs from the top one is followed by one like it
    localparam LENGTH = $clog2(BYTES + 1);
    wire [BITS-1:0] differs = bits ^ {BITS{bits[BITS-1]}};
    logic [LENGTH-1:0] length;
    integer i;
    always_comb begin
        length = LENGTH'(1);
        for (i = 1; i < BYTES; i = i + 1)
            if (differs[8*i-1+:8] != 0) length = LENGTH'(i + 1);
    end

    // byte 0 is the one with the length: te_inst is message 2
    logic [LENGTH-1:0] number;
    logic [7:0]        one;
    integer k;
    always_comb begin
        one = 8'd64 | 8'(length);
        for (k = 1; k <= BYTES; k = k + 1)
            if (number == LENGTH'(k)) one = bits[8*(k-1)+:8];
    end
    assign piece       = one;
    assign piece_valid = valid;
    assign pop         = piece_valid && piece_ready && number == length;
    always_ff @(posedge clk)
        if (reset) number <= '0;
        else if (piece_valid && piece_ready) number <= pop ? '0 : number + 1'd1;
endmodule
