// SPDX-License-Identifier: MIT
// When TAGE halves its useful bits: `tick` counts up for each candidate that was useful, and down
// for an allocation; when it is full it starts again. The columns of useful bits are in
// tage_table.sv.
//
// Halving takes a column that is empty, and leaves one to be cleared. Hundreds of mispredictions
// lie between two halvings, in practice, and rows are cleared one in a clock; but nothing promises
// that. So `rests` says that two branches could need a column that is not cleared yet, and no
// branch may come then.
module vs_tage_halving #(
    parameter ROWS   = 128,
    parameter TABLES = 6,
    parameter FULL   = 255
) (
    input  logic                        clk,
    input  logic                        reset,
    input  logic                        allocates,
    input  logic                        found,   // an entry that is not useful
    input  logic [$clog2(TABLES+1)-1:0] passed,  // useful candidates
    output logic                        halves,
    output logic [2:0]                  low,     // which of three columns is that of the low bits
    output logic [2:0]                  high,
    output logic [2:0]                  low_next,
    output logic [2:0]                  high_next,
    output logic                        clear,   // a row of the third one
    output logic [$clog2(ROWS)-1:0]     clear_at,
    output logic                        rests
);
    localparam TICK = $clog2(FULL + TABLES);

    logic [TICK-1:0] tick;
    wire  [TICK-1:0] sum  = tick + TICK'(passed);
    wire  [TICK-1:0] next = found && sum != '0 ? sum - 1'd1 : sum;

    assign halves    = allocates && next >= TICK'(FULL);
    assign low_next  = halves ? {low[1:0], low[2]} : low;
    assign high_next = halves ? {high[1:0], high[2]} : high;
    assign rests     = clear && tick >= TICK'(FULL - 2 * TABLES);

    always_ff @(posedge clk) begin
        if (reset) begin
            tick     <= '0;
            low      <= 3'b001;
            high     <= 3'b010;
            clear    <= 1'b0;
            clear_at <= '0;
        end else begin
            if (allocates) tick <= halves ? '0 : next;
            low   <= low_next;
            high  <= high_next;
            clear <= halves || (clear && clear_at != '1);
            if (clear) clear_at <= clear_at + 1'd1;
        end
    end
endmodule
