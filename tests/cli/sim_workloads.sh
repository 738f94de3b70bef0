#!/bin/bash
# SPDX-License-Identifier: MIT
# Every workload on the simulated platform: the same output as under qemu, without time; and with time while every access is
# checked for coherence.
#
# In `make check`: with 4 threads on as many cores, serial ones with 1; fft and racy also with 1, 2 and 8. With time they
# do not check their own results, which takes some of them ten times as long.
# With VESTIGE_LONG=1 (make check-long): all with 1, 2, 4 and 8, and they do.
. "$(dirname "$0")/lib.sh"

if [ -n "$sanitized" ]; then
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
    run "$VESTIGE" simulate --cores "$p" --check-coherence --preset cs16 "$program" "$@" ${long:+-c}
    expect_status 0
    [ -n "$long" ] || sed -i "/^$name: check passed\$/d" "$T/wanted"
    cmp -s "$out" "$T/wanted" || fail "another output than under qemu"
    expect_err ' cycles, [0-9.]+ instructions per cycle$'
}

# also NAME: with other numbers of threads.
also() {
    local name=$1
    [ "$name" = fft ] || [ "$name" = racy ] || return 0
    simulate "$@"
}

if [ -n "$long" ]; then
    each_workload all "1 2 4 8" simulate
else
    each_workload parallel 4 simulate
    each_workload serial 1 simulate
    each_workload parallel "1 2 8" also
fi
finish
