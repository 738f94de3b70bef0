// SPDX-License-Identifier: MIT
// The return address stack, as src/model/ras.h describes it. A jump that pops and pushes pops
// first. The clock after a pop has the address, and whether there is one.
module vs_ras #(
    parameter ENTRIES = 32,
    parameter ADDRESS = 64
) (
    input  logic               clk,
    input  logic               reset,
    input  logic               push,
    input  logic               pop,
    input  logic [ADDRESS-1:0] address,
    output logic               found,
    output logic [ADDRESS-1:0] top
);
    localparam BITS = $clog2(ENTRIES);
    localparam DEEP = $clog2(ENTRIES + 1);

    logic [BITS-1:0] place, below, after_pop, after;
    logic [DEEP-1:0] depth, depth_popped, depth_after;

    wire popped = pop && depth != 0;
    assign below        = place == 0 ? BITS'(ENTRIES - 1) : place - 1'd1;
    assign after_pop    = popped ? below : place;
    assign depth_popped = popped ? depth - 1'd1 : depth;
    always_comb begin
        after       = after_pop;
        depth_after = depth_popped;
        if (push) begin
            after = after_pop == BITS'(ENTRIES - 1) ? '0 : after_pop + 1'd1;
            if (depth_popped != DEEP'(ENTRIES)) depth_after = depth_popped + 1'd1;
        end
    end

    vs_ram #(.WIDTH(ADDRESS), .DEPTH(ENTRIES)) stack (
        .clk(clk),
        .write(push),
        .write_at(after_pop),
        .in(address),
        .read(pop),
        .read_at(below),
        .out(top)
    );

    always_ff @(posedge clk) begin
        found <= popped;
        if (reset) begin
            place <= '0;
            depth <= '0;
        end else begin
            place <= after;
            depth <= depth_after;
        end
    end
endmodule
