#!/bin/bash
# SPDX-License-Identifier: MIT
# Recording what led to the end: the last instructions of a program, which are executed again and debugged; what seals
# them early; and what keeps them or not. With VESTIGE_LONG=1 after 10^10 instructions, and with more programs and ends.
. "$(dirname "$0")/lib.sh"

P=$VESTIGE_SRC/tests/programs
cc=$(sed -n 's/^CC=//p' "$VESTIGE_BUILD/config")
cd "$T" || exit 2

# program NAME FILE: makes ./NAME.
program() {
    # shellcheck disable=SC2086 # a compiler may have options
    $cc -O1 -g -w -D_GNU_SOURCE -pthread -o "$1" "$P/$2" -ldl -lm || exit 2
}

# last N PROGRAM...: records into last.vest; the status and the summary are there to be looked at.
last() {
    run "$VESTIGE" record -f --last "$1" -o last.vest "${@:2}"
}

# holds LEAST MOST: so many instructions are in last.vest, and can be executed again.
holds() {
    local n
    n=$("$VESTIGE" info --json --no-scan last.vest | jq .instructions)
    [ "$n" -ge "$1" ] && [ "$n" -le "$2" ] || fail "$n instructions, not $1 to $2"
    run "$VESTIGE" check --inputs --memory --flow last.vest
    expect_status 0
    expect_no_err
    expect_out '^last.vest: executed [1-9][0-9,]* instructions again'
    for left in last.vest.newer last.vest.newer.partial last.vest.partial; do
        expect_no_file "$left"
    done
}

program crashes crashes.c

# Wherever the end is between two beginnings.
begin keeps_the_last_instructions
for n in 1000 ${long:+20000 40000} 27000; do
    last 100000 ./crashes $n 7
    expect_status 7
    [ $n = 1000 ] || expect_err "instructions were not recorded$"
    if [ $n = 1000 ]; then holds 50000 199999; else holds 100000 200300; fi
done
"$VESTIGE" dump --kind gap last.vest >gaps || fail 'no gaps'
expect_equal "$(wc -l <gaps)" 1

begin leads_to_a_crash
size=200000
[ -z "$long" ] || size=909000000
last 1000000 ./crashes $size crash
expect_status 139
holds 1000000 2000300
expect_equal "$("$VESTIGE" info --json --no-scan last.vest | jq -r .meta.exit)" 'signal 11 (SIGSEGV)'
if command -v gdb >/dev/null; then
    "$VESTIGE" debug last.vest -- -q -batch -ex continue -ex 'info symbol $pc' -ex 'reverse-continue' -ex 'info symbol $pc' >said 2>&1
    grep -q '^finish' said || fail "$(tail -5 said)"
    grep -q '^mix' said || fail "$(tail -5 said)"
else
    skip_part 'no gdb'
fi

# Threads that are in system calls where a run begins; code that the program made; signals.
begin keeps_the_last_of_threads_signals_and_code
for name in threads $(more jit faults) ${long:+maps}; do
    if [ -e "$P/real_$name.c" ]; then program "$name" "real_$name.c"; else program "$name" "$name.c"; fi
    last 50000 "./$name"
    holds 40000 110000
done
if [ -n "$long" ]; then
    last 60000 "$(workload host radix)" -n 1000 -p 4
    holds 60000 130000
fi

begin keeps_the_last_over_an_exec
last 40000 sh -c 'exec ls /'
expect_status 0
holds 40000 81000

begin survives_the_end_of_the_program_by_a_kill
last 30000 sh -c 'kill -KILL $$'
expect_status 137
holds 1000 61000

# ---- triggers ----

inputs=() # or how they are asked for

# triggered STATUS OPTION... -- PROGRAM...: a run is kept.
triggered() {
    rm -f last.vest
    run "$VESTIGE" record -f "${inputs[@]}" -o last.vest --trigger "${@:2}"
    expect_status "$1"
    expect_file last.vest
    expect_equal "$(grep -c 'nothing was kept' "$err")" 0
}

# not_triggered STATUS OPTION... -- PROGRAM...: no file is left.
not_triggered() {
    rm -f last.vest
    run "$VESTIGE" record -f "${inputs[@]}" -o last.vest --trigger "${@:2}"
    expect_status "$1"
    expect_err "^vestige: nothing was kept: $2 did not happen\$"
    for left in last.vest last.vest.partial last.vest.newer last.vest.newer.partial; do
        expect_no_file "$left"
    done
}

program faults faults.c

begin keeps_by_status
triggered 3 exit:nonzero --last 100000 -- ./crashes 20000 3
holds 100000 200300
if [ -n "$long" ]; then
    triggered 3 exit:3 -- ./crashes 2000 3
    not_triggered 4 exit:3 -- ./crashes 2000 4
fi
triggered 139 exit:139 -- ./crashes 2000 crash
not_triggered 0 exit:nonzero --last 100000 -- ./crashes 20000 0
run "$VESTIGE" record --json --trigger exit:3 -o last.vest -- ./crashes 2000 4
expect_equal "$(jq -c '[.file, .exit]' "$out")" '[null,4]'

begin ends_with_a_signal
if [ -n "$long" ]; then
    triggered 139 signal:SEGV --last 100000 -- ./crashes 20000 crash
    holds 100000 200300
fi
triggered 0 signal:SIGALRM --last 100000 -- ./faults
holds 100000 200300
"$VESTIGE" dump last.vest | grep ' exception  ' | tail -1 >said
grep -q 'cause=0x000000000000000e\|cause=0xe\| 14' said || fail "$(cat said)"
not_triggered 134 signal:SEGV --last 100000 -- ./crashes 20000 abort

begin ends_at_a_routine
triggered 5 routine:finish --last 100000 -- ./crashes 20000 5
holds 100000 200300
"$VESTIGE" dump last.vest | tail -3 | grep -q ' branch .* call ' || fail 'it is not the end'
not_triggered 0 routine:abort --last 100000 -- ./crashes 20000 0
run "$VESTIGE" record --trigger routine:nowhere --last 100000 -o last.vest -- ./crashes 20000 0
expect_status 2
expect_one_line_err

# No time is over before the program begins.
begin ends_after_some_time
triggered 0 time:0 --last 100000 -- ./crashes 20000 0
expect_err '^vestige: what was to be recorded never ran$'
not_triggered 0 time:100000 --last 100000 -- ./crashes 20000 0

begin begins_then
inputs=(--inputs)
for what in signal:ALRM time:0 ${long:+routine:main}; do
    triggered 0 $what --length 1000 -- ./faults
    holds 1000 1000
done
not_triggered 0 signal:USR1 --length 1000 -- ./crashes 20 0
# What all is recorded of.
run "$VESTIGE" record -f -o last.vest --trigger routine:finish --length 50 -- ./crashes 2000 0
expect_status 0
expect_err '^vestige: 50 instructions, '

begin refuses_triggers
for words in '--trigger exit:256' '--trigger exit:' '--trigger signal:NONE' '--trigger time:-1' '--trigger time:x' '--trigger routine:' \
    '--trigger abort' '--trigger exit:1 --length 5' '--trigger signal:SEGV' '--trigger routine:main --skip 5 --length 5' \
    '--trigger exit:1 --follow'; do
    # shellcheck disable=SC2086 # words
    run "$VESTIGE" record --inputs $words -o none.vest ./crashes 10 0
    expect_status 2
    expect_one_line_err
    expect_no_file none.vest
done

begin refuses_to_replace_the_newer_run_unasked
rm -f last.vest ran
echo old >last.vest.newer
run "$VESTIGE" record --last 5000 -o last.vest -- sh -c ': >ran'
expect_status 2
expect_one_line_err
expect_err '^vestige record: last.vest.newer: exists; -f replaces it'
for left in ran last.vest last.vest.partial last.vest.newer.partial; do
    expect_no_file "$left"
done
expect_equal "$(cat last.vest.newer)" old
rm last.vest.newer

begin refuses_what_cannot_be_with_last
for words in '--all --last 5000' '--inputs --all --last 5000' '--follow --last 5000' '--last 5000 --skip 5' '--last 5000 --length 5' \
    '--last 5000 --marks' '--last 5000 --max-size 1' '--last 5000 --loads' '--last 5'; do
    # shellcheck disable=SC2086 # words
    run "$VESTIGE" record $words -o none.vest ./crashes 10 0
    expect_status 2
    expect_one_line_err
    expect_no_file none.vest
done

finish
