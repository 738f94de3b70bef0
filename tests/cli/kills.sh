#!/bin/bash
# SPDX-License-Identifier: MIT
# Recorder or program is killed with SIGKILL, which nobody can prepare for, at any moment: while Valgrind starts, while the
# program runs, while the run is sealed. Nothing goes on for ever, a program whose recorder is gone comes to its own end, and
# whatever is left reads: a run passes `check`, and from a partial file `salvage` makes a run or says that there is nothing.
# A few dozen times, two side by side; with VESTIGE_LONG=1 a thousand times.
. "$(dirname "$0")/lib.sh"

cd "$T" || exit 2
times=24
[ -z "$brief" ] || times=9
[ -z "$long" ] || times=1000
native=$(workload host sha) threads=$(workload host fft) simulated=$(workload rv64 fft)

# mark_of WORKER, all_gone: no process has the worker's mark in its environment any more.
mark_of() {
    echo "KILLS_MARK=$T.$1"
}
all_gone() {
    ! grep -qsxz "$mark" /proc/[0-9]*/environ
}

# What is recorded, and who is killed.
victims=(recorder program recorder program both recorder)
recorded() {
    case $1 in
    0 | 1) echo --all -o k.vest -- "$native" -n 500 ;;
    2) echo --inputs -o k.vest -- "$threads" -n 16 -p 4 ;;
    3) echo --inputs -o k.vest -- "$native" -n 500 ;;
    4) echo --all -o k.vest -- "$threads" -n 16 -p 4 ;;
    5) echo -o k.vest --cores 4 -- "$simulated" -n 16 -p 4 ;;
    esac
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

# killed KIND: starts a recording, waits, kills, and looks at what is left. The wait is any part of the microseconds that
# the kind seems to take, ${span[KIND]}: they become fewer whenever it is over by then, and else more, so that about one
# in six kills comes too late, however fast the machine is.
killed() {
    local victim=${victims[$1]} recorder program wait
    local -a words
    read -ra words <<<"$(recorded "$1")"
    rm -f k.vest k.vest.partial s.vest
    _command="record ${words[*]}, $victim killed"
    env "$mark" "$VESTIGE" record -q "${words[@]}" >"$out" 2>"$err" </dev/null &
    recorder=$!
    printf -v wait '%07d' $(((RANDOM * 32768 + RANDOM) % span[$1]))
    sleep "${wait:0:-6}.${wait: -6}"
    program=$(pgrep -P $recorder)
    if has_ended $recorder; then
        late=$((late + 1))
        span[$1]=$((span[$1] * 5 / 6))
    else
        span[$1]=$((span[$1] * 31 / 30 + 1000))
    fi
    case $victim in
    recorder) kill -KILL $recorder ;;
    program) [ -z "$program" ] || kill -KILL $program ;;
    both) kill -KILL $recorder $program ;;
    esac 2>/dev/null
    wait $recorder 2>/dev/null
    await all_gone
    expect_readable
}

# worker NUMBER: every other kill, in a folder of its own. Its status says whether all went well.
worker() {
    local round mark sealed=0 saved=0 late=0
    local -a span=(1000000 1000000 1000000 1000000 1000000 1000000)
    mark=$(mark_of "$1")
    RANDOM=$((1 + $1)) out=$out.$1 err=$err.$1
    mkdir "worker$1" && cd "worker$1" || exit 2
    for ((round = $1; round < times; round += 2)); do
        killed $(((round / 2 + 3 * $1) % 6)) # the two begin with other kinds
    done
    echo "$sealed $saved $late" >counts
    exit $_bad
}

begin leaves_what_can_be_read
worker 0 &
first=$!
worker 1 &
second=$!
for process in $first $second; do
    wait $process || fail 'as was said'
done
read -r sealed saved late <<<"$(awk '{ a += $1; b += $2; c += $3 } END { print a, b, c }' worker?/counts)"
echo "$times killed: $sealed sealed, $saved saved, $late too late"

finish
