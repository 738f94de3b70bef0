// SPDX-License-Identifier: MIT
// Who is next: cores are served in the order in which they pushed, and in the order of their
// numbers if they pushed in the same clock. DEPTH is how many clocks with a push may wait.
module vs_arbiter #(
    parameter CORES = 4,
    parameter DEPTH = 16
) (
    input  logic             clk,
    input  logic             reset,
    input  logic [CORES-1:0] push,
    output logic             any,
    output logic [CORES-1:0] next,  // one of them, if there is any
    input  logic             pop
);
    generate
        if (CORES == 1) begin : alone
            // what waits is counted by the core's own queue
            logic [$clog2(DEPTH+1)-1:0] waiting;
            assign any  = waiting != 0;
            assign next = 1'b1;
            always_ff @(posedge clk) begin
                if (reset) waiting <= '0;
                else waiting <= waiting + $clog2(DEPTH+1)'(push[0]) - $clog2(DEPTH+1)'(pop);
            end
        end else begin : several
            logic [CORES-1:0]           served, head, left;
            logic [$clog2(DEPTH+1)-1:0] level;
            wire last = (left & (left - 1'd1)) == 0;

            vs_fifo #(.WIDTH(CORES), .DEPTH(DEPTH)) order (
                .clk(clk), .reset(reset), .push(|push), .in(push), .pop(pop && last), .out(head),
                .level(level)
            );

            assign any  = level != 0;
            assign left = head & ~served;
            assign next = left & (~left + 1'd1);
            always_ff @(posedge clk) begin
                if (reset || (pop && last)) served <= '0;
                else if (pop) served <= served | next;
            end
        end
    endgenerate
endmodule
