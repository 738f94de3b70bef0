#!/bin/bash
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

"$VESTIGE_GEN" -o "$T/a.vest" --seed 9 --threads 3 --events 20000 >"$out" || exit 2
"$VESTIGE_GEN" -o "$T/b.vest" --seed 10 --threads 1 --events 500 --timed >"$out" || exit 2
size=$(stat -c %s "$T/a.vest")

# flip FILE OFFSET: a copy of a.vest with that byte changed.
flip() {
    cp "$T/a.vest" "$1"
    local byte
    byte=$(od -An -tu1 -j "$2" -N 1 "$1")
    # shellcheck disable=SC2059
    printf "$(printf '\\x%02x' $((byte ^ 0x41)))" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

begin passes_an_intact_run
run "$VESTIGE" check "$T/a.vest"
expect_status 0
expect_no_err
expect_equal "$(wc -l <"$out")" 1
events=$("$VESTIGE" info --no-scan --json "$T/a.vest" | jq .events)
expect_out "^$T/a.vest: ok: [0-9]+ chunks, $events events, $size bytes checked$"

begin says_nothing_when_quiet
run "$VESTIGE" check --quiet "$T/a.vest" "$T/b.vest"
expect_status 0
expect_no_out
expect_no_err

begin prints_json
run "$VESTIGE" check --json "$T/a.vest" "$T/b.vest"
expect_status 0
expect_equal "$(jq -s 'map(.ok) == [true, true]' "$out")" true
expect_equal "$(jq -s ".[0].events == $events and .[0].bytes == $size" "$out")" true

begin finds_a_flipped_byte_anywhere
for ((i = 0; i < 16; i++)); do
    flip "$T/bad.vest" $((size * i / 16 + i))
    run "$VESTIGE" check "$T/bad.vest"
    expect_status 1
    expect_no_out
    expect_one_line_err
    expect_err '^vestige check: .*bad.vest: .*\(VSE_[A-Z]+\)'
done

begin names_chunk_and_offset
flip "$T/bad.vest" $((size / 2))
run "$VESTIGE" check "$T/bad.vest"
expect_status 1
expect_one_line_err
expect_err '^vestige check: .*bad.vest: chunk [0-9]+ at offset [0-9]+: .*\(VSE_[A-Z]+\)'
offset=$(sed -E 's/.* at offset ([0-9]+): .*/\1/' "$err")
((offset <= size / 2)) || fail "offset $offset lies after the damage"
run "$VESTIGE" check --json "$T/bad.vest"
expect_status 1
expect_one_line_err
expect_equal "$(jq ".ok == false and .offset == $offset and (.error | startswith(\"VSE_\"))" "$out")" true

begin reports_a_cut_file
head -c $((size / 2)) "$T/a.vest" >"$T/cut.vest"
run "$VESTIGE" check "$T/cut.vest"
expect_status 1
expect_no_out
expect_one_line_err

begin checks_every_file
run "$VESTIGE" check "$T/bad.vest" "$T/a.vest" "$T/cut.vest" "$T/b.vest"
expect_status 1
expect_equal "$(grep -c ': ok: ' "$out")" 2
expect_equal "$(wc -l <"$err")" 2

begin reports_a_missing_file_among_others
run "$VESTIGE" check "$T/none.vest" "$T/a.vest"
expect_status 2
expect_one_line_err
expect_out ': ok: '

finish
