# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # out, err, status are of lib.sh
# Runs the commands in a document and compares what they print, and checks documents otherwise.
# CONTRIBUTING.md has the convention. To be used after lib.sh:
#
#   run_document FILE [REFUSED]   runs the commands in the current folder, in the order of the
#                                 document; REFUSED COMMAND succeeds if one is not to be run
#   document_wide FILE            prints the lines of prose with more than 100 columns, numbered
#   document_linked FILE ROOT     succeeds if README.md, CONTRIBUTING.md or another page of docs/
#                                 links to FILE, which is relative to ROOT
#
# run_document sets $ran and $left, how many commands were run and left out.

document_server='' document_port=''

# document_stop: a server that the document started must have ended by itself.
document_stop() {
    [ -n "$document_server" ] || return 0
    await has_ended "$document_server" || kill "$document_server" 2>/dev/null
    wait "$document_server" || fail "the server ended with status $?"
    document_server=''
}

# document_blocks FILE: prints its code line by line, each line after its number and the kind of its
# block; the first line of a block is ```.
document_blocks() {
    awk -v OFS='\001' '
        /^```/ { kind = length($0) == 3 && kind != "" ? "" : length($0) == 3 ? "none" : substr($0, 4); if (kind != "") print FNR, kind, "```"; next }
        kind != "" { print FNR, kind, $0 }
    ' "$1"
}

# Tables, blocks, and what scripts read (@...) may be wider. A character of several bytes is one column:
# its later bytes are not counted.
document_wide() {
    awk '
        /^```/ { inside = !inside; next }
        { counted = $0; gsub(/[\200-\277]/, "", counted) }
        !inside && !/^[|@]/ && length(counted) > 100 { print FNR ": " $0 }
    ' "$1"
}

document_linked() {
    local from target
    for from in "$2/README.md" "$2/CONTRIBUTING.md" "$2"/docs/*.md; do
        [ -e "$from" ] && [ "$from" != "$2/$1" ] || continue
        while IFS= read -r target; do
            [ "$(realpath -m -- "${from%/*}/$target")" != "$(realpath -m -- "$2/$1")" ] || return 0
        done < <(grep -oE '\]\([^) #]+' "$from" | sed 's/^](//' | grep -v '://')
    done
    return 1
}

# document_compare SHOWN SAID LOOSE: every line of SHOWN must be in SAID, in order, and unless it is
# loose there must be nothing else. `...` stands for any text or, as a line, for any lines. Prints
# the first difference.
document_compare() {
    awk -v loose="$3" '
        { sub(/[ \t]+$/, "") }
        FNR == NR { shown[++n] = $0; next }
        { said[++m] = $0 }
        function matches(text, pattern) {
            if (loose && index(text, pattern)) return 1
            gsub(/[][\\.^$*+?(){}|]/, "\\\\&", pattern)
            gsub(/\\\.\\\.\\\./, ".*", pattern)
            return text ~ (loose ? pattern : "^" pattern "$")
        }
        END {
            at = 1; skip = loose
            for (i = 1; i <= n; i++) {
                if (shown[i] == "...") { skip = 1; continue }
                from = at
                while (at <= m && !matches(said[at], shown[i])) { if (!skip) break; at++ }
                if (at > m || !matches(said[at], shown[i])) {
                    print "it shows:      " shown[i]
                    print "but this comes: " (from <= m ? said[from] : "nothing more")
                    exit 1
                }
                at++; skip = loose
            }
            if (at <= m && !skip) { print "it does not show: " said[at]; exit 1 }
        }' "$1" "$2"
}

# Starts a server in the background, at any free port.
document_serve() {
    : >"$out"
    bash -c "exec ${1/--listen 1234/--listen 0}" >"$out" 2>&1 &
    document_server=$! document_port=''
    await grep -q 'listening on 127.0.0.1:[0-9]*$' "$out"
    document_port=$(sed -n 's/.*listening on 127.0.0.1:\([0-9]*\)$/\1/p' "$out")
    sed "s/:$document_port\$/:1234/" "$out" >said
}

# document_command: runs $_shell, with $_inside for gdb, and compares with the file `shown`.
document_command() {
    local before=$status arguments=() line loose='' why plain=${_shell%% #*}
    [ -n "$_shell" ] || return 0
    plain=${plain%"${plain##*[! ]}"} # the command, without a comment
    if "$_refused" "$plain"; then
        left=$((left + 1))
        return
    fi
    ran=$((ran + 1))
    _command="$plain (line $_line)"
    case $plain in
    'vestige debug --listen 1234 '*' &') document_serve "${plain% &}" && status=0 ;;
    *' --gdb-script'*)
        timeout 300 bash -c "$_shell" >said 2>&1 </dev/null
        status=$?
        ;;
    gdb* | 'vestige debug '*)
        loose=1
        for line in "${_inside[@]}"; do arguments+=(-ex "echo (gdb) $line\\n" -ex "$line"); done
        plain=${plain//:1234/:$document_port}
        case $plain in
        gdb*) plain=${plain/ / -nx -batch -ex \"set width 0\" } ;;
        *) plain="$plain -- -nx -batch -ex 'set width 0'" ;;
        esac
        eval "timeout 300 $plain "'"${arguments[@]}"' >said 2>&1 </dev/null
        status=$?
        ;;
    *)
        timeout 300 bash -c "(exit $before); $_shell" >said 2>&1 </dev/null
        status=$?
        ;;
    esac
    cp said "$out"
    [ ! -s shown ] || why=$(document_compare shown said "$loose") || fail "line $_line: $_shell: $why"
}

# document_status NEXT: the last command must have succeeded, unless the next one asks for its status.
document_status() {
    # shellcheck disable=SC2016
    [ "$status" = 0 ] || [ "$1" = 'echo $?' ] || fail "line $_line: status $status, and no 'echo \$?': $_shell"
    [ "$1" = 'echo $?' ] || status=0
}

no_document_command() {
    false
}

run_document() {
    local number kind text name=''
    _refused=${2:-no_document_command} _shell='' _inside=() _line=0
    ran=0 left=0 status=0
    : >shown
    while IFS=$'\001' read -r number kind text; do
        case $kind:$text in
        *:'```') name='' ;;
        console:'$ '*)
            document_command
            document_status "${text#'$ '}"
            _shell=${text#'$ '} _inside=() _line=$number
            : >shown
            ;;
        console:'> '*) _shell=${_shell%\\}${text#'> '} ;;
        console:'(gdb) '*)
            _inside+=("${text#'(gdb) '}")
            printf '%s\n' "$text" >>shown
            ;;
        console:*) printf '%s\n' "$text" >>shown ;;
        c:'/* '*.c:*)
            document_command # what follows may be made with the file
            document_status ''
            _shell=''
            name=${text#'/* '} name=${name%%:*}
            printf '%s\n' "$text" >"$name"
            ;;
        python:'# '*.py:* | ini:'# '*.ini:*)
            document_command
            document_status ''
            _shell=''
            name=${text#'# '} name=${name%%:*}
            printf '%s\n' "$text" >"$name"
            ;;
        c:* | python:* | ini:*) [ -z "$name" ] || printf '%s\n' "$text" >>"$name" ;;
        esac
    done < <(document_blocks "$1")
    document_command
    document_status ''
}
