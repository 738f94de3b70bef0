#!/bin/bash
# SPDX-License-Identifier: MIT
# Every workload on the simulated platform, with 1, 2, 4 and 8 threads on as many cores: the same output as under qemu,
# without time, and with time while every access is checked for coherence.
. "$(dirname "$0")/lib.sh"

if grep -q '^SAN=.' "$VESTIGE_BUILD/config"; then
    skip_all "sim.sh runs some of them under the sanitizers"
fi

simulate() {
    local name=$1 p=$2 checksum=$3 program
    shift 3
    program=$(workload rv64 "$name")
    begin "runs_${name}_with_${p}_as_qemu_does"
    qemu-riscv64 "$program" "$@" -c >"$T/wanted" || fail "qemu failed"
    grep -q "^$name: checksum $checksum\$" "$T/wanted" || fail "qemu has another checksum"
    run "$VESTIGE" simulate --cores "$p" "$program" "$@" -c
    expect_status 0
    cmp -s "$out" "$T/wanted" || fail "another output than under qemu"

    begin "runs_${name}_with_${p}_coherently"
    run "$VESTIGE" simulate --cores "$p" --check-coherence --preset cs16 "$program" "$@" -c
    expect_status 0
    cmp -s "$out" "$T/wanted" || fail "another output than under qemu"
    expect_err ' cycles, [0-9.]+ instructions per cycle$'
}

each_workload all "1 2 4 8" simulate
finish
