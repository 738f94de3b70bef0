#!/bin/bash
# SPDX-License-Identifier: MIT
# Where two runs part.
. "$(dirname "$0")/lib.sh"

cd "$T" || exit 2
racy=$(workload rv64 racy) fft=$(workload rv64 fft)
for seed in 1 2; do
    "$VESTIGE" record -q -o seed$seed.vest --cores 2 --seed $seed -- "$racy" -n 40 -p 2 >"$out" 2>&1 || exit 2
done
"$VESTIGE" record -q -o same.vest --cores 2 --seed 1 -- "$racy" -n 40 -p 2 >"$out" 2>&1 || exit 2
"$VESTIGE" record -q -o fft.vest -- "$fft" -n 4 >"$out" 2>&1 || exit 2
"$VESTIGE_GEN" -o flow.vest --seed 1 --threads 2 --events 500 --control-only >"$out" || exit 2

begin finds_no_difference_where_there_is_none
run "$VESTIGE" diff seed1.vest same.vest
expect_status 0
expect_equal "$(wc -l <"$out")" 1
expect_out '^compared [1-9][0-9,]* events of 2 threads: all equal$'
run "$VESTIGE" diff --json --values seed1.vest same.vest
expect_status 0
expect_equal "$(jq -c '[.equal, ([.threads[].events[0]] | add) == .compared]' "$out")" '[true,true]'

# differing RUN RUN THREAD: the number of the first event of the thread that differs, by looking at all of them.
differing() {
    local run
    for run in "$1" "$2"; do
        "$VESTIGE" dump --json --thread "$3" "$run" | jq -c 'select(.kind | IN("map", "code", "count", "turn", "content") | not) |
            [.kind, .pc, .branch, .taken, .target, (if .kind == "thread-start" then null else .addr end), .number, .icount]' >"$run.events"
    done
    diff "$1.events" "$2.events" | sed -n '1s/^\([0-9]*\).*/\1/p'
}

begin names_the_first_access_at_which_two_schedules_part
run "$VESTIGE" diff --json seed1.vest seed2.vest
expect_status 1
for thread in 0 1; do
    expect_equal "$(jq ".threads[$thread].position + 1" "$out")" "$(differing seed1.vest seed2.vest $thread)" "thread $thread"
done
expect_equal "$(jq -c '[.threads[].first[0].source.frames[0].routine != null] | all' "$out")" true
run "$VESTIGE" diff seed1.vest seed2.vest
expect_status 1
expect_out '^thread 0: equal in [0-9,]+ events, then$'
expect_out '^  seed1.vest: event [0-9]+, [a-z-]+, pc 0x[0-9a-f]+ .*  # [a-z_]+'
expect_out '^  seed2.vest: event [0-9]+, '
expect_out '^compared [0-9,]+ events of 2 threads: 2 threads differ$'

begin compares_values_if_it_is_asked
run "$VESTIGE" diff --json seed1.vest seed2.vest
jq -c '[.threads[].position]' "$out" >deeds
run "$VESTIGE" diff --json --values seed1.vest seed2.vest
expect_status 1
expect_equal "$(jq -n --slurpfile a deeds --slurpfile b <(jq -c '[.threads[].position]' "$out") '[$a[0], $b[0]] | transpose | map(.[0] >= .[1]) | all')" true

begin tells_which_run_ends_first
"$VESTIGE" dump --json --limit 1 fft.vest >"$out"
run "$VESTIGE" diff --json seed1.vest fft.vest
expect_status 1
expect_equal "$(jq -c '[.equal, .threads[1].first[1]]' "$out")" '[false,null]'

begin refuses_runs_of_different_kinds
run "$VESTIGE" diff fft.vest flow.vest
expect_status 2
expect_one_line_err
expect_err 'one has loads or stores that the other lacks$'

finish
