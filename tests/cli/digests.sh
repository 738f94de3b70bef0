#!/bin/bash
# SPDX-License-Identifier: MIT
# Digests of memory (record --digest-memory): runs whose memory something else changed are known, with the place; others
# are all equal, whatever system calls and signals are on the way. With VESTIGE_LONG=1 more programs.
. "$(dirname "$0")/lib.sh"

P=$VESTIGE_SRC/tests/programs
cc=$(sed -n 's/^CC=//p' "$VESTIGE_BUILD/config")
cd "$T" || exit 2

# program NAME [FILE]: makes ./NAME.
program() {
    # shellcheck disable=SC2086 # a compiler may have options
    $cc -O1 -g -w -D_GNU_SOURCE -I"$VESTIGE_SRC/include" -pthread -o "$1" "$P/${2:-real_$1.c}" -ldl -lm || exit 2
}

# all_equal RUN: with memory compared at least at the beginning and at the end.
all_equal() {
    run "$VESTIGE" check --inputs "$1"
    expect_status 0
    expect_no_err
    expect_out "^$1: executed [1-9][0-9,]* instructions again, compared registers [0-9,]+ times, memory [0-9,]*([2-9]|[1-9][0-9]) times \([1-9][0-9,]* pages\) and [0-9,]+ of [1-9][0-9,]* events: all equal$"
}

# digested PROGRAM...: records it, whatever its status.
digested() {
    "$VESTIGE" record -q -f --digest-memory 1000 -o run.vest -- "$@" >told 2>"$err" </dev/null
    expect_file run.vest
}

begin finds_memory_as_it_was
program meddled
digested ./meddled none file
all_equal run.vest
expect_equal "$("$VESTIGE" info --json --no-scan run.vest | jq -c .features)" '["loads","stores","inputs","digests"]'
expect_equal "$("$VESTIGE" info --json --no-scan run.vest | jq -r .meta.config)" '--inputs --digest-memory 1000'
run "$VESTIGE" check --json --inputs run.vest
expect_equal "$(jq '.inputs.memory_digests > 1 and .inputs.memory_pages > 100 and .ok' "$out")" true

begin says_nothing_of_memory_without_digests
"$VESTIGE" record -q -f -o plain.vest -- ./meddled none file >told || fail 'not recorded'
run "$VESTIGE" check --inputs plain.vest
expect_status 0
expect_out 'compared registers [0-9,]+ times and 0 of'

begin finds_it_whatever_the_program_does
for name in signals threads maps calls $(more kernel jit); do
    program "$name"
    digested "./$name"
    all_equal run.vest
done
program faults faults.c
digested ./faults
all_equal run.vest
digested "$(workload host radix)" -n 20000 -p 4
all_equal run.vest
digested sh -c 'ls / | sort | wc -l'
all_equal run.vest

# Nothing else tells: the program never reads what was changed.
begin says_where_memory_was_changed
for how in shared written; do
    "$VESTIGE" record -q -f -o run.vest -- ./meddled $how file >told || fail "$how: not recorded"
    run "$VESTIGE" check --inputs run.vest
    expect_status 0
    digested ./meddled $how file
    read -r mapping page <told
    run "$VESTIGE" check --inputs run.vest
    expect_status 1
    expect_one_line_err
    expect_err "^vestige check: run.vest: memory was changed from outside: after [1-9][0-9]* instructions \(not yet after [0-9]+\), thread 0 at 0x[0-9a-f]+, 1 page differs: $page-${page%000}fff, mapped at 0x[0-9a-f]+"
    [ $how = written ] || expect_err ", mapped at $mapping$"
    message=$(sed 's/.*: memory was/memory was/' "$err")
    run "$VESTIGE" check --json --inputs run.vest
    expect_equal "$(jq -r '.error, .text' "$out")" "VSE_CORRUPT
$message"
    run "$VESTIGE" dump -n 1 --from 999999999 run.vest
    expect_status 1
    expect_err 'memory was changed from outside: '
done

# All events are there, too: the difference is one of memory.
begin finds_it_beside_all_events
"$VESTIGE" record -q -f --all --digest-memory 1000 -o run.vest -- ./meddled shared file >told || fail 'not recorded'
run "$VESTIGE" check --inputs run.vest
expect_status 1
expect_err 'memory was changed from outside: '
"$VESTIGE" record -q -f --all --digest-memory 1000 -o run.vest -- ./meddled none file >told || fail 'not recorded'
all_equal run.vest

begin finds_it_in_parts_and_in_children
"$VESTIGE" record -q -f --digest-memory 1000 --skip 20000 --length 100000 -o run.vest -- ls / >told || fail 'not recorded'
run "$VESTIGE" check --inputs run.vest
expect_status 0
expect_out ', memory [1-9][0-9,]* times \('
"$VESTIGE" record -q -f --digest-memory 1000 --last 30000 -o run.vest -- ls / >told || fail 'not recorded'
run "$VESTIGE" check --inputs run.vest
expect_status 0
expect_out ', memory [1-9][0-9,]* times \('
"$VESTIGE" record -q --follow --inputs --digest-memory 1000 -o runs -- sh -c 'ls / | sort' >told || fail 'not recorded'
run "$VESTIGE" check --inputs runs
expect_status 0
expect_equal "$(grep -c ', memory [1-9][0-9,]* times (' "$out")" 3

# The events that are made are the same, and what is written of them needs no digest.
begin leaves_out_digests_of_parts
digested ls /
"$VESTIGE" expand --skip 20000 --length 1000 run.vest -o part.vest >told || fail 'not expanded'
run "$VESTIGE" check --memory --flow part.vest
expect_status 0
expect_equal "$("$VESTIGE" dump part.vest | grep -c digests)" 0
expect_equal "$("$VESTIGE" info --json --no-scan part.vest | jq -c .features)" '["loads","stores"]'
run "$VESTIGE" dump --inputs --json --kind content run.vest
expect_equal "$(jq -s 'map(select(.digests)) | (.[0].length | ltrimstr("0x") | length > 3) and (map(.digests[0]) | length > 5)' "$out")" true
run "$VESTIGE" expand -f run.vest -o whole.vest
expect_status 0
run "$VESTIGE" check --inputs whole.vest
expect_status 0

begin refuses_damaged_digests
size=$(stat -c %s run.vest)
for part in 3 5 7; do
    cp run.vest bad.vest
    printf '\x55\xaa\x55' | dd of=bad.vest bs=1 seek=$((size * part / 10)) conv=notrunc status=none
    run "$VESTIGE" check --inputs bad.vest
    expect_status 1
    expect_one_line_err
done

begin refuses_what_cannot_be
for words in '--digest-memory 1000 --control-only true' '--digest-memory 1000 --loads true' '--digest-memory 0 true' \
    '--digest-memory 1000 --routine main true' '--digest-memory x true'; do
    # shellcheck disable=SC2086 # words
    run "$VESTIGE" record -o none.vest $words
    expect_status 2
    expect_one_line_err
done
run "$VESTIGE" record --digest-memory 1000 -o none.vest "$(workload rv64 sha)"
expect_status 2
expect_no_file none.vest

finish
