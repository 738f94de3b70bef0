#!/bin/bash
# SPDX-License-Identifier: MIT
# tests/run itself, on files of tests that pass, fail and skip.
. "$(dirname "$0")/lib.sh"

[ -z "$sanitized" ] || skip_all "it does not depend on the build"

mkdir -p "$T/tests/cli" "$T/tests/unit" "$T/build"
cp "$VESTIGE_SRC/tests/run" "$T/tests"
cp "$VESTIGE_SRC/tests/cli/lib.sh" "$T/tests/cli"
echo SAN= >"$T/build/config"
: >"$T/tests/skips"

# a_file NAME: tests/cli/NAME.sh, of the lines on standard input.
a_file() {
    { echo '. "$(dirname "$0")/lib.sh"' && cat && echo finish; } >"$T/tests/cli/$1.sh"
}

# tests [VAR=VALUE...]: runs them.
tests() {
    run env -u CI "$@" bash "$T/tests/run" "$T/build"
}

expect_last() {
    expect_equal "$(tail -n 1 "$out")" "$1" "the last line"
}

begin counts_what_passes
a_file good <<'END'
begin one
begin two
expect_equal 1 1
END
tests
expect_status 0
expect_last '2 passed, 0 failed'
expect_out '^ok .*tests/cli/good.sh .* 2 passed, 0 failed '
! grep -q skipped "$out" || fail "nothing was skipped"

begin counts_what_fails
a_file bad <<'END'
begin one
expect_equal 1 2
begin two
skip "both"
fail "of them"
END
tests
expect_status 1
expect_last '2 passed, 2 failed'
expect_out '^FAIL .*tests/cli/bad.sh .* 0 passed, 2 failed '
rm "$T/tests/cli/bad.sh"

begin lists_what_is_skipped
a_file some <<'END'
begin one
begin two
skip "no moon: not tonight"
begin three
skip_part "only half a moon"
expect_equal 1 1
END
a_file none <<'END'
skip_all "no sun"
END
tests
expect_status 0
expect_last '4 passed, 0 failed'
expect_out '^skip .*tests/cli/none.sh .* 0 passed, 0 failed '
expect_out '^ok .*tests/cli/some.sh .* 2 passed, 0 failed '
expect_out '^3 skipped:$'
expect_out '^    .*: tests/cli/none.sh: all: no sun$'
expect_out '^    .*: tests/cli/some.sh: three: only half a moon$'
expect_out '^    .*: tests/cli/some.sh: two: no moon: not tonight$'

begin takes_an_unlisted_skip_for_a_failure_of_ci
cat >"$T/tests/skips" <<'END'
# why
tests/cli/some.sh: no moon: *
tests/cli/other.sh: no sun
END
tests CI=true
expect_status 1
expect_last '4 passed, 2 failed'
expect_out '^FAIL .*tests/cli/none.sh .* 0 passed, 1 failed '
expect_out '^FAIL .*tests/cli/some.sh .* 2 passed, 1 failed '
printf '%s\n' 'tests/cli/some.sh: only half a moon' 'tests/cli/none.sh: no sun' >>"$T/tests/skips"
tests CI=true
expect_status 0
expect_last '4 passed, 0 failed'
expect_out '^3 skipped:$'

begin takes_a_run_of_nothing_for_a_failure
rm "$T"/tests/cli/{good,some}.sh
tests
expect_status 1
expect_last '0 passed, 0 failed'

begin takes_a_file_without_counts_for_a_failure
echo 'echo hello' >"$T/tests/cli/none.sh"
tests
expect_status 1
expect_last '0 passed, 1 failed'

begin does_without_leaks_where_they_cannot_be_found
mkdir "$T/build/bin"
cat >"$T/build/bin/vestige" <<'END'
#!/bin/sh
case $ASAN_OPTIONS in *detect_leaks=1*)
    echo '==7==LeakSanitizer has encountered a fatal error.' >&2
    exit 99
    ;;
esac
END
chmod +x "$T/build/bin/vestige"
echo SAN=address,undefined >"$T/build/config"
a_file none <<'END'
begin one
expect_equal "${ASAN_OPTIONS%%:*}" detect_leaks=0
END
tests
expect_status 0
expect_last '1 passed, 0 failed'
expect_out '^    tests/run: leaks: '
tests CI=true
expect_status 1
expect_last '1 passed, 1 failed'
echo '#!/bin/sh' >"$T/build/bin/vestige" # it works
tests
expect_status 1
expect_out 'detect_leaks=1'

# A skip that no test says any more would excuse nothing, or something else.
begin lists_skips_that_there_are
while IFS= read -r line; do
    [[ $line == tests/*.sh:* ]] || continue
    grep -qF "${line#*: }" "$VESTIGE_SRC/${line%%:*}" || fail "no such skip: $line"
done <"$VESTIGE_SRC/tests/skips"

finish
