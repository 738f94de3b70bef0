#!/bin/bash
# SPDX-License-Identifier: MIT
# Recorder or program is killed with SIGKILL, which nobody can prepare for, at any moment: while Valgrind starts, while the
# program runs, while the run is sealed. Nothing goes on for ever, a program whose recorder is gone comes to its own end, and
# whatever is left reads: a run passes `check`, and from a partial file `salvage` makes a run or says that there is nothing.
# A few dozen times; with VESTIGE_LONG=1 a thousand times.
. "$(dirname "$0")/lib.sh"

cd "$T" || exit 2
times=24
[ -z "$brief" ] || times=9
[ -z "$long" ] || times=1000
RANDOM=1

# pause N: for a while that has nothing to do with what the others do.
pause() {
    local i
    for ((i = 0; i < $1; i++)); do :; done
}

# all_gone: no process has the mark in its environment any more.
all_gone() {
    local file
    for file in /proc/[0-9]*/environ; do
        grep -qz "^KILLS_MARK=$T\$" "$file" 2>/dev/null && return 1
    done
    return 0
}

# expect_readable: what the recording left, whatever that is; counts it.
expect_readable() {
    if [ -e k.vest ]; then
        sealed=$((sealed + 1))
        run "$VESTIGE" check -q k.vest
        expect_status 0
        expect_no_file k.vest.partial
    elif [ -e k.vest.partial ]; then
        run "$VESTIGE" salvage -f -o s.vest k.vest.partial
        [ "$status" = 0 ] || [ "$status" = 1 ] || fail "salvage: status $status"
        if [ "$status" = 0 ]; then
            saved=$((saved + 1))
            run "$VESTIGE" check -q --flow s.vest
            # Nothing may have been executed yet.
            [ "$status" = 0 ] || grep -q 'no instruction\|nothing' "$err" || fail "what was saved does not pass: $(cat "$err")"
        else
            expect_one_line_err
        fi
    fi
}

# killed VICTIM WORDS...: starts a recording, waits a little, kills, and looks at what is left.
killed() {
    local victim=$1 recorder program
    shift
    rm -f k.vest k.vest.partial s.vest
    _command="record $*, $victim killed"
    KILLS_MARK=$T "$VESTIGE" record -q "$@" >"$out" 2>"$err" </dev/null &
    recorder=$!
    pause $((RANDOM * RANDOM % 250000))
    program=$(pgrep -P $recorder)
    case $victim in
    recorder) kill -KILL $recorder ;;
    program) [ -z "$program" ] || kill -KILL $program ;;
    both) kill -KILL $recorder $program ;;
    esac 2>/dev/null
    wait $recorder 2>/dev/null
    await all_gone
    expect_readable
}

native=$(workload host sha) threads=$(workload host fft) simulated=$(workload rv64 fft)
sealed=0 saved=0
begin leaves_what_can_be_read
for ((round = 0; round < times; round++)); do
    case $((round % 6)) in
    0) killed recorder -o k.vest -- "$native" -n 1000 ;;
    1) killed program -o k.vest -- "$threads" -n 17 -p 4 ;;
    2) killed recorder --inputs -o k.vest -- "$threads" -n 17 -p 4 ;;
    3) killed program --inputs -o k.vest -- "$native" -n 1000 ;;
    4) killed both -o k.vest -- "$threads" -n 17 -p 4 ;;
    5) killed recorder -o k.vest --cores 4 -- "$simulated" -n 17 -p 4 ;;
    esac
done
echo "$times killed: $sealed sealed, $saved saved"

finish
