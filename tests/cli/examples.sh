#!/bin/bash
# SPDX-License-Identifier: MIT
# The programs in examples/ against the installed package alone: each compiles as C with gcc and clang and as C++ with
# g++, and does what it says. In a sanitizer's build they are linked with the library of that build, and run under the
# sanitizers.
. "$(dirname "$0")/lib.sh"

. "$VESTIGE_SRC/tests/installed.sh"

cp -r "$VESTIGE_SRC/examples" "$root/examples" # without the tree's headers beside them
cd "$root/examples" || exit 2
vestige=$root/usr/bin/vestige

program=$(workload rv64 racy)
"$vestige" record -o "$T/t.vest" --cores 2 --timed -- "$program" -n 200 -p 2 >"$out" 2>&1 || exit 2
run=$T/t.vest

warnings='-Wall -Wextra -Werror -pedantic'
compilers=("gcc -std=c11 $warnings" "clang-14 -std=c11 $warnings" "g++ -std=c++17 -x c++ $warnings")
[ -n "$san" ] && compilers=("gcc -std=c11 $warnings -g1 -fsanitize=$san -fno-sanitize-recover=all"
    "g++ -std=c++17 -x c++ $warnings -g1 -fsanitize=$san -fno-sanitize-recover=all")

# compile CC NAME: to $T/NAME.
compile() {
    # shellcheck disable=SC2046,SC2086 # flags are words
    run $1 $(pkg-config --cflags vestige) -o "$T/$2" "$2.c" $([[ $1 = g++* ]] && echo -x none) \
        $(pkg-config --libs vestige)
    expect_status 0
}

# What each program prints, compared with what the command says.
check_read() {
    run "$T/read" "$run"
    expect_status 0
    expect_equal "$(grep -v '^switches' "$out" | awk '{ print $1, $2 }' | sort)" \
        "$("$vestige" info --json "$run" | jq -r '.counts.kinds | to_entries[] | select(.value > 0) |
            "\(.key) \(.value)"' | tr _ - | sort)" kinds
    [ "$(sed -n 's/^switches *//p' "$out")" -gt 2 ] || fail "threads did not take turns"
    head -c 3000 "$run" >"$T/cut.vest"
    run "$T/read" "$T/none.vest"
    expect_status 1
    expect_err '^read: .*none.vest: '
}

check_measure() {
    run "$T/measure" "$run" mcfTR_e:small mlvCF_e
    expect_status 0
    expect_equal "$(sed -n 's/^\([a-zA-Z_]*\): \([0-9]*\) bits in \([0-9]*\) .*, \([0-9]*\) gates/\1 \2 \3 \4/p' "$out")" \
        "$("$vestige" bandwidth --json -t mcfTR_e:small -t mlvCF_e "$run" |
            jq -r '"\(.technique) \(.bits) \(.messages) \(.gates)"')" bits
    expect_equal "$(awk '/^ / { sum += $2 } /^mlvCF_e/ { sum = 0 } END { print sum }' "$out")" \
        "$(sed -n 's/^mlvCF_e: \([0-9]*\) .*/\1/p' "$out")" fields
    run "$T/measure" "$run" mcfTR_e:vast
    expect_status 1
    expect_err 'mcfTR_e has no configuration .vast.'
}

check_write() {
    run "$T/write" "$T/w.vest"
    expect_status 0
    run "$vestige" check --flow "$T/w.vest"
    expect_status 0
    expect_equal "$("$vestige" info --json "$T/w.vest" | jq -r '"\(.instructions) \(.counts.kinds.store)"')" "4000 1000"
    run "$T/write" "$T/none/w.vest"
    expect_status 1
    expect_err '^write: .*none/w.vest: '
}

check_walk() {
    run "$T/walk" "$run"
    expect_status 0
    expect_equal "$(sed -n 's/ instructions$//p' "$out")" "$("$vestige" info --json "$run" | jq .instructions)" instructions
    expect_equal "$(grep -cE '^ +[1-9][0-9]*  [0-9a-f]+  [a-z.]+ .* [a-z_0-9.]+\+[0-9]+$' "$out")" 10 "most frequent"
    run "$T/walk" "$T/w.vest" # of the program above
    [ ! -e "$T/w.vest" ] || expect_out '^ +1000  10000  ld +a0,'
}

check_encode() {
    local instructions taken
    instructions=$("$vestige" info --json "$run" | jq .instructions)
    taken=$("$vestige" info --json "$run" | jq '.counts.branches.taken // empty')
    for spec in mcfTR_e:small mcfNX_b; do
        run "$T/encode" "$run" $spec "$T/e.vport"
        expect_status 0
        "$vestige" encode -f -t $spec -o "$T/f.vport" "$run" >/dev/null
        cmp -s "$T/e.vport" "$T/f.vport" || fail "$spec: the command writes another stream"
        expect_out "steps, $instructions instructions, ${taken:-[1-9][0-9]*} taken\$"
        expect_out '^compared [1-9][0-9]{3,}: equal$'
    done
    run "$T/encode" "$run" mlvCF_e "$T/e.vport"
    expect_status 1
    expect_err 'mlvCF_e has no control flow$'
}

check_playback() {
    "$vestige" encode -f -t mc2RT -o "$T/p.vport" "$run" >/dev/null
    for file in "$T/p.vport" "$run"; do
        run "$T/playback" "$file" 20000 500 20000 99999999999
        expect_status 0
        expect_equal "$(sed -n 's/^position \([0-9]*\).*/\1/p' "$out" | paste -sd ' ')" \
            "20000 500 20000 $("$vestige" info --json "$run" | jq .instructions)" positions
        expect_out '^position [0-9]+, the end$'
        expect_equal "$(awk '/^position/ { n++ } n == 1' "$out")" "$(awk '/^position/ { n++ } n == 3' "$out")" "there again"
        expect_equal "$("$vestige" replay --until 20000 --json "$T/p.vport" | jq -r '.cores[0].pc' | sed 's/^0x0*//')" \
            "$(sed -n 's/^  core 0: .* pc \([0-9a-f]*\),.*/\1/p' "$out" | head -n 1)" pc
    done
    run "$T/playback" "$T/none.vport" 1
    expect_status 1
    expect_err '^playback: .*none.vport: '
}

for source in *.c; do
    name=${source%.c}
    for cc in "${compilers[@]}"; do
        begin "${name}_with_${cc%% *}"
        compile "$cc" "$name"
        "check_$name"
    done
done

finish
