// SPDX-License-Identifier: MIT
// Properties of the queue and of the packer that Yosys proves for every input, up to a number of
// clocks after reset.
module fifo_formal (
    input logic       clk,
    input logic       reset,
    input logic       wants_push,
    input logic [2:0] in,
    input logic       wants_pop
);
    localparam DEPTH = 3;
    logic [1:0] level;
    logic [2:0] out;
    wire push = wants_push && level != DEPTH;
    wire pop  = wants_pop && level != 0;

    vs_fifo #(.WIDTH(3), .DEPTH(DEPTH)) fifo (
        .clk(clk), .reset(reset), .push(push), .in(in), .pop(pop), .out(out), .level(level)
    );

    // the same queue as a shift register, its first word lowest
    logic [11:0] words;
    logic [1:0]  count;
    wire [11:0] shifted = pop ? words >> 3 : words;
    wire [1:0]  kept    = count - 2'(pop);
    logic begun;
    initial begun = 1'b0;
    always_ff @(posedge clk) begin
        begun <= 1'b1;
        words <= push ? (shifted & ~(12'hfff << 3 * kept)) | 12'(in) << 3 * kept : shifted;
        count <= kept + 2'(push);
        if (reset) count <= '0;
    end
    always_comb begin
        assume (begun || reset);
        if (begun) begin
            assert (level == count);
            assert (level <= DEPTH);
            if (level != 0) assert (out == words[2:0]);
        end
    end
endmodule

module packer_formal (
    input logic       clk,
    input logic       reset,
    input logic       piece_valid,
    input logic [4:0] bits,
    input logic [2:0] length,
    input logic       flush,
    input logic       word_ready
);
    localparam WORD = 4, PIECE = 5;
    logic piece_ready, word_valid;
    logic [3:0] word;
    logic [2:0] tail;
    wire [4:0] piece = bits & ~(5'b11111 << length);

    vs_packer #(.WORD(WORD), .PIECE(PIECE)) packer (
        .clk(clk), .reset(reset), .piece_valid(piece_valid), .piece_ready(piece_ready),
        .piece(piece), .length(length), .flush(flush), .word_valid(word_valid),
        .word_ready(word_ready), .word(word), .tail(tail)
    );

    // all bits so far, and how many were put in and came out
    logic [63:0] all;
    logic [6:0]  put, taken;
    logic        begun;
    initial begun = 1'b0;
    wire goes_in  = piece_valid && piece_ready;
    wire goes_out = word_valid && word_ready;
    always_ff @(posedge clk) begin
        begun <= 1'b1;
        if (goes_in) begin
            all <= all | 64'(piece) << put;
            put <= put + 7'(length);
        end
        if (goes_out) taken <= taken + 7'(tail);
        if (reset) begin
            all   <= '0;
            put   <= '0;
            taken <= '0;
        end
    end
    wire [63:0] ahead = all >> taken;
    wire [6:0]  left  = put - taken;
    always_comb begin
        assume (begun || reset);
        assume (length <= PIECE);
        if (begun) begin
            assert (left < 2 * PIECE);                           // none is lost or made up
            if (word_valid) assert (word == ahead[3:0]);
            if (word_valid) assert (tail == (left < WORD ? 3'(left) : 3'd4));
            if (word_valid && !flush) assert (left >= WORD);     // only then is a word short
            if (left >= WORD) assert (word_valid);               // and none is kept
            if (left < WORD) assert (piece_ready);
        end
    end
endmodule

// A table of TAGE whose useful bits are halved now and then, soon after each other, beside one in
// which that is done in all rows at once.
module tage_formal (
    input logic       clk,
    input logic       reset,
    input logic       wants_read,
    input logic [1:0] index,
    input logic       wants_write,
    input logic [1:0] useful_in,
    input logic       allocates,
    input logic       found,
    input logic       passed
);
    logic       sweep, halves, clear, rests;
    logic [1:0] sweep_at, clear_at, useful, counter_tag;
    logic [2:0] low, high, low_next, high_next, counter;
    wire        read = wants_read && !rests && !sweep;
    logic       read_2;
    logic [1:0] index_2;

    vs_sweep #(.BITS(2)) sweeper (.clk(clk), .reset(reset), .sweep(sweep), .at(sweep_at));
    vs_tage_halving #(.ROWS(4), .TABLES(1), .FULL(3)) halving (
        .clk(clk), .reset(reset), .allocates(allocates && read_2), .found(found), .passed(passed),
        .halves(halves), .low(low), .high(high), .low_next(low_next), .high_next(high_next),
        .clear(clear), .clear_at(clear_at), .rests(rests)
    );
    vs_tage_table #(.ENTRIES(4), .TAG(1)) tage_table (
        .clk(clk), .sweep(sweep), .sweep_at(sweep_at), .clear(clear), .clear_at(clear_at),
        .low(low), .high(high), .low_next(low_next), .high_next(high_next), .read(read),
        .index(index), .tag(counter_tag[0]), .counter(counter), .useful(useful),
        .write(read_2 && wants_write), .tag_in(1'b0), .counter_in(3'd0), .useful_in(useful_in)
    );

    logic [7:0] all;  // rows of two bits
    wire [7:0] halved = halves ? all >> 1 & 8'h55 : all;
    wire [1:0] wanted = 2'(all >> 2 * index_2);
    logic begun;
    initial begun = 1'b0;
    always_ff @(posedge clk) begin
        begun   <= 1'b1;
        read_2  <= read && !reset;
        index_2 <= index;
        all     <= read_2 && wants_write
                 ? (halved & ~(8'd3 << 2 * index_2)) | 8'(useful_in) << 2 * index_2 : halved;
        if (reset) all <= '0;
    end
    always_comb begin
        assume (begun || reset);
        if (begun && read_2) assert (useful == wanted);
    end
endmodule
