// SPDX-License-Identifier: MIT
// After reset, counts through all places of the largest table, one in a clock.
module vs_sweep #(
    parameter BITS = 9
) (
    input  logic            clk,
    input  logic            reset,
    output logic            sweep,
    output logic [BITS-1:0] at
);
    always_ff @(posedge clk) begin
        if (reset) begin
            sweep <= 1'b1;
            at    <= '0;
        end else if (sweep) begin
            sweep <= at != '1;
            at    <= at + 1'd1;
        end
    end
endmodule
