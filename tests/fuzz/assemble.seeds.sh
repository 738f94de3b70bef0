#!/bin/bash
# SPDX-License-Identifier: MIT
# usage: assemble.seeds.sh DIR: streams of a few records, as buffers and as items (see assemble.c).
set -eu

build=${VESTIGE_BUILD:-build}
for place in "$build" "$build/.."; do
    if [ -x "$place/clang-fuzz/test/fuzz/assemble" ]; then
        exec "$place/clang-fuzz/test/fuzz/assemble" --seed "$1"
    fi
done
echo "the fuzz target is not built" >&2
exit 1
