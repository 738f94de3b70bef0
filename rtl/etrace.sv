// SPDX-License-Identifier: MIT
// The encoder of RISC-V Efficient Trace 2.0, baseline: branch maps and addresses, as differences.
// It is the peer of vs_mcftr in the same technology. Steps are those of vs_mcftr; `one` and `none`
// say whether it is of one instruction or of none, and a discontinuity's pc is that of the last
// instruction before it. A step is taken when `ready`, which a step with several packets delays.
//
// What a packet says depends on what follows, so that the target of a jump waits until the
// instruction there has retired. src/technique/etrace_encoder.c has the same states.
module vs_etrace #(
    parameter ADDRESS = 64,
    parameter LSB     = 1,    // bits of addresses that are always zero
    parameter WORD    = 16,
    parameter WORDS   = 16,
    parameter PACKETS = 4     // places for packets that wait to be formatted
) (
    input  logic                      clk,
    input  logic                      reset,
    output logic                      ready,

    input  logic                      step,
    input  logic [2:0]                kind,
    input  logic                      one,
    input  logic                      none,
    /* verilator lint_off UNUSEDSIGNAL */
    input  logic [ADDRESS-1:0]        pc,
    input  logic [ADDRESS-1:0]        target,
    /* verilator lint_on UNUSEDSIGNAL */
    input  logic                      taken,

    input  logic                      flush,
    output logic                      word_valid,
    input  logic                      word_ready,
    output logic [WORD-1:0]           word,
    output logic [$clog2(WORD+1)-1:0] tail,
    output logic                      idle
);
    localparam CONDITIONAL = 3'd0, INDIRECT = 3'd1, DISCONTINUITY = 3'd3;
    // what is wanted of the instruction that comes next
    localparam NOTHING = 2'd0, TARGET = 2'd1, START = 2'd2, TRAP = 2'd3;
    // packets
    localparam MAP = 3'd0, PLACE = 3'd1, SYNC = 3'd2, HANDLER = 3'd3, UNSEEN = 3'd4, SUPPORT = 3'd5;
    localparam A      = ADDRESS - LSB;
    localparam PACKET = 3 + 1 + 1 + 5 + 31 + A;
    localparam LEVEL  = $clog2(PACKETS + 1);

    // ---- the step under way --------------------------------------------------------------------

    logic               busy, one_1, none_1, taken_1;
    logic [2:0]         kind_1;
    logic [A-1:0]       pc_1, target_1;
    logic               done;  // with it, in this clock

    assign ready = !busy || done;
    always_ff @(posedge clk) begin
        if (reset) busy <= 1'b0;
        else if (ready) busy <= step;
        if (ready && step) begin
            kind_1   <= kind;
            one_1    <= one;
            none_1   <= none;
            taken_1  <= taken;
            pc_1     <= pc[ADDRESS-1:LSB];
            target_1 <= target[ADDRESS-1:LSB];
        end
    end

    // ---- what is known, and what is to be said --------------------------------------------------

    logic [30:0]  map;
    logic [4:0]   branches;
    logic [A-1:0] reported_at;        // the last address in a packet
    logic [1:0]   wanted;
    logic [A-1:0] wanted_at, held_at, last;
    logic         held;               // the target has retired; its packet waits for what follows
    logic         jumped, reported, alive;
    logic         told;               // the last packet says that the core reached `last`
    logic         via, addressed;     // of the last packet, for the end
    logic [2:0]   phase;              // of a step that has several packets

    wire elsewhere   = kind_1 == DISCONTINUITY;
    wire leaves      = elsewhere && target_1 == '0;
    wire own         = one_1;
    wire conditional = kind_1 == CONDITIONAL;

    // Phases: 0, the packet that is held; 1, what is wanted; 2, branches that fill the map, or, of
    // a discontinuity: 2, the place where the core was; 3, an instruction that was never seen;
    // 4, start or end. A phase without a packet takes no clock of its own.
    wire own_given  = own && wanted != NOTHING;             // the packet is about the step's own
    wire gives      = wanted != NOTHING && !none_1;         // the wanted instruction retires
    wire holds      = own_given && wanted == TARGET && !elsewhere;
    wire has_0      = held;
    wire has_1      = gives && !holds;
    wire full       = conditional && !own_given && branches == 5'd30 && !has_0 && !has_1;
    wire told_now   = none_1 ? told || held : own_given;
    wire place      = none_1 ? alive && !told_now && wanted < START : !told_now;
    wire has_2      = elsewhere ? place : full;
    wire has_3      = elsewhere && none_1 && alive &&
                      (wanted >= START || (wanted == TARGET && jumped));
    wire has_4      = elsewhere && (leaves || !alive);

    // the next phase that has a packet, from this one on
    logic [4:0] kept;  // what a step with several packets has, from its first clock on
    wire [4:0] has   = phase == 0 ? {has_4, has_3, has_2, has_1, has_0} : kept;
    wire [4:0] ahead = has & (5'b11111 << phase);
    wire [4:0] first = ahead & (~ahead + 5'd1);
    wire [4:0] rest  = ahead & ~first;
    wire [2:0] now   = first[0] ? 3'd0 : first[1] ? 3'd1 : first[2] ? 3'd2 : first[3] ? 3'd3 : 3'd4;
    wire       room;
    wire       packet = busy && ahead != 0;
    wire       goes   = busy && (ahead == 0 || room);
    assign done = goes && rest == 0;

    // ---- the packet ------------------------------------------------------------------------------

    logic [2:0]   what;
    logic         updiscon, bit_1;     // a branch that is not taken; enabled
    logic [A-1:0] at, sent;
    logic [4:0]   count;
    logic [30:0]  outcomes;

    always_comb begin
        what     = PLACE;
        updiscon = 1'b0;
        bit_1    = 1'b1;
        at       = held_at;
        count    = branches;
        outcomes = map;
        case (now)
            3'd0: updiscon = elsewhere && none_1 && !leaves;
            3'd1: begin
                at = wanted_at;
                if (wanted != TARGET) what = wanted == TRAP && !reported ? HANDLER : SYNC;
                else updiscon = elsewhere && own && !leaves;
                bit_1 = !(conditional && own && taken_1);
            end
            3'd2: begin
                at = none_1 ? last : pc_1;
                if (!elsewhere) begin
                    what     = MAP;
                    outcomes = {!taken_1, map[29:0]};
                end
            end
            3'd3: begin
                what = UNSEEN;
                at   = wanted_at;
            end
            default: begin
                what  = SUPPORT;
                bit_1 = !leaves;
                // the status: whether the last packet was there only because of the end
                count = 5'(addressed && !via);
            end
        endcase
    end
    wire is_difference = what == PLACE;
    assign sent = is_difference ? at - reported_at : at;

    always_ff @(posedge clk) begin
        if (reset) begin
            map            <= '0;
            branches       <= '0;
            wanted         <= NOTHING;
            held           <= 1'b0;
            jumped         <= 1'b0;
            reported       <= 1'b0;
            alive          <= 1'b0;
            told           <= 1'b0;
            via            <= 1'b0;
            addressed      <= 1'b0;
            phase          <= '0;
            kept           <= '0;
            reported_at    <= '0;
        end else if (goes) begin
            phase <= done ? '0 : now + 1'd1;
            kept  <= has;
            if (packet) begin
                map      <= '0;
                branches <= '0;
                if (what != MAP && what != SUPPORT) reported_at <= at;
                addressed      <= what == PLACE;
                via            <= what == PLACE && !updiscon && now != 3'd2;
                if (now == 0) held <= 1'b0;
                if (what == SYNC || what == HANDLER) reported <= 1'b0;
                if (what == UNSEEN && wanted != TRAP) reported <= 1'b1;
            end
            if (done) begin
                // the outcome goes into the map, behind a packet that was sent before it
                if (conditional && !(own_given && wanted != TARGET) && !(packet && what == MAP)) begin
                    map      <= packet ? 31'(!taken_1) : map | 31'(!taken_1) << branches;
                    branches <= packet ? 5'd1 : branches + 5'd1;
                end
                told <= elsewhere || (own_given && !holds) || (packet && what == MAP);
                if (!none_1) last <= pc_1;
                if (holds) begin
                    held    <= 1'b1;
                    held_at <= wanted_at;
                end
                if (elsewhere) begin
                    wanted    <= leaves ? NOTHING : alive ? TRAP : START;
                    wanted_at <= target_1;
                    jumped    <= 1'b0;
                    alive     <= !leaves;
                    if (!alive) reported <= 1'b0;
                end else if (kind_1 == INDIRECT) begin
                    wanted    <= TARGET;
                    wanted_at <= target_1;
                    jumped    <= 1'b1;
                end else begin
                    wanted <= NOTHING;
                end
            end
        end
    end

    // ---- packets wait ------------------------------------------------------------------------------

    logic [PACKET-1:0] head;
    logic [LEVEL-1:0]  level;
    logic              popped;
    assign room = level != LEVEL'(PACKETS);
    vs_fifo #(.WIDTH(PACKET), .DEPTH(PACKETS)) packets (
        .clk(clk), .reset(reset), .push(packet && room), 
        .in({what, updiscon, bit_1, count, outcomes, sent}), .pop(popped), .out(head),
        .level(level)
    );

    // ---- and become bytes ---------------------------------------------------------------------------

    logic       piece_valid, piece_ready, port_idle;
    logic [7:0] piece;
    vs_etrace_format #(.A(A)) format (
        .clk(clk), .reset(reset), .valid(level != 0), .packet(head), .pop(popped),
        .piece_valid(piece_valid), .piece_ready(piece_ready), .piece(piece)
    );
    vs_port #(.WORD(WORD), .WORDS(WORDS), .PIECE(8)) port (
        .clk(clk), .reset(reset), .piece_valid(piece_valid), .piece_ready(piece_ready),
        .piece(piece), .length(4'd8), .flush(flush), .word_valid(word_valid),
        .word_ready(word_ready), .word(word), .tail(tail), .idle(port_idle)
    );
    assign idle = port_idle && !busy;
endmodule
