#!/bin/bash
# SPDX-License-Identifier: MIT
# A recording that begins when the user says so, and pauses: in full, and of inputs.
. "$(dirname "$0")/lib.sh"

P=$VESTIGE_SRC/tests/programs
cc=$(sed -n 's/^CC=//p' "$VESTIGE_BUILD/config")
cd "$T" || exit 2
# shellcheck disable=SC2086 # a compiler may have options
$cc -O1 -g -o waits "$P/waits.c" || exit 2

# paused OPTION...: starts a recording, whose process is $recorder.
paused() {
    rm -f ready stop run.vest run.vest.partial
    "$VESTIGE" record --paused -o run.vest "$@" -- ./waits ready stop 2>summary &
    recorder=$!
    await test -e ready
}

is_larger() {
    [ "$(size)" -gt "$1" ]
}

# Waits until so many bytes were recorded.
recorded() {
    await is_larger "$1"
}

stopped() {
    : >stop
    wait "$recorder"
    expect_equal $? 0
    expect_file run.vest
}

# size: bytes of the file so far.
size() {
    stat -c %s run.vest.partial
}

for how in '' '--inputs'; do
    begin "resumes_${how#--}"
    # shellcheck disable=SC2086 # words
    paused $how
    run "$VESTIGE" resume "$recorder"
    expect_status 0
    expect_no_err
    recorded 1000
    stopped
    grep -q 'instructions were not recorded' summary || fail "$(cat summary)"
    run "$VESTIGE" check --memory --flow $how run.vest
    expect_status 0

    begin "resumes_by_the_programs_process_${how#--}"
    # shellcheck disable=SC2086
    paused $how
    program=$(sed 's/ .*//' "/proc/$recorder/task/$recorder/children")
    run "$VESTIGE" resume "$program"
    expect_status 0
    recorded 1000
    run "$VESTIGE" pause "$program"
    expect_status 0
    run "$VESTIGE" resume "$program"
    expect_status 0
    recorded $(($(size) + 1000))
    stopped
    run "$VESTIGE" check --memory --flow $how run.vest
    expect_status 0
done

begin records_nothing_while_paused
paused --inputs
stopped
expect_equal "$("$VESTIGE" info --json --no-scan run.vest | jq .instructions)" 0
grep -q 'never ran' summary || fail "$(cat summary)"

begin says_who_is_no_recorder
sleep 1000 &
other=$!
for process in 0 x '' 999999999 99999999999 $$ $other; do
    for command in resume pause; do
        run "$VESTIGE" $command "$process"
        expect_status 2
        expect_one_line_err
    done
done
kill $other

begin excludes_other_regions
for words in '--skip 5' '--marks' '--follow' '--last 5000' '--trigger exit:1' '--from main'; do
    # shellcheck disable=SC2086 # words
    run "$VESTIGE" record --paused $words -o none.vest ./waits a b
    expect_status 2
    expect_one_line_err
    expect_no_file none.vest
done

finish
