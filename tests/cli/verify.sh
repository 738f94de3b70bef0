#!/bin/bash
# SPDX-License-Identifier: MIT
# Every technique proved on runs of the simulator and of Valgrind.
. "$(dirname "$0")/lib.sh"

export SOURCE_DATE_EPOCH=1000000000
"$VESTIGE" record -o "$T/a.vest" --cores 2 -- "$(workload rv64 racy)" -n 200 -p 2 >"$out" 2>&1 || exit 2
"$VESTIGE" record -o "$T/t.vest" --cores 2 --timed -- "$(workload rv64 racy)" -n 200 -p 2 >"$out" 2>&1 || exit 2
"$VESTIGE" record -o "$T/s.vest" -- "$(workload rv64 signals)" -n 30 >"$out" 2>&1 || exit 2
"$VESTIGE" record -o "$T/n.vest" --control-only -- "$(workload host racy)" -n 100 -p 2 >"$out" 2>&1 || exit 2

begin proves_all_techniques
run "$VESTIGE" verify "$T/a.vest" "$T/t.vest" "$T/s.vest" "$T/n.vest" -t all
expect_status 0
expect_no_err
last=$(tail -1 "$out")
sum=$(sed -n 's/^.*: compared \([0-9,]*\) events (.*: all equal$/\1/p' "$out" | tr -d , | awk "{ n += \$1 } END { printf \"%d\", n }")
expect_equal "$last" "compared $(grouped "$sum") events: all equal"
[ "$sum" -gt 100000 ] || fail "little was compared"
rows=$("$VESTIGE" bandwidth "$T/a.vest" -t all --csv | wc -l)
flow=$("$VESTIGE" bandwidth "$T/a.vest" -t control-flow --csv | wc -l) # what the last run has
expect_equal "$(grep -c ': all equal$' "$out")" $(((rows - 1) * 3 + flow - 1 + 1)) "lines"

begin proves_shared_predictors
run "$VESTIGE" verify -q "$T/a.vest" "$T/t.vest" -t mcfTR_e:predictors=shared -t tTMBP:predictors=shared
expect_status 0
expect_equal "$(wc -l <"$out")" 1
expect_out '^compared [1-9][0-9,]* events: all equal$'

# Masked moves and gathers with any mask, strings of no length, saved state: what is accessed is not what the operand says.
begin proves_accesses_to_a_part_of_an_operand
partial=$VESTIGE_BUILD/test/programs/partial
run "$VESTIGE" record -o "$T/p.vest" -- "$partial"
expect_status 0
expect_equal "$(cat "$out")" "$("$partial")"
run "$VESTIGE" check --memory --flow "$T/p.vest"
expect_status 0
run "$VESTIGE" verify "$T/p.vest" $(more -t all) ${brief:+-t mcfTR_e -t mlvCF_e -t mc2RT -t daFilter}
expect_status 0
expect_no_err
expect_out ': daFilter default: compared [1-9][0-9,]* events .*: all equal$'

begin compares_as_json
run "$VESTIGE" verify "$T/a.vest" -t mcfNX_b --json
expect_status 0
expect_equal "$(jq -c '[.technique, .outcome, .instructions]' "$out")" \
    "[\"mcfNX_b\",\"same\",$("$VESTIGE" info --no-scan --json "$T/a.vest" | jq .instructions)]"

begin names_and_skips_what_no_decoder_reads
run "$VESTIGE" verify "$T/a.vest" -t mcfTR_e:ibtb_tags=untagged-oracle -t mlvNX_b:prefetch=reported -t mcfNX_b
expect_status 0
expect_out ': mcfTR_e ibtb_tags=untagged-oracle: not decodable, skipped: .+'
expect_out ': mlvNX_b prefetch=reported: not decodable, skipped: .+'
expect_out '^compared [1-9][0-9,]* events: all equal$'
run "$VESTIGE" verify "$T/a.vest" -t mcfTR_e:ibtb_tags=untagged-oracle
expect_status 2
expect_one_line_err
expect_err 'nothing was compared'

begin proves_that_direct_branches_were_learnt
run "$VESTIGE" verify "$T/a.vest" -t mcfTR_e:direct=learned -t mcfTR_b:direct=reported,bcnt_bits=5,icnt_bits=6,pir=all
expect_status 0
expect_no_err
expect_equal "$(grep -c ': all equal$' "$out")" 3
bits() {
    "$VESTIGE" bandwidth "$T/a.vest" -t "$1" --json | jq .bits
}
[ "$(bits mcfTR_e)" != "$(bits mcfTR_e:direct=learned)" ] || fail "nothing was learnt"
[ "$(bits mcfTR_e:direct=learned)" -lt "$(bits mcfTR_e:direct=reported)" ] || fail "nothing was reported"
run "$VESTIGE" verify "$T/a.vest" -t mcfTR_e:direct=learned,predictors=shared
expect_status 2
expect_one_line_err
expect_err 'direct=learned needs predictors=private'

begin says_that_there_is_nothing_to_compare
cat >"$T/quiet.s" <<'END'
        .globl _start
_start: li a0, 0
        li a7, 93
        ecall
END
riscv64-linux-gnu-gcc -nostdlib -static -o "$T/quiet" "$T/quiet.s" || fail "no assembler"
"$VESTIGE" record -o "$T/quiet.vest" -- "$T/quiet" >"$out" 2>&1 || fail "not recorded"
run "$VESTIGE" verify "$T/quiet.vest" -t mcfTR_e -t mlvNX_b -t mc2RT -t daNX
expect_status 0
expect_no_err
expect_out 'quiet.vest: mc2RT default: nothing to compare: the run has no load and no value from outside$'
expect_out 'quiet.vest: daNX default: nothing to compare: the run has no load and no store$'
expect_out '^compared 2 events: all equal$'
for technique in mlvCF_e mc2RT daNX; do
    run "$VESTIGE" verify "$T/quiet.vest" -t $technique
    expect_status 2
    expect_one_line_err
    expect_err '^vestige verify: nothing was compared: '
    "$VESTIGE" encode -f "$T/quiet.vest" -t $technique -o "$T/quiet.vport" >"$out" || fail "not encoded"
    run "$VESTIGE" verify "$T/quiet.vest" --stream "$T/quiet.vport"
    expect_status 2
    expect_one_line_err
    expect_err '^vestige verify: nothing was compared: '
done
run "$VESTIGE" verify "$T/quiet.vest" -t mc2RT --json
expect_equal "$(jq -r .skipped "$out")" 'nothing to compare: the run has no load and no value from outside'

begin finds_the_first_difference
# the stream of another run of the same program
"$VESTIGE" encode "$T/a.vest" -t mcfNX_b -o "$T/a.vport" >"$out" || exit 2
"$VESTIGE" record -o "$T/b.vest" --cores 2 -- "$(workload rv64 racy)" -n 201 -p 2 >"$out" 2>&1 || exit 2
run "$VESTIGE" verify "$T/a.vest" --stream "$T/a.vport"
expect_status 0
expect_out '^compared [1-9][0-9,]* events: all equal$'
run "$VESTIGE" verify "$T/b.vest" --stream "$T/a.vport"
expect_status 1
expect_one_line_err
expect_err ': mcfNX_b .*: differs: core [0-9]+, step [0-9]+: .*expected pc 0x[0-9a-f]+ to 0x[0-9a-f]+ after [0-9]+, found 0x'
grep -q 'all equal' "$out" && fail "it says that all are equal"
run "$VESTIGE" verify "$T/t.vest" --stream "$T/a.vport"
expect_status 1
expect_one_line_err

begin compares_a_stream_that_is_cut
head -c $(($(stat -c %s "$T/a.vport") / 2)) "$T/a.vport" >"$T/cut.vport"
run "$VESTIGE" verify "$T/a.vest" --stream "$T/cut.vport"
expect_status 1
expect_one_line_err
expect_err 'bit [0-9]+'

begin verifies_those_of_bandwidth_without_an_option
run "$VESTIGE" verify "$T/a.vest"
expect_status 0
expect_equal "$(grep -c ': compared [1-9]' "$out")" 12 "techniques"

begin refuses_bad_usage
run "$VESTIGE" verify "$T/a.vest" -t nonesuch
expect_status 2
expect_one_line_err
run "$VESTIGE" verify "$T/none.vest" -t all
expect_status 2
expect_one_line_err
run "$VESTIGE" verify "$T/a.vport" -t all
expect_status 1
expect_one_line_err
"$VESTIGE_GEN" -o "$T/g.vest" --seed 1 --events 100 >"$out" || exit 2
handmade=$("$VESTIGE" info --no-scan --json "$T/g.vest" | jq -r '.meta.isa // "none"')
if [ "$handmade" = none ]; then
    run "$VESTIGE" verify "$T/g.vest" -t all
    expect_status 2
    expect_one_line_err
    expect_err 'nothing to compare'
fi

begin tells_what_a_file_that_was_cut_before_its_facts_lacks
"$VESTIGE_GEN" -o "$T/facts.vest" --seed 1 --threads 2 --events 500 >"$out" || exit 2
for size in 32 40 60 100; do
    head -c $size "$T/facts.vest" >"$T/cut.vest"
    run "$VESTIGE" verify "$T/cut.vest"
    expect_status 1
    expect_one_line_err
    expect_err 'cut.vest: incomplete: chunk 0 at offset 32: '
done

finish
