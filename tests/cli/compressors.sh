#!/bin/bash
# SPDX-License-Identifier: MIT
# General compressors on the load values of runs: proved, and compared with the programs. Under the sanitizers not on all
# runs, but in make check-long (VESTIGE_LONG=1).
. "$(dirname "$0")/lib.sh"

export SOURCE_DATE_EPOCH=1000000000
program=$(workload rv64 pipeline)
"$VESTIGE" record -o "$T/a.vest" --cores 2 -- "$program" -n 2 -p 2 >"$out" 2>&1 || exit 2
"$VESTIGE" record -o "$T/t.vest" --cores 2 --timed -- "$program" -n 2 -p 2 >"$out" 2>&1 || exit 2
"$VESTIGE" record -o "$T/s.vest" -- "$(workload rv64 signals)" -n 30 >"$out" 2>&1 || exit 2 # one core
kinds="gzip bzip2 xz zstd"

begin replays_what_they_packed
specs=()
for kind in $kinds; do
    specs+=(-t "mlvNX_$kind" -t "mlvNX_$kind:split")
done
# shellcheck disable=SC2046 # words
runs=("$T/t.vest")
[ -n "$brief" ] || runs+=("$T/a.vest" "$T/s.vest")
run "$VESTIGE" verify "${runs[@]}" "${specs[@]}"
expect_status 0
expect_no_err
expect_equal "$(grep -c "by the stream's order), [0-9,]* bits: all equal\$" "$out")" "$([ -n "$brief" ] && echo 8 || echo 24)"

begin prints_a_row_of_each
run "$VESTIGE" compressors "$T/t.vest"
expect_status 0
expect_no_err
expect_out "^$T/t.vest: [0-9]+ cores?, [0-9,]+ instructions, [0-9,]+ cycles\$"
expect_out '^mlvNX_b +default +[0-9,]+ .* 1\.00 '
for kind in $kinds; do
    for streams in unified split; do
        expect_out "^mlvNX_$kind +$streams +[0-9,]+ "
    done
done
expect_equal "$(wc -l <"$out")" 11

begin relates_them_to_the_baseline
run "$VESTIGE" compressors "$T/t.vest" "$T/a.vest" --json
expect_status 0
expect_equal "$(wc -l <"$out")" 27 # with the total
base=$("$VESTIGE" bandwidth "$T/t.vest" -t mlvNX_b --json | jq .bits)
expect_equal "$(jq -c "select(.run == \"$T/t.vest\") | select(([.fields[]] | add) != .bits or .baseline_bits != $base
    or ((.ratio * .bits - $base) | fabs) > $base / 1e3 or (.technique != \"mlvNX_b\" and (.ratio < 1.2 or .ratio > 100)))" \
    "$out")" "" "rows that do not add up"
# apart, bits that are alike lie together
for kind in $kinds; do
    expect_equal "$(jq -s -c "[.[] | select(.run == \"$T/t.vest\" and .technique == \"mlvNX_$kind\")] |
        (.[1].config == \"split\") and (.[1].bits < .[0].bits)" "$out")" true "$kind"
done
run "$VESTIGE" compressors "$T/t.vest" --csv
expect_status 0
expect_equal "$(wc -l <"$out")" 10
head -1 "$out" | grep -q ',bits_packed' || fail "no column of packed bits"

# bits FILE: the bytes of the stream in a .vport file (docs/vport.md).
bits() {
    python3 - "$1" <<'CODE'
import struct, sys
data = open(sys.argv[1], "rb").read()
at = 32 + struct.unpack_from("<I", data, 16)[0]
while data[at:at + 4] == b"VPBK":
    n = (struct.unpack_from("<I", data, at + 8)[0] + 7) // 8
    sys.stdout.buffer.write(data[at + 20:at + 20 + n])
    at += 20 + n
CODE
}

# The programs on the very same bits; 1 % for packets, and for gzip, which is not zlib.
begin packs_as_well_as_the_programs
for name in t $(more a); do
    "$VESTIGE" encode "$T/$name.vest" -t mlvNX_b -o "$T/$name.vport" >"$out" || fail "not encoded"
    bits "$T/$name.vport" >"$T/bits"
    run "$VESTIGE" compressors "$T/$name.vest" --json
    expect_equal "$(($(jq 'select(.technique == "mlvNX_b").bits + 7' "$out" | head -1) / 8))" "$(stat -c %s "$T/bits")"
    for command in 'gzip -1n' 'bzip2 -1' 'xz' 'zstd -q'; do
        kind=${command%% *}
        has_program "$kind" || continue
        want=$(($($command -c <"$T/bits" | wc -c) * 8))
        got=$(jq "select(.technique == \"mlvNX_$kind\" and .config == \"unified\").bits" "$out")
        [ $((got * 100)) -ge $((want * 99)) ] && [ $((got * 100)) -le $((want * 101)) ] ||
            fail "$name: $kind makes $want bits, mlvNX_$kind $got"
    done
done

begin writes_streams_that_verify
for spec in mlvNX_gzip mlvNX_zstd:split,level=19 mlvNX_xz:level=0 mlvNX_bzip2:level=9; do
    run "$VESTIGE" encode -f "$T/t.vest" -t "$spec" -o "$T/p.vport"
    expect_status 0
    expect_out ': mlvNX_[a-z0-9]*: [0-9,]+ bits in [0-9,]+ messages$'
    run "$VESTIGE" verify "$T/t.vest" --stream "$T/p.vport"
    expect_status 0
    expect_out '^compared [1-9][0-9,]* events: all equal$'
    run "$VESTIGE" verify "$T/a.vest" --stream "$T/p.vport"
    expect_status 1
    expect_one_line_err
done

begin names_where_a_stream_is_cut
head -c $(($(stat -c %s "$T/p.vport") / 2)) "$T/p.vport" >"$T/cut.vport"
run "$VESTIGE" verify "$T/t.vest" --stream "$T/cut.vport"
expect_status 1
expect_one_line_err
expect_err 'bit [0-9]+'

begin counts_packets_over_time
run "$VESTIGE" bandwidth "$T/t.vest" -t mlvNX_zstd:split --window 100000 --buffer 1 --json
expect_status 0
expect_equal "$(jq -c '[([.windows.series[]] | add) == .bits, ([.windows.cores[0][]] | add) == .bits,
    .buffer.largest > 0]' "$out")" '[true,true,true]'

begin refuses_bad_usage
for wrong in "--json --csv" "-t mlvNX_b" "--level 3"; do
    # shellcheck disable=SC2086
    run "$VESTIGE" compressors "$T/a.vest" $wrong
    expect_status 2
    expect_one_line_err
    expect_no_out
done
for spec in mlvNX_gzip:level=0 mlvNX_gzip:level=10 mlvNX_zstd:level=20 mlvNX_xz:streams=three; do
    run "$VESTIGE" bandwidth "$T/a.vest" -t "$spec"
    expect_status 2
    expect_one_line_err
done
run "$VESTIGE" compressors
expect_status 2
run "$VESTIGE" compressors "$T/none.vest"
expect_status 2
expect_one_line_err
"$VESTIGE" record --control-only -o "$T/n.vest" -- "$(workload rv64 signals)" -n 30 >"$out" 2>&1
run "$VESTIGE" compressors "$T/n.vest"
expect_status 2
expect_one_line_err
expect_err 'recorded without loads'

finish
