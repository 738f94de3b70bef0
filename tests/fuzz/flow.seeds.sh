#!/bin/bash
# SPDX-License-Identifier: MIT
# usage: flow.seeds.sh DIR: streams of a small program (see flow.c).
set -eu

build=${VESTIGE_BUILD:-build}
for place in "$build" "$build/.."; do
    if [ -x "$place/clang-fuzz/test/fuzz/flow" ]; then
        exec "$place/clang-fuzz/test/fuzz/flow" --seed "$1"
    fi
done
echo "the fuzz target is not built" >&2
exit 1
