#!/bin/bash
# SPDX-License-Identifier: MIT
# Parts of a run: what is chosen when a run of inputs is read is what recording with the same options gives, event by
# event, with all registers in gaps. Samples of a run, and what they say about all of it. With VESTIGE_LONG=1 more places.
. "$(dirname "$0")/lib.sh"

P=$VESTIGE_SRC/tests/programs
cc=$(sed -n 's/^CC=//p' "$VESTIGE_BUILD/config")
cd "$T" || exit 2

# It does the same every time, to the last instruction.
# shellcheck disable=SC2086 # a compiler may have options
$cc -O1 -g -D_GNU_SOURCE -static -nostdlib -fno-stack-protector -fno-builtin -fno-tree-loop-distribute-patterns \
    -o steps "$P/real_steps.c" || exit 2

# record FILE WORDS...: with an environment that is always the same.
record() {
    env -i PATH="$PATH" "$VESTIGE" record -q -f -o "$@" >/dev/null 2>"$err"
}

# events RUN: all about them but for the system's number of a thread, and the runs' numbers of blocks.
events() {
    "$VESTIGE" dump --json "$1" | sed 's/\("kind":"thread-start".*"id":\)[0-9]*/\1N/'
}

# same WORDS...: reads a part of light.vest, and records it.
same() {
    record full.vest --all "$@" ./steps
    run "$VESTIGE" expand -f "$@" light.vest -o part.vest
    expect_status 0
    expect_no_err
    cmp -s <(events full.vest) <(events part.vest) ||
        fail "$*: $(diff <(events full.vest) <(events part.vest) | head -3)"
    [ "$(events part.vest | wc -l)" -gt 10 ] || fail "$*: nothing"
}

record light.vest --inputs ./steps
record whole.vest --all ./steps
# call and repeat: the instructions that are the first system call, and the first that repeats itself.
call=$("$VESTIGE" dump --json --kind syscall whole.vest | jq -s '.[0].at')
repeat=$("$VESTIGE" dump --json whole.vest | jq -s 'map(select(.repeat)) | .[0].at')

begin reads_windows
for skip in 1 $((call - 1)) "$repeat" $(more 0 5000 $((call - 2)) "$call" $((call + 1)) $((repeat - 1)) 126527); do
    same --skip "$skip" --length 1
    same --skip "$skip" --length 1000
done
same --skip 90003
printf '0 5\n5 2 # no gap is between\n%d 2\n%d 1\n%d 700\n' $((call - 1)) $((call + 2)) $((repeat + 50000)) >w
same --windows w

begin reads_routines
same --routine sum
same --routine sort --routine shuffle
same --routine sum --length 300
same --skip 50000 --routine sum
same --windows w --routine sort
same --no-shared-libs

begin reads_between_places
same --from sort --to sum
same --to sort
same --from sort --length 1000
same --from 0x401006

begin notes_what_was_read
"$VESTIGE" expand -f --from sort --to sum light.vest -o part.vest >/dev/null
expect_equal "$("$VESTIGE" info --no-scan --json part.vest | jq -rc '[.meta.config, .features]')" \
    '["--all --from sort --to sum",["loads","stores"]]'

# Real programs: what is left is consistent, and can be verified.
begin reads_parts_of_programs
"$VESTIGE" record -q -f --inputs -o fft.vest -- "$(workload host fft)" -p 4 -n 8 >/dev/null || fail 'not recorded'
for words in '--routine main' '--skip 200000 --length 50000' '--no-shared-libs' '--from main --length 20000'; do
    # shellcheck disable=SC2086 # words
    run "$VESTIGE" expand -f $words fft.vest -o part.vest
    expect_status 0
    run "$VESTIGE" check -q --flow part.vest
    expect_status 0
    run "$VESTIGE" verify -q -t mcfTR_e -t mlvCF_e part.vest
    expect_status 0
    # shellcheck disable=SC2086
    cmp -s <("$VESTIGE" bandwidth --csv -t mcfTR_e -t mc2RT part.vest | cut -d , -f 2-) \
        <("$VESTIGE" bandwidth --csv -t mcfTR_e -t mc2RT $words fft.vest | cut -d , -f 2-) || fail "$words: other bits"
    # shellcheck disable=SC2086
    "$VESTIGE" encode -f -t mcfTR_e $words -o chosen.vport fft.vest >chosen || fail "$words: not encoded"
    "$VESTIGE" encode -f -t mcfTR_e -o part.vport part.vest >written || fail 'not encoded'
    expect_equal "$(sed 's/^[^:]*//' chosen)" "$(sed 's/^[^:]*//' written)" "$words"
    # shellcheck disable=SC2086
    run "$VESTIGE" verify -t mcfTR_e -t mlvCF_e -t ADAC $words fft.vest
    expect_status 0
    cmp -s <("$VESTIGE" verify -t mcfTR_e -t mlvCF_e -t ADAC part.vest | sed 's/^part/fft/') "$out" ||
        fail "$words: something else was compared"
    # shellcheck disable=SC2086
    cmp -s <("$VESTIGE" dump --full part.vest) <("$VESTIGE" dump --full ${words/--from /--from-place } fft.vest) ||
        fail "$words: other events"
    # shellcheck disable=SC2086
    expect_equal "$("$VESTIGE" info --json $words fft.vest | jq -c '[.instructions, .events, .counts.branches]')" \
        "$("$VESTIGE" info --json part.vest | jq -c '[.instructions, .events, .counts.branches]')" "$words"
done

# A stream of a part is compared with that part, and with no other; flips are noticed by several threads, each of which
# reads the part.
begin verifies_streams_of_parts
"$VESTIGE" encode -f -t mcfTR_e --skip 5000 --length 30000 -o part.vport fft.vest >/dev/null || fail 'not encoded'
run "$VESTIGE" verify --stream part.vport --skip 5000 --length 30000 --mutate 20 fft.vest
expect_status 0
expect_out '^flipped 20 bits: all 20 that have an effect were noticed$'
run "$VESTIGE" verify --stream part.vport --skip 5001 --length 30000 fft.vest
expect_status 1
expect_one_line_err

# What filters see is the part: its events and instructions count from 0.
begin dumps_within_parts
"$VESTIGE" expand -f --skip 5000 --length 30000 fft.vest -o part.vest >/dev/null || fail 'not expanded'
for words in '--from 500 --to 600' '--thread 0 --from-insn 3000 -n 50' '--json --kind store,gap -n 100'; do
    # shellcheck disable=SC2086
    cmp -s <("$VESTIGE" dump $words part.vest) <("$VESTIGE" dump --skip 5000 --length 30000 $words fft.vest) ||
        fail "$words: other events"
done
[ "$("$VESTIGE" dump --from-place main -n 5 --kind load fft.vest | wc -l)" = 5 ] || fail 'no loads'

# Far windows are reached by way of snapshots, which names and files exclude: all code is in the program's file, so that
# choosing it gives the same without them.
begin goes_ahead_to_windows
# shellcheck disable=SC2086
$cc -O1 -g -D_GNU_SOURCE -static -pthread -o far "$P/real_far.c" || exit 2
ahead() {
    "$VESTIGE" expand -f --no-shared-libs "$@" far.vest -o long.vest >/dev/null || fail "$*: status $?"
    for how in kept anew; do
        [ $how = kept ] || rm -f far.vest.cache
        run "$VESTIGE" expand -f "$@" far.vest -o part.vest
        expect_status 0
        expect_no_err
        expect_file far.vest.cache
        cmp -s <("$VESTIGE" dump --json long.vest) <("$VESTIGE" dump --json part.vest) ||
            fail "$*: $(diff <("$VESTIGE" dump --json long.vest) <("$VESTIGE" dump --json part.vest) | head -3)"
    done
    [ "$("$VESTIGE" dump --json --kind branch part.vest | wc -l)" -ge 20 ] || fail "$*: nothing"
}
if [ -z "$brief" ]; then
    "$VESTIGE" record -q -f --inputs -o far.vest ./far >/dev/null || fail 'not recorded'
    for skip in 67108864 115000000 ${long:+70000000 90000003 120000000}; do
        ahead --skip "$skip" --length 1000
    done
    # After each window there is some way to the next, of which threads end on some.
    for step in 19000013 ${long:+3000017 5000011 7000003 11000000}; do
        seq "$step" "$step" 122000000 | sed 's/$/ 900/' >w
        ahead --windows w
    done
fi

begin refuses_what_it_cannot_read
refused() {
    run "$VESTIGE" "${@:2}"
    expect_status 2
    expect_one_line_err
    expect_err "$1"
}
refuse() {
    refused "$1" expand -f "${@:2}" -o part.vest
}
for option in --salvage --inputs --blocks --images; do
    refused "^vestige dump: $option excludes options that choose" dump --skip 5 $option light.vest
done
refused '--skip excludes --from-place and --to-place' dump --skip 5 --from-place sort light.vest
refused 'record it with --inputs' dump --skip 5 whole.vest
refused '--windows excludes --from and --to' verify --windows w --to sort light.vest
refused "no routine 'nosuch'" verify --routine nosuch light.vest
refused 'record it with --inputs' verify --skip 5 whole.vest
refuse 'record it with --inputs' --skip 5 whole.vest
refuse "no routine 'nosuch'" --routine nosuch light.vest
refuse 'takes a name' --routine 0x401000 light.vest
refuse 'not an address' --from 0xyz light.vest
refuse 'excludes' --skip 3 --from sort light.vest
refuse 'excludes' --windows w --length 3 light.vest
echo 5 >bad
refuse 'line 1: not two numbers' --windows bad light.vest

# ---- samples ----

begin samples_everything
sample() {
    "$VESTIGE" bandwidth --json -t mcfTR_e -t mlvCF_e -t daFilter:adac "$@" >said || fail "$*: status $?"
}
for run in light whole; do
    sample $run.vest
    cp said all
    sample --sample 1000:1000 $run.vest
    # One window follows the other, so that nothing is missing but the end.
    expect_equal "$(jq -s 'map(.sample.windows) | unique' -c said)" '[126]'
done

begin samples_both_kinds_of_runs
for run in light whole; do
    sample --sample 5000:500 --warm 1000 --seed 7 $run.vest
    paste <(jq .bpi all) <(jq -r '"\(.bpi) \(.sample.bpi_error)"' said) |
        awk '{ if ($2 <= 0 || $3 <= 0 || $2 > 3 * $1 + 0.2) bad = 1 } END { exit bad }' ||
        fail "$run: $(paste <(jq .bpi all) <(jq -r .bpi said))"
    cp said $run.said
    sample --sample 5000:500 --warm 1000 --seed 7 $run.vest
    cmp -s said $run.said || fail 'not the same again'
    sample --sample 5000:500 --warm 1000 --seed 8 $run.vest
    cmp -s said $run.said && fail 'the seed does nothing'
done

begin refuses_bad_samples
for words in 'PERIOD:LENGTH --sample 5' 'PERIOD:LENGTH --sample 5:6' 'PERIOD:LENGTH --sample 5:0' \
    'only [0-9]+ instructions --sample 1G:1M' 'excludes --sample 9:5 --window 5' 'excludes --sample 9:5 --skip 5' \
    'are for --warm 5' 'are for --seed 5'; do
    # shellcheck disable=SC2086
    run "$VESTIGE" bandwidth ${words#*"${words%% --*}"} light.vest
    expect_status 2
    expect_one_line_err
    expect_err "${words%% --*}"
done

finish
