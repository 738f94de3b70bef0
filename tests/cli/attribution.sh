#!/bin/bash
# SPDX-License-Identifier: MIT
# Where bits are sent: every bit of every technique is somewhere, and only once.
. "$(dirname "$0")/lib.sh"

cd "$T" || exit 2
fft=$(workload rv64 fft)
"$VESTIGE" record -q -o timed.vest --cores 2 --timed -- "$fft" -p 2 -n 4 >"$out" 2>&1 || exit 2
"$VESTIGE" record -q -o plain.vest --cores 2 -- "$(workload rv64 signals)" -n 2 >"$out" 2>&1 || exit 2
"$VESTIGE_GEN" -o made.vest --seed 3 --threads 3 --events 3000 >"$out" || exit 2
runs=(timed.vest plain.vest made.vest)
if [ -n "$long" ]; then
    "$VESTIGE" record -q -o native.vest -- "$(workload host interp)" -n 1 >"$out" 2>&1 || exit 2
    runs+=(native.vest)
fi
kinds=(line routine image thread)
[ -z "$brief" ] || kinds=(line)

begin accounts_for_every_bit_of_every_technique
for run in "${runs[@]}"; do
    "$VESTIGE" bandwidth -t all --json "$run" | jq -c '[.technique, .config, .bits, .messages, .instructions]' >"$run.all"
    [ -s "$run.all" ] || fail "$run: nothing was measured"
    for by in "${kinds[@]}"; do
        run "$VESTIGE" bandwidth -t all --by "$by" --top 7 --json "$run"
        expect_status 0
        jq -c '[.technique, .config, (.places | map(.bits) | add), (.places | map(.messages) | add),
            (.places | map(.instructions) | add)]' "$out" >sums
        cmp -s "$run.all" sums || fail "$run by $by: $(diff "$run.all" sums | head -n 4)"
        expect_equal "$(jq -c 'select((.places | length) > 8)' "$out" | wc -l)" 0 "tables that are longer than --top"
    done
done

begin charges_threads_with_what_their_cores_send
run "$VESTIGE" bandwidth -t mcfTR_e --by thread --json timed.vest
jq -c '[.places[] | [.thread, .bits, .instructions]] | sort' "$out" >ours
"$VESTIGE" bandwidth -t mcfTR_e --window 1000 --json timed.vest | jq -c '[.windows.cores | to_entries[] | [.key, (.value | add)]]' >cores 2>"$err"
expect_equal "$(jq -c 'map(.[:2])' ours)" "$(cat cores)"

begin tells_where_a_branch_is
# Nobody can predict a random bit: what the branch costs is charged to its line.
printf '%s\n' '#include <stdlib.h>' 'int main(int argc, char **argv)' '{' '    unsigned x = 1, sum = 0, times = atoi(argv[argc - 1]);' \
    '    for (unsigned i = 0; i < times; i++) {' '        x = x * 1664525 + 1013904223;' \
    '        if (x >> 31)' '            sum += x & 1 ? 3 : 5;' '    }' '    return sum == 1;' '}' >loop.c
gcc -O0 -g -o loop loop.c || exit 2
"$VESTIGE" record -q -f -o loop.vest -- ./loop 3000 || fail "not recorded"
run "$VESTIGE" bandwidth -t mcfTR_e --by line --csv loop.vest
expect_equal "$(sed -n 1p "$out")" run,technique,config,by,image,routine,file,folder,line,thread,others,bits,messages,instructions
expect_equal "$(sed -n 2p "$out" | cut -d, -f 6,7,9)" '"main","loop.c",7'
expect_equal "$(grep -c , "$out")" 18 "a head, 16 places and the others"

begin names_no_line_where_there_is_none
strip -o bare loop || exit 2
"$VESTIGE" record -q -f -o bare.vest -- ./bare 100 || fail "not recorded"
run "$VESTIGE" bandwidth -t mcfTR_e --by line --top 0 --json bare.vest
expect_equal "$(jq -c '[.places[] | select(.image // "" | endswith("/bare")) | .line] | unique' "$out")" '[null]'

begin prints_totals_without_places
run "$VESTIGE" bandwidth -t mcfTR_e --by image timed.vest plain.vest
expect_status 0
expect_out '^total of 2 runs$'
expect_equal "$(sed '1,/^total/d' "$out" | wc -l)" 2

finish
