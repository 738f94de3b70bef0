#!/bin/bash
# SPDX-License-Identifier: MIT
# The trace modules in rtl/ send the bits of `vestige encode`: of recorded runs and of random steps, with room for all of them
# and without; so does its netlist after synthesis; and mistakes in it are found. In `make check`: some configurations on a
# sample of runs, a million random steps, and three of the mistakes. In check-long: all workloads with 1 and 4 cores, timed and
# untimed, in all configurations of the techniques, random steps by the million, and all mistakes.
. "$(dirname "$0")/lib.sh"

[ -z "$sanitized" ] || skip_all "the RTL is the same for every build"
begin has_what_simulates
has_program verilator && has_program yosys || finish

rtl=$VESTIGE_SRC/rtl
flags=(-Wall -Wno-DECLFILENAME --top-module)
etrace=etrace:sijump=off,ecall=plain # options that the encoder in hardware does not have
tiny=mcfTG:base=2,tables=4,entries=2,tag=4,history_min=1,history_max=70,loops=2,ittage=2,ittage_tables=3,ittage_tag=4,ras=5
tiny+=,target_bits=10,bcnt_bits=5,icnt_bits=6

begin has_no_warnings
for more in "" "-GCORES=4 -GTIME=32" "-GCORES=2 -GIBTB=0 -GGSHARE=512 -GRAS=8 -GWORD=8" \
    "-GCHUNKS=1 -GTIME=40 -GTA_FIRST=32 -GTA_NEXT=32 -GBCNT_FIRST=8 -GBCNT_NEXT=8 -GWORD=32 -GPIR_ALL=1" \
    "-GTAGGED=1" "-GTAGGED=1 -GCORES=2 -GTABLES=2 -GLENGTHS=32'h00500001 -GENTRIES=2 -GLOOPS=2 -GTARGET_BITS=64"; do
    # shellcheck disable=SC2086 # words
    run verilator --lint-only "${flags[@]}" vs_mcftr $more "$rtl"/*.sv
    expect_status 0
    expect_no_err
done
for top in vs_etrace vs_adac vs_ingress "vs_cache -GPOLICY=1" vs_mlvcf "vs_mlvcf -GCORES=4 -GTIME=32 -GGRANULE=32" \
    "vs_mlvcf -GGRANULE=1 -GWAYS=2 -GICNT=8 -GHITS=4 -GFAH_FIRST=8 -GFAH_NEXT=8"; do
    # shellcheck disable=SC2086 # words
    run verilator --lint-only "${flags[@]}" $top "$rtl"/*.sv
    expect_status 0
    expect_no_err
done

# Yosys 0.23 takes ~N'(x) for N'(x)
begin has_what_yosys_reads
run grep -nE "~[A-Za-z_0-9]+'\(" "$rtl"/*.sv
expect_status 1

# what docs/hardware.md shows is what the tables have
begin shows_what_was_measured
for table in gates modules tagged values saved bursts; do
    run "$VESTIGE_SRC/tools/rtl-table" "$table"
    expect_status 0
    [ "$(wc -l <"$out")" -gt 5 ] || fail "few rows"
    sed "1,/^<!-- $table -->\$/d; /^<!-- end -->\$/,\$d" "$VESTIGE_SRC/docs/hardware.md" | cmp -s - "$out" ||
        fail "docs/hardware.md has another table of $table"
done

# built [-n | -i] SPEC CORES timed|untimed [NAME=VALUE...]: sets $bench and $spec; -n: of the netlist; -i: with vs_ingress.
built() {
    local netlist=()
    case $1 in -n | -i) netlist=("$1") && shift ;; esac
    [ "$1" != -r ] || { netlist+=(-r "$2") && shift 2; }
    spec=$1
    bench=$("$VESTIGE_SRC/tools/rtl-bench" "${netlist[@]}" "$VESTIGE_BUILD" "$@" 2>"$err") || fail "not built"
}

# same ARGUMENT...: what the bench compares is equal.
same() {
    run "$bench" --spec "$spec" "$@"
    expect_status 0
    expect_no_err
    expect_out ': equal: [1-9][0-9]* bits, '
    expect_no_line ': equal: .* (0|1) messages'
    cat "$out"
}

# the queue, the packer, and what halves TAGE's useful bits are small enough to be proved
begin proves_small_parts
run "$VESTIGE_SRC/tools/rtl-formal"
expect_status 0
expect_out '^fifo_formal: holds'
expect_out '^packer_formal: holds'
expect_out '^tage_formal: holds'
cp -r "$rtl" "$T/rtl"
sed -i "s/TAIL'(WORD) : TAIL'(fill)/TAIL'(WORD) : TAIL'(WORD)/" "$T/rtl/packer.sv"
sed -i "s/assign rests .*/assign rests = 1'b0;/" "$T/rtl/tage_halving.sv"
run "$VESTIGE_SRC/tools/rtl-formal" "$T/rtl"
expect_status 1
expect_out '^fifo_formal: holds'
expect_out '^packer_formal: does not hold'
expect_out '^tage_formal: does not hold'

# recorded NAME CORES OPTION... -- PROGRAM...: $T/NAME.vest
recorded() {
    local name=$1 cores=$2
    shift 2
    "$VESTIGE" record -f -o "$T/$name.vest" --cores "$cores" "$@" >/dev/null 2>"$err" </dev/null || fail "not recorded"
}

# mistaken_ingress RUN CHANGE...: each of these mistakes in the adapter is found.
mistaken_ingress() {
    local timed=$1 change
    shift
    for change in "$@"; do
        cp -r "$rtl" "$T/wrong"
        sed -i "$change" "$T/wrong/ingress.sv"
        cmp -s "$rtl/ingress.sv" "$T/wrong/ingress.sv" && fail "changes nothing: $change"
        built -i -r "$T/wrong" mcfTR_e:small 1 timed
        run "$bench" --spec "$spec" "$timed"
        expect_status 1
        expect_out ': bit [0-9]+ is . and should be '
        rm -rf "$T/wrong" "${bench%/*}"
    done
}

if [ -z "$long" ]; then
    begin encodes_one_core
    built mcfTR_e 1 untimed BLOCK=8
    for name in sort signals interp; do
        recorded "$name" 1 -- "$(workload rv64 "$name")" -n "$(awk -v w="$name" '$1 == w { print $4 }' "$VESTIGE_SRC/workloads/catalog")"
        same "$T/$name.vest"
    done
    same --random 400000
    # the model is what the command runs
    "$VESTIGE" encode -f -t mcfTR_e -o "$T/sort.vport" "$T/sort.vest" >"$T/told" || fail "not encoded"
    run "$bench" --spec mcfTR_e "$T/sort.vest"
    expect_out "equal: $(grep -oE '[0-9,]+ bits' "$T/told" | tr -d ,), "

    begin encodes_with_tagged_predictors
    built mcfTG 1 untimed BLOCK=8
    same "$T/sort.vest" "$T/signals.vest" "$T/interp.vest"
    same --random 400000
    "$VESTIGE" encode -f -t mcfTG -o "$T/sort.vport" "$T/sort.vest" >"$T/told" || fail "not encoded"
    run "$bench" --spec mcfTG "$T/sort.vest"
    expect_out "equal: $(grep -oE '[0-9,]+ bits' "$T/told" | tr -d ,), "
    # small tables of every kind, whose useful bits are halved often
    built "$tiny" 4 timed BLOCK=4 WORD=8
    same --random 200000 --seed 2
    same --random 200000 --seed 3 --lossy
    expect_out ', [1-9][0-9]* steps lost in [1-9][0-9]* gaps'

    begin makes_steps_of_blocks
    built -i mcfTR_e:small 1 untimed
    run "$bench" --spec "$spec" "$T/sort.vest" "$T/signals.vest" "$T/interp.vest"
    expect_status 0
    expect_no_err
    [ "$(grep -cE ': equal: [0-9]{6,} bits, [0-9]{4,} messages, [0-9]{6,} blocks' "$out")" = 3 ] || fail "not three runs"
    # traps, returns from them, branches either way, calls and jumps; also right after a branch
    expect_out 'signals.* [1-9][0-9]* of them empty, types e73f$'
    recorded timed 1 --timed -- "$(workload rv64 signals)" -n 30
    built -i mcfTR_e 1 timed
    run "$bench" --spec "$spec" "$T/timed.vest"
    expect_status 0
    expect_out ', timed: equal: [1-9]'
    mistaken_ingress "$T/timed.vest" "s/ilastsize ? ADDRESS'(4)/ilastsize ? ADDRESS'(2)/"

    begin encodes_etrace
    built "$etrace" 1 untimed
    same "$T/sort.vest" "$T/signals.vest"

    begin encodes_adac
    built ADAC 1 untimed
    same "$T/interp.vest"
    same --random 200000

    begin encodes_first_accesses
    built mlvCF_e 1 untimed BLOCK=8
    same "$T/sort.vest" "$T/signals.vest"
    same --random 100000
    "$VESTIGE" encode -f -t mlvCF_e -o "$T/sort.vport" "$T/sort.vest" >"$T/told" || fail "not encoded"
    run "$bench" --spec mlvCF_e "$T/sort.vest"
    expect_out "equal: $(grep -oE '[0-9,]+ bits' "$T/told" | tr -d ,), "

    begin encodes_four_cores
    built mcfTR_e:small 4 timed BLOCK=8 WORD=8
    recorded ocean 4 --timed -- "$(workload rv64 ocean)" -n 4 -p 4
    same "$T/ocean.vest"
    same --random 200000 --seed 2
    built mcfTR_b:medium 4 untimed
    same "$T/ocean.vest"
    built mlvCF_e:CS16,fahcnt_bits=4,icnt_bits=9 4 timed BLOCK=8 WORD=32 RECORDS=2
    same "$T/ocean.vest"
    same --random 100000 --seed 2

    begin encodes_in_other_configurations
    built mcfTR_e:bcnt_bits=4,icnt_bits=5,hash=folded,pir=all,pir_bits=13,pir_pc_bits=8,ras=5,gshare=16,ibtb=4 1 timed \
        BLOCK=3 WORD=32 WORDS=2 RECORDS=3
    same --random 200000 --seed 3

    begin tells_what_it_loses
    for seed in 4 5 6; do
        same --random 200000 --seed "$seed" --lossy
        expect_out ', [1-9][0-9]* steps lost in [1-9][0-9]* gaps'
    done
    built mcfTR_e:small 4 timed BLOCK=8 WORD=8
    same --random 200000 --seed 7 --lossy
    expect_out ', [1-9][0-9]* steps lost in [1-9][0-9]* gaps'

    begin encodes_as_a_netlist
    built -n mcfTR_e:small 1 untimed
    same --random 20000 --seed 8
    same --random 20000 --seed 8 --lossy

    begin finds_mistakes
    run "$VESTIGE_SRC/tools/rtl-mutants" "$VESTIGE_BUILD" lost-learns flags-other-line tage-shares
    expect_status 0
    expect_out '^3 mutants, 3 found$'
    finish
fi

# everything: the runs, and each technique with each of its configurations.
declare -A runs=()
keep() {
    local name=$1 cores=$2
    shift 3
    if [ "$name" = pipeline ]; then
        # it has four threads if it is asked for one, and ten if for four
        [ "$cores" = 1 ] || return 0
        cores=4
    fi
    recorded "$name-$cores" "$cores" -- "$(workload rv64 "$name")" "$@"
    recorded "$name-$cores-timed" "$cores" --timed -- "$(workload rv64 "$name")" "$@"
    runs[$cores-untimed]+=" $T/$name-$cores.vest"
    runs[$cores-timed]+=" $T/$name-$cores-timed.vest"
}
begin records_workloads
each_workload all "1 4" keep

begin finds_mistakes
run "$VESTIGE_SRC/tools/rtl-mutants" "$VESTIGE_BUILD"
expect_status 0
expect_out '^([5-9][0-9]|1[0-9][0-9]) mutants, '
cat "$out"

begin encodes_as_a_netlist
built -n mcfTR_e:small 4 timed
# shellcheck disable=SC2086 # words
same ${runs[4-timed]%%.vest*}.vest
same --random 100000
built -n mcfTR_e 1 untimed
# shellcheck disable=SC2086 # words
same ${runs[1-untimed]%%.vest*}.vest
same --random 100000 --lossy
built -n mcfTG 1 untimed
# shellcheck disable=SC2086 # words
same ${runs[1-untimed]%%.vest*}.vest
same --random 100000
same --random 100000 --lossy
built -n mlvCF_e:CS16 4 timed
# shellcheck disable=SC2086 # words
same ${runs[4-timed]%%.vest*}.vest
same --random 100000

begin makes_steps_of_blocks
for timed in untimed timed; do
    built -i mcfTR_e:small 1 "$timed"
    # shellcheck disable=SC2086 # words
    run "$bench" --spec "$spec" ${runs[1-$timed]}
    expect_status 0
    expect_no_err
    expect_equal "$(grep -c ': equal: [1-9]' "$out")" "$(wc -w <<<"${runs[1-$timed]}")"
done
mistaken_ingress "$T/signals-1-timed.vest" "s/ilastsize ? ADDRESS'(4)/ilastsize ? ADDRESS'(2)/" \
    "s/held == 4'd12 || held == 4'd13/held == 4'd12/" "s/held != 4'd4/held != 4'd5/" "s/4'd1, 4'd2, 4'd3:/4'd1, 4'd2:/" \
    "s/'0 : iaddr/'0 : pc/" "s/starts ? now : then/now/"

begin encodes_etrace
built "$etrace" 1 untimed
# shellcheck disable=SC2086 # words
same ${runs[1-untimed]}

begin encodes_adac
built ADAC 1 untimed
# shellcheck disable=SC2086 # words
same ${runs[1-untimed]}
same --random 3000000

# the caches are as large as there, and in every way that the RTL has
for config in mlvCF_e:S mlvCF_e mlvCF_e:L mlvCF_e:CS16 mlvCF_e:CS32 mlvCF_b mlvCF_e:CS16,granule=1 mlvCF_e:CS16,granule=32 \
    mlvCF_e:size=4096,ways=8,policy=fifo,granule=8; do
    for timed in untimed timed; do
        for cores in 1 4; do
            begin "encodes_first_accesses_${config//[:,=]/_}_${cores}_$timed"
            built "$config" "$cores" "$timed" BLOCK=8
            # shellcheck disable=SC2086 # words
            same ${runs[$cores-$timed]}
            same --random 1000000 --seed "$cores"
        done
    done
done

for technique in mcfTR_e mcfTR_b mcfTG; do
    configs='small medium large'
    [ "$technique" != mcfTG ] || configs='2K 8K'
    for config in $configs; do
        for timed in untimed timed; do
            for cores in 1 4; do
                begin "encodes_${technique}_${config}_${cores}_$timed"
                built "$technique:$config" "$cores" "$timed" BLOCK=8
                # shellcheck disable=SC2086 # words
                same ${runs[$cores-$timed]}
                same --random 3000000 --seed "$cores"
                same --random 1000000 --seed 9 --lossy
            done
        done
    done
done
finish
