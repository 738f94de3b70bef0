#!/bin/bash
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

"$VESTIGE_GEN" -o "$T/a.vest" --seed 7 --threads 3 --events 10000 >"$out" || exit 2
"$VESTIGE_GEN" -o "$T/timed.vest" --seed 8 --threads 3 --events 7000 --timed >"$out" || exit 2

"$VESTIGE" dump "$T/a.vest" >"$T/all.txt" || exit 2
"$VESTIGE" dump --json "$T/a.vest" >"$T/all.json" || exit 2
"$VESTIGE" dump --json "$T/timed.vest" >"$T/timed.json" || exit 2
events=$(wc -l <"$T/all.txt")

# same FILE: standard output is that file, which is not empty.
same() {
    [ -s "$1" ] || fail "nothing to compare with"
    cmp -s "$out" "$1" || fail "output differs from what was expected: $(diff "$1" "$out" | head -n 4)"
}

# expect_events JQ_FILTER OPTION...: the JSON lines are those that the filter keeps of all of $run.
run=a
expect_events() {
    local all=$T/all.json
    [ $run = timed ] && all=$T/timed.json
    jq -c "$1" "$all" >"$T/want.json"
    shift
    run "$VESTIGE" dump --json "$@" "$T/$run.vest"
    expect_status 0
    expect_no_err
    jq -c . "$out" >"$T/got.json" || fail "not JSON"
    cp "$T/got.json" "$out"
    same "$T/want.json"
}

begin numbers_every_event
expect_equal "$(jq -s 'map(.event) == [range(length)]' "$T/all.json")" true
expect_equal "$(wc -l <"$T/all.json")" "$events"
expect_equal "$events" "$("$VESTIGE" info --json --no-scan "$T/a.vest" | jq .events)"

begin prints_text_and_json_alike
jq -r '[.event, "t\(.thread):\(.at)", .kind, "+\(.icount)"] | join(" ")' "$T/all.json" >"$T/want"
run awk '{ print $1, $2, $3, $NF }' "$T/all.txt"
same "$T/want"

begin tells_places_that_a_debugger_takes
# What a thread retired before an instruction's events, or before an event that is no instruction's.
jq -s -r 'reduce .[] as $e ({sum: {}, out: []}; (($e.thread | tostring) as $t | .sum[$t] += $e.icount |
    .out += [.sum[$t] - (if ($e.kind | IN("branch", "load", "store", "syscall", "nondet", "exception-return")) and .sum[$t] > 0 then 1 else 0 end)])) |
    .out[]' "$T/all.json" >"$T/want"
run jq -r .at "$T/all.json"
same "$T/want"
for from in 1 4999 7777; do
    expect_events "select(.event >= $from)" --from $from
done
run=timed
expect_events 'select(.event >= 5000)' --from 5000
run=a

begin prints_operands_in_text
jq -r 'select(.kind == "load" or .kind == "store") | select(.size <= 64) |
    [.size, .value] | join(" ")' "$T/all.json" >"$T/want"
run awk '$3 == "load" || $3 == "store" { if ($6 <= 64) print $6, $8 }' "$T/all.txt"
same "$T/want"
grep -qE '^ +[0-9]+  t[0-9]+:[0-9]+ +load +0x[0-9a-f]{16} \[0x[0-9a-f]{16}\] 8 = 0x[0-9a-f]{16} ' "$T/all.txt" ||
    fail "no load of 8 bytes"

begin prints_values_as_wide_as_their_operands
expect_equal "$(jq -n '[inputs | select(.value) | select((.value | length) != 2 + 2 * .size)] | length' \
    "$T/all.json")" 0

begin shortens_long_values_unless_full
run "$VESTIGE" dump "$T/a.vest"
if grep -q ' = 0x\.\.\.' "$out"; then
    grep -oE ' = 0x\.\.\.[0-9a-f]*' "$out" | grep -qvE '^ = 0x\.\.\.[0-9a-f]{128}$' && fail "not 64 bytes"
else
    fail "no long value in the run"
fi
run "$VESTIGE" dump --full "$T/a.vest"
expect_status 0
grep -q ' = 0x\.\.\.' "$out" && fail "shortened with --full"
jq -r 'select(.kind == "external") | .value' "$T/all.json" >"$T/want"
awk '$3 == "external" { print $8 }' "$out" >"$T/got"
cp "$T/got" "$out"
same "$T/want"

begin shortens_registers_unless_full
run "$VESTIGE" dump --kind thread-start --limit 1 "$T/a.vest"
expect_out ' r1=0x[0-9a-f]+ r2=0x[0-9a-f]+ r3=0x[0-9a-f]+ r4=0x[0-9a-f]+ \.\.\. 28 more  \+0$'
run "$VESTIGE" dump --full --kind thread-start --limit 1 "$T/a.vest"
expect_out ' r31=0x[0-9a-f]+ pc=0x[0-9a-f]+  \+0$'

begin prints_branches
grep -qE ' branch +0x[0-9a-f]{16} cond (not-)?taken -> 0x[0-9a-f]{16}  length [0-9]+  \+[0-9]+$' "$T/all.txt" ||
    fail "no conditional branch"
expect_equal "$(jq -n '[inputs | select(.kind == "branch" and (.taken | not)) |
    select(.branch | startswith("cond") | not)] | length' "$T/all.json")" 0

begin prints_cycles_of_a_timed_run
jq -r '"@\(.cycle)"' "$T/timed.json" >"$T/want"
"$VESTIGE" dump "$T/timed.vest" | awk '{ print $2 }' >"$out"
same "$T/want"

begin picks_a_thread
expect_events 'select(.thread == 1)' --thread 1
awk '$2 ~ /^t1:/' "$T/all.txt" >"$T/want"
run "$VESTIGE" dump --thread=1 "$T/a.vest"
same "$T/want"

begin picks_kinds
expect_events 'select(.kind == "load")' --kind load
expect_equal "$(wc -l <"$out")" "$("$VESTIGE" info --json "$T/a.vest" | jq .counts.loads.count)"
expect_events 'select(.kind == "store" or .kind == "thread-start")' -k store,thread-start
expect_events 'select(.kind == "store" or .kind == "branch")' -k store -k branch

begin picks_a_slice
sed -n '1001,2001p' "$T/all.txt" >"$T/want"
run "$VESTIGE" dump --from 1000 --to 2000 "$T/a.vest"
expect_status 0
same "$T/want"
sed -n '1025,2001p' "$T/all.txt" >"$T/want"
for from in 1024 0x400 1K 1Ki 1KiB; do
    run "$VESTIGE" dump --from $from --to 0x7d0 "$T/a.vest"
    same "$T/want"
done
tail -n 10 "$T/all.txt" >"$T/want"
run "$VESTIGE" dump --from $((events - 10)) "$T/a.vest"
same "$T/want"
head -n 1 "$T/all.txt" >"$T/want"
run "$VESTIGE" dump --to 0 "$T/a.vest"
same "$T/want"

begin picks_a_slice_at_random_places
RANDOM=1
for _ in 1 2 3 4 5 6 7 8; do
    from=$((RANDOM % events)) count=$((RANDOM % 300 + 1))
    tail -n +$((from + 1)) "$T/all.txt" | head -n $count >"$T/want"
    run "$VESTIGE" dump --from $from --limit $count "$T/a.vest"
    same "$T/want"
done

begin prints_nothing_past_the_end
run "$VESTIGE" dump --from "$events" "$T/a.vest"
expect_status 0
expect_no_out
expect_no_err
run "$VESTIGE" dump --from 5 --to 4 "$T/a.vest"
expect_status 0
expect_no_out

begin limits_the_lines
awk '$2 ~ /^t2:/' "$T/all.txt" | head -n 7 >"$T/want"
run "$VESTIGE" dump --limit 7 --thread 2 "$T/a.vest"
same "$T/want"
run "$VESTIGE" dump --limit 0 "$T/a.vest"
expect_status 0
expect_no_out

begin starts_at_an_instruction_of_a_thread
for n in 0 1 77 1500; do
    # The first event of thread 1 with which its count reaches n, and the thread's from there.
    jq -cn --argjson n $n 'foreach (inputs | select(.thread == 1)) as $e
        (0; . + $e.icount; select(. >= $n) | $e)' "$T/all.json" >"$T/want"
    run "$VESTIGE" dump --json --thread 1 --from-insn $n "$T/a.vest"
    expect_status 0
    jq -c . "$out" >"$T/got"
    cp "$T/got" "$out"
    same "$T/want"
done

begin starts_at_a_cycle
run=timed
cycle=$(jq -n '[inputs.cycle] | sort | .[length / 2 | floor]' "$T/timed.json")
first=$(jq -n --argjson c "$cycle" 'first(inputs | select(.cycle >= $c) | .event)' "$T/timed.json")
expect_events "select(.event >= $first)" --from-cycle "$cycle"
run=a

begin picks_a_range_of_instructions
pc=$(jq -rn '[inputs | select(.kind == "branch") | .pc] | .[length / 2 | floor]' "$T/all.json")
expect_events "select(.pc == \"$pc\")" --pc "$pc"
expect_events "select(.pc == \"$pc\")" --pc "$pc-$pc"
expect_events 'select(.pc)' --pc 0-0xffffffffffffffff

begin picks_a_range_of_operands
jq -r 'select(.kind == "load" or .kind == "store" or .kind == "external" or .kind == "map") |
    [.event, .addr, .size // .length] | join(" ")' "$T/all.json" >"$T/operands"
read -r _ addr _ < <(sed -n "$(($(wc -l <"$T/operands") / 2))p" "$T/operands")
for span in 0 1 255; do
    lo=$((addr - span)) hi=$((addr + span))
    while read -r n a size; do
        # Addresses are below 2^63, or negative here on both sides.
        ((a <= hi && a + size > lo)) && echo "$n"
    done <"$T/operands" >"$T/want"
    run "$VESTIGE" dump --addr "$(printf '0x%x-0x%x' $lo $hi)" "$T/a.vest"
    expect_status 0
    awk '{ print $1 }' "$out" >"$T/got"
    cp "$T/got" "$out"
    same "$T/want"
done

begin combines_filters
expect_events 'select(.thread == 0 and .kind == "load" and .event >= 500 and .event <= 9000)' \
    --thread 0 --kind load --from 500 --to 9000

begin dumps_blocks
run "$VESTIGE" dump --blocks --json "$T/a.vest"
expect_status 0
expect_equal "$(jq -n '[inputs | select((.bytes | length) != 2 * .size or .insns < 1)] | length' "$out")" 0
expect_equal "$(jq -n '[inputs.size] | [length, add]' "$out" | tr -d ' \n')" \
    "$("$VESTIGE" info --json "$T/a.vest" | jq '.blocks | [.count, .code_bytes]' | tr -d ' \n')"
jq -r '[.block, .bytes] | join(" ")' "$out" >"$T/want"
run "$VESTIGE" dump --blocks "$T/a.vest"
awk '{ print $2, $NF }' "$out" >"$T/got"
cp "$T/got" "$out"
same "$T/want"

begin dumps_images
run "$VESTIGE" dump --images --json "$T/a.vest"
expect_status 0
expect_equal "$(jq -n '[inputs.path]' "$out")" "$("$VESTIGE" info --json "$T/a.vest" | jq '[.images[].path]')"
run "$VESTIGE" dump --images "$T/a.vest"
expect_status 0

# refuses NAME PATTERN OPTION...
refuses() {
    local pattern=$2
    begin "refuses_$1"
    shift 2
    run "$VESTIGE" dump "$@" "$T/a.vest"
    expect_status 2
    expect_no_out
    expect_one_line_err
    expect_err "^vestige dump: $pattern"
}
refuses a_thread_that_is_no_number "--thread: 'x' is not a number$" --thread x
refuses a_thread_out_of_range "--thread: '65536' is not between 0 and 65535$" --thread 65536
refuses a_thread_that_is_not_there "--thread: no thread 9; the run has 3" --thread 9
refuses an_empty_number "--limit: '' is not a number$" --limit=
refuses a_negative_number "--limit: '-1' is not a number$" --limit -1
refuses a_number_with_a_bad_suffix "--limit: '1Q' is not a number$" --limit 1Q
refuses a_suffix_of_two_meanings "--limit: '1KB' is not a number$" --limit 1KB
refuses a_number_over_64_bits "--from: '18446744073709551616' does not fit in 64 bits$" --from 18446744073709551616
refuses a_product_over_64_bits "--to: '18446744073709551615K' does not fit in 64 bits$" --to 18446744073709551615K
refuses an_end_that_is_no_number "--to: 'end' is not a number$" --to end
refuses an_unknown_kind "--kind: 'lod' is not one of branch, load, " --kind load,lod
refuses an_empty_kind "--kind: '' is not one of " --kind load,
refuses half_a_range "--pc: '0x10-' is not a range LO-HI$" --pc 0x10-
refuses a_reversed_range "--addr: '9-8' ends before it starts$" --addr 9-8
refuses an_instruction_without_thread "--from-insn: .*--thread" --from-insn 5
refuses an_instruction_that_is_no_number "--from-insn: 'n' is not a number$" --thread 0 --from-insn n
refuses a_cycle_of_an_untimed_run "--from-cycle: the run has no cycles" --from-cycle 5
refuses a_cycle_that_is_no_number "--from-cycle: '1.5' is not a number$" --from-cycle 1.5
refuses two_starts "only one of --from, --from-insn and --from-cycle" --from 1 --from-cycle 5
refuses two_runs "'.*a.vest' is one too many" "$T/a.vest"

begin dumps_what_a_cut_file_holds
size=$(stat -c %s "$T/a.vest")
head -c $((size - 10)) "$T/a.vest" >"$T/cut.vest"
run "$VESTIGE" dump "$T/cut.vest"
expect_status 1
expect_one_line_err
expect_err '^vestige dump: .*cut.vest: incomplete: '
head -n "$(wc -l <"$out")" "$T/all.txt" >"$T/want"
cmp -s "$out" "$T/want" || fail "not the beginning of the whole run"

finish
