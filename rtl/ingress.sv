// SPDX-License-Identifier: MIT
// Makes the steps of one core out of blocks as the RISC-V trace ingress port has them. A block waits
// for the next one, whose address is where its last instruction went. Of that port, cause, tval and
// priv are not needed, since no step has them; `icount`, the instructions of the block, is not part of it.
module vs_ingress #(
    parameter ADDRESS = 64,
    parameter BLOCK   = 4,
    parameter RETIRE  = 8,   // bits of iretire
    parameter TIME    = 0,
    parameter T       = TIME != 0 ? TIME : 1
) (
    input  logic               clk,
    input  logic               reset,

    input  logic               valid,
    input  logic [3:0]         itype,
    input  logic [ADDRESS-1:0] iaddr,
    input  logic [RETIRE-1:0]  iretire,    // halfwords
    input  logic               ilastsize,  // of the last instruction: 2^ilastsize halfwords
    input  logic [BLOCK-1:0]   icount,
    input  logic [T-1:0]       now,        // the commit cycle
    input  logic               halt,       // with no block: the core ends, and would go on at iaddr

    output logic               step,
    output logic [2:0]         kind,
    output logic [BLOCK-1:0]   count,
    output logic [ADDRESS-1:0] pc,
    output logic [ADDRESS-1:0] target,
    output logic [3:0]         size,
    output logic               taken,
    output logic               returns,
    output logic               calls,
    output logic [T-1:0]       cycle
);
    localparam CONDITIONAL = 3'd0, INDIRECT = 3'd1, CALL = 3'd2, DISCONTINUITY = 3'd3, ONLY = 3'd4;

    logic               alive, ending;
    logic [3:0]         held;
    logic [ADDRESS-1:0] last;  // the address of the last instruction
    logic               wide;
    logic [BLOCK-1:0]   instructions;
    logic [T-1:0]       then;

    always_ff @(posedge clk) begin
        if (reset) begin
            alive  <= 1'b0;
            ending <= 1'b0;
        end else begin
            ending <= alive && halt;
            if (valid) alive <= 1'b1;
            else if (halt) alive <= 1'b0;
        end
        if (valid) begin
            held         <= itype;
            last         <= iaddr + (ADDRESS'(iretire) << 1) - (ilastsize ? ADDRESS'(4) : ADDRESS'(2));
            wide         <= ilastsize;
            instructions <= icount;
        end
        if (valid || halt) then <= now;
    end

    // a core starts by going to its first block, and ends by going to 0
    wire starts = valid && !alive;
    always_comb begin
        case (held)
            4'd1, 4'd2, 4'd3:                kind = DISCONTINUITY;
            4'd4, 4'd5:                      kind = CONDITIONAL;
            4'd8, 4'd10, 4'd12, 4'd13, 4'd14: kind = INDIRECT;
            4'd9:                            kind = CALL;
            default:                         kind = ONLY;
        endcase
        if (starts || ending) kind = DISCONTINUITY;
    end
    assign step    = ending || starts || (alive && (valid || halt));
    assign count   = starts || ending ? '0 : instructions;
    assign pc      = last;
    assign target  = ending ? '0 : iaddr;
    assign size    = wide ? 4'd4 : 4'd2;
    assign taken   = held != 4'd4;
    assign calls   = held == 4'd8 || held == 4'd9 || held == 4'd12;
    assign returns = held == 4'd12 || held == 4'd13;
    assign cycle   = starts ? now : then;
endmodule
