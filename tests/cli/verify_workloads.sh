#!/bin/bash
# SPDX-License-Identifier: MIT
# Every workload recorded, natively and simulated with time, and techniques proved on it; and on programs with shared
# libraries and threads. A native run has the workload's checksum and agrees with itself (sim_record.sh has that of the
# simulated ones).
#
# In `make check`: 4 threads, serial ones 1; on each workload one technique of each kind, on the next another, so that all
# that are hardware have their turn on both machines. Under the sanitizers a few workloads. (verify.sh proves all techniques
# with all configurations on small runs, in both builds.)
# With VESTIGE_LONG=1 (make check-long): all configurations of all techniques that are hardware on 1, 2, 4 and 8 threads,
# simulated also without time, and a general compressor of each kind in turn, which takes longer than all of these; an
# interpreter. Under the sanitizers then every workload natively, with 1 thread and 4, techniques in turn.
. "$(dirname "$0")/lib.sh"

# names KIND: the techniques of this kind but for the software ones, in an array of that name; these in one that ends in _software.
names() {
    mapfile -t "${1%% *}" < <("$VESTIGE" techniques --json |
        jq -r --arg kind "$1" '.[] | select(.kind == $kind and (.summary | contains("software") | not)).name')
    mapfile -t "${1%% *}_software" < <("$VESTIGE" techniques --json |
        jq -r --arg kind "$1" '.[] | select(.kind == $kind and (.summary | contains("software"))).name')
}
names "control flow"
names "load values"
names "data addresses"
mapfile -t hardware < <("$VESTIGE" techniques --json | jq -r '.[] | select(.summary | contains("software") | not) |
    .name, (.name + ":" + (.configurations // {} | keys_unsorted[]))')
hardware+=("mlvCF_e:CS32,granule=1" "mlvCF_e:CS32,granule=32" mcfTR_e:predictors=shared mc2RT:implied mlvCF_e:shared)
# shellcheck disable=SC2154 # filled by names()
{
    control+=(mcfTR_e:predictors=shared)
    load+=(mlvCF_e:CS32 mc2RT:implied mc2RT_k:1K mlvCF_e:shared)
}

# choose: what is proved on this workload, in $specs.
turn=0 runs=0
choose() {
    local spec
    # shellcheck disable=SC2154
    if [ -n "$long" ] && [ -z "$sanitized" ]; then
        specs=()
        for spec in "${hardware[@]}" "${control_software[runs % ${#control_software[@]}]}" \
            "${load_software[runs % ${#load_software[@]}]}" "${data_software[runs % ${#data_software[@]}]}"; do
            specs+=(-t "$spec")
        done
        runs=$((runs + 1))
    else
        specs=(-t "${control[turn % ${#control[@]}]}" -t "${load[turn % ${#load[@]}]}" -t "${data[turn % ${#data[@]}]}")
    fi
}

# prove CASE: $T/run.vest, with $specs.
prove() {
    local at
    for ((at = 0; at < ${#specs[@]}; at += 100)); do # it takes no more than 64 at a time
        run "$VESTIGE" verify -q "$T/run.vest" "${specs[@]:at:100}"
        expect_status 0
        expect_no_err
        expect_out '^compared [1-9][0-9,]* events: all equal$'
        echo "$1: $(cat "$out") ($((${#specs[@]} / 2)) specs from ${specs[at + 1]} on)"
    done
}

# simulated CASE OPTION... -- PROGRAM...
simulated() {
    local name=$1
    shift
    begin "proves_$name"
    "$VESTIGE" record -f -o "$T/run.vest" "$@" >/dev/null 2>"$err" </dev/null || fail "not recorded"
    choose
    prove "$name"
}

natively() {
    local name=$1 p=$2 checksum=$3
    shift 3
    begin "records_${name}_with_${p}_native"
    run "$VESTIGE" record -f -o "$T/run.vest" -- "$(workload host "$name")" "$@"
    expect_status 0
    expect_out "^$name: checksum $checksum\$"
    expect_whole "$name $p"
    begin "proves_${name}_with_${p}_native"
    choose
    prove "${name}_with_${p}_native"
}

both() {
    local name=$1 p=$2
    natively "$@"
    shift 3
    simulated "${name}_with_${p}_timed" --cores "$p" --timed -- "$(workload rv64 "$name")" "$@"
    [ -z "$long" ] || simulated "${name}_with_$p" --cores "$p" -- "$(workload rv64 "$name")" "$@"
    turn=$((turn + 1))
}

begin knows_techniques_of_each_kind
[ ${#control[@]} -ge 10 ] && [ ${#load[@]} -ge 8 ] && [ ${#data[@]} -ge 4 ] || fail "${control[*]} ${load[*]} ${data[*]}"
[ ${#hardware[@]} -ge 80 ] || fail "${hardware[*]}"
[ ${#control_software[@]} = 4 ] && [ ${#load_software[@]} = 4 ] && [ ${#data_software[@]} = 4 ] || fail "compressors"

if [ -n "$brief" ]; then
    natively racy 4 '[0-9a-f]*' -n 100 -p 4
    natively fft 2 '[0-9a-f]*' -n 6 -p 2
    natively signals 1 '[0-9a-f]*' -n 20
    turn=3
    simulated racy_with_4_timed --cores 4 --timed -- "$(workload rv64 racy)" -n 100 -p 4
    finish
fi

in_turn() {
    natively "$@"
    turn=$((turn + 1))
}
if [ -n "$sanitized" ]; then
    each_workload all "1 4" in_turn
    finish
fi

counts="4"
[ -z "$long" ] || counts="1 2 4 8"
each_workload parallel "$counts" both
each_workload serial 1 both

# programs that are not ours; these are long runs
program() {
    local name=$1
    shift
    begin "proves_$name"
    "$VESTIGE" record -f -o "$T/run.vest" -- "$@" >/dev/null 2>"$err" </dev/null || fail "not recorded"
    specs=(-t mcfTR_e -t mlvCF_e -t ADAC)
    [ -z "$long" ] || specs+=(-t rSDC-LSP -t mlvNX_b -t mc2RT -t daNX -t DAC -t daFilter)
    prove "$name"
}
size=3000
[ -z "$long" ] || size=20000
seq $size >"$T/numbers"
program a_compressor_with_threads xz -T2 -0 --block-size=$size -kc "$T/numbers"
program a_lister ls -lR "$VESTIGE_SRC/src/cli"
[ -z "$long" ] || program an_interpreter python3 -c 'print(sorted(str(i) for i in range(500))[:3])'
finish
