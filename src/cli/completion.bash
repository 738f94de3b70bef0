# Everything below is the same whatever the tables have. Variables of _vestige are seen by the rest.

# Joins what the shell has split at : and = (COMP_WORDBREAKS): line has the words, starts where they were, cut what of the
# last one the shell keeps.
_vestige_join() {
    local i word raw=${COMP_WORDS[COMP_CWORD]} glue=
    line=() starts=()
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if ((${#line[@]} > 1)) && [[ $glue || $word == [:=]* ]]; then
            line[-1]+=$word
        else
            line+=("$word") starts+=("$i")
        fi
        glue=
        [[ $word != [:=] ]] || glue=yes
    done
    [[ $raw != [:=] ]] || raw=
    cut=${line[-1]%"$raw"}
}

# The words, one per line, that begin with $cur: HEAD, or after "HEAD:ITEM," what may follow HEAD.
_vestige_words() {
    local word head='' before=''
    if [[ $cur == *:* ]]; then
        head=${cur%%:*}:
        before=${cur#*:}
        if [[ $before == *,* ]]; then before=${before%,*},; else before=; fi
    fi
    for word in $words; do
        if [[ $head ]]; then
            [[ $word == "$head"* ]] || continue
            word=$head$before${word#"$head"}
        elif [[ $word == *:* ]]; then
            continue
        fi
        [[ $word != "$cur"* ]] || printf '%s\n' "$word"
    done
}

# Some of the words, separated by commas.
_vestige_set() {
    local word before=
    [[ $cur != *,* ]] || before=${cur%,*},
    for word in $words; do
        [[ $before$word != "$cur"* || ,$before == *,"$word",* ]] || printf '%s\n' "$before$word"
    done
}

# Files with the extension $words, and folders; any if there are none.
_vestige_files() {
    compopt -o filenames 2>/dev/null
    if [[ $words ]]; then
        mapfile -t COMPREPLY < <(compgen -f -X "!*.$words" -- "$cur")
        [[ ${#COMPREPLY[@]} == 0 ]] || mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -d -- "$cur")
    fi
    [[ ${#COMPREPLY[@]} != 0 ]] || mapfile -t COMPREPLY < <(compgen -f -- "$cur")
}

# A program and its arguments: those of another completion, if there is one.
_vestige_program() {
    if ((operand < last)) && declare -F _command_offset >/dev/null; then
        _command_offset "${starts[operand]}"
    elif ((operand < last)) || [[ $cur == */* ]]; then
        _vestige_files
    else
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -c -- "$cur" | sort -u)
        mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$cur")
    fi
}

# Goes through the words before the last: option is the one whose value the last is, operand the number of the first
# operand, ended says that no more options come.
_vestige_walk() {
    local i word letter
    for ((i = first; i < last; i++)); do
        word=${line[i]}
        if [[ $option ]]; then
            option=
        elif [[ $ended || $word != -?* ]]; then
            ((operand < last)) || operand=$i
            _vestige_value "$command" ""
            [[ $kind != program ]] || ended=yes
        elif [[ $word == -- ]]; then
            ended=yes
        elif [[ $single || $word == --* ]]; then
            _vestige_value "$command" "$word"
            [[ $kind == flag ]] || option=$word
        else
            for ((letter = 1; letter < ${#word}; letter++)); do
                _vestige_value "$command" "-${word:letter:1}"
                [[ $kind != flag ]] || continue
                ((letter + 1 < ${#word})) || option=-${word:letter:1}
                break
            done
        fi
    done
}

_vestige() {
    local line starts cut cur prefix='' command first=1 last option='' operand ended='' options='' single='' kind words
    COMPREPLY=()
    _vestige_join
    last=$((${#line[@]} - 1)) cur=${line[-1]} operand=$last
    command=${line[0]##*/}
    if [[ $command == vestige ]]; then
        if ((last == 1)); then
            mapfile -t COMPREPLY < <(compgen -W "$_vestige_commands --help --version" -- "$cur")
            return
        fi
        command=${line[1]} first=2
    fi
    _vestige_options "$command"
    _vestige_walk
    if [[ ! $option && ! $ended && $cur == -* ]]; then
        if [[ $single || $cur != --*=* ]]; then
            mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
            return
        fi
        option=${cur%%=*} cur=${cur#*=}
        if [[ $cut == "$option="* ]]; then cut=${cut#"$option="}; else prefix=$option=; fi
    fi
    _vestige_value "$command" "$option"
    case $kind in
    file) _vestige_files ;;
    program) _vestige_program ;;
    words) mapfile -t COMPREPLY < <(_vestige_words) ;;
    set) mapfile -t COMPREPLY < <(_vestige_set) ;;
    esac
    [[ ${#COMPREPLY[@]} != 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null
    [[ ! $prefix ]] || COMPREPLY=("${COMPREPLY[@]/#/$prefix}")
    [[ ! $cut ]] || COMPREPLY=("${COMPREPLY[@]#"$cut"}")
}
