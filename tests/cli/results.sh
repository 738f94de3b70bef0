#!/bin/bash
# SPDX-License-Identifier: MIT
# A sample of the committed tables of what techniques cost is computed again; `make results` renews all of them.
. "$(dirname "$0")/lib.sh"

results=$VESTIGE_SRC/bench/results
table=$VESTIGE_SRC/bench/results/control-flow.csv
loads=$VESTIGE_SRC/bench/results/load-values.csv
addresses=$VESTIGE_SRC/bench/results/data-addresses.csv

begin writes_the_page_from_the_tables
run "$VESTIGE_SRC/tools/fill-doc" "$VESTIGE_SRC/docs/results.md.in"
expect_status 0
expect_no_err
cmp -s "$out" "$VESTIGE_SRC/docs/results.md" || fail "docs/results.md is not what tools/fill-doc writes"
[ "$(wc -l <"$out")" -le 150 ] || fail "docs/results.md is longer than a reader finishes"
! grep -n '[0-9|] *|  |$\|takes % \|s bits times\|_b.s times\|at `small` and at\|[(] [0-9,)]' "$out" >&2 || fail "a figure is missing"
run "$VESTIGE_SRC/tools/fill-doc" "$VESTIGE_SRC/docs/tables.md.in"
expect_status 0
expect_no_err
cmp -s "$out" "$VESTIGE_SRC/docs/tables.md" || fail "docs/tables.md is not what tools/fill-doc writes"

begin writes_the_page_of_published_tables
run "$VESTIGE_SRC/tools/fill-doc" "$VESTIGE_SRC/docs/published.md.in"
expect_status 0
expect_no_err
cmp -s "$out" "$VESTIGE_SRC/docs/published.md" || fail "docs/published.md is not what tools/fill-doc writes"
# Each has a figure of ours, or says why there is none.
awk -F '|' '/^\| (table [0-9]|figure|text)/ { n++; if ($6 ~ /^ *$/ && $7 !~ / none: /) print }
    END { if (n != 87) print n " tables" }' "$out" >"$T/unsaid"
expect_equal "$(cat "$T/unsaid")" '' "tables without a figure or a reason"

begin fills_a_page_in
printf '%s\n' '# made by hand' name,size,bits one,1,10 one,2,30 two,1,5 two,2, >"$T/table.csv"
cat >"$T/page.md.in" <<END
@data t $T/table.csv name size
@set all t[\$name *]
All {{t[].bits}} bits, {{%.1f t[one *].bits / t[two *].bits}} times, the most in {{t[].at_max(bits, name & size)}};
{{t[two 2].bits or "none"}}{{t[two 2].bits then "some"}}, {{t[one *].(bits * size)}} and {{t[*].min(bits)}}.
@for name in t matching ^[ot]
| \$name |[[S 1 2: {{t[\$name \$S].bits}} |]] {{%d \$all.(bits < 30)}} |
END
run "$VESTIGE_SRC/tools/fill-doc" "$T/page.md.in"
expect_status 0
expect_equal "$(cat "$out")" 'All 45 bits, 8.0 times, the most in one2; none, 70 and 5.
| one | 10 | 30 | 1 |
| two | 5 |  | 1 |'
printf '%s\n' '@# shared' "@data t $T/table.csv name size" '@set all t[]' >"$T/shared.data"
printf '%s\n' "@include $T/shared.data" '{{$all.bits}}' >"$T/short.md.in"
run "$VESTIGE_SRC/tools/fill-doc" "$T/short.md.in"
expect_status 0
expect_equal "$(cat "$out")" 45
echo 'text' >>"$T/shared.data"
run "$VESTIGE_SRC/tools/fill-doc" "$T/short.md.in"
expect_status 1
expect_err 'no directive: text$'
for wrong in 't[three' '{{u[one].bits}}' '{{t[one].missing}}' '{{1 +}}' '@table t'; do
    printf '%s\n' "@data t $T/table.csv name size" "{{${wrong#\{\{}" >"$T/wrong.md.in"
    case $wrong in @*) printf '%s\n' "$wrong" >"$T/wrong.md.in" ;; esac
    run "$VESTIGE_SRC/tools/fill-doc" "$T/wrong.md.in"
    expect_status 1
    expect_err "wrong.md.in:"
done

begin writes_the_page_on_performance_from_what_was_measured
run "$VESTIGE_SRC/tools/performance-doc"
expect_status 0
cmp -s "$out" "$VESTIGE_SRC/docs/performance.md" || fail "docs/performance.md is not what tools/performance-doc writes"

begin draws_the_charts_from_the_tables
for threads in 1 4; do
    drawn=$VESTIGE_SRC/docs/frontier.svg
    [ $threads = 1 ] || drawn=$VESTIGE_SRC/docs/frontier-$threads.svg
    run "$VESTIGE_SRC/tools/frontier" -n $threads
    expect_status 0
    expect_no_err
    cmp -s "$out" "$drawn" || fail "$drawn is not what tools/frontier draws"
    ! grep -q '[ "]-*\(nan\|inf\)' "$out" || fail "what is no number in $drawn"
done

run "$VESTIGE_SRC/tools/run-length-chart"
expect_status 0
expect_no_err
cmp -s "$out" "$VESTIGE_SRC/docs/run-length.svg" || fail "docs/run-length.svg is not what tools/run-length-chart draws"
! grep -q '[ "]-*\(nan\|inf\)' "$out" || fail "what is no number in docs/run-length.svg"

run "$VESTIGE_SRC/tools/frontier" -n 4 -z small
expect_status 0
expect_no_err
cmp -s "$out" "$VESTIGE_SRC/docs/frontier-small.svg" || fail "docs/frontier-small.svg is not what tools/frontier draws"

# Every table is listed with the command that makes it, and the test that computes some of it again.
begin says_where_every_figure_comes_from
sed -n '/^## Where the figures come from$/,/^## /s/^| `\([^|]*\)` | \([^|]*\) | \([^|]*\) |.*/\1|\2|\3/p' "$VESTIGE_SRC/docs/tables.md" >"$T/listed"
expect_equal "$(cut -d '|' -f 1 "$T/listed" | sed 's/`, `/\n/g' | sort)" "$(cd "$results" && ls | sed 's/\.csv$//' | sort)" "tables"
while IFS='|' read -r names command test; do
    command=${command//[\`,;]/} test=${test//[\`,;]/}
    for word in $command $test; do
        case $word in
        tools/* | tests/*) [ -f "$VESTIGE_SRC/$word" ] || fail "no $word, which is said to make or test $names" ;;
        esac
    done
    case $test in
    tests/*)
        for name in ${names//\`, \`/ }; do
            grep -q -- "$name" "$VESTIGE_SRC/${test%% *}" || fail "${test%% *} does not name $name"
        done
        ;;
    esac
done <"$T/listed"

# The story of a sweep has the table's figures: its lines are points, and their names are in the picture's frontier.
begin tells_the_story_of_a_sweep
run "$VESTIGE_SRC/tools/sweep-picture" "$results/chip.csv"
expect_status 0
expect_no_err
cmp -s "$out" "$VESTIGE_SRC/docs/sweep.svg" || fail "docs/sweep.svg is not what tools/sweep-picture draws"
sed -n '/^`vestige sweep bench.studies.workloads.ini bench.studies.chip.ini` prints:$/,/^```$/p' "$VESTIGE_SRC/docs/sweeps.md" |
    awk '$2 ~ /^[0-9,]+$/ && NF == 3 { gsub(",", "", $1); gsub(",", "", $2); print $1, $2, $3 }' >"$T/story"
awk -F, '/^[^#]/ { gsub(";", ",", $2); print $5, $7, $1 ($2 == "default" ? "" : ":" $2) }' "$results/chip.csv" >"$T/points"
expect_equal "$(grep -cvxFf "$T/points" "$T/story") $(wc -l <"$T/story")" "0 7" "lines that are no points"
while read -r bits gates name; do
    expect_equal "$(awk -v bits="$bits" -v gates="$gates" '$1 <= bits && $2 <= gates && ($1 < bits || $2 < gates)' "$T/points")" "" "better than $name"
done <"$T/story"
expect_equal "$(($(wc -l <"$T/points") - 1)),$(awk -F, '$8 + 0 { n += $8 } END { printf "%.0f", n }' "$results/chip.csv")" \
    "84,$(sed -n 's/.* \([0-9,]*\) things compared.*/\1/p; s/^\([0-9,]*\) things compared.*/\1/p' "$VESTIGE_SRC/docs/sweeps.md" | tr -d ,)" "points and things compared"

# b takes as few bits as c for fewer gates. What is of serial programs, of other numbers of threads, or cannot be decoded
# does not count, and for d no gates are known.
begin draws_what_takes_fewer_bits_than_all_smaller_ones
mkdir "$T/tables"
printf '%s\n' technique,config,cores,storage_bits,gates a,default,1,10,100 'b,x;y,1,20,2000' c,default,1,30,30000 \
    b,order=published,1,1,1 >"$T/tables/costs.csv"
head=workload,threads,mode,technique,config,instructions,cycles
printf '%s\n' "$head,messages,bits,frame_bits" fft,1,untimed,a,default,1000,,9,480,20 'fft,1,untimed,b,x;y,1000,,9,50,0' \
    fft,1,untimed,c,default,1000,,9,50,0 fft,1,untimed,d,default,1000,,9,5,0 sha,1,untimed,a,default,1000,,9,1,0 \
    fft,4,untimed,a,default,1000,,9,1,0 fft,1,timed,a,default,1000,1,9,1,0 >"$T/tables/control-flow.csv"
printf '%s\n' "$head,loads,reported,messages,bits" 'fft,1,untimed,b,x;y,1000,,7,7,9,300' \
    fft,1,untimed,b,order=published,1000,,7,7,9,1 fft,1,untimed,c,default,1000,,7,7,9,200 >"$T/tables/load-values.csv"
run "$VESTIGE_SRC/tools/frontier" "$T/tables"
expect_status 0
expect_err "no d default for 1 cores"
expect_equal "$(sed -n 's/.*<path class="\([^"]*\)".*<title>\(.*\)<.title>.*/\1: \2/p' "$out")" \
    'flags: a: 100 gates, 0.5 bits per instruction
flags: b x,y: 2,000 gates, 0.05 bits per instruction
flags dim: c: 30,000 gates, 0.05 bits per instruction
flags: b x,y: 2,000 gates, 0.3 bits per instruction
flags: c: 30,000 gates, 0.2 bits per instruction'
expect_equal "$(grep -c 'class="name"' "$out") $(grep -c 'class="other"' "$out")" "4 1"

# Rows 1 and 3 of the catalog choose, and row 2 tells.
begin chooses_on_one_half_and_reports_on_the_other
printf '%s\n' '# made by hand' workload,threads,technique,config,instructions,bits,storage_bits,gates >"$T/grids.csv"
while read -r config storage fft lu_cb lu_ncb; do
    printf '%s\n' "fft,1,a,$config,1000,$fft,$storage,7" "lu_cb,1,a,$config,100,$lu_cb,$storage,7" "lu_ncb,1,a,$config,10,$lu_ncb,$storage,7"
done >>"$T/grids.csv" <<END
default 8193 90 5 9
small 8192 70 1 7
best 8200 10 9 1
later 8200 10 1 1
wide 8208 10 1 1
END
run "$VESTIGE_SRC/tools/search" -g "$T/grids.csv"
expect_status 0
expect_no_err
expect_equal "$(cat "$out")" '# made by hand
technique,threads,class,config,storage_bits,gates,candidates,chosen_instructions,chosen_bits,instructions,bits
a,1,default,default,8193,7,1,1010,99,100,5
a,1,1,small,8192,7,1,1010,77,100,1
a,1,2,best,8200,7,5,1010,11,100,9'
echo "nowhere,1,a,best,1,1,1,1" >>"$T/grids.csv"
run "$VESTIGE_SRC/tools/search" -g "$T/grids.csv"
expect_status 1
expect_err "no such row: nowhere"

begin chose_from_the_grids
for technique in $(sed '1,/^\[techniques\]/d; s/:.*//' "$VESTIGE_SRC/bench/studies/grids.ini" | sort -u); do
    grep -qx "$technique" "$VESTIGE_SRC/bench/studies/defaults.ini" || fail "$technique is not in defaults.ini"
    grep -q "^$technique,1,default," "$results/search.csv" || fail "no $technique; make results"
done
expect_equal "$(awk -F, '$2 + 0 && $3 + 0 && $5 > $3 * 8192 * $2' "$results/search.csv")" "" "larger than the class"

begin studies_the_programs_of_the_catalog
while read -r name kind most tiny small medium _; do
    printf '%s\n' "[record $name]" "size    = tiny:$tiny|small:$small|medium:$medium"
    [ "$kind" = serial ] && echo "command = {programs}/$name -n {size}" || echo "command = {programs}/$name -n {size} -p {threads}"
    [ "$most" = 1 ] || [ "$kind" = parallel ] || fail "$name is $kind with $most threads"
done < <(sed 's/#.*//' "$VESTIGE_SRC/workloads/catalog" | awk 'NF') >"$T/recorded"
sed -n '/^\[record ./,/^command/p' "$VESTIGE_SRC/bench/studies/workloads.ini" | diff - "$T/recorded" >&2 ||
    fail "bench/studies/workloads.ini is not workloads/catalog"

begin has_every_workload_and_technique
while read -r name _ most _; do
    for n in 1 2 4 8; do
        [ "$most" != 1 ] || [ $n = 1 ] || continue
        for mode in untimed timed; do
            grep -q "^$name,$n,$mode,mcfNX_b,default," "$table" || fail "no $name with $n threads, $mode"
            grep -q "^$name,$n,$mode,mlvNX_b,default," "$loads" || fail "no loads of $name with $n threads, $mode"
            case $n in 2 | 8) continue ;; esac
            grep -q "^$name,$n,$mode,daNX,default," "$addresses" || fail "no addresses of $name with $n threads, $mode"
        done
    done
done < <(sed 's/#.*//' "$VESTIGE_SRC/workloads/catalog" | awk 'NF')
for technique in $("$VESTIGE" techniques --json | jq -r '.[] | select(.kind == "control flow").name'); do
    grep -q ",$technique,default," "$table" || fail "no $technique; make results"
done
for technique in $("$VESTIGE" techniques --json | jq -r '.[] | select(.kind == "load values").name'); do
    grep -q ",$technique," "$loads" || fail "no $technique; make results"
done
for technique in $("$VESTIGE" techniques --json | jq -r '.[] | select(.kind == "data addresses").name'); do
    grep -q ",$technique,default," "$addresses" || fail "no $technique; make results"
done
while read -r name _ most _; do
    for n in 1 2 4 8; do
        [ "$most" != 1 ] || [ $n = 1 ] || continue
        grep -q "^$name,$n," "$results/characterization.csv" || fail "$name with $n threads has no characterization"
        case $n in 2 | 8) continue ;; esac
        expect_equal "$(grep -c "^$name,$n,m[cl][fs]Trace," "$results/software-traces.csv")" 2 "software traces of $name with $n threads"
    done
    expect_equal "$(grep -c "^$name,.*,\(block\|small\)," "$results/entropy.csv")" 25 "rows of the entropy of $name"
done < <(sed 's/#.*//' "$VESTIGE_SRC/workloads/catalog" | awk 'NF')
expect_equal "$(grep -v '^#' "$table" | awk -F, 'NF != 10' | head -1)" "" "lines without 10 fields"
expect_equal "$(grep -v '^#' "$loads" | awk -F, 'NF != 22' | head -1)" "" "lines without 22 fields"
expect_equal "$(grep -v '^#' "$addresses" | awk -F, 'NF != 27' | head -1)" "" "lines without 27 fields"
# what goes beyond the published modules: every parallel program has the same rows
beyond=$results/beyond.csv
expect_equal "$(awk -F, '$2 + 0 { rows[$1]++ } END { for (name in rows) print rows[name] }' "$beyond" | sort -u | wc -l)" 1 "numbers of rows"
expect_equal "$(awk -F, '$2 + 0 { print $1 }' "$beyond" | sort -u | wc -l)" \
    "$(sed 's/#.*//' "$VESTIGE_SRC/workloads/catalog" | grep -cw parallel)" "programs in beyond.csv"
expect_equal "$(awk -F, '$2 + 0 && (NF != 11 || !$9 || !$11 || $3 != "untimed" && !$7)' "$beyond" | head -1)" "" "lines without figures"
# the fields of a stream are all its bits
expect_equal "$(awk -F, '$6 + 0 && $11 != $16 + $17 + $18 + $19 + $20 + $21' "$addresses" | head -1)" "" "sum of fields of addresses"
expect_equal "$(awk -F, '$6 + 0 && $11 != $12 + $13 + $14 + $15 + $16 + $17 + $18 + $19 + $20' "$loads" | head -1)" "" "sum of fields"

begin has_every_parallel_program_in_other_tables
while read -r name kind _; do
    [ "$kind" = parallel ] || continue
    for n in 1 2 4 8; do
        expect_equal "$(grep -c "^$name,tewar,$n," "$results/platforms.csv") $(grep -c "^$name,cs16,$n," "$results/platforms.csv")" "14 4" \
            "rows of $name with $n threads in platforms.csv"
    done
    expect_equal "$(grep -c "^$name,small,.*,1$" "$results/run-length.csv")" 4 "whole runs of $name in run-length.csv"
    for size in small medium; do
        expect_equal "$(grep -c "^$name,$size,host,m[cl][fv]" "$results/steps.csv") $(grep -c "^$name,$size,host-published,m[cl][fv]" "$results/steps.csv")" \
            "11 11" "rows of $name in steps.csv, $size"
    done
done < <(sed 's/#.*//' "$VESTIGE_SRC/workloads/catalog" | awk 'NF')

# Long runs: every technique of the study on every run.
begin has_long_runs_of_every_workload
while read -r name _ most _; do
    for n in 1 2 4 8; do
        [ "$most" != 1 ] || [ $n = 1 ] || continue
        expect_equal "$(grep -c "^$name,$n,untimed,[^,]*,[^,]*,[0-9]*,,[0-9]*,[0-9]*,[0-9]*$" "$results/small-control-flow.csv")" 16 "$name with $n threads"
        expect_equal "$(grep -c "^$name,$n,untimed,[^,]*,[^,]*,[0-9]*,," "$results/small-load-values.csv")" 14 "loads of $name with $n threads"
        case $n in 2 | 8) continue ;; esac
        expect_equal "$(grep -c "^$name,$n,untimed,[^,]*,[^,]*,[0-9]*,," "$results/small-data-addresses.csv")" 6 "addresses of $name with $n threads"
    done
    [ "$most" != 1 ] || expect_equal "$(grep -c "^$name," "$results/streams.csv")" 15 "streams of $name"
done < <(sed 's/#.*//' "$VESTIGE_SRC/workloads/catalog" | awk 'NF')

begin counts_what_is_executed_consistently
counts=$results/characterization.csv
expect_equal "$(awk -F, '$2 + 0 && $11 != $12 + $13 + $14 + $15 + $16' "$counts" | head -1)" "" "sizes of loads"
expect_equal "$(awk -F, '$2 + 0 && $17 != $18 + $19 + $20 + $21 + $22' "$counts" | head -1)" "" "sizes of stores"
# the page says which programs have other threads than cores
expect_equal "$(awk -F, '$2 + 0 && $3 != ($1 == "pipeline" ? 2 + 2 * $2 : $2)' "$counts" | head -1)" "" "threads"
# instructions and cycles are those of the same runs
expect_equal "$(awk -F, '$2 + 0 && FNR == NR { if ($3 == "timed") seen[$1 "," $2] = $6 "," $7; next } $2 + 0 && seen[$1 "," $2] != $4 "," $5' \
    "$table" "$counts" | head -1)" "" "instructions and cycles"

if [ -n "$sanitized" ]; then
    begin keeps_the_figures
    skip "the sanitizers change no figures"
    finish
fi
made=$(head -1 "$table")
here="# $(riscv64-linux-gnu-gcc --version | head -1)"
if [ "$made" != "$here" ]; then
    begin keeps_the_figures
    skip "the tables are of programs by another compiler than here, ${made#\# }"
    finish
fi

# recompute WORKLOAD THREADS MODE [STUDY]
recompute() {
    local study=${4:-control-flow}
    begin "keeps_${study}_of_$1_with_$2_$3"
    run "$VESTIGE_SRC/tools/results" -b "$VESTIGE_BUILD" -s "$T/store" -w "$1" -n "$2" -m "$3" "$study"
    expect_status 0
    expect_no_err
    [ "$(wc -l <"$out")" -gt 6 ] || fail "too few rows"
    diff <(grep "^$1,$2,$3," "$VESTIGE_SRC/bench/results/$study.csv") <(tail -n +3 "$out") >&2 ||
        fail "figures changed; if that is meant: make results, and say why in the commit"
}

begin keeps_mispredictions_of_cholesky
run "$VESTIGE_SRC/tools/results" -b "$VESTIGE_BUILD" -s "$T/store" -w cholesky mispredictions
expect_status 0
expect_out '^cholesky(,[0-9]+){6}$'
expect_equal "$(tail -n 1 "$out")" "$(grep '^cholesky,' "$VESTIGE_SRC/bench/results/mispredictions.csv")"

begin keeps_locality_of_signals
run "$VESTIGE_SRC/tools/results" -b "$VESTIGE_BUILD" -w signals locality
expect_status 0
expect_equal "$(tail -n +3 "$out" | wc -l)" 18
expect_equal "$(tail -n +3 "$out")" "$(grep '^signals,' "$VESTIGE_SRC/bench/results/locality.csv")"

# again WORKLOAD STUDY ROWS [-n COUNTS]: of the studies that have no mode.
again() {
    local name=$1 study=$2 rows=$3
    shift 3
    begin "keeps_${study}_of_$name"
    run "$VESTIGE_SRC/tools/results" -b "$VESTIGE_BUILD" -w "$name" "$@" "$study"
    expect_status 0
    expect_no_err
    expect_equal "$(tail -n +3 "$out" | wc -l)" "$rows"
    diff <(grep "^$name,${2:-[0-9]}" "$results/$study.csv") <(tail -n +3 "$out") >&2 ||
        fail "figures changed; if that is meant: make results, and say why in the commit"
}

again water_nsq characterization 1 -n 8
again sort characterization 1 -n 1
again interp entropy 25
again water_nsq over-time 4 -n 8
again jpeg software-traces 2 -n 1
again racy software-traces 2 -n 4
recompute fft 1 untimed
recompute radix 4 untimed
recompute cholesky 2 timed
recompute signals 1 untimed
recompute racy 8 timed
recompute lu_cb 2 timed load-values
recompute racy 8 timed load-values
recompute signals 1 untimed load-values
recompute sha 1 untimed load-values
recompute signals 1 timed data-addresses
recompute ocean 4 untimed beyond
recompute ocean 4 timed beyond
recompute racy 8 jitter beyond
recompute cholesky 1 untimed small-control-flow
recompute cholesky 1 untimed small-load-values
recompute cholesky 1 untimed small-data-addresses

begin keeps_streams_of_sha
run "$VESTIGE_SRC/tools/results" -b "$VESTIGE_BUILD" -s "$T/store" -w sha streams
expect_status 0
expect_equal "$(tail -n +3 "$out")" "$(grep '^sha,' "$results/streams.csv")"

begin keeps_timed_tables_of_other_platforms
run "$VESTIGE_SRC/tools/results" -b "$VESTIGE_BUILD" -s "$T/store" -w radix -n 4 platforms
expect_status 0
expect_no_err
expect_equal "$(tail -n +3 "$out" | wc -l)" 18
expect_equal "$(grep ^radix "$out" | sort)" "$(grep '^radix,[a-z0-9]*,4,' "$results/platforms.csv" | sort)"

begin keeps_the_steps_to_the_published_figures
run "$VESTIGE_SRC/tools/steps" -b "$VESTIGE_BUILD" -w fft -p rv64 tiny
expect_status 0
expect_equal "$(tail -n +3 "$out" | wc -l)" 11
expect_equal "$(tail -n +3 "$out")" "$(grep '^fft,tiny,rv64,' "$results/steps.csv")"

begin keeps_the_ratio_over_the_length_of_the_run
run "$VESTIGE_SRC/tools/run-length" -b "$VESTIGE_BUILD" -w barnes -l 1000000
expect_status 0
expect_no_err
expect_equal "$(grep -c ',0$' "$out")" 16
grep ',0$' "$out" | while read -r row; do grep -qx "$row" "$results/run-length.csv" || fail "no $row"; done

begin keeps_costs
run "$VESTIGE" record -q -f -o "$T/costs.vest" --cores 4 -- "$VESTIGE_BUILD/workloads/rv64/radix" -p 4 -n 500
expect_status 0
run "$VESTIGE" bandwidth --json "$T/costs.vest" -t mcfTR_e -t mcfTA:64K -t etrace:ir_bp -t rSDC-LSP -t mlvCF_e:CS32,granule=8 -t mc2RT:CS32 -t mc2RT_k:4K
expect_status 0
jq -r '[.technique, (.config | gsub(","; ";")), 4, .storage_bits, .gates] | join(",")' "$out" >"$T/costs"
expect_equal "$(wc -l <"$T/costs")" 7
while read -r row; do grep -qx "$row" "$results/costs.csv" || fail "costs.csv has no $row"; done <"$T/costs"

if [ -n "$long" ]; then
    begin keeps_the_chip
    run "$VESTIGE_SRC/tools/results" -b "$VESTIGE_BUILD" chip
    expect_status 0
    cmp -s "$out" "$results/chip.csv" || fail "bench/results/chip.csv is another; make results"
fi

# What programs execute, as Callgrind counted it for the page, and as a recording has it here. Iterations of repeated
# instructions are instructions there, so that programs are chosen that have few; libraries choose routines by the processor.
begin keeps_what_workloads_execute
while read -r name size; do
    run "$VESTIGE" record -q -f -o "$T/host.vest" -- "$VESTIGE_BUILD/workloads/host/$name" -n "$size"
    expect_status 0
    run "$VESTIGE" info --json "$T/host.vest"
    expect_status 0
    jq -r '.instructions as $n | .counts | [$n, (.branches.classes.conditional_direct_taken + .branches.classes.conditional_direct_not_taken),
        .loads.count, .stores.count] | @tsv' "$out" >"$T/counts"
    read -r instructions conditional loads stores <"$T/counts"
    row=$(grep "^| $name |" "$VESTIGE_SRC/docs/workloads.md" | tr -d ' ')
    awk -F '|' -v n="$instructions" -v conditional="$conditional" -v loads="$loads" -v stores="$stores" '
        function off(said, is) { return said - is > 0.15 || is - said > 0.15 }
        { m = $4 * (1 - $12 / 100); if (off(100 * n / m, 100) || off($6 * $4 / m, 100 * conditional / n) || off($10 * $4 / m, 100 * loads / n) ||
            off($11 * $4 / m, 100 * stores / n)) print m, $6 * $4 / m, $10 * $4 / m, $11 * $4 / m, "but", n, 100 * conditional / n, 100 * loads / n, 100 * stores / n }
    ' <<<"$row" >"$T/off"
    expect_equal "$(cat "$T/off")" '' "$name"
done <<<"sha 1200
aes 700"

# The rows of the odd workloads add up to what the table says; here one program's rows are whole and exact.
begin keeps_the_grids
run "$VESTIGE_SRC/tools/results" -b "$VESTIGE_BUILD" -w sha -n 1 grids
expect_status 0
expect_no_err
expect_equal "$(tail -n +3 "$out" | awk -F, 'NF != 8 || $5 + 0 == 0 || $8 + 0 == 0' | head -1)" "" "lines without figures"
while IFS=, read -r technique _ _ config storage gates _; do
    grep -q "^sha,1,$technique,$config,.*,$storage,$gates$" "$out" || fail "no $technique $config of $storage bits"
done < <(awk -F, '$2 == 1' "$results/search.csv")
finish
