#!/bin/bash
# SPDX-License-Identifier: MIT
# gdb finds its way in native programs by itself: libraries, signal handlers, threads, code that nobody compiled, another
# program, exceptions, a crash; forwards and backwards.
# shellcheck disable=SC2016 # what is in single quotes is for gdb
. "$(dirname "$0")/lib.sh"

command -v gdb >/dev/null || skip_all "there is no gdb"
cd "$T" || exit 2
P=$VESTIGE_SRC/tests/programs
cc=$(sed -n 's/^CC=//p' "$VESTIGE_BUILD/config")
# shellcheck disable=SC2086 # a compiler may have options
{
    $cc -O0 -g -D_GNU_SOURCE -pthread -o debugged "$P/real_debugged.c" -ldl || exit 2
    $cc -O1 -g -fcf-protection=none -D_GNU_SOURCE -pthread -o other "$P/real_debugged.c" -ldl || exit 2
    $cc -shared -fPIC -g -DFACTOR=3 -o library.so "$P/real_dl_lib.c" || exit 2
    $cc -shared -fPIC -g -DFACTOR=3 -o first.so "$P/real_dl_lib.c" || exit 2
    $cc -shared -fPIC -g -DFACTOR=5 -o second.so "$P/real_dl_lib.c" || exit 2
    $cc -O0 -g -o loads "$P/real_dl.c" -ldl || exit 2
}

"$VESTIGE" record -q -o libraries.vest -- ./loads ./first.so ./second.so >"$out" 2>&1 || exit 2

# debug NAME COMMAND...: in gdb, all that is recorded as NAME.vest, which is made first if it is not there: of `debugged NAME`,
# or of the program NAME.
debug() {
    local name=$1 arguments=(-nx -batch -iex 'set debug-file-directory /nonexistent' -ex 'set width 0') program=./debugged
    shift
    [ ! -x "$name" ] || program=./$name
    [ -e "$name.vest" ] || "$VESTIGE" record -o "$name.vest" -- "$program" "$name" >"$out" 2>&1
    for line; do arguments+=(-ex "$line"); done
    run timeout 300 sh -c '"$@" 2>&1' sh "$VESTIGE" debug --gdb gdb "$name.vest" -- "${arguments[@]}"
    expect_status 0
    expect_no_line '^warning: .*(description|library list)|^Traceback|internal-error'
}

begin follows_libraries
debug library 'info sharedlibrary' 'echo == main\n' 'break main' 'continue' 'info sharedlibrary' 'echo == twist\n' 'set breakpoint pending on' 'break twist' 'continue' 'backtrace' 'info sharedlibrary' \
    'echo == puts\n' 'tbreak puts' 'continue' 'backtrace' 'echo == back\n' 'delete' 'reverse-continue' 'info sharedlibrary'
expect_order ' in (_start|\?\?) \(\) from .*/ld-linux-x86-64.so.2' 'Yes .*/ld-linux-x86-64.so.2' '== main' 'Breakpoint 1, main \(argc=2, ' 'Yes .*/libc.so.6' '== twist' \
    '^Breakpoint 2 .twist. pending' 'Breakpoint 2, twist \(x=2\) at .*/real_dl_lib.c' '^#0  twist ' '^#1 .* main .*real_debugged.c' 'Yes .*/library.so' \
    '== puts' 'Temporary breakpoint 3, .*puts' '^#1 .* main ' '== back' 'No more reverse' ' in (_start|\?\?) ' 'Yes .*/ld-linux'
sed -n '/== main/,/== twist/p; /== back/,$p' "$out" >parts
! grep -q library.so parts || fail "the library is there before it is loaded"

begin shows_registers_and_variables_of_threads
debug library 'break puts' 'continue' 'up' 'print $rip' 'print $eflags' 'print $fs_base != 0' 'print $ymm0' 'print $st0' 'info float' 'print $orig_rax' 'info registers rsp' \
    'print sizeof($xmm3)' 'info all-registers mxcsr' 'maintenance print architecture' 'print own' 'print &errno != 0'
expect_order '^\$1 = .*<main\+' '^\$2 = \[ ' '^\$3 = 1$' '^\$4 = \{.*v4_int64' '^\$5 = ' '^Status Word: ' '^Tag Word: +0xffff' '^\$6 = -1$' '^rsp +0x' '^\$7 = 16$' '^mxcsr +0x1f80' '^\$8 = 7$' '^\$9 = 1$'
expect_no_line 'rchitecture rejected'

begin goes_through_signal_handlers
debug signal 'continue' 'echo == handler\n' 'break handle' 'continue' 'backtrace' 'finish' 'echo == back\n' 'delete' 'reverse-continue' 'info signals SIGUSR1' 'stepi' 'backtrace 2'
expect_order 'received signal SIGUSR1' '== handler' 'Breakpoint 1, handle \(number=10\)' '^#0  handle ' '^#1  <signal handler called>' '^#[23] .*raise' \
    '^#[3-6] .* signalled \(\) ' '^#[4-7] .* main ' '<signal handler called>' '== back' 'received signal SIGUSR1' '^SIGUSR1' '^#0 .*handle' '<signal handler called>'

begin names_threads
debug threads 'break work' 'continue' 'info threads' 'next 2' 'info threads' 'continue' 'next 3' 'print own' 'info threads' 'thread apply all backtrace 1' 'watch shared' 'reverse-continue' \
    'reverse-continue' 'reverse-continue'
expect_order 'Thread 2 "debugged" hit Breakpoint 1, work' '^  1 +Thread 1 "debugged" \(LWP [0-9]+\)' '^\* 2 +Thread 2 "debugged" ' '^\* 2 +Thread 2 "reader" \(LWP [0-9]+\)' \
    'Thread 3 "debugged" hit Breakpoint 1' '^\$1 = 42$' '^\* 3 +Thread 3 "writer" \(LWP [0-9]+\)' '^Thread 3 \(Thread 3 "writer"' '^#0 .*work' \
    'Thread 3 "writer" hit Hardware watchpoint 2: shared' '^Old value = 2' '^New value = 1' 'hit Breakpoint 1' 'Thread 2 "reader" hit Hardware watchpoint' '^New value = 0'

begin shows_code_that_nobody_compiled
debug made 'break made' 'continue' 'next 3' 'x/3i page' 'break *page' 'continue' 'x/i $pc' 'backtrace 1' 'stepi' 'print $eax' 'find $pc - 3, +7, (char)0x83' 'reverse-stepi' 'x/i $pc' 'stepi 3' 'print $eax'
expect_order 'lea +\(%rdi,%rdi,1\),%eax' 'add +\$0x1,%eax' 'ret' 'Breakpoint 2, 0x[0-9a-f]+ in' '=> .*lea ' '^#0 ' '^\$1 = 40$' '^1 pattern found' '=> .*lea ' ' in made |^made ' '^\$2 = 41$'

begin shows_the_process_and_its_memory
debug made 'break made' 'continue' 'info proc' 'echo == before\n' 'info proc mappings' 'echo == after\n' 'next 2' 'printf "page 0x%016lx\n", (long)page' 'info proc mappings' 'info proc stat' 'info threads'
expect_order '^process [1-9][0-9]*$' "^exe = '/.*/debugged'$" '== before' 'r-x +/.*/debugged' 'rw- +/.*/debugged' 'r-x +/.*/ld-linux' 'r-x +/.*/libc.so.6' '== after' '^page 0x' 'rwx +$' 'there are info proc and info proc mappings'
page=$(sed -n 's/^page //p' "$out")
expect_equal "$(sed '/== after/q' "$out" | grep -c "^$page .*rwx")" 0
expect_equal "$(sed '1,/== after/d' "$out" | grep -c "^$page .*rwx")" 1

begin follows_an_exec
debug exec 'catch exec' 'break main' 'continue' 'info threads' 'continue' 'echo == other\n' 'info threads' 'continue' 'info inferiors' 'info sharedlibrary' 'next 3' 'backtrace' 'delete' \
    'echo == back\n' 'tbreak puts' 'continue' 'break main' 'reverse-continue' 'reverse-continue' 'info inferiors' 'print argc' 'next 4'
expect_order 'Breakpoint 2, main \(argc=2, ' '^\* 1 +Thread 1 "debugged" ' 'is executing new program: .*/other' 'Catchpoint 1 \(exec.d .*/other\)' '== other' '^\* [0-9]+ +Thread 2 "other" ' \
    'Breakpoint 2, main \(argc=' '^\* 1 .*/other' 'Yes .*/libc.so.6' '^#0  main ' '== back' 'puts' 'Breakpoint [0-9]+, main ' 'is executing new program: .*/debugged' \
    '"debugged" hit Breakpoint [0-9]+, main ' '^\* 1 .*/debugged' '^\$1 = 2$'
expect_no_line '"other" \(LWP .*ended'

begin jumps_to_another_program
debug exec 'break puts' 'continue' 'continue' 'delete' 'monitor goto 1000' 'info inferiors' 'info threads' 'monitor goto t1:100' 'info inferiors' 'info threads' 'stepi'
expect_order '" hit Breakpoint 1, .*puts' 'position 1000, ' 'is executing new program: .*/debugged' '^\* 1 .*/debugged' '"debugged"' 'is executing new program: .*/other' \
    '^\* 1 .*/other' '"other"'

begin stops_where_it_crashed_and_changes_nothing
debug crash 'continue' 'backtrace' 'print node' 'print most' 'x/i $pc' 'print sum(node, 1)' 'set var shared = 1' 'set var $rax = 1' 'continue' 'reverse-continue' 'watch node' 'reverse-continue' 'print *node' 'delete' 'tbreak sum' 'reverse-continue' 'print *node->next' \
    'until' 'reverse-finish'
expect_order 'received signal SIGSEGV' ' in sum |^sum ' '^#0 .*sum ' '^#1 .* crash ' '^#2 .* main ' '^\$1 = .*0x0$' '^\$2 = 0$' '^=> .*sum' '^Cannot call functions in the program' '^Writing to memory is not allowed' \
    '^Could not write register "rax".*the past cannot be changed' 'No more reverse' 'received signal SIGSEGV' \
    'Hardware watchpoint 1: node|watchpoint 1: node' '^\$3 = \{next = 0x0, value = 1\}' 'Temporary breakpoint 2, sum ' '^\$4 = \{next = 0x0, value = 1\}'

begin stops_where_a_thread_crashed
debug crash-in-thread 'continue' 'backtrace' 'info threads' 'continue' 'reverse-continue' 'thread 1' 'backtrace'
expect_order '" received signal SIGSEGV' '^#0 .*sum ' '^#1 .* crash ' '^#2 .* crash_alone ' '^  1 +Thread 1 "debugged" \(LWP [0-9]+' '^\* 2 +Thread 2 "debugged" \(LWP [0-9]+.* sum ' \
    'No more reverse' 'received signal SIGSEGV' 'Switching to thread 1' ' crash_in_thread ' ' main '
expect_no_line '^vestige: '

begin finds_the_other_thread_of_a_race
debug race 'break printf' 'continue' 'print balance' 'watch balance' 'reverse-continue' 'backtrace 2' 'print found' 'reverse-continue' 'backtrace 2' 'print found' 'who-wrote balance' 'delete 2' \
    'rwatch balance' 'reverse-continue' 'reverse-continue' 'backtrace 2' 'next'
# 30 were added to a balance that the other thread had changed since it was read
expect_order 'Breakpoint 1, ' '^\$1 = 130$' 'hit Hardware watchpoint 2: balance' '^Old value = 130$' '^New value = 120$' '^#0 .*pay_in \(amount=30, ' '^#1 .* slow_clerk ' '^\$2 = 100$' \
    'hit Hardware watchpoint 2: balance' '^Old value = 120$' '^New value = 100$' '^#0 .*pay_in \(amount=20, ' '^#1 .* quick_clerk ' '^\$3 = 100$' 'no instruction wrote it before here' \
    'hit Hardware read watchpoint 3: balance' '^Value = 100$' 'hit Hardware read watchpoint 3: balance' '^Value = 100$' '^#0 .*pay_in \(amount=30, ' '^#1 .* slow_clerk '

begin follows_libraries_that_come_and_go
# gdb does not remove breakpoints in what was unloaded, and must not be stopped by them
debug libraries 'set breakpoint pending on' 'break twist' 'continue' 'info symbol $pc' 'ignore 1 99' 'continue' 'info symbol $pc' 'tbreak dlclose' 'ignore 1 1000' 'continue' 'delete' 'echo == back\n' \
    'set debug remote 1' 'reverse-continue' 'set debug remote 0' 'info sharedlibrary'
expect_order 'Breakpoint 1, twist \(x=0\)' '^twist .*/first.so' 'Breakpoint 1, twist \(x=0\)' '^twist .*/second.so' 'Temporary breakpoint 2, .*dlclose' '== back' 'No more reverse' ' from .*/ld-linux' 'Yes .*/ld-linux'
sed -n '/== back/,$p' "$out" >parts
[ "$(grep -c 'Sending packet: $bc#' parts)" -lt 20 ] || fail "stopped by breakpoints that are gone"

begin goes_through_exceptions
if has_program g++; then
    g++ -O1 -g -pthread -o throw "$P/real_throw.cc" || fail "not compiled"
    debug throw 'catch throw' 'continue' 'backtrace' 'catch catch' 'continue' 'backtrace' 'delete 2' 'reverse-continue' 'backtrace 2'
    expect_order 'Catchpoint 1 \(exception thrown\)' '^#0 .*__cxa_throw' '^#1 .* shapes::Box::volume ' '^#2 .* nested ' 'Catchpoint 2 \(exception caught\)' '^#1 .* work ' \
        'Catchpoint 1 \(exception thrown\)' '^#1 .* shapes::Box::volume '
else
    skip "there is no g++"
fi

finish
