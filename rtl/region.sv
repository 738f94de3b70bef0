// SPDX-License-Identifier: MIT
// Names of addresses, as src/model/region.h describes them. In one clock a branch may name its
// target, and then the address after it. The next clock, which has the name that was predicted,
// says whether that meant the target before this branch named anything.
module vs_region #(
    parameter LOW     = 20,
    parameter ADDRESS = 64,
    parameter NAME    = LOW < ADDRESS ? LOW + 2 : ADDRESS
) (
    /* verilator lint_off UNUSEDSIGNAL */  // names of all bits need no registers
    input  logic               clk,
    input  logic               reset,
    input  logic               names_target,
    input  logic               names_after,
    input  logic [ADDRESS-1:0] target,
    input  logic [ADDRESS-1:0] after,
    output logic [NAME-1:0]    target_name,
    output logic [NAME-1:0]    after_name,
    input  logic [NAME-1:0]    predicted_2,
    input  logic [ADDRESS-1:0] target_2,
    /* verilator lint_on UNUSEDSIGNAL */
    output logic               right
);
    generate
        if (LOW < ADDRESS) begin : parts
            localparam HIGH = ADDRESS - LOW;

            logic [4*HIGH-1:0] upper, upper_mid, upper_next;
            logic [1:0]        turn, turn_mid, turn_next, number, number_after;
            logic [3:0]        has, has_after, has_2;
            integer r, s;
            always_comb begin
                for (r = 0; r < 4; r = r + 1) has[r] = upper[HIGH*r+:HIGH] == target[ADDRESS-1:LOW];
                number    = has[0] ? 2'd0 : has[1] ? 2'd1 : has[2] ? 2'd2 : has[3] ? 2'd3 : turn;
                upper_mid = upper;
                turn_mid  = turn;
                if (names_target && has == '0) begin
                    for (r = 0; r < 4; r = r + 1)
                        if (turn == 2'(r)) upper_mid[HIGH*r+:HIGH] = target[ADDRESS-1:LOW];
                    turn_mid = turn + 2'd1;
                end
            end
            always_comb begin
                for (s = 0; s < 4; s = s + 1)
                    has_after[s] = upper_mid[HIGH*s+:HIGH] == after[ADDRESS-1:LOW];
                number_after = has_after[0] ? 2'd0 : has_after[1] ? 2'd1 : has_after[2] ? 2'd2
                             : has_after[3] ? 2'd3 : turn_mid;
                upper_next = upper_mid;
                turn_next  = turn_mid;
                if (names_after && has_after == '0) begin
                    for (s = 0; s < 4; s = s + 1)
                        if (turn_mid == 2'(s)) upper_next[HIGH*s+:HIGH] = after[ADDRESS-1:LOW];
                    turn_next = turn_mid + 2'd1;
                end
            end
            always_ff @(posedge clk) begin
                has_2 <= has;
                if (reset) begin
                    upper <= '0;
                    turn  <= '0;
                end else begin
                    upper <= upper_next;
                    turn  <= turn_next;
                end
            end
            assign target_name = {target[LOW-1:0], number};
            assign after_name  = {after[LOW-1:0], number_after};
            assign right = has_2[predicted_2[1:0]] && predicted_2[NAME-1:2] == target_2[LOW-1:0];
        end else begin : whole
            assign target_name = target;
            assign after_name  = after;
            assign right       = predicted_2 == target_2;
        end
    endgenerate
endmodule
