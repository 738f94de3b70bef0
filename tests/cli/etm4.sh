#!/bin/bash
# SPDX-License-Identifier: MIT
# Streams of ETMv4, read by OpenCSD, a decoder that is not ours. Of workloads it lists packets, whose atoms, addresses,
# exceptions and times must be the elements that the run has; configurations take turns. Of random A64 programs, which it knows
# how to follow, it must find every instruction.
#
# In `make check` a few workloads, under the sanitizers fewer; with VESTIGE_LONG=1 all of them with 1, 4 and 8 threads, and more
# programs.
. "$(dirname "$0")/lib.sh"

[ -e /usr/include/opencsd/c_api/opencsd_c_api.h ] || skip_all "there is no libopencsd-dev"
cc=$(sed -n 's/^CC=//p' "$VESTIGE_BUILD/config") san=$(sed -n 's/^SAN=//p' "$VESTIGE_BUILD/config")
# shellcheck disable=SC2086
$cc -std=gnu11 -O2 -o "$T/etm4_peer" "$VESTIGE_SRC/tests/cli/etm4_peer.c" -lopencsd_c_api || exit 2
for program in etm4_elements etm4_a64; do
    # shellcheck disable=SC2086 # a compiler may have options
    $cc -std=gnu11 -O2 ${san:+-fsanitize=$san} -pthread -I"$VESTIGE_SRC/src" -I"$VESTIGE_SRC/include" -o "$T/$program" \
        "$VESTIGE_SRC/tests/cli/$program.c" "$VESTIGE_BUILD/lib/libvestige-all.a" -lzstd -llzma -lbz2 -lz -lZydis -ldw -liberty -lm \
        -ldl -lopencsd_c_api || exit 2
done
cd "$T" || exit 2

# What the peer has to be told: TRCCONFIGR, and words. The last two are for timed runs.
specs=('etm4 0x1000' 'etm4:plain 0' 'etm4:broadcast 0x8' 'etm4:frames 0x1000 frames' 'etm4:stack=4,context=core 0x1040'
    'etm4:cycles 0x1810 cycles' 'etm4:cycles,cycle_bits=20,threshold=30,formatter=on 0x1810 cycles frames')
turn=0

# peer NAME SPECS [WORD...]: OpenCSD lists the streams of run.vest, which are of one of the first so many specs.
peer() {
    local streams row
    read -ra row <<<"${specs[turn++ % $2]}"
    run "$VESTIGE" encode -f run.vest -t "${row[0]}" --raw run.etm
    expect_status 0
    mapfile -t streams < <(jq -r '.cores[].file' run.etm.json)
    run ./etm4_elements run.vest "$(jq -r .technique run.etm.json)" "${streams[@]}"
    expect_status 0
    cp "$out" own
    run ./etm4_peer "${row[@]:1}" "${@:3}" "${streams[@]}"
    expect_status 0
    expect_no_err
    cmp -s "$out" own || fail "${row[0]}: OpenCSD lists other elements than the run has: $(cat own)"
    echo "$1: ${#streams[@]} streams, ${row[0]}: $(awk '{ n += $1; m += $5 } END { printf "%d atoms, %d addresses", n, m }' own): the same"
}

# prove_rv64, prove_host NAME THREADS CHECKSUM ARGUMENT...
prove_rv64() {
    begin "lists_rv64_$1_$2"
    run "$VESTIGE" record -f --control-only --cores "$2" --timed -o run.vest -- "$(workload rv64 "$1")" "${@:4}"
    expect_status 0
    peer "$1" 7
}

prove_host() {
    begin "lists_x86_$1_$2"
    run "$VESTIGE" record -f --control-only -o run.vest -- "$(workload host "$1")" "${@:4}"
    expect_status 0
    peer "$1" 5 twice
}

if [ -n "$long" ]; then
    each_workload all "1 4 8" prove_rv64
    each_workload all "1 4 8" prove_host
else
    prove_rv64 signals 1 - -n 60
    prove_rv64 sort 1 - -n 4
    prove_rv64 racy 2 - -n 40 -p 2
    prove_host signals 1 - -n 60
    [ -n "$brief" ] || prove_rv64 fft 4 - -n 6 -p 4
    [ -n "$brief" ] || prove_rv64 tree 1 - -n 1
    [ -n "$brief" ] || prove_rv64 lu_cb 4 - -n 16 -p 4
    [ -n "$brief" ] || prove_host fft 8 - -n 6 -p 8
    [ -n "$brief" ] || prove_rv64 interp 1 - -n 1
fi

# Recording begins and ends within code.
begin lists_gaps
printf '%s\n' '2000 3000' '9000 1' '20000 5001' '40000 7' >windows
run "$VESTIGE" record -f --control-only --windows windows -o run.vest -- "$(workload host tree)" -n 1
expect_status 0
peer windows 5 twice

# What is imported from a stream is encoded to the same stream.
begin imports_streams
for target in rv64 host; do
    run "$VESTIGE" record -f --control-only -o run.vest -- "$(workload $target signals)" -n 30
    expect_status 0
    run "$VESTIGE" encode -f run.vest -t etm4:port --raw run.etm
    expect_status 0
    run "$VESTIGE" import -f --from etm4 run.etm -o again.vest
    expect_status 0
    run "$VESTIGE" encode -f again.vest -t etm4:port --raw again.etm
    expect_status 0
    cmp -s run.etm again.etm || fail "$target: the imported run has another stream"
done

begin decodes_a64
export ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0 # what OpenCSD does not free
run ./etm4_a64 "${long:+1}20"
expect_status 0
expect_no_err
expect_equal "$(grep -c ': the same$' "$out")" 9 configurations
finish
