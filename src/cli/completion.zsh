# Everything below is the same whatever the tables have.

# The words: HEAD, or after "HEAD:ITEM," what may follow HEAD. A word that ends with = goes on.
_vestige_words() {
    local head word
    local -a ready more
    if [[ $PREFIX == *:* ]]; then
        head=${PREFIX%%:*}:
        compset -P 1 '*:'
        compset -P '*,'
    fi
    for word; do
        if [[ -n $head ]]; then
            [[ $word == $head* ]] || continue
            word=${word#$head}
        elif [[ $word == *:* ]]; then
            continue
        fi
        if [[ $word == *= ]]; then more+=($word); else ready+=($word); fi
    done
    compadd -a ready
    compadd -S '' -a more
}

_vestige_programs() {
    _alternative 'commands:program:_command_names -e' 'files:file:_files'
}

_vestige() {
    local context state state_descr line
    typeset -A opt_args
    if [[ $service != vestige ]]; then
        _vestige_$service
        return
    fi
    _arguments -C '(- *)'{-h,--help}'[the list of commands]' '(- *)'{-V,--version}'[the version]' \
        '(-)1:command:_vestige_commands' '*::operand:->rest' && return
    if [[ $state == rest ]] && (( $+functions[_vestige_$line[1]] )); then
        curcontext=${curcontext%:*:*}:vestige-$line[1]:
        _vestige_$line[1]
    fi
}

_vestige "$@"
