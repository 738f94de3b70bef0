#!/bin/bash
# SPDX-License-Identifier: MIT
# usage: symbols.seeds.sh DIR: small ELF files, with and without symbols, stubs, a build id and lines.
set -eu

dir=$1
work=$(mktemp -d)
# shellcheck disable=SC2064
trap "rm -rf '$work'" EXIT

cat >"$work/tiny.c" <<'CODE'
extern int outside(int);
__asm__(".globl _ZN2ns1fEi\n.type _ZN2ns1fEi, @function\n_ZN2ns1fEi: nop\n.size _ZN2ns1fEi, 1\n"
        ".type unsized, @function\nunsized: nop; nop\n"
        ".type _ZN2ns1fEi.cold, @function\n_ZN2ns1fEi.cold: nop\n");
static __attribute__((noinline)) int local(int x) { return 3 * x; }
#ifdef CALLS
int _start(int x) { return local(outside(x)); }
#else
int _start(int x) { return local(x); }
#endif
CODE
link=(gcc -O1 -nostdlib -fno-asynchronous-unwind-tables -Wl,-z,noseparate-code -Wl,-z,max-page-size=16)
"${link[@]}" -static -Wl,--build-id -o "$dir/static" "$work/tiny.c"
"${link[@]}" -shared -fPIC -DCALLS -Wl,--build-id -o "$dir/shared" "$work/tiny.c"
"${link[@]}" -static -Wl,--build-id=none -o "$work/link" "$work/tiny.c"
"${link[@]}" -static -g -gdwarf-5 -Wl,--build-id -o "$dir/lines" "$work/tiny.c"
"${link[@]}" -shared -fPIC -DCALLS -g -gdwarf-4 -O2 -o "$dir/lines4" "$work/tiny.c"
strip -o "$dir/stripped" "$dir/shared"
objcopy --only-keep-debug "$work/link" "$work/link.debug"
(cd "$work" && objcopy --strip-all --add-gnu-debuglink=link.debug link linked)
cp "$work/linked" "$dir/linked"
gcc -c -O1 -o "$dir/object" "$work/tiny.c"
