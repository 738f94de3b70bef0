#!/bin/bash
# SPDX-License-Identifier: MIT
# Native programs run again from their port streams: workloads, signals, exec, libraries and code that come and go,
# threads, and stretches with gaps, all against their runs and their output; and what is not there or not the same. With
# VESTIGE_LONG=1 every workload on 1, 4 and 8 threads, and all techniques that can.
. "$(dirname "$0")/lib.sh"

P=$VESTIGE_SRC/tests/programs
cc=$(sed -n 's/^CC=//p' "$VESTIGE_BUILD/config")
cd "$T" || exit 2

# record_run OPTION... -- PROGRAM...: to run.vest and wanted, whatever the program's status.
record_run() {
    "$VESTIGE" record -q -f -o run.vest "$@" >wanted 2>"$err" </dev/null
    expect_file run.vest
}

# replays TECHNIQUE...: run.vest, with everything equal and what it wrote.
replays() {
    local technique size
    size=$(stat -c %s wanted)
    for technique; do
        run "$VESTIGE" encode -f -t "$technique" -o run.vport run.vest
        expect_status 0
        run "$VESTIGE" replay --print-output --check run.vest run.vport
        expect_status 0
        expect_no_err
        head -c "$size" "$out" | cmp -s - wanted || fail "$technique: other output"
        expect_out '^compared [1-9][0-9,]* times all registers, [1-9][0-9,]* accesses, [0-9,]* bytes of memory and [0-9,]* bytes of output: all equal$'
    done
}

# program NAME: makes ./NAME from real_NAME.c.
program() {
    # shellcheck disable=SC2086 # a compiler may have options
    $cc -O1 -g -D_GNU_SOURCE -pthread -o "$1" "$P/real_$1.c" -ldl || exit 2
}

# workload_replays NAME THREADS CHECKSUM ARGUMENT...
techniques=(mlvCF_e mc2RT mc2RT_k)
workload_replays() {
    begin "replays_$1_$2"
    record_run -- "$(workload host "$1")" "${@:4}"
    replays "${techniques[@]}"
}

if [ -n "$long" ]; then
    each_workload all '1 4 8' workload_replays
    mapfile -t techniques < <("$VESTIGE" techniques --json | jq -r '.[] | select(.name | test("^m(lv|c2RT)")) | .name')
    [ ${#techniques[@]} -ge 10 ] || exit 2
    workload_replays racy 5 - -n 20 -p 5
    techniques=(mlvCF_e mc2RT)
else
    techniques=(mlvCF_e mlvNX_b mlvNX_zstd)
    workload_replays sha 1 - -n 1
    techniques=(mc2RT)
    workload_replays sort 1 - -n 5
    techniques=(mlvCF_e mc2RT)
    workload_replays radix 4 - -n 1000 -p 4
    workload_replays signals 1 - -n 100
fi

begin replays_signals
program signals
record_run -- ./signals
replays mlvCF_e mc2RT

begin replays_code_that_is_made_and_other_programs
program jit
record_run -- env sh -c 'exec ./jit'
replays mlvCF_e mc2RT

begin replays_code_that_other_threads_make
program made
record_run -- ./made
replays mlvCF_e mc2RT

begin replays_libraries_at_the_same_place
program dl
$cc -shared -fPIC -DFACTOR=3 -o one.so "$P/real_dl_lib.c" || exit 2
$cc -shared -fPIC -DFACTOR=5 -o two.so "$P/real_dl_lib.c" || exit 2
record_run -- ./dl ./one.so ./two.so
replays mlvCF_e mc2RT
$cc -shared -fPIC -DFACTOR=7 -o two.so "$P/real_dl_lib.c" || exit 2
run "$VESTIGE" replay run.vport # in which two.so is another one
expect_status 1
expect_err '/two.so: is none of the images of the stream'
expect_err 'no code is known there'
run "$VESTIGE" replay --code run.vest --check run.vest run.vport
expect_status 0
expect_no_err

begin replays_a_fault_in_a_repeated_instruction
cat >fill.c <<'EOF'
#include <sys/mman.h>
int main(void)
{
    char *p = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(p + 4096, 4096);
    char *to = p + 4000;
    unsigned long count = 200;
    __asm__ volatile("rep stosb" : "+D"(to), "+c"(count) : "a"(7) : "memory");
    return 0;
}
EOF
$cc -O1 -o fill fill.c || exit 2
record_run -- ./fill
replays mlvCF_e mc2RT

begin replays_stretches
printf '20000 3000\n60000 9000\n' >windows
record_run --windows windows -- "$(workload host radix)" -n 300 -p 3
: >wanted # it wrote nothing meanwhile
replays mlvCF_e mc2RT

begin replays_a_beginning_without_what_came_after_it
cat >mapped.c <<'EOF'
#include <sys/mman.h>
#include <unistd.h>
int main(void)
{
    volatile char *p = mmap(0, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 1000000; i++)
        p[i % 65536] = i;
    munmap((void *)p, 65536);
    return execl("/bin/true", "true", NULL);
}
EOF
$cc -O1 -o mapped mapped.c || exit 2
record_run --length 1M -- ./mapped
replays mlvCF_e mc2RT
expect_out ', [1-9][0-9,]* bytes of memory'

begin prints_registers
run "$VESTIGE" replay --until 50000 --registers --json run.vport
expect_status 0
expect_equal "$(jq -r '.cores[0].registers | [.rsp, .xmm0, .ymm15h | length] | join(" ")' "$out")" '18 34 34'
expect_equal "$(jq '.cores[0] | has("x")' "$out")" false
run "$VESTIGE" replay --until 50000 --registers run.vport
expect_out '^  rax  [0-9a-f]{16}  rbx '
expect_out '^  xmm0 +[0-9a-f]{32}  xmm1 '

begin notices_what_is_not_the_same
record_run -- "$(workload host sha)" -n 1
"$VESTIGE" encode -f -t mlvCF_e -o one.vport run.vest >"$out" 2>&1
record_run -- "$(workload host sha)" -n 1 -s 2
run "$VESTIGE" replay --check run.vest one.vport
expect_status 1
expect_one_line_err
expect_err 'core 0, pc 0x'
cp one.vport bit.vport
at=$(($(stat -c %s bit.vport) / 2))
byte=$(od -An -tu1 -j $at -N 1 bit.vport)
# shellcheck disable=SC2059
printf "\\x$(printf %02x $((byte ^ 4)))" | dd of=bit.vport bs=1 seek=$at conv=notrunc 2>/dev/null
run "$VESTIGE" replay bit.vport
expect_status 1
expect_one_line_err

begin notices_a_program_that_was_built_again
echo 'int main(void) { return 3; }' >main.c
$cc -Wl,--build-id -o main main.c || exit 2
record_run -- ./main
"$VESTIGE" encode -f -t mc2RT -o run.vport run.vest >"$out" 2>&1
echo 'int f(int x) { return x; } int main(void) { return f(3); }' >main.c
$cc -Wl,--build-id -o main main.c || exit 2
run "$VESTIGE" replay run.vport
expect_status 1
expect_one_line_err
expect_err '/main: is none of the images of the stream: another program, or built again'
run "$VESTIGE" replay --code run.vest --check run.vest run.vport
expect_status 0
expect_no_err
run "$VESTIGE" replay --check run.vest run.vest # which has its code
expect_status 0
expect_err '/main: is none of the images'
rm main
run "$VESTIGE" replay run.vport
expect_status 2
expect_one_line_err
expect_err '/main: '

begin names_what_executes_it_if_that_is_missing
mkdir -p other/bin
cp "$VESTIGE" other/bin
run other/bin/vestige replay --code run.vest run.vport
expect_status 2
expect_one_line_err
expect_err 'what executes x86-64 programs is not at .*/other/lib/vestige/'

finish
