#!/bin/bash
# SPDX-License-Identifier: MIT
# A sample of the committed table of what techniques cost is computed again; `make results` renews all of it.
. "$(dirname "$0")/lib.sh"

table=$VESTIGE_SRC/bench/results/control-flow.csv

begin writes_the_page_from_the_tables
run "$VESTIGE_SRC/tools/results-doc"
expect_status 0
cmp -s "$out" "$VESTIGE_SRC/docs/results.md" || fail "docs/results.md is not what tools/results-doc writes"

begin has_every_workload_and_technique
while read -r name _ most _; do
    for n in 1 2 4 8; do
        [ "$most" != 1 ] || [ $n = 1 ] || continue
        for mode in untimed timed; do
            grep -q "^$name,$n,$mode,mcfNX_b,default," "$table" || fail "no $name with $n threads, $mode"
        done
    done
done < <(sed 's/#.*//' "$VESTIGE_SRC/workloads/catalog" | awk 'NF')
for technique in $("$VESTIGE" techniques --json | jq -r '.[] | select(.kind == "control flow").name'); do
    grep -q ",$technique,default," "$table" || fail "no $technique; make results"
done
expect_equal "$(grep -v '^#' "$table" | awk -F, 'NF != 9' | head -1)" "" "lines without 9 fields"

if grep -q '^SAN=.' "$VESTIGE_BUILD/config"; then
    finish # the sanitizers change no figures
fi
made=$(head -1 "$table")
here="# $(riscv64-linux-gnu-gcc --version | head -1)"
if [ "$made" != "$here" ]; then
    echo "not compared: the table was made with another compiler: $made"
    finish
fi

# recompute WORKLOAD THREADS MODE
recompute() {
    begin "keeps_$1_with_$2_$3"
    run "$VESTIGE_SRC/tools/results" -b "$VESTIGE_BUILD" -w "$1" -n "$2" -m "$3" control-flow
    expect_status 0
    expect_no_err
    [ "$(wc -l <"$out")" -gt 8 ] || fail "too few rows"
    diff <(grep "^$1,$2,$3," "$table") <(tail -n +3 "$out") >&2 ||
        fail "figures changed; if that is meant: make results, and say why in the commit"
}

begin keeps_mispredictions_of_cholesky
run "$VESTIGE_SRC/tools/results" -b "$VESTIGE_BUILD" -w cholesky mispredictions
expect_status 0
expect_out '^cholesky(,[0-9]+){6}$'
expect_equal "$(tail -n 1 "$out")" "$(grep '^cholesky,' "$VESTIGE_SRC/bench/results/mispredictions.csv")"

recompute fft 1 untimed
recompute radix 4 untimed
recompute cholesky 2 timed
recompute tree 1 timed
recompute signals 1 untimed
recompute racy 8 timed
finish
