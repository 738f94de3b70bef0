#!/bin/bash
# SPDX-License-Identifier: MIT
# Streams that are read in: what 'encode --raw' wrote comes back with every branch, and is encoded to the same bytes again;
# with a description, with images, and from a file of perf. Damaged ones are refused in one line.
#
# With VESTIGE_LONG=1 every byte of a small stream is damaged, and it is cut everywhere; else a sample.
. "$(dirname "$0")/lib.sh"

cc=$(sed -n 's/^CC=//p' "$VESTIGE_BUILD/config")
# shellcheck disable=SC2086 # a compiler may have options
$cc -std=gnu11 -O1 -o "$T/perf_file" "$VESTIGE_SRC/tests/cli/perf_file.c" || exit 2
cd "$T" || exit 2
"$VESTIGE" record -q --control-only -o host.vest -- "$(workload host racy)" -n 20 -p 2 >/dev/null || exit 2
"$VESTIGE" record -q --control-only -o signals.vest -- "$(workload host signals)" -n 30 >/dev/null || exit 2
"$VESTIGE" record -q --control-only -o faults.vest -- "$VESTIGE_BUILD/test/programs/faults" >/dev/null || exit 2
"$VESTIGE" record -q -o traps.vest -- "$(workload rv64 signals)" -n 30 >/dev/null || exit 2
"$VESTIGE" record -q --cores 2 -o sim.vest -- "$(workload rv64 racy)" -n 20 -p 2 >/dev/null || exit 2
"$VESTIGE" record -q --cores 2 --timed -o timed.vest -- "$(workload rv64 racy)" -n 20 -p 2 >/dev/null || exit 2
printf '%s\n' '2000 3000' '9000 1' '20000 5001' '40000 7' >windows
"$VESTIGE" record -q --control-only --windows windows -o gaps.vest -- "$(workload host tree)" -n 1 >/dev/null || exit 2

# branches RUN: every branch with its thread, the thread's instructions so far, pc, kind, outcome and target, by thread.
branches() {
    "$VESTIGE" dump --kind branch "$1" | sed -E 's/^ *[0-9]+ +(@[0-9]+ +)?//; s/ +\+[0-9]+$//' | sort -s -t: -k1,1
}

# comes_back RUN -t TECHNIQUE...: $T/back.vest has the control flow of the run, and nothing else.
comes_back() {
    branches "$1" >wanted
    branches back.vest >found
    [ "$(wc -l <wanted)" -gt 1000 ] || fail "few branches"
    cmp -s wanted found || fail "other branches: $(diff wanted found | head -3)"
    run "$VESTIGE" verify -q back.vest "${@:2}"
    expect_status 0
    expect_out '^compared [1-9][0-9,]* events: all equal$'
    run "$VESTIGE" check --flow back.vest
    expect_status 0
    expect_equal "$("$VESTIGE" info --json --no-scan back.vest | jq .instructions)" "$("$VESTIGE" info --json --no-scan "$1" | jq .instructions)" instructions
}

# round_trip NAME SPEC: the run's streams come back as the same run, which is encoded to the same bytes.
round_trip() {
    local name=$1 spec=$2 files file
    begin "brings_back_${name}_$spec"
    run "$VESTIGE" encode -f "$name.vest" -t "$spec" --raw "$name.raw"
    expect_status 0
    run "$VESTIGE" import -f "$name.raw" -o back.vest
    expect_status 0
    expect_no_err
    comes_back "$name.vest" -t "$spec" -t mcfTR_e
    [ "$name" != timed ] || return # a run that is made of streams has no time
    run "$VESTIGE" encode -f back.vest -t "$spec" --raw back.raw
    expect_status 0
    mapfile -t files < <(jq -r '.cores[].file' "$name.raw.json")
    for file in "${files[@]}"; do
        cmp -s "$file" "back${file#"$name"}" || fail "$file is encoded to other bytes"
    done
}

# Some signals come just after a system call; faults come within instructions that repeat themselves.
while read -r name specs; do
    for spec in $specs; do
        round_trip "$name" "$spec"
    done
done <<X
host pt $(more pt:uncompressed,psb=128 etrace:all ntrace:all etm4)
signals pt $(more etrace:all ntrace:all etm4:periodic)
faults pt etrace:all ntrace:all etm4
traps pt $(more pt:deferred etrace ntrace etm4:frames)
sim pt:long,deferred etrace:all ntrace:best etm4 $(more etrace:bp ntrace:btm_repeat etm4:broadcast)
timed pt $(more etrace ntrace etm4)
gaps pt:psb2k $(more etrace:ir ntrace:htm etm4)
X

"$VESTIGE" encode -f host.vest -t pt --raw host.pt >/dev/null || exit 2
"$VESTIGE" encode -f gaps.vest -t pt:psb2k --raw gaps.pt >/dev/null || exit 2
"$VESTIGE" encode -f sim.vest -t pt:long,deferred --raw sim.pt >/dev/null || exit 2

begin says_what_the_streams_are
run "$VESTIGE" import -f --from pt host.pt -o back.vest
expect_status 0
run "$VESTIGE" import -f --from etrace host.pt -o back.vest
expect_status 2
expect_one_line_err
expect_err "host.pt.json: describes streams of pt; give '--from pt'"
run "$VESTIGE" import -f host.pt.0 -o back.vest
expect_status 2
expect_one_line_err
expect_err 'no description is beside host.pt.0: --from says what the streams are'

begin counts_gaps
run "$VESTIGE" import -f --json --from pt gaps.pt -o back.vest
expect_equal "$(jq -c '[.instructions, .gaps, .threads]' "$out")" '[8009,4,1]'

# A static program needs nothing but its file.
begin takes_images
run "$VESTIGE" import -f --from pt:accepts=exact --isa rv64 --image "$(workload rv64 racy)" sim.pt.0 sim.pt.1 -o back.vest
expect_status 1
expect_one_line_err
expect_err 'sim.pt.0: offset [0-9]+: .* not in its shortest form'
run "$VESTIGE" encode -f sim.vest -t pt --raw plain.pt
run "$VESTIGE" import -f --from pt --isa rv64 --image "$(workload rv64 racy)@0" plain.pt.0 plain.pt.1 -o back.vest
expect_status 0
comes_back sim.vest -t pt

# Wherever within a packet.
begin takes_a_stream_that_ends_anywhere
branches host.vest >all
for ((size = 2000; size < 2012; size++)); do
    head -c $size host.pt.0 >part.pt
    jq ".cores |= [.[0] | .file = \"part.pt\" | .bytes = $size] | .technique |= sub(\"exact\"; \"any\")" host.pt.json >part.json
    run "$VESTIGE" import -f --sidecar part.json part.pt -o back.vest
    expect_status 0
    branches back.vest >found
    [ "$(wc -l <found)" -gt 2000 ] || fail "few branches"
    head -n "$(wc -l <found)" all | cmp -s - found || fail "other branches"
done

# ---- perf ----

ranges() {
    jq -r '.code.ranges[] | "\(.address) \(.offset) \(.size)"' "$1.pt.json"
}

begin reads_what_perf_writes
"$VESTIGE" encode -f host.vest -t pt:psb=512 --raw host.pt >/dev/null || fail "not encoded"
ranges host >ranges
for how in thread processor pipe; do
    ./perf_file perf.data $how "$T/host.pt.code" ranges host.pt.0 host.pt.1 || fail "not written"
    run "$VESTIGE" import -f --from perf perf.data -o back.vest
    expect_status 0
    expect_no_err
    comes_back host.vest -t pt
done
./perf_file perf.data thread "$T/host.pt.code" ranges host.pt.0 host.pt.1
run "$VESTIGE" import -f --from perf perf.data -o back.vest
expect_equal "$("$VESTIGE" dump --json --kind thread-start back.vest | jq -r .id | tr '\n' ' ')" '1000 1001 ' 'numbers of threads'

# refused HOW TEXT
refused() {
    begin "refuses_perf_files_$1"
    ./perf_file perf.data "$1" "$T/host.pt.code" ranges host.pt.0 host.pt.1 || fail "not written"
    run "$VESTIGE" import -f --from perf perf.data -o none.vest
    expect_one_line_err
    expect_err "$2"
    [ "$status" = 1 ] || [ "$status" = 2 ] || fail "status $status"
    expect_no_file none.vest
}
refused swapped 'another byte order'
refused compressed 'compressed'
refused bts 'Intel PT'
refused empty 'no trace of Intel PT'

begin says_that_perfs_buffer_was_full
./perf_file perf.data full "$T/host.pt.code" ranges host.pt.0 host.pt.1
run "$VESTIGE" import -f --from perf perf.data -o back.vest
expect_status 0
expect_one_line_err
expect_err 'trace is missing'

# The branches are those from before the gap and those from after it, and some are missing.
"$VESTIGE" dump --json --kind branch --thread 0 host.vest | jq -r '"\(.pc) \(.taken) \(.target)"' >wanted
has_gap() {
    local first
    "$VESTIGE" dump --json --kind branch back.vest | jq -r '"\(.pc) \(.taken) \(.target)"' >found
    [ "$(wc -l <found)" -gt 2000 ] || fail "few branches"
    [ "$(wc -l <found)" -lt "$(wc -l <wanted)" ] || fail "no branch is missing"
    first=$(cmp found wanted | sed 's/.* //')
    [ "$first" -gt 500 ] || fail "few branches before the gap"
    tail -n "+$first" found >after
    [ "$(wc -l <after)" -gt 500 ] || fail "few branches after the gap"
    tail -n "$(wc -l <after)" wanted | cmp -s - after || fail "other branches after the gap"
    expect_equal "$("$VESTIGE" dump --json --kind gap back.vest | wc -l)" 1 gaps
    run "$VESTIGE" check --flow back.vest
    expect_status 0
}

# The buffer may have been full anywhere in a packet. What comes then begins with a PSB.
begin has_a_gap_where_perfs_buffer_was_full
for behind in 0 1 2 3 4 5 6 7 8 9 10 11 12; do
    ./perf_file perf.data stopped:$behind "$T/host.pt.code" ranges host.pt.0 || fail "not written"
    run "$VESTIGE" import -f --from perf perf.data -o back.vest
    expect_status 0
    expect_one_line_err
    expect_err 'trace is missing where'
    has_gap
done

begin has_a_gap_where_a_part_of_the_aux_area_is_missing
for behind in 0 1 2 3 4 5 6 7; do
    ./perf_file perf.data lost:$behind "$T/host.pt.code" ranges host.pt.0 || fail "not written"
    run "$VESTIGE" import -f --from perf perf.data -o back.vest
    expect_status 0
    expect_one_line_err
    expect_err 'AUX area of thread 1000: a part of it is missing'
    has_gap
done

begin refuses_perf_files_that_are_cut
./perf_file perf.data thread "$T/host.pt.code" ranges host.pt.0 host.pt.1
for part in 0 7 15 60 103 300 "$(($(stat -c %s perf.data) - 1))"; do
    head -c "$part" perf.data >cut.data
    run "$VESTIGE" import -f --from perf cut.data -o none.vest
    expect_status 1
    expect_one_line_err
done
expect_no_file none.vest

# ---- what is damaged ----

# small: no more than a few hundred bytes of stream.
printf '%s\n' '5000 700' '7000 200' >windows
"$VESTIGE" record -q -f --control-only --windows windows -o small.vest -- "$(workload host signals)" -n 1 >/dev/null || exit 2
"$VESTIGE" encode -f small.vest -t pt:psb=64 --raw small.pt >/dev/null || exit 2
size=$(stat -c %s small.pt)

# damaged: either it is refused in one line with the byte, or it is another run.
damaged() {
    run "$VESTIGE" import -f --from pt --sidecar small.json bad.pt -o bad.vest
    if [ "$status" = 1 ]; then
        expect_one_line_err
        expect_err '^vestige import: bad.pt: '
        expect_no_file bad.vest.partial
    else
        expect_status 0
    fi
}

begin notices_damaged_bytes
[ "$size" -gt 100 ] && [ "$size" -lt 2000 ] || fail "$size bytes"
jq '.cores[0].file = "bad.pt"' small.pt.json >small.json
step=37
[ -z "$long" ] || step=1
for ((at = 0; at < size; at += step)); do
    {
        head -c $at small.pt
        # shellcheck disable=SC2059 # the byte itself
        printf "\\$(printf %o $((0x$(od -An -tx1 -j $at -N 1 small.pt | tr -d " ") ^ 1 << at % 8)))"
        tail -c +$((at + 2)) small.pt
    } >bad.pt
    expect_equal "$(stat -c %s bad.pt)" "$size" bytes
    damaged
done

begin notices_cuts
for ((at = 0; at < size; at += step)); do
    head -c $at small.pt >bad.pt
    jq ".cores[0].bytes = $at" small.json >cut.json && mv cut.json small.json
    damaged
    [ "$status" = 1 ] || [ $at -gt 20 ] || fail "an empty stream"
done
jq ".cores[0].bytes = $size" small.json >cut.json && mv cut.json small.json

begin notices_another_length
head -c 50 small.pt >bad.pt
run "$VESTIGE" import -f --from pt --sidecar small.json bad.pt -o bad.vest
expect_status 1
expect_one_line_err
expect_err "has 50 bytes, and small.json says $size"

begin refuses_bad_descriptions
cp small.pt bad.pt
while read -r change; do
    jq "$change" small.json >bad.json
    run "$VESTIGE" import -f --from pt --sidecar bad.json bad.pt -o bad.vest
    [ "$status" = 1 ] || [ "$status" = 2 ] || fail "$change: status $status"
    expect_one_line_err
done <<'X'
.version = 2
.technique = "mcfTR_e"
.technique = "pt:stack=1000"
.isa = "pdp11"
.cores = []
.cores = 3
.cores[0].bytes = -1
.cores[0].file = "../bad.pt"
.code.ranges[0].size = 1000000
.code.ranges[0].address = "x"
.address_bits = 16
del(.isa)
[1]
X
printf '{"version": 1' >bad.json
run "$VESTIGE" import -f --from pt --sidecar bad.json bad.pt -o bad.vest
expect_status 1
expect_one_line_err
finish
