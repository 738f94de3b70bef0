#!/bin/bash
# SPDX-License-Identifier: MIT
# What the recorder notes of native programs so that a replay repeats them exactly: interrupted rep instructions,
# requests of Valgrind, x87's registers, bases of segments, the old system calls, and facts; and runs without it.
. "$(dirname "$0")/lib.sh"

program=$VESTIGE_BUILD/test/programs/noted
cc=$(sed -n 's/^CC=//p' "$VESTIGE_BUILD/config")
san=$(sed -n 's/^SAN=//p' "$VESTIGE_BUILD/config")
cd "$T" || exit 2

# record WHAT: $T/WHAT.vest, which is sound, whether its events are recorded or made; $T/WHAT.out has what the program
# printed.
record() {
    run "$VESTIGE" record -q -f --inputs --all -o both.vest -- "$program" "$1"
    expect_status 0
    run "$VESTIGE" check --inputs --flow --memory both.vest
    expect_status 0
    expect_out ' and ([0-9,]+) of \1 events: all equal$'
    run "$VESTIGE" record -q -o "$1.vest" -- "$program" "$1"
    expect_status 0
    cp "$out" "$1.out"
    run "$VESTIGE" check --flow --memory "$1.vest"
    expect_status 0
    expect_out ' loads .*: all equal$'
    expect_out ' instructions .*: all equal$'
    run "$VESTIGE" verify -t mlvCF_e "$1.vest"
    expect_status 0
}

# replays WHAT: by two techniques, with everything equal.
replays() {
    local technique
    for technique in mlvCF_e mc2RT; do
        run "$VESTIGE" encode -f -t "$technique" -o run.vport "$1.vest"
        expect_status 0
        run "$VESTIGE" replay --check "$1.vest" run.vport
        expect_status 0
        expect_out ': all equal$'
        run "$VESTIGE" replay --print-output run.vport
        expect_equal "$(head -n "$(wc -l <"$1.out")" "$out")" "$(cat "$1.out")"
    done
}

# address SYMBOL: in the program, as 0x...
address() {
    nm "$program" | awk -v name="$1" '$3 == name { sub(/^0+/, "", $1); print "0x" $1 }'
}

# events KIND RUN PC: those events, one JSON object a line.
events() {
    "$VESTIGE" dump --json --kind "$1" "$2" | jq -c --arg pc "$3" 'select((.pc | sub("^0x0*"; "0x")) == $pc)'
}

begin notes_how_far_a_repeated_instruction_is
record rep
expect_equal "$(cat rep.out)" '120 120'
rep=$(address noted_rep)
expect_equal "$(events exception rep.vest "$rep" | jq -r '.registers.iterations | ltrimstr("0x") | sub("^0+"; "")')" "$(printf '5\n1005')"
expect_equal "$("$VESTIGE" dump --json --kind exception-return rep.vest |
    jq -r 'select(.registers.iterations) | (.target | sub("^0x0*"; "0x")) + " " + (.registers.iterations | sub("^0x0*"; "0x"))')" \
    "$(printf '%s\n' "$rep 0x5" "$rep 0x1005")"
# Valgrind has set rcx when an iteration faults, so all registers are there.
expect_equal "$(events exception rep.vest "$rep" | jq -r '.registers | has("2") and has("66") and has("48")')" "$(printf 'true\ntrue')"
replays rep

begin notes_what_requests_got
record requests
expect_equal "$(cat requests.out)" '0 1 0 9 0 3 110'
original=$(($(address noted_original) + 16))
expect_equal "$("$VESTIGE" dump --json --kind nondet requests.vest |
    jq -r 'select(.size == 8) | (.pc | sub("^0x0*"; "0x")) + " " + (.value | sub("^0x0*(?=.)"; "0x"))' | tail -n 6 |
    awk -v original="$(printf '0x%x' $original)" '{ print ($1 == original ? "original" : "request"), $2 }')" \
    "$(printf '%s\n' 'request 0x0' 'request 0x1' 'request 0x0' 'request 0x9' 'request 0x0' 'original 0x0')"
replays requests

# With --marks they switch recording, and otherwise the same is recorded as of any other request.
begin records_marks_as_requests
run "$VESTIGE" record -q --marks -o marks.vest -- "$program" requests
expect_status 0
run "$VESTIGE" check --flow marks.vest
expect_status 0
expect_equal "$("$VESTIGE" dump --json --kind nondet marks.vest | jq -r '.value | sub("^0x0*(?=.)"; "0x")')" "$(printf '0x1\n0x0')"

begin notes_x87_as_it_is
record x87
start=$("$VESTIGE" dump --json --kind thread-start x87.vest | tail -n 1)
expect_equal "$(printf '%s\n' "$start" | jq -r '.registers | .["41"] + " " + .["66"] + " " + (has("33") | tostring)')" \
    '0x7ff0000000000001 0x00004000 false'
expect_equal "$("$VESTIGE" dump --json --kind thread-start x87.vest | head -n 1 | jq -r '.registers | has("41") or has("65280")')" false
replays x87

begin notes_the_bases_that_a_call_set
record base
expect_equal "$(cat base.out)" 1234
expect_equal "$("$VESTIGE" dump --json --kind syscall base.vest | jq -r 'select(.number == 158) | .registers | has("58")')" \
    "$(printf 'true\ntrue\ntrue')"
expect_equal "$("$VESTIGE" dump --json --kind syscall base.vest | jq -r 'select(.number != 158) | .registers | has("58")' | sort -u)" false
replays base

# Valgrind runs code of its own in their place, wherever the kernel has them.
begin records_old_system_calls_where_they_are_called
record old
for call in 0xffffffffff600007:96 0xffffffffff600407:201 0xffffffffff600807:309; do
    expect_equal "$(events syscall old.vest "${call%:*}" | jq .number)" "${call#*:}"
done
replays old

# Masked loads and stores, state in parts, faults within blocks and repeated instructions, an alarm between iterations.
for name in partial faults; do
    begin "repeats_the_accesses_of_$name"
    run "$VESTIGE" record -q -o "$name.vest" -- "$VESTIGE_BUILD/test/programs/$name"
    expect_status 0
    cp "$out" "$name.out"
    replays "$name"
done

begin says_where_it_was_recorded
run "$VESTIGE" info --no-scan old.vest
expect_out '^  format  *version 2;'
expect_out '^  valgrind  *[0-9]+\.[0-9]+'
expect_out "^  recorder  *$("$VESTIGE" --version | sed 's/.* //; s/\./\\./g')\$"
expect_out '^  processor  *[A-Za-z]+ family [0-9]+ model [0-9]+ stepping [0-9]+'
expect_out '^  offered  *.*sse3'
expect_out '^  noted  *1$'

# shellcheck disable=SC2086 # a compiler may have options
$cc -std=gnu11 ${san:+-fsanitize=$san} -I"$VESTIGE_SRC/src" -I"$VESTIGE_SRC/include" -o older_run "$VESTIGE_SRC/tests/cli/older_run.c" \
    "$VESTIGE_BUILD/lib/libvestige-all.a" -lzstd -lpthread || exit 2

begin reads_a_run_of_version_1
./older_run rep.vest older.vest || fail "no older run"
run "$VESTIGE" info --no-scan older.vest
expect_out '^  format  *version 1;'
run "$VESTIGE" check --flow --memory older.vest
expect_status 0
run "$VESTIGE" dump --json --kind thread-start older.vest
expect_out '"33":"0x3fff8000000000000000"'
run "$VESTIGE" verify -t mlvCF_e -t mc2RT older.vest
expect_status 0

begin says_what_a_run_of_version_1_lacks
"$VESTIGE" encode -t mlvCF_e -o older.vport older.vest >"$out" || fail "not encoded"
for file in older.vest older.vport; do
    run "$VESTIGE" replay "$file"
    expect_status 2
    expect_one_line_err
    expect_err "$file: was recorded by an older vestige, which did not note interrupted rep .*; record it again\$"
done

begin warns_of_another_processor
./older_run rep.vest other.vest 'GenuineOther family 1' || fail "no such run"
run "$VESTIGE" encode -t mlvCF_e -o other.vport other.vest
expect_status 0
run "$VESTIGE" replay --check other.vest other.vport
expect_status 0
expect_one_line_err
expect_err "other.vport: was recorded on 'GenuineOther family 1', and this is '[A-Za-z]+ family .*': approximations .* may differ\$"
run "$VESTIGE" encode -f -t mlvCF_e -o run.vport rep.vest
run "$VESTIGE" replay --check rep.vest run.vport
expect_status 0
expect_no_err

finish
