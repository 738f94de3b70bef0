#!/bin/bash
# SPDX-License-Identifier: MIT
# usage: gdb.seeds.sh DIR: what debuggers say, as packets and as bytes (see gdb.c).
set -eu

build=${VESTIGE_BUILD:-build}
for place in "$build" "$build/.."; do
    if [ -x "$place/clang-fuzz/test/fuzz/gdb" ]; then
        exec "$place/clang-fuzz/test/fuzz/gdb" --seed "$1"
    fi
done
echo "the fuzz target is not built" >&2
exit 1
