#!/bin/bash
# SPDX-License-Identifier: MIT
# Load values through the commands: measured, encoded, compared; what cannot be is said.
. "$(dirname "$0")/lib.sh"

export SOURCE_DATE_EPOCH=1000000000
"$VESTIGE" record -o "$T/a.vest" --cores 4 -- "$(workload rv64 racy)" -n 100 -p 4 >"$out" 2>&1 || exit 2
"$VESTIGE" record -o "$T/n.vest" -- "$(workload host racy)" -n 50 -p 2 >"$out" 2>&1 || exit 2
"$VESTIGE" record -o "$T/c.vest" --control-only -- "$(workload rv64 sha)" -n 1 >"$out" 2>&1 || exit 2
"$VESTIGE" record -o "$T/m.vest" --cores 4 -- "$(workload rv64 pipeline)" -n 1 -p 40 >"$out" 2>&1 || exit 2

begin counts_loads_by_size
run "$VESTIGE" bandwidth "$T/a.vest" -t mlvNX_b -t mlvCF_e:CS32 --json
expect_status 0
loads=$("$VESTIGE" info --json "$T/a.vest" | jq .counts.loads.count)
[ "$loads" -gt 1000 ] || fail "few loads"
expect_equal "$(jq -s -c 'map([.loads.count, ([.loads.sizes[].count] | add), ([.loads.sizes[].reported] | add) == .loads.reported])' "$out")" \
    "[[$loads,$loads,true],[$loads,$loads,true]]"
expect_equal "$(jq -s -c '[.[0].loads.rate, .[1].loads.rate < 0.5]' "$out")" "[1,true]"

begin measures_by_kind
run "$VESTIGE" bandwidth "$T/a.vest"
expect_status 0
expect_out '^technique .* cond% +ret% +ind% '
expect_out '^technique .* load% +line% +order% '
expect_equal "$(grep -c -E '^(mlv|mc2)' "$out")" 4
run "$VESTIGE" bandwidth "$T/a.vest" -t load-values --json
expect_equal "$(jq -r 'select(.technique | test("^(mlv|mc2RT|etrace_lv)") | not).technique' "$out")" ""

begin leaves_out_what_a_run_has_not
run "$VESTIGE" bandwidth "$T/c.vest"
expect_status 0
grep -q '^mlv' "$out" && fail "load values of a run without"
run "$VESTIGE" bandwidth "$T/c.vest" -t mlvCF_e
expect_status 2
expect_one_line_err
expect_err 'mlvCF_e cannot encode it: it was recorded without loads and stores'
run "$VESTIGE" encode "$T/c.vest" -t mlvCF_e -o "$T/c.vport"
expect_status 2
expect_one_line_err
[ ! -e "$T/c.vport" ] || fail "a file is left"

begin leaves_out_techniques_of_fewer_cores
run "$VESTIGE" bandwidth "$T/m.vest" -t load-values --csv
expect_status 0
expect_err 'mc2RT is left out: it has [0-9]+ threads, more than 64'
grep -q '^[^,]*,mlvCF_e,' "$out" || fail "no mlvCF_e"
grep -q '^[^,]*,mc2RT,' "$out" && fail "mc2RT with more than 64 cores"
run "$VESTIGE" verify -q "$T/m.vest" -t mc2RT
expect_status 2
expect_err 'it has [0-9]+ threads, more than 64'
run "$VESTIGE" verify "$T/m.vest" -t mlvCF_e
expect_status 0
expect_out "by the stream's order" # however many cores

begin compares_every_byte
run "$VESTIGE" verify "$T/a.vest" "$T/n.vest" -t load-values
expect_status 0
expect_no_err
expect_out ": mc2RT implied: compared [0-9,]+ events \([0-9,]+ loads of [0-9,]+ bytes, [0-9,]+ times registers, by the stream's order\), [0-9,]+ bits: all equal"
expect_out '^compared [1-9][0-9,]* events: all equal$'

begin says_what_does_not_replay
run "$VESTIGE" verify "$T/a.vest" -t mlvCF_e:account=published -t mlvCF_e:caches=private -t mc2RT:order=published -t mlvNX_b
expect_status 0
expect_equal "$(grep -c 'not decodable, skipped: ' "$out")" 3

begin compares_a_stream
run "$VESTIGE" encode "$T/a.vest" -t mlvCF_e:CS32 -o "$T/a.vport"
expect_status 0
run "$VESTIGE" verify "$T/a.vest" --stream "$T/a.vport"
expect_status 0
expect_out '^compared [1-9][0-9,]* events: all equal$'
"$VESTIGE" record -f -o "$T/b.vest" --cores 4 -- "$(workload rv64 racy)" -n 101 -p 4 >"$out" 2>&1 || fail "not recorded"
run "$VESTIGE" verify "$T/b.vest" --stream "$T/a.vport"
expect_status 1
expect_one_line_err
expect_err 'core [0-9]+, pc 0x[0-9a-f]+'
run "$VESTIGE" decode "$T/a.vport"
expect_status 2
expect_err "verify RUN --stream"

begin searches_chunks_of_counters
run "$VESTIGE" chunks "$T/a.vest" -t mlvCF_e --field fahCnt
expect_status 0
expect_out 'used chunks \(2,2\)'

finish
