#!/bin/bash
# SPDX-License-Identifier: MIT
# Streams of the RISC-V trace standards, decoded by programs that share no code with src (tests/standards) and were
# written from the rules of the standards alone: they find the instructions that the run executed, in order.
#
# In `make check`: two workloads, with one thread and with four, with time. With VESTIGE_LONG=1 (make check-long): all
# simulated workloads, with 1, 4 and 8 threads, and more options.
. "$(dirname "$0")/lib.sh"

# build NAME OPTION...: compiles a program of tests/standards.
cc=$(sed -n 's/^CC=//p' "$VESTIGE_BUILD/config")
san=$(sed -n 's/^SAN=//p' "$VESTIGE_BUILD/config")
build() {
    # shellcheck disable=SC2086 # a compiler may have options
    $cc -O2 -std=gnu11 -Wall -Wextra ${san:+-fsanitize=$san} -pthread -I"$VESTIGE_SRC/include" \
        -o "$T/$1" "$VESTIGE_SRC/tests/standards/$1.c" "${@:2}" || exit 2
}
build etrace
build ntrace
build truth "$VESTIGE_BUILD/lib/libvestige.a" -lzstd

trusting=(etrace:implicit_return=counter,depth=512 ntrace:implicit_return=counter,depth=32
    ntrace:implicit_return=partial)
specs=(etrace etrace:all,resync=20 ntrace ntrace:btm_repeat ntrace:all ntrace:best,all_jumps=on,extend_address=on)
[ -z "$long" ] || specs+=(etrace:ir etrace:bp etrace:ir_bp etrace:all etrace:addresses=full
    etrace:ecall=plain,header=encap etrace:ir,depth=2 etrace:all,jtc=256,bpred=2 ntrace:btm ntrace:htm_ir ntrace:best
    ntrace:icnt_bits=8 ntrace:btm,all_jumps=on ntrace:all,all_jumps=on,icnt_bits=9 ntrace:extend_address=on)

# decode SPEC: prints what each core of $T/run.vest executed, by its stream alone and the code.
decode() {
    local options file
    options=$(jq -r .technique "$T/raw.json")
    jq -r '.cores[].file' "$T/raw.json" | while read -r file; do
        "$T/${1%%:*}" "$T/raw" "$T/${file##*/}" "${options#*:}" || echo "status $?"
    done
}

# prove CASE CORES PROGRAM...: what independent decoders find is what the run has.
prove() {
    local name=$1 cores=$2 spec
    shift 2
    "$VESTIGE" record -f -o "$T/run.vest" --cores "$cores" --timed -- "$@" >/dev/null 2>"$err" </dev/null || fail "not recorded"
    local all=("${specs[@]}")
    # longjmp breaks what a counter of calls, and parts of addresses, trust in: returns go back to their calls
    [[ $name == signals* ]] || all+=("${trusting[@]}")
    [[ $name != signals* ]] || all+=("etrace:tvec=$handler" "etrace:all,resync=20,tvec=$handler")
    for spec in "${all[@]}"; do
        begin "decodes_${name}_$spec"
        run "$VESTIGE" encode -f "$T/run.vest" -t "$spec" --raw "$T/raw"
        expect_status 0
        jq -r '.code.ranges[] | "\(.address) \(.offset) \(.size)"' "$T/raw.json" >"$T/raw.ranges"
        "$T/truth" "$T/run.vest" "$T/raw" >"$T/expected" || fail "the run cannot be followed"
        run decode "$spec"
        expect_no_err
        diff "$T/expected" "$out" >/dev/null || fail "other instructions: $(head -1 "$T/expected")"
    done
}

simulated() { # NAME THREADS CHECKSUM ARGUMENT...
    prove "$1_with_$2" "$2" "$(workload rv64 "$1")" "${@:4}"
}

handler=0x$(nm "$(workload rv64 signals)" | awk '$3 == "on_fault" { print $1 }') # the trap handler, whose address F3.1 leaves out

begin decodes_streams
if [ -n "$long" ] && [ -z "$sanitized" ]; then
    each_workload all '1 4 8' simulated
else
    simulated fft 4 - -n 8 -p 4
    for name in $(more signals); do
        simulated "$name" 1 -
    done
fi
finish
