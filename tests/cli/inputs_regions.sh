#!/bin/bash
# SPDX-License-Identifier: MIT
# Inputs of parts of a program: windows, routines and marks. Programs are recorded both ways at once, and what is made by
# executing the parts again is compared event by event; parts of a program that always does the same are compared with
# those of full recording. With VESTIGE_LONG=1 many more windows, and more programs.
. "$(dirname "$0")/lib.sh"

P=$VESTIGE_SRC/tests/programs
cc=$(sed -n 's/^CC=//p' "$VESTIGE_BUILD/config")
cd "$T" || exit 2

# program NAME [FILE]: makes ./NAME.
program() {
    # shellcheck disable=SC2086 # a compiler may have options
    $cc -O1 -g -w -D_GNU_SOURCE -I"$VESTIGE_SRC/include" -pthread -o "$1" "$P/${2:-real_$1.c}" -ldl -lm || exit 2
}

# parts_again OPTION... -- PROGRAM...: whatever its status.
parts_again() {
    parts_of_both "$@"
    parts_alone "$@"
}

# parts_of_both OPTION... -- PROGRAM...: recorded both ways at once.
parts_of_both() {
    "$VESTIGE" record -q -f --inputs --all -o both.vest "$@" >/dev/null 2>"$err" </dev/null
    expect_file both.vest
    run "$VESTIGE" check --inputs --memory --flow both.vest
    expect_status 0
    expect_no_err
    expect_out '^both.vest: executed [1-9][0-9,]* instructions again, compared registers [0-9,]+ times and ([0-9,]+) of \1 events: all equal$'
}

# parts_alone OPTION... -- PROGRAM...: recorded as inputs alone.
parts_alone() {
    "$VESTIGE" record -q -f --inputs -o short.vest "$@" >/dev/null 2>"$err" </dev/null
    expect_file short.vest
    run "$VESTIGE" check --inputs --memory --flow short.vest
    expect_status 0
    expect_no_err
    expect_out '^short.vest: executed [1-9][0-9,]* instructions again, compared registers [0-9,]+ times and 0 of [1-9][0-9,]* events: all equal$'
    expect_out 'compared [1-9][0-9,]* instructions .*: all equal$'
}

# every STEP LENGTH COUNT: windows.
every() {
    for ((i = 0; i < $3; i++)); do
        echo $((i * $1 + 77)) "$2"
    done >windows.txt
}

# The events of a run that has inputs, without those that only inputs have, and without what differs between processes.
events_of() {
    "$VESTIGE" dump "$1" | grep -v ' turn  \| content  \| count  ' | sed 's/^ *[0-9]* *//; s/  +[0-9]*$//; s/ id [0-9]* / /'
}

# same_as_full OPTION... -- PROGRAM...
same_as_full() {
    "$VESTIGE" record -f --inputs -o short.vest "$@" 2>short.txt || fail "status $?: $(cat short.txt)"
    "$VESTIGE" record -f -o full.vest "$@" 2>full.txt || fail "status $?: $(cat full.txt)"
    events_of short.vest >short.events
    events_of full.vest >full.events
    cmp -s short.events full.events || fail "other events: $(diff short.events full.events | head -4)"
    [ "$(wc -l <full.events)" -gt 1000 ] || fail 'few events'
    expect_equal "$(sed -n 's/.*: \(.* instructions\),.*/\1/p' short.txt)" "$(sed -n 's/.*: \(.* instructions\),.*/\1/p' full.txt)"
    expect_equal "$(grep 'were not recorded' short.txt)" "$(grep 'were not recorded' full.txt)"
}

program regular regular.c
entry=$("$VESTIGE" record -q -f --to main -o start.vest ./regular 2>/dev/null && "$VESTIGE" info --json --no-scan start.vest | jq .instructions)

begin records_the_same_windows_as_full_recording
{
    echo "$((entry + 100)) 1000"
    echo "$((entry + 5000)) 1"
    echo "$((entry + 5003)) 7000"
    echo "$((entry + 200000)) 30000"
} >windows.txt
same_as_full --windows windows.txt -- ./regular
same_as_full --skip $((entry + 1000)) --length 12345 -- ./regular

begin records_the_same_routines_as_full_recording
same_as_full --from arrange --to spell -- ./regular
expect_equal "$(grep -c ' gap ' full.events)" 9

begin makes_windows_again
names="signals jit" windows=8
[ -z "$long" ] || names="threads signals jit maps faults values" windows=150
for name in $names; do
    if [ -e "$P/real_$name.c" ]; then program "$name"; else program "$name" "$name.c"; fi
    every 20011 6007 "$windows"
    if [ -n "$long" ]; then
        parts_again --windows windows.txt -- "./$name"
        every 3001 1000 150
        parts_again --windows windows.txt -- "./$name"
    elif [ $name = jit ]; then
        parts_alone --windows windows.txt -- "./$name"
    else
        parts_of_both --windows windows.txt -- "./$name"
    fi
done

# A window begins while other threads are in system calls, and ends in others.
begin makes_windows_of_threads_again
every 40009 9001 6
parts_again --windows windows.txt -- "$(workload host radix)" -n 1000 -p 4

begin makes_what_is_between_marks_again
program marks
parts_again --marks -- ./marks

begin counts_over_an_exec
parts_alone --skip 60000 --length 200000 -- sh -c 'exec ls /'
[ -z "$long" ] || parts_of_both --skip 60000 --length 200000 -- sh -c 'exec ls /'

begin begins_children_in_their_midst
run "$VESTIGE" record -q -f --follow --inputs --skip 20000 -o runs -- sh -c 'ls / | sort'
expect_status 0
run "$VESTIGE" check --inputs --memory runs
expect_status 0
expect_out '^runs/3.vest: executed [1-9][0-9,]* instructions again'

# Snapshots are taken in parts, and others begin after them.
begin reads_parts_from_snapshots
every 5000000 4900000 14
"$VESTIGE" record -q -f --inputs --windows windows.txt -o long.vest -- "$(workload host radix)" -n 300000 -p 4 >/dev/null || fail 'not recorded'
"$VESTIGE" info --no-scan long.vest >said || fail 'not executed'
[ "$(sed -n 's/^  instructions *//p' said | tr -d ,)" -gt 67108864 ] || fail 'too short for that'
expect_file long.vest.cache
events=$("$VESTIGE" info --json --no-scan long.vest | jq .events)
for part in 3 9; do
    "$VESTIGE" dump --from $((events / 10 * part)) --limit 1000 long.vest >"from.$part" || fail "part $part"
done
if [ -z "$brief" ]; then
    "$VESTIGE" expand -f long.vest -o whole.vest >/dev/null || fail 'not expanded'
    for part in 3 9; do
        "$VESTIGE" dump --from $((events / 10 * part)) --limit 1000 whole.vest | cmp -s - "from.$part" || fail "other events at $part"
    done
fi

begin refuses_what_is_for_reading
for option in '--routine main' --no-shared-libs; do
    # shellcheck disable=SC2086 # words
    run "$VESTIGE" record --inputs $option -o none.vest ./regular
    expect_status 2
    expect_err '^vestige record: --inputs records all code: '
    [ ! -e none.vest ] || fail 'a file is left'
done

finish
