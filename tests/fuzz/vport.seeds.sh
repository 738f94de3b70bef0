#!/bin/bash
# SPDX-License-Identifier: MIT
# usage: vport.seeds.sh DIR: short streams, as files and as parts of one (see vport.c).
set -eu

build=${VESTIGE_BUILD:-build}
for place in "$build" "$build/.."; do
    if [ -x "$place/clang-fuzz/test/fuzz/vport" ]; then
        exec "$place/clang-fuzz/test/fuzz/vport" --seed "$1"
    fi
done
echo "the fuzz target is not built" >&2
exit 1
