#!/bin/bash
# SPDX-License-Identifier: MIT
# usage: reader.seeds.sh DIR: small runs, each as a file and as the columns of one (see reader.c).
set -eu

dir=$1
gen=${VESTIGE_GEN:-build/test/vestige-gen}
work=$(mktemp -d)
# shellcheck disable=SC2064
trap "rm -rf '$work'" EXIT

# The target itself takes files apart.
seed() {
    local name=$1
    shift
    "$gen" -o "$work/$name.vest" "$@" >"$work/log"
    { printf '\0' && cat "$work/$name.vest"; } >"$dir/$name.file"
    "$FUZZER" --seed "$work/$name.vest" "$dir/$name.columns"
}

seed control --seed 1 --events 60 --threads 2 --control-only --chunk-events 20
seed memory --seed 2 --events 80 --threads 1 --chunk-events 50
seed timed --seed 3 --events 60 --threads 3 --timed --chunk-events 20
seed branchy --seed 4 --events 150 --threads 2 --profile branchy --timed
seed loops --seed 5 --events 300 --threads 4 --profile loops
seed mixed --seed 6 --events 1000 --threads 5 --timed --chunk-events 300
