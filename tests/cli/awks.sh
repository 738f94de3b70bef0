#!/bin/bash
# SPDX-License-Identifier: MIT
# The project's own tools with each awk of this machine: they differ in what they forgive.
. "$(dirname "$0")/lib.sh"
cd "$VESTIGE_SRC" || exit 2

[ -z "$sanitized" ] || skip_all "it does not depend on the build"

# with AWK COMMAND...: the command finds this awk as awk. busybox has many names, hence the script.
with() {
    printf '#!/bin/sh\nexec %s "$@"\n' "$1" >"$T/awk"
    chmod +x "$T/awk"
    shift
    run env PATH="$T:$PATH" "$@"
    expect_status 0
    expect_no_err
}

# same FILE: standard output is what this file has.
same() {
    cmp -s "$out" "$1" || fail "not $1: $(diff "$out" "$1" | head -4)"
}

tried=0
for awk in mawk gawk original-awk 'busybox awk'; do
    # shellcheck disable=SC2086 # a command may have two words
    command -v "${awk%% *}" >/dev/null && (exec $awk 'BEGIN { exit 0 }' >/dev/null 2>&1) || continue
    tried=$((tried + 1))
    begin "makes_the_documents_with_${awk// /_}"
    with "$awk" tools/fill-doc docs/tables.md.in
    same docs/tables.md
    with "$awk" tools/techniques-doc "$VESTIGE_BUILD"
    same docs/techniques.md
    with "$awk" tools/performance-doc
    same docs/performance.md
    with "$awk" tools/run-length-chart
    same docs/run-length.svg
    with "$awk" tools/frontier
    same docs/frontier.svg
    with "$awk" tools/frontier -n 4
    same docs/frontier-4.svg
    begin "writes_manual_pages_with_${awk// /_}"
    rm -rf "$T/man3" && mkdir "$T/man3"
    with "$awk" tools/man3 "$T/man3" 0.0.0 include/vestige/*.h
    [ -e "$T/first" ] || cp -r "$T/man3" "$T/first"
    [ -e "$T/man3/vs_run_open.3" ] || fail "no pages"
    diff -r "$T/first" "$T/man3" >"$out" || fail "not the pages that the first awk wrote"
    grep -rqF '\\&' "$T/man3" && fail "a backslash too many"
    begin "checks_includes_with_${awk// /_}"
    with "$awk" tools/check-includes --self-test
    with "$awk" tools/check-isa --self-test
    begin "expands_programs_with_${awk// /_}"
    for program in tests/programs/*.s; do
        run tests/programs/expand "$program"
        cp "$out" "$T/expanded"
        with "$awk" awk -f tests/programs/expand "$program"
        same "$T/expanded"
    done
done

[ $tried != 0 ] || skip_all "there is no awk that it knows"
finish
