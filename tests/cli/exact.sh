#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs in assembly that say, instruction by instruction, which events they are to have: kind, size, address,
# value, flags, outcome and target, in order. tests/programs/expand has the notation.
. "$(dirname "$0")/lib.sh"

programs=$VESTIGE_BUILD/test/programs source=$VESTIGE_SRC/tests/programs

# events RUN SYMBOLS: the events of the labelled instructions.
events() {
    "$VESTIGE" dump --json --kind branch,load,store,nondet "$1" |
        jq -r 'def short: sub("^0x0*(?=.)"; "0x");
            (.pc | short) + " " + .kind + " " + (
            if .kind == "branch" then .branch + (if .taken then " taken " else " not " end) + (.target | short)
            elif .kind == "nondet" then (.size | tostring)
            else "\(.size) \(.addr | short) \(.value)" +
                (if .atomic then " atomic" else "" end) + (if .repeat then " repeat" else "" end) end)' |
        awk 'NR == FNR { sub(/^0+/, "0x", $1); if ($3 ~ /^x[0-9]+$/) label[$1] = $3; next }
             $1 in label { $1 = label[$1]; print }' "$2" -
}

# expect_events PROGRAM: in $T/PROGRAM.vest. A value of * is any.
expect_events() {
    nm "$programs/$1" >"$T/symbols"
    "$source/expand" -v list=1 "$source/$1.s" >"$T/list"
    "$source/expected" "$T/symbols" "$T/list" | sort -s -V -k 1,1 >"$T/expected"
    events "$T/$1.vest" "$T/symbols" | sort -s -V -k 1,1 |
        awk 'NR == FNR { wanted[NR] = $5; next } { if (wanted[FNR] == "*") $5 = "*"; print }' "$T/expected" - >"$T/got"
    [ -s "$T/expected" ] || fail "nothing is expected"
    diff "$T/expected" "$T/got" >"$out" || fail "events differ from $1.s"
}

# has FLAG...: whether the processor has all of these.
has() {
    local flag
    for flag; do
        grep -qw "$flag" /proc/cpuinfo || return 1
    done
}

for file in "$source"/*.s; do
    name=${file##*/} name=${name%.s}
    flags=$(sed -n 's/^# needs //p' "$file")
    begin "runs_$name"
    # shellcheck disable=SC2086 # words
    if ! has $flags; then
        skip "this processor has not all of $flags"
        continue
    fi
    run "$programs/$name"
    expect_status 0
    for mode in --inputs --all; do
        begin "records_${name}_with_$mode"
        run "$VESTIGE" record "$mode" -f -o "$T/$name.vest" -- "$programs/$name"
        expect_status 0
        expect_events "$name"
        begin "walks_and_compares_${name}_with_$mode"
        run "$VESTIGE" check --flow --memory "$T/$name.vest"
        [ $status = 0 ] || grep -q 'nothing to compare' "$err" || fail "differences"
        expect_out ' instructions .*: all equal$'
    done
    begin "counts_${name}_alike_in_every_mode"
    for mode in --loads --control-only; do
        run "$VESTIGE" record "$mode" -f -o "$T/less.vest" -- "$programs/$name"
        expect_status 0
        run "$VESTIGE" check --flow "$T/less.vest"
        expect_status 0
        expect_equal "$("$VESTIGE" info --no-scan --json "$T/less.vest" | jq .instructions)" \
            "$("$VESTIGE" info --no-scan --json "$T/$name.vest" | jq .instructions)"
    done
done

finish
