#!/bin/bash
# SPDX-License-Identifier: MIT
# Every workload recorded on the simulated platform, without and with time: the run agrees with itself in memory and control
# flow, and a second recording is the same file. In `make check` with 4 threads, serial ones with 1; with VESTIGE_LONG=1
# (make check-long) with 1, 2, 4 and 8.
. "$(dirname "$0")/lib.sh"

if [ -n "$sanitized" ]; then
    skip_all "sim.sh records some of them under the sanitizers"
fi
export SOURCE_DATE_EPOCH=1000000000

# Every fourth is recorded twice; in make check-long all are.
turn=0
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
    [ -n "$long" ] || [ $((turn++ % 4)) = 0 ] || return 0
    begin "records_${name}_with_${p}_again"
    run "$VESTIGE" record -o "$T/again.vest" --cores "$p" --timed -- "$program" "$@"
    expect_status 0
    cmp "$T/run.vest" "$T/again.vest" || fail "another file"
    rm -f "$T/again.vest"
}

counts=4
[ -z "$long" ] || counts="1 2 4 8"
each_workload parallel "$counts" record_simulated
each_workload serial 1 record_simulated
finish
