#!/bin/bash
# SPDX-License-Identifier: MIT
# usage: snapshots.seeds.sh DIR: a snapshot with one thread and a page that is gone; and one with
# nothing.
set -eu

# le NUMBER...: 64-bit numbers.
le() {
    local n
    for n in "$@"; do
        printf "\\x$(printf %02x "$n")"
        printf '\0\0\0\0\0\0\0'
    done
}

{
    printf '\1\2'
    le 5 9 70 0 1 1 # input, events, instructions, emptied, threads, pages
    le 70 70 0 9 1  # the thread
    printf 'registers.registers.registers.registers.'
    le 3
    printf '\0\0\0\0'
} >"$1/one"
{
    printf '\2\1'
    le 1 1 1 1 0 0 2 2 2 0 0 0
} >"$1/two"
