#!/bin/bash
# SPDX-License-Identifier: MIT
# Port streams as files: written, and decoded with nothing but the program's code. Every decodable control-flow technique on
# three runs; under the sanitizers the runs take turns, but in make check-long (VESTIGE_LONG=1).
. "$(dirname "$0")/lib.sh"

export SOURCE_DATE_EPOCH=1000000000
program=$(workload rv64 racy)
"$VESTIGE" record -o "$T/a.vest" --cores 2 -- "$program" -n 60 -p 2 >"$out" 2>&1 || exit 2
"$VESTIGE" record -o "$T/t.vest" --cores 2 --timed -- "$program" -n 60 -p 2 >"$out" 2>&1 || exit 2
"$VESTIGE" record -o "$T/n.vest" --control-only -- "$(workload host racy)" -n 40 -p 2 >"$out" 2>&1 || exit 2

# branches RUN: core, pc, whether taken and target of every branch that a decoder has to be told of, by core.
branches() {
    "$VESTIGE" dump --json --kind branch "$1" |
        jq -r 'select(.branch != "jump") | "\(.thread) \(.pc) \(.taken) \(if .target == "0x0" then null else .target end)"' |
        sort -s -k1,1n
}

# steps FILE: what `decode --json` says of branches, in the same way; jq would take longer than all the rest.
steps() {
    awk -F '[{:",}]+' '{ at = $4 == "cycle" ? 2 : 0 }
        $(5 + at) == "branch" { print $3, $(7 + at), $(11 + at), $(13 + at) }' "$1" | sort -s -k1,1n
}

begin rebuilds_every_branch
names=$("$VESTIGE" techniques --json | jq -r '.[] | select(.kind == "control flow" and .decodable).name')
turn=0
for name in a t n; do
    branches "$T/$name.vest" >"$T/wanted"
    [ "$(wc -l <"$T/wanted")" -gt 5000 ] || fail "few branches"
    for technique in $names; do
        turn=$((turn + 1))
        [ -z "$brief" ] || [ $((turn % 3)) = 0 ] || continue
        run "$VESTIGE" encode -f "$T/$name.vest" -t "$technique" -o "$T/run.vport"
        expect_status 0
        expect_no_err
        run "$VESTIGE" decode "$T/run.vport" --code "$T/$name.vest" --json
        expect_status 0
        expect_no_err
        steps "$out" >"$T/got"
        cmp -s "$T/wanted" "$T/got" || fail "$name, $technique: other branches: $(diff "$T/wanted" "$T/got" | head -3)"
    done
done

# Counts of which 16 bits hold less than that: without the widths in the file nothing is ever full.
begin reads_a_file_that_names_no_widths_of_counters
cc=$(sed -n 's/^CC=//p' "$VESTIGE_BUILD/config")
san=$(sed -n 's/^SAN=//p' "$VESTIGE_BUILD/config")
$cc -std=gnu11 ${san:+-fsanitize=$san} -I"$VESTIGE_SRC/src" -I"$VESTIGE_SRC/include" -o "$T/older" "$VESTIGE_SRC/tests/cli/older.c" \
    "$VESTIGE_BUILD/lib/libvestige-all.a" || exit 2
"$VESTIGE" record --control-only -o "$T/long.vest" -- "$(workload rv64 sha)" -n 4 >"$out" 2>&1 || exit 2
for technique in mcfTR_e:bcnt_bits=64,icnt_bits=64 mcfTR_e; do
    run "$VESTIGE" encode -f "$T/long.vest" -t "$technique" -o "$T/run.vport"
    expect_status 0
    "$T/older" "$T/run.vport" "$T/older.vport" || fail "$technique: no older file"
    "$VESTIGE" decode "$T/run.vport" --code "$T/long.vest" >"$T/wanted" || fail "$technique: not decoded"
    run "$VESTIGE" decode "$T/older.vport" --code "$T/long.vest"
    case $technique in
    mcfTR_e) ! cmp -s "$T/wanted" "$out" || fail "no counter was full" ;;
    *)
        expect_status 0
        expect_no_err
        cmp -s "$T/wanted" "$out" || fail "other branches"
        ;;
    esac
done

begin takes_the_code_from_the_program
run "$VESTIGE" encode "$T/t.vest" -t mcfTR_e -o "$T/t.vport"
expect_status 0
run "$VESTIGE" decode "$T/t.vport" --code "$T/t.vest"
cp "$out" "$T/wanted"
expect_out '^decoded [0-9,]+ steps: [0-9,]+ branches, [0-9,]+ instructions, [0-9,]+ messages$'
expect_out '^@[0-9]+ +c[01] +0x[0-9a-f]{16} cond '
run "$VESTIGE" decode "$T/t.vport" --image "$program"
expect_status 0
cmp -s "$T/wanted" "$out" || fail "other steps with --image"
run "$VESTIGE" decode "$T/t.vport"
expect_status 0
cmp -s "$T/wanted" "$out" || fail "other steps with the images that the stream names"
# it does not need the events
run "$VESTIGE" decode "$T/t.vport" --code "$T/a.vest" --summary
expect_status 0
expect_equal "$(cat "$out")" "$(tail -1 "$T/wanted")"

begin is_the_same_every_time
run "$VESTIGE" encode -f "$T/t.vest" -t mcfTR_e -o "$T/again.vport"
cmp "$T/t.vport" "$T/again.vport" || fail "another file"

begin keeps_a_file_that_is_there
run "$VESTIGE" encode "$T/t.vest" -t mcfNX_b -o "$T/t.vport"
expect_status 2
expect_one_line_err
expect_err 'exists; -f replaces it'
run "$VESTIGE" encode -f "$T/t.vest" -t mcfNX_b -o "$T/t.vest"
expect_status 2
expect_one_line_err
expect_err 'is what is read'
run "$VESTIGE" check "$T/t.vest"
expect_status 0
cmp "$T/t.vport" "$T/again.vport" || fail "it was replaced"

begin decodes_a_cut_stream_to_its_last_message
size=$(stat -c %s "$T/t.vport")
for part in 3 2; do
    head -c $((size * part / 4)) "$T/t.vport" >"$T/cut.vport"
    run "$VESTIGE" decode "$T/cut.vport" --code "$T/t.vest"
    expect_status 1
    expect_one_line_err
    # within a message, or by chance between two
    expect_err ': bit [0-9]+, (.* of message [0-9]+ |core [0-9]+ after [0-9]+ instructions, .*the stream ends here).*; what precedes it was decoded$'
    lines=$(($(wc -l <"$out") - 1))
    [ "$lines" -gt 100 ] || fail "little was decoded"
    cmp -s <(head -n "$lines" "$out") <(head -n "$lines" "$T/wanted") || fail "other steps before the cut"
done
for n in 0 7 40 100; do
    head -c $n "$T/t.vport" >"$T/cut.vport"
    run "$VESTIGE" decode "$T/cut.vport" --code "$T/t.vest"
    expect_status 1
    expect_one_line_err
done

begin refuses_a_damaged_stream
cp "$T/t.vport" "$T/bad.vport"
printf '\xa5' | dd of="$T/bad.vport" bs=1 seek=$((size / 2)) conv=notrunc status=none
cmp -s "$T/t.vport" "$T/bad.vport" && printf '\x5a' | dd of="$T/bad.vport" bs=1 seek=$((size / 2)) conv=notrunc status=none
run "$VESTIGE" decode "$T/bad.vport" --code "$T/t.vest"
expect_status 1
expect_one_line_err
expect_no_out

begin refuses_other_code
run "$VESTIGE" decode "$T/t.vport" --image "$(workload rv64 sha)"
expect_status 1
expect_one_line_err
expect_err 'none of the images of the stream'
run "$VESTIGE" decode "$T/t.vport" --code "$T/n.vest"
expect_status 1
expect_one_line_err
run "$VESTIGE" decode "$T/t.vport" --image "$T/a.vest"
expect_status 1
expect_one_line_err
run "$VESTIGE" decode "$T/t.vport" --image "$T/none"
expect_status 2
expect_one_line_err

begin refuses_bad_usage
run "$VESTIGE" encode "$T/t.vest" -t mcfNX_b
expect_status 2
expect_one_line_err
run "$VESTIGE" encode "$T/t.vest" -o "$T/x.vport"
expect_status 2
expect_one_line_err
run "$VESTIGE" encode "$T/t.vest" -t mcfNX_b -t mcfTR_e -o "$T/x.vport"
expect_status 2
run "$VESTIGE" encode "$T/none.vest" -t mcfNX_b -o "$T/x.vport"
expect_status 2
run "$VESTIGE" encode "$T/t.vest" -t mcfNX_b -o "$T/none/x.vport"
expect_status 2
expect_one_line_err
expect_no_file "$T/x.vport"
run "$VESTIGE" decode "$T/t.vport" --code "$T/t.vest" --image "$program"
expect_status 2
expect_one_line_err
run "$VESTIGE" encode "$T/t.vest" -t mcfTR_e:ibtb_tags=untagged-oracle -o "$T/oracle.vport"
expect_status 0
run "$VESTIGE" decode "$T/oracle.vport" --code "$T/t.vest"
expect_status 1
expect_one_line_err
expect_err 'without tags'

begin refuses_streams_that_the_technique_does_not_have
"$VESTIGE" encode -f "$T/t.vest" -t mcfTR_e -o "$T/run.vport" >"$out" || fail "not encoded"
"$T/older" "$T/run.vport" "$T/streams.vport" per-core || fail "no such file"
for command in "decode $T/streams.vport --code $T/t.vest" "verify $T/t.vest --stream $T/streams.vport"; do
    # shellcheck disable=SC2086 # words
    run "$VESTIGE" $command
    expect_status 1
    expect_one_line_err
    expect_err 'it has more streams than the technique'
done

begin stops_at_a_limit
run "$VESTIGE" decode "$T/t.vport" --code "$T/t.vest" --until 1000 --summary
expect_status 0
expect_out '^decoded '

begin says_that_code_was_replaced
if command -v valgrind >/dev/null; then
    "$VESTIGE" record -f -o "$T/exec.vest" -- env true >"$out" 2>&1 || fail "not recorded"
    "$VESTIGE" encode -f "$T/exec.vest" -t mcfTR_e -o "$T/exec.vport" >"$out" || fail "not encoded"
    for code in "" "--code $T/exec.vest"; do
        # shellcheck disable=SC2086 # words
        run "$VESTIGE" decode --summary $code "$T/exec.vport"
        expect_status 1
        expect_one_line_err
        expect_err "; what precedes it was decoded\. The program replaced code \(exec, .*'vestige verify RUN --stream' decodes"
    done
    run "$VESTIGE" verify "$T/exec.vest" --stream "$T/exec.vport"
    expect_status 0
fi

finish
