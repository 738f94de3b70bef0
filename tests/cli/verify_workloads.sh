#!/bin/bash
# SPDX-License-Identifier: MIT
# Techniques proved on every workload, with their defaults: simulated with time and 4 threads, and native; and on programs
# with shared libraries and threads. With VESTIGE_LONG=1 (make check-long) all configurations, 1, 2, 4 and 8 threads, also
# without time.
. "$(dirname "$0")/lib.sh"

if grep -q '^SAN=.' "$VESTIGE_BUILD/config"; then
    skip_all "verify.sh proves all techniques under the sanitizers"
fi
long=${VESTIGE_LONG:-}
specs=()
for name in $("$VESTIGE" techniques --json | jq -r '.[] | select(.kind == "control flow").name'); do
    specs+=(-t "$name")
done
specs+=(-t mlvNX_b -t mlvCF_e:CS32 -t mlvFA -t mlvFA_dedicated -t mc2RT)
[ -z "$long" ] || specs=(-t all -t mlvCF_e:CS32,granule=1 -t mlvCF_e:CS32,granule=32)
specs+=(-t mcfTR_e:predictors=shared -t mc2RT:implied -t mlvCF_e:shared)
few=(-t mcfTR_e -t rSDC-LSP -t mlvNX_b -t mlvCF_e -t mc2RT)

# prove CASE OPTION... -- PROGRAM...: records it and compares.
prove() {
    local name=$1
    shift
    begin "proves_$name"
    "$VESTIGE" record -f -o "$T/run.vest" "$@" >/dev/null 2>"$err" </dev/null || fail "not recorded"
    run "$VESTIGE" verify -q "$T/run.vest" "${specs[@]}"
    expect_status 0
    expect_no_err
    expect_out '^compared [1-9][0-9]* events: all equal$'
    echo "$name: $(cat "$out")"
}

prove_workload() {
    local name=$1 p=$2
    shift 3
    prove "${name}_with_${p}_timed" --cores "$p" --timed -- "$(workload rv64 "$name")" "$@"
    prove "${name}_with_${p}_native" -- "$(workload host "$name")" "$@"
    [ -z "$long" ] || prove "${name}_with_$p" --cores "$p" -- "$(workload rv64 "$name")" "$@"
}

counts="4"
[ -z "$long" ] || counts="1 2 4 8"
each_workload parallel "$counts" prove_workload
each_workload serial 1 prove_workload

specs=("${few[@]}") # these are long runs
seq 20000 >"$T/numbers"
prove a_compressor_with_threads -- xz -T2 --block-size=20000 -kc "$T/numbers"
prove an_interpreter -- python3 -c 'print(sorted(str(i) for i in range(500))[:3])'
prove a_lister -- ls -lR "$VESTIGE_SRC/src"
finish
