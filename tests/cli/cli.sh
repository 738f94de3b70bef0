#!/bin/bash
# SPDX-License-Identifier: MIT
# What all commands have in common: help, options, messages, exit statuses.
. "$(dirname "$0")/lib.sh"

run "$VESTIGE" help
mapfile -t commands < <(awk '/^commands:/ { on = 1; next } on && !NF { exit } on { print $1 }' "$out")

begin lists_the_commands
run "$VESTIGE" help
expect_status 0
expect_no_err
for name in info dump check help; do
    expect_out "^  $name +[a-z]"
done
cp "$out" "$T/list"
run "$VESTIGE" --help
expect_status 0
cmp -s "$out" "$T/list" || fail "--help and help differ"

begin prints_usage_without_arguments
run "$VESTIGE"
expect_status 2
expect_no_out
expect_err '^usage: vestige '

begin prints_its_version
run "$VESTIGE" --version
expect_status 0
expect_equal "$(cat "$out")" "vestige $(awk '/define VS_VERSION_M|define VS_VERSION_P/ { printf "%s%s", dot, $3; dot = "." }' \
    "$VESTIGE_SRC/include/vestige/version.h")"

begin suggests_the_nearest_command
run "$VESTIGE" dmup
expect_status 2
expect_one_line_err
expect_err "^vestige: no command 'dmup'; did you mean 'dump'\?$"
run "$VESTIGE" help chekc
expect_status 2
expect_one_line_err
expect_err "did you mean 'check'"

begin suggests_nothing_far_off
run "$VESTIGE" elephant
expect_status 2
expect_one_line_err
expect_err "^vestige: no command 'elephant'; 'vestige help' lists them$"

begin refuses_unknown_option_before_a_command
run "$VESTIGE" --verbose
expect_status 2
expect_one_line_err

for name in "${commands[@]}"; do
    begin "helps_with_$name"
    run "$VESTIGE" "$name" --help
    expect_status 0
    expect_no_err
    expect_out "^usage: vestige $name "
    expect_out '^options:$'
    expect_out '^example:$'
    expect_out "^  vestige $name"
    expect_out '^exit status:$'
    expect_out '^  0  '
    awk 'length > 80 { exit 1 }' "$out" || fail "a line is over 80 columns"
    cp "$out" "$T/help"
    run "$VESTIGE" help "$name"
    expect_status 0
    cmp -s "$out" "$T/help" || fail "'help $name' and '$name --help' differ"
    # Every option takes no value it does not name, and needs the value it does.
    mapfile -t flags < <(sed -nE 's/^  (-., |    )(--[a-z-]+)( [A-Z][^ ]*)?( .*)?$/\2\3/p' "$T/help" |
        grep -v '^--help$')
    for flag in "${flags[@]}"; do
        begin "refuses_misuse_of_${name}_${flag% *}"
        if [ "${flag% *}" != "$flag" ]; then
            run "$VESTIGE" "$name" "${flag% *}"
            expect_err "^vestige $name: ${flag% *}: needs a value "
        else
            run "$VESTIGE" "$name" "${flag% *}=1" run.vest
            expect_err "^vestige $name: ${flag% *}: takes no value$"
        fi
        expect_status 2
        expect_no_out
        expect_one_line_err
    done

    begin "refuses_unknown_option_of_$name"
    run "$VESTIGE" "$name" --no-such-option run.vest
    expect_status 2
    expect_one_line_err
    expect_err "^vestige $name: unknown option '--no-such-option'"
    run "$VESTIGE" "$name" -@ run.vest
    expect_status 2
    expect_one_line_err
done

for name in info dump check; do
    begin "wants_a_run_for_$name"
    run "$VESTIGE" "$name"
    expect_status 2
    expect_one_line_err
    expect_err "^vestige $name: .*run.vest.* is missing"

    begin "reports_a_missing_file_in_$name"
    run "$VESTIGE" "$name" "$T/none.vest"
    expect_status 2
    expect_one_line_err
    expect_err "^vestige $name: .*none.vest: .*No such file or directory$"

    begin "refuses_a_foreign_file_in_$name"
    run "$VESTIGE" "$name" "$VESTIGE_SRC/LICENSE"
    expect_status 1
    expect_one_line_err
    expect_err "LICENSE: .*not a .vest file"

    begin "refuses_an_empty_file_in_$name"
    : >"$T/empty"
    run "$VESTIGE" "$name" "$T/empty"
    expect_status 1
    expect_one_line_err

    begin "keeps_a_strange_name_on_one_line_in_$name"
    run "$VESTIGE" "$name" "$T/"$'a\nb\e[1m'
    expect_status 2
    expect_one_line_err
    expect_err 'a\\x0ab\\x1b\[1m'
done

begin suggests_the_nearest_option
run "$VESTIGE" dump --thred 1 run.vest
expect_status 2
expect_one_line_err
expect_err "^vestige dump: unknown option '--thred'; did you mean '--thread'\?$"

begin ends_options_at_two_dashes
run "$VESTIGE" info -- --json
expect_status 2
expect_err '^vestige info: --json: .*No such file or directory$'

"$VESTIGE_GEN" -o "$T/a.vest" --seed 1 --threads 2 --events 100000 >"$out" || exit 2

begin takes_options_anywhere_and_in_both_forms
run "$VESTIGE" dump --limit=5 --thread 1 "$T/a.vest"
expect_status 0
cp "$out" "$T/one"
expect_equal "$(wc -l <"$T/one")" 5
run "$VESTIGE" dump "$T/a.vest" -n5 --thread 1
expect_status 0
cmp -s "$out" "$T/one" || fail "the forms differ"

begin survives_a_closed_pipe
run bash -c '"$0" dump "$1" | head -n 1' "$VESTIGE" "$T/a.vest"
expect_status 0
expect_no_err
expect_equal "$(wc -l <"$out")" 1
run bash -c 'trap "" PIPE; "$0" dump "$1" | head -n 1; exit "${PIPESTATUS[0]}"' "$VESTIGE" "$T/a.vest"
expect_status 0
expect_no_err

for command in "dump" "info" "info --json" "check" "help"; do
    begin "reports_a_full_disk_from_${command// /_}"
    file=$T/a.vest
    [ "$command" = help ] && file=dump
    # shellcheck disable=SC2086 # a command and its option
    run bash -c 'exec "$@" >/dev/full' - "$VESTIGE" $command "$file"
    expect_status 2
    expect_one_line_err
    expect_err "^vestige ${command% *}: cannot write the output: "
done

finish
