// SPDX-License-Identifier: MIT
// ITTAGE, as src/model/ittage.h describes it. A jump is asked for in one clock; the next one has
// the prediction, and learns the jump's target, by its name.
module vs_ittage #(
    parameter ENTRIES = 16,
    parameter TABLES  = 3,
    parameter TAG     = 8,
    parameter NAME    = 22,
    parameter ADDRESS = 64
) (
    input  logic               clk,
    input  logic               reset,
    input  logic               sweep,
    input  logic [$clog2(ENTRIES)-1:0] sweep_at,
    input  logic               update,
    input  logic [ADDRESS-1:0] pc,
    input  logic [63:0]        history,
    input  logic [NAME-1:0]    target,
    output logic               any,
    output logic [NAME-1:0]    predicted
);
    localparam BITS  = $clog2(ENTRIES);
    localparam ENTRY = 1 + 1 + 2 + TAG + NAME;  // valid, useful, confidence

    wire [15:0]     mixed  = 16'(pc >> 1) ^ 16'(pc >> 12);
    wire [BITS-1:0] spread = BITS'(mixed) ^ BITS'(mixed >> BITS);

    logic            update_2;
    logic [NAME-1:0] target_2;
    always_ff @(posedge clk) begin
        update_2 <= update && !reset;
        if (update) target_2 <= target;
    end

    // ---- who has a target --------------------------------------------------------------------

    logic [TABLES-1:0]      match, useful, provider, alternative;
    logic [2*TABLES-1:0]    confidences;
    logic [NAME*TABLES-1:0] targets;
    logic                   any_other;
    logic [1:0]             confidence, other_confidence;
    logic [NAME-1:0]        first, second;
    integer t;
    always_comb begin
        provider         = '0;
        alternative      = '0;
        any              = 1'b0;
        any_other        = 1'b0;
        confidence       = '0;
        other_confidence = '0;
        first            = '0;
        second           = '0;
        for (t = TABLES - 1; t >= 0; t = t - 1) begin
            provider[t]      = match[t] && !any;
            alternative[t]   = match[t] && any && !any_other;
            any_other        = any_other || alternative[t];
            any              = any || match[t];
            confidence       = confidence | (confidences[2*t+:2] & {2{provider[t]}});
            other_confidence = other_confidence | (confidences[2*t+:2] & {2{alternative[t]}});
            first            = first | (targets[NAME*t+:NAME] & {NAME{provider[t]}});
            second           = second | (targets[NAME*t+:NAME] & {NAME{alternative[t]}});
        end
    end
    assign predicted = any_other && confidence == 2'd0 && other_confidence != 2'd0 ? second : first;

    // ---- what is learnt ------------------------------------------------------------------------

    wire right     = first == target_2;
    wire differ    = any_other && first != second;
    wire allocates = !any || predicted != target_2;

    logic [TABLES-1:0] longer, new_entry;
    logic              comes, looks;
    integer u;
    always_comb begin
        comes     = !any;
        looks     = 1'b1;
        longer    = '0;
        new_entry = '0;
        for (u = 0; u < TABLES; u = u + 1) begin
            longer[u]    = comes;
            new_entry[u] = comes && looks && !useful[u];
            looks        = looks && !new_entry[u];
            comes        = comes || provider[u];
        end
    end

    genvar i;
    generate
        for (i = 0; i < TABLES; i = i + 1) begin : tables
            localparam LENGTH = i == 0 ? 0 : 2 << i;
            logic             valid;
            logic [TAG-1:0]   tag, tag_2;
            logic [ENTRY-1:0] entry_in;
            logic [BITS-1:0]  folded;
            logic [TAG-1:0]   folded_tag;
            logic [TAG-2:0]   folded_less;
            integer k;
            always_comb begin
                folded      = '0;
                folded_tag  = '0;
                folded_less = '0;
                for (k = 0; k < LENGTH; k = k + 1) begin
                    folded[k%BITS]         = folded[k%BITS] ^ history[k];
                    folded_tag[k%TAG]      = folded_tag[k%TAG] ^ history[k];
                    folded_less[k%(TAG-1)] = folded_less[k%(TAG-1)] ^ history[k];
                end
            end
            always_ff @(posedge clk)
                if (update) tag_2 <= TAG'(pc) ^ TAG'(pc >> 9) ^ folded_tag ^ {folded_less, 1'b0};

            wire creates = allocates && new_entry[i];
            wire fades   = allocates && looks && longer[i];  // there was none to be had
            wire [1:0]      was  = confidences[2*i+:2];
            wire [NAME-1:0] kept = targets[NAME*i+:NAME];
            always_comb begin
                if (creates) entry_in = {1'b1, 1'b0, 2'd0, tag_2, target_2};
                else if (fades) entry_in = {valid, 1'b0, was, tag, kept};
                else if (right)
                    entry_in = {1'b1, useful[i] || differ, was == 2'd3 ? was : was + 2'd1, tag,
                                kept};
                else
                    entry_in = {1'b1, useful[i] && !differ, was == 2'd0 ? was : was - 2'd1, tag,
                                was == 2'd0 ? target_2 : kept};
            end
            vs_table #(.WIDTH(ENTRY), .DEPTH(ENTRIES)) entries (
                .clk(clk), .sweep(sweep), .sweep_at(sweep_at), .read(update),
                .at(spread ^ folded),
                .out({valid, useful[i], confidences[2*i+:2], tag, targets[NAME*i+:NAME]}),
                .write(update_2 && (provider[i] || creates || fades)), .in(entry_in)
            );
            assign match[i] = valid && tag == tag_2;
        end
    endgenerate
endmodule
