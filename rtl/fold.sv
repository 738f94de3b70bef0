// SPDX-License-Identifier: MIT
// The newest LENGTH bits of TAGE's history, folded to WIDTH bits (src/model/tage.h). A branch
// shifts one bit in, or three.
module vs_fold #(
    parameter WIDTH  = 8,
    parameter LENGTH = 3
) (
    input  logic              clk,
    input  logic              reset,
    input  logic              one,
    input  logic              taken,
    input  logic              three,
    input  logic [2:0]        path,  // bit 2 enters first
    input  logic [2:0]        old,   // the bits that leave, bit 2 first; of one, that is bit 2
    output logic [WIDTH-1:0]  folded
);
    // rotates by one; the new bit enters at bit 0, and the oldest one leaves where it is
    function [WIDTH-1:0] pushed(input logic [WIDTH-1:0] v, input logic in, input logic out);
        pushed = WIDTH'({v, v[WIDTH-1]}) ^ WIDTH'(in) ^ (WIDTH'(out) << (LENGTH % WIDTH));
    endfunction

    wire [WIDTH-1:0] after_1 = pushed(folded, three ? path[2] : taken, old[2]);
    wire [WIDTH-1:0] after_2 = pushed(after_1, path[1], old[1]);
    wire [WIDTH-1:0] after_3 = pushed(after_2, path[0], old[0]);

    always_ff @(posedge clk) begin
        if (reset) folded <= '0;
        else if (three) folded <= after_3;
        else if (one) folded <= after_1;
    end
endmodule
