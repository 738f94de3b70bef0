// SPDX-License-Identifier: MIT
// What the cells of rtl/cells.lib do, to simulate a netlist of them.
module NAND2 (input A, input B, output Y); assign Y = ~(A & B); endmodule
module NOR2 (input A, input B, output Y); assign Y = ~(A | B); endmodule
module INV (input A, output Y); assign Y = ~A; endmodule
module BUF (input A, output Y); assign Y = A; endmodule
module NAND3 (input A, input B, input C, output Y); assign Y = ~(A & B & C); endmodule
module NOR3 (input A, input B, input C, output Y); assign Y = ~(A | B | C); endmodule
module AOI21 (input A, input B, input C, output Y); assign Y = ~((A & B) | C); endmodule
module OAI21 (input A, input B, input C, output Y); assign Y = ~((A | B) & C); endmodule
module XOR2 (input A, input B, output Y); assign Y = A ^ B; endmodule
module XNOR2 (input A, input B, output Y); assign Y = ~(A ^ B); endmodule
module MUX2 (input A, input B, input S, output Y); assign Y = S ? B : A; endmodule
module DFF (input CK, input D, output reg Q); always @(posedge CK) Q <= D; endmodule
