#!/bin/bash
# SPDX-License-Identifier: MIT
# The programs in examples/ against the installed package alone: each compiles as C with gcc and clang and as C++ with
# g++, and does what it says. In a sanitizer's build they are linked with the library of that build, and run under the
# sanitizers.
. "$(dirname "$0")/lib.sh"

mapfile -t vars < <(grep -v '^#' "$VESTIGE_BUILD/config")
san=$(sed -n 's/^SAN=//p' "$VESTIGE_BUILD/config")
# Not in $T, whose name may have a space: what pkg-config says is for the command line of a compiler.
root=$(mktemp -d /tmp/vestige-examples.XXXXXX) || exit 2
trap 'rm -rf "$T" "$_work" "$root"' EXIT
export PKG_CONFIG_LIBDIR=$root/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root
export PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1 SOURCE_DATE_EPOCH=1000000000

make -C "$VESTIGE_SRC" "${vars[@]}" install DESTDIR="$root" PREFIX=/usr >"$T/install" 2>&1 || {
    cat "$T/install"
    exit 2
}
cp -r "$VESTIGE_SRC/examples" "$root/examples" # without the tree's headers beside them
cd "$root/examples" || exit 2
export LD_LIBRARY_PATH=$root/usr/lib
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

for source in *.c; do
    name=${source%.c}
    for cc in "${compilers[@]}"; do
        begin "${name}_with_${cc%% *}"
        compile "$cc" "$name"
        "check_$name"
    done
done

finish
