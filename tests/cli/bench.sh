#!/bin/bash
# SPDX-License-Identifier: MIT
# The program that measures comes to its end, with figures; what they are is not tested. In `make check` what takes the least
# time; with VESTIGE_LONG=1 (make check-long) everything but recording, which other tests do.
. "$(dirname "$0")/lib.sh"

if [ -n "$sanitized" ]; then
    begin measures
    skip "speed is measured in the plain build"
    finish
fi

cd "$VESTIGE_SRC" || exit 2
names=(vest long replay debug)
[ -z "$long" ] || names+=(sim flow data address)
begin measures_what_there_is
run "$VESTIGE_BUILD/bench/bench" --repeats 1 --scale 0.001 --folder "$T" --json "$T/bench.json" "${names[@]}"
expect_status 0
for what in "${names[@]}"; do
    [ "$(jq --arg what "$what" '[.rows[] | select(.what == $what)] | length' "$T/bench.json")" -ge 5 ] || fail "nothing of $what"
done
finish
