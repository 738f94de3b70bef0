#!/bin/bash
# SPDX-License-Identifier: MIT
# docs/techniques.md is what its generator writes, has every technique, and draws the fields that encoders write.
. "$(dirname "$0")/lib.sh"

! grep -q '^SAN=.' "$VESTIGE_BUILD/config" || skip_all "the page is the same in every build"

begin writes_the_page
run "$VESTIGE_SRC/tools/techniques-doc" "$VESTIGE_BUILD"
expect_status 0
expect_no_err
cmp -s "$out" "$VESTIGE_SRC/docs/techniques.md" || fail "docs/techniques.md is not what tools/techniques-doc writes"
tr '\n' ' ' <"$out" | sed 's/  */ /g; s/Cost: /\n&/g' >"$T/costs"
for name in $("$VESTIGE" techniques --json | jq -r '.[].name'); do
    expect_out "^### .*\b$name\b"
    grep -qE "^Cost: [^|]*\*\*$name\*\* [0-9]+ bits" "$T/costs" || fail "no cost of $name"
done

begin refuses_a_page_that_lacks_a_technique
mkdir -p "$T/docs" "$T/tools"
cp "$VESTIGE_SRC/tools/techniques-doc" "$T/tools"
ln -s "$VESTIGE_SRC/bench" "$VESTIGE_SRC/workloads" "$T"
sed 's/^@facts mcfTR_b mcfTR_e/@facts mcfTR_b mcfTR_z/' "$VESTIGE_SRC/docs/techniques.md.in" >"$T/docs/techniques.md.in"
run "$T/tools/techniques-doc" "$VESTIGE_BUILD"
expect_status 1
expect_no_out
expect_err "has no '@facts' of the technique mcfTR_e\$"
expect_err "has '@facts' of what is no technique: mcfTR_z\$"

# What encoders write on runs that have everything: several cores, time, signals, shared predictors and caches.
begin draws_what_encoders_write
"$VESTIGE" record -o "$T/a.vest" --cores 2 --timed -- "$(workload rv64 racy)" -n 40 -p 2 >"$out" 2>&1 || exit 2
"$VESTIGE" record -o "$T/b.vest" -- "$(workload rv64 signals)" -n 30 >"$out" 2>&1 || exit 2
run "$VESTIGE" bandwidth --json -t all -t mcfTR_b:predictors=shared -t mcfTR_e:predictors=shared \
    -t tTMBP:predictors=shared -t sTMBP:predictors=shared -t bTMBP:predictors=shared "$T/a.vest" "$T/b.vest"
expect_status 0
jq -r '.technique as $t | .fields | to_entries[] | select(.value > 0) | "\($t) \(.key)"' "$out" | sort -u >"$T/written"
run "$VESTIGE_SRC/tools/techniques-doc" --fields "$VESTIGE_BUILD"
expect_status 0
cut -d ' ' -f 1,2 "$out" | sort -u >"$T/drawn"
expect_equal "$(comm -23 "$T/written" "$T/drawn")" "" "written, not drawn"
expect_equal "$(sed -n 's/ always$//p' "$out" | sort -u | comm -23 - "$T/written")" "" "drawn, not written"
[ "$(wc -l <"$T/written")" -gt 100 ] || fail "few fields"

finish
