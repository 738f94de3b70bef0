#!/bin/bash
# SPDX-License-Identifier: MIT
# What --json prints is what docs/json.md says: every field is there, and every field there comes out.
. "$(dirname "$0")/lib.sh"

doc=$VESTIGE_SRC/docs/json.md

# documented COMMAND: the fields in its section, one per line.
documented() {
    local spelled
    awk -v heading="## $1" '/^## / { on = $0 == heading } on && /^\| *`/' "$doc" |
        cut -d '|' -f 2 | grep -oE '`[^`]+`' | tr -d '`' | while read -r spelled; do
        set -f
        # Names, dots, brackets, stars and braces: the shell's own {a,b} spells them out.
        [[ $spelled == *[^]a-z0-9_.,{}*[]* ]] && echo "not a field: $spelled" && continue
        eval "printf '%s\n' $spelled"
        set +f
    done
}

# fields: those of the objects on standard input, and of objects and arrays only what is in them. A dot in a name is none.
fields() {
    jq -r 'if type == "array" then .[] else . end |
        [paths(type != "object" and type != "array" or length == 0) | map(if type == "number" then "[]"
            else "." + gsub("[.]"; "_") end) | join("")] | unique[]' | sed 's/^\.//' | sort -u
}

# unmatched FILE DOCUMENTED: "new FIELD" of the file that is not documented, "gone FIELD" that is, but not in the file. What is
# empty or null there is covered by what would be in it.
unmatched() {
    awk 'FNR == 1 { file++ }
        file == 1 { fields[$0]; next }
        {
            expression = $0
            gsub(/[].[]/, "\\\\&", expression)
            gsub(/[*]/, "[^.[]+", expression)
            for (f in fields)
                if (f ~ "^" expression "$") { found = 1; known[f] }
                else if (index($0, f ".") == 1 || index($0, f "[") == 1) known[f]
            if (!found) print "gone", $0
            found = 0
        }
        END { for (f in fields) if (!(f in known)) print "new", f }' "$1" "$2"
}

# covered COMMAND: its objects, in $T/COMMAND.json, and the documentation have the same fields.
covered() {
    begin "documents_json_of_$1"
    documented "$1" | sort -u >"$T/documented"
    [ -s "$T/documented" ] || fail "docs/json.md has no section '## $1' with a table of its fields"
    fields <"$T/$1.json" >"$T/fields"
    [ -s "$T/fields" ] || fail "there are no objects of it: this file needs a line 'prints $1 ...'"
    unmatched "$T/fields" "$T/documented" >"$out"
    [ ! -s "$out" ] || fail "docs/json.md does not have what is new, or has what is gone"
}

# prints NAME STATUS ARGUMENT...: the command's objects, added to those it has.
prints() {
    local name=$1 wanted=$2
    shift 2
    run "$VESTIGE" "$name" --json "$@"
    expect_status "$wanted"
    sed '/^[a-z]/d' "$out" >>"$T/$name.json"
}

program=$(workload rv64 fft)
begin records_for_the_rest
prints record 0 -o "$T/timed.vest" --cores 2 --timed -- "$program" -p 2 -n 4
prints record 0 -o "$T/part.vest" --skip 1000 --length 500 -- "$program" -n 4
prints record 0 --follow -o "$T/runs" -- sh -c 'true | true'
prints simulate 0 --cores 2 --timed -- "$program" -p 2 -n 4
prints simulate 0 --list
"$VESTIGE_GEN" -o "$T/mixed.vest" --seed 1 --threads 3 --events 2000 >"$out" || exit 2
"$VESTIGE_GEN" -o "$T/flow.vest" --seed 1 --threads 2 --events 500 --control-only >"$out" || exit 2
head -c 1500 "$T/mixed.vest" >"$T/cut.vest"
handmade whole word foreign
prints encode 0 -t mlvCF_e:CS32 -o "$T/loads.vport" "$T/timed.vest"
prints encode 0 -t mcfTR_e -o "$T/flow.vport" "$T/timed.vest"
prints encode 0 -t pt --raw "$T/flow.pt" "$T/timed.vest"
prints import 0 --from pt -o "$T/imported.vest" "$T/flow.pt"

begin prints_objects
prints info 0 "$T/timed.vest" "$T/mixed.vest" "$T/whole.vest"
prints info 0 --no-scan "$T/flow.vest"
prints info 1 --no-scan "$T/cut.vest"
prints dump 0 --limit 300 "$T/timed.vest"
prints dump 0 --source --disassemble --limit 300 "$T/timed.vest"
prints diff 1 "$T/timed.vest" "$T/mixed.vest"
prints dump 0 --stack --limit 300 "$T/timed.vest"
prints info 0 --source --callers "$T/timed.vest"
prints dump 0 --limit 600 "$T/mixed.vest"
prints dump 0 --kind gap "$T/part.vest"
prints dump 0 "$T/whole.vest"
prints dump 0 --blocks --limit 3 "$T/timed.vest"
prints dump 0 --images "$T/timed.vest"
prints check 1 "$T/cut.vest"
head -c $(($(wc -c <"$T/timed.vest") - 30)) "$T/timed.vest" >"$T/end.vest.partial"
prints salvage 0 "$T/end.vest.partial"
prints salvage 0 -o "$T/again.vest" "$T/timed.vest"
cc=$(sed -n 's/^CC=//p' "$VESTIGE_BUILD/config")
for name in maps shared; do
    # shellcheck disable=SC2086 # a compiler may have options
    $cc -O1 -D_GNU_SOURCE -o "$T/$name" "$VESTIGE_SRC/tests/programs/real_$name.c" || exit 2
    "$VESTIGE" record -q -f --inputs --all -o "$T/$name.vest" -- "$T/$name" >"$out" || exit 2
done
prints shrink 0 -o "$T/short.vest" "$T/maps.vest"
prints expand 0 -o "$T/expanded.vest" "$T/short.vest"
prints expand 0 --routine main -o "$T/main.vest" "$T/short.vest"
prints dump 0 --inputs "$T/short.vest"
prints record 0 --inputs -o "$T/stretch.vest" --skip 1000 --length 500 -- "$T/maps"
prints dump 0 --inputs "$T/stretch.vest"
prints record 0 --digest-memory 1000 -o "$T/digested.vest" -- "$T/maps"
prints dump 0 --inputs "$T/digested.vest"
prints check 1 --inputs "$T/maps.vest" "$T/shared.vest"
prints check 2 --memory --flow "$T/word.vest" "$T/foreign.vest" "$T/flow.vest"
prints techniques 0
prints techniques 0 mcfTR_e:ibtb_tags=untagged-oracle
prints bandwidth 0 "$T/timed.vest" -t mcfTR_e -t mlvCF_e:CS32 -t mc2RT -t ADAC -t daFilter --window 10000 --buffer 1:512:stall
prints sweep 0 --store "$T/swept" --set verify=all --set window=1000 --set buffer=1:512:stall -t mcfTR_e:gshare=256..1024*2 "$T/timed.vest" "$T/short.vest"
prints sweep 0 --store "$T/swept" --set verify=all --set window=1000 --set buffer=1:512:stall --status -t mcfTR_e:gshare=256..1024*2 "$T/timed.vest" "$T/short.vest"
prints bandwidth 0 "$T/timed.vest" -t mcfTR_e --by line --top 5
prints bandwidth 0 "$T/timed.vest" -t mcfTR_e --by thread
prints bandwidth 0 "$T/timed.vest" -t mcfTR_e --sample 10K:1K
prints bandwidth 0 "$T/short.vest" -t mcfTR_e --skip 100 --length 1000
prints compressors 0 "$T/timed.vest"
prints chunks 0 -t mcfTR_e "$T/timed.vest"
prints entropy 0 "$T/timed.vest" "$T/mixed.vest"
prints locality 0 "$T/timed.vest" "$T/foreign.vest"
prints decode 0 --code "$T/timed.vest" --until 5000 "$T/flow.vport"
prints decode 0 --code "$T/timed.vest" --source --disassemble --until 5000 "$T/flow.vport"
prints decode 0 --code "$T/timed.vest" --summary "$T/flow.vport"
prints verify 0 "$T/timed.vest" -t mcfTR_e -t mcfTR_e:ibtb_tags=untagged-oracle -t mcfTA -t mlvCF_e:CS32 -t ADAC --mutate 10
prints replay 0 --registers --check "$T/timed.vest" "$T/loads.vport"
"$VESTIGE" record -q -o "$T/native.vest" -- "$VESTIGE_BUILD/test/programs/strings" >/dev/null 2>&1
"$VESTIGE" encode -t mlvCF_e -o "$T/native.vport" "$T/native.vest" >/dev/null 2>&1
prints replay 0 --registers "$T/native.vport"

begin prints_what_differs
"$VESTIGE" record -o "$T/other.vest" --cores 2 --timed -- "$program" -p 2 -n 5 >/dev/null 2>&1
prints verify 1 --stream "$T/flow.vport" "$T/other.vest"

mapfile -t commands < <(for name in $("$VESTIGE" help | sed -n 's/^  \([a-zA-Z]\+\) .*/\1/p'); do
    "$VESTIGE" help "$name" | grep -qE '^ *--json ' && echo "$name"
done)
for name in "${commands[@]}"; do
    [ -e "$T/$name.json" ] || : >"$T/$name.json"
    covered "$name"
done

begin documents_nothing_else
expect_equal "$(sed -n 's/^## //p' "$doc" | sort | paste -sd ' ')" "$(printf '%s\n' "${commands[@]}" | sort | paste -sd ' ')" "sections of docs/json.md"

finish
