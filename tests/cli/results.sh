#!/bin/bash
# SPDX-License-Identifier: MIT
# A sample of the committed tables of what techniques cost is computed again; `make results` renews all of them.
. "$(dirname "$0")/lib.sh"

results=$VESTIGE_SRC/bench/results
table=$VESTIGE_SRC/bench/results/control-flow.csv
loads=$VESTIGE_SRC/bench/results/load-values.csv
addresses=$VESTIGE_SRC/bench/results/data-addresses.csv

begin writes_the_page_from_the_tables
run "$VESTIGE_SRC/tools/fill-doc" "$VESTIGE_SRC/docs/results.md.in"
expect_status 0
expect_no_err
cmp -s "$out" "$VESTIGE_SRC/docs/results.md" || fail "docs/results.md is not what tools/fill-doc writes"

begin fills_a_page_in
printf '%s\n' '# made by hand' name,size,bits one,1,10 one,2,30 two,1,5 two,2, >"$T/table.csv"
cat >"$T/page.md.in" <<END
@data t $T/table.csv name size
@set all t[\$name *]
All {{t[].bits}} bits, {{%.1f t[one *].bits / t[two *].bits}} times, the most in {{t[].at_max(bits, name & size)}};
{{t[two 2].bits or "none"}}{{t[two 2].bits then "some"}}, {{t[one *].(bits * size)}} and {{t[*].min(bits)}}.
@for name in t matching ^[ot]
| \$name |[[S 1 2: {{t[\$name \$S].bits}} |]] {{%d \$all.(bits < 30)}} |
END
run "$VESTIGE_SRC/tools/fill-doc" "$T/page.md.in"
expect_status 0
expect_equal "$(cat "$out")" 'All 45 bits, 8.0 times, the most in one2; none, 70 and 5.
| one | 10 | 30 | 1 |
| two | 5 |  | 1 |'
for wrong in 't[three' '{{u[one].bits}}' '{{t[one].missing}}' '{{1 +}}' '@table t'; do
    printf '%s\n' "@data t $T/table.csv name size" "{{${wrong#\{\{}" >"$T/wrong.md.in"
    case $wrong in @*) printf '%s\n' "$wrong" >"$T/wrong.md.in" ;; esac
    run "$VESTIGE_SRC/tools/fill-doc" "$T/wrong.md.in"
    expect_status 1
    expect_err "wrong.md.in:"
done

begin writes_the_page_on_performance_from_what_was_measured
run "$VESTIGE_SRC/tools/performance-doc"
expect_status 0
cmp -s "$out" "$VESTIGE_SRC/docs/performance.md" || fail "docs/performance.md is not what tools/performance-doc writes"

begin has_every_workload_and_technique
while read -r name _ most _; do
    for n in 1 2 4 8; do
        [ "$most" != 1 ] || [ $n = 1 ] || continue
        for mode in untimed timed; do
            grep -q "^$name,$n,$mode,mcfNX_b,default," "$table" || fail "no $name with $n threads, $mode"
            grep -q "^$name,$n,$mode,mlvNX_b,default," "$loads" || fail "no loads of $name with $n threads, $mode"
            case $n in 2 | 8) continue ;; esac
            grep -q "^$name,$n,$mode,daNX,default," "$addresses" || fail "no addresses of $name with $n threads, $mode"
        done
    done
done < <(sed 's/#.*//' "$VESTIGE_SRC/workloads/catalog" | awk 'NF')
for technique in $("$VESTIGE" techniques --json | jq -r '.[] | select(.kind == "control flow").name'); do
    grep -q ",$technique,default," "$table" || fail "no $technique; make results"
done
for technique in $("$VESTIGE" techniques --json | jq -r '.[] | select(.kind == "load values").name'); do
    grep -q ",$technique," "$loads" || fail "no $technique; make results"
done
for technique in $("$VESTIGE" techniques --json | jq -r '.[] | select(.kind == "data addresses").name'); do
    grep -q ",$technique,default," "$addresses" || fail "no $technique; make results"
done
while read -r name _ most _; do
    for n in 1 2 4 8; do
        [ "$most" != 1 ] || [ $n = 1 ] || continue
        grep -q "^$name,$n," "$results/characterization.csv" || fail "$name with $n threads has no characterization"
        case $n in 2 | 8) continue ;; esac
        expect_equal "$(grep -c "^$name,$n,m[cl][fs]Trace," "$results/software-traces.csv")" 2 "software traces of $name with $n threads"
    done
    expect_equal "$(grep -c "^$name,.*,\(block\|small\)," "$results/entropy.csv")" 25 "rows of the entropy of $name"
done < <(sed 's/#.*//' "$VESTIGE_SRC/workloads/catalog" | awk 'NF')
expect_equal "$(grep -v '^#' "$table" | awk -F, 'NF != 10' | head -1)" "" "lines without 10 fields"
expect_equal "$(grep -v '^#' "$loads" | awk -F, 'NF != 22' | head -1)" "" "lines without 22 fields"
expect_equal "$(grep -v '^#' "$addresses" | awk -F, 'NF != 27' | head -1)" "" "lines without 27 fields"
# the fields of a stream are all its bits
expect_equal "$(awk -F, '$6 + 0 && $11 != $16 + $17 + $18 + $19 + $20 + $21' "$addresses" | head -1)" "" "sum of fields of addresses"
expect_equal "$(awk -F, '$6 + 0 && $11 != $12 + $13 + $14 + $15 + $16 + $17 + $18 + $19 + $20' "$loads" | head -1)" "" "sum of fields"

begin counts_what_is_executed_consistently
counts=$results/characterization.csv
expect_equal "$(awk -F, '$2 + 0 && $11 != $12 + $13 + $14 + $15 + $16' "$counts" | head -1)" "" "sizes of loads"
expect_equal "$(awk -F, '$2 + 0 && $17 != $18 + $19 + $20 + $21 + $22' "$counts" | head -1)" "" "sizes of stores"
# the page says which programs have other threads than cores
expect_equal "$(awk -F, '$2 + 0 && $3 != ($1 == "pipeline" ? 2 + 2 * $2 : $2)' "$counts" | head -1)" "" "threads"
# instructions and cycles are those of the same runs
expect_equal "$(awk -F, '$2 + 0 && FNR == NR { if ($3 == "timed") seen[$1 "," $2] = $6 "," $7; next } $2 + 0 && seen[$1 "," $2] != $4 "," $5' \
    "$table" "$counts" | head -1)" "" "instructions and cycles"

if [ -n "$sanitized" ]; then
    begin keeps_the_figures
    skip "the sanitizers change no figures"
    finish
fi
made=$(head -1 "$table")
here="# $(riscv64-linux-gnu-gcc --version | head -1)"
if [ "$made" != "$here" ]; then
    begin keeps_the_figures
    skip "the tables are of programs by another compiler than here, ${made#\# }"
    finish
fi

# recompute WORKLOAD THREADS MODE [STUDY]
recompute() {
    local study=${4:-control-flow}
    begin "keeps_${study}_of_$1_with_$2_$3"
    run "$VESTIGE_SRC/tools/results" -b "$VESTIGE_BUILD" -w "$1" -n "$2" -m "$3" "$study"
    expect_status 0
    expect_no_err
    [ "$(wc -l <"$out")" -gt 8 ] || fail "too few rows"
    diff <(grep "^$1,$2,$3," "$VESTIGE_SRC/bench/results/$study.csv") <(tail -n +3 "$out") >&2 ||
        fail "figures changed; if that is meant: make results, and say why in the commit"
}

begin keeps_mispredictions_of_cholesky
run "$VESTIGE_SRC/tools/results" -b "$VESTIGE_BUILD" -w cholesky mispredictions
expect_status 0
expect_out '^cholesky(,[0-9]+){6}$'
expect_equal "$(tail -n 1 "$out")" "$(grep '^cholesky,' "$VESTIGE_SRC/bench/results/mispredictions.csv")"

begin keeps_locality_of_signals
run "$VESTIGE_SRC/tools/results" -b "$VESTIGE_BUILD" -w signals locality
expect_status 0
expect_equal "$(tail -n +3 "$out" | wc -l)" 18
expect_equal "$(tail -n +3 "$out")" "$(grep '^signals,' "$VESTIGE_SRC/bench/results/locality.csv")"

# again WORKLOAD STUDY ROWS [-n COUNTS]: of the studies that have no mode.
again() {
    local name=$1 study=$2 rows=$3
    shift 3
    begin "keeps_${study}_of_$name"
    run "$VESTIGE_SRC/tools/results" -b "$VESTIGE_BUILD" -w "$name" "$@" "$study"
    expect_status 0
    expect_no_err
    expect_equal "$(tail -n +3 "$out" | wc -l)" "$rows"
    diff <(grep "^$name,${2:-[0-9]}" "$results/$study.csv") <(tail -n +3 "$out") >&2 ||
        fail "figures changed; if that is meant: make results, and say why in the commit"
}

again water_nsq characterization 1 -n 8
again sort characterization 1 -n 1
again interp entropy 25
again water_nsq over-time 4 -n 8
again jpeg software-traces 2 -n 1
again racy software-traces 2 -n 4
recompute fft 1 untimed
recompute radix 4 untimed
recompute cholesky 2 timed
recompute signals 1 untimed
recompute racy 8 timed
recompute lu_cb 2 timed load-values
recompute racy 8 timed load-values
recompute signals 1 untimed load-values
recompute sha 1 untimed load-values
recompute signals 1 timed data-addresses
finish
