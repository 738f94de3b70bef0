#!/bin/bash
# SPDX-License-Identifier: MIT
# Manual pages: they say what --help says, no more and no less, and groff finds nothing wrong with them.
. "$(dirname "$0")/lib.sh"

"$VESTIGE" help >"$T/list"
mapfile -t commands < <(sed -n 's/^  \([a-zA-Z]\+\) .*/\1/p' "$T/list")

# page_of COMMAND: the name of its page.
page_of() {
    if [ -L "$VESTIGE_BUILD/bin/$1" ]; then echo "$1"; else echo "vestige-$1"; fi
}

# words: text as words with one blank between, whatever the lines are.
words() {
    tr -s ' \n' '  '
}

# section FILE HEADING: the words of a section of a page.
section() {
    awk -v heading="$2" '/^[^ ]/ { on = $0 == heading; next } on' "$1" | words
}

# passage FROM TO: the words of --help, in $T/help, between these lines.
passage() {
    awk -v from="$1" -v to="$2" '$0 == to && to != "" { on = 0 } on; $0 == from { on = 1 }' "$T/help" | words
}

# Prints the page of a command, "" for vestige's own, and sets it in $T/page.
typeset_page() {
    run "$VESTIGE" help --format man ${1:+"$1"}
    expect_status 0
    expect_no_err
    cp "$out" "$T/roff"
    run groff -man -Tascii -ww -rLL=200n -P-cbou "$T/roff"
    expect_status 0
    expect_no_err
    cp "$out" "$T/page"
}

for name in "${commands[@]}"; do
    begin "agrees_with_the_help_of_$name"
    page=$(page_of "$name")
    typeset_page "$name"
    "$VESTIGE" help "$name" >"$T/help"
    environment=$(grep -x environment: "$T/help")
    summary=$(sed -n "s/^  $name  *//p" "$T/list")
    expect_equal "$(section "$T/page" NAME)" " $page - $summary " NAME
    grep -qx ".TH ${page/-/\\\\-} 1 .*" "$T/roff" || fail "it has another title"
    usage=$(sed -n '1s/^usage: //p' "$T/help")
    [ "$page" != "$name" ] || usage="${usage#vestige } $usage"
    expect_equal "$(section "$T/page" SYNOPSIS)" " $usage " SYNOPSIS
    expect_equal "$(section "$T/page" DESCRIPTION)" " $(sed -n '2,/^options:$/p' "$T/help" | sed '$d' | words | sed 's/^ //')" DESCRIPTION
    expect_equal "$(section "$T/page" OPTIONS)" "$(passage options: example:)" OPTIONS
    expect_equal "$(section "$T/page" EXAMPLES)" "$(passage example: 'exit status:')" EXAMPLES
    expect_equal "$(section "$T/page" 'EXIT STATUS')" "$(passage 'exit status:' environment:)" "EXIT STATUS"
    expect_equal "$(section "$T/page" ENVIRONMENT)" "$(passage environment: '')" ENVIRONMENT
    expect_equal "$(grep '^[A-Z]' "$T/page" | paste -sd ' ')" \
        "NAME SYNOPSIS DESCRIPTION OPTIONS EXAMPLES EXIT STATUS ${environment:+ENVIRONMENT }SEE ALSO" sections
    section "$T/page" 'SEE ALSO' | grep -oE '[^ ,]+\(1\)' >>"$T/references"
    echo "$page(1)" >>"$T/pages"
    cat "$T/roff" >>"$T/all"
done

begin lists_the_commands
typeset_page ''
grep -qx '.TH vestige 1 .*' "$T/roff" || fail "it has another title"
listed=$(section "$T/page" COMMANDS)
expect_equal "${listed% The page of a command is *} " " $(sed -n 's/^  \([a-zA-Z]\+ \)/\1/p' "$T/list" | words)"
expect_equal "$(section "$T/page" 'SEE ALSO' | grep -oE '[^ ,]+\(1\)' | sort)" "$(sort "$T/pages")" "SEE ALSO"
for option in -h --help -V --version; do
    section "$T/page" OPTIONS | grep -qE "(^| )${option}[ ,]" || fail "no option $option"
done

begin refers_to_pages_that_there_are
echo 'vestige(1)' >>"$T/pages"
expect_equal "$(sort -u "$T/references" | comm -23 - <(sort -u "$T/pages"))" ""
grep -qx 'vestige-record(1)' "$T/references" || fail "nothing refers to vestige-record"

begin comes_out_the_same_whatever_the_time_and_place
for format in man bash zsh; do
    "$VESTIGE" help --format $format >"$T/one"
    mkdir -p "$T/elsewhere"
    run env -i -C "$T/elsewhere" LC_ALL=C.UTF-8 TZ=Asia/Tokyo SOURCE_DATE_EPOCH=1 TERM=xterm "$VESTIGE" help --format $format
    expect_status 0
    cmp -s "$out" "$T/one" || fail "another $format"
done
expect_equal "$("$VESTIGE" help --format man | sed -n 's/^\.TH .*"\(vestige .*\)" "Vestige"$/\1/p')" \
    "$("$VESTIGE" --version)" version

begin escapes_what_roff_would_take
# Requests are those that the writer makes; quotes, backslashes and minus signs are named.
expect_equal "$(sed -n "s/^\([.'][^ ]*\).*/\1/p" "$T/all" | LC_ALL=C sort -u | paste -sd ' ')" \
    '.BR .EE .EX .PP .SH .TH .TP .\" .ad .br .nh .nr'
grep -v '^\.\(\\"\|TH\)' "$T/all" >"$T/text"
grep -nE "[^\\\\]-|'|\`|~|\\^|\"" "$T/text" >"$out" && fail "something is not escaped"
grep -oE '\\.' "$T/text" | LC_ALL=C sort -u | paste -sd ' ' >"$out"
expect_equal "$(sed 's/^\\& //' "$out")" '\( \- \f'

begin refuses_pages_of_no_command
run "$VESTIGE" help --format man nonsense
expect_status 2
expect_no_out
expect_one_line_err
run "$VESTIGE" help --format html
expect_status 2
expect_one_line_err
expect_err "is not one of text, man, bash, zsh"

finish
