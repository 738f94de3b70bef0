#!/bin/bash
# SPDX-License-Identifier: MIT
# Proof of the proof: bits of streams are flipped, and verify must notice each that has an effect.
#
# In `make check`: a few bits of every technique in every configuration, on 4 cores with time, and of some on runs without
# time, with signals, and with more cores than a word has bits to spare; under the sanitizers some techniques.
# With VESTIGE_LONG=1 (make check-long) many bits of all of them, with 1 and 4 threads, timed and untimed, on programs with
# locks and atomics, signals and pipes; and the committed table is made again.
. "$(dirname "$0")/lib.sh"

export SOURCE_DATE_EPOCH=1000000000

# recorded NAME OPTION... -- PROGRAM...: $T/NAME.vest
recorded() {
    local name=$1
    shift
    "$VESTIGE" record -f -o "$T/$name.vest" "$@" >"$out" 2>&1 </dev/null # with the program's own status
    [ -e "$T/$name.vest" ] || exit 2
}

# flipped NAME FLIPS SPEC...: all that have an effect are noticed, of every technique. Leaves the JSON in $out.
flipped() {
    local name=$1 flips=$2 specs=() spec
    shift 2
    for spec; do specs+=(-t "$spec"); done
    run "$VESTIGE" verify --json "$T/$name.vest" "${specs[@]}" --mutate "$flips"
    expect_status 0
    expect_no_err
    expect_equal "$(jq -s 'map(select(.mutation | .missed != 0 or .share != 1 or .flips != .noticed + .unread + .recoded)) | length' "$out")" 0 \
        "techniques with bits that were missed"
    [ "$(jq -s 'map(.mutation.noticed) | add' "$out")" -gt 0 ] || fail "nothing was noticed"
    # nothing is without effect but bytes that come with others, and packed bytes
    expect_equal "$(jq -r '.mutation.fields[] | select(.unread > 0 and .field != "value" or .recoded > 0 and .field != "packed").field' "$out")" ""
}

few=16
[ -z "$brief" ] || few=3
some=(mcfTR_e HWLZ-256 BASE_gzip mlvNX_b mlvCF_e:CS32 mlvCF_e:shared mlvFA mc2RT mc2RT:implied mc2RT_k daFilter:adac daRaw_zstd)
recorded fft --cores 4 --timed -- "$(workload rv64 fft)" -p 4 -n 4
recorded signals -- "$(workload rv64 signals)" -n 4

begin notices_flips_in_all_techniques
if [ -z "$brief" ]; then flipped fft $few all; else flipped fft $few "${some[@]}"; fi

begin notices_flips_with_signals
flipped signals $few "${some[@]}"

# every bit; a fault within an instruction that had begun retires nothing where the core came back to
begin notices_every_flip_with_faults
recorded faults --control-only --from on_fault --length 600 -- "$VESTIGE_BUILD/test/programs/faults"
flipped faults 1000000 etrace:all $(more etrace:baseline etrace:tvec=1 ntrace:all ntrace:btm ntrace:best,all_jumps=on,extend_address=on \
    etm4 etm4:frames pt pt:deferred)

# locks, spinning cores and data-dependent branches
begin notices_flips_beyond_the_published
recorded racy --cores 4 --timed -- "$(workload rv64 racy)" -p 4 -n 60
flipped racy $few mcfTG:64K mcfTA mcfTA:8K,reset=16 mcfTA:8K,views=7,sets=16 mcfTA:predictors=shared mc2RT_k:1K mlvCF_e:4K

begin notices_flips_with_mappings
recorded maps --timed -- "$VESTIGE_BUILD/test/target/maps"
flipped maps $((few * 4)) mlvCF_e mlvFA mc2RT mc2RT:implied mc2RT_k

# one bit in seven of HWLZ's distances leads to the same symbols elsewhere
begin notices_every_distance
flipped fft $((few * 100)) HWLZ-256 HWLZ-1024

# the order of cores, whatever their number
begin notices_flips_of_many_cores
recorded many --cores 4 -- "$(workload rv64 racy)" -p 20 -n 2
flipped many 400 mc2RT mc2RT_k mlvCF_e:shared
[ "$(jq -s '[.[].mutation.fields[] | select(.field == "order").noticed] | add' "$out")" -gt 0 ] || fail "no bit of order was flipped"

# a value's other bytes, and cycles: what loads do not ask for
begin notices_bytes_and_cycles_that_no_load_asks_for
flipped fft $((few * 20)) mc2RT mlvNX_b daNX etrace_da
expect_equal "$(jq -s '[.[].mutation.fields[] | select(.field == "dCC")] | length' "$out")" 4 "techniques with cycles"
jq -es 'any(.[]; .technique == "mc2RT" and .mutation.unread > 0 and .mutation.unread < .mutation.flips / 2)' "$out" >/dev/null || fail "unread bytes"

begin flips_every_bit_of_a_small_stream
recorded tiny -- "$VESTIGE_BUILD/test/target/ends"
bits=$("$VESTIGE" bandwidth --json -t mcfTR_e "$T/tiny.vest" | jq .bits)
flipped tiny $((bits + 1)) mcfTR_e
expect_equal "$(jq .mutation.flips "$out")" "$bits"
expect_equal "$(jq '[.mutation.fields[].flips] | add' "$out")" "$bits"

# a bit of an index into the book of words tells bytes that are not its own, some of which nobody reads
begin flips_every_bit_of_coded_words
flipped tiny 1000000 mc2RT_k
jq -e '.mutation.unread > 0' "$out" >/dev/null || fail "no byte is unread"

# MTCs, and all that their time hangs on
begin notices_flips_of_a_clock
recorded clock --control-only --timed -- "$VESTIGE_BUILD/test/target/ends"
flipped clock $((few * 20)) pt:mtc=4,crystal=50 $(more pt:mtc=4,crystal=50,time=tsc)

begin flips_the_same_bits_for_a_seed
flipped fft 5 mc2RT
cp "$out" "$T/first"
run "$VESTIGE" verify --json "$T/fft.vest" -t mc2RT --mutate 5 --seed 1
cmp -s "$out" "$T/first" || fail "other bits with the same seed"
run "$VESTIGE" verify --json "$T/fft.vest" -t mc2RT --mutate 50 --seed 2
cp "$out" "$T/second"
run "$VESTIGE" verify --json "$T/fft.vest" -t mc2RT --mutate 50 --seed 3
cmp -s "$out" "$T/second" && fail "the same bits with another seed"

begin says_it_in_words
run "$VESTIGE" verify "$T/fft.vest" -t mcfTR_e --mutate 50
expect_status 0
expect_out ': mcfTR_e default: flipped 50 bits, noticed 50: Ti [0-9]+/[0-9]+, dCC '
expect_out '^flipped 50 bits: all 50 that have an effect were noticed$'
"$VESTIGE" encode "$T/fft.vest" -t mc2RT -o "$T/fft.vport" >"$out" || exit 2
run "$VESTIGE" verify "$T/fft.vest" --stream "$T/fft.vport" --mutate 40
expect_status 0
expect_out 'flipped 40 bits, noticed [0-9]+, without effect [0-9]+ \(in bytes that no core reads\): '
run "$VESTIGE" verify "$T/fft.vest" --mutate 0
expect_status 2
expect_one_line_err

if [ -n "$long" ] && [ -z "$sanitized" ]; then
    for p in 1 4; do
        for time in '' --timed; do
            for program in "fft -n 6" "racy -n 20" "radiosity -n 1" "pipeline -n 1"; do
                begin "notices_flips_in_all_of_${program%% *}_$p$time"
                # shellcheck disable=SC2086
                recorded run --cores $p $time -- "$(workload rv64 "${program%% *}")" ${program#* } -p $p
                flipped run 400 all mcfTR_e:predictors=shared mlvCF_e:CS32,granule=32
            done
        done
    done
    begin notices_flips_in_all_of_signals
    recorded run --timed -- "$(workload rv64 signals)" -n 20
    flipped run 400 all

    begin makes_the_committed_table
    run "$VESTIGE_SRC/tools/results" -b "$VESTIGE_BUILD" mutation
    expect_status 0
    table=$VESTIGE_SRC/bench/results/mutation.csv
    if [ "$(head -n 1 "$out")" != "$(head -n 1 "$table")" ]; then
        skip "the table is of programs by another compiler than here"
    else
        cmp -s "$out" "$table" || fail "bench/results/mutation.csv is another; make results"
    fi
fi

finish
