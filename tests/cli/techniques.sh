#!/bin/bash
# SPDX-License-Identifier: MIT
# The list of trace modules. Nothing here knows which there are.
. "$(dirname "$0")/lib.sh"

begin lists_all_of_them
run "$VESTIGE" techniques --json
expect_status 0
expect_no_err
[ "$(jq length "$out")" -ge 6 ] || fail "fewer than six"
expect_equal "$(jq -c '[.[] | select((.name | length > 0) and (.summary | length > 0) and (.parameters | length > 0)
    and (.gates > 0 or (.name | startswith("daRaw_"))))] | length' "$out")" "$(jq length "$out")"
expect_equal "$(jq -r '.[].name' "$out" | sort | uniq -d)" ""
names=$(jq -r '.[].name' "$out")
run "$VESTIGE" techniques
expect_status 0
for name in $names; do
    expect_out "^$name "
done

begin shows_each_of_them
for name in $names; do
    run "$VESTIGE" techniques "$name"
    expect_status 0
    expect_out "^$name: "
    expect_out '^decodable: (yes|no: .+)$'
    run "$VESTIGE" techniques "$name" --json
    # its structures sum up; every configuration is one that it takes
    read -r said sum bits configs < <(jq -r '"\(.name) \([.structures[].storage_bits] | add // 0) \(.storage_bits) " +
        (.configurations | keys | join(" "))' "$out")
    expect_equal "$said" "$name"
    expect_equal "$sum" "$bits" "$name"
    for config in $configs; do
        run "$VESTIGE" techniques "$name:$config"
        expect_status 0
    done
done

begin finds_aliases_and_parameters
run "$VESTIGE" techniques mcfTRaptor:small,gshare=2K --cores 4 --json
expect_status 0
expect_equal "$(jq -r '.name, (.parameters[] | select(.name == "gshare").default), .cores' "$out" | paste -sd' ')" \
    'mcfTR_e 2048 4'
expect_equal "$(jq '.structures[] | select(.name == "gshare").copies' "$out")" 4

begin relates_structures_to_the_cache
run "$VESTIGE" techniques mlvCF_e:CS16,caches=private --cores 2
expect_status 0
expect_out ' gates of the cache$'
expect_out '^  first-access flags +2 +8,192 +12,288 +3\.125 %$'
expect_out '^  total +8,320 +12,608 +3\.174 %$'
run "$VESTIGE" techniques mlvCF_e:CS16,caches=private --cores 2 --json
expect_equal "$(jq -c '[.cache_fraction, .structures[0].cache_fraction]' "$out")" '[0.031738,0.03125]'
for name in mcfTR_e mlvNX_b ADAC; do
    run "$VESTIGE" techniques "$name" --json
    expect_equal "$(jq -c '[.cache_fraction, .structures[].cache_fraction] | unique' "$out")" '[null]' "$name"
    run "$VESTIGE" techniques "$name"
    expect_out ' gates$'
done

begin shows_what_was_measured
rows=0
while IFS=, read -r technique config cores timed options module _ logic flops gates bits _ levels; do
    [ "$module" = all ] || continue
    run "$VESTIGE" techniques "$technique:${config// /,}" --cores "$cores" --json
    expect_status 0
    expect_equal "$(jq -c --arg options "$options" --argjson timed "$([ "$timed" = timed ] && echo true || echo false)" \
        '.measured[] | select(.options == $options and .timed == $timed) |
            [.logic, .flip_flops, .gates, .memory_bits, .levels]' "$out")" "[$logic,$flops,$gates,$bits,$levels]" \
        "$technique:$config $cores $timed $options"
    rows=$((rows + 1))
done < <(tail -n +3 "$VESTIGE_SRC/bench/results/rtl-gates.csv")
[ $rows -gt 10 ] || fail "few rows"
# a technique by its defaults has what its configuration has, and with other parameters nothing
for spec in mcfTR_e:large mcfTR_e; do
    run "$VESTIGE" techniques "$spec"
    expect_status 0
    grep -A9 '^measured by synthesis' "$out" >"$T/${spec//:/-}"
done
cmp -s "$T/mcfTR_e-large" "$T/mcfTR_e" || fail "not the same"
gates=$("$VESTIGE" techniques mcfTR_e --json | jq '[.measured[] | select(.timed | not)][0].gates' |
    sed 's/\(...\)$/,\1/')
run "$VESTIGE" techniques
expect_out "^mcfTR_e +control flow +[0-9,]+ +[0-9,]+ +$gates +yes "
for spec in mcfTR_e:gshare=2K mcfTR_e:small,predictors=shared mcfTR_e:small,icnt=5 mcfNX_b; do
    run "$VESTIGE" techniques "$spec"
    expect_status 0
    expect_no_line '^measured '
    expect_equal "$("$VESTIGE" techniques "$spec" --json | jq -c .measured)" '[]' "$spec"
done

begin says_why_a_stream_cannot_be_decoded
run "$VESTIGE" techniques mcfTR_e:ibtb_tags=untagged-oracle
expect_status 0
expect_out '^decodable: no: '

begin refuses_what_there_is_not
run "$VESTIGE" techniques mcfTR_f
expect_status 2
expect_one_line_err
expect_err "no technique 'mcfTR_f'; did you mean 'mcfTR_[be]'\?"
run "$VESTIGE" techniques mcfTR_e:gshare=100
expect_status 2
expect_one_line_err
run "$VESTIGE" techniques mcfTR_e:tiny
expect_status 2
expect_err "no configuration 'tiny'; there are: small, medium, large"
run "$VESTIGE" techniques mcfTR_e extra
expect_status 2

finish
