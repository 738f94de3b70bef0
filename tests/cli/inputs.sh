#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs that have nothing but their inputs. Programs are recorded both ways at once, and what is made by executing them
# again is compared event by event; then with inputs alone, where registers are compared. All commands read such runs as
# others; files that changed, damaged runs and missing parts are noticed. With VESTIGE_LONG=1 every workload on 1, 4 and
# 8 threads.
. "$(dirname "$0")/lib.sh"

P=$VESTIGE_SRC/tests/programs
cc=$(sed -n 's/^CC=//p' "$VESTIGE_BUILD/config") san=$(sed -n 's/^SAN=//p' "$VESTIGE_BUILD/config")
cd "$T" || exit 2
# The CPU lies where it lies beside the programs of the build.
mkdir bin && ln -s "$VESTIGE_BUILD/lib" lib || exit 2
# shellcheck disable=SC2086 # a compiler may have options
$cc -std=gnu11 -O2 ${san:+-fsanitize=$san} -pthread -I"$VESTIGE_SRC/src" -I"$VESTIGE_SRC/include" -o bin/flow_events \
    "$VESTIGE_SRC/tests/cli/flow_events.c" "$VESTIGE_BUILD/lib/libvestige-all.a" -lzstd -llzma -lbz2 -lz -lZydis -ldw -liberty -lm -ldl || exit 2

# made_again PROGRAM...: whatever its status.
made_again() {
    "$VESTIGE" record -q -f --inputs --all -o both.vest -- "$@" >wanted 2>"$err" </dev/null
    expect_file both.vest
    run "$VESTIGE" check --inputs both.vest
    expect_status 0
    expect_no_err
    expect_out '^both.vest: executed ([0-9,]+) instructions again, compared registers [0-9,]+ times and ([0-9,]+) of \2 events: all equal$'
    "$VESTIGE" record -q -f --inputs -o short.vest -- "$@" >got 2>"$err" </dev/null
    expect_file short.vest
    run "$VESTIGE" check --inputs --memory --flow short.vest
    expect_status 0
    expect_no_err
    expect_out '^short.vest: executed [1-9][0-9,]* instructions again, compared registers [0-9,]+ times and 0 of [1-9][0-9,]* events: all equal$'
    expect_out 'compared [1-9][0-9,]* loads .*: all equal$'
    expect_out 'compared [1-9][0-9,]* instructions .*: all equal$'
    # Without loads and stores, which take time, the other events are the same.
    run bin/flow_events short.vest
    expect_status 0
    expect_no_err
    expect_out '^[1-9][0-9]*$'
}

# program NAME [FILE]: makes ./NAME.
program() {
    # shellcheck disable=SC2086 # a compiler may have options
    $cc -O1 -g -w -D_GNU_SOURCE -I"$VESTIGE_SRC/include" -pthread -o "$1" "$P/${2:-real_$1.c}" -ldl -lm || exit 2
}

workload_again() {
    begin "makes_$1_$2_again"
    made_again "$(workload host "$1")" "${@:4}"
}

if [ -n "$long" ]; then
    each_workload all '1 4 8' workload_again
else
    workload_again sha 1 - -n 1
    workload_again radix 4 - -n 1000 -p 4
    workload_again signals 1 - -n 100
fi

# Faults within blocks and within repeated instructions; a division that a handler repairs; signals between iterations.
begin makes_faults_again
program faults faults.c
made_again ./faults

# Registers are up to date where accesses fail once somebody can look at them, and not before.
begin shows_registers_to_a_handler_that_comes_late
program late
made_again ./late
./late >natively
cmp -s natively got || fail "not as natively: $(diff natively got | head -2)"
expect_equal "$(head -1 got)" '11: 11 22 41b 44 0'
for what in --all --control-only; do
    run "$VESTIGE" record -q -f $what -o full.vest -- ./late
    expect_status 0
    cmp -s natively "$out" || fail "$what: not as natively: $(diff natively "$out" | head -2)"
done

# Values from outside: the counter of time, processor identification, xgetbv, random numbers.
begin makes_values_from_outside_again
program values values.c
made_again ./values

# An instruction may get two values, which may lie in two batches of the run.
begin makes_random_numbers_again
program randoms randoms.c
if grep -qw rdrand /proc/cpuinfo; then
    made_again ./randoms 10000
    made_again ./randoms 10000 and_one
else
    skip 'this processor has no rdrand'
fi

begin makes_threads_signals_and_code_again
for name in threads signals jit maps; do
    program "$name"
    made_again "./$name"
done

# A signal that nothing handles strikes within a block.
begin records_all_that_led_to_a_crash
program debugged
made_again ./debugged crash
"$VESTIGE" record -q -f --all -o full.vest -- ./debugged crash >got 2>"$err"
expect_equal "$("$VESTIGE" info --json short.vest | jq .instructions)" "$("$VESTIGE" info --json full.vest | jq .instructions)"

begin follows_exec
made_again sh -c 'exec sh -c "exec ls /"'
expect_equal "$(cat wanted)" "$(ls /)"

begin answers_requests_of_valgrind
program marks
made_again ./marks

# ---- reading ----

"$VESTIGE" record -q -f --inputs --all -o both.vest -- "$(workload host fft)" -p 4 >/dev/null || exit 2
"$VESTIGE" shrink -f both.vest -o short.vest >/dev/null || exit 2

begin shrinks_and_expands_without_loss
run "$VESTIGE" expand -f short.vest -o whole.vest
expect_status 0
expect_out '^whole.vest: [1-9][0-9,]* instructions, [1-9][0-9,]* events, [1-9][0-9,]* bytes \(short.vest: [1-9][0-9,]*\)$'
"$VESTIGE" dump both.vest >both.txt
"$VESTIGE" dump whole.vest | cmp -s - both.txt || fail 'other events'
"$VESTIGE" dump short.vest | cmp -s - both.txt || fail 'other events while they are made'
run "$VESTIGE" shrink -f whole.vest -o again.vest
expect_status 0
cmp -s short.vest again.vest || fail 'another run'

# told RUN WORDS...: what a command says about a run, but for its name and its size.
told() {
    "$VESTIGE" "${@:2}" "$1.vest" >said 2>&1 || fail "${*:2} $1.vest: status $?: $(tail -1 said)"
    sed "s/$1/RUN/g" said | grep -v 'bytes/event\|bits/instruction\|^  size '
}

begin is_read_by_all_commands
for words in 'info' 'dump --from 70000 --limit 20' 'dump --thread 2 --limit 20' 'dump --thread 1 --from-insn 5000 --limit 3' \
    'bandwidth -t mcfTR_e -t mc2RT' 'bandwidth -t mcfTR_e -t pt -t etm4 --window 1000 --buffer 1/2' 'verify -t mlvCF_e' 'locality' 'entropy' 'mcfTRaptor -a -o descriptors -i'; do
    # shellcheck disable=SC2086 # words
    told both $words >1
    [ -e descriptors.txt ] && mv descriptors.txt wanted.txt
    # shellcheck disable=SC2086
    told short $words >2
    cmp -s 1 2 || fail "$words: $(diff 1 2 | head -3)"
    [ -s 1 ] || fail "$words: nothing"
done
cmp -s wanted.txt descriptors.txt || fail 'other descriptors'
[ -s descriptors.txt ] || fail 'no descriptors'

# A run that takes long to execute is executed once, and then has snapshots beside it.
begin reads_from_snapshots
"$VESTIGE" record -q -f --inputs -o long.vest -- "$(workload host radix)" -n 300000 -p 4 >/dev/null || fail 'not recorded'
"$VESTIGE" info --no-scan long.vest >said || fail 'not executed'
[ "$(sed -n 's/^  instructions *//p' said | tr -d ,)" -gt 67108864 ] || fail 'too short for that'
expect_file long.vest.cache
if [ -z "$brief" ]; then
    "$VESTIGE" expand -f long.vest -o whole.vest >/dev/null || fail 'not expanded'
    events=$("$VESTIGE" info --json --no-scan long.vest | jq .events)
    expect_equal "$events" "$("$VESTIGE" info --json --no-scan whole.vest | jq .events)"
    for part in 1 3 4 7; do
        "$VESTIGE" dump --from $((part * events / 8)) --limit 1000 whole.vest >1
        "$VESTIGE" dump --from $((part * events / 8)) --limit 1000 long.vest >2
        cmp -s 1 2 || fail "other events at $part/8: $(diff 1 2 | head -3)"
        for thread in 0 3; do
            "$VESTIGE" dump --thread $thread --from-insn $((part * 1000000)) --limit 10 whole.vest >1
            "$VESTIGE" dump --thread $thread --from-insn $((part * 1000000)) --limit 10 long.vest >2
            cmp -s 1 2 || fail "other events of thread $thread: $(diff 1 2 | head -3)"
        done
    done
    # Nothing depends on that file: it may be gone, damaged, cut, or another run's.
    wanted=$("$VESTIGE" dump --from $((events / 2)) --limit 1 whole.vest)
    "$VESTIGE" shrink -f whole.vest -o other.vest >/dev/null
    "$VESTIGE" info --no-scan other.vest >/dev/null
    damage() {
        case $1 in
        gone) rm long.vest.cache ;;
        empty) : >long.vest.cache ;;
        cut) truncate -s 5000 long.vest.cache ;;
        changed) printf XXXXXXXX | dd of=long.vest.cache bs=1 seek=90000 conv=notrunc status=none ;;
        longer) printf X >>long.vest.cache ;;
        esac
    }
    for how in gone empty cut changed longer; do
        damage $how
        run "$VESTIGE" dump --limit 1 --from $((events / 2)) long.vest
        expect_status 0
        expect_no_err
        expect_equal "$(cat "$out")" "$wanted" "$how"
        expect_file long.vest.cache
    done
    cp other.vest.cache long.vest.cache
    run "$VESTIGE" dump --limit 1 --from $((events / 2)) long.vest
    expect_equal "$(cat "$out")" "$wanted" "with another run's"
fi
# Where it cannot be written, the run is executed each time.
rm -f long.vest.cache long.vest.cache.partial && mkdir long.vest.cache
run "$VESTIGE" info --no-scan long.vest
expect_status 0
expect_no_err
rmdir long.vest.cache

begin is_replayed
run "$VESTIGE" encode -f -t mc2RT -o short.vport short.vest
expect_status 0
run "$VESTIGE" replay --check short.vest short.vport
expect_status 0
expect_out 'all equal$'

begin prints_what_was_recorded
run "$VESTIGE" dump --inputs --kind content,turn short.vest
expect_status 0
expect_out ' content +- \[0x[0-9a-f]{16}\] length 0x[0-9a-f]+ offset 0x[0-9a-f]+ of /.*libc\.so[.0-9]*  '
expect_out ' turn +- digest 0x[0-9a-f]{16}  '
run "$VESTIGE" dump --inputs --kind branch,load,store short.vest
expect_no_out
run "$VESTIGE" info --json short.vest
expect_equal "$(jq -c .features "$out")" '["loads","stores","inputs"]'

# ---- what is not as it was ----

# The program may be built anew, or be deleted: what it had is in the run.
begin keeps_the_program
cp "$(workload host sha)" prog
"$VESTIGE" record -q -f -o file.vest -- ./prog -n 1 >/dev/null || fail 'not recorded'
printf x | dd of=prog bs=1 seek=5000 conv=notrunc status=none
run "$VESTIGE" check --inputs file.vest
expect_status 0
rm prog
run "$VESTIGE" check --inputs file.vest
expect_status 0
run "$VESTIGE" dump --inputs --kind content file.vest
expect_no_line ' of .*/prog'
expect_out ' of /.*/libc\.so'

# A library of the system is another one: here, in a namespace of its own.
begin notices_a_changed_library
if unshare -rm true 2>/dev/null; then
    "$VESTIGE" record -q -f -o file.vest -- ls / >/dev/null || fail 'not recorded'
    library=$("$VESTIGE" dump --inputs --kind content file.vest | sed -n 's/.* of \(.*libselinux[^ ]*\).*/\1/p' | head -n 1)
    cp "$library" changed.so
    printf x | dd of=changed.so bs=1 seek=$(($(stat -c %s changed.so) / 2)) conv=notrunc status=none
    # shellcheck disable=SC2016
    run unshare -rm sh -c 'mount --bind changed.so "$1" && exec "$2" info file.vest' sh "$library" "$VESTIGE"
    expect_status 1
    expect_one_line_err
    expect_err 'libselinux.* is not what it was when the run was recorded: its bytes from [0-9]+ on differ; bring the old file back'
    run "$VESTIGE" check file.vest
    expect_status 0
else
    skip 'no namespaces of its own'
fi

begin keeps_files_if_asked
cp "$(workload host sha)" prog
run "$VESTIGE" record -q -f --self-contained -o file.vest -- ./prog -n 1
expect_status 0
rm prog
run "$VESTIGE" check --inputs file.vest
expect_status 0
run "$VESTIGE" dump --inputs --kind content file.vest
expect_no_line ' of /'

begin notices_memory_that_others_change
program shared
run "$VESTIGE" record -f --inputs -o shared.vest -- ./shared
expect_status 0
expect_err '^vestige: other processes may have changed what it shares with them \(memory kept over a fork\), .*: record with --all$'
expect_out '^126000000$'
run "$VESTIGE" check --inputs shared.vest
expect_status 1
expect_one_line_err
expect_err 'executed again, thread 0 is not where it was after [0-9]+ instructions, at 0x[0-9a-f]+: '
run "$VESTIGE" record -q -f --inputs --all -o shared.vest -- ./shared
expect_status 0
run "$VESTIGE" check --inputs shared.vest
expect_status 1
expect_one_line_err
expect_err 'event [0-9]+ is not made as it was recorded: load of thread 0, pc 0x[0-9a-f]+ \(main at .*\), address 0x[0-9a-f]+; made: load of '

# Of files and segments, and not of what is only read or is nobody else's.
begin says_what_is_shared
program sharing sharing.c
echo text >text
while read -r how which; do
    "$VESTIGE" record -f -o shared.vest -- ./sharing "$how" text 2>"$err" || fail "$how: status $?"
    expect_equal "$("$VESTIGE" info --json --no-scan shared.vest | jq -r .meta.shared)" "$which" "$how"
    told=1
    [ "$which" != null ] || told=0
    expect_equal "$(grep -c 'other processes may have changed' "$err")" $told "$how"
done <<END
file $T/text
segment System V shared memory
fork memory kept over a fork
read null
private null
alone null
unmapped null
END
"$VESTIGE" record -f --all -o shared.vest -- ./sharing file text 2>"$err" || fail "status $?"
expect_equal "$(grep -c 'other processes may have changed' "$err")" 0
expect_equal "$("$VESTIGE" info --json --no-scan shared.vest | jq -r .meta.shared)" "$T/text"
run "$VESTIGE" record --json -f --last 10000 -o shared.vest -- ./sharing late text
expect_equal "$(jq -r .shared "$out")" "$T/text"
for words in 'ls /' 'sort -S 1M text' $(more git); do
    [ "$words" != git ] || words='git --version'
    # shellcheck disable=SC2086 # words
    "$VESTIGE" record -f -o shared.vest -- $words >/dev/null 2>"$err"
    expect_equal "$("$VESTIGE" info --json --no-scan shared.vest | jq -r .meta.shared)" null "$words"
done

begin refuses_what_cannot_be
"$VESTIGE" record -q -f --all -o full.vest -- true || fail 'not recorded'
for words in 'check --inputs full.vest' 'shrink full.vest -o x.vest' 'record --inputs --control-only true' \
    'record --inputs --routine main true' 'record --self-contained --loads true' 'expand short.vest' 'shrink whole.vest' \
    'expand -f short.vest -o short.vest' 'expand short.vest -o whole.vest'; do
    # shellcheck disable=SC2086
    run "$VESTIGE" $words
    expect_status 2
    expect_one_line_err
done
expect_no_file x.vest
run "$VESTIGE" record --inputs -e sim -o x.vest "$(workload rv64 sha)"
expect_status 2
expect_one_line_err
expect_no_file x.vest

begin reads_a_recording_that_was_cut
size=$(stat -c %s short.vest)
head -c $((size - 100)) short.vest >cut.vest
run "$VESTIGE" check --inputs cut.vest
expect_status 1
expect_one_line_err
run "$VESTIGE" salvage -f -o saved.vest cut.vest
expect_status 0
run "$VESTIGE" check --inputs saved.vest
expect_status 0

begin needs_the_cpu
mkdir -p alone/bin && cp "$VESTIGE" alone/bin/vestige
run alone/bin/vestige info short.vest
expect_status 2
expect_one_line_err

finish
