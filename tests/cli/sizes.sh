#!/bin/bash
# SPDX-License-Identifier: MIT
# The sizes of generated runs are what the committed table says.
. "$(dirname "$0")/lib.sh"

table=$VESTIGE_SRC/tests/golden/run-sizes.csv

begin keeps_the_sizes_of_runs
run "$VESTIGE_SRC/tools/run-sizes" "$VESTIGE_GEN"
expect_status 0
if [ "$(pkg-config --modversion libzstd)" = 1.5.4 ]; then
    diff "$table" "$out" >&2 || fail "sizes changed; if that is meant: make run-sizes, and say why in the commit"
else
    skip_part "the table is of libzstd 1.5.4, this is another; only the list of runs was compared"
    diff <(cut -d, -f1-4 "$table") <(cut -d, -f1-4 "$out") >&2 || fail "other runs than in the table"
fi
[ "$(wc -l <"$out")" = 13 ] || fail "not 12 runs"

finish
