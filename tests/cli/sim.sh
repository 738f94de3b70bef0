#!/bin/bash
# SPDX-License-Identifier: MIT
# The simulated platform as a user meets it: options, regions, ends of programs, bad input, signals.
. "$(dirname "$0")/lib.sh"

fft=$(workload rv64 fft)
ends=$VESTIGE_BUILD/test/target/ends
export SOURCE_DATE_EPOCH=1000000000

# ---- choosing -----------------------------------------------------------------------------------

begin chooses_the_engine_by_the_program
run "$VESTIGE" record -o "$T/run.vest" -- "$fft" -n 8
expect_status 0
expect_equal "$("$VESTIGE" info --json --no-scan "$T/run.vest" | jq -r '.meta.engine + " " + .meta.isa')" "sim rv64"
expect_whole fft

begin refuses_a_program_for_the_other_engine
run "$VESTIGE" record -e sim -o "$T/none.vest" -- /bin/true
expect_status 2
expect_one_line_err
run "$VESTIGE" record -e valgrind -o "$T/none.vest" -- "$fft" -n 8
expect_status 2
expect_one_line_err
run "$VESTIGE" record --cores 2 -o "$T/none.vest" -- /bin/true
expect_status 2
expect_err 'are for the engine sim$'
run "$VESTIGE" record -e gem5 -o "$T/none.vest" -- /bin/true
expect_status 2
expect_err "no engine 'gem5'; there are: valgrind, sim"
expect_no_file "$T/none.vest"

begin refuses_what_is_no_static_rv64_program
echo 'int main(void) { return 0; }' >"$T/main.c"
riscv64-linux-gnu-gcc -o "$T/dynamic" "$T/main.c" || fail "no compiler"
head -c 200 "$fft" >"$T/cut"
chmod +x "$T/cut"
for program in "$T/dynamic" "$T/cut" "$T/main.c" "$T" "$T/absent"; do
    run "$VESTIGE" simulate -- "$program"
    expect_status 2
    expect_one_line_err
    expect_no_out
done
run "$VESTIGE" simulate -- "$T/dynamic"
expect_err 'static'

begin runs_position_independent_programs
cat >"$T/pie.c" <<'END'
int number = 7;
__attribute__((noinline)) int twice(void)
{
    return 2 * number;
}
void _start(void)
{
    register long result __asm__("a0") = twice();
    register long call __asm__("a7") = 93;
    __asm__ volatile("ecall" : : "r"(result), "r"(call));
}
END
riscv64-linux-gnu-gcc -O1 -fpie -nostdlib -static-pie -Wl,--no-dynamic-linker -o "$T/pie" "$T/pie.c" || fail "no compiler"
run "$VESTIGE" record -f -o "$T/run.vest" --from twice --length 3 "$T/pie"
expect_status 14
run "$VESTIGE" check --flow "$T/run.vest"
expect_out 'compared 3 instructions'
run "$VESTIGE" info "$T/run.vest"
expect_out ' twice  \(pie\)$'

begin lets_cores_meet_a_page_at_once
cat >"$T/pages.c" <<'END'
#include <pthread.h>
#include <stdio.h>
static volatile char page[200][4096];
static pthread_barrier_t all;
static void *touch(void *at)
{
    pthread_barrier_wait(&all);
    for (int i = 0; i < 200; i++)
        page[i][(long)at] = 1;
    return at;
}
int main(void)
{
    pthread_t threads[4];
    pthread_barrier_init(&all, 0, 4);
    for (long i = 0; i < 4; i++)
        pthread_create(&threads[i], 0, touch, (void *)i);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
    puts("touched");
}
END
riscv64-linux-gnu-gcc -O1 -static -pthread -o "$T/pages" "$T/pages.c" || fail "no compiler"
for cores in 2 3 4; do
    for mode in '' --timed '--seed 5'; do
        # shellcheck disable=SC2086 # none, or two words
        run "$VESTIGE" simulate --cores $cores $mode "$T/pages"
        expect_status 0
        expect_out '^touched$'
    done
done

# ---- configuration ------------------------------------------------------------------------------

begin lists_parameters_that_can_be_read_back
run "$VESTIGE" simulate --list --preset tewar --set width=2
expect_status 0
cp "$out" "$T/platform"
run "$VESTIGE" simulate --list --platform "$T/platform"
cmp -s "$out" "$T/platform" || fail "another platform"
run "$VESTIGE" simulate --platform "$T/platform" --timed --json -- "$fft" -n 8
expect_status 0
sed -n '/^{/,$p' "$out" >"$T/a"
run "$VESTIGE" simulate --preset tewar --set width=2 --timed --json -- "$fft" -n 8
expect_equal "$(sed -n '/^{/,$p' "$out" | jq .cycles)" "$(jq .cycles "$T/a")" cycles

begin refuses_bad_platforms
echo 'l1d_ways = 3' >"$T/bad"
for args in "--preset cs64" "--set width=9" "--set width" "--set wdith=1" "--platform $T/none" "--platform $T/bad" \
    "--cores 0" "--cores 65" "--set line=24"; do
    # shellcheck disable=SC2086
    run "$VESTIGE" simulate --timed $args -- "$fft" -n 8
    expect_status 2
    expect_one_line_err
    expect_no_out
done

begin gets_faster_with_larger_caches
small=$("$VESTIGE" simulate --json --timed --set l1d_size=1K --set l1i_size=1K -- "$fft" -n 10 2>&1 | sed -n '/^{/,$p' | jq .cycles)
large=$("$VESTIGE" simulate --json --timed --set l1d_size=64K --set l1i_size=64K -- "$fft" -n 10 2>&1 | sed -n '/^{/,$p' | jq .cycles)
[ "$large" -lt "$small" ] || fail "$large cycles with large caches, $small with small ones"

begin never_misses_more_in_a_larger_fully_associative_cache
last=
for size in 512 1024 2048 4096 8192 16384; do
    misses=$("$VESTIGE" simulate --json --timed --set l1d_size=$size --set l1d_ways=$((size / 32)) -- "$fft" -n 8 2>&1 |
        sed -n '/^{/,$p' | jq '.cores[0] | .load_misses + .store_misses')
    [ -z "$last" ] || [ "$misses" -le "$last" ] || fail "$misses misses with $size bytes, $last with half of it"
    last=$misses
done

# ---- threads ------------------------------------------------------------------------------------

begin runs_more_threads_than_cores
for cores in 1 3; do
    for mode in "" --timed; do
        # shellcheck disable=SC2086
        run "$VESTIGE" record -f -o "$T/run.vest" --cores $cores $mode --set slice=5000 -- "$fft" -n 8 -p 8
        expect_status 0
        expect_out '^fft: checksum 0deaa6aa676fd8a1$'
        expect_whole "fft 8 on $cores $mode"
    done
done

begin explores_interleavings_by_seed
for mode in "" --timed; do
    for seed in 1 1 2; do
        # shellcheck disable=SC2086
        "$VESTIGE" record -f -o "$T/$seed.vest" --cores 4 $mode --seed $seed -- "$fft" -n 8 -p 4 >"$out" 2>"$err" ||
            fail "status $?"
        grep -q '^fft: checksum 0deaa6aa676fd8a1$' "$out" || fail "another result"
        [ ! -e "$T/last.vest" ] || [ $seed != 1 ] || cmp "$T/1.vest" "$T/last.vest" || fail "seed 1 twice differs"
        cp "$T/1.vest" "$T/last.vest"
    done
    cmp -s "$T/1.vest" "$T/2.vest" && fail "seeds 1 and 2 give the same run"
    rm -f "$T/last.vest"
done

begin uses_many_cores
run "$VESTIGE" simulate --timed --check-coherence --cores 64 -- "$fft" -n 10 -p 64
expect_status 0
expect_out '^fft: checksum '
expect_err '64 cores'

# ---- regions ------------------------------------------------------------------------------------

begin records_exactly_the_windows
printf '1000 500\n100000 7 # few\n' >"$T/windows"
for mode in "" --timed; do
    # shellcheck disable=SC2086
    run "$VESTIGE" record -f -o "$T/run.vest" --cores 2 $mode --windows "$T/windows" -- "$fft" -n 8 -p 2
    expect_status 0
    run "$VESTIGE" check --flow "$T/run.vest"
    expect_out 'compared 507 instructions'
done

begin records_between_marks
cat >"$T/marks.c" <<'END'
#include "vestige/mark.h"
int main(void)
{
    volatile int x = 0;
    for (int i = 0; i < 1000; i++)
        x++;
    vestige_start();
    for (int i = 0; i < 100; i++)
        x++;
    vestige_stop();
    return 0;
}
END
riscv64-linux-gnu-gcc -O1 -static -I"$VESTIGE_SRC/include" -o "$T/marks" "$T/marks.c" || fail "no compiler"
run "$VESTIGE" record -f -o "$T/run.vest" --marks "$T/marks"
expect_status 0
run "$VESTIGE" check --flow "$T/run.vest"
expect_out '\(100 branches\): all equal'

begin records_from_one_routine_to_another
run "$VESTIGE" record -f -o "$T/run.vest" --from main --to wl_run -- "$fft" -n 8
expect_status 0
expect_whole 'fft from main'
run "$VESTIGE" record -f -o "$T/none.vest" --from no_such_routine -- "$fft" -n 8
expect_status 2
expect_err "no routine 'no_such_routine'"
run "$VESTIGE" record -f -o "$T/none.vest" --routine main -- "$fft" -n 8
expect_status 2
expect_one_line_err
expect_no_file "$T/none.vest"

# ---- statistics ---------------------------------------------------------------------------------

begin shows_statistics
run "$VESTIGE" record -f -o "$T/run.vest" --cores 2 --timed -- "$fft" -n 8 -p 2
expect_err 'cycles on 2 cores, [0-9.]+ instructions per cycle$'
run "$VESTIGE" info "$T/run.vest"
expect_status 0
expect_out '^Cores'
expect_equal "$("$VESTIGE" info --json "$T/run.vest" | jq '[.cores[].instructions] | add')" \
    "$("$VESTIGE" info --json "$T/run.vest" | jq .instructions)" "instructions of the cores"
run "$VESTIGE" simulate --cores 2 --timed --json -- "$fft" -n 8 -p 2
sed -n '/^{/,$p' "$out" | jq -c .cores >"$T/a"
"$VESTIGE" info --json "$T/run.vest" | jq -c .cores >"$T/b"
cmp -s "$T/a" "$T/b" || fail "simulated and recorded runs differ"

# ---- what comes from outside --------------------------------------------------------------------

target=$VESTIGE_BUILD/test/target

begin records_interrupted_calls
for args in "" "--timed" "--timed --cores 2"; do
    # shellcheck disable=SC2086
    run "$VESTIGE" record -f -o "$T/run.vest" $args -- "$target/interrupt"
    expect_status 0
    expect_equal "$(tr '\n' ',' <"$out")" 'sleep: -1 1,read: 1,at once: 2 inner first,'
    expect_whole "interrupt $args"
    "$VESTIGE" dump --json "$T/run.vest" >"$T/events"
    expect_equal "$(jq -r 'select(.kind == "syscall" and .number == 115 and .thread == 0) | .result' "$T/events" | head -n 1)" \
        0xfffffffffffffffc "result of the sleep"
    expect_equal "$(jq -r 'select(.kind == "syscall" and .result == "0xfffffffffffffe00") |
        (.registers.pc | sub("0x0*"; "0x")) == .pc' "$T/events")" true "where the read goes on"
    # two handlers at once: the second frame lies below the first
    expect_equal "$(jq -rs '[.[] | select(.kind == "exception")] | .[-2:] |
        (.[0].registers["2"] > .[1].registers["2"])' "$T/events")" true "stack pointers"
done

begin records_code_that_changes
for args in "" "--cores 2" "--timed --cores 2" "--timed --cores 4"; do
    # shellcheck disable=SC2086
    run "$VESTIGE" record -f -o "$T/run.vest" $args -- "$target/jit"
    expect_status 0
    expect_out '^done$'
    expect_whole "jit $args"
    run "$VESTIGE" info --json "$T/run.vest"
    [ "$(jq .counts.kinds.code "$out")" -ge 10 ] || fail "code did not change"
done

begin does_not_let_time_wait_for_input
cat >"$T/poll.c" <<'END'
#include <poll.h>
int main(void)
{
    struct pollfd fd = {.events = POLLIN};
    return poll(&fd, 1, 100);
}
END
riscv64-linux-gnu-gcc -O1 -static -o "$T/poll" "$T/poll.c" || fail "no compiler"
mkfifo "$T/input"
run timeout 300 "$VESTIGE" simulate -- "$T/poll" <>"$T/input" # open, and nothing comes
expect_status 0

# ---- ends ---------------------------------------------------------------------------------------

# ending HOW STATUS
ending() {
    begin "ends_with_$1"
    run "$VESTIGE" simulate --cores 2 -- "$ends" "$1" </dev/null
    expect_status "$2"
    run "$VESTIGE" record -f --cores 2 --timed -o "$T/run.vest" -- "$ends" "$1" </dev/null
    expect_status "$2"
    expect_whole "$1"
}
ending status $((342 % 256))
ending abort 134
ending fault 139
ending blocked 139
ending ignored 139
ending illegal 132
ending misaligned 135
ending last 9
ending other 7
ending killed 137

begin says_which_signal_ended_the_program
run "$VESTIGE" record -f -o "$T/run.vest" -- "$ends" fault
expect_err 'signal 11 \(SIGSEGV\)'
run "$VESTIGE" info --no-scan "$T/run.vest"
expect_out 'exit +signal 11 \(SIGSEGV\)'

begin names_unsupported_calls
run "$VESTIGE" simulate -- "$ends" fork
expect_status 3
expect_err 'system call clone \(220\) at 0x[0-9a-f]+ is not supported; it failed with ENOSYS'

# What is said of it is the same of a run, a trace and neither.
begin stops_when_all_threads_wait
run timeout 300 "$VESTIGE" simulate -- "$ends" wait
expect_status 1
why=$(sed -n 's/^vestige: \(every thread waits for another, thread 0 at 0x[0-9a-f]* in [a-z_]*: stopped\)$/\1/p' "$err")
[ -n "$why" ] || fail "no reason in: $(cat "$err")"
! grep -q SIGKILL "$err" || fail "no signal ended it"
run timeout 300 "$VESTIGE" record -f -o "$T/run.vest" -- "$ends" wait
expect_status 1
expect_equal "$(grep -c "^vestige: $why; what was captured is in the file$" "$err")" 1
! grep -q SIGKILL "$err" || fail "no signal ended it"
expect_whole waiting
expect_equal "$("$VESTIGE" info --json --no-scan "$T/run.vest" | jq -r '.meta | [.incomplete, .exit] | @csv')" "\"$why\","
run timeout 300 "$VESTIGE" record -f --timed --json -o "$T/run.vest" -- "$ends" wait
expect_equal "$(sed -n '/^{/,$p' "$out" | jq -r .exit)" 1
run timeout 300 "$VESTIGE" tmTrace --mTrace "$T/wait.gz" --mcf -- "$ends" wait
expect_status 1
expect_err 'every thread waits .*; what was captured is in the file$'

cat >"$T/memory.c" <<'END'
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
/* Reserves gigabytes, touches a few megabytes of them (argv[1]; or lets read() do it), and gives
 * them back if it is to. */
int main(int argc, char **argv)
{
    size_t reserved = (size_t)60 << 30, step = (size_t)1 << 20, count = (size_t)atoi(argv[1]);
    char *a = mmap(NULL, reserved, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    char *b = mmap(NULL, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (a == MAP_FAILED || b == MAP_FAILED || mprotect(b, reserved, PROT_READ | PROT_WRITE))
        return 3;
    if (argc > 2 && !strcmp(argv[2], "read"))
        return read(open(argv[3], O_RDONLY), a, count * step) < 0;
    for (size_t i = 0; i < count; i++) {
        memset(b + (reserved / count & -step) * i, 1, step);
        if (argc > 2 && madvise(b + (reserved / count & -step) * i, step, MADV_DONTNEED))
            return 4;
    }
    if (munmap(a, reserved) || munmap(b, reserved))
        return 5;
    return 0;
}
END
riscv64-linux-gnu-gcc -O1 -static -o "$T/memory" "$T/memory.c" || fail "no compiler"

# What is reserved costs nothing, with Linux as here.
begin counts_memory_that_is_touched
for args in "" "--timed" "--check-coherence"; do
    # shellcheck disable=SC2086
    run timeout 300 "$VESTIGE" simulate --set memory=12 $args -- "$T/memory" 8
    expect_status 0
done
run timeout 300 "$VESTIGE" record -f --set memory=12 -o "$T/run.vest" -- "$T/memory" 8
expect_status 0
expect_whole memory
run timeout 300 "$VESTIGE" check --memory --flow "$T/run.vest"
expect_status 0
run timeout 300 "$VESTIGE" encode -f -t mc2RT -o "$T/run.vport" "$T/run.vest"
run timeout 300 "$VESTIGE" replay --check "$T/run.vest" "$T/run.vport"
expect_status 0
run timeout 300 "$VESTIGE" simulate --set memory=12 -- "$T/memory" 64 back
expect_status 0

# The program puts a page behind the last that is given out, which makes one area of both.
begin maps_nothing_where_something_is
cat >"$T/move.c" <<'END'
#define _GNU_SOURCE
#include <stddef.h>
#include <sys/mman.h>
int main(void)
{
    size_t n = (size_t)60 << 30, at = (size_t)5 << 30;
    char *a = mmap(NULL, n, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (a == MAP_FAILED)
        return 1;
    a[at] = 7;
    if (mmap(a + n, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != a + n)
        return 2;
    char *b = mremap(a, n, 2 * n, MREMAP_MAYMOVE);
    return b == MAP_FAILED || b + 2 * n > a ? 3 : b[at] != 7;
}
END
riscv64-linux-gnu-gcc -O1 -static -o "$T/move" "$T/move.c" || fail "no compiler"
run timeout 300 "$VESTIGE" simulate -- "$T/move"
expect_status 0

begin names_the_limit_of_memory
limit='the program touched more than 12 MiB of memory, the last at 0x[0-9a-f]+ by thread 0 at 0x[0-9a-f]+'
more=' on core 0: stopped; --set memory=MIB gives it more'
for args in "" "--timed"; do
    # shellcheck disable=SC2086
    run timeout 300 "$VESTIGE" simulate --set memory=12 $args -- "$T/memory" 16
    expect_status 2
    expect_err "^vestige: $limit$more$"
    # shellcheck disable=SC2086
    run timeout 300 "$VESTIGE" record -f --set memory=12 $args -o "$T/run.vest" -- "$T/memory" 16
    expect_status 2
    expect_err "^vestige: $limit$more; what was captured is in the file$"
    expect_whole "memory $args"
    run timeout 300 "$VESTIGE" check --memory --flow "$T/run.vest"
    expect_status 0
done
truncate -s 16M "$T/zeros"
run timeout 300 "$VESTIGE" simulate --set memory=12 -- "$T/memory" 16 read "$T/zeros"
expect_status 2
expect_err "^vestige: $limit in read$more$"
cat >"$T/large.s" <<'END'
        .globl _start
_start: j _start
        .data
        .fill 2 << 20, 1, 1
END
riscv64-linux-gnu-gcc -nostdlib -static -o "$T/large" "$T/large.s" || fail "no assembler"
run "$VESTIGE" simulate --set memory=1 -- "$T/large"
expect_status 2
expect_one_line_err
expect_err 'takes more than the 1 MiB of memory that it may touch; --set memory=MIB gives it more$'

begin passes_arguments_environment_and_input
cat >"$T/echo.c" <<'END'
#include <stdio.h>
extern char **environ;
int main(int argc, char **argv)
{
    int c;
    for (int i = 1; i < argc; i++)
        printf("[%s]", argv[i]);
    for (char **e = environ; *e; e++)
        printf("<%s>", *e);
    while ((c = getchar()) != EOF)
        putchar(c);
    return 0;
}
END
riscv64-linux-gnu-gcc -O1 -static -o "$T/echo" "$T/echo.c" || fail "no compiler"
run bash -c "echo hello | COLOUR=red '$VESTIGE' simulate --env COLOUR --env 'A=b c' -- '$T/echo' -x '' --cores"
expect_status 0
expect_equal "$(cat "$out")" '[-x][][--cores]<COLOUR=red><A=b c>hello'

begin lets_a_program_take_another_path_for_its_own
mkdir "$T/bin" "$T/a_folder_far_away"
cp "$(workload rv64 fft)" "$T/bin/program"
cp "$(workload rv64 fft)" "$T/a_folder_far_away/fft"
(cd "$T/bin" && "$VESTIGE" record -q -f -o "$T/there.vest" -- ./program -n 4) >"$out" || fail "not recorded there"
for program in "$T/bin/program" "$T/a_folder_far_away/fft"; do
    run "$VESTIGE" record -q -f -o "$T/run.vest" --as "$T/bin/program" -- "$program" -n 4
    expect_status 0
    run "$VESTIGE" diff "$T/there.vest" "$T/run.vest"
    expect_status 0
    expect_out 'all equal$'
done
run "$VESTIGE" record -q -f -o "$T/run.vest" -- "$program" -n 4
run "$VESTIGE" diff "$T/there.vest" "$T/run.vest"
expect_status 1

begin is_interrupted
rm -f "$T/run.vest"
"$VESTIGE" record -o "$T/run.vest" -- "$fft" -n 24 >"$out" 2>"$err" &
recorder=$!
await has_bytes 100000 "$T/run.vest.partial"
kill -TERM $recorder
wait $recorder
status=$?
expect_status 143
run "$VESTIGE" info --no-scan "$T/run.vest"
expect_status 0

finish
