// SPDX-License-Identifier: MIT
// vs_mlvcf beside the caches of its cores, which are kept coherent on a bus, as the test bench drives
// it: ports have the same widths whatever its parameters are. In a clock any core may have a step,
// and one access goes over the bus; what the bus has belongs to the core `bus_core`, or, for
// a line that leaves all caches, to none.
module top #(
    parameter CORES     = 1,
    parameter SETS      = 128,
    parameter WAYS      = 4,
    parameter LINE      = 64,
    parameter GRANULE   = 4,
    parameter POLICY    = 0,
    parameter HITS      = 32,
    parameter ICNT      = 32,
    parameter TIME      = 0,
    parameter BLOCK     = 4,
    parameter FAH_FIRST = 2,
    parameter FAH_NEXT  = 2,
    parameter DCC_FIRST = 4,
    parameter DCC_NEXT  = 2,
    parameter CHUNKS    = 2,
    parameter AT_ONCE   = 2,
    parameter RECORDS   = 4,
    parameter WORD      = 16,
    parameter WORDS     = 16
) (
    input  logic          clk,
    input  logic          reset,
    output logic          ready,
    input  logic          forget,
    input  logic          bus,
    input  logic [3:0]    bus_core,  // one-hot, or none
    input  logic [63:0]   bus_address,
    input  logic          bus_drops,
    input  logic [3:0]    step,
    input  logic [11:0]   kind,
    input  logic [3:0]    goes_on,
    input  logic [3:0]    changed,
    input  logic [63:0]   icount,
    input  logic [63:0]   offset,
    input  logic [15:0]   size,
    input  logic [31:0]   length,
    input  logic [2047:0] bytes,
    input  logic [255:0]  cycle,
    output logic [3:0]    free,
    input  logic          flush,
    output logic          word_valid,
    input  logic          word_ready,
    output logic [31:0]   word,
    output logic [5:0]    tail,
    output logic          idle,
    output logic [31:0]   cores,
    output logic [31:0]   block,
    output logic [31:0]   most,  // bytes of a step
    output logic [31:0]   line,
    output logic [31:0]   time_bits
);
    localparam SPAN   = GRANULE < 8 ? 8 + (GRANULE > 1 ? GRANULE : 0) : 2 * GRANULE;
    localparam BYTES  = SPAN > (ICNT + 24) / 8 ? SPAN : (ICNT + 24) / 8;
    localparam LENGTH = $clog2(BYTES + 1);
    localparam SET    = $clog2(SETS);
    localparam WAY    = $clog2(WAYS);
    localparam OFFSET = $clog2(LINE);
    localparam T      = TIME != 0 ? TIME : 1;

    assign cores     = CORES;
    assign block     = BLOCK;
    assign most      = BYTES;
    assign line      = LINE;
    assign time_bits = TIME;

    logic           sweep;
    logic [SET-1:0] sweep_at;
    always_ff @(posedge clk)
        if (reset) begin
            sweep    <= 1'b1;
            sweep_at <= '0;
        end else if (sweep) begin
            sweep    <= sweep_at != {SET{1'b1}};
            sweep_at <= sweep_at + 1'd1;
        end

    logic [CORES-1:0]         core_free, hit, changed_2;
    logic [WAY*CORES-1:0]     way;
    logic [BLOCK*CORES-1:0]   counts;
    logic [SET*CORES-1:0]     row;
    logic [OFFSET*CORES-1:0]  offsets;
    logic [T*CORES-1:0]       cycles;
    logic [LENGTH*CORES-1:0]  length_2;
    logic [8*BYTES*CORES-1:0] bytes_2;
    assign free  = 4'(core_free);
    assign ready = !sweep && &core_free;

    genvar i;
    generate
        for (i = 0; i < CORES; i = i + 1) begin : core
            vs_cache #(.SETS(SETS), .WAYS(WAYS), .LINE(LINE), .POLICY(POLICY)) cache (
                .clk(clk), .reset(reset), .sweep(sweep), .sweep_at(sweep_at), .access(bus),
                .own(bus_core[i]), .drops(bus_drops), .address(bus_address),
                .way(way[WAY*i+:WAY]), .hit(hit[i])
            );
            assign counts[BLOCK*i+:BLOCK]    = icount[16*i+:BLOCK];
            assign row[SET*i+:SET]           = bus_address[OFFSET+:SET];
            assign offsets[OFFSET*i+:OFFSET] = offset[16*i+:OFFSET];
            assign cycles[T*i+:T]            = cycle[64*i+:T];
            // the core has its bytes a clock later
            always_ff @(posedge clk) begin
                changed_2[i]                  <= changed[i];
                length_2[LENGTH*i+:LENGTH]    <= length[8*i+:LENGTH];
                bytes_2[8*BYTES*i+:8*BYTES]   <= bytes[512*i+:8*BYTES];
            end
        end
    endgenerate

    logic [WORD-1:0]           out;
    logic [$clog2(WORD+1)-1:0] out_tail;
    assign word = 32'(out);
    assign tail = 6'(out_tail);

`ifdef NETLIST  // it has its parameters
    vs_mlvcf mlvcf (
`else
    vs_mlvcf #(
        .CORES(CORES), .SETS(SETS), .WAYS(WAYS), .LINE(LINE), .GRANULE(GRANULE), .HITS(HITS),
        .ICNT(ICNT), .TIME(TIME), .BLOCK(BLOCK), .FAH_FIRST(FAH_FIRST), .FAH_NEXT(FAH_NEXT),
        .DCC_FIRST(DCC_FIRST), .DCC_NEXT(DCC_NEXT), .CHUNKS(CHUNKS), .AT_ONCE(AT_ONCE),
        .RECORDS(RECORDS), .WORD(WORD), .WORDS(WORDS)
    ) mlvcf (
`endif
        .clk(clk), .reset(reset), .forget(forget), .step(step[CORES-1:0]),
        .kind(kind[3*CORES-1:0]), .goes_on(goes_on[CORES-1:0]), .icount(counts), .row(row),
        .offset(offsets), .size(size[4*CORES-1:0]), .cycle(cycles), .free(core_free), .way_2(way),
        .hit_2(hit), .changed_2(changed_2), .length_2(length_2), .bytes_2(bytes_2), .flush(flush),
        .word_valid(word_valid), .word_ready(word_ready), .word(out), .tail(out_tail), .idle(idle)
    );
endmodule
