#!/bin/bash
# SPDX-License-Identifier: MIT
# The calls that dump --stack tells are those that gdb finds in the replayed program, by its own means: from the registers
# and the stack at one point, knowing nothing of what came before. At a few points of each program; with VESTIGE_LONG=1 at
# 100 of each.
. "$(dirname "$0")/lib.sh"

command -v gdb >/dev/null || skip_all "there is no gdb"
gdb -nx -batch -ex 'python print(1)' 2>/dev/null | grep -q 1 || skip_all "gdb has no Python"
has_program g++ || skip_all "there is no g++"
cd "$T" || exit 2
P=$VESTIGE_SRC/tests/programs
g++ -O1 -g -o calls "$P/real_source.cc" || exit 2
points=12
[ -z "$brief" ] || points=4
[ -z "$long" ] || points=100

# What gdb finds at each place in the file "places": the pc, and where each call returns to, up to main. Frames of what was
# inlined, or has left by a jump, are no calls.
cat >frames.py <<'PYTHON'
import gdb
for place in open('places').read().split():
    gdb.execute('monitor goto ' + place, to_string=True)
    found, frame = [], gdb.newest_frame()
    while frame:
        if frame.type() == gdb.SIGTRAMP_FRAME and found:
            found.append('signal')
        elif frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
            found.append('%x' % frame.pc())
        outermost, frame = frame, frame.older()
    print('FRAMES', place, *found, 'main' if outermost.name() == 'main' else '')
PYTHON

# ours RUN: the same from dump, at so many events, as evenly as possible. They are some in calls that main made: around it
# there is code without unwind information, in which gdb guesses.
ours() {
    run "$VESTIGE" dump --stack --kind branch,load,store "$1.vest"
    expect_status 0
    awk '
        function hex(x) { sub(/^0x0*/, "", x); return x }
        function tell() { if (main) print line; main = 0 }
        /^ *[0-9]+ +t/ { tell(); line = $2 " " hex($4); next }
        / # main( |$)/ { main = 1 }
        /<signal handler/ { line = line " signal"; next }
        { line = line " " hex($2) }
        END { tell() }' "$out" >all
    awk -v points=$points -v events="$(wc -l <all)" \
        'int(NR * points / events) != int((NR - 1) * points / events)' all >"$1.ours"
    expect_equal "$(wc -l <"$1.ours")" $points "points"
}

# same NAME: gdb finds what is in NAME.ours. Ours goes on beyond main.
same() {
    cut -d ' ' -f 1 "$1.ours" >places
    run timeout 600 "$VESTIGE" debug --gdb gdb "$1.vest" -- -nx -batch -ex 'source frames.py'
    expect_status 0
    sed -n 's/^FRAMES //p' "$out" >"$1.gdb"
    expect_equal "$(wc -l <"$1.gdb")" "$(wc -l <"$1.ours")" "points at which gdb was"
    paste -d '|' "$1.gdb" "$1.ours" | awk -F '|' '{
            n = split($1, gdb, " "); m = split($2, ours, " "); whole = gdb[n] == "main"
            n -= whole
            bad = n > m || (!whole && n < m)
            for (i = 1; i <= n && i <= m; i++)
                if (gdb[i] != ours[i]) bad = 1
            if (bad) print
        }' >"$1.bad"
    cp "$1.bad" "$out"
    [ ! -s "$out" ] || fail "$(wc -l <"$1.bad") of $(wc -l <"$1.ours") points differ"
}

begin tells_the_calls_of_a_deep_program
"$VESTIGE" record -q -o deep.vest -- ./calls 60 1 >"$out" 2>&1 || fail "not recorded"
ours deep
same deep
[ "$(awk '{ if (NF > most) most = NF } END { print most }' deep.gdb)" -gt 50 ] || fail "it is not deep"

begin tells_the_calls_of_one_with_exceptions
"$VESTIGE" record -q -o thrown.vest -- ./calls 8 6 >"$out" 2>&1 || fail "not recorded"
ours thrown
same thrown

begin tells_the_calls_of_one_with_signals_and_longjmp
"$VESTIGE" record -q -o signals.vest -- "$(workload host signals)" -n 40 >"$out" 2>&1 || fail "not recorded"
ours signals
same signals

finish
