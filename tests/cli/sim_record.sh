#!/bin/bash
# SPDX-License-Identifier: MIT
# Every workload recorded on the simulated platform, with 1 and 4 threads, without and with time: the run agrees with
# itself in memory and control flow, and a second recording is the same file.
. "$(dirname "$0")/lib.sh"

if grep -q '^SAN=.' "$VESTIGE_BUILD/config"; then
    skip_all "sim.sh records some of them under the sanitizers"
fi
export SOURCE_DATE_EPOCH=1000000000

record_simulated() {
    local name=$1 p=$2 checksum=$3 program mode
    shift 3
    program=$(workload rv64 "$name")
    for mode in "" "--timed"; do
        begin "records_${name}_with_$p$mode"
        # shellcheck disable=SC2086
        run "$VESTIGE" record -f -o "$T/run.vest" --cores "$p" $mode -- "$program" "$@"
        expect_status 0
        expect_out "^$name: checksum $checksum\$"
        expect_whole "$name $p $mode"
    done
    begin "records_${name}_with_${p}_again"
    run "$VESTIGE" record -o "$T/again.vest" --cores "$p" --timed -- "$program" "$@"
    expect_status 0
    cmp "$T/run.vest" "$T/again.vest" || fail "another file"
    rm -f "$T/again.vest"
}

each_workload ${WL:-all} "1 4" record_simulated
finish
