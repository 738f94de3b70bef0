#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs run again from their port streams: every workload, against its run and its output; programs that do what is rare;
# and streams that are cut, damaged or another's. In `make check` workloads run on 4 cores, serial ones on 1, without time,
# and four techniques take turns; rare programs have two techniques each, and a third in turn. Under the sanitizers a few
# workloads and programs. With VESTIGE_LONG=1 (make check-long) every workload with all six, on 1, 2, 4 and 8 cores, with
# time and without; every program with six; and longer runs. Under the sanitizers then all programs, and a few workloads.
. "$(dirname "$0")/lib.sh"

targets=$VESTIGE_BUILD/test/target
export SOURCE_DATE_EPOCH=1000000000

# record_run OPTION... -- PROGRAM...: to $T/run.vest and $T/wanted, whatever the program's status.
record_run() {
    "$VESTIGE" record -f -o "$T/run.vest" "$@" >"$T/wanted" 2>"$err" </dev/null
    expect_file "$T/run.vest"
}

# replay_run TECHNIQUE...: $T/run.vest, which must come out the same, with what it wrote. $options are for `replay`.
options=()
replay_run() {
    local technique i=0
    for technique; do
        {
            "$VESTIGE" encode -f "$T/run.vest" -t "$technique" -o "$T/$i.vport" &&
                "$VESTIGE" replay "$T/$i.vport" "${options[@]}" --print-output --check "$T/run.vest"
        } >"$T/$i.out" 2>"$T/$i.err" &
        pids[i]=$!
        i=$((i + 1))
    done
    i=0
    for technique; do
        _command="replay of $technique ${options[*]}"
        wait "${pids[i]}"
        status=$?
        tail -n +2 "$T/$i.out" >"$out" # the first line is the encoder's
        cp "$T/$i.err" "$err"
        expect_replayed
        i=$((i + 1))
    done
}

expect_replayed() {
    local size
    expect_status 0
    expect_no_err
    size=$(stat -c %s "$T/wanted")
    head -c "$size" "$out" | cmp -s - "$T/wanted" || fail "other output"
    tail -c +$((size + 1)) "$out" >"$T/rest"
    grep -q "^wrote $(sed ':a; s/\([0-9]\)\([0-9]\{3\}\)\($\|,\)/\1,\2\3/; ta' <<<"$size") bytes to standard output, " "$T/rest" ||
        fail "it says otherwise"
    head -1 "$T/rest" | grep -qE '^replayed [1-9][0-9,]* instructions to the end, from [0-9,]+ messages$' || fail "not to the end"
    tail -1 "$T/rest" |
        grep -qE '^compared [1-9][0-9,]* times all registers, [1-9][0-9,]* accesses, [1-9][0-9,]* bytes of memory and [0-9,]+ bytes of output: all equal$' ||
        fail "nothing was compared"
}

# ---- workloads ------------------------------------------------------------------------------------

all=(mlvCF_e:CS32 mc2RT mc2RT_k mc2RT:implied mlvCF_e:shared mlvFA mlvNX_b) # of the last two each message is compared: slow
turn=0

# choose: what is replayed of this workload, in $specs.
choose() {
    specs=("${all[@]}")
    [ -n "$long" ] || specs=("${all[turn++ % 4]}")
}

replay_workload() {
    local name=$1 p=$2 checksum=$3 time
    shift 3
    for time in ${long:+--timed} ''; do
        begin "replays_${name}_with_$p${time:+_timed}"
        # shellcheck disable=SC2086 # an option, or none
        record_run --cores "$p" $time -- "$(workload rv64 "$name")" "$@"
        grep -q "^$name: checksum $checksum\$" "$T/wanted" || fail "not the program's output"
        choose
        replay_run "${specs[@]}"
    done
}

if [ -n "$long" ] && [ -z "$sanitized" ]; then
    each_workload parallel "1 2 4 8" replay_workload
    each_workload serial 1 replay_workload
    for program in "fft 18" "racy 60000" "pipeline 400"; do
        begin "replays_a_small_${program% *}"
        record_run --cores 4 -- "$(workload rv64 "${program% *}")" -n "${program#* }" -p 4
        choose
        replay_run "${specs[@]}"
    done
elif [ -n "$sanitized" ]; then
    replay_workload racy 4 '[0-9a-f]*' -n 200 -p 4
    replay_workload signals 1 '[0-9a-f]*' -n 50
else
    each_workload parallel 4 replay_workload
    each_workload serial 1 replay_workload
fi

# ---- programs ---------------------------------------------------------------------------------------

# replay_program CASE OPTION... -- PROGRAM...
replay_program() {
    local name=$1
    shift
    begin "replays_$name"
    record_run "$@"
    if [ -n "$brief" ]; then
        replay_run "${all[turn++ % 2]}"
        return
    fi
    replay_run mlvCF_e:CS32 mc2RT
    replay_run "${rest[turn++ % 4]}"
    [ -z "$long" ] || replay_run "${rest[@]}"
}
rest=(mlvNX_zstd mlvFA mlvCF_e:shared mc2RT:implied)
turn=0

replay_program a_status -- "$targets/ends" status
replay_program a_fault --cores 2 -- "$targets/ends" fault
replay_program a_thread_that_ends_the_program --cores 2 -- "$targets/ends" other
replay_program a_killed_program --cores 2 -- "$targets/ends" killed
if [ -z "$brief" ]; then
    mkdir "$T/files"
    replay_program calls_on_files -- "$targets/files" "$T/files"
    replay_program signals_that_nest --cores 2 -- "$targets/signals"
    replay_program mappings -- "$targets/maps"
    for cores in 1 2 4; do
        replay_program "code_that_others_execute_with_$cores" --cores $cores --timed -- "$targets/jit"
        replay_run mlvCF_e mlvNX_b
    done
fi
[ -n "$brief" ] || replay_program threads_that_wait --cores 4 --timed -- "$targets/threads"

# What its callers get is that of the version that they fetched: a wrong order of stores and fetches shows.
race() {
    local name=$1
    shift
    begin "replays_code_that_others_$name"
    record_run "$@"
    replay_run mlvCF_e:CS32 mc2RT
    # shellcheck disable=SC2086 # words
    replay_run "${rest[turn++ % 4]}" ${long:+mlvNX_b mlvFA mlvCF_e:shared mc2RT:implied}
    for technique in mlvCF_e:CS32 mc2RT ${long:+mlvCF_e:shared mlvNX_b mlvFA mc2RT:implied}; do
        run "$VESTIGE" verify "$T/run.vest" -t $technique --mutate 100
        expect_status 0
        expect_out "all equal"
        expect_out "that have an effect were noticed"
    done
}
if [ -z "$brief" ]; then
    race race_to_call --cores 2 -- "$targets/jit_race"
    race race_to_call_in_time --cores 4 --timed -- "$targets/jit_race"
    race wait_for --cores 4 -- "$targets/jit_race" turns
    race call_once --cores 2 --timed -- "$targets/jit_race" fresh
    race have_in_a_file --cores 4 -- "$targets/jit_race" file
    race do_not_fence --cores 1 -- "$targets/jit_race" race no
    # Others store in the very cycle in which code may change; 2 cores, and the writer's number is the lower one.
    race have_in_a_storm --cores 2 --timed -- "$targets/jit_race" storm
    # What two cores store over each other's stores is executed in the order of the stores, whichever core comes first.
    race write_by_turns --cores 4 -- "$targets/jit_race" both no
    race write_at_once --cores 4 --timed -- "$targets/jit_race" clash
    for how in ${long:+race turns fresh file both storm clash}; do
        for cores in 1 2 4; do
            for time in '' --timed; do
                for fence in '' no; do
                    # shellcheck disable=SC2086 # an option or a word, or none
                    race "${how}_${fence}_with_$cores$time" --cores $cores $time -- "$targets/jit_race" $how $fence
                done
            done
        done
    done
fi

# compile NAME: the program on standard input, to $T/NAME.
compile() {
    riscv64-linux-gnu-gcc -march=rv64gc -O1 -w -D_GNU_SOURCE -static -pthread -o "$T/$1" -x c - 2>"$err" || fail "not compiled"
}

# Its code is not in the program's file; a second thread executes what the first has written.
begin replays_code_that_changes
compile changes <<'END'
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

static uint32_t *code;
static void set(unsigned n)
{
    code[0] = n << 20 | 10u << 7 | 0x13; /* li a0, n */
    code[1] = 0x8067;
    __asm__ volatile("fence.i" ::: "memory");
}
static int call(void) { return ((int (*)(void))(uintptr_t)code)(); }
static void *other(void *arg)
{
    int sum = 0;
    for (int i = 0; i < 100; i++)
        sum += call();
    return (void *)(intptr_t)sum;
}
int main(void)
{
    pthread_t thread;
    void *sum;
    code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (unsigned i = 1; i < 50; i++) {
        set(i);
        printf("%d ", call());
        if (i % 2)
            __builtin___clear_cache((char *)code, (char *)(code + 2));
    }
    pthread_create(&thread, NULL, other, NULL);
    pthread_join(thread, &sum);
    printf("\n%d\n", (int)(intptr_t)sum);
    return 0;
}
END
for time in '' --timed; do
    # shellcheck disable=SC2086 # an option, or none
    record_run --cores 2 $time -- "$T/changes"
    # shellcheck disable=SC2046 # words
    replay_run mlvCF_e:CS32 mc2RT $(more mlvNX_b)
    options=(--code "$T/run.vest")
    replay_run mlvCF_e:CS32 $(more mc2RT mlvNX_b)
    options=()
done

# Writes of all kinds: partial, of several parts, to both files, at once with a signal.
begin replays_writes
compile writes <<'END'
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

static void tick(int number) { (void)number; }

int main(void)
{
    static char big[200000], rest[200000];
    char one[] = "one ", two[] = "two ", three[] = "three\n";
    struct iovec parts[] = {{one, 4}, {two, 0}, {NULL, 0}, {two, 4}, {three, 6}};
    struct iovec none[] = {{one, 0}};
    struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART};
    struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
    int fds[2];
    write(1, "a\0b\n", 4);
    write(2, "to the other\n", 13);
    writev(1, parts, 5);
    writev(1, none, 1);
    write(1, big, 0);
    write(9, "nowhere", 7);
    /* a pipe takes a part; then it is full */
    pipe2(fds, O_NONBLOCK);
    for (size_t i = 0; i < sizeof(big); i++)
        big[i] = (char)('a' + i % 26);
    ssize_t n = write(fds[1], big, sizeof(big)), m = write(fds[1], big, 1);
    ssize_t got = read(fds[0], rest, sizeof(rest));
    write(1, n > 0 && n < (ssize_t)sizeof(big) && m < 0 && got == n ? "partial\n" : "whole\n", 8);
    for (volatile int i = 0; i < 1000; i++)
        rest[i] ^= 1; /* who does not look at it does not know it */
    write(1, rest, 1000);
    write(1, "\n", 1);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < 300; i++) {
        char text[] = "0123456789\n";
        text[i % 10] = 'x';
        write(1, text, 11);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    write(1, big + 5, 70000);
    return 0;
}
END
"$VESTIGE" record -f -o "$T/run.vest" -- "$T/writes" >"$T/wanted" 2>"$T/errors" </dev/null
grep -aq '^partial' "$T/wanted" || fail "a pipe took everything"
for spec in mlvCF_e:CS32 $(more mc2RT mlvNX_b); do
    run "$VESTIGE" encode -f "$T/run.vest" -t "$spec" -o "$T/run.vport"
    run "$VESTIGE" replay "$T/run.vport" -p --check "$T/run.vest"
    expect_status 0
    # standard error comes between
    cmp -s <(head -c $(($(stat -c %s "$T/wanted") + 13)) "$out") \
        <(head -c 4 "$T/wanted" && echo "to the other" && tail -c +5 "$T/wanted") || fail "$spec: other output"
    expect_out "^wrote [0-9,]+ bytes to standard output, 13 to standard error\$"
done

begin says_what_it_cannot_know
compile copies <<'END'
#include <unistd.h>

int main(void)
{
    static volatile char bytes[16];
    for (int i = 0; i < 16; i++)
        bytes[i] = 'x'; /* known, and then not any more */
    return write(1, (char *)bytes, read(0, (char *)bytes, sizeof(bytes))) != 7;
}
END
echo secret | "$VESTIGE" record -f -o "$T/run.vest" -- "$T/copies" >"$out" 2>&1 || fail "not recorded"
run "$VESTIGE" encode -f "$T/run.vest" -t mlvCF_e:CS32 -o "$T/run.vport"
run "$VESTIGE" replay "$T/run.vport" -p
expect_status 1
expect_one_line_err
expect_err ': 7 bytes that the program wrote are not known; '
expect_equal "$(head -c 7 "$out")" '???????'
run "$VESTIGE" replay "$T/run.vport" --json
expect_equal "$(jq .unknown_bytes "$out")" 7

# ---- windows -----------------------------------------------------------------------------------------

# replay_window CASE OPTION... -- PROGRAM...: only a part of it was recorded.
replay_window() {
    local name=$1 spec
    shift
    begin "replays_$name"
    "$VESTIGE" record -f -o "$T/run.vest" "$@" >"$out" 2>"$err" </dev/null
    expect_file "$T/run.vest"
    for spec in mlvCF_e:CS32 mc2RT $(more mlvFA mlvCF_e:shared); do
        run "$VESTIGE" encode -f "$T/run.vest" -t "$spec" -o "$T/run.vport"
        run "$VESTIGE" replay "$T/run.vport" --check "$T/run.vest"
        # bytes that it wrote may have been made outside the window
        [ $status = 0 ] || expect_err ': [0-9]+ bytes that the program wrote are not known; '
        expect_out ' times all registers, [1-9][0-9,]* accesses, [0-9,]+ bytes of memory and [0-9,]+ bytes of output: all equal$'
    done
    run "$VESTIGE" replay "$T/run.vport" --json
    expect_equal "$(jq .instructions "$out")" "$("$VESTIGE" info --no-scan --json "$T/run.vest" | jq .instructions)"
}

printf '1000 3000\n20000 5000\n60000 100\n' >"$T/windows"
racy=$(workload rv64 racy)
replay_window the_middle_of_a_run --cores 4 --skip 30000 --length 40000 -- "$racy" -n 200 -p 4
replay_window some_stretches_of_a_run --cores 4 --windows "$T/windows" -- "$racy" -n 200 -p 4
replay_window a_run_from_main --cores 2 --timed --from main -- "$racy" -n 100 -p 2
replay_window a_routine --from main --to exit -- "$(workload rv64 sha)" -n 1

# ---- where to stop -----------------------------------------------------------------------------------

"$VESTIGE" record -f -o "$T/a.vest" --cores 2 -- "$racy" -n 100 -p 2 >"$out" 2>&1 || exit 2
"$VESTIGE" record -f -o "$T/b.vest" --cores 2 -- "$racy" -n 100 -p 2 -s 2 >"$out" 2>&1 ||
    "$VESTIGE" record -f -o "$T/b.vest" --cores 2 --seed 5 -- "$racy" -n 101 -p 2 >"$out" 2>&1 || exit 2
for name in a b; do
    "$VESTIGE" encode "$T/$name.vest" -t mlvCF_e:CS32 -o "$T/$name.cf" >"$out" 2>&1 || exit 2
    "$VESTIGE" encode "$T/$name.vest" -t mc2RT -o "$T/$name.mc" >"$out" 2>&1 || exit 2
done

begin stops_where_it_is_told
for name in cf mc; do
    total=$("$VESTIGE" replay "$T/a.$name" --json | jq .instructions)
    for n in 12345 $((total + 1)) $(more 0 1 1000 "$total"); do
        run "$VESTIGE" replay "$T/a.$name" --until "$n" --json --registers
        expect_status 0
        expect_no_err
        expect_equal "$(jq .instructions "$out")" $((n > total ? total : n))
        expect_equal "$(jq '[.cores[].instructions] | add' "$out")" $((n > total ? total : n))
        expect_equal "$(jq -r .stopped "$out")" "$([ "$n" -gt "$total" ] && echo end || echo goal)"
        expect_equal "$(jq '[.cores[] | (.x | length), (.f | length)] | unique' -c "$out")" '[32]'
    done
    run "$VESTIGE" replay "$T/a.$name" --until 1:777 --json
    expect_status 0
    expect_equal "$(jq .cores[1].instructions "$out")" 777
    expect_equal "$(jq '.cores[0] | has("x")' "$out")" false
done

begin shows_registers
run "$VESTIGE" replay "$T/a.cf" --until 0:3000 --registers
expect_status 0
expect_out '^replayed [0-9,]+ instructions to the goal, from [0-9,]+ messages$'
expect_out '^core 0 +3,000 instructions  pc [0-9a-f]{16}$'
expect_equal "$(grep -cE '^core [01]: pc [0-9a-f]{16} fcsr 00$' "$out")" 2
expect_equal "$(grep -cE '^(  [a-z0-9]+ +[0-9a-f]{16}){4}$' "$out")" 32
cp "$out" "$T/registers"
run "$VESTIGE" replay "$T/a.cf" --until 0:3000 --registers --json
expect_equal "$(jq -r '.cores[0].x[2]' "$out")" "0x$(sed -n 's/^.* sp  *0*\([0-9a-f]*\) .*/\1/p' "$T/registers" | head -1)"
# the run says the same: after so many instructions of the core the next is there
pc=$(jq -r '.cores[0].pc' "$out")
"$VESTIGE" replay "$T/a.cf" --until 0:3001 --json >"$T/next"
[ "$pc" != "$(jq -r '.cores[0].pc' "$T/next")" ] || fail "it did not go on"

begin counts_what_it_compared
run "$VESTIGE" replay "$T/a.mc" --json --check "$T/a.vest"
expect_status 0
expect_equal "$(jq '[.compared.registers, .compared.accesses, .compared.memory_bytes] | min > 0' "$out")" true
expect_equal "$(jq .compared.accesses "$out")" \
    "$("$VESTIGE" dump --json "$T/a.vest" | jq -s '[.[] | select(.kind == "load" or .kind == "store" or .kind == "nondet")] | length')"

# ---- what does not fit -------------------------------------------------------------------------------

begin differs_from_another_run
for name in cf mc; do
    run "$VESTIGE" replay "$T/a.$name" --check "$T/b.vest"
    expect_status 1
    expect_one_line_err
    expect_err ': core [01], pc 0x[0-9a-f]+, after [0-9]+ instructions: .* is 0x[0-9a-f]+, and was 0x[0-9a-f]+$'
done
"$VESTIGE" record -f -o "$T/c.vest" -- "$(workload rv64 sha)" -n 1 >"$out" 2>&1 || exit 2
run "$VESTIGE" replay "$T/a.cf" --check "$T/c.vest"
expect_status 1
expect_one_line_err
expect_err 'it has 1 threads, and the stream 2 cores'
run "$VESTIGE" replay "$T/a.cf" --check "$T/none.vest"
expect_status 2
expect_one_line_err

# One instruction of the program is another, its build id is not.
begin notices_a_changed_program
cp "$racy" "$T/racy"
address=$("$VESTIGE" dump --json --kind store "$T/a.vest" | jq -rs '.[1000].pc')
at=''
while read -r kind offset start _ size _; do
    [ "$kind" = LOAD ] && [ $((address)) -ge $((start)) ] && [ $((address)) -lt $((start + size)) ] &&
        at=$((address - start + offset))
done < <(riscv64-linux-gnu-readelf -lW "$racy")
printf '\x01\x00' | dd of="$T/racy" bs=1 seek="$at" conv=notrunc status=none # a nop in place of the store
for name in cf mc; do
    run "$VESTIGE" replay "$T/a.$name" --image "$T/racy" --check "$T/a.vest"
    expect_status 1
    expect_one_line_err
    # If nothing loads what that store should have written, memory differs at the end.
    expect_err 'core [01], pc 0x[0-9a-f]+|core [01] |memory at 0x[0-9a-f]+ is '
done
run "$VESTIGE" replay "$T/a.cf" --image "$(workload rv64 sha)"
expect_status 1
expect_one_line_err
expect_err 'none of the images of the stream'

begin refuses_what_it_cannot_replay
"$VESTIGE" encode "$T/a.vest" -t mcfTR_e -o "$T/flow.vport" >"$out" 2>&1
run "$VESTIGE" replay "$T/flow.vport"
expect_status 2
expect_one_line_err
expect_err "has no load values; 'vestige decode' follows"
"$VESTIGE" encode "$T/a.vest" -t mc2RT:order=published -o "$T/o.vport" >"$out" 2>&1
run "$VESTIGE" replay "$T/o.vport"
[ $status != 0 ] || fail "it was replayed"
expect_one_line_err
expect_err 'order=published'
for until in x 5:1 -1 1: :1 2:5; do
    run "$VESTIGE" replay "$T/a.cf" --until="$until"
    expect_status 2
    expect_one_line_err
done
run "$VESTIGE" replay "$T/a.cf" --until 5 --check "$T/a.vest"
expect_status 2
expect_one_line_err
run "$VESTIGE" replay "$T/a.cf" --code "$T/a.vest" --image "$racy"
expect_status 2
expect_one_line_err

# ---- cut and damaged streams -------------------------------------------------------------------------

begin replays_a_cut_stream_to_its_end
for name in cf mc; do
    size=$(stat -c %s "$T/a.$name")
    last=0
    for part in 3 5 7; do
        head -c $((size * part / 8)) "$T/a.$name" >"$T/cut"
        run "$VESTIGE" replay "$T/cut" --code "$T/a.vest" --json
        expect_status 1
        expect_one_line_err
        expect_err ': the stream ends at bit [0-9]+, after message [0-9]+, and the program goes on: it was replayed to there$'
        expect_equal "$(jq -r .stopped "$out")" cut
        n=$(jq .instructions "$out")
        [ "$n" -gt "$last" ] || fail "no further with more of the stream"
        last=$n
        run "$VESTIGE" replay "$T/cut" --code "$T/a.vest" --check "$T/a.vest"
        expect_status 1
        expect_out ': all equal$'
        # what comes before is replayed as ever
        run "$VESTIGE" replay "$T/cut" --code "$T/a.vest" --until $((n / 2)) --registers --json
        expect_status 0
        jq -c .cores "$out" >"$T/got"
        "$VESTIGE" replay "$T/a.$name" --until $((n / 2)) --registers --json | jq -c .cores | cmp -s - "$T/got" ||
            fail "another state before the cut"
    done
    for n in 0 7 40 100; do
        head -c $n "$T/a.$name" >"$T/cut"
        run "$VESTIGE" replay "$T/cut" --code "$T/a.vest"
        expect_status 1
        expect_one_line_err
    done
done

begin refuses_a_damaged_stream
size=$(stat -c %s "$T/a.cf")
cp "$T/a.cf" "$T/bad"
for byte in '\xa5' '\x5a'; do
    cmp -s "$T/a.cf" "$T/bad" || break
    # shellcheck disable=SC2059 # an escape
    printf "$byte" | dd of="$T/bad" bs=1 seek=$((size / 2)) conv=notrunc status=none
done
run "$VESTIGE" replay "$T/bad" --code "$T/a.vest"
expect_status 1
expect_one_line_err
expect_err 'checksum'
expect_no_out

# damage FILE BITS SEED: so many bits of the stream are others; all checksums hold (docs/vport.md).
cat >"$T/damage.py" <<'END'
import random, struct, sys
table = []
for i in range(256):
    c = i
    for _ in range(8):
        c = c >> 1 ^ (0x82f63b78 if c & 1 else 0)
    table.append(c)
def crc(data):
    c = 0xffffffff
    for b in data:
        c = c >> 8 ^ table[(c ^ b) & 255]
    return c ^ 0xffffffff
data = bytearray(open(sys.argv[1], 'rb').read())
random.seed(int(sys.argv[3]))
at = 32 + struct.unpack_from('<I', data, 16)[0]
while data[at:at + 4] == b'VPBK':
    bits = struct.unpack_from('<I', data, at + 8)[0]
    size = (bits + 7) // 8
    for _ in range(int(sys.argv[2])):
        bit = random.randrange(bits)
        data[at + 20 + bit // 8] ^= 1 << bit % 8
    struct.pack_into('<I', data, at + 12, crc(data[at + 20:at + 20 + size]))
    struct.pack_into('<I', data, at + 16, crc(data[at:at + 16]))
    at += 20 + size
sys.stdout.buffer.write(data)
END

# A changed value may be of no consequence, or be another program's; but it ends, and an error has a name.
begin survives_streams_that_were_never_encoded
differed=0
for technique in mlvCF_e:CS32 mc2RT mlvCF_e:shared mlvFA mlvNX_zstd; do
    "$VESTIGE" encode -f "$T/a.vest" -t "$technique" -o "$T/good" >"$T/about" 2>&1 || fail "not encoded"
    for seed in 1 $(more 2 3); do
        python3 "$T/damage.py" "$T/good" "$seed" "$seed" >"$T/bad"
        cmp -s "$T/good" "$T/bad" && fail "not damaged"
        run timeout 300 "$VESTIGE" replay "$T/bad" --code "$T/a.vest" --until 2000000
        [ $status -le 1 ] || fail "$technique, seed $seed"
        [ $status = 0 ] || expect_one_line_err
        [ $status = 0 ] || expect_err '; replayed [0-9,]+ instructions before$|the stream ends at bit [0-9]+|bytes that the program wrote are not known'
        run timeout 300 "$VESTIGE" replay "$T/bad" --code "$T/a.vest" --check "$T/a.vest"
        [ $status -le 1 ] || fail "$technique, seed $seed, compared"
        differed=$((differed + status))
    done
done
# a bit in a value that nobody uses, or in the last byte of all, changes nothing
least=10
[ -z "$brief" ] || least=2
[ $differed -ge $least ] || fail "only $differed damaged streams differ"

begin says_that_the_other_file_is_cut
for length in 32 40 100; do
    head -c $length "$T/a.vest" >"$T/cut.vest"
    for option in --code --check; do
        run "$VESTIGE" replay "$T/a.cf" $option "$T/cut.vest"
        expect_status 1
        expect_one_line_err
        expect_err 'cut\.vest: incomplete: chunk 0 at offset 32: .*cut off'
    done
    run "$VESTIGE" verify "$T/cut.vest"
    expect_status 1
    expect_one_line_err
    expect_err 'cut\.vest: incomplete: chunk 0 at offset 32: .*cut off'
done

finish
