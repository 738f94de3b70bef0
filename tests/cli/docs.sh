#!/bin/bash
# SPDX-License-Identifier: MIT
# Every command in README.md, CONTRIBUTING.md and docs/*.md does what the document shows. CONTRIBUTING.md has the convention.
. "$(dirname "$0")/lib.sh"
. "$VESTIGE_SRC/tests/document.sh"

[ "$(sed -n 's/^SAN=//p' "$VESTIGE_BUILD/config")" = '' ] || skip_all "what documents show is the same in every build"
command -v gdb-multiarch >/dev/null || skip_all "there is no gdb-multiarch"

documents=("$VESTIGE_SRC/README.md" "$VESTIGE_SRC/CONTRIBUTING.md" "$VESTIGE_SRC"/docs/*.md)

# Commands that are not run here: why not. Those that run tests, or change the machine.
declare -A not_run=(
    ['make demo']='builds, and installs packages'
    ['make check']='runs all tests'
    ['make rtl-check']='runs tests'
    ['make deb']='builds a package'
    ['make install PREFIX=/usr/local']='changes the machine; install.sh has it elsewhere'
)
declare -A refused=()

refuses() {
    [ -n "${not_run[$1]-}" ] || return 1
    refused[$1]=1
}

# ---- what blocks there are -------------------------------------------------------------------

begin says_of_every_block_what_it_is
for file in "${documents[@]}"; do
    kinds=$(document_blocks "$file" | cut -d $'\001' -f 2 | sort -u | grep -vxE 'console|usage|text|c|python|ini' | paste -sd ' ')
    expect_equal "$kinds" '' "kinds of blocks in ${file##*/}"
    # commands are in console blocks, behind a $
    stray=$(awk '/^```/ { inside = !inside } !inside && /^    (\$ |vestige |make |cc |gcc |gdb|mcfT|mlsT|mlvC|tm)/ { print FNR ": " $0 }' "$file")
    expect_equal "$stray" '' "commands outside of blocks in ${file##*/}"
    stray=$(document_blocks "$file" | awk -F '\001' '$2 ~ /^(text|usage)$/ && $3 ~ /^\$ / { print $1 ": " $3 }')
    expect_equal "$stray" '' "commands in other blocks of ${file##*/}"
done

# inline FILE: the commands within its sentences; of a program that is recorded not its own options.
inline() {
    awk '/^```/ { inside = !inside } !inside' "$1" | grep -oE '`(vestige|make|mcfTrace|mlsTrace|tmTrace|mcfTRaptor|mlvCFiat)( [^`]*)?`' |
        tr -d '`' | sed 's/ sh -c .*//'
}

# A line that begins with a blank goes on with the command before it.
begin explains_commands_and_options_that_there_are
lines=0
while IFS= read -r line; do
    read -r word command _ <<<"$line"
    lines=$((lines + 1))
    case $line in
    ' '*) ;;
    vestige | make | 'vestige COMMAND'*) continue ;;
    'vestige --version')
        "$VESTIGE" --version >"$out" || fail "no $line"
        continue
        ;;
    'make '*)
        grep -q "^$command:" "$VESTIGE_SRC/Makefile" || fail "no make $command"
        continue
        ;;
    'vestige '*) "$VESTIGE" help "$command" >"$out" 2>&1 || fail "no vestige $command" ;;
    *) { "$VESTIGE" help "$word" >"$out" 2>&1 && [ -e "$VESTIGE_BUILD/bin/$word" ]; } || fail "no $word" ;;
    esac
    while read -r option; do
        grep -qE -- "(^|[ ,])$option([ ,=]|$)" "$out" || fail "no $option: $line"
    done < <(grep -oE '(^|[[ (])--?[A-Za-z][-A-Za-z_]*' <<<"$line" | tr -d '[( ')
done < <(
    for file in "${documents[@]}"; do document_blocks "$file"; done | awk -F '\001' '$2 == "usage" && $3 != "```" { print $3 }'
    for file in "${documents[@]}"; do inline "$file"; done
)
[ $lines -ge 100 ] || fail "only $lines commands"

begin lists_every_command
# The first column of the table in docs/commands.md.
expect_equal "$(grep -E '^\| \[?`' "$VESTIGE_SRC/docs/commands.md" | cut -d '|' -f 2 | grep -oE '`[A-Za-z]+`' | tr -d '`' | sort | paste -sd ' ')" \
    "$("$VESTIGE" help | sed -n 's/^  \([a-zA-Z]\+\) .*/\1/p' | sort | paste -sd ' ')" "commands in the table of docs/commands.md"

begin links_to_what_there_is
for file in "${documents[@]}"; do
    while IFS='#' read -r target anchor; do
        page=${file%/*}/$target
        [ -n "$target" ] || page=$file
        [ -e "$page" ] || fail "${file##*/}: no $target"
        # a heading as the part of an address: small letters, without punctuation, dashes for blanks
        [ -z "$anchor" ] || sed -n 's/^##* //p' "$page" | tr '[:upper:] ' '[:lower:]-' | sed 's/[^a-z0-9_-]//g' | grep -qx -- "$anchor" ||
            fail "${file##*/}: no heading #$anchor in ${page##*/}"
    done < <(grep -oE '\]\([^) ]+\)' "$file" | sed 's/^](//; s/)$//' | grep -v '://')
done

begin names_files_that_there_are
named=0
for file in "${documents[@]}"; do
    while IFS= read -r path; do
        named=$((named + 1))
        [ -e "$VESTIGE_SRC/$path" ] || fail "${file##*/}: no $path"
    done < <(awk '/^```/ { inside = !inside } !inside' "$file" |
        grep -oE '`(src|include|capture|cpu|tests|tools|bench|workloads|docs)/[^`<*$ ]*`' | tr -d '`')
done
[ $named -ge 100 ] || fail "only $named files"

begin names_functions_that_there_are
# Rows of docs/architecture.md that end in | `file`... | `function`... |
named=0
while IFS='|' read -r _ _ _ paths functions _; do
    for function in $(tr -d '`,' <<<"$functions"); do
        named=$((named + 1))
        found=0
        for path in $(tr -d '`,' <<<"$paths"); do
            grep -qE "\\b$function\\(" "$VESTIGE_SRC/$path" && found=1
        done
        [ $found = 1 ] || fail "no $function in$paths"
    done
done < <(grep -E '^\|.*\| `[a-z_/0-9]+\.[ch]`.*\| `[a-z_0-9]+`.* \|$' "$VESTIGE_SRC/docs/architecture.md")
[ $named -ge 15 ] || fail "only $named functions"

begin shows_the_include_graph
expect_equal "$(awk '/^<!-- end -->/ { inside = 0 } inside; /^<!-- include-graph/ { inside = 1 }' "$VESTIGE_SRC/docs/architecture.md")" \
    "$("$VESTIGE_SRC/tools/include-graph")" "what tools/include-graph prints; make include-graph"

begin keeps_the_readme_short
[ "$(wc -l <"$VESTIGE_SRC/README.md")" -lt 120 ] || fail "120 lines or more"

begin wraps_prose_at_100_columns
for file in "${documents[@]}"; do
    expect_equal "$(document_wide "$file")" '' "lines of more than 100 columns in ${file##*/}"
done
wide=$(printf '%0101d' 0)
printf '%s\n' "$wide" "$(printf '\342\214\210%.0s' {1..100})" '```text' "$wide" '```' "| $wide |" >"$T/wide.md"
expect_equal "$(document_wide "$T/wide.md")" "1: $wide" 'only prose that is too wide'

begin leads_to_every_document
for file in "${documents[@]:1}"; do # all but README.md, where readers begin
    expect_equal "$(document_linked "${file#"$VESTIGE_SRC/"}" "$VESTIGE_SRC" && echo yes)" yes "a link to ${file##*/} from another document"
done
mkdir -p "$T/linked/docs"
echo '[itself](lost.md)' >"$T/linked/docs/lost.md"
echo '[found](docs/found.md)' >"$T/linked/README.md"
document_linked docs/found.md "$T/linked" || fail "does not see a link"
! document_linked docs/lost.md "$T/linked" || fail "takes a page's link to itself"

# ---- what they do ----------------------------------------------------------------------------

PATH=$VESTIGE_BUILD/bin:$PATH
# Figures depend on what the compilers made of the programs.
made='riscv64-linux-gnu-gcc (Debian 12.2.0-13) 12.2.0'
if [ "$(riscv64-linux-gnu-gcc --version | head -1)" != "$made" ]; then
    begin does_what_documents_show
    skip "the programs of the documents are by another compiler than here, $made"
    finish
fi

export SOURCE_DATE_EPOCH=1000000000
mkdir "$T/pkgconfig"
sed -e "s|@PREFIX@|$VESTIGE_SRC|" -e "s|@LIBDIR@|$VESTIGE_BUILD/lib|" -e 's|@VERSION@|0|' "$VESTIGE_SRC/vestige.pc.in" >"$T/pkgconfig/vestige.pc"
export PKG_CONFIG_PATH=$T/pkgconfig

# A program reads its own path while it starts, and figures depend on it: it is the same one everywhere.
scratch=/tmp/vestige-guide.document
# The lock may be another user's, whose files in /tmp one may not open for writing.
(umask 022 && set -C && : >"$scratch.lock") 2>/dev/null || :
exec 9<"$scratch.lock" && flock 9 || exit 2
trap 'document_stop; rm -rf "$T" "$_work" "$scratch"' EXIT

# in_scratch FILE: a new folder with the programs that the document names, and the sources of all.
in_scratch() {
    local program
    rm -rf "$scratch"
    mkdir "$scratch" && cd "$scratch" || exit 2
    ln -s "$VESTIGE_SRC/workloads" workloads
    while read -r program; do
        mkdir -p "${program%/*}"
        cp "$(workload "$(basename "${program%/*}")" "${program##*/}")" "$program" || exit 2
    done < <(grep -oE 'build/workloads/(host|rv64)/[a-z_]+' "$1" | sort -u)
}

total=0
for file in "${documents[@]}"; do
    document_blocks "$file" | grep -q $'\001console\001\$ ' || continue
    name=${file##*/}
    begin "does_what_${name%.md}_shows"
    in_scratch "$file"
    # Only where it is needed: a recorded program gets the environment, too.
    if grep -q '^```python' "$file"; then export PYTHONPATH=$VESTIGE_BUILD/python; else unset PYTHONPATH; fi
    if [ -n "${PYTHONPATH-}" ] && ! ls "$PYTHONPATH"/vestige/_vestige*.so >/dev/null 2>&1; then
        skip_part "the Python package was not built"
        continue
    fi
    run_document "$file" refuses
    document_stop
    total=$((total + ran))
    echo "$name: $ran commands, $left left out"
done

begin leaves_out_what_it_says
for command in "${!not_run[@]}"; do
    [ -n "${refused[$command]-}" ] || fail "no document has: $command"
done
[ $total -ge 50 ] || fail "only $total commands"

finish
