#!/bin/bash
# SPDX-License-Identifier: MIT
# mcfTA's cycles: exact for whatever the cores did and however badly their model fits them, and free
# where nothing is unexpected.
. "$(dirname "$0")/lib.sh"

export SOURCE_DATE_EPOCH=1000000000

# record FILE OPTION... -- PROGRAM ARGUMENT...
record() {
    local file=$1
    shift
    "$VESTIGE" record -q -o "$T/$file" --control-only --timed "$@" >"$out" 2>&1 || exit 2
}

n=8
more || n=6
record free.vest --cores 2 --set l2=0 --set dram=0 --set transfer=0 --set upgrade=0 \
    -- "$(workload rv64 fft)" -p 2 -n $n
record wide.vest --cores 4 --seed 7 --set width=2 --set gshare=64 -- "$(workload rv64 fft)" -p 4 -n $n
record few.vest --cores 2 --preset tewar -- "$(workload rv64 radix)" -p 5 -n 300
record signals.vest --cores 1 -- "$(workload rv64 signals)" -n 20
"$VESTIGE" record -q -o "$T/untimed.vest" --control-only --cores 2 -- "$(workload rv64 fft)" -p 2 -n $n \
    >"$out" 2>&1 || exit 2

# bits RUN SPEC: those of the stream.
bits() {
    "$VESTIGE" bandwidth "$T/$1" -t "$2" --csv | sed 's/"[^"]*"//g' | awk -F, 'NR == 2 { print $5 }'
}

# branches: how many the last verification compared, and how many with their cycles.
branches() {
    sed -n 's/^.*(\([0-9,]*\) branches with .*/\1/p' "$out" | tr -d ,
}
timed() {
    sed -n 's/^.*, own cycles of \([0-9,]*\) branches).*/\1/p' "$out" | tr -d ,
}

begin tells_the_cycle_of_every_branch
run "$VESTIGE" verify "$T/wide.vest" -t mcfTA:every=1
expect_status 0
expect_equal "$(timed)" "$(branches)"
run "$VESTIGE" verify "$T/wide.vest" -t mcfTA
expect_status 0
[ "$(timed)" -gt 100 ] || fail "few cycles"
[ "$(timed)" -lt $(($(branches) / 2)) ] || fail "too many cycles"
run "$VESTIGE" verify "$T/wide.vest" -t mcfTA:time=packet
expect_status 0
expect_equal "$(timed)" ''

begin costs_next_to_nothing_if_nothing_misses
# Only waits of threads are unexpected then; a bit for 20 branches is far from what a model that is
# wrong somewhere would need.
run "$VESTIGE" verify "$T/free.vest" -t mcfTA:every=1
expect_status 0
plain=$(bits free.vest mcfTA:time=packet) all=$(bits free.vest mcfTA:every=1)
[ "$all" -lt $((plain + $(timed) / 20)) ] || fail "$all bits, $plain without cycles, $(timed) branches"
wrong=$(bits free.vest mcfTA:every=1,hit=3)
[ "$wrong" -gt $((all + $(timed) / 5)) ] || fail "a wrong model costs nothing: $wrong bits, $all with the right one"

begin is_exact_whatever_the_model
for spec in every=0 every=7 reset=3 size=64 predictors=shared predictors=shared,reset=2 width=8 \
    hit=1,system=0,penalty=0 core_gshare=0,core_ras=0,core_ibtb=0; do
    for file in wide few signals; do
        run "$VESTIGE" verify "$T/$file.vest" -t "mcfTA:$spec"
        expect_status 0
        expect_out ', own cycles of [1-9][0-9,]* branches), [0-9,]* bits: all equal$'
    done
done

begin notices_every_flip
for spec in every=4 every=4,reset=2 time=packet; do
    run "$VESTIGE" verify "$T/wide.vest" -t "mcfTA:$spec" --mutate 60
    expect_status 0
    expect_out '^flipped 60 bits: all [1-9][0-9]* that have an effect were noticed$'
done

begin changes_nothing_without_time
expect_equal "$(bits untimed.vest mcfTA)" "$(bits untimed.vest mcfTA:time=packet)"
run "$VESTIGE" verify "$T/untimed.vest" -t mcfTA
expect_status 0
expect_equal "$(timed)" ''

begin writes_and_reads_streams
run "$VESTIGE" encode "$T/wide.vest" -t mcfTA:every=5 -o "$T/wide.vport"
expect_status 0
run "$VESTIGE" verify --stream "$T/wide.vport" "$T/wide.vest"
expect_status 0
expect_out ', own cycles of '
run "$VESTIGE" verify "$T/wide.vest" -t mcfTA:core_gshare=3
expect_status 2
expect_one_line_err
run "$VESTIGE" verify "$T/wide.vest" -t mcfTA:time=sometimes
expect_status 2
expect_one_line_err

finish
