#!/bin/bash
# SPDX-License-Identifier: MIT
# usage: replay.seeds.sh DIR [TARGET]: what the target (replay) makes itself: streams of a small program.
set -eu

build=${VESTIGE_BUILD:-build}
for place in "$build" "$build/.."; do
    if [ -x "$place/clang-fuzz/test/fuzz/${2:-replay}" ]; then
        exec "$place/clang-fuzz/test/fuzz/${2:-replay}" --seed "$1"
    fi
done
echo "the fuzz target is not built" >&2
exit 1
