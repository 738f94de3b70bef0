#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs as they are, and programs that are hard to record: they must behave as they do natively,
# and every load must return what the record says was last written. Those that are not installed
# are left out. Under the sanitizers only our own small ones, but in make check-long (VESTIGE_LONG=1):
# the assembler of events, which is what is checked there, sees all kinds of them from these.
. "$(dirname "$0")/lib.sh"

P=$VESTIGE_SRC/tests/programs
cc=$(sed -n 's/^CC=//p' "$VESTIGE_BUILD/config")
cd "$T" || exit 2

# same PROGRAM [ARGUMENT...]: natively and recorded, with the same output and status
same() {
    local native
    "$@" >native.out 2>native.err </dev/null
    native=$?
    run timeout 300 "$VESTIGE" record -f -o r.vest -- "$@" </dev/null
    expect_status $native
    cmp -s native.out "$out" || fail "standard output differs"
    cmp -s native.err <(grep -v '^vestige: ' "$err") || fail "standard error differs"
    run "$VESTIGE" check -q --memory r.vest
    expect_status 0
}

# try NAME PROGRAM...: a case, if the program is installed
try() {
    begin "$1"
    shift
    if command -v "$1" >/dev/null; then
        same "$@"
    else
        skip "there is no $1"
    fi
}

# own NAME [ARGUMENT...]: a case with a program of ours
own() {
    begin "records_$1"
    # shellcheck disable=SC2086 # a compiler may have options
    [ -x "$1" ] || $cc -O1 -g -D_GNU_SOURCE -pthread -o "$1" "$P/real_$1.c" -ldl || exit 2
    same "./$1" "${@:2}"
}

head -c 80000 "$VESTIGE" >binary
seq 5000 >numbers
echo 'int main(void) { return 0; }' >main.c

own calls
own signals
own threads
own fork
own maps
own limits
begin shows_limits_that_a_program_may_raise
soft=$(ulimit -Sn)
ulimit -Sn 200
same ./limits
ulimit -Sn "$soft"

# A program may bring functions that take the place of others under Valgrind, but it is recorded as it is natively.
own replaced
run "$VESTIGE" check -q --flow r.vest
expect_status 0

own jit
run "$VESTIGE" dump --kind code r.vest
[ "$(wc -l <"$out")" -ge 50 ] || fail "too few changes of code"

$cc -shared -fPIC -DFACTOR=3 -o one.so "$P/real_dl_lib.c" || exit 2
$cc -shared -fPIC -DFACTOR=5 -o two.so "$P/real_dl_lib.c" || exit 2
own dl ./one.so ./two.so
run "$VESTIGE" dump --kind code r.vest
expect_out 'code'

if [ -n "$brief" ]; then
    try follows_exec_of_a_shell sh -c 'exec ./jit'
    finish
fi

begin records_exceptions
if has_program g++; then
    g++ -O1 -g -pthread -o throw "$P/real_throw.cc" || fail "not compiled"
    same ./throw
    run "$VESTIGE" record --json -f -o r.vest --routine 'shapes::Box::volume' ./throw
    expect_status 0
    [ "$(tail -n 1 "$out" | jq .instructions)" -gt 1000 ] || fail "the routine was not found"
fi

try follows_exec_of_a_shell sh -c 'exec ./fork'
try follows_exec_twice env sh -c 'exec env ./jit'
begin counts_programs
run "$VESTIGE" record --json -f -o r.vest env sh -c 'exec ./jit'
expect_equal "$(tail -n 1 "$out" | jq .programs)" 3

try records_a_shell_with_children sh -c 'ls / | wc -l; (exit 3); echo $?'
try records_ls ls -R "$VESTIGE_SRC/src"
try records_gcc gcc -O1 -c main.c -o main.o
try records_openssl openssl dgst -sha256 binary
try records_sort sort -rn numbers
try records_pigz pigz -p2 -nc binary
try records_xz xz -T2 --block-size=50000 -1 -c binary
xz -T2 --block-size=50000 -1 -c binary >binary.xz
try records_xz_decompressing xz -T2 -dc binary.xz
try records_python /usr/bin/python3 -S -E -c '
import json, threading
done = []
def work(n):
    done.append(sum(i * i for i in range(n)))
threads = [threading.Thread(target=work, args=(60 * i,)) for i in range(1, 4)]
[t.start() for t in threads]
[t.join() for t in threads]
print(json.dumps(sorted(done)))'
try records_perl perl -e 'print join(",", map { $_ * $_ } 1 .. 500), "\n"; print `echo child`; exit 3'

finish
