#!/bin/bash
# SPDX-License-Identifier: MIT
# Completion of commands, options and values in bash and zsh, by the shells themselves.
. "$(dirname "$0")/lib.sh"

begin prints_scripts
run "$VESTIGE" help --format bash
expect_status 0
expect_no_err
cp "$out" "$T/vestige.bash"
run "$VESTIGE" help --format zsh
expect_status 0
expect_no_err
mkdir "$T/zsh" && cp "$out" "$T/zsh/_vestige"

begin refuses_a_script_of_one_command
run "$VESTIGE" help --format bash dump
expect_status 2
expect_no_out
expect_one_line_err

# ---- bash -----------------------------------------------------------------------------------

begin is_read_by_bash
run bash --norc --noprofile -uec '. "$1"; complete -p vestige mcfTrace tmTrace' - "$T/vestige.bash"
expect_status 0
expect_no_err
# shellcheck disable=SC1091
. "$T/vestige.bash"

mkdir "$T/files" && cd "$T/files" || exit 2
touch one.vest two.vest 'a b.vest' stream.vport notes.txt
mkdir dir

# completes WORD...: what is offered for the last one, sorted, in $offered. A word is split as readline does.
completes() {
    local word piece
    COMP_WORDS=()
    for word; do
        while [[ $word == *[:=]* ]]; do
            piece=${word%%[:=]*}
            [ -z "$piece" ] || COMP_WORDS+=("$piece")
            word=${word:${#piece}}
            COMP_WORDS+=("${word:0:1}")
            word=${word:1}
        done
        [[ -z $word && ${COMP_WORDS[-1]-} == [:=] ]] || COMP_WORDS+=("$word")
    done
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
    _command="$*"
    COMPREPLY=()
    _vestige
    offered=$(printf '%s\n' "${COMPREPLY[@]}" | LC_ALL=C sort | paste -sd ' ')
}

begin completes_commands
completes vestige ''
expect_equal "$offered" "$({ "$VESTIGE" help | sed -n 's/^  \([a-zA-Z]\+\) .*/\1/p'; printf -- '--help\n--version\n'; } |
    LC_ALL=C sort | paste -sd ' ')"
completes vestige re
expect_equal "$offered" "record replay report resume"
completes /usr/bin/vestige ver
expect_equal "$offered" "verify"

begin completes_every_option_of_every_command
for name in $("$VESTIGE" help | sed -n 's/^  \([a-zA-Z]\+\) .*/\1/p'); do
    "$VESTIGE" help "$name" | sed -nE '/^options:/,/^example:/s/^  (-., |   *)?(-[-A-Za-z_]+)( .*)?$/\1\2/p' |
        tr -d ' ' | tr ',' '\n' | LC_ALL=C sort -u >"$T/wanted"
    completes vestige "$name" -
    expect_equal "$offered" "$(paste -sd ' ' "$T/wanted")" "$name"
    [ "$(wc -l <"$T/wanted")" -gt 1 ] || [ "$name" = help ] || fail "$name has no options"
done
completes vestige dump --fr
expect_equal "$offered" "--from --from-cycle --from-insn --from-place"

begin completes_tools_by_their_own_names
completes mcfTrace -fi
expect_equal "$offered" "-filter_no_shared_libs -filter_rtn"
completes mcfTRaptor -gshare ''
expect_equal "$offered" "0 1024 2048 256 4096 512"
completes tmTrace --preset cs
expect_equal "$offered" "cs16 cs32"
completes mlsTrace -c p
expect_equal "$offered" "pbzip2 pigz"

begin completes_names_of_values
completes vestige entropy --unit ''
expect_equal "$offered" "bytes values"
completes vestige entropy --unit=v
expect_equal "$offered" "values"
completes vestige help --format m
expect_equal "$offered" "man"
completes vestige help enc
expect_equal "$offered" "encode"
completes vestige record -e ''
expect_equal "$offered" "sim valgrind"
completes vestige record -fe v
expect_equal "$offered" "valgrind"
completes vestige simulate --set l1d_s
expect_equal "$offered" "l1d_size="

begin completes_sets
completes vestige dump -k lo
expect_equal "$offered" "load"
completes vestige dump --kind load,thread-
expect_equal "$offered" "load,thread-exit load,thread-start"
completes vestige dump --kind=load,st
expect_equal "$offered" "load,store"
completes vestige dump -k load,lo
expect_equal "$offered" "" "twice"

begin completes_techniques
completes vestige bandwidth -t mcf
expect_equal "$offered" "mcfNX_b mcfTA mcfTG mcfTR_b mcfTR_e"
"$VESTIGE" techniques --json | jq -r '.[].name' >"$T/names"
completes vestige verify -t ''
expect_equal "$offered" "$({ cat "$T/names"; printf 'all\ncontrol-flow\nload-values\ndata-addresses\n'; } |
    LC_ALL=C sort | paste -sd ' ')"
completes vestige encode --technique ''
expect_equal "$offered" "$(LC_ALL=C sort "$T/names" | paste -sd ' ')"
completes vestige techniques daN
expect_equal "$offered" "daNX"
completes vestige bandwidth -t mcfTR_e:s
expect_equal "$offered" "small"
completes vestige bandwidth -t mcfTR_e:small,gs
expect_equal "$offered" "small,gshare="
completes vestige bandwidth -t mc2RT:
[[ " $offered " == *' CS16 CS32 '*' implied '* ]] || fail "no configurations: $offered"
completes vestige bandwidth --technique=mcfTR_e:l
expect_equal "$offered" "large"

begin takes_words_that_were_not_split
COMP_WORDS=(vestige bandwidth --technique=mcfTR_e:la) COMP_CWORD=2
_vestige
expect_equal "${COMPREPLY[*]}" "--technique=mcfTR_e:large"

begin completes_files
completes vestige info ''
expect_equal "$offered" "a b.vest dir one.vest two.vest"
completes vestige replay ''
expect_equal "$offered" "dir stream.vport"
completes vestige info no
expect_equal "$offered" "notes.txt" "no run begins so"
completes vestige encode -o s
expect_equal "$offered" "stream.vport"
completes vestige dump --limit ''
expect_equal "$offered" "" "a number"
completes vestige dump --thread 1 o
expect_equal "$offered" "one.vest"

begin leaves_programs_their_own_options
completes vestige record --json ./no
expect_equal "$offered" "./notes.txt"
completes vestige record ./prog --fo
expect_equal "$offered" ""
completes vestige record -- --fo
expect_equal "$offered" ""
completes vestige record -o x.vest --fo
expect_equal "$offered" "--follow --force"
completes mcfTrace -o x ./prog no
expect_equal "$offered" "notes.txt"

begin completes_nothing_of_unknown_commands
completes vestige nonsense --
expect_equal "$offered" ""

# ---- both, at a terminal --------------------------------------------------------------------

begin is_read_by_zsh
run zsh -f -n "$T/zsh/_vestige"
expect_status 0
expect_no_err

# type.zsh COMMAND GOT LINE...: types the lines, then what standard input has, into a shell on a terminal of its own; @ is a
# tab. What becomes of each command is written to GOT by functions that stand for the programs.
cat >"$T/type.zsh" <<'CODE'
zmodload zsh/zpty
tab=$'\t'
zpty shell "$1"
for line in $argv[3,-1]; do zpty -w shell $line; done
zpty -w shell "vestige() { (IFS='|'; echo \"\$*\" >>${(q)2}); echo do''ne; }; mcfTrace() { vestige mcfTrace \"\$@\"; }"
zpty -w shell "PS1='rea''dy'; vestige"
zpty -r -m shell ignored '*done*ready*'
while IFS= read -r typed; do
    zpty -w -n shell "${typed//@/$tab}"$'\n'
    zpty -r -m shell ignored '*done*ready*' || exit 1
done
zpty -d shell
CODE

# types SHELL: the rows of $T/typed, "typed => becomes", at it.
types() {
    local setup
    if [ "$1" = zsh ]; then
        setup=("stty columns 1000; fpath=('$T/zsh' \$fpath); autoload -U compinit; compinit -D -u"
            "zstyle ':completion:*' completer _complete; unsetopt beep auto_list")
        set -- "zsh -f -i"
    else
        setup=("stty columns 1000; bind 'set enable-bracketed-paste off'; . '$T/vestige.bash'")
        set -- "bash --norc --noprofile -i"
    fi
    rm -f "$T/got"
    sed 's/ *=>.*//' "$T/typed" >"$T/keys"
    run timeout 300 zsh -f "$T/type.zsh" "PS1= TERM=xterm $1" "$T/got" "${setup[@]}" <"$T/keys"
    expect_status 0
    expect_equal "$(sed 1d "$T/got")" "$(sed 's/.*=> *//' "$T/typed")"
}

cat >"$T/typed" <<'ROWS'
vestige dump --kind=lo@                   => dump|--kind=load
vestige dump -k load,thread-e@            => dump|-k|load,thread-exit
vestige verify -t contr@                  => verify|-t|control-flow
vestige verify -t mlvFA_@                 => verify|-t|mlvFA_dedicated
vestige encode -t mcfTR_e:sm@             => encode|-t|mcfTR_e:small
vestige encode -t mcfTR_e:small,gsh@64    => encode|-t|mcfTR_e:small,gshare=64
vestige encode --technique=mcfTR_e:sm@    => encode|--technique=mcfTR_e:small
vestige techniques daN@                   => techniques|daNX
vestige simulate --set l1d_s@32           => simulate|--set|l1d_size=32
vestige record -e va@ --forc@             => record|-e|valgrind|--force
vestige record ./notes.txt --fo@          => record|./notes.txt|--fo
vestige help --format z@                  => help|--format|zsh
vestige help enc@                         => help|encode
vestige info a@                           => info|a b.vest
vestige replay str@                       => replay|stream.vport
mcfTrace -filter_n@ -c bz@ -i tw@         => mcfTrace|-filter_no_shared_libs|-c|bzip2|-i|two.vest
ROWS
begin completes_at_a_prompt_of_bash
echo 'vestige bandw@ --buf@9 => bandwidth|--buffer|9' >>"$T/typed"
types bash

begin completes_at_a_prompt_of_zsh
sed -i '$s/=>.*/=> bandwidth|--buffer=9/' "$T/typed"
types zsh

cd "$VESTIGE_SRC" || exit 2
finish
