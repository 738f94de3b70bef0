#!/bin/bash
# SPDX-License-Identifier: MIT
# Streams of Intel PT, read by libipt, a decoder that is not ours: every address of every instruction of native workloads is
# what Vestige decodes. Configurations take turns. Of simulated workloads, which have time, libipt finds the same time as
# the run has, as far as MTCs tell it.
#
# In `make check` a few workloads, under the sanitizers fewer; with VESTIGE_LONG=1 all of them with 1, 4 and 8 threads.
. "$(dirname "$0")/lib.sh"

[ -e /usr/include/intel-pt.h ] || skip_all "there is no libipt-dev"
cc=$(sed -n 's/^CC=//p' "$VESTIGE_BUILD/config") san=$(sed -n 's/^SAN=//p' "$VESTIGE_BUILD/config")
# shellcheck disable=SC2086 # a compiler may have options
$cc -std=gnu11 -O2 -o "$T/pt_peer" "$VESTIGE_SRC/tests/cli/pt_peer.c" -lipt || exit 2
# shellcheck disable=SC2086
$cc -std=gnu11 -O2 ${san:+-fsanitize=$san} -pthread -I"$VESTIGE_SRC/src" -I"$VESTIGE_SRC/include" -o "$T/flow_pcs" \
    "$VESTIGE_SRC/tests/cli/flow_pcs.c" "$VESTIGE_BUILD/lib/libvestige-all.a" -lzstd -llzma -lbz2 -lz -lZydis -ldw -liberty -lm -ldl || exit 2
# shellcheck disable=SC2086
$cc -std=gnu11 -O2 ${san:+-fsanitize=$san} -pthread -I"$VESTIGE_SRC/include" -o "$T/pt_clock" \
    "$VESTIGE_SRC/tests/cli/pt_clock.c" "$VESTIGE_BUILD/lib/libvestige.a" -lipt -lzstd || exit 2
cd "$T" || exit 2
specs=(pt pt:long pt:deferred pt:uncompressed pt:psb2k pt:long,deferred,stack=8,psb=256)
turn=0

# peer: both decoders read the streams of run.vest.
peer() {
    local spec=${specs[turn++ % ${#specs[@]}]} streams
    run "$VESTIGE" encode -f run.vest -t "$spec" --raw run.pt
    expect_status 0
    jq -r '.code.ranges[] | "\(.address) \(.offset) \(.size)"' run.pt.json >run.ranges
    mapfile -t streams < <(jq -r '.cores[].file' run.pt.json)
    expect_equal "${#streams[@]}" "$("$VESTIGE" info --no-scan --json run.vest | jq '.threads | length')" streams
    run ./flow_pcs run.vest "$(jq -r .technique run.pt.json)" "${streams[@]}"
    expect_status 0
    cp "$out" own
    expect_equal "$(awk '{ n += $1 } END { printf "%d", n }' own)" "$("$VESTIGE" info --no-scan --json run.vest | jq .instructions)" instructions
    run ./pt_peer run.pt.code run.ranges "${streams[@]}"
    expect_status 0
    cmp -s "$out" own || fail "$spec: libipt finds other instructions than Vestige: $(cat own)"
    echo "$1: ${#streams[@]} streams, $spec: $(awk '{ n += $1 } END { printf "%d", n }' own) instructions: the same"
}

# prove NAME THREADS CHECKSUM ARGUMENT...
prove() {
    local program
    begin "reads_$1_$2"
    program=$(workload host "$1")
    run "$VESTIGE" record -f --control-only -o run.vest -- "$program" "${@:4}"
    expect_status 0
    peer "$1"
}

if [ -n "$long" ]; then
    each_workload all "1 4 8" prove
else
    prove racy 2 - -n 40 -p 2
    prove signals 1 - -n 60
    [ -n "$brief" ] || prove sort 1 - -n 4
    [ -n "$brief" ] || prove radiosity 4 - -n 1 -p 4
    [ -n "$brief" ] || prove interp 1 - -n 1
    [ -n "$brief" ] || prove fft 8 - -n 6 -p 8
fi

# Recording begins and ends within code.
begin reads_gaps
printf '%s\n' '2000 3000' '9000 1' '20000 5001' '40000 7' >windows
run "$VESTIGE" record -f --control-only --windows windows -o run.vest -- "$(workload host tree)" -n 1
expect_status 0
peer windows
expect_equal "$(awk '{ print $1 }' own)" 8009 instructions

# clock MTC CRYSTAL exact|estimated TIME: libipt puts every branch of run.vest into the period between two MTCs that has its cycle.
clock() {
    local streams
    run "$VESTIGE" encode -f run.vest -t "pt:mtc=$1,crystal=$2,time=$4" --raw run.pt
    expect_status 0
    mapfile -t streams < <(jq -r '.cores[].file' run.pt.json)
    run ./pt_clock run.vest "$1" "$2" "$3" "${streams[@]}"
    expect_status 0
    echo "$name: ${#streams[@]} streams, $4, an MTC every $(($1 * $2)) cycles: $(cat "$out") branches and exceptions: the same"
}

# prove_time NAME THREADS CHECKSUM ARGUMENT...
prove_time() {
    local name=$1
    begin "tells_the_time_of_$1_$2"
    run "$VESTIGE" record -f --control-only --timed --cores "$2" -o run.vest -- "$(workload rv64 "$1")" "${@:4}"
    clock 4 100 exact tsc
    clock 1 20 exact tsc
    clock 2 50 estimated cyc
    clock 4 100 estimated cyc
    clock 64 30 estimated cyc
}

if [ -n "$long" ]; then
    each_workload all "1 4" prove_time
else
    prove_time signals 1 - -n 20
    [ -n "$brief" ] || prove_time racy 2 - -n 40 -p 2
    [ -n "$brief" ] || prove_time lu_cb 4 - -n 32 -p 4 # cores wait so long that no MTC tells of it
fi

begin finds_another_time_with_another_clock
run "$VESTIGE" encode -f run.vest -t pt:mtc=4,crystal=100,time=tsc --raw run.pt
mapfile -t streams < <(jq -r '.cores[].file' run.pt.json)
run ./pt_clock run.vest 4 101 exact "${streams[@]}"
expect_status 1
expect_one_line_err

begin refuses_techniques_without_bytes
run "$VESTIGE" encode run.vest -t mcfTR_e --raw x
expect_status 2
expect_one_line_err
expect_no_file x
run "$VESTIGE" encode run.vest -t pt --raw x -o y
expect_status 2
expect_one_line_err

begin keeps_files_that_are_there
run "$VESTIGE" encode run.vest -t pt --raw run.pt
expect_status 2
expect_one_line_err
expect_err 'run.pt.* exists'
expect_no_file run.pt.json.partial
finish
