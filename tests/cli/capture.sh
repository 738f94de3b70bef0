#!/bin/bash
# SPDX-License-Identifier: MIT
# Recorded runs against other sources: Valgrind's lackey, which counts instructions and lists memory operands,
# and what programs say of themselves.
. "$(dirname "$0")/lib.sh"

programs=$VESTIGE_BUILD/test/programs
lackey=/usr/libexec/valgrind/lackey-amd64-linux
for folder in ${VALGRIND_LIB:+"$VALGRIND_LIB"} /usr/lib*/valgrind /usr/lib/*/valgrind /usr/local/lib*/valgrind; do
    [ -e "$lackey" ] || lackey=$folder/lackey-amd64-linux
done

# A copy in which lackey lies beside our tool: the environment of the programs, and so their stack, is then the
# same under both. Debian's /usr/bin/valgrind would add to it; valgrind.bin does not.
lib=$T/copy/lib/vestige/valgrind
mkdir -p "$T/copy/bin" "$lib"
cp "$VESTIGE" "$T/copy/bin/vestige"
cp -P "$VESTIGE_BUILD"/lib/vestige/valgrind/* "$lib"
ln -s "$lackey" "$lib"
valgrind=$(command -v valgrind.bin || command -v valgrind)

# watch PROGRAM: by both; $T/run.vest and $T/lackey.
watch() {
    run env -i VALGRIND_LIB="$lib" "$T/copy/bin/vestige" record -f -o "$T/run.vest" -- "$1"
    expect_status 0
    run env -i VALGRIND_LIB="$lib" "$valgrind" --tool=lackey --trace-mem=yes --log-file="$T/lackey" \
        --vex-guest-chase=no --vex-iropt-unroll-thresh=0 "$1"
    expect_status 0
}

# lackey_operands PROGRAM: one line each, `L|S address,size`. Three things differ by design:
# - M is a load and a store;
# - Valgrind reads memory before it compares and swaps, which lackey shows as a load of its own: L, M of an
#   instruction with lock, or xchg;
# - bt of a register by a register uses memory below the stack, in Valgrind only.
lackey_operands() {
    objdump -d --no-show-raw-insn "$1" |
        awk -F'\t' 'BEGIN { print "kind address" }
            /^ +[0-9a-f]+:/ { sub(/^ +/, "", $1); sub(/:.*/, "", $1)
            if ($2 ~ /^(lock|xchg .*\()/) print "locked", $1
            else if ($2 ~ /^bt[src]? +%[a-z0-9]+,%/) print "bit", $1 }' >"$T/special"
    awk 'NR == FNR { special[$2] = $1; next }
        /^I/ { pc = $2; sub(/,.*/, "", pc); sub(/^0+/, "", pc); next }
        /^ [LSM] / {
            sub(/^0+/, "", $2)
            if (special[pc] == "bit" || (special[pc] == "locked" && $1 == "L")) next
            if ($1 == "M") print "L " $2 "\nS " $2
            else print $1, $2
        }' "$T/special" "$T/lackey"
}

recorded_operands() {
    "$VESTIGE" dump --json --kind load,store "$T/run.vest" |
        jq -r '(if .kind == "load" then "L " else "S " end) + (.addr | sub("^0x0*"; "")) + ",\(.size)"'
}

begin finds_lackey
[ -e "$lackey" ] || fail "there is nothing to compare with: no $lackey"
for name in values strings; do
    # lackey shows a repeated instruction anew for each iteration, and for the look at the count that ends it.
    begin "counts_instructions_of_${name}_as_lackey_does"
    watch "$programs/$name"
    expect_equal "$("$VESTIGE" info --no-scan --json "$T/run.vest" | jq .instructions)" \
        "$(awk '/^I/ { if ($2 != last) n++; last = $2 } END { print n }' "$T/lackey")"
    begin "lists_operands_of_${name}_as_lackey_does"
    lackey_operands "$programs/$name" >"$T/theirs"
    recorded_operands >"$T/ours"
    [ -s "$T/ours" ] || fail "no operands"
    cmp "$T/ours" "$T/theirs" >"$out" || fail "they differ: $(diff "$T/ours" "$T/theirs" | head -n 5)"
done

begin records_the_values_that_a_program_prints
run "$VESTIGE" record -f -o "$T/run.vest" -- "$programs/values"
expect_status 0
range=$(head -n 1 "$out")
tail -n +2 "$out" >"$T/printed"
"$VESTIGE" dump --json --kind load,store --addr "$range" "$T/run.vest" |
    jq -r '"\(.kind) \(.size) " + (.addr | sub("^0x0*"; "0x")) + " " + .value' >"$T/recorded"
cmp "$T/printed" "$T/recorded" >"$out" || fail "they differ"
[ "$(wc -l <"$T/printed")" = 120 ] || fail "not all was printed"

begin walks_through_faults_and_signals
for mode in --all --loads --control-only; do
    run "$VESTIGE" record "$mode" -f -o "$T/run.vest" -- "$programs/faults"
    expect_status 0
    expect_out '^faults 9 traps 1 illegal 1 divisions 1$'
    run "$VESTIGE" check --flow "$T/run.vest"
    expect_status 0
    expect_out ' instructions .*: all equal$'
    [ "$mode" != --all ] || run "$VESTIGE" check --memory "$T/run.vest"
    expect_status 0
done

begin lets_a_child_run_and_sees_what_signals_leave_behind
run "$VESTIGE" record -f -o "$T/run.vest" -- "$programs/forks"
expect_status 0
expect_out '^signals 1 child 7$'
run "$VESTIGE" check --flow --memory "$T/run.vest"
expect_status 0
expect_out ' loads .*: all equal$'

begin walks_from_window_to_window
printf '%s\n' '1000 500' '5000 1' '9000 20000' >"$T/windows"
run "$VESTIGE" record --windows "$T/windows" -f -o "$T/run.vest" -- "$programs/values"
expect_status 0
run "$VESTIGE" check --flow "$T/run.vest"
expect_status 0
expect_out 'compared 20,501 instructions'
for option in '--routine main' '--from main' '--no-shared-libs' '--skip 777 --length 3333'; do
    # shellcheck disable=SC2086 # words
    run "$VESTIGE" record $option -f -o "$T/run.vest" -- "$programs/values"
    expect_status 0
    run "$VESTIGE" check --flow "$T/run.vest"
    expect_status 0
done

finish
