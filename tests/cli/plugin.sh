#!/bin/bash
# SPDX-License-Identifier: MIT
# The technique of docs/adding-a-technique.md in a shared object that is compiled against the installed package alone, by
# gcc, clang and g++: commands take it like one of our own. What is no plugin, or not ours, is refused in one line.
. "$(dirname "$0")/lib.sh"
. "$VESTIGE_SRC/tests/installed.sh"

program=$(workload rv64 racy)
"$VESTIGE" record -o "$T/a.vest" --cores 2 --timed -- "$program" -n 100 -p 2 >"$out" 2>&1 || exit 2
run=$T/a.vest
cd "$root" || exit 2

{
    awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' "$VESTIGE_SRC/docs/adding-a-technique.md"
    awk '/^```text$/ { on = 1; next } /^```$/ { on = 0 } on && /^VS_PLUGIN/' "$VESTIGE_SRC/docs/adding-a-technique.md"
} >outcomes.c
grep -q '^VS_PLUGIN' outcomes.c || exit 2

# compile NAME SOURCE COMMAND...: makes NAME.so of it.
compile() {
    local name=$1 source=$2
    shift 2
    # shellcheck disable=SC2046 # flags are words
    run "$@" -Wall -Wextra -Werror -shared -fPIC -o "$name.so" "$source" $([[ $1 = g++ ]] && echo -x none) \
        $(pkg-config --cflags --libs vestige-technique)
    expect_status 0
}

san_flags=${san:+-g1 -fsanitize=$san -fno-sanitize-recover=all}

# The last is what the rest goes on with.
# shellcheck disable=SC2086
for cc in "clang-14 -std=gnu11" "g++ -std=gnu++20 -x c++ -Wno-missing-field-initializers $san_flags" \
    "gcc -std=gnu11 $san_flags"; do
    [[ -n $san && $cc = clang* ]] && continue # whose sanitizers are others
    begin "measures_and_verifies_with_${cc%% *}"
    compile outcomes outcomes.c $cc
    run "$VESTIGE" bandwidth --json --plugin outcomes.so -t outcomes -t outcomes:target=4 "$run"
    expect_status 0
    bits=$(jq -r 'select(.config == "default").bits' "$out")
    [ "$bits" -gt 10000 ] || fail "no bits"
    [ "$(jq -r 'select(.config == "target=4").bits' "$out")" != "$bits" ] || fail "the parameter does nothing"
    run "$VESTIGE" verify --json --plugin ./outcomes.so -t outcomes "$run"
    expect_status 0
    expect_equal "$(jq -r '"\(.technique) \(.outcome // .result)"' "$out" | head -n 1 | cut -d ' ' -f 1)" outcomes
    expect_out '"compared": ?[1-9][0-9]{3}'
    if [ -n "${before-}" ]; then expect_equal "$bits" "$before" "another compiler's bits"; fi
    before=$bits
done

begin proves_that_flips_are_noticed
run "$VESTIGE" verify --plugin ./outcomes.so -t outcomes --mutate 50 "$run"
expect_status 0

begin is_listed_with_ours
run "$VESTIGE" techniques --plugin ./outcomes.so
expect_status 0
expect_out '^outcomes +'
expect_out '^mcfNX_b +'
run "$VESTIGE" techniques --plugin ./outcomes.so outcomes:target=3
expect_status 0
expect_out 'bits of a chunk of'
run "$VESTIGE" techniques outcomes
expect_status 2

begin is_one_of_all
"$VESTIGE" bandwidth --csv -t control-flow "$run" | cut -d , -f 2 | sort >"$T/ours"
"$VESTIGE" bandwidth --csv --plugin ./outcomes.so -t control-flow "$run" | cut -d , -f 2 | sort >"$T/with"
expect_equal "$(comm -13 "$T/ours" "$T/with")" outcomes
expect_equal "$(comm -23 "$T/ours" "$T/with")" ''

begin encodes_and_decodes
run "$VESTIGE" encode --plugin ./outcomes.so -t outcomes -o a.vport "$run"
expect_status 0
run "$VESTIGE" decode --plugin ./outcomes.so --code "$run" --json --summary a.vport
expect_status 0
expect_equal "$(jq .instructions "$out")" "$("$VESTIGE" info --json "$run" | jq .instructions)" instructions
run "$VESTIGE" decode --code "$run" a.vport
expect_status 1
expect_one_line_err "no technique 'outcomes' is known; a newer vestige or a plugin may have it"
run "$VESTIGE" verify --plugin ./outcomes.so --stream a.vport "$run"
expect_status 0
run "$VESTIGE" chunks --plugin ./outcomes.so -t outcomes "$run"
expect_status 0

begin refuses_what_is_no_plugin
for command in techniques "bandwidth $run" "verify $run"; do
    # shellcheck disable=SC2086
    run "$VESTIGE" ${command%% *} --plugin ./none.so ${command#"${command%% *}"}
    expect_status 2
    expect_one_line_err '--plugin ./none.so: cannot load ./none.so: cannot open shared object file'
done
run "$VESTIGE" techniques --plugin outcomes.c
expect_status 2
expect_one_line_err 'cannot load ./outcomes.c: .*(invalid ELF header|file too short)'
echo 'int nothing;' >nothing.c
gcc -shared -fPIC -o nothing.so nothing.c
run "$VESTIGE" techniques --plugin nothing.so
expect_status 2
expect_one_line_err 'nothing.so: it is no plugin: it does not export vestige_plugin'
head -c 5000 outcomes.so >cut.so
run "$VESTIGE" techniques --plugin cut.so
expect_status 2
expect_one_line_err 'cannot load '

# broken NAME SED MESSAGE: the toy with a change is refused.
broken() {
    begin "refuses_$1"
    sed -e "$2" outcomes.c >"$1.c"
    cmp -s "$1.c" outcomes.c && fail "nothing was changed"
    compile "$1" "$1.c" gcc -std=gnu11 -Wno-unused
    run "$VESTIGE" bandwidth --plugin "./$1.so" -t "$1" "$run"
    expect_status 2
    expect_one_line_err "$3"
}
broken another_version 's/#include "technique\/plugin.h"/&\n#undef VS_PLUGIN_VERSION\n#define VS_PLUGIN_VERSION 999/' \
    'it was built for another version of Vestige; compile it anew'
broken another_layout 's/#include "technique\/plugin.h"/&\n#undef VS_PLUGIN_LAYOUT\n#define VS_PLUGIN_LAYOUT {8}/' \
    'it was built for another version of Vestige; compile it anew'
broken a_taken_name 's/"outcomes"/"mcfTR_b"/' 'there is a technique mcfTR_b'
broken a_bad_name 's/"outcomes"/"out:comes"/' 'has no name, or one that cannot be written after -t'
broken a_missing_function 's/\.consume = consume,//' 'its encoder lacks a function'
broken a_missing_decoder 's/\.flow_decoder = &decoder,//' 'it needs a decoder for each kind that it serves'
broken bad_defaults 's/"target=8"/"target=99"/' 'its defaults are not among what its parameters allow'

begin refuses_the_same_twice
run "$VESTIGE" techniques --plugin ./outcomes.so --plugin ./outcomes.so
expect_status 2
expect_one_line_err 'there is a technique outcomes, or one of its aliases, already'

finish
