# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Tests that drive the programs as a user would. A file of them:
#
#   . "$(dirname "$0")/lib.sh"
#   begin refuses_missing_file
#   run "$VESTIGE" info "$T/none"
#   expect_status 2
#   expect_one_line_err
#   finish
#
# In the environment: VESTIGE, VESTIGE_GEN (programs), VESTIGE_BUILD, VESTIGE_SRC (folders).
# $T is an empty folder of the file's own, removed at the end.
# $sanitized is not empty in a build with sanitizers. $long is not empty in `make check-long`
# (VESTIGE_LONG=1); what takes too long for `make check` is done only then. $brief is not empty under
# the sanitizers, unless $long is: a sample of what the plain build does in full is then enough.
# After `run`: $status, and the names of the files with its output, $out and $err.
# A case fails at its first expectation that does not hold; the file goes on.
set -u
export LC_ALL=C # as tests/run does
unset CDPATH
umask 022

VESTIGE_SRC=${VESTIGE_SRC:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
VESTIGE_BUILD=${VESTIGE_BUILD:-$VESTIGE_SRC/build}
VESTIGE=${VESTIGE:-$VESTIGE_BUILD/bin/vestige}
VESTIGE_GEN=${VESTIGE_GEN:-$VESTIGE_BUILD/test/vestige-gen}

sanitized=$(grep '^SAN=.' "$VESTIGE_BUILD/config")
long=${VESTIGE_LONG:-}
brief=${sanitized:+yes}
[ -z "$long" ] || brief=''

T=$(mktemp -d) || exit 2
_work=$(mktemp -d) || exit 2
trap 'rm -rf "$T" "$_work"' EXIT
out=$_work/out err=$_work/err status=0
: >"$out"
: >"$err"
_case='' _command='' _bad=0 _skipped='' _passed=0 _failed=0

_end_case() {
    [ -n "$_case" ] || return 0
    if [ $_bad != 0 ]; then
        _failed=$((_failed + 1))
    elif [ -z "$_skipped" ]; then
        _passed=$((_passed + 1))
    fi
    _case=''
}

# fail TEXT: fails the current case; for expectations that are not below. It names the line of the
# test file, however deep in helpers the call is.
fail() {
    local i=0
    [ $_bad = 0 ] || return 0
    _bad=1
    while [ "${BASH_SOURCE[i + 1]}" != "$0" ] && [ $((i + 2)) -lt ${#BASH_SOURCE[@]} ]; do
        i=$((i + 1))
    done
    echo "FAIL $_case: ${BASH_SOURCE[i + 1]}:${BASH_LINENO[i]}: $*"
    echo "  command: $_command"
    echo "  status: $status"
    head -c 4000 "$out" | sed 's/^/  stdout: /'
    head -c 4000 "$err" | sed 's/^/  stderr: /'
}

# begin NAME: starts a new case, named verb_situation.
begin() {
    _end_case
    _case=$1 _bad=0 _skipped='' _command='' status=0
    : >"$out"
    : >"$err"
}

# run COMMAND...: runs it. Status 99 is a sanitizer's report and fails the case, and so does a name
# from the source code in a message.
run() {
    _command=$*
    "$@" >"$out" 2>"$err"
    status=$?
    [ $status != 99 ] || fail "sanitizer report"
    ! grep -aq VSE_ "$err" || fail "a message with the name of an error"
}

expect_status() {
    [ "$status" = "$1" ] || fail "exit status $status, expected $1"
}

# expect_out PATTERN: some line of standard output must match (grep -E).
expect_out() {
    grep -aqE -e "$1" "$out" || fail "no line of stdout matches: $1"
}

expect_err() {
    grep -aqE -e "$1" "$err" || fail "no line of stderr matches: $1"
}

expect_no_out() {
    [ ! -s "$out" ] || fail "stdout is not empty"
}

expect_no_err() {
    [ ! -s "$err" ] || fail "stderr is not empty"
}

expect_one_line_err() {
    [ "$(wc -l <"$err")" = 1 ] && [ -z "$(tail -c 1 "$err")" ] || fail "stderr is not one line"
}

expect_file() {
    [ -e "$1" ] || fail "no such file: $1"
}

expect_no_file() {
    [ ! -e "$1" ] || fail "the file exists: $1"
}

# expect_equal GOT WANTED [WHAT]
expect_equal() {
    [ "$1" = "$2" ] || fail "${3:+$3: }got '$1', expected '$2'"
}

# expect_order PATTERN...: each matches a line of standard output behind that of the one before.
expect_order() {
    local from=1 n
    for pattern; do
        n=$(tail -n "+$from" "$out" | grep -anE -m 1 -e "$pattern" | cut -d: -f1)
        if [ -z "$n" ]; then
            fail "from line $from on no line matches: $pattern"
            return
        fi
        from=$((from + n))
    done
}

expect_no_line() {
    ! grep -aqE -e "$1" "$out" || fail "a line matches: $1"
}

# await COMMAND...: waits until it succeeds, however slow the machine is; the case fails if that
# does not happen within five minutes.
await() {
    local end=$((SECONDS + 300))
    until "$@"; do
        if [ $SECONDS -ge $end ]; then
            fail "waited in vain for: $*"
            return 1
        fi
        sleep 0.05
    done
}

# has_ended PROCESS
has_ended() {
    ! kill -0 "$1" 2>/dev/null
}

# has_bytes NUMBER FILE: whether the file has at least that many bytes.
has_bytes() {
    [ -e "$2" ] && [ "$(stat -c %s "$2")" -ge "$1" ]
}

# more WORD...: prints these words, unless a sample is enough ($brief).
more() {
    [ -n "$brief" ] || echo "$@"
}

# handmade HOW...: makes $T/HOW.vest for each, with the program handmade.c.
handmade() {
    local cc san how
    cc=$(sed -n 's/^CC=//p' "$VESTIGE_BUILD/config")
    san=$(sed -n 's/^SAN=//p' "$VESTIGE_BUILD/config")
    # shellcheck disable=SC2086 # a compiler may have options
    $cc -std=gnu11 ${san:+-fsanitize=$san} -pthread -I"$VESTIGE_SRC/include" -o "$_work/handmade" \
        "$VESTIGE_SRC/tests/cli/handmade.c" "$VESTIGE_BUILD/lib/libvestige.a" -lzstd || exit 2
    for how in "$@"; do
        "$_work/handmade" "$T/$how.vest" "$how" || exit 2
    done
}

# each_workload KIND COUNTS FUNCTION: calls FUNCTION NAME THREADS CHECKSUM ARGUMENT... for every
# workload of this kind (or "all") in the catalogue, at its tiny size, with each of these numbers of
# threads; serial workloads have one.
each_workload() {
    local name kind most tiny checksum p args
    while read -r name kind most tiny _ _ checksum; do
        [ "$1" = all ] || [ "$kind" = "$1" ] || continue
        for p in $2; do
            args=(-n "$tiny")
            [ "$most" = 1 ] || args+=(-p "$p")
            [ "$most" != 1 ] || [ "$p" = 1 ] || continue
            "$3" "$name" "$p" "$checksum" "${args[@]}"
        done
    done < <(sed 's/#.*//' "$VESTIGE_SRC/workloads/catalog" | awk 'NF')
}

# workload TARGET NAME: prints its path; the target is host or rv64.
workload() {
    echo "$VESTIGE_SRC/$(sed -n 's/^O=//p' "$VESTIGE_BUILD/config")/workloads/$1/$2"
}

# grouped NUMBER: prints it with commas.
grouped() {
    sed -E ':more; s/^([0-9]+)([0-9]{3})/\1,\2/; t more' <<<"$1"
}

# expect_whole NAME: $T/run.vest must be consistent in memory and control flow; prints how much was
# compared.
expect_whole() {
    run "$VESTIGE" check --memory --flow "$T/run.vest"
    expect_status 0
    expect_no_err
    expect_out ': compared [1-9][0-9,]* loads .*: all equal$'
    expect_out ": compared $(grouped "$("$VESTIGE" info --no-scan --json "$T/run.vest" | jq .instructions)") instructions .*: all equal\$"
    sed -n 's/^.*: compared/  compared/p' "$out" | sed "s/^/$1:/"
}

# A line `SKIP CASE: REASON` says what is not tested here. tests/run counts and lists these lines;
# tests/skips has those that are not failures under CI=true.

# skip REASON: the current case does not apply here. It counts neither as passed nor as failed,
# unless it fails.
skip() {
    _skipped=yes
    skip_part "$@"
}

# skip_part REASON: a part of the current case does not apply here; the rest counts.
skip_part() {
    echo "SKIP $_case: $*"
}

# has_program NAME: whether there is such a program; if not, the part of the current case that needs
# it is skipped.
has_program() {
    command -v "$1" >/dev/null || ! skip_part "there is no $1"
}

# skip_all REASON: nothing in this file applies here.
skip_all() {
    begin all
    skip "$@"
    finish
}

finish() {
    _end_case
    echo "$_passed passed, $_failed failed"
    [ $_failed = 0 ]
    exit
}
