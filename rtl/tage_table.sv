// SPDX-License-Identifier: MIT
// One tagged table of TAGE. It says in the clock after a branch what its entry has, and learns in
// that clock.
//
// All useful bits have to be halved in one clock. So there are three columns of them: a low one, a
// high one, and one that has nothing but zeros. Halving makes the high one the low one, and that of
// the zeros the high one; the old low one is then cleared (tage_halving.sv). `low` and `high` say
// which column is which, as one of three bits, and `low_next` and `high_next` what they are after
// this clock.
module vs_tage_table #(
    parameter ENTRIES = 128,
    parameter TAG     = 8
) (
    input  logic                       clk,
    input  logic                       sweep,
    input  logic [$clog2(ENTRIES)-1:0] sweep_at,
    input  logic                       clear,     // a row of the third column
    input  logic [$clog2(ENTRIES)-1:0] clear_at,
    input  logic [2:0]                 low,
    input  logic [2:0]                 high,
    input  logic [2:0]                 low_next,
    input  logic [2:0]                 high_next,

    input  logic                       read,
    input  logic [$clog2(ENTRIES)-1:0] index,
    output logic [TAG-1:0]             tag,
    output logic [2:0]                 counter,
    output logic [1:0]                 useful,
    input  logic                       write,
    input  logic [TAG-1:0]             tag_in,
    input  logic [2:0]                 counter_in,
    input  logic [1:0]                 useful_in
);
    vs_table #(.WIDTH(TAG + 3), .DEPTH(ENTRIES), .FIRST(7)) entries (
        .clk(clk), .sweep(sweep), .sweep_at(sweep_at), .read(read), .at(index),
        .out({tag, counter}), .write(write), .in({tag_in, counter_in})
    );

    logic [2:0] column, stored, forwarded, written;
    logic [$clog2(ENTRIES)-1:0] index_2;
    assign written = (low_next & {3{useful_in[0]}}) | (high_next & {3{useful_in[1]}});

    genvar c;
    generate
        for (c = 0; c < 3; c = c + 1) begin : bits
            wire rests = !low[c] && !high[c];
            wire takes = write && (low_next[c] || high_next[c]);
            logic forward;
            vs_ram #(.WIDTH(1), .DEPTH(ENTRIES)) ram (
                .clk(clk),
                .write(sweep || takes || (clear && rests)),
                .write_at(sweep ? sweep_at : takes ? index_2 : clear_at),
                .in(!sweep && takes && written[c]),
                .read(read),
                .read_at(index),
                .out(stored[c])
            );
            assign column[c] = forward ? forwarded[c] : stored[c];
            always_ff @(posedge clk) if (read) forward <= takes && index == index_2;
        end
    endgenerate
    always_ff @(posedge clk)
        if (read) begin
            index_2   <= index;
            forwarded <= written;
        end

    assign useful = {|(column & high), |(column & low)};
endmodule
