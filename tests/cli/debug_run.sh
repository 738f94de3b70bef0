#!/bin/bash
# SPDX-License-Identifier: MIT
# `vestige debug` as users meet it, on recorded runs of both ISAs: how gdb starts and ends, what is said when something
# is wrong, and what `monitor` answers, compared with what `vestige dump` has. debug.sh has what gdb itself can do.
# shellcheck disable=SC2016 # what is in single quotes is for gdb
. "$(dirname "$0")/lib.sh"

for gdb in gdb gdb-multiarch; do
    command -v $gdb >/dev/null || skip_all "there is no $gdb"
done
rm -rf "$T"
T=$(mktemp -d /tmp/vestige-debug-run.XXXXXXXX) || exit 2 # a short path, which gdb's lines have
cd "$T" || exit 2
# shellcheck disable=SC2154 # _work is of lib.sh
trap 'rm -rf "$T" "$_work"' EXIT
export HOME=$T XDG_CACHE_HOME=$T/cache

cat >steps.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

volatile long counter, other;
char buffer[32];

__attribute__((noinline)) void mark(int n) { counter += n; }

static void *work(void *arg)
{
    for (int i = 0; i < 50; i++)
        __atomic_add_fetch(&other, 1, __ATOMIC_SEQ_CST);
    return arg;
}

int main(void)
{
    struct iovec parts[2] = {{buffer, 4}, {"-tail\n", 6}};
    pthread_t thread;
    mark(1);
    write(1, "first\n", 6);
    mark(2);
    strcpy(buffer, "head");
    writev(1, parts, 2);
    write(2, "\"odd\" \001\n", 8);
    mark(3);
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    mark(4);
    write(99, "nowhere", 7);
    return counter == 10 ? 0 : 1;
}
END
cc=$(sed -n 's/^CC=//p' "$VESTIGE_BUILD/config")
# shellcheck disable=SC2086 # a compiler may have options
$cc -g -O1 -w -pthread -o native steps.c && riscv64-linux-gnu-gcc -march=rv64gc -g -O1 -w -static -pthread -o rv64 steps.c || exit 2
"$VESTIGE" record -o native.vest -- ./native >native.out 2>native.err || exit 2
"$VESTIGE" record -o rv64.vest --cores 2 -- ./rv64 >rv64.out 2>rv64.err || exit 2
both='rv64 native'
"$VESTIGE" replay native.vest >"$out" 2>&1 || both='rv64'

# debug FILE COMMAND...: what gdb says is in $out. The arguments of vestige are in $more.
more=()
debug() {
    local file=$1 arguments=(-nx -batch -ex 'set width 0')
    shift
    for line; do arguments+=(-ex "$line"); done
    run timeout 300 sh -c 'exec "$@" 2>&1' sh "$VESTIGE" debug "${more[@]}" "$file" -- "${arguments[@]}"
}

# nobody_serves FILE: no process has it open for gdb.
nobody_serves() {
    ! pgrep -f -- "--stdio .*$1" >/dev/null
}

# terminal COMMAND...: on a terminal of 80 columns, as terminal.py says.
terminal() {
    run timeout 300 env TERM=dumb python3 "$VESTIGE_SRC/tests/cli/terminal.py" 80 "$@"
    tr -d '\r' <"$out" >"$_work/text"
    mv "$_work/text" "$out"
}

# ---- starting and ending ---------------------------------------------------------------------

for isa in $both; do
    begin "debugs_a_run_of_$isa"
    debug $isa.vest 'break mark' 'continue' 'continue' 'print counter' 'bt' 'reverse-continue' 'print counter'
    expect_status 0
    expect_order 'Breakpoint 1 at .*steps.c, line 10' 'mark \(n=.*1\) at steps.c:10' 'mark \(n=.*2\)' '^\$1 = 1$' '^#1 .* in main .*steps.c:2[0-9]' 'mark \(n=.*1\)' '^\$2 = 0$'
    ! grep -q 'vestige debug' "$out" || fail "something is said between gdb's lines"

    begin "leaves_the_terminal_to_gdb_with_$isa"
    cp $isa.vest terminal.$isa.vest
    terminal "$VESTIGE" debug "$T/terminal.$isa.vest" -- -nx <<END
expect \\(gdb\\)
send break mark\n
expect Breakpoint 1 at
send continue\n
expect mark \\(n=
send \x03
expect Quit
send monitor position\n
expect t0:[0-9]+, position
send quit\n
expect \\(y or n\\)
send y\n
END
    expect_status 0
    await nobody_serves "$T/terminal.$isa.vest"

    begin "ends_with_gdb_status_with_$isa"
    debug $isa.vest 'quit 7'
    expect_status 7
done

begin leaves_no_process_when_the_terminal_closes
cp rv64.vest hangup.vest
terminal "$VESTIGE" debug "$T/hangup.vest" -- -nx <<'END'
expect \(gdb\)
hangup
END
await nobody_serves "$T/hangup.vest"

for signal in TERM KILL; do
    begin "leaves_no_process_when_gdb_is_ended_with_$signal"
    cp rv64.vest "ended.$signal.vest"
    mkfifo "hold.$signal"
    "$VESTIGE" debug "$T/ended.$signal.vest" -- -nx -batch -ex "shell touch here.$signal; cat hold.$signal" >"$out" 2>&1 &
    server=$!
    await test -e "here.$signal"
    ! nobody_serves "$T/ended.$signal.vest" || fail "nobody serves"
    kill -$signal $server
    exec 8>"hold.$signal" # the shell that gdb started ends
    exec 8>&-
    wait $server 2>"$err"
    await nobody_serves "$T/ended.$signal.vest"
done

begin starts_the_gdb_that_is_named
cat >mygdb <<'END'
#!/bin/sh
printf '%s\n' "$@"
exit 5
END
chmod +x mygdb
run "$VESTIGE" debug --gdb ./mygdb rv64.vest -- -ex 'one two' --three
expect_status 5
expect_order '^-q$' '^-x$' '^target remote \| exec .*--stdio.*rv64.vest' '^one two$' '^--three$' "^$T/rv64\$"

begin says_that_there_is_no_gdb
run env PATH="$T" "$VESTIGE" debug rv64.vest
expect_status 2
expect_one_line_err
expect_err 'cannot start gdb-multiarch: it is not installed; the package of that name has it$'
run env PATH="$T" "$VESTIGE" debug native.vest
expect_status 2
expect_err "cannot start gdb: it is not installed|native.vest: "
run "$VESTIGE" debug --gdb ./none rv64.vest
expect_status 2
expect_one_line_err
expect_err 'cannot start ./none: there is no such program$'

# ---- techniques ------------------------------------------------------------------------------

for isa in $both; do
    begin "keeps_checkpoints_on_disk_with_$isa"
    mkdir -p scratch
    more=(--disk 64M)
    TMPDIR=$T/scratch debug $isa.vest 'break mark' 'continue' 'continue' 'continue' 'monitor goto end' 'reverse-continue' 'reverse-continue' 'print counter'
    more=()
    expect_status 0
    expect_order 'mark \(n=.*1\)' 'mark \(n=.*2\)' 'mark \(n=.*3\)' 'mark \(n=.*4\)' 'mark \(n=.*3\)' '^\$1 = 3$'
    expect_equal "$(ls scratch)" ''
done

begin says_that_there_is_no_room_on_disk
run env TMPDIR="$T/none" "$VESTIGE" debug --disk 64M rv64.vest
expect_status 2
expect_one_line_err
expect_err 'rv64.vest: cannot make a file in .*/none: No such file or directory$'
run sh -c 'ulimit -f 64; exec "$1" debug --disk 64M --stdio rv64.vest </dev/null' sh "$VESTIGE"
expect_status 2
expect_one_line_err
expect_err 'rv64.vest: the file for its stream cannot grow: File too large'

begin encodes_with_the_technique_that_is_named
for technique in mlvCF_e:CS32 mlvNX_b mc2RT:CS16; do
    more=(-t $technique)
    debug rv64.vest 'break mark if n == 4' 'continue' 'print counter' 'print other'
    expect_order 'mark \(n=.*4\)' '^\$1 = 6$' '^\$2 = 50$'
done
more=()

refuse() {
    local wanted=$1 pattern=$2
    shift 2
    run timeout 300 "$VESTIGE" debug "$@"
    expect_status "$wanted"
    expect_one_line_err
    expect_no_out
    expect_err "$pattern"
}

begin refuses_techniques_that_cannot_be_debugged
"$VESTIGE" encode rv64.vest -t mc2RT -o rv64.vport >"$out" || exit 2
"$VESTIGE" encode rv64.vest -t mlvNX_gzip -o packed.vport >"$out" || exit 2
refuse 2 "no technique 'nix'" -t nix rv64.vest
refuse 2 'mcfTR_e has no load values' -t mcfTR_e rv64.vest
refuse 2 'mlvNX_gzip cannot be debugged, since its decoder cannot go back' -t mlvNX_gzip rv64.vest
refuse 2 'mlvNX_gzip cannot be debugged, since its decoder cannot go back' packed.vport
refuse 2 'rv64.vport: is encoded already; -t is for recorded runs' -t mc2RT rv64.vport
refuse 2 'exclude each other' --gdb gdb --listen 0 rv64.vest
refuse 2 'once: is for --listen' --once rv64.vest
refuse 2 'nothing to work on'

# ---- what is wrong with files ----------------------------------------------------------------

"$VESTIGE" record -o chunks.rv64.vest --cores 1 -- "$(workload rv64 sort)" -n 40 >"$out" 2>&1 || exit 2
"$VESTIGE" record --all -o chunks.native.vest -- "$(workload host sort)" -n 40 >"$out" 2>&1 || exit 2

for isa in $both; do
    begin "shows_what_there_is_of_a_cut_run_of_$isa"
    head -c $(($(stat -c %s chunks.$isa.vest) * 3 / 4)) chunks.$isa.vest >cut.vest
    debug cut.vest 'continue' 'monitor position' 'reverse-stepi' 'monitor position'
    expect_order '^vestige debug: cut.vest: incomplete: ' '^t0:[1-9][0-9]+, position [1-9]' '^t0:[1-9][0-9]+, position [1-9]'
    run "$VESTIGE" replay cut.vest
    expect_status 1
    expect_err 'cut.vest: incomplete: '
    expect_out '^replayed [1-9]'
    head -c 600 $isa.vest >cut.vest
    run "$VESTIGE" debug cut.vest -- -nx -batch
    expect_status 1
    expect_one_line_err
    expect_err 'cut.vest: incomplete: '
done

begin shows_what_there_is_of_a_damaged_run
size=$(stat -c %s chunks.rv64.vest)
cp chunks.rv64.vest damaged.vest
printf 'XXXX' | dd of=damaged.vest bs=1 seek=$((size * 3 / 4)) conv=notrunc 2>"$out"
debug damaged.vest 'continue' 'monitor position' 'reverse-stepi' 'monitor position'
expect_order '^vestige: the run is damaged, and the program goes on: .*checksum differs' '^t0:[1-9][0-9]+, position [1-9]' '^t0:[1-9][0-9]+, position [1-9]'
run "$VESTIGE" replay damaged.vest
expect_status 1
expect_err 'damaged.vest: chunk .*checksum differs.*; it was replayed to there$'

for isa in $both; do
    begin "goes_on_without_the_program_of_$isa"
    "$VESTIGE" encode -f $isa.vest -t mc2RT -o $isa.vport >"$out" || fail 'not encoded'
    mv $isa away
    debug $isa.vest 'break mark' 'continue' 'monitor output'
    expect_order "^vestige debug: $T/$isa: cannot open it: No such file" '^Function "mark" not defined|No symbol table' 'No more reverse' '^file 1, 16 bytes:$' 'head'
    refuse 2 "$T/$isa: cannot open it: No such file" $isa.vport
    for file in $isa.vest $isa.vport; do # what else it loaded is found as ever
        more=(--image away)
        debug $file 'break mark' 'continue' 'monitor goto end' 'monitor output'
        expect_order 'mark \(n=.*1\) at steps.c:10' 'the end of what is known' '^head-tail$'
        ! grep -q 'vestige debug: ' "$out" || fail 'something is missing'
    done
    more=()

    begin "takes_no_symbols_of_another_program_for_$isa"
    sed 's/counter += n/counter += 2 * n/' steps.c >changed.c
    # shellcheck disable=SC2086
    case $isa in
    native) $cc -g -O1 -w -pthread -o native changed.c ;;
    *) riscv64-linux-gnu-gcc -march=rv64gc -g -O1 -w -static -pthread -Wl,--build-id -o rv64 changed.c ;;
    esac
    debug $isa.vest 'break mark' 'continue' 'monitor output'
    expect_order "^vestige debug: $T/$isa: is none of the images of the stream: another program, or built again" '^Function "mark" not defined|No symbol table' 'No more reverse' '^file 1, 16 bytes:$' 'head'
    refuse 1 'another program, or built again' $isa.vport
    mv away $isa
done

# ---- monitor ---------------------------------------------------------------------------------

for isa in $both; do
    begin "goes_to_the_events_of_dump_in_$isa"
    "$VESTIGE" dump --json $isa.vest >events.json
    commands=() wanted=()
    for technique in mc2RT mlvCF_e:CS32; do
        jq -r 'select(.pc and (.kind | IN("branch", "load", "store", "syscall"))) | "\(.event) \(.thread):\(.at) \(.pc)"' events.json | awk 'NR % 977 == 5' >places
        while read -r event place pc; do
            commands+=("monitor goto event $event" "monitor goto t$place")
            wanted+=("t$place pc $pc" "t$place pc $pc")
        done <places
        more=(-t $technique)
        debug $isa.vest "${commands[@]}"
        sed -n 's/^\(t[0-9]*:[0-9]*\), position [0-9]*, \(pc 0x[0-9a-f]*\).*/\1 \2/p' "$out" >got
        printf '%s\n' "${wanted[@]}" >want
        [ -s want ] || fail 'nothing is compared'
        cmp -s want got || fail "other places with $technique: $(diff want got | head -3)"
        commands=() wanted=()
    done
    more=()

    begin "lists_the_calls_of_dump_in_$isa"
    jq -r 'select(.kind == "syscall") | "t\(.thread):\(.at)"' events.json | sort >want
    debug $isa.vest 'monitor goto end' 'monitor calls 1000' 'echo == start\n' 'monitor goto start' 'monitor calls 1000' 'echo == one\n' 'monitor calls 3 t1'
    for part in '1,/== start/' '/== start/,/== one/'; do
        sed -n "${part}s/^  \(t[0-9]*:[0-9]*\) .*(.*/\1/p" "$out" | sort >got
        cmp -s want got || fail "other calls: $(diff want got | head -3)"
    done
    [ "$(sed -n '/== one/,$p' "$out" | grep -c '^  t1:')" = 3 ] || fail 'not three calls of a thread'
    expect_order '  t0:[0-9]+ +write\(1, "first\\n", 6\) = 6$' '  t0:[0-9]+ +writev\(1, 0x[0-9a-f]+, 2\) = 10$' '  t0:[0-9]+ +write\(2, "\\"odd\\" \\001\\n", 8\) = 8$' \
        '  t0:[0-9]+ +write\(99, "nowhere", 7\) = -1 EBADF$' '  t0:[0-9]+ +exit_group\(0\)$' ' <- here$' '== start' '^t0:0, position 0, pc .* <- here$'

    begin "tells_what_was_written_in_$isa"
    debug $isa.vest 'break mark' 'continue' 'continue' 'echo == two\n' 'written' 'continue' 'echo == three\n' 'monitor output 1' 'reverse-continue' 'echo == again\n' 'monitor output' 'echo == end\n' 'goto end' 'monitor output'
    expect_order '== two' '^file 1, 6 bytes:$' '^first$' '== three' '^file 1, 16 bytes:$' '^first$' '^head-tail$' '== again' '^file 1, 6 bytes:$' '^first$' '== end' '^file 1, 16 bytes:$' '^head-tail$' '^file 2, 8 bytes:$' '^\\"odd\\" \\001$'
    ! sed -n '/== two/,/== three/p' "$out" | grep -q 'head-tail' || fail 'written too early'
    ! sed -n '/== again/,/== end/p' "$out" | grep -q 'head-tail' || fail 'still there after going back'

    begin "tells_who_accessed_what_in_$isa"
    address=$(jq -r 'select(.kind == "store" and .thread == 0) | .addr' events.json | sort | uniq -c | sort -n | awk 'END { print $2 }')
    last=$(jq -r "select(.kind == \"store\" and .addr == \"$address\") | \"t\\(.thread):\\(.at)\"" events.json | tail -1)
    first=$(jq -r "select(.kind == \"store\" and .addr == \"$address\") | \"t\\(.thread):\\(.at)\"" events.json | head -1)
    read=$(jq -r "select(.kind == \"load\" and .addr == \"$address\") | \"t\\(.thread):\\(.at)\"" events.json | tail -1)
    debug $isa.vest "monitor who-writes $address" "monitor who-wrote $address" 'goto end' "monitor who-wrote $address" "monitor who-read $address" "monitor who-writes $address" \
        'break mark if n == 4' 'reverse-continue' 'who-wrote counter' 'who-read &counter @ sizeof(counter)' 'who-writes counter' 'who-reads counter' 'who-wrote other' 'who-wrote 3 + 4' 'monitor who-wrote' 'monitor who-wrote 1 0' 'monitor who-wrote x'
    expect_order "^$first, position [0-9]+, pc 0x" '^no instruction wrote it before here' 'the end of what is known' "^$last, position" "^$read, position" '^no instruction writes it from here on' \
        'mark \(n=.*4\)' '^t0:.*pc 0x' '^(mark|main) ' 'steps.c:10$' '^t0:' 'steps.c:10$' '^t0:' 'steps.c:10$' '^t0:' 'steps.c:10$' '^t1:' '^work ' 'steps.c:15$' 'not in memory; an address needs a size' \
        '^vestige: who-wrote ADDR' '^vestige: who-wrote ADDR' '^vestige: who-wrote ADDR'

    begin "tells_when_threads_ran_in_$isa"
    debug $isa.vest 'goto end' 'ran 1000' 'echo == one\n' 'ran 2 t1'
    total=$(jq -s 'map(.icount) | add' events.json)
    # the turns are all instructions, one after the other
    sed -n '1,/<- here/s/^  t\([0-9]*\):\([0-9]*\) to t[0-9]*:\([0-9]*\), from position \([0-9]*\)$/\1 \2 \3 \4/p' "$out" >turns
    expect_equal "$(awk '{ if ($2 != at[$1] + 0 || $4 != sum + 0) bad = 1; at[$1] = $3; sum += $3 - $2 } END { print bad + 0, sum }' turns)" "0 $total" 'turns'
    expect_order '== one' '^  t1:[0-9]+ to t1:'

    begin "keeps_bookmarks_in_$isa"
    debug $isa.vest 'monitor bookmark' 'break mark' 'continue' 'continue' 'monitor bookmark two' 'continue' 'monitor bookmark three' 'monitor goto two' 'print counter' 'monitor bookmark' 'monitor bookmark end' 'monitor bookmark 12' 'monitor bookmark t1:3' \
        'monitor goto none' 'monitor goto 0:99999999999' 'monitor goto event 999999999' 'monitor threads extra' 'monitor calls 0' 'monitor calls x' 'monitor ran t77'
    expect_order '^there are no bookmarks' 'mark \(n=.*2\)' '^two: t0:[0-9]+, position [0-9]+$' '^three: ' '^t0:[0-9]+, position [0-9]+, pc ' '^\$1 = 1$' '^two: ' '^three: ' '^vestige: bookmark NAME' '^vestige: bookmark NAME' '^vestige: bookmark NAME' \
        "^vestige: 'none' is no place; goto POSITION" 'the end of what is known' '^vestige: there is no event 999999999: the run has ' '^vestige: threads: takes nothing' '^vestige: calls ' '^vestige: calls ' '^vestige: there is no thread t77'
done

# What an editor makes gdb do.
begin serves_an_editor
"$VESTIGE" debug --gdb-script >vestige.gdb
for isa in $both; do
    : >server.err
    "$VESTIGE" debug --listen 0 --once $isa.vest 2>server.err &
    server=$!
    await grep -q 'listening on 127.0.0.1:[0-9]*$' server.err
    port=$(sed -n 's/.*listening on 127.0.0.1:\([0-9]*\)$/\1/p' server.err)
    printf '%s\n' '-interpreter-exec console "source vestige.gdb"' "-file-exec-and-symbols $T/$isa" "-target-select remote 127.0.0.1:$port" '-break-insert mark' \
        '-exec-continue' '-exec-continue' '-stack-list-frames' '-data-evaluate-expression counter' '-exec-continue --reverse' '-data-evaluate-expression counter' \
        '-interpreter-exec console "who-wrote counter"' '-gdb-exit' >commands.mi
    case $isa in native) gdb=gdb ;; *) gdb=gdb-multiarch ;; esac
    run timeout 300 $gdb -nx -q -i=mi <commands.mi
    expect_order 'connected' 'stopped,reason="breakpoint-hit".*func="mark".*value="1"' 'stopped,reason="breakpoint-hit".*func="mark".*value="2"' 'stack=\[frame=\{.*func="main"' \
        'done,value="1"' 'stopped,reason="breakpoint-hit".*func="mark".*value="1"' 'done,value="0"' 'wrote it before here'
    await has_ended $server
done

begin finds_events_in_recorded_runs_only
debug rv64.vport 'monitor goto event 3' 'monitor goto t0:3'
expect_order '^vestige: event: only a recorded run has events' '^t0:3, position 3,'

finish
