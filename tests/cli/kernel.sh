#!/bin/bash
# SPDX-License-Identifier: MIT
# What the kernel writes into a program is recorded: after each of some hundred system calls the program reads all
# that could have been written, and every load must be explained.
. "$(dirname "$0")/lib.sh"

P=$VESTIGE_SRC/tests/programs
cc=$(sed -n 's/^CC=//p' "$VESTIGE_BUILD/config")
cd "$T" || exit 2
# shellcheck disable=SC2086 # a compiler may have options
$cc -O1 -g -D_GNU_SOURCE -pthread -o kernel "$P/real_kernel.c" || exit 2

# While other threads run, less is guessed: what a call may write must then be known.
for how in alone $(more busy); do
    begin "records_what_the_kernel_writes_$how"
    run timeout 100 "$VESTIGE" record -f -o r.vest -- ./kernel "$how"
    expect_status 0
    expect_out '^calls [0-9]+ failed [0-9]+ not offered [0-9]+$'
    [ "$(awk '{ print $2 - $7 }' "$out")" -ge 400 ] || fail "too little was tried"
    echo "kernel, $how: $(cat "$out")"
    run timeout 100 "$VESTIGE" check --memory r.vest
    expect_status 0
    expect_out ' loads .*: all equal$'
done

finish
