#!/bin/bash
# SPDX-License-Identifier: MIT
# Signals to the recorder, and terminals that it shares with the program: Ctrl-C, Ctrl-Z, hangup, and kill.
. "$(dirname "$0")/lib.sh"

P=$VESTIGE_SRC/tests/programs
cc=$(sed -n 's/^CC=//p' "$VESTIGE_BUILD/config")
cd "$T" || exit 2
# shellcheck disable=SC2086 # a compiler may have options
$cc -O1 -D_GNU_SOURCE -o listens "$P/real_listens.c" && $cc -O1 -pthread -D_GNU_SOURCE -o end "$P/real_end.c" || exit 2
# shellcheck disable=SC2016
riscv64-linux-gnu-gcc -O1 -static -D_GNU_SOURCE -o listens.rv64 "$P/real_listens.c" || exit 2

# An input that does not end.
mkfifo fifo && exec 9<>fifo

# says TEXT [FILE]: waits until the program has.
says() {
    for _ in $(seq 1200); do
        ! grep -qx "$1" "${2-$out}" || return 0
        sleep 0.05
    done
    fail "the program did not say: $1"
}

# start PROGRAM...: a recording of it, which is ready. (A test may have been started with SIGINT ignored.)
start() {
    _command="record $*"
    : >"$out"
    set -m # in a group of its own, whose parent is here: an orphaned one would not stop
    env --default-signal "$VESTIGE" record -f -o r.vest "$@" <&9 >"$out" 2>"$err" &
    recorder=$!
    set +m
    says ready
}

# ends: $status is the recorder's.
ends() {
    wait $recorder
    status=$?
}

# facts NAME VALUE: of r.vest, which is sound.
facts() {
    run "$VESTIGE" check -q --flow r.vest
    expect_status 0
    expect_equal "$("$VESTIGE" info --no-scan --json r.vest | jq -r ".meta[\"$1\"]")" "$2" "$1"
}

# terminal COMMAND...: on a terminal of 80 columns, as terminal.py says.
terminal() {
    run timeout 120 env TERM=vt100 python3 "$VESTIGE_SRC/tests/cli/terminal.py" 80 "$@"
    tr -d '\r' <"$out" >"$_work/text"
    mv "$_work/text" "$out"
}

# Above all others, since it takes its time: it must be alive after more than the 5 s that programs once had.
env --default-signal "$VESTIGE" record -o patient.vest ./listens <&9 >patient.out 2>patient.err &
patient=$!
says ready patient.out
kill -INT $patient
SECONDS=0

for engine in '' .rv64; do
    begin "passes_on_what_is_sent_to_the_recorder$engine"
    start ./listens$engine
    for signal in INT QUIT TERM HUP USR1; do
        kill -$signal $recorder
        says "$signal 1"
    done
    kill -USR2 $recorder
    ends
    expect_status 7
    expect_out '^enough$'
    expect_equal "$(grep -c '^[A-Z]' "$out")" 5 "signals"
    facts exit 7
    facts incomplete null

    begin "ends_a_program_by_the_third_of_a_kind$engine"
    start ./listens$engine
    for _ in $(seq 300); do
        kill -INT $recorder 2>/dev/null || break
        sleep 0.2
    done
    ends
    expect_status 137
    expect_out '^INT 1$'
    expect_err 'interrupted; what was captured is in the file'
    facts exit 'signal 9 (SIGKILL)'
    facts incomplete interrupted
done

begin calls_it_interrupted_if_the_signal_was_the_end
start ./end ready
ends
facts incomplete null
start sh -c 'echo ready; while :; do :; done'
kill -HUP $recorder
ends
expect_status 129
facts exit 'signal 1 (SIGHUP)'
facts incomplete interrupted

begin does_not_pass_a_programs_own_signals_back
start sh -c 'n=0; trap "n=\$((n + 1)); echo USR1 \$n" USR1; echo ready; kill -USR1 $PPID; kill -USR1 $$; sleep 0.5; echo $n'
ends
expect_status 0
expect_equal "$(tail -n 1 "$out")" 1

# ---- terminals -----------------------------------------------------------------------------------

begin lets_the_terminal_interrupt_once
terminal "$VESTIGE" record -f -o r.vest ./listens <<'END'
expect ready
send \x03
expect INT 1\r
send \x1c
expect QUIT 1\r
send \x03
expect INT 2\r
send \x04
END
expect_status 8
expect_equal "$(grep -oE '(INT|QUIT) [0-9]' "$out" | wc -l)" 3 "signals"
facts incomplete null

begin ends_a_program_by_the_third_key
terminal "$VESTIGE" record -f -o r.vest ./listens <<'END'
expect ready
insist \x03
END
expect_status 137
facts incomplete interrupted

# In a session of its own a terminal's hangup comes to its leader alone, which is the recorder.
begin tells_the_program_of_a_hangup
terminal "$VESTIGE" record -f -o r.vest sh -c 'trap "echo HUP >hup; exit 5" HUP; echo ready; while :; do :; done' <<'END'
expect ready
hangup
END
expect_file hup
facts exit 5

# job PROGRAM: of an interactive shell; Ctrl-Z, a look at it, and on as standard input says.
job() {
    rm -f r.vest
    {
        cat <<END
send PS1='now''> '\r
expect now>
send "$VESTIGE" record -o r.vest $1\r
expect ready\r
send \x1a
expect Stopped
expect now>
send grep -h ^State /proc/\$(jobs -p)/status /proc/\$(pgrep -P \$(jobs -p))/status\r
expect State:\sT
expect State:\sT
expect now>
send stty -a | grep -oE '[- ]icanon'\r
expect \n icanon
expect now>
send fg\r
expect record -o r.vest .*\n
END
        cat
        echo 'send exit $?\r'
    } >"$_work/talk"
    terminal bash --norc --noprofile --noediting -i <"$_work/talk"
}

begin stops_and_continues_a_program
job "sh -c 'echo re''ady; read line; echo \"read \$line\"; exit 5'" <<'END'
send text\r
expect \nread text\r
expect now>
END
expect_status 5
facts exit 5

begin stops_and_continues_a_program_that_handles_it
job './listens raw' <<'END'
expect CONT 1\r
send x
expect typed x\r
send \x03
expect INT 1\r
send \x04
expect now>
END
expect_status 8
expect_out 'TSTP 1'
expect_equal "$(grep -oE '(TSTP|CONT|INT) [0-9]' "$out" | sort | tr '\n' ' ')" 'CONT 1 INT 1 TSTP 1 '

begin stops_and_continues_by_kill
start ./listens
kill -TSTP $recorder
says 'TSTP 1'
for _ in $(seq 200); do
    ! grep -q '^State:.T' "/proc/$recorder/status" || break
    sleep 0.05
done
expect_equal "$(cat "/proc/$recorder/status" "/proc/$(pgrep -P $recorder)/status" | grep -c '^State:.T')" 2 "stopped"
kill -CONT $recorder
says 'CONT 1'
kill -USR2 $recorder
ends
expect_status 7

# Nobody could continue a process group without a parent in the session.
begin does_not_stop_an_orphan
setsid -w sh -c '"$1" record -f -o r.vest ./listens <&9 >"$2" & echo $! >pid; wait $!; echo $? >ended' - "$VESTIGE" "$out" 2>"$err" &
says ready
kill -TSTP "$(cat pid)"
says 'CONT 1'
kill -USR2 "$(cat pid)"
wait $!
expect_equal "$(cat ended)" 7

# ---- the line of progress ------------------------------------------------------------------------

line='recording: [0-9.]+[kM]? instructions  [0-9.]+[kM]?/s  [0-9.]+ MB'

begin does_not_draw_over_the_program
terminal sh -c "$VESTIGE record -f -o r.vest ./listens" <<'END'
expect ready
send x\r
expect typed x\r
send \x04
END
expect_status 8
! grep -q recording: "$out" || fail "drew a line"
terminal sh -c "$VESTIGE record -f -o r.vest ./listens </dev/null" </dev/null
! grep -q recording: "$out" || fail "drew a line"

begin draws_a_line_beside_a_program_that_does_not_use_the_terminal
terminal sh -c "$VESTIGE record -f -o r.vest sh -c 'sleep 1' </dev/null >/dev/null" </dev/null
expect_status 0
expect_out "$line"
expect_out '^.*vestige: [0-9,]+ instructions'

begin draws_a_line_if_told_to
terminal sh -c "$VESTIGE record --progress -f -o r.vest sh -c 'sleep 1'" </dev/null
expect_out "$line"
run "$VESTIGE" record --progress -f -o r.vest sh -c 'sleep 1'
expect_err "$line"
run "$VESTIGE" simulate --progress "$(workload rv64 fft)" -n 14
expect_status 0

begin is_quiet_if_told_to
terminal sh -c "$VESTIGE record -q -f -o r.vest sh -c 'sleep 1; echo done' </dev/null | cat" </dev/null
expect_equal "$(cat "$out")" "done"
run "$VESTIGE" simulate --quiet "$(workload rv64 fft)" -n 4
expect_status 0
expect_no_err
run "$VESTIGE" record --quiet --progress -f -o r.vest true
expect_status 2
expect_one_line_err

begin lets_a_program_live_after_an_interrupt
while [ $SECONDS -lt 6 ]; do sleep 0.1; done
kill -USR2 $patient
recorder=$patient
ends
expect_status 7
expect_equal "$(cat patient.out)" $'ready\nINT 1\nenough'
finish
