#!/bin/bash
# SPDX-License-Identifier: MIT
# Every workload of the catalogue at its tiny size: same checksum and a passed self-check, whatever the
# number of threads, on the host and under qemu; bad arguments refused; in make check-long clean under the sanitizers.
. "$(dirname "$0")/lib.sh"

if grep -q '^SAN=.' "$VESTIGE_BUILD/config"; then
    skip_all "the workloads are the same for every variant of the build"
fi
dir=$VESTIGE_BUILD/workloads

catalog=$(sed 's/#.*//' "$VESTIGE_SRC/workloads/catalog" | awk 'NF')

# check CASE COMMAND...: runs it with -c; expects the checksum in $checksum and a passed check.
check() {
    begin "$1"
    shift
    run "$@" -c
    expect_status 0
    expect_out "^$name: checksum $checksum\$"
    expect_out "^$name: check passed\$"
}

while read -r name kind most tiny _ _ checksum; do
    # no -p for a serial program
    counts=1
    [ "$kind" = parallel ] && counts="1 2 4 8"
    for p in $counts; do
        args=(-n "$tiny")
        [ "$kind" = parallel ] && args+=(-p "$p")
        check "runs_${name}_with_$p" "$dir/host/$name" "${args[@]}"
        check "runs_${name}_with_${p}_on_rv64" qemu-riscv64 "$dir/rv64/$name" "${args[@]}"
    done
    [ -z "$long" ] || check "runs_${name}_with_address_sanitizer" "$dir/asan/$name" "${args[@]}"
    if [ "$kind" = parallel ]; then
        [ -z "$long" ] || check "runs_${name}_with_thread_sanitizer" "$dir/tsan/$name" -n "$tiny" -p 4
        begin "refuses_too_many_threads_for_$name"
        run "$dir/host/$name" -p $((most + 1))
        expect_status 2
    fi
    for bad in "-n 0x" "-n -1" "-s x" "-y" "operand" "-n"; do
        begin "refuses_${bad// /_}_for_$name"
        # shellcheck disable=SC2086
        run "$dir/host/$name" $bad
        expect_status 2
        expect_err '^usage: '
    done
done <<<"$catalog"

begin lists_every_workload
for file in "$VESTIGE_SRC"/workloads/*.c; do
    file=${file##*/}
    grep -q "^${file%.c} " <<<"$catalog" || fail "$file is not in the catalogue"
done
[ "$(wc -l <<<"$catalog")" = "$(ls "$VESTIGE_SRC"/workloads/*.c | wc -l)" ] || fail "not one row per program"

finish
