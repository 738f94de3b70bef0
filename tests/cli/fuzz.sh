#!/bin/bash
# SPDX-License-Identifier: MIT
# The fuzz targets without a fuzzer: each on its seeds, and on what it found before (tests/fuzz/found). And tools/fuzz, with
# fuzzers that are none.
. "$(dirname "$0")/lib.sh"

for source in "$VESTIGE_SRC"/tests/fuzz/*.c; do
    target=$(basename "$source" .c)
    program=$VESTIGE_BUILD/test/inputs/$target
    begin "takes_what_is_known_to_$target"
    mkdir "$T/$target"
    run "$VESTIGE_SRC/tests/fuzz/seed" "$program" "$target" "$T/$target"
    expect_status 0
    run "$program" "$T/$target"/*
    expect_status 0
    expect_equal "$(tail -n 1 "$out")" "$(find "$T/$target" -type f | wc -l) inputs"
    for found in "$VESTIGE_SRC/tests/fuzz/found/$target"/*; do
        [ ! -e "$found" ] || expect_out "/$target/$(basename "$found" .base64)\$"
    done
done

if [ -n "$sanitized" ]; then
    begin sums_up_what_fuzzers_did
    skip "tools/fuzz does not depend on the build"
    finish
fi

mkdir "$T/fuzzers"
# fuzzer TARGET: one, with what it does on standard input; $calls is how often it was called before.
fuzzer() {
    {
        cat <<'END'
#!/bin/sh
[ "$1" != --seed ] || exit 0
for word; do case $word in -artifact_prefix=*) place=${word#*=} ;; esac; done
calls=$(cat "${place}calls" 2>/dev/null || echo 0)
echo $((calls + 1)) >"${place}calls"
runs() { echo "stat::number_of_executed_units: $1" >&2; }
END
        cat
    } >"$T/fuzzers/$1"
    chmod +x "$T/fuzzers/$1"
}

# fuzz TARGET...
fuzz() {
    rm -rf "$T/fuzzed"
    run "$VESTIGE_SRC/tools/fuzz" "$VESTIGE_BUILD" "$T/fuzzers" "$T/fuzzed" 60 "$@"
}

begin ends_with_a_table
fuzzer one <<<'runs 1234'
fuzzer two <<<'runs 5; : >"${place}corpus/a"'
fuzz one two
expect_status 0
expect_no_err
expect_out '^target +runs +seconds +corpus +findings$'
expect_out '^one +1234 +[0-9]+ +0 +0$'
expect_out '^two +5 +[0-9]+ +1 +0$'
expect_equal "$(tail -n 1 "$out" | tr -s ' ' | cut -d ' ' -f 1,2,4)" 'all 1239 0'

begin goes_on_after_a_finding
fuzzer one <<'END'
runs 100
[ $calls = 2 ] || { : >"${place}crash-$calls"; echo "ERROR: it broke" >&2; exit 77; }
END
fuzz one two
expect_status 1
expect_out 'FAIL  one: status 77'
expect_out '    \| ERROR: it broke'
expect_out '^one +300 +[0-9]+ +0 +2$'
expect_out '^two +5 +[0-9]+ +1 +0$'

begin does_not_go_on_for_ever
fuzzer one <<<'runs 1; : >"${place}crash-$calls"; exit 77'
fuzz one
expect_status 1
expect_out '^one +10 +[0-9]+ +0 +10$'
fuzzer one <<<'exit 1' # and no input: it does not start
fuzz one
expect_status 1
expect_out '^one +0 +[0-9]+ +0 +1$'

finish
