#!/bin/bash
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

"$VESTIGE_GEN" -o "$T/a.vest" --seed 3 --threads 4 --events 10000 >"$out" || exit 2
"$VESTIGE_GEN" -o "$T/timed.vest" --seed 4 --threads 3 --events 7000 --timed >"$out" || exit 2
"$VESTIGE_GEN" -o "$T/control.vest" --seed 5 --threads 2 --events 7000 --control-only >"$out" || exit 2
"$VESTIGE_GEN" -o "$T/many.vest" --seed 6 --threads 20 --events 8000 >"$out" || exit 2

# holds EXPRESSION: it is true of the JSON on standard output.
holds() {
    [ "$(jq "$1" "$out")" = true ] || fail "not true: $1"
}

# Counts that `info` must show, from the lines of `dump`. $1: the run.
counted_from_dump() {
    "$VESTIGE" dump --json "$1" | jq -n '
        def tally(f): reduce f as $k ({}; .[$k] += 1);
        def size_class: if IN(1, 2, 4, 8, 10, 16, 32) then tostring else "other" end;
        def branch_class:
            if .branch | startswith("cond-i") or . == "cond-ret" then "conditional_indirect"
            elif .branch | startswith("cond") then
                if .taken then "conditional_direct_taken" else "conditional_direct_not_taken" end
            elif .branch | IN("ijump", "icall", "ret") then "unconditional_indirect"
            else "unconditional_direct" end;
        def operands(kind): map(select(.kind == kind)) | {
            count: length,
            bytes: (map(.size) | add // 0),
            repeated: map(select(.repeat)) | length,
            atomic: map(select(.atomic)) | length,
            sizes: tally(.[].size | size_class)
        };
        [inputs] | {
            kinds: tally(.[].kind | gsub("-"; "_")),
            classes: tally(.[] | select(.kind == "branch") | branch_class),
            branch_kinds: tally(.[] | select(.kind == "branch") | .branch | gsub("-"; "_")),
            loads: operands("load"),
            stores: operands("store"),
            external: map(select(.kind == "external") | .size) | [length, (add // 0)],
            syscalls: tally(.[] | select(.kind == "syscall") | .number | tostring),
            causes: tally(.[] | select(.kind == "exception") | .registers.cause | ltrimstr("0x")
                | ltrimstr("00000000000000")),
            gaps: map(select(.kind == "gap") | .instructions) | [length, (add // 0)],
            threads: group_by(.thread) | map([.[0].thread, length, (map(.icount) | add)]),
            instructions: map(.icount) | add
        }'
}

# The same shape, from `info`.
shown_by_info() {
    "$VESTIGE" info --json "$1" | jq '
        def hex: "0123456789abcdef" as $d | $d[. / 16 | floor:][:1] + $d[. % 16:][:1];
        def some: with_entries(select(.value != 0));
        {
            kinds: .counts.kinds | some,
            classes: .counts.branches.classes | some,
            branch_kinds: .counts.branches.kinds | some,
            loads: (.counts.loads | .sizes |= some),
            stores: (.counts.stores | .sizes |= some),
            external: [.counts.external.count, .counts.external.bytes],
            syscalls: .counts.syscalls.top | map({key: (.number | tostring), value: .count})
                | from_entries,
            causes: .counts.causes | map({key: (.number | hex), value: .count}) | from_entries,
            gaps: [.counts.gaps.count, .counts.gaps.instructions],
            threads: .threads | map([.thread, .events, .instructions]),
            instructions: .instructions
        }'
}

for name in a timed control many; do
    begin "counts_what_dump_prints_of_$name"
    run "$VESTIGE" info --json "$T/$name.vest"
    expect_status 0
    expect_no_err
    counted_from_dump "$T/$name.vest" >"$T/dump.json"
    shown_by_info "$T/$name.vest" >"$T/info.json"
    # Only the most frequent system calls are listed, so the others are not compared.
    filter='.syscalls |= (to_entries | sort_by(-.value, (.key | tonumber)) | .[:16])'
    diff <(jq -S "$filter" "$T/dump.json") <(jq -S "$filter" "$T/info.json") >"$out" ||
        fail "info (>) counts otherwise than dump (<)"

    begin "sums_up_in_$name"
    run "$VESTIGE" info --json "$T/$name.vest"
    holds '([.threads[].events] | add) == .events'
    holds '([.threads[].instructions] | add) == .instructions'
    holds '([.counts.kinds[]] | add) == .events'
    holds '([.counts.branches.classes[]] | add) == .counts.branches.count'
    holds '([.counts.branches.kinds[]] | add) == .counts.branches.count'
    holds '([.counts.loads.sizes[]] | add) == .counts.loads.count'
    holds '([.counts.stores.sizes[]] | add) == .counts.stores.count'
    holds '.counts.syscalls.count == .counts.kinds.syscall'
    holds '([.counts.causes[].count] | add // 0) == .counts.exceptions'
    holds '([.images[].instructions, .counts.outside_images, .counts.unplaced] | add) == .instructions'
    holds '([.counts.routines[].instructions] | add) <= .instructions and (.counts.routines | length) <= 16'
    holds '.counts.routines == (.counts.routines | sort_by(-.instructions, .start))'
    holds '.counts.iterations == 0'
    holds '.sealed and .missing == null and .readable == .size'
    holds ".size == $(stat -c %s "$T/$name.vest")"
    holds '(.bytes_per_event - .size / .events | fabs) < 0.001'
    holds '(.bits_per_instruction - 8 * .size / .instructions | fabs) < 0.001'
done

begin names_features
run "$VESTIGE" info --json "$T/timed.vest"
holds '.features == ["timed", "loads", "stores"]'
run "$VESTIGE" info --json "$T/control.vest"
holds '.features == []'
holds '.counts.loads.count == 0 and .counts.stores.count == 0 and .cycles == null and .ipc == null'

begin gives_cycles_of_a_timed_run
run "$VESTIGE" info --json "$T/timed.vest"
holds '.cycles.count == .cycles.last - .cycles.first + 1'
holds '(.ipc - .instructions / .cycles.count | fabs) < 0.001'
first=$("$VESTIGE" dump --json "$T/timed.vest" | jq -s 'map(.cycle) | min')
last=$("$VESTIGE" dump --json "$T/timed.vest" | jq -s 'map(.cycle) | max')
holds ".cycles.first == $first and .cycles.last == $last"

begin prints_text
run "$VESTIGE" info "$T/a.vest"
expect_status 0
expect_no_err
expect_out "^$T/a.vest$"
expect_equal "$(awk '$1 == "events" { gsub(",", ""); print $2 }' "$out")" \
    "$("$VESTIGE" dump "$T/a.vest" | wc -l)"
expect_out '^  sealed +yes$'
expect_out '^  conditional direct, taken +[0-9,]+ +[0-9.]+ %$'
expect_out '^  unconditional indirect +[0-9,]+ +[0-9.]+ %$'
expect_out '^Loads by operand size$'
expect_out '^  t3 +[0-9,]+ +[0-9,]+$'

begin shows_sixteen_threads
run "$VESTIGE" info --no-scan "$T/many.vest"
expect_status 0
expect_equal "$(grep -cE '^  t[0-9]+ ' "$out")" 16
expect_out '^  \.\.\. and 4 more \(--all\)$'
run "$VESTIGE" info --no-scan --all "$T/many.vest"
expect_equal "$(grep -cE '^  t[0-9]+ ' "$out")" 20

begin leaves_counts_out_without_scan
run "$VESTIGE" info --no-scan --json "$T/a.vest"
expect_status 0
holds '.counts == null and .events > 0'
run "$VESTIGE" info --no-scan "$T/a.vest"
grep -q '^Events by kind' "$out" && fail "it counted"

begin describes_several_runs
run "$VESTIGE" info --json "$T/a.vest" "$T/timed.vest"
expect_status 0
expect_equal "$(jq -s 'map(.file | split("/")[-1]) | join(" ")' "$out")" '"a.vest timed.vest"'

begin goes_on_after_a_bad_file
run "$VESTIGE" info --json "$VESTIGE_SRC/LICENSE" "$T/a.vest"
expect_status 1
expect_one_line_err
expect_equal "$(jq -s length "$out")" 1

begin agrees_with_itself_under_salvage
run "$VESTIGE" info --json "$T/a.vest"
jq 'del(.sealed, .missing, .chunks, .readable)' "$out" >"$T/whole.json"
run "$VESTIGE" info --json --salvage "$T/a.vest"
expect_status 0
expect_equal "$(jq 'del(.sealed, .missing, .chunks, .readable)' "$out")" "$(cat "$T/whole.json")"

begin describes_a_cut_file
size=$(stat -c %s "$T/a.vest")
head -c $((size - 10)) "$T/a.vest" >"$T/cut.vest"
run "$VESTIGE" info --json "$T/cut.vest"
expect_status 1
expect_one_line_err
expect_err '^vestige info: .*cut.vest: incomplete: .*; only what precedes it was read$'
holds '(.sealed | not) and (.missing.error | startswith("VSE_")) and .readable < .size'
holds '.events == ([.counts.kinds[]] | add // 0)'
run "$VESTIGE" info "$T/cut.vest"
expect_status 1
expect_one_line_err
expect_out '^  sealed +no; the first [0-9,]+ bytes are readable$'

handmade whole

begin names_system_calls_and_signals
run "$VESTIGE" info --json "$T/whole.vest"
expect_status 0
expect_equal "$(jq -c '.counts.syscalls.top | map([.number, .name, .count])' "$out")" \
    '[[1,"write",2],[9999,null,1]]'
expect_equal "$(jq -c '.counts.causes | map([.number, .name, .count])' "$out")" \
    '[[11,"SIGSEGV",2],[10,"SIGUSR1",1]]'
run "$VESTIGE" info "$T/whole.vest"
expect_out '^  1 write +2 +66.67 %$'
expect_out '^  9999 +1 +33.33 %$'
expect_out '^  11 SIGSEGV +2 +66.67 %$'
run "$VESTIGE" info --json "$T/a.vest"
holds '.counts.syscalls.top | map(select(.number == 63 and .name == "read")) | length == 1'

begin shows_iterations_apart
run "$VESTIGE" info --json "$T/whole.vest"
holds '.counts.iterations == 3 and .counts.loads.repeated == 3 and .counts.stores.repeated == 3'
run "$VESTIGE" info "$T/whole.vest"
instructions=$(awk '$1 == "instructions" { print $2; exit }' "$out")
expect_out '^  further iterations +3$'
expect_out "^  instructions with them +$((instructions + 3))$"

begin counts_by_image_and_routine
run "$VESTIGE" info --json "$T/whole.vest"
expect_equal "$(jq -c '[.images[].instructions, .counts.outside_images, .counts.unplaced]' "$out")" \
    '[27,0,10,30,7]'
expect_equal "$(jq -c '.counts.routines | map([.name, .image, .start, .instructions])' "$out")" \
    '[[null,null,"0x9000",30],[null,"/opt/program","0x401100",13],[null,"/opt/library.so","0x7f001000",10],[null,"/opt/program","0x401200",9],[null,"/opt/program","0x401000",5]]'
run "$VESTIGE" info "$T/whole.vest"
expect_out '^ +27 +36.49 %  /opt/program$'
expect_out '^ +10 +13.51 %  /opt/library.so$'
expect_out '^ +30 +40.54 %  \(outside all images\)$'
expect_out '^ +7 +9.46 %  \(where is not known\)$'
expect_out '^ +30 +40.54 %  0x9000$'
expect_out '^ +13 +17.57 %  program\+0x401100$'
expect_out '^ +10 +13.51 %  library.so\+0x1000$'
run "$VESTIGE" info --json --no-scan "$T/whole.vest"
holds '.images | map(.instructions) == [null, null, null]'

# A program that replaces itself by another, at the same addresses.
begin counts_in_the_program_that_ran
cc=$(sed -n 's/^CC=//p' "$VESTIGE_BUILD/config")
cat >"$T/first.c" <<'EOF'
#include <unistd.h>
__attribute__((noinline)) int early(int n) { volatile int s = 0; for (int i = 0; i < n; i++) s += i; return s; }
int main(int c, char **v) { early(30000); execv(v[1], v + 1); return 9; }
EOF
cat >"$T/second.c" <<'EOF'
__attribute__((noinline)) int late(int n) { volatile int s = 0; for (int i = 0; i < n; i++) s += i; return s; }
int main(void) { late(60000); return 0; }
EOF
for name in first second; do
    $cc -O1 -o "$T/$name" "$T/$name.c" || exit 2
done
run "$VESTIGE" record --control-only -f -o "$T/exec.vest" -- "$T/first" "$T/second"
expect_status 0
run "$VESTIGE" check --flow "$T/exec.vest"
expect_status 0
expect_out 'instructions .*all equal'
run "$VESTIGE" info --json "$T/exec.vest"
holds '[.counts.routines[] | select(.name == "early" or .name == "late")] |
    length == 2 and .[0].name == "late" and .[0].instructions > 1.8 * .[1].instructions and
    .[0].instructions < 2.2 * .[1].instructions and (.[1].image | endswith("/first"))'
holds '.counts.routines | map([.image, .start]) | length == (unique | length)'

finish
