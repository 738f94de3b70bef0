// SPDX-License-Identifier: MIT
// A table that learns, as predictors have them: what was read in one clock may be written in the
// next one, in which another place, or the same one, is read. While `sweep` is set, after reset,
// places get their first value, one at a time.
module vs_table #(
    parameter WIDTH = 2,
    parameter DEPTH = 512,
    parameter FIRST = 0
) (
    input  logic                     clk,
    input  logic                     sweep,
    input  logic [$clog2(DEPTH)-1:0] sweep_at,
    input  logic                     read,
    input  logic [$clog2(DEPTH)-1:0] at,
    output logic [WIDTH-1:0]         out,
    input  logic                     write,  // what was read in the clock before
    input  logic [WIDTH-1:0]         in
);
    logic [$clog2(DEPTH)-1:0] at_2;
    logic [WIDTH-1:0]         stored, forwarded;
    logic                     forward;

    vs_ram #(.WIDTH(WIDTH), .DEPTH(DEPTH)) ram (
        .clk(clk),
        .write(sweep || write),
        .write_at(sweep ? sweep_at : at_2),
        .in(sweep ? WIDTH'(FIRST) : in),
        .read(read),
        .read_at(at),
        .out(stored)
    );

    // what is read may be about to be written
    assign out = forward ? forwarded : stored;
    always_ff @(posedge clk)
        if (read) begin
            at_2      <= at;
            forward   <= write && at == at_2;
            forwarded <= in;
        end
endmodule
