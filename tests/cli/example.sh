#!/bin/bash
# SPDX-License-Identifier: MIT
# The technique in docs/adding-a-technique.md is what it says: it compiles, and every event comes back.
. "$(dirname "$0")/lib.sh"

export SOURCE_DATE_EPOCH=1000000000
program=$(workload rv64 racy)
"$VESTIGE" record -o "$T/a.vest" --cores 2 -- "$program" -n 200 -p 2 >"$out" 2>&1 || exit 2
"$VESTIGE" record -o "$T/t.vest" --cores 2 --timed -- "$program" -n 200 -p 2 >"$out" 2>&1 || exit 2
"$VESTIGE" record -o "$T/s.vest" -- "$(workload rv64 signals)" -n 30 >"$out" 2>&1 || exit 2

begin compiles_the_example
awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' "$VESTIGE_SRC/docs/adding-a-technique.md" >"$T/outcomes.c"
cc=$(sed -n 's/^CC=//p' "$VESTIGE_BUILD/config")
san=$(sed -n 's/^SAN=//p' "$VESTIGE_BUILD/config")
# shellcheck disable=SC2086 # a compiler may have options
run $cc -std=gnu11 -Wall -Wextra -Werror -D_GNU_SOURCE ${san:+-fsanitize=$san} -pthread -I"$VESTIGE_SRC/include" \
    -I"$VESTIGE_SRC/src" -o "$T/example" "$T/outcomes.c" "$VESTIGE_SRC/tests/cli/example_main.c" \
    "$VESTIGE_BUILD/lib/libvestige-all.a" -lzstd -llzma -lbz2 -lz -lZydis -ldw -lelf -liberty -lm
expect_status 0

begin proves_the_example
for name in a t s; do
    run "$T/example" "$T/$name.vest"
    expect_status 0
    expect_out '^compared [1-9][0-9]+ bits [1-9][0-9]+ '
    read -r _ compared _ bits measured counted <"$out"
    [ "$compared" -gt 5000 ] || fail "little was compared"
    expect_equal "$bits $counted" "$measured $measured" "$name"
done

finish
