// SPDX-License-Identifier: MIT
// The chunk coder: a number becomes its low FIRST bits, then groups of OTHER bits, each followed by
// a bit that says whether another one follows (src/port/code.h). It makes COUNT chunks at a time:
// `first` is set for the first ones; then it goes on with `rest`, as long as there is `more`.
module vs_chunks #(
    parameter VALUE = 16,
    parameter FIRST = 4,
    parameter OTHER = 2,
    parameter COUNT = 2,
    parameter PIECE = 8
) (
    input  logic [VALUE-1:0]           value,
    input  logic                       first,
    output logic [PIECE-1:0]           piece,
    output logic [$clog2(PIECE+1)-1:0] length,
    output logic [VALUE-1:0]           rest,
    output logic                       more
);
    localparam BITS = $clog2(PIECE + 1);

    // room for the last chunk, which the number may not fill
    localparam WIDE = VALUE + FIRST + (COUNT + 1) * OTHER;
    wire [WIDE-1:0] wide = WIDE'(value);

    logic [COUNT-1:0] first_more, other_more;
    logic [PIECE-1:0] first_piece, other_piece;

    genvar g;
    generate
        for (g = 0; g < COUNT; g = g + 1) begin : chunk
            assign first_more[g] = |(wide >> (FIRST + g * OTHER));
            assign other_more[g] = |(wide >> ((g + 1) * OTHER));
            if (g == 0) begin : head
                assign first_piece[FIRST:0] = {first_more[0], wide[FIRST-1:0]};
                assign other_piece[OTHER:0] = {other_more[0], wide[OTHER-1:0]};
            end else begin : tail
                assign first_piece[FIRST+1+(g-1)*(OTHER+1)+:OTHER+1] =
                    {first_more[g], wide[FIRST+(g-1)*OTHER+:OTHER]};
                assign other_piece[g*(OTHER+1)+:OTHER+1] = {other_more[g], wide[g*OTHER+:OTHER]};
            end
        end
        if (PIECE > FIRST + 1 + (COUNT - 1) * (OTHER + 1)) begin : fill_first
            assign first_piece[PIECE-1:FIRST+1+(COUNT-1)*(OTHER+1)] = '0;
        end
        if (PIECE > COUNT * (OTHER + 1)) begin : fill_other
            assign other_piece[PIECE-1:COUNT*(OTHER+1)] = '0;
        end
    endgenerate

    integer n;
    always_comb begin
        length = first ? BITS'(FIRST + 1) : BITS'(OTHER + 1);
        for (n = 0; n < COUNT - 1; n = n + 1)
            if (first ? first_more[n] : other_more[n]) length = length + BITS'(OTHER + 1);
    end

    assign piece = first ? first_piece : other_piece;
    assign rest  = first ? VALUE'(wide >> (FIRST + (COUNT - 1) * OTHER))
                         : VALUE'(wide >> (COUNT * OTHER));
    assign more  = first ? first_more[COUNT-1] : other_more[COUNT-1];
endmodule
