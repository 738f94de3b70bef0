// SPDX-License-Identifier: MIT
// A memory with one port to read and one to write. What is read appears after the clock; if the
// same word is being written, the old one is read. This is what an SRAM macro of a chip replaces.
module vs_ram #(
    parameter WIDTH = 2,
    parameter DEPTH = 512
) (
    input  logic                     clk,
    input  logic                     write,
    input  logic [$clog2(DEPTH)-1:0] write_at,
    input  logic [WIDTH-1:0]         in,
    input  logic                     read,
    input  logic [$clog2(DEPTH)-1:0] read_at,
    output logic [WIDTH-1:0]         out
);
    logic [WIDTH-1:0] words[0:DEPTH-1];

    always_ff @(posedge clk) begin
        if (write) words[write_at] <= in;
        if (read) out <= words[read_at];
    end
endmodule
