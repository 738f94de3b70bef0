#!/bin/bash
# SPDX-License-Identifier: MIT
# usage: target.seeds.sh DIR: small RV64 programs, and files of parameters.
set -eu

dir=$1
work=$(mktemp -d)
# shellcheck disable=SC2064
trap "rm -rf '$work'" EXIT

cat >"$work/tiny.c" <<'CODE'
int zeros[5000], ones[3] = {1, 1, 1};
void _start(void)
{
    __asm__ volatile("li a7, 93\necall");
}
CODE
link=(riscv64-linux-gnu-gcc -O1 -nostdlib -fno-asynchronous-unwind-tables)
"${link[@]}" -static -o "$dir/static" "$work/tiny.c"
"${link[@]}" -static-pie -fpie -Wl,--no-dynamic-linker -o "$dir/pie" "$work/tiny.c"
"${link[@]}" -static -Wl,-z,noseparate-code -Wl,-z,max-page-size=16 -s -o "$dir/packed" "$work/tiny.c"
"${link[@]}" -shared -fPIC -o "$dir/shared" "$work/tiny.c"
printf 'preset = tewar\ncores = 8 # all of them\nl1d_size = 4K\nl1d_policy = plru\n' >"$dir/platform"
