#!/bin/bash
# SPDX-License-Identifier: MIT
# usage: data.seeds.sh DIR [TARGET]: what the target (data) makes itself: streams of every technique.
set -eu

build=${VESTIGE_BUILD:-build}
for place in "$build" "$build/.."; do
    if [ -x "$place/clang-fuzz/test/fuzz/${2:-data}" ]; then
        exec "$place/clang-fuzz/test/fuzz/${2:-data}" --seed "$1"
    fi
done
echo "the fuzz target is not built" >&2
exit 1
