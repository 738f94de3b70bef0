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
expect_out "^$T/a.vest: ok: [0-9]+ chunks, $(grouped "$events") events, $(grouped "$size") bytes checked$"

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
    expect_err '^vestige check: .*bad.vest: .*[a-z]'
done

begin names_chunk_and_offset
flip "$T/bad.vest" $((size / 2))
run "$VESTIGE" check "$T/bad.vest"
expect_status 1
expect_one_line_err
expect_err '^vestige check: .*bad.vest: chunk [0-9]+ at offset [0-9]+: .*[a-z]'
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

begin compares_loads_of_a_generated_run
run "$VESTIGE" check --memory "$T/a.vest"
expect_status 0
expect_no_err
expect_equal "$(wc -l <"$out")" 2
tail -n 1 "$out" >"$T/last"
grep -qE "^$T/a.vest: compared [1-9][0-9,]* loads \([0-9,]+ bytes; [0-9,]+ bytes first seen\): all equal$" "$T/last" ||
    fail "not the last line"
run "$VESTIGE" check --memory --json "$T/a.vest"
expect_status 0
loads=$("$VESTIGE" info --json "$T/a.vest" | jq '[.counts.loads.count, .counts.loads.bytes, .counts.external.bytes]')
expect_equal "$(jq -c '.memory | [.loads, .bytes + .first_seen, .external]' "$out")" "$(jq -c . <<<"$loads")"
expect_equal "$(jq '.ok and .memory.differences == 0 and .memory.first == null' "$out")" true
run "$VESTIGE" check --memory --quiet "$T/a.vest"
expect_status 0
expect_no_out
expect_no_err

handmade whole word wide loads-only fresh foreign

begin compares_loads_of_a_run_made_by_hand
run "$VESTIGE" check --memory "$T/whole.vest"
expect_status 0
expect_no_err
expect_out 'whole.vest: compared 2 loads \(108 bytes; 32 bytes first seen\): all equal$'

begin names_the_first_load_that_differs
run "$VESTIGE" check --memory "$T/word.vest"
expect_status 1
expect_one_line_err
expect_out 'word.vest: ok: '
expect_err '^vestige check: .*word.vest: event 10, thread 0, pc 0x401128: load of 8 bytes at 0x600110: expected 0x0000000000000002, got 0x0000000033000002; 1 of 2 loads differ$'
grep -q 'all equal' "$out" && fail "it says that all are equal"
run "$VESTIGE" check "$T/word.vest"
expect_status 0

begin shows_a_part_of_a_wide_load_that_differs
run "$VESTIGE" check --memory "$T/wide.vest"
expect_status 1
expect_one_line_err
expect_err ': event 12, thread 0, pc 0x401130: load of 100 bytes at 0x600ff0 in bytes 50-81: expected 0x0{64}, got 0x0{62}ee; 1 of 2 loads differ$'
run "$VESTIGE" check --memory --json "$T/wide.vest"
expect_status 1
expect_equal "$(jq -c '[.ok, .memory.differences, (.memory.first | .event, .offset, .from, (.got | length, .[-4:]))]' "$out")" \
    '[false,1,12,50,50,66,"00ee"]'

begin fails_if_nothing_is_compared
"$VESTIGE_GEN" -o "$T/control.vest" --seed 5 --events 500 --control-only >"$out" || exit 2
for name in control:loads loads-only:stores fresh:'no load'; do
    run "$VESTIGE" check --memory "$T/${name%%:*}.vest"
    expect_status 2
    expect_one_line_err
    expect_err "^vestige check: .*: nothing to compare: ${name#*:} "
done
run "$VESTIGE" check --memory --json "$T/control.vest"
expect_status 2
expect_equal "$(jq -c '[.ok, .memory.nothing]' "$out")" '[false,"loads were not recorded"]'

begin walks_rv64_code
run "$VESTIGE" check --flow "$T/a.vest" "$T/b.vest"
expect_status 0
expect_equal "$(grep -c ': compared [0-9,]* instructions ([0-9,]* branches): all equal$' "$out")" 2 "runs walked"

begin walks_only_code_it_knows
run "$VESTIGE" check --flow "$T/foreign.vest"
expect_status 2
expect_one_line_err
expect_err ': nothing to compare: no decoder is known for its code \(fact isa\)$'
run "$VESTIGE" check --flow --json "$T/foreign.vest"
expect_status 2
expect_equal "$(jq -c '[.ok, .flow.instructions, (.flow.nothing | length > 0)]' "$out")" '[false,0,true]'

begin names_the_first_event_that_does_not_follow
run "$VESTIGE" check --flow "$T/whole.vest"
expect_status 1
expect_one_line_err
expect_err ': event [0-9]+, thread 0, pc 0x[0-9a-f]+: [a-z]+, after the walk came to 0x[0-9a-f]+: [a-z ,]+; [1-9][0-9]* events differ$'
grep -q 'all equal' "$out" && fail "it says that all are equal"
run "$VESTIGE" check --flow --json "$T/whole.vest"
expect_status 1
expect_equal "$(jq -c '[.ok, .flow.differences > 0, (.flow.first | has("why") and has("at"))]' "$out")" '[false,true,true]'

finish
