#!/bin/bash
# SPDX-License-Identifier: MIT
# Data addresses: measured, written to streams, and proved.
. "$(dirname "$0")/lib.sh"

export SOURCE_DATE_EPOCH=1000000000
"$VESTIGE" record -o "$T/a.vest" --cores 2 -- "$(workload rv64 pipeline)" -n 2 -p 2 >"$out" 2>&1 || exit 2
"$VESTIGE" record -o "$T/s.vest" -- "$(workload rv64 signals)" -n 30 >"$out" 2>&1 || exit 2
"$VESTIGE" record -o "$T/n.vest" -- "$(workload host signals)" -n 30 >"$out" 2>&1 || exit 2
"$VESTIGE" record -o "$T/c.vest" --control-only -- "$(workload host sha)" -n 1 >"$out" 2>&1 || exit 2

begin measures_the_group
run "$VESTIGE" bandwidth "$T/a.vest" -t data-addresses --json
expect_status 0
expect_no_err
loads=$("$VESTIGE" dump --kind load --json "$T/a.vest" | wc -l)
stores=$("$VESTIGE" dump --kind store --json "$T/a.vest" | wc -l)
expect_equal "$(jq -c "select(.addresses.loads.count != $loads or .addresses.stores.count != $stores)" "$out")" ""
expect_equal "$(jq -c 'select(.technique != "daFilter" and (.fields.packed | not) and .messages != .addresses.loads.count + .addresses.stores.count)' "$out")" ""
expect_equal "$(jq -c 'select(.fields.packed | not) | select(.messages != .addresses.loads.reported + .addresses.stores.reported)' "$out")" ""
expect_equal "$(jq -c 'select(.addresses.table) | .addresses.table
    | select(.hits_mru + .hits_other + .hits_wider + .misses == 0)' "$out")" ""
expect_equal "$(jq -r 'select(.config == "default").technique' "$out" | paste -sd' ')" 'daNX DAC ADAC daFilter daRaw_gzip daRaw_bzip2 daRaw_xz daRaw_zstd etrace_da'
# what is filtered is worth it, and so is the table
expect_equal "$(jq -s -c '[.[] | {(.technique + ":" + .config): .bits}] | add
    | [.["daFilter:nexus"] < .["daNX:default"], .["daFilter:adac"] < .["ADAC:default"], .["ADAC:default"] < .["daNX:default"]]' "$out")" \
    '[true,true,true]'

begin has_columns_of_its_own
run "$VESTIGE" bandwidth "$T/a.vest" -t ADAC
expect_status 0
expect_out ' sent% +mru% +miss% '
expect_out '^ADAC +default +[0-9,]+ .* 100\.00 '
run "$VESTIGE" bandwidth "$T/a.vest" -t ADAC --csv
expect_equal "$(head -1 "$out" | tr , '\n' | grep -c '^table_')" 4
expect_equal "$(awk -F, '{ print NF }' <(sed 's/"[^"]*"//g' "$out") | sort -u | wc -l)" 1 "columns"

begin proves_them_with_exceptions
runs=("$T/s.vest")
[ -n "$brief" ] || runs+=("$T/a.vest" "$T/n.vest")
run "$VESTIGE" verify "${runs[@]}" -t data-addresses
expect_status 0
expect_no_err
expect_out ": daFilter adac: compared [0-9,]+ events \(addresses of [0-9,]+ loads and [0-9,]+ stores, by the stream's order\), "
run "$VESTIGE" verify "$T/a.vest" -t daFilter --json
expect_equal "$(jq -c '[.outcome, .compared, .loads, .stores, .order]' "$out")" "[\"same\",$((loads + stores)),$loads,$stores,\"stream\"]"

begin proves_streams
for spec in daFilter:adac $(more daNX ADAC daRaw_zstd); do
    run "$VESTIGE" encode -f "$T/a.vest" -t "$spec" -o "$T/a.vport"
    expect_status 0
    run "$VESTIGE" verify "$T/a.vest" --stream "$T/a.vport"
    expect_status 0
    expect_out '^compared [1-9][0-9,]* events: all equal$'
    head -c $(($(stat -c %s "$T/a.vport") / 2)) "$T/a.vport" >"$T/cut.vport"
    run "$VESTIGE" verify "$T/a.vest" --stream "$T/cut.vport"
    expect_status 1
    expect_one_line_err
done
"$VESTIGE" record -o "$T/b.vest" --cores 2 -- "$(workload rv64 pipeline)" -n 3 -p 2 >"$out" 2>&1 || exit 2
run "$VESTIGE" verify "$T/b.vest" --stream "$T/a.vport"
expect_status 1
expect_one_line_err
expect_err ': event [0-9]+ of its core, core [0-9]+, pc 0x[0-9a-f]+: '

begin refuses_what_needs_more
run "$VESTIGE" decode "$T/a.vport" --code "$T/a.vest"
expect_status 2
expect_one_line_err
expect_err 'has data addresses, and no control flow'
run "$VESTIGE" replay "$T/a.vport"
expect_status 2
expect_one_line_err
run "$VESTIGE" bandwidth "$T/c.vest" -t ADAC
expect_status 2
expect_one_line_err
expect_err 'without loads and stores'
run "$VESTIGE" bandwidth "$T/c.vest" -t all --csv
expect_status 0
expect_equal "$(grep -c ',daNX,' "$out")" 0
run "$VESTIGE" techniques ADAC:min=13
expect_status 2
expect_one_line_err
expect_err 'min, 13, is above max, 12'

finish
