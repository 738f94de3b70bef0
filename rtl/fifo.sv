// SPDX-License-Identifier: MIT
// A queue. Its first word is there to be taken as long as it is not empty. Nothing may be pushed
// while it is full, nor popped while it is empty.
module vs_fifo #(
    parameter WIDTH = 8,
    parameter DEPTH = 4
) (
    input  logic                       clk,
    input  logic                       reset,
    input  logic                       push,
    input  logic [WIDTH-1:0]           in,
    input  logic                       pop,
    output logic [WIDTH-1:0]           out,
    output logic [$clog2(DEPTH+1)-1:0] level
);
    localparam BITS = $clog2(DEPTH);
    localparam FULL = $clog2(DEPTH + 1);

    logic [WIDTH-1:0] words[0:DEPTH-1];
    logic [BITS-1:0]  first, last;

    assign out = words[first];

    always_ff @(posedge clk) begin
        if (push) words[last] <= in;
        if (reset) begin
            first <= '0;
            last  <= '0;
            level <= '0;
        end else begin
            if (push) last <= last == BITS'(DEPTH - 1) ? '0 : last + 1'd1;
            if (pop) first <= first == BITS'(DEPTH - 1) ? '0 : first + 1'd1;
            level <= level + FULL'(push) - FULL'(pop);
        end
    end
endmodule
