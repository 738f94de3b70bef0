// SPDX-License-Identifier: MIT
// TAGE, as src/model/tage.h describes it. A branch is asked for and learnt in one clock; the next
// one has the prediction. LENGTHS has the bits of history that each table sees, 16 bits for each.
// While it `rests` (tage_halving.sv) no branch may come.
module vs_tage #(
    parameter BASE    = 512,
    parameter TABLES  = 6,
    parameter ENTRIES = 128,
    parameter TAG     = 8,
    parameter [16*TABLES-1:0] LENGTHS = {16'd120, 16'd57, 16'd27, 16'd13, 16'd6, 16'd3},
    parameter SWEEP   = 9,
    parameter ADDRESS = 64
) (
    input  logic               clk,
    input  logic               reset,
    input  logic               sweep,
    input  logic [SWEEP-1:0]   sweep_at,
    output logic               rests,
    input  logic               update,  // a conditional branch
    input  logic [ADDRESS-1:0] pc,
    input  logic               taken,
    input  logic               jump,    // an indirect one, which leaves bits of its target
    input  logic [2:0]         path,
    output logic [63:0]        recent,  // the newest bits of history
    output logic               predicted
);
    localparam BITS      = $clog2(ENTRIES);
    localparam BASE_BITS = $clog2(BASE);
    localparam LONGEST   = 32'(LENGTHS[16*(TABLES-1)+:16]);
    localparam HISTORY   = LONGEST > 64 ? LONGEST : 64;

    // ---- first clock: the history, and where the branch is -----------------------------------

    logic [HISTORY-1:0] history;
    wire [HISTORY+2:0]  extended = {history, path};
    assign recent = history[63:0];
    always_ff @(posedge clk) begin
        if (reset) history <= '0;
        else if (jump) history <= extended[HISTORY-1:0];
        else if (update) history <= {history[HISTORY-2:0], taken};
    end

    wire [15:0]     mixed  = 16'(pc >> 1) ^ 16'(pc >> 12);
    wire [BITS-1:0] spread = BITS'(mixed) ^ BITS'(mixed >> BITS);

    logic update_2, taken_2;
    always_ff @(posedge clk) begin
        update_2 <= update && !reset;
        if (update) taken_2 <= taken;
    end

    // ---- second clock: who says what ---------------------------------------------------------

    logic [TABLES-1:0]   match, useful, provider, alternative, new_entry;
    logic [3*TABLES-1:0] counters;
    logic [2*TABLES-1:0] usefuls;
    logic [1:0]          base_counter;
    logic                halves, clear;
    logic [BITS-1:0]     clear_at;
    logic [2:0]          low, high, low_next, high_next;

    logic       any, any_other;
    logic [2:0] counter, other_counter;
    logic [1:0] provider_useful;
    integer t, u;
    always_comb begin
        provider        = '0;
        alternative     = '0;
        any             = 1'b0;
        any_other       = 1'b0;
        counter         = '0;
        other_counter   = '0;
        provider_useful = '0;
        for (t = TABLES - 1; t >= 0; t = t - 1) begin
            provider[t]    = match[t] && !any;
            alternative[t] = match[t] && any && !any_other;
            any_other      = any_other || alternative[t];
            any            = any || match[t];
            counter        = counter | (counters[3*t+:3] & {3{provider[t]}});
            other_counter  = other_counter | (counters[3*t+:3] & {3{alternative[t]}});
            provider_useful = provider_useful | (usefuls[2*t+:2] & {2{provider[t]}});
        end
    end

    logic signed [3:0] choice;
    wire base_says = !base_counter[1];
    wire longest   = any ? !counter[2] : base_says;
    wire other     = any_other ? !other_counter[2] : base_says;
    wire fresh     = any && (counter == 3'd0 || counter == 3'd7) && provider_useful == 2'd0;
    wire differ    = longest != other;
    assign predicted = fresh && choice >= 0 ? other : longest;

    // ---- second clock: what is learnt --------------------------------------------------------

    // a weak entry that was right needs no other one
    wire allocates = update_2 && predicted != taken_2 && !(fresh && longest == taken_2) &&
                     !provider[TABLES-1];
    logic [15:0] lfsr;
    wire  [15:0] lfsr_next = {1'b0, lfsr[15:1]} ^ (lfsr[0] ? 16'hb400 : 16'h0);

    logic                        longer, first, looks;
    logic [$clog2(TABLES+1)-1:0] passed;
    always_comb begin
        new_entry = '0;
        passed    = '0;
        longer    = !any;  // the table comes after the provider
        first     = 1'b1;
        looks     = 1'b1;  // none was found yet
        for (u = 0; u < TABLES; u = u + 1) begin
            if (longer) begin
                if (!(first && lfsr_next[0] && u != TABLES - 1)) begin
                    new_entry[u] = looks && !useful[u];
                    if (looks && useful[u]) passed = passed + 1'd1;
                    looks = looks && useful[u];
                end
                first = 1'b0;
            end
            longer = longer || provider[u];
        end
    end

    vs_tage_halving #(.ROWS(ENTRIES), .TABLES(TABLES)) halving (
        .clk(clk), .reset(reset), .allocates(allocates), .found(!looks), .passed(passed),
        .halves(halves), .low(low), .high(high), .low_next(low_next), .high_next(high_next),
        .clear(clear), .clear_at(clear_at), .rests(rests)
    );

    always_ff @(posedge clk) begin
        if (reset) begin
            lfsr   <= 16'd1;
            choice <= '0;
        end else begin
            if (allocates) lfsr <= lfsr_next;
            if (update_2 && fresh && differ) begin
                if (other == taken_2 && choice != 4'sd7) choice <= choice + 4'sd1;
                if (other != taken_2 && choice != -4'sd8) choice <= choice - 4'sd1;
            end
        end
    end

    // ---- the tables --------------------------------------------------------------------------

    function [2:0] count(input logic [2:0] c, input logic up);
        count = up ? (c == 3'd3 ? c : c + 3'd1) : (c == 3'd4 ? c : c - 3'd1);
    endfunction

    wire shares = any && provider_useful == 2'd0;  // the alternative learns, too

    genvar i;
    generate
        for (i = 0; i < TABLES; i = i + 1) begin : tables
            localparam LENGTH = 32'(LENGTHS[16*i+:16]);
            logic [BITS-1:0] folded;
            logic [TAG-1:0]  folded_tag, tag, tag_2;
            logic [TAG-2:0]  folded_less;
            wire [2:0]       old = {extended[LENGTH+2], extended[LENGTH+1], extended[LENGTH]};

            vs_fold #(.WIDTH(BITS), .LENGTH(LENGTH)) fold_index (
                .clk(clk), .reset(reset), .one(update), .taken(taken), .three(jump), .path(path),
                .old(old), .folded(folded)
            );
            vs_fold #(.WIDTH(TAG), .LENGTH(LENGTH)) fold_tag (
                .clk(clk), .reset(reset), .one(update), .taken(taken), .three(jump), .path(path),
                .old(old), .folded(folded_tag)
            );
            vs_fold #(.WIDTH(TAG - 1), .LENGTH(LENGTH)) fold_less (
                .clk(clk), .reset(reset), .one(update), .taken(taken), .three(jump), .path(path),
                .old(old), .folded(folded_less)
            );
            always_ff @(posedge clk)
                if (update) tag_2 <= TAG'(pc) ^ TAG'(pc >> 9) ^ folded_tag ^ {folded_less, 1'b0};

            wire [1:0] kept   = usefuls[2*i+:2];
            wire [1:0] halved = halves ? {1'b0, kept[1]} : kept;
            logic [1:0] useful_in;
            always_comb begin
                useful_in = halved;
                if (new_entry[i] && allocates) useful_in = 2'd0;
                else if (provider[i] && differ) begin
                    if (longest == taken_2 && halved != 2'd3) useful_in = halved + 2'd1;
                    if (longest != taken_2 && halved != 2'd0) useful_in = halved - 2'd1;
                end
            end

            wire creates = allocates && new_entry[i];
            vs_tage_table #(.ENTRIES(ENTRIES), .TAG(TAG)) tage_table (
                .clk(clk), .sweep(sweep), .sweep_at(BITS'(sweep_at)), .clear(clear),
                .clear_at(clear_at), .low(low), .high(high), .low_next(low_next),
                .high_next(high_next), .read(update), .index(spread ^ folded), .tag(tag),
                .counter(counters[3*i+:3]), .useful(usefuls[2*i+:2]),
                .write(creates || (update_2 && (provider[i] || (shares && alternative[i])))),
                .tag_in(tag_2), .useful_in(useful_in),
                .counter_in(creates ? {3{!taken_2}} : count(counters[3*i+:3], taken_2))
            );
            assign match[i]  = tag == tag_2;
            assign useful[i] = kept != 2'd0;
        end
    endgenerate

    logic [1:0] base_in;
    always_comb begin
        base_in = base_counter;
        if (taken_2 && base_counter != 2'd1) base_in = base_counter + 2'd1;
        if (!taken_2 && base_counter != 2'd2) base_in = base_counter - 2'd1;
    end
    vs_table #(.WIDTH(2), .DEPTH(BASE), .FIRST(3)) base (
        .clk(clk), .sweep(sweep), .sweep_at(BASE_BITS'(sweep_at)), .read(update),
        .at(BASE_BITS'(pc >> 1) ^ BASE_BITS'(pc >> (1 + BASE_BITS))), .out(base_counter),
        .write(update_2 && (!any || (shares && !any_other))), .in(base_in)
    );
endmodule
