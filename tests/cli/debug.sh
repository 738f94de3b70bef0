#!/bin/bash
# SPDX-License-Identifier: MIT
# A port stream under gdb: forwards, backwards, at every core. docs.sh has what docs/debugging.md shows.
# shellcheck disable=SC2016 # what is in single quotes is for gdb
. "$(dirname "$0")/lib.sh"

command -v gdb-multiarch >/dev/null || skip_all "there is no gdb-multiarch"

program=$(workload rv64 racy)
# A program reads its own path while it starts: how long that is shifts what its threads do to each other.
rm -rf "$T"
T=$(mktemp -d /tmp/vestige-debug.XXXXXXXX) || exit 2
cd "$T" || exit 2
mkdir -p build/workloads/rv64 bin
cp "$program" "$(dirname "$program")/sha" build/workloads/rv64
ln -s "$VESTIGE_SRC/workloads" workloads
ln -s "$VESTIGE" bin/vestige
PATH=$T/bin:$PATH
racy=build/workloads/rv64/racy
debugged=$racy # what gdb is told to look at
server='' port=''
# shellcheck disable=SC2154 # _work is of lib.sh
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$T" "$_work"' EXIT

# record NAME CORES ARGUMENT...: $T/NAME.vest, of racy.
record() {
    local name=$1
    shift
    vestige record -f -o "$name.vest" "$@" >"$out" 2>&1
}

record bank --cores 4 --timed -- "$racy" -c -n 40 -p 4 -m bank
record untimed --cores 4 -- "$racy" -n 40 -p 4
record one --cores 1 --timed -- "$racy" -n 40 -p 1
record long --cores 1 -- "$racy" -n 4000 -p 1
vestige encode bank.vest -t mc2RT -o run.vport >"$out" 2>&1 || exit 2

# A server for a pipe, that leaves its status behind: `./serve COMMAND...`.
cat >serve <<'END'
#!/bin/sh
"$@" 2>server.err
echo $? >server.status
END
chmod +x serve
before=() # a command that the server is started by
vestige debug --gdb-script >vestige.gdb || exit 2

both() {
    timeout 300 "$@" 2>&1
}

gdb_with() {
    local arguments=(-nx -batch -x vestige.gdb -ex 'set width 0' -ex "target remote $1")
    shift
    for line; do arguments+=(-ex "$line"); done
    # gdb is this shell's process
    run both sh -c 'GDB_PID=$$ exec gdb-multiarch "$@"' gdb "${arguments[@]}" "$debugged"
}

# debug_run STREAM COMMAND...: in gdb, over a pipe. All that it says is in $out; the server must end well.
debug_run() {
    local stream=$1
    shift
    rm -f server.status
    gdb_with "| ./serve ${before[*]} vestige debug --stdio $stream" "$@"
    await has_bytes 1 server.status
    expect_equal "$(cat server.status 2>/dev/null)" 0 "status of the server"
}

# value NAME: what `printf "NAME=..."` of gdb said last.
value() {
    sed -n "s/^$1=//p" "$out" | tail -1
}

# start_server STREAM OPTION...: in the background; sets $server and $port.
start_server() {
    : >server.err
    vestige debug --listen 127.0.0.1:0 "$@" 2>server.err &
    server=$! port=''
    await grep -q 'listening on 127.0.0.1:[0-9]*$' server.err || fail "the server does not listen: $(cat server.err)"
    port=$(sed -n 's/.*listening on 127.0.0.1:\([0-9]*\)$/\1/p' server.err)
}

# expect_server STATUS: it ends by itself.
expect_server() {
    await has_ended "$server" || kill "$server" 2>/dev/null
    wait "$server"
    expect_equal $? "$1" "status of the server"
    server=''
}

# ---- looking ---------------------------------------------------------------------------------

begin stops_at_a_function
debug_run run.vport 'break wl_below' 'continue' 'backtrace' 'print n' 'print r->state' 'info source'
expect_order '^0x[0-9a-f]+ in _start' '^Breakpoint 1 at .*common/support.c' 'Breakpoint 1, wl_below \(r=.*n=.*8\) at workloads/common/support.c' \
    '^80' '^#0 .*wl_below' '^#1 .* in plan_transfers \(s=0x[0-9a-f]+\) at workloads/racy.c:159' '^#2 .*main .*workloads/racy.c' '^\$1 = 8$' \
    '^Current source file is workloads/common/support.c'

begin steps_by_line
debug_run run.vport 'break wl_below' 'continue' 'finish' 'delete' 'next' 'next' 'echo == step\n' 'step' 'stepi'
expect_order 'wl_below' '^0x[0-9a-f]+ in plan_transfers' '^Value returned is \$1 = [0-7]$' '^159' '^160' '== step' '^wl_below .*n=.*7' '^0x[0-9a-f]+'

begin steps_back_by_line
debug_run run.vport 'break wl_below' 'continue' 'finish' 'delete' 'next' 'next' 'step' 'reverse-finish' 'echo == next\n' 'reverse-next' 'echo == step\n' 'reverse-step' \
    'echo == stepi\n' 'reverse-stepi' 'stepi'
expect_order '^160' '^wl_below' '^0x[0-9a-f]+ in plan_transfers' '== next' '^160' '== step' '^159' '== stepi' '^0x[0-9a-f]+' '^159'
expect_no_line 'history'

begin reads_variables
debug_run run.vport 'break bank_check' 'continue' 'print s->account[4].lowest' 'print s->args' 'print s->args.mode == BANK' 'print modes[2]' 'ptype s->transfers' \
    'print s->transfers[0].from < 8' 'info locals' 'up' 'info frame'
expect_order '^\$1 = -[0-9]+$' '^\$2 = \{threads = 4, size = 40, seed = 1, mode = 2, check = true\}$' '^\$3 = 1$' '^\$4 = 0x[0-9a-f]+ "bank"' '^type = struct transfer \{' \
    '^\$5 = 1$' '^balance = ' '^#1 .*verify .*workloads/racy.c' 'caller of frame'

begin shows_registers
debug_run run.vport 'break bank_check' 'continue' 'info registers pc sp fcsr' 'print $pc == &bank_check || $pc > 0x10000' 'print $ft0.double' 'print/x $zero'
expect_order '^pc +0x[0-9a-f]+' '^sp +0x[0-9a-f]+' '^fcsr' '^\$1 = 1$' '^\$2 = ' '^\$3 = 0x0$'

begin knows_what_it_does_not_know
debug_run run.vport 'break bank_check' 'continue' 'x/2xg 0x123456780' 'print *(int *) 0x7000000' 'print s->account[4].lowest'
expect_order '^0x123456780:.Cannot access memory at address 0x123456780' '^Cannot access memory at address 0x7000000' '^\$1 = -'

begin changes_nothing
debug_run run.vport 'break bank_check' 'continue' 'set var s->account[4].lowest = 3' 'set var $a0 = 1234567' 'print s->account[4].lowest' 'print $a0 == 1234567' 'stepi' 'call bank_check(s)' 'bt'
expect_order '^Writing to memory is not allowed' 'register "a0".*the past cannot be changed' '^\$1 = -[0-9]+$' '^\$2 = 0$' '^(0x|[0-9])' '^Cannot call functions in the program' '^#0 '

# ---- what the program's file says --------------------------------------------------------------

# compile NAME OPTION...: the program on standard input.
compile() {
    local name=$1
    shift
    riscv64-linux-gnu-gcc -march=rv64gc -g -O1 -w -D_GNU_SOURCE -static -pthread "$@" -o "$name" -x c - || exit 2
}

compile data <<'END'
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int answer = 42;
char letters[8] = "abcdefg", others[8] = "ABCDEFG";
long zero;
struct timespec when = {7, 8};
const char *const words[2] = {"first", "second"};
volatile int go;

static void *work(void *arg)
{
    while (!go)
        ;
    others[1] = 'b';
    return arg;
}

__attribute__((noinline)) void mark(int n) { __asm__ volatile("" ::"r"(n)); }

int main(void)
{
    pthread_t thread;
    mark(1);
    letters[2] = 'X';
    mark(2);
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &when);
    mark(3);
    zero = when.tv_nsec >= 0;
    mark(4);
    pthread_create(&thread, NULL, work, NULL);
    for (volatile int i = 0; i < 1000; i++)
        ;
    mark(5);
    go = 1;
    pthread_join(thread, NULL);
    mark(6);
    return answer - 42;
}
END
debugged=data
record data --cores 2 -- ./data
for technique in mc2RT mc2RT_k mlvCF_e:CS32 mlvNX_b; do
    begin "knows_data_of_the_file_in_$technique"
    vestige encode -f data.vest -t $technique -o data.vport >"$out" 2>&1 || fail "not encoded"
    debug_run data.vport 'print answer' 'print zero' 'print words' 'print when' 'watch letters' 'continue' 'delete' 'break mark' \
        'continue' 'print n' 'print when' 'continue' 'print when' 'continue' 'print when.tv_nsec >= 0' 'print zero' 'continue' 'print answer' 'print others' 'watch others' 'continue' \
        'delete' 'break mark if n == 6' 'continue' 'print others' 'reverse-continue' 'print answer' 'print letters'
    expect_order '^\$1 = 42$' '^\$2 = 0$' '^\$3 = .*"first".*"second"' '^\$4 = \{tv_sec = 7, tv_nsec = 8\}$' 'Hardware watchpoint 1: letters' '^Old value = "abcdefg"' '^New value = "abXdefg"' \
        '^\$5 = 2$' '^\$6 = \{tv_sec = 7, tv_nsec = 8\}$' 'mark \(n=.*3\)' '^Cannot access memory' 'mark \(n=.*4\)' '^\$7 = 1$' '^\$8 = 1$' 'mark \(n=.*5\)' '^\$9 = 42$' '^\$10 = "ABCDEFG"' \
        'hit Hardware watchpoint 3: others' '^Old value = "ABCDEFG"' '^New value = "AbCDEFG"' 'mark \(n=.*6\)' '^\$11 = "AbCDEFG"' '_start' '^\$12 = 42$' '^\$13 = "abcdefg"'
done
debugged=$racy

# ---- signals -----------------------------------------------------------------------------------

compile signals <<'END'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <setjmp.h>

volatile int got;
static sigjmp_buf back;
static void handler(int n) { got += n; }
static void skip(int n) { siglongjmp(back, n); }
static void *other(void *arg)
{
    for (volatile int i = 0; i < 3000; i++)
        ;
    char *end = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    end[0] = 1;
    mprotect(end, 4096, PROT_READ);
    end[1] = 2;
    return arg;
}
int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    signal(SIGUSR1, handler);
    signal(SIGBUS, skip);
    raise(SIGUSR1);
    kill(getpid(), SIGUSR1);
    if (!strcmp(how, "null"))
        *(volatile int *)got = 1;
    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "trap"))
        __asm__ volatile("ebreak");
    if (!strcmp(how, "ill"))
        __asm__ volatile(".word 0");
    if (!strcmp(how, "jump"))
        ((void (*)(void))0x123450)();
    if (!strcmp(how, "text"))
        *(volatile char *)main = 1;
    if (!strcmp(how, "thread")) {
        pthread_t t;
        pthread_create(&t, NULL, other, NULL);
        for (;;) got++;
    }
    if (!strcmp(how, "pipe")) {
        int fds[2];
        pipe(fds);
        close(fds[0]);
        write(fds[1], "x", 1);
    }
    if (!strcmp(how, "alarm")) {
        alarm(1);
        for (;;)
            pause();
    }
    if (!strcmp(how, "bus") && !sigsetjmp(back, 1))
        __asm__ volatile("amoadd.w t0,t0,(%0)" ::"r"((char *)&got + 1) : "t0", "memory");
    return 0;
}
END
debugged=signals

# crash HOW SIGNAL WHERE: stops where the signal came, then ends; and the same on the way back.
crash() {
    local how=$1 signal=$2 where=$3 technique
    begin "stops_for_${signal}_after_$how"
    record crash --cores 2 -- ./signals "$how"
    for technique in mc2RT mlvCF_e:CS32; do
        vestige encode -f crash.vest -t $technique -o crash.vport >"$out" 2>&1 || fail "not encoded"
        debug_run crash.vport 'handle SIGUSR1 nostop noprint pass' 'continue' 'bt 2' 'echo == end\n' 'continue' 'echo == back\n' 'reverse-continue' 'reverse-continue' 'echo == on\n' 'continue'
        expect_order "received signal $signal" "$where" '== end' 'No more reverse' '== back' "received signal $signal" "$where" 'No more reverse' '_start' '== on' "received signal $signal"
        [ "$(grep -c 'received signal' "$out")" = 3 ] || fail "other signals"
    done
}
crash null SIGSEGV 'main .*<stdin>:'
crash text SIGSEGV 'main .*<stdin>:'
crash jump SIGSEGV '^0x0*123450 in'
crash thread SIGSEGV 'other .*<stdin>:'
crash trap SIGTRAP 'main .*<stdin>:'
crash ill SIGILL 'main .*<stdin>:'
crash abort SIGABRT 'kill'
crash pipe SIGPIPE 'write'

begin ends_without_a_signal_where_none_is_known
for how in none alarm; do
    record crash --cores 2 -- ./signals $how
    vestige encode -f crash.vest -t mc2RT -o crash.vport >"$out" 2>&1 || fail "not encoded"
    debug_run crash.vport 'handle SIGUSR1 nostop noprint pass' 'continue'
    expect_order 'No more reverse'
    expect_no_line 'received signal'
done

record handled --cores 1 -- ./signals bus
for technique in mc2RT mlvNX_b; do
    begin "stops_for_signals_with_handlers_in_$technique"
    vestige encode -f handled.vest -t $technique -o handled.vport >"$out" 2>&1 || fail "not encoded"
    debug_run handled.vport 'continue' 'stepi' 'print got' 'reverse-stepi' 'echo == again\n' 'continue' 'echo == second\n' 'continue' 'print got' 'echo == bus\n' 'continue' 'x/i $pc' 'echo == end\n' 'continue' \
        'echo == back\n' 'reverse-continue' 'x/i $pc' 'reverse-continue' 'print got' 'reverse-continue' 'reverse-continue' 'echo == quiet\n' 'handle SIGUSR1 nostop noprint pass' 'continue' 'print got' 'info signals SIGUSR1' 'handle SIGBUS nostop print pass' 'reverse-continue' 'continue'
    expect_order 'received signal SIGUSR1' 'kill_impl' '^handler \(n=10\)' '^\$1 = 0$' 'kill_impl' '== again' 'received signal SIGUSR1' '== second' 'received signal SIGUSR1' ' in kill ' '^\$2 = 10$' \
        '== bus' 'received signal SIGBUS' 'main .*<stdin>' '=> .*amoadd' '== end' 'No more reverse' '_exit' '== back' 'received signal SIGBUS' '=> .*amoadd' 'received signal SIGUSR1' '^\$3 = 10$' 'received signal SIGUSR1' 'kill_impl' 'No more reverse' '_start' \
        '== quiet' 'received signal SIGBUS' '^\$4 = 20$' '^SIGUSR1[[:space:]]+No[[:space:]]+No[[:space:]]+Yes' 'No more reverse' '_start' 'received signal SIGBUS' 'No more reverse' '_exit'
done
debugged=$racy

# Where the workers begin; $s is what they share.
at_start=('break wl_run' 'continue' 'set $s = (struct shared *)arg' 'delete')

# ---- watchpoints -----------------------------------------------------------------------------

begin watches_writes_forwards
debug_run run.vport "${at_start[@]}" 'watch -location $s->account[4].balance' 'continue' 'print *t' \
    'printf "at=%ld\n", (long)$pc' 'x/i $pc' 'reverse-stepi' 'x/i $pc' 'print from->balance'
expect_order 'hit Hardware watchpoint 2' '^Old value = 400$' '^New value = [0-9]+$' '^\$1 = \{from' '=> .*' '=> 0x[0-9a-f]+ <worker.*>:.sd' '^\$2 = 400$'

begin watches_writes_backwards
debug_run run.vport 'break bank_check' 'continue' 'watch -location s->account[4].balance' 'reverse-continue' 'x/i $pc' 'stepi'
expect_order 'Hardware watchpoint 2' 'hit Hardware watchpoint 2' '^Old value = [0-9]+$' '^New value = [0-9]+$' '=> 0x[0-9a-f]+ <worker.*>:.sd' \
    'hit Hardware watchpoint 2' '^Old value = [0-9]+$' '^New value = [0-9]+$'
expect_equal "$(sed -n 's/^Old value = //p' "$out" | head -1)" "$(sed -n 's/^New value = //p' "$out" | tail -1)" 'undone and done again'

begin watches_reads
debug_run run.vport 'break bank_check' 'continue' 'rwatch -location s->account[4].balance' 'reverse-continue' 'x/i $pc' 'echo == on\n' 'continue' 'x/i $pc'
expect_order 'hit Hardware read watchpoint 2' '^Value = [0-9]+' '=> .*:.ld' '== on' 'hit Hardware read watchpoint 2' '^Value = [0-9]+'

begin watches_accesses
debug_run run.vport 'break bank_check' 'continue' 'awatch -location s->account[4].balance' 'reverse-continue' 'reverse-continue' 'reverse-continue' 'continue'
expect_order 'hit Hardware access \(read/write\) watchpoint 2' '^(Old v|V)alue = ' 'hit Hardware access \(read/write\) watchpoint 2' '^(Old v|V)alue = ' \
    'hit Hardware access \(read/write\) watchpoint 2' '^(Old v|V)alue = ' 'hit Hardware access \(read/write\) watchpoint 2'

begin sees_watchpoints_while_it_steps_back
debug_run run.vport 'break bank_check' 'continue' 'watch -location s->account[4].lowest' 'reverse-continue' 'stepi' 'echo == back\n' 'reverse-stepi' 'x/i $pc'
expect_order '== back' 'hit Hardware watchpoint 2' '^Old value = -' '=> .*:.sd'

begin finds_the_same_writer_in_every_way
debug_run run.vport 'break bank_check' 'continue' 'eval "monitor who-wrote %p 8", &s->account[4].lowest' 'watch -location s->account[4].lowest' 'reverse-continue' \
    'printf "at=%lx\n", (long)$pc' 'monitor position'
expect_order '^t3:[0-9]+, position [0-9]+, pc 0x[0-9a-f]+$' '^t3:[0-9]+, position [0-9]+, pc '
expect_equal "$(grep -c '^t3:' "$out")" 2 'answers'
expect_equal "$(grep '^t3:' "$out" | sort -u | wc -l)" 1 'places that are told'
expect_equal "$(value at)" "$(sed -n 's/^t3:.*, pc 0x//p' "$out" | tail -1)" pc


# ---- threads ---------------------------------------------------------------------------------

begin sees_the_cores
debug_run run.vport 'info threads' 'break bank_worker' 'continue' 'continue' 'continue' 'info threads' 'thread apply all bt 1' 'thread find core 2'
expect_order '^\* 1 .*"core 0".* in _start' 'hit Breakpoint 1, bank_worker' 'hit Breakpoint 1, bank_worker' 'hit Breakpoint 1, bank_worker' \
    '"core 0" ' '"core 1" ' '"core 2" ' '"core 3" ' '^Thread [1-4] \(Thread [1-4] "core [0-3]" \(LWP [0-9]+\)\):$' '^#0 ' '^Thread ' '^#0 ' 'Thread [0-9] has target name .core 2'
expect_equal "$(sed -n 's/^Thread [0-9] "\(core [0-3]\)" hit .*/\1/p' "$out" | sort -u | wc -l)" 3 'cores that stopped'

begin switches_between_cores
debug_run run.vport 'break bank_check' 'continue' 'thread 3' 'printf "before=%lx\n", (long)$pc' 'reverse-stepi' 'printf "back=%lx\n", (long)$pc' 'stepi' 'printf "after=%lx\n", (long)$pc' 'bt 1'
expect_order 'Switching to thread 3' '^before=' '^back=' '^after=' '^#0 '
expect_equal "$(value after)" "$(value before)" 'pc of core 2'
[ "$(value back)" != "$(value before)" ] || fail "it did not step back"

begin leaves_the_thread_alone_when_it_moves
debug_run run.vport 'break bank_worker' 'continue' 'thread 1' 'monitor goto 3:11500' 'thread 1' 'printf "first=%lx\n", (long)$pc' 'thread 4' 'thread 1' 'printf "again=%lx\n", (long)$pc'
expect_order '^t3:11500, position [0-9]+, pc ' '^first=' '^again='
expect_equal "$(value first)" "$(value again)" 'pc of core 0'

begin keeps_the_numbers_of_threads
debug_run run.vport 'break bank_check' 'continue' 'echo == first\n' 'info threads' 'break wl_below thread 4' 'continue' 'echo == end\n' 'info threads' 'disable' 'reverse-continue' 'echo == start\n' 'info threads' \
    'enable 1' 'continue' 'echo == again\n' 'info threads' 'info breakpoints' 'continue' 'continue' 'info threads'
for n in first again; do
    sed -n "/^== $n/,/^Thread\|^Breakpoint\|^Num/p" "$out" | sed -n 's/^.* \([1-9] *Thread [1-9] "core [0-3]"\).*/\1/p' >"threads.$n"
done
[ "$(wc -l <threads.first)" = 4 ] || fail "not four threads: $(cat threads.first)"
cmp -s threads.first threads.again || fail "other numbers: $(diff threads.first threads.again)"
expect_order '== end' '^[* ] 1 +Thread 1 "core 0" \(LWP [0-9]+, ended\)' '== start' '^[* ] 1 +Thread 1 "core 0" ' '"core 3" \(not started\) +<unavailable>' '== again' 'stop only in thread 4'
expect_no_line '"core [0-3]" .* [5-9] +Thread'

begin shows_where_it_was_sent
debug_run run.vport 'break bank_worker' 'continue' 'info threads' 'monitor goto t3:11500' 'printf "at=%lx\n", (long)$pc' 'thread' 'monitor threads' 'echo == more\n' 'monitor goto 0' 'thread'
expect_order '^t3:11500, position [0-9]+, pc ' '^#0 ' '^at=' 'Current thread is [1-4] \(Thread 4' '^\*t3:11500 "core 3"' '== more' '^t0:0, position 0, pc ' '^#0 .*_start' 'Current thread is 1 '
[ "$(grep -c '^#0 ' "$out")" = 2 ] || fail "a frame was shown where nothing moved"

# ---- anywhere --------------------------------------------------------------------------------

registers='thread apply all -q info registers'

begin is_the_same_wherever_it_comes_from
debug_run run.vport 'monitor goto 60000' 'echo == one\n' "$registers" 'x/4xg 0x88180' 'echo == end\n' 'stepi' 'continue' 'monitor goto 60000' 'echo == two\n' "$registers" 'x/4xg 0x88180' \
    'echo == end\n' 'reverse-stepi' 'reverse-continue' 'monitor goto 60000' 'echo == three\n' "$registers" 'x/4xg 0x88180' 'echo == end\n'
for n in one two three; do
    sed -n "/^== $n/,/^== end/p" "$out" | sed 1d >"at.$n"
done
[ "$(grep -c '^pc ' at.one)" = 4 ] || fail "not the registers of all cores"
cmp -s at.one at.two || fail "another state from behind: $(diff at.one at.two | head -3)"
cmp -s at.one at.three || fail "another state from the beginning: $(diff at.one at.three | head -3)"

begin goes_back_and_forth_by_instruction
debug_run run.vport 'break move_money' 'continue' 'stepi 40' 'printf "before=%lx %lx %lx\n", (long)$pc, $sp, $a0' 'reverse-stepi 30' 'stepi 30' 'printf "after=%lx %lx %lx\n", (long)$pc, $sp, $a0'
expect_order '^before=' '^after='
expect_equal "$(value after)" "$(value before)" registers

begin ends_at_both_ends
debug_run run.vport 'reverse-stepi' 'echo == on\n' 'continue' 'monitor position' 'monitor threads' 'continue' 'stepi' 'echo == back\n' 'reverse-stepi' 'echo == all\n' 'reverse-continue' 'reverse-stepi' 'bt' 'monitor position'
expect_order 'No more reverse-execution history' '_start' '== on' 'No more reverse-execution history' '_exit' '^t[0-9]:[0-9]+, position [0-9]+' 't0:[0-9]+ "core 0".*, ended' \
    'No more reverse' 'No more reverse' '== back' '_exit' '== all' 'No more reverse' '_start' 'No more reverse' '^#0 .*_start' '^t0:0, position 0,'

begin shows_a_core_that_exists_at_the_beginning
debug_run run.vport 'break bank_worker' 'continue' 'delete' 'reverse-continue' 'bt'
expect_order 'Thread [2-4] "core [1-3]" hit' 'No more reverse' '_start' '^#0 .*_start'
expect_no_line 'not available'

begin answers_monitor_commands
debug_run run.vport 'monitor help' 'monitor position' 'monitor threads' 'monitor messages' 'monitor cycle' 'monitor who-wrote 0x123456' 'monitor who-wrote' 'monitor goto' 'monitor goto x' 'monitor goto 99:1' 'monitor goto 999999999' 'monitor nonsense' \
    'monitor' 'monitor position'
expect_order '^position ' '^threads ' '^goto ' '^bookmark ' '^who-wrote ' '^calls ' '^messages ' '^help ' '^t0:0, position 0, ' '^\*t0:0 ' '^ t3:0 "core 3", not started' '^[0-9]+ messages read, [0-9]+ of [0-9]+ bits' \
    'cycles are not known' '^no instruction wrote it before here' '^vestige: who-wrote ADDR' '^vestige: goto POSITION' '^vestige: .x. is no place; goto POSITION' '^vestige: there is no thread t99' '^t[0-3]:[0-9]+, position [0-9]+, pc 0x[0-9a-f]+, the end of what is known' \
    'no command .nonsense.; there are position, threads, ' 'a command is missing; there are position' '^t[0-3]:[0-9]+, position [1-9]'

# hold.py has gdb interrupted while it waits, and the server hear of it when it first looks: no clock is involved.
begin interrupts_a_long_run
vestige encode long.vest -t mlvCF_e:CS32 -o long.vport >"$out" 2>&1
before=(python3 "$VESTIGE_SRC/tests/cli/hold.py")
debug_run long.vport 'continue' 'monitor position' 'echo == on\n' 'continue' 'monitor position' 'echo == back\n' 'reverse-continue' 'monitor position' 'echo == all\n' 'reverse-continue' 'monitor position'
before=()
expect_order 'received signal SIGINT' 'position [1-9][0-9]*,' '== on' 'No more reverse' '_exit' 'position [1-9]' \
    '== back' 'received signal SIGINT' '_exit' 'position [1-9]' '== all' 'No more reverse' '_start' 'position 0,'
expect_equal "$(sed -n 's/^t0:.*position \([0-9]*\),.*/\1/p' "$out" | sort -u | wc -l)" 3 positions

# ---- streams ---------------------------------------------------------------------------------

# session RUN TECHNIQUE: a little of all, in one stream.
session() {
    local core='core [0-3]'
    [ "$1" != one ] || core='.*'
    begin "replays_$1_as_$2"
    vestige encode -f "$1.vest" -t "$2" -o it.vport >"$out" 2>&1 || fail "not encoded"
    debug_run it.vport "${at_start[@]}" 'print $s->args.size' 'watch -location $s->account[0].balance' 'continue' 'x/i $pc' 'reverse-continue' 'x/i $pc' 'monitor cycle' \
        'delete' 'continue' 'reverse-continue'
    expect_order 'Breakpoint 1, wl_run' '^\$1 = 40$' "$core.*hit Hardware watchpoint 2|^Hardware watchpoint 2: " '^Old value = 400' '=> ' '^New value = 400' '=> .*:.sd' 'cycle' '_exit' '_start'
}

for technique in mlvCF_e:CS32 mlvNX_b mc2RT; do
    session untimed $technique
    session one $technique
done
session bank mlvCF_e:CS32
expect_out '^t3: last message at cycle [1-9]'

begin replays_a_cut_stream_to_its_end
head -c $(($(stat -c %s run.vport) / 2)) run.vport >cut.vport
debug_run cut.vport 'continue' 'bt 1' 'printf "end=%lx\n", (long)$pc' 'stepi' 'reverse-stepi' 'printf "back=%lx\n", (long)$pc' 'stepi' 'printf "again=%lx\n", (long)$pc' 'reverse-continue' 'continue' 'printf "last=%lx\n", (long)$pc'
expect_order '^vestige: the stream ends at bit [0-9]+, after message [0-9]+, and the program goes on$' 'No more reverse' '^#0 ' '^end=' '^vestige: the stream ends' '^back=' '^again=' '_start' '^vestige: the stream ends' '^last='
expect_equal "$(value again)" "$(value end)" 'pc at the end'
expect_equal "$(value last)" "$(value end)" 'pc at the end, from the beginning'
[ "$(value back)" != "$(value end)" ] || fail "it did not go back"

begin stands_where_a_stream_is_damaged
cc=$(sed -n 's/^CC=//p' "$VESTIGE_BUILD/config") san=$(sed -n 's/^SAN=//p' "$VESTIGE_BUILD/config")
# shellcheck disable=SC2086 # a compiler may have options
$cc -std=gnu11 ${san:+-fsanitize=$san} -I"$VESTIGE_SRC/src" -I"$VESTIGE_SRC/include" -o damage "$VESTIGE_SRC/tests/cli/damage.c" "$VESTIGE_BUILD/lib/libvestige-all.a" || exit 2
stood=0
for part in 2 3 4 5 6 7 8; do
    ./damage run.vport bad.vport $(($(stat -c %s run.vport) * part / 10 - 400)) || fail "not damaged"
    # another value, perhaps, that nothing depends on
    ! vestige replay bad.vport >replayed.out 2>&1 || continue
    stood=$((stood + 1))
    debug_run bad.vport 'continue' 'bt 1' 'printf "end=%lx\n", (long)$pc' 'stepi' 'reverse-stepi' 'monitor position' 'reverse-continue' 'continue' 'printf "last=%lx\n", (long)$pc'
    # after reverse-stepi within a line or at the beginning of one
    expect_order '^vestige: .*(bit|core) [0-9]+' '^#0 ' '^end=' '^vestige: ' '^(0x|[a-z_]+ [(]|[0-9]+[[:space:]])' '^t[0-3]:[0-9]+, position [1-9]' '_start' '^vestige: ' '^last='
    expect_equal "$(value last)" "$(value end)" 'pc where it is damaged'
done
[ $stood -ge 3 ] || fail "only $stood streams made no sense"

# ---- coming and going ------------------------------------------------------------------------

begin keeps_its_place_between_debuggers
start_server run.vport
gdb_with "127.0.0.1:$port" 'break bank_worker' 'continue' 'printf "at=%lx\n", (long)$pc' 'detach'
at=$(value at)
expect_order 'hit Breakpoint 1'
gdb_with "127.0.0.1:$port" 'printf "at=%lx\n", (long)$pc' 'info breakpoints' 'continue'
expect_equal "$(value at)" "$at" pc
# nobody stops there any more
expect_order '^No breakpoints' 'No more reverse' '_exit'

begin refuses_a_second_debugger
mkfifo hold
(gdb-multiarch -nx -batch -x vestige.gdb -ex "target remote 127.0.0.1:$port" -ex 'reverse-continue' -ex 'shell touch here; cat hold' -ex 'print $pc' "$racy" >first.out 2>&1) &
first=$!
await test -e here
gdb_with "127.0.0.1:$port" 'print $pc'
expect_no_line '^\$1 = '
grep -q 'another debugger is refused, from 127.0.0.1' server.err || fail "not said: $(cat server.err)"
echo >hold
wait $first
grep -q '_start' first.out || fail "the first was disturbed: $(cat first.out)"

begin ends_when_it_is_killed
gdb_with "127.0.0.1:$port" 'kill'
expect_server 0

begin ends_after_one_debugger
start_server --once run.vport
gdb_with "127.0.0.1:$port" 'stepi' 'disconnect'
expect_server 0
grep -q 'the debugger leaves' server.err || fail "not said: $(cat server.err)"

begin ends_when_it_is_interrupted
start_server run.vport
kill -TERM "$server"
expect_server 0

begin survives_a_debugger_that_talks_nonsense
start_server run.vport
exec 9<>"/dev/tcp/127.0.0.1/$port"
printf '$c#00\x03+-}}$#$$m0,ffffffffffffffff#aa$vCont;s:ffff#9f' >&9
exec 9>&-
gdb_with "127.0.0.1:$port" 'print 1' 'stepi' 'kill'
expect_order '^0x' '^\$1 = 1' '^0x'
expect_server 0

begin serves_a_pipe_that_closes
run vestige debug --stdio run.vport </dev/null
expect_status 0
expect_no_out

# ---- all at once -------------------------------------------------------------------------------

begin starts_gdb
run both vestige debug run.vport -- -nx -batch -ex 'break bank_check' -ex 'continue' -ex 'print s->account[4].lowest' -ex 'monitor goto 10' -ex 'thread'
expect_status 0
expect_order '_start' 'Breakpoint 1, bank_check' '^\$1 = -12$' '^#0 ' 'Current thread is 1'
mkdir -p "odd 'names"
cp run.vport "odd 'names/a b.vport"
run both vestige debug "odd 'names/a b.vport" --image "$racy" -- -nx -batch -ex 'print 41 + 1'
expect_status 0
expect_order '_start' '^\$1 = 42$'

begin debugs_a_recorded_run
run both vestige debug bank.vest -- -nx -batch -ex 'break bank_check' -ex 'continue' -ex 'print s->account[4].lowest'
expect_status 0
expect_order 'Breakpoint 1, bank_check' '^\$1 = -12$'
expect_no_line 'bank.vest'
mkdir -p tmp
run env TMPDIR="$T/tmp" vestige replay bank.vest --print-output
expect_status 0
expect_out '^replayed 164,987 instructions to the end'
expect_out 'account 4 was down to -12'
expect_one_line_err
expect_err 'bank.vest: a recorded run: encoded with mc2RT for this'
expect_equal "$(ls tmp)" '' 'what is left behind'

# ---- bad usage -------------------------------------------------------------------------------

# refuse STATUS PATTERN ARGUMENT...
refuse() {
    local wanted=$1 pattern=$2
    shift 2
    run timeout 300 vestige debug "$@"
    expect_status "$wanted"
    expect_one_line_err
    expect_no_out
    expect_err "$pattern"
}

begin refuses_bad_usage
refuse 2 "'x' is not \[HOST:\]PORT" --listen x run.vport
refuse 2 'is not \[HOST:\]PORT' --listen 127.0.0.1:65536 run.vport
refuse 2 'exclude each other' --stdio --listen 0 run.vport
refuse 2 'exclude each other' --stdio --gdb gdb run.vport
refuse 2 'one too many' --stdio run.vport more
refuse 2 'no.such|No such file' --stdio none.vport
refuse 2 '.' --stdio
refuse 2 '.' --stdio --memory 1 run.vport
refuse 2 'not from both' --stdio --code bank.vest --image "$racy" run.vport

begin refuses_a_port_that_is_taken
start_server run.vport
refuse 2 'cannot listen' --listen "127.0.0.1:$port" run.vport
kill -TERM "$server"
expect_server 0

begin refuses_other_streams
vestige encode bank.vest -t mcfTR_e -o flow.vport >"$out" 2>&1
refuse 2 'mcfTR_e has no load values' --stdio flow.vport
refuse 1 '.' --stdio --image build/workloads/rv64/sha run.vport
head -c 20 run.vport >short.vport
refuse 1 '.' --stdio short.vport
{ head -c 3000 run.vport && printf 'XXXX' && tail -c +3005 run.vport; } >spoilt.vport
refuse 1 '.' --stdio spoilt.vport

finish
