// SPDX-License-Identifier: MIT
// The adaptive data address cache (src/model/adac.h) and its code (src/technique/address_table.c),
// for one core. An access enters in a clock, its set is read, and in the next clock it becomes a
// message, which waits until its pieces have gone. `ready` is false if there is no place for that;
// then the core waits, as addresses that are left out would not be missed.
module vs_adac #(
    parameter SETS    = 128,
    parameter WAYS    = 4,     // a power of two, at least 2
    parameter LOW     = 1,
    parameter WINDOW  = 4,
    parameter MAX     = 12,
    parameter MIN     = 0,
    parameter TMAX    = 8,
    parameter INC     = 8,
    parameter DEC     = 1,
    parameter ADDRESS = 64,
    parameter MESSAGES = 4,    // places for messages
    parameter PIECE   = 16,
    parameter WORD    = 16,
    parameter WORDS   = 16
) (
    input  logic                      clk,
    input  logic                      reset,
    output logic                      ready,

    input  logic                      access,
    /* verilator lint_off UNUSEDSIGNAL */
    input  logic [ADDRESS-1:0]        pc,
    /* verilator lint_on UNUSEDSIGNAL */
    input  logic [ADDRESS-1:0]        address,

    input  logic                      flush,
    output logic                      word_valid,
    input  logic                      word_ready,
    output logic [WORD-1:0]           word,
    output logic [$clog2(WORD+1)-1:0] tail,
    output logic                      idle
);
    localparam SET   = $clog2(SETS);
    localparam WAY   = $clog2(WAYS);
    localparam J     = $clog2(WINDOW);
    localparam SHIFT = $clog2(MAX + 1);
    localparam TCNT  = $clog2(TMAX + 1);
    localparam ENTRY = WAY + TCNT + SHIFT + ADDRESS;  // rank, TCNT, SHIFT, DA
    localparam MOST  = 1 + 2 * WAY + J + ADDRESS;     // bits of a message
    localparam SIZE  = $clog2(MOST + 1);
    localparam LEVEL = $clog2(MESSAGES + 1);

    // ---- first clock: the set is read -------------------------------------------------------------

    logic             sweep, access_2, forward;
    logic [SET-1:0]   sweep_at, set_2;
    logic [ADDRESS-1:0] address_2;
    logic [LEVEL-1:0] level;
    logic [WAYS*ENTRY-1:0] stored, forwarded, entries, next, at_first;

    wire [SET-1:0]     set   = pc[LOW+:SET] ^ pc[LOW+SET+:SET];
    wire               takes = access && ready;
    assign ready = !sweep && level + LEVEL'(access_2) < LEVEL'(MESSAGES);

    vs_ram #(.WIDTH(WAYS * ENTRY), .DEPTH(SETS)) sets (
        .clk(clk), .write(sweep || access_2), .write_at(sweep ? sweep_at : set_2),
        .in(sweep ? at_first : next), .read(takes), .read_at(set), .out(stored)
    );

    always_ff @(posedge clk) begin
        if (reset) begin
            sweep    <= 1'b1;
            sweep_at <= '0;
            access_2 <= 1'b0;
        end else begin
            if (sweep) begin
                sweep    <= sweep_at != {SET{1'b1}};
                sweep_at <= sweep_at + 1'd1;
            end
            access_2 <= takes;
        end
        if (takes) begin
            set_2     <= set;
            address_2 <= address;
            forward   <= access_2 && set == set_2;
            forwarded <= next;
        end
    end
    assign entries = forward ? forwarded : stored;

    // ---- second clock: which way agrees, and what it learns --------------------------------------

    // of each way: whether it agrees, with which j
    logic [WAYS-1:0]       agrees;
    logic [WAYS*(J+1)-1:0] js;
    genvar g;
    generate
        for (g = 0; g < WAYS; g = g + 1) begin : way
            // at first way 0 is the one to be replaced
            assign at_first[ENTRY*g+:ENTRY] =
                {WAY'(WAYS - 1 - g), TCNT'(TMAX), SHIFT'(MAX), {ADDRESS{1'b0}}};
            wire [SHIFT-1:0]   expected = entries[ENTRY*g+ADDRESS+:SHIFT];
            wire [ADDRESS-1:0] differ = (entries[ENTRY*g+:ADDRESS] ^ address_2) >> expected;
            assign agrees[g] = (differ >> (WINDOW - 1)) == 0;
            integer b;
            logic [J:0] above;
            always_comb begin
                above = '0;
                for (b = 0; b < WINDOW - 1; b = b + 1) if (differ[b]) above = (J + 1)'(b + 1);
            end
            assign js[(J+1)*g+:J+1] = above;
        end
    endgenerate

    logic             hit;
    logic [WAY-1:0]   found, recent, oldest, used, rank;
    logic [J:0]       j;
    logic [SHIFT-1:0] shift, shift_next;
    logic [TCNT-1:0]  tcnt, tcnt_next;
    integer i;
    always_comb begin
        found  = '0;
        recent = '0;
        oldest = '0;
        for (i = WAYS - 1; i >= 0; i = i - 1) begin
            if (agrees[i]) found = WAY'(i);
            if (entries[ENTRY*i+ADDRESS+SHIFT+TCNT+:WAY] == 0) recent = WAY'(i);
            if (entries[ENTRY*i+ADDRESS+SHIFT+TCNT+:WAY] == WAY'(WAYS - 1)) oldest = WAY'(i);
        end
        hit   = |agrees;
        used  = hit ? found : oldest;
        j     = '0;
        shift = '0;
        tcnt  = '0;
        rank  = '0;
        for (i = 0; i < WAYS; i = i + 1)
            if (used == WAY'(i)) begin
                j = js[(J+1)*i+:J+1];
                {rank, tcnt, shift} = entries[ENTRY*i+ADDRESS+:WAY+TCNT+SHIFT];
            end
        shift_next = shift;
        if (!hit) begin
            shift_next = SHIFT'(MAX);
            tcnt_next  = TCNT'(TMAX);
        end else if (j != 0) begin
            tcnt_next = TCNT'(TMAX);
            if (32'(tcnt) + INC < TMAX) tcnt_next = tcnt + TCNT'(INC);
            else begin
                tcnt_next = '0;
                if (shift != SHIFT'(MAX)) shift_next = shift + 1'd1;
            end
        end else if (32'(tcnt) > DEC) begin
            tcnt_next = tcnt - TCNT'(DEC);
        end else begin
            tcnt_next = TCNT'(TMAX);
            if (shift != SHIFT'(MIN)) shift_next = shift - 1'd1;
        end
        next = entries;
        for (i = 0; i < WAYS; i = i + 1)
            if (used == WAY'(i))
                next[ENTRY*i+:ENTRY] = {WAY'(0), tcnt_next, shift_next, address_2};
            else if (entries[ENTRY*i+ADDRESS+SHIFT+TCNT+:WAY] < rank)
                next[ENTRY*i+ADDRESS+SHIFT+TCNT+:WAY] =
                    entries[ENTRY*i+ADDRESS+SHIFT+TCNT+:WAY] + 1'd1;
    end

    // ---- the message ------------------------------------------------------------------------------

    wire [SHIFT+1:0]   wide = (SHIFT + 2)'(shift) + (SHIFT + 2)'(j);  // bits of the address
    wire [ADDRESS-1:0] low  = address_2 & ~({ADDRESS{1'b1}} << wide);
    logic [MOST-1:0] message;
    logic [SIZE-1:0] size;
    always_comb begin
        if (!hit) begin
            message = MOST'({address_2, {J{1'b0}}, {WAY{1'b0}}, recent, 1'b0});
            size    = SIZE'(MOST);
        end else if (j != 0) begin
            message = MOST'({low, j[J-1:0], found, recent, 1'b0});
            size    = SIZE'(1 + 2 * WAY + J) + SIZE'(wide);
        end else if (rank != 0) begin
            message = MOST'({low, found, 1'b0});
            size    = SIZE'(1 + WAY) + SIZE'(wide);
        end else begin
            message = MOST'({low, 1'b1});
            size    = SIZE'(1) + SIZE'(wide);
        end
    end

    logic                 pop, piece_ready;
    logic [MOST+SIZE-1:0] head;
    vs_fifo #(.WIDTH(MOST + SIZE), .DEPTH(MESSAGES)) messages (
        .clk(clk), .reset(reset), .push(access_2), .in({message, size}), .pop(pop), .out(head),
        .level(level)
    );

    // ---- its pieces -------------------------------------------------------------------------------

    logic            begun;
    logic [MOST-1:0] rest;
    logic [SIZE-1:0] left;
    wire [MOST-1:0]  bits_now = begun ? rest : head[MOST+SIZE-1:SIZE];
    wire [SIZE-1:0]  size_now = begun ? left : head[SIZE-1:0];
    wire             last     = size_now <= SIZE'(PIECE);
    wire             goes     = level != 0 && piece_ready;
    assign pop = goes && last;
    always_ff @(posedge clk) begin
        if (reset) begun <= 1'b0;
        else if (goes) begun <= !last;
        if (goes) begin
            rest <= bits_now >> PIECE;
            left <= size_now - SIZE'(PIECE);
        end
    end

    logic port_idle;
    localparam LENGTH = $clog2(PIECE + 1);
    vs_port #(.WORD(WORD), .WORDS(WORDS), .PIECE(PIECE)) port (
        .clk(clk), .reset(reset), .piece_valid(level != 0), .piece_ready(piece_ready),
        .piece(bits_now[PIECE-1:0]), .length(last ? LENGTH'(size_now) : LENGTH'(PIECE)),
        .flush(flush), .word_valid(word_valid), .word_ready(word_ready), .word(word), .tail(tail),
        .idle(port_idle)
    );
    assign idle = port_idle && !access_2 && !sweep;
endmodule
