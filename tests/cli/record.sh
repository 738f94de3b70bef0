#!/bin/bash
# SPDX-License-Identifier: MIT
# vestige record: what is recorded, and what it says when it cannot. Under the sanitizers, where Valgrind takes most of the
# time and is the same, `make check` has a sample of the windows and of the ends; make check-long (VESTIGE_LONG=1) has all.
. "$(dirname "$0")/lib.sh"

P=$VESTIGE_SRC/tests/programs
cc=$(sed -n 's/^CC=//p' "$VESTIGE_BUILD/config")
cd "$T" || exit 2

# make_program NAME [OPTION...]
make_program() {
    local name=$1
    shift
    # shellcheck disable=SC2086 # a compiler may have options
    $cc -O1 -g -D_GNU_SOURCE -pthread -I"$VESTIGE_SRC/include" -o "$name" "$P/real_$name.c" "$@" || exit 2
}

make_program steps -static -nostdlib -fno-stack-protector -fno-builtin \
    -fno-tree-loop-distribute-patterns
make_program marks
make_program end
make_program dl -ldl
$cc -shared -fPIC -DFACTOR=3 -DNAME=only_one -o one.so "$P/real_dl_lib.c" || exit 2
$cc -shared -fPIC -DFACTOR=5 -o two.so "$P/real_dl_lib.c" || exit 2

# record OPTION... PROGRAM: to r.vest, with an environment that is always the same; all events, unless an option says which.
record() {
    local mode=(--all)
    case " $* " in
    *' --loads '* | *' --control-only '*) mode=() ;;
    esac
    run timeout 300 env -i PATH="$PATH" "$VESTIGE" record "${mode[@]}" -f -o r.vest "$@"
}

# flow FILE: its events, each with the number of the instruction, gaps counted, in place of its position.
flow() {
    "$VESTIGE" dump "$1" | awk '
        $3 == "map" || $3 == "thread-start" || $3 == "code" {
            if ($NF ~ /^\+/) at += substr($NF, 2)
            next
        }
        $3 == "gap" { for (i = 4; i < NF; i++) if ($i == "instructions") at += $(i + 1); next }
        { n = $NF; sub(/^\+/, "", n); at += n; kind = $3; $1 = $NF = ""; sub(/:.*/, "", $2) }
        kind != "count" && kind != "thread-exit" { print at, $0 }'
}

# in_windows FILE [FLOW]: of that or whole.flow, what lies in these windows.
in_windows() {
    awk 'NR == FNR { start[n] = $1; end[n] = $1 + $2; n++; next }
         { for (i = 0; i < n; i++) if ($1 > start[i] && $1 <= end[i]) { print; break } }' \
        n=0 "$1" "${2-whole.flow}"
}

# Of a flow, what is the same in each run of a program that looks at the clock.
places() {
    cut -d ' ' -f 1-5
}

field() {
    jq ".$1" "$out"
}

record ./steps
mv r.vest whole.vest
flow whole.vest >whole.flow
TOTAL=$("$VESTIGE" info --json --no-scan whole.vest | jq .instructions)

begin skips_and_ends_to_the_instruction
call=$(awk '$3 == "syscall" { print $1; exit }' whole.flow)
repeat=$(awk '{ if (++n[$1] == 100) { print $1; exit } }' whole.flow)
for skip in 1 256 $((call - 1)) "$repeat" $(more 0 2 255 257 50001 $((call - 2)) "$call" $((repeat - 1))); do
    for length in 1 1000; do
        record --skip "$skip" --length $length ./steps
        expect_status 29
        echo "$skip $length" >w
        cmp -s <(in_windows w) <(flow r.vest) || fail "--skip $skip --length $length differs"
    done
done

begin skips_to_the_end
record --json --skip 90003 ./steps
expect_status 29
tail -n 1 "$out" >j && mv j "$out"
expect_equal $(($(field instructions) + $(field skipped))) "$TOTAL"
echo "90003 1000000" >w
cmp -s <(in_windows w) <(flow r.vest) || fail "events differ"

begin keeps_windows_apart
for seed in 1 $(more 2 3); do
    awk -v seed=$seed 'BEGIN {
        srand(seed)
        at = int(rand() * 300)
        for (k = 0; k < 30 && at < 110000; k++) {
            n = 1 + int(exp(rand() * 8)); print at, n; at += n + int(exp(rand() * 7)) - 1
        } }' >w
    record --windows w ./steps
    expect_status 29
    cmp -s <(in_windows w) <(flow r.vest) || fail "windows of seed $seed differ"
    expect_err "^vestige: $(awk '{ n += $2 } END { print n }' w | sed ':a;s/\B[0-9]\{3\}\>/,&/;ta') instructions"
done

begin carries_windows_over_exec
record --json env ./steps
expect_status 29
both=$(tail -n 1 "$out" | jq .instructions)
flow r.vest | places >both.flow
edge=$((both - TOTAL))
for skip in $edge $(more 1000 $((edge - 1)) $((edge + 1)) $((edge + 5000))); do
    record --json --skip $skip env ./steps
    expect_status 29
    tail -n 1 "$out" >j && mv j "$out"
    expect_equal "$(field skipped)" $skip
    expect_equal $(($(field instructions) + $(field skipped))) "$both" "--skip $skip"
    echo "$skip 1000000" >w
    cmp -s <(in_windows w both.flow) <(flow r.vest | places) || fail "--skip $skip differs"
done
record --json --skip $((edge - 500)) --length 1000 env ./steps
expect_equal "$(tail -n 1 "$out" | jq .instructions)" 1000
for at in $edge $(more $((edge - 100)) $((edge + 100))); do
    printf '0 1000\n1000 500\n%d 100\n%d 300\n%d 1K\n' $((edge - 400)) $((at - 100)) $((at + 200)) >w
    record --json --windows w env ./steps
    expect_equal "$(tail -n 1 "$out" | jq .instructions)" 2924
    sed -i s/1K/1024/ w
    cmp -s <(in_windows w both.flow) <(flow r.vest | places) || fail "windows at $at differ"
done

begin settles_gaps_before_exec
record --json --routine sum env ./steps
tail -n 1 "$out" >j && mv j "$out"
expect_equal $(($(field instructions) + $(field skipped))) "$both"

begin adds_up_recorded_and_skipped
for o in '--from sort --to sum' '--routine sum' '--routine sort --routine shuffle' '--from 0x401006' \
    '--no-shared-libs' '--to sort'; do
    # shellcheck disable=SC2086
    record --json $o ./steps
    expect_status 29
    tail -n 1 "$out" >j && mv j "$out"
    expect_equal $(($(field instructions) + $(field skipped))) "$TOTAL" "$o"
    [ -z "$(flow r.vest | sort -u | comm -23 - <(sort -u whole.flow))" ] || fail "$o: other events"
done

begin gives_registers_at_a_gap
record --routine sum ./steps
"$VESTIGE" dump --json --kind gap r.vest >"$out"
expect_equal "$(jq -s 'map(select(.pc != null and (.registers | length) > 30)) | length' "$out")" \
    "$(wc -l <"$out")"
[ "$(wc -l <"$out")" -ge 5 ] || fail "too few gaps"

begin notes_long_names_in_full
name=$(printf 'part%.0s' $(seq 400))
printf 'int %s(int n) { return n + 1; }\nint main(int n, char **v) { return !v + %s(n) - n - 1; }\n' "$name" "$name" >long.c
# shellcheck disable=SC2086
$cc -O0 -o long long.c || exit 2
record --routine "$name" ./long
expect_status 0
expect_equal "$("$VESTIGE" info --no-scan --json r.vest | jq -r .meta.config)" "--all --routine $name"

begin counts_length_from_a_routine
record --json --from sort --length 1000 ./steps
expect_status 29
expect_equal "$(tail -n 1 "$out" | jq .instructions)" 1000

begin records_between_marks
native=$(./marks)
record --marks ./marks
expect_status 0
expect_equal "$(cat "$out")" "$native"
run "$VESTIGE" dump --kind gap r.vest
[ "$(wc -l <"$out")" -ge 3 ] || fail "no gap for each mark"
record --marks ./marks 4
expect_status 0
run "$VESTIGE" check -q --memory r.vest
expect_status 0

begin ignores_marks_unless_asked
record ./marks
expect_status 0
run "$VESTIGE" dump --kind gap r.vest
expect_no_out

begin finds_routines_of_loaded_libraries
record --json --routine twist ./dl ./one.so ./two.so
expect_status 0
expect_equal "$(tail -n 1 "$out" | jq '.instructions % 600')" 0
[ "$(tail -n 1 "$out" | jq .instructions)" -gt 0 ] || fail "nothing recorded"
record --from qsort --length 50 sort "$P/real_steps.c"
expect_status 0

begin forgets_routines_of_unloaded_libraries
record --json --routine twist ./dl ./one.so
each=$(($(tail -n 1 "$out" | jq .instructions) / 6))
record --json --routine only_one ./dl ./one.so ./two.so
expect_err '^the same place$'
expect_equal "$(tail -n 1 "$out" | jq .instructions)" $((3 * each))

begin records_the_interpreter_of_a_script
printf '#!/bin/sh\n:\n' >script
chmod +x script
record --json --no-shared-libs ./script
expect_status 0
[ "$(tail -n 1 "$out" | jq .instructions)" -gt 1000 ] || fail "too little recorded"
[ "$(tail -n 1 "$out" | jq .skipped)" -gt 1000 ] || fail "too much recorded"

begin narrows_routines_to_the_program
record --json --no-shared-libs --routine main --routine twist ./dl ./one.so
expect_status 2
expect_err "no routine 'twist'"
record --json --no-shared-libs --routine main ./dl ./one.so
expect_status 0

begin records_less_when_asked
record --control-only ./steps
run "$VESTIGE" info --json r.vest
expect_equal "$(jq -c .features "$out")" '[]'
record --loads ./steps
run "$VESTIGE" info --json r.vest
expect_equal "$(jq -c .features "$out")" '["loads"]'

begin stops_at_max_size
head -c 400000 "$VESTIGE" >binary
record --max-size 1 gzip -nc binary
expect_status 0
expect_err 'stopped at --max-size'
cmp -s "$out" <(gzip -nc binary) || fail "the program's output differs"

if [ -z "$brief" ]; then
    begin stops_at_max_size_over_exec
    record --json --max-size 1 sh -c 'i=0; while [ $i -lt 12000 ]; do i=$((i+1)); done; exec gzip -nc binary >/dev/null'
    expect_status 0
    expect_equal "$(jq .programs "$out")" 2
    [ "$(jq .bytes "$out")" -lt 4000000 ] || fail "the second program was recorded"
fi

begin tells_in_json
record --json ./steps
tail -n 1 "$out" >j
expect_equal "$(jq -r '[.file, .threads, .exit, .incomplete, .forks, .programs, .valgrind] | @csv' j)" \
    '"r.vest",1,29,,0,1,'

# What the program prints does not mix with it.
begin keeps_json_apart_from_the_programs_output
printf '#!/bin/sh\nprintf "{output}"\n' >prints
chmod +x prints
for engine in record simulate; do
    prog=./prints options='-f -o r.vest'
    [ $engine = record ] || { prog="$(workload rv64 fft) -n 4" && options=; }
    # shellcheck disable=SC2086
    run "$VESTIGE" $engine --json $options $prog
    expect_status 0
    expect_equal "$(jq .exit "$out")" 0
    expect_err '^[{]output[}]|^fft: checksum'
    rm -f stats
    # shellcheck disable=SC2086
    run "$VESTIGE" $engine --stats stats $options $prog
    expect_status 0
    expect_out '^[{]output[}]|^fft: checksum'
    expect_err '^vestige: .* instructions'
    expect_equal "$(jq .exit stats)" 0
    # shellcheck disable=SC2086
    run sh -c "'$VESTIGE' $engine -q --stats /dev/fd/3 $options $prog 3>&1 >/dev/null"
    expect_equal "$(jq .exit "$out")" 0
    expect_no_err
    # shellcheck disable=SC2086
    run "$VESTIGE" $engine --stats stats ${options#-f} $prog
    expect_status 2
    expect_one_line_err
    expect_no_out
done
record --stats none/stats ./steps
expect_status 2
expect_one_line_err
expect_no_file r.vest.partial

begin escapes_the_summary
run "$VESTIGE" record --length 100 -o $'a\e[1mb.vest' ./steps
expect_status 29
expect_err '^vestige: a\\x1b\[1mb\.vest: '

# ---- ends ----------------------------------------------------------------------------------------

begin tells_how_the_program_ended
for how in segv:139 kill:137 _exit:42 thread:43 $(more abort:134 term:143 fpe:136 ill:132 group:44 limits:9 close:8); do
    record ./end "${how%:*}"
    expect_status "${how#*:}"
    expect_out "^${how%:*}\$"
    run "$VESTIGE" check -q --memory r.vest
    expect_status 0
done

# start HOW: a recording of ./end HOW, which runs.
start() {
    _command="record ./end $1"
    "$VESTIGE" record -f -o r.vest --length 1000 ./end "$1" >"$out" 2>"$err" &
    recorder=$!
    await has_bytes 1 "$out"
}

# end_of PROCESS SIGNAL: sends it; $status is that of the recorder.
end_of() {
    kill "$2" "$1"
    wait $recorder
    status=$?
}

begin passes_a_signal_on
start loops
end_of $recorder -TERM
expect_err 'interrupted; what was captured is in the file'
run "$VESTIGE" info --no-scan r.vest
expect_status 0
expect_out 'incomplete +interrupted'
expect_out 'exit +signal 15'

begin kills_a_program_that_does_not_listen
start deaf
for _ in $(seq 300); do # three within a second
    kill -TERM $recorder 2>/dev/null || break
    sleep 0.2
done
wait $recorder
expect_err 'interrupted'
run "$VESTIGE" info --no-scan r.vest
expect_out 'exit +signal 9'

begin seals_when_the_program_is_killed
start loop
end_of "$(pgrep -P $recorder)" -KILL
expect_status 137
expect_err 'the program was killed'
run "$VESTIGE" check -q r.vest
expect_status 0

begin lets_the_program_live_without_recorder
mkfifo go
"$VESTIGE" record -o gone.vest sh -c 'echo started; read -r _ <go; echo survived >survivor' >"$out" 2>"$err" &
recorder=$!
await has_bytes 1 "$out"
kill -9 $recorder
wait $recorder 2>/dev/null
timeout 300 sh -c 'echo >go' || fail "the program does not listen"
await has_bytes 1 survivor
expect_no_file gone.vest
run "$VESTIGE" info --no-scan gone.vest.partial
expect_status 1

begin loses_nothing_when_it_is_slow
run timeout 300 nice -n 19 "$VESTIGE" record --all -f -o r.vest ./end close
run "$VESTIGE" check -q --memory r.vest
expect_status 0

# ---- errors --------------------------------------------------------------------------------------

printf '\177ELF\1\1\1\0\0\0\0\0\0\0\0\0\2\0\3\0\1\0\0\0%0100d' 0 >elf32
printf '#!/no/such/interpreter\n' >badscript
echo plain >plain
chmod +x elf32 badscript plain
echo text >text
echo '1 x' >w1
printf '5 5\n6 6\n' >w2
: >w3
echo '18446744073709551616 1' >w4
echo '-1 5' >w5
printf '5 5\n10 18446744073709551615\n' >w6
printf '# %0300d\n%300s1 2 3\n' 0 '' >w7
mkdir folder

# refuse PATTERN OPTION...: one line, status 2, no file
refuse() {
    local pattern=$1
    shift
    run timeout 300 "$VESTIGE" record -o no.vest "$@"
    expect_status 2
    expect_one_line_err
    expect_err "$pattern"
    expect_no_out
    expect_no_file no.vest
    expect_no_file no.vest.partial
}

begin refuses_what_is_no_program
refuse 'No such file' ./none
refuse 'no such program in PATH' none-such-program
refuse 'not executable' ./text
refuse '32-bit' ./elf32
refuse 'interpreter' ./badscript
refuse 'neither an ELF program nor a script' ./plain
refuse 'not a file' ./folder
refuse 'not an x86-64 program' -e valgrind "$(workload rv64 sort)"

# Before the program does anything.
begin refuses_routines_that_cannot_be_there
cat >effect.c <<'END'
#include <stdlib.h>
#include <stdio.h>
static int less(const void *a, const void *b) { return *(const char *)a - *(const char *)b; }
int main(void)
{
    char text[] = "ba";
    FILE *f = fopen("effect", "w");
    qsort(text, 2, 1, less);
    fputs(text, f);
    return fclose(f);
}
END
$cc -O1 -o effect.dynamic effect.c && $cc -O1 -static -o effect.static effect.c && riscv64-linux-gnu-gcc -O1 -static -o effect.rv64 effect.c || exit 2
for name in dynamic rv64; do
    for option in --from --to; do
        refuse "no routine 'nosuch'" $option nosuch ./effect.$name
        expect_no_file effect
    done
done
refuse "no routine 'nosuch'" --from main --routine nosuch ./effect.dynamic
refuse "no routine 'qsort'" --no-shared-libs --routine qsort ./effect.dynamic
expect_no_file effect
for name in dynamic static; do
    record --from qsort ./effect.$name
    expect_status 0
    expect_equal "$(cat effect)" ab
done
rm -f effect
refuse "no routine 'nosuch'" --from nosuch sh -c 'echo >effect' # which could execute what has it
expect_file effect

begin refuses_bad_regions
refuse 'line 1: not two numbers' --windows w1 ./steps
refuse 'line 2: the window starts before' --windows w2 ./steps
refuse 'no windows' --windows w3 ./steps
refuse 'line 1: not two numbers' --windows w4 ./steps
refuse 'line 1: not two numbers' --windows w5 ./steps
refuse 'line 2: the window.s end does not fit' --windows w6 ./steps
refuse 'line 2: not two numbers' --windows w7 ./steps
refuse 'folder: cannot read it: Is a directory' --windows folder ./steps
refuse 'No such file' --windows none ./steps
refuse "no routine 'nosuch'" --routine nosuch true
refuse "no routine 'nosuch'" --from nosuch true
refuse 'not an address' --from 0xzz ./steps
refuse 'takes a name' --routine 0x401000 ./steps
refuse 'excludes' --skip 3 --marks ./steps
refuse 'excludes' --skip 3 --from sort ./steps
refuse 'excludes' --windows w2 --skip 1 ./steps
refuse 'no engine' --engine none ./steps

begin refuses_a_bad_output
: >exists.vest
run "$VESTIGE" record -o exists.vest ./steps
expect_status 2
expect_one_line_err
expect_err 'exists.vest: exists; -f replaces it'
[ ! -s exists.vest ] || fail "it was written to"
run "$VESTIGE" record -o none/r.vest ./steps
expect_status 2
expect_one_line_err

begin says_what_is_missing
run env PATH=/nonexistent "$VESTIGE" record -o no.vest ./steps
expect_status 2
expect_err 'Valgrind is not installed'
run env VESTIGE_VALGRIND=/nonexistent "$VESTIGE" record -o no.vest ./steps
expect_status 2
expect_err 'tool is not at /nonexistent'
expect_no_file no.vest

# An instruction that the processor knows and Valgrind does not, one that none knows, and a thread that Valgrind cannot make.
begin tells_when_valgrind_gives_up
cat >odd.c <<'END'
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
static void on(int n) { (void)n; _exit(6); }
int main(int argc, char **argv)
{
    char packed[10];
    puts(argv[argc - 1]);
    fflush(stdout);
    if (argc > 2)
        signal(SIGILL, on);
    if (!strcmp(argv[1], "packed"))
        __asm__ volatile("fld1; fbstp %0" : "=m"(packed));
    if (!strcmp(argv[1], "none"))
        __asm__ volatile(".byte 0x0f, 0x04");
    if (!strcmp(argv[1], "trap"))
        __asm__ volatile("ud2");
    if (!strcmp(argv[1], "clone") && syscall(SYS_clone, CLONE_VM | CLONE_FILES, 0, 0, 0, 0) == 0)
        _exit(0);
    return 5;
}
END
$cc -O1 -o odd odd.c || fail "no compiler"
for how in packed:fbstp 'clone:Valgrind does not support'; do
    record ./odd "${how%%:*}"
    expect_status 2
    expect_out "^${how%%:*}\$"
    expect_one_line_err
    expect_err "^vestige record: ./odd: Valgrind gave up: .*${how#*:}.*; what ran until then is in r.vest\$"
    run "$VESTIGE" check -q --flow r.vest
    expect_status 0
    expect_equal "$("$VESTIGE" info --no-scan --json r.vest | jq -r '[.meta.exit, (.meta.incomplete | .[:16])] | @csv')" \
        ',"Valgrind gave up"'
done
for how in none trap; do
    record ./odd $how
    expect_status 132
    expect_err 'signal 4'
done
record ./odd packed handled # is the program's own business
expect_status 6
expect_equal "$(grep -vc "no debug information" "$err")" 2 "lines"

begin reports_a_full_disk
run sh -c 'ulimit -f 40000; exec timeout 300 "$0" record --all -o no.vest ./end loop' "$VESTIGE"
expect_status 2
expect_one_line_err
expect_err "File too large; [0-9,]+ events are saved: 'vestige salvage no.vest.partial'\$"
expect_no_file no.vest

finish
