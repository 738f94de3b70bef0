#!/bin/bash
# SPDX-License-Identifier: MIT
# usage: data.seeds.sh DIR: streams of every technique (see data.c).
set -eu

build=${VESTIGE_BUILD:-build}
for place in "$build" "$build/.."; do
    if [ -x "$place/clang-fuzz/test/fuzz/data" ]; then
        exec "$place/clang-fuzz/test/fuzz/data" --seed "$1"
    fi
done
echo "the fuzz target is not built" >&2
exit 1
