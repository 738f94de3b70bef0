#!/bin/bash
# SPDX-License-Identifier: MIT
# Sweeps: the table against `bandwidth`, and the same bytes whatever happens on the way; what a study may get wrong. The
# cluster is in sweep_slurm.sh.
. "$(dirname "$0")/lib.sh"

cd "$T" || exit 2
fft=$(workload rv64 fft)
"$VESTIGE_GEN" -o a.vest --seed 21 --threads 3 --events 3000 >"$out" &&
    "$VESTIGE_GEN" -o b.vest --seed 22 --threads 2 --events 4000 --timed >"$out" || exit 2

cat >s.ini <<'END'
# two runs, twelve points
[sweep]
verify = sample 3
[runs]
file = a.vest
[runs timed]
file = b*.vest
[techniques]
mcfTR_e:gshare=256..1024*2,hash=*
mcfTR_e:small,gshare=512|2K
(none)
mlvCF_e:CS16|CS32,(k=0|k=8,r=8)
END
sed -i '/none/d' s.ini

# numbers FILE: what the table has of each run.
numbers() {
    jq -r 'select(.kind == "run") | [.run, .technique, .config, .bits, .instructions, .cycles, .messages, .storage_bits, .gates] | map(. // "-") | join(" ")' "$1"
}

begin measures_what_bandwidth_measures
run "$VESTIGE" sweep --json s.ini
expect_status 0
expect_no_err
cp "$out" table.json
expect_equal "$(jq -s 'map(select(.kind == "run")) | length' table.json)" 24 rows
jq -r 'select(.kind == "run") | .rebuild' table.json | while read -r line; do
    bash -c "${line/#vestige/$VESTIGE} --json"
done | jq -r '[.run, .technique, .config, .bits, .instructions, .cycles, .messages, .storage_bits, .gates] | map(. // "-") | join(" ")' | sed '/^- /d' >again
numbers table.json | diff - again >"$out" || fail "other figures than bandwidth's"

# Encoders in a sweep share parts of their work; those of bandwidth do not.
begin measures_each_point_of_a_grid_as_bandwidth_does
templates=("mcfTR_e:gshare=64..512*2,ras=0|4|8,ibtb=0|16,hash=*,pir=*" "mcfTR_e:gshare=64,predictors=*,bcnt_bits=4|16,icnt_bits=5|16"
    "mcfTR_e:gshare=256,direct=*" "tTMBP:gshare=64|512,ibtb=16,ibtb_target=0|8" "mcfTG:2K,tables=4|6")
for file in a.vest b.vest; do
    args=()
    for template in "${templates[@]}"; do
        args+=(-t "$template")
    done
    run "$VESTIGE" sweep --csv --store grid --set sums=no "${args[@]}" $file \
        --set "columns=spec technique bits messages conditional_reported returns_reported indirect_reported"
    expect_status 0
    sed '1d; s/^"[^"]*",//' "$out" >swept
    sed 1d "$out" | cut -d '"' -f 2 >specs
    expect_equal "$(wc -l <specs)" 113 points
    sed 's/^/-t /' specs | xargs -n 120 "$VESTIGE" bandwidth --json $file |
        jq -r '[.technique, .bits, .messages, (.branches | .conditional, .returns, .indirect).reported] | @csv' >alone
    diff swept alone >other || fail "other figures than bandwidth's: $(head -n 4 other)"
done

begin adds_up_groups_of_runs
run jq -es '
    (map(select(.kind == "run")) | group_by([.technique, .config]) | map({key: (.[0] | [.technique, .config] | tostring), value: .}) | from_entries) as $runs |
    (map(select(.kind == "sum" and .run == "all")) | length) == 12 and
    (map(select(.kind == "sum" and .run == "timed")) | length) == 12 and
    all(.[] | select(.kind == "sum" and .run == "all"); $runs[[.technique, .config] | tostring] as $r |
        .bits == ($r | map(.bits) | add) and .gates == ($r | map(.gates) | max) and .cycles == null and
        .bpi_millionths == ((.bits * 1000000 + (.instructions / 2 | floor)) / .instructions | floor)) and
    all(.[] | select(.kind == "mean" and .run == "all"); $runs[[.technique, .config] | tostring] as $r |
        .bits == (($r | map(.bits) | add) + 1) / 2 - ((($r | map(.bits) | add) + 1) % 2) / 2)' table.json
expect_status 0

begin proves_a_sample
run jq -es 'map(select(.kind == "run")) | (map(select(.compared)) | length) as $n | $n > 0 and $n < 24' table.json
expect_status 0

begin gives_the_same_bytes_however_it_is_done
run "$VESTIGE" sweep --csv s.ini
cp "$out" table.csv
for how in "--jobs 1" "--jobs 7" "--set batch=1" "--set batch=3 --jobs 2"; do
    rm -rf other
    # shellcheck disable=SC2086 # words
    run "$VESTIGE" sweep --csv --store other $how s.ini
    expect_status 0
    cmp -s "$out" table.csv || fail "another table with $how"
done

# computed FOLDER: files of results.
computed() {
    find "$1/results" -type f | wc -l
}

begin measures_nothing_twice
find s.sweep/results -type f -exec ls -li --time-style=full-iso {} + | sort >before
run "$VESTIGE" sweep --csv s.ini
find s.sweep/results -type f -exec ls -li --time-style=full-iso {} + | sort | cmp -s - before || fail "written again"
run "$VESTIGE" sweep --json --status s.ini
expect_equal "$(jq -c '[.units, .done, .missing]' "$out")" '[24,24,0]'

# Eight units of twelve, one each ten seconds, with a night between two of them: the times of the files are made up.
begin tells_how_long_the_rest_takes
sed '/timed/,/^file/d' s.ini >one.ini
run "$VESTIGE" sweep --csv --store paced --set batch=1 one.ini
run "$VESTIGE" sweep --json --status --store paced one.ini
expect_equal "$(jq -c '[.units, .missing, .seconds_left]' "$out")" '[12,0,null]'
n=0
for file in $(find paced/results -type f | sort); do
    n=$((n + 1))
    [ $n -le 8 ] || rm "$file"
    [ $n -gt 8 ] || touch -d "@$((1000 + 10 * n + (n > 5) * 30000))" "$file"
done
run "$VESTIGE" sweep --json --status --store paced one.ini
expect_equal "$(jq -c '[.done, .missing, .seconds_left]' "$out")" '[8,4,40]'
run "$VESTIGE" sweep --status --store paced one.ini
expect_out '^about 40 s are left, as fast as so far$'
find paced/results -type f | sort | tail -n 7 | xargs rm
run "$VESTIGE" sweep --json --status --store paced one.ini
expect_equal "$(jq -c '[.done, .seconds_left]' "$out")" '[1,null]'

begin goes_on_when_the_study_grows
sed 's/1024\*2/4096*2/' s.ini >grown.ini
run "$VESTIGE" sweep --json --status --store s.sweep grown.ini
expect_equal "$(jq -c '[.units, .done, .missing]' "$out")" '[32,24,8]'
run "$VESTIGE" sweep --csv --store s.sweep grown.ini
expect_status 0
cp "$out" grown.csv
run "$VESTIGE" sweep --csv --store other2 grown.ini
cmp -s "$out" grown.csv || fail "another table"

# Every batch is one file, so that it may be killed after any of them.
begin goes_on_after_it_was_killed
rm -rf other
"$VESTIGE" sweep --csv --store other --set batch=1 --jobs 1 s.ini >"$out" 2>"$err" &
pid=$!
has_results() { [ -d other/results ] && [ "$(computed other)" -ge "$1" ]; }
await has_results 2
kill -9 $pid
wait $pid 2>/dev/null
run "$VESTIGE" sweep --json --status --store other s.ini
done=$(jq .done "$out")
[ "$done" -ge 1 ] || fail "nothing is left"
run "$VESTIGE" sweep --csv --store other s.ini
expect_status 0
cmp -s "$out" table.csv || fail "another table"

begin ends_at_once_if_it_is_interrupted
rm -rf other
bash -c 'exec "$@"' _ "$VESTIGE" sweep --csv --store other --set batch=1 --jobs 1 s.ini >"$out" 2>"$err" &
pid=$!
await has_results 1
kill -TERM $pid
wait $pid
status=$?
if [ $status != 0 ]; then # it may have been done already
    expect_equal $status 143
    expect_err '^vestige sweep: stopped: [0-9]+ of 24 units are done; the same command goes on$'
fi
run "$VESTIGE" sweep --csv --store other s.ini
cmp -s "$out" table.csv || fail "another table"

begin goes_on_if_the_signal_is_ignored
rm -rf other
bash -c 'trap "" HUP; exec "$@"' _ "$VESTIGE" sweep --csv --store other --set batch=1 --jobs 1 s.ini >"$out" 2>"$err" &
pid=$!
await has_results 1
kill -HUP $pid 2>/dev/null # it may be over
wait $pid
expect_equal $? 0
cmp -s "$out" table.csv || fail "another table"

begin loses_nothing_to_a_full_disk
rm -rf other
mkdir other
run "$VESTIGE" sweep --csv --store other --set batch=2 --jobs 1 -o other/t.csv s.ini
kept=$(computed other)
find other/results -type f | sort | tail -n 5 | xargs rm
run bash -c '(ulimit -f 0; exec "$@") 2>&1 >/dev/null | cat >&2; exit ${PIPESTATUS[0]}' _ \
    "$VESTIGE" sweep --csv --store other --set batch=2 --jobs 1 s.ini
expect_status 2
expect_one_line_err
expect_err '^vestige sweep: .*; what is done stays done, and the same command goes on$'
expect_equal "$(find other/results -type f -name '*partial*' | wc -l)" 0
expect_equal "$(computed other)" $((kept - 5))
run "$VESTIGE" sweep --csv --store other s.ini
expect_status 0
cmp -s "$out" table.csv || fail "another table"

begin measures_again_what_is_damaged
file=$(find other/results -type f | head -n 1)
printf x | dd of="$file" bs=1 seek=60 conv=notrunc status=none
run "$VESTIGE" sweep --csv --store other s.ini
expect_status 0
expect_one_line_err
expect_err '^vestige sweep: 1 damaged file'
cmp -s "$out" table.csv || fail "another table"

begin prints_the_frontier
run "$VESTIGE" sweep --json --frontier s.ini
jq -r 'select(.kind == "sum" and .run == "all") | [.bpi_millionths, .gates] | @tsv' "$out" >front
jq -r 'select(.kind == "sum" and .run == "all") | [.bpi_millionths, .gates] | @tsv' table.json |
    awk '{ x[NR] = $1; y[NR] = $2 }
        END { for (i = 1; i <= NR; i++) { out = 0
            for (k = 1; k <= NR; k++) if (x[k] <= x[i] && y[k] <= y[i] && (x[k] < x[i] || y[k] < y[i] || k < i)) out = 1
            if (!out) print x[i] "\t" y[i] } }' | sort -n | cmp -s - <(sort -n front) || fail "another frontier"

begin keeps_constraints
run "$VESTIGE" sweep --json --store c --set 'constraint=gates<=30k' --set 'constraint=gshare<=512' s.ini
expect_status 0
cp "$out" c.json
run jq -es 'length > 0 and all(.[]; .gates <= 30000 and (.config | test("gshare=(1024|2)") | not))' c.json
expect_status 0

begin writes_a_database
run "$VESTIGE" sweep --csv --sqlite t.db s.ini
expect_status 0
run "$VESTIGE" sweep --csv --sqlite t.db s.ini
expect_status 2
expect_err 't\.db: exists; -f replaces it'
if has_program sqlite3; then
    expect_equal "$(sqlite3 t.db 'select count(*), sum(bits) from results')" \
        "$(jq -s -r '[length, (map(.bits) | add)] | join("|")' table.json)" "rows and bits"
    expect_equal "$(sqlite3 t.db 'select bpi_millionths, gates from frontier order by 1' | tr '|' '\t')" "$(sort -n front)" frontier
fi

begin draws_the_same_points_for_a_seed
run "$VESTIGE" sweep --csv --store d1 --set search=random --set budget=9 --set seed=5 s.ini
expect_status 0
cp "$out" drawn.csv
expect_equal "$(grep -c '^"run"' drawn.csv)" 8
run "$VESTIGE" sweep --csv --set search=random --set budget=9 --set seed=5 s.ini
cmp -s "$out" drawn.csv || fail "another table with a store that has all"
run "$VESTIGE" sweep --store d1 --set search=random --set budget=9 --set seed=5 s.ini
expect_out '^tried 8 units of a budget of 9: 4 points on all runs, 0 on some; 8 points were never tried$'
run "$VESTIGE" sweep --set search=random s.ini
expect_status 2
expect_err 'a search needs a budget'

# area FILE: how much of the plane lies beyond the frontier of its points, within the bounds of all.json; in logarithms.
area() {
    jq -r 'select(.bits and .gates) | [.bpi_millionths, .gates] | @tsv' all.json "$1" | awk -v all="$(jq -s 'map(select(.bits)) | length' all.json)" '
        NR <= all { if ($1 > right) right = $1; if ($2 > top) top = $2; next }
        { print $1, $2, right, top }' | sort -n -k 1,1 -k 2,2 |
        awk 'NR == 1 { low = $4 } $2 < low { sum += log($3 / $1) * log(low / $2); low = $2 } END { printf "%d\n", sum * 1000000 }'
}
guided() {
    "$VESTIGE" sweep --json --store "$1" --set search=guided --set budget=36 --set "seed=$2" guided.ini
}

begin finds_the_frontier_with_a_tenth_of_the_points
"$VESTIGE" record -q --control-only --as /bin/fft -o fft.vest -- "$fft" -n 6 >"$out"
cat >guided.ini <<'END'
[runs]
file = fft.vest
[techniques]
mcfTG:base=128..4096*2,tables=4|8|12,entries=32..512*2,loops=0|16,ittage=0|16
END
run "$VESTIGE" sweep --json --store all guided.ini
expect_status 0
cp "$out" all.json
expect_equal "$(grep -c . all.json)" 360 points
whole=$(area all.json)
for seed in 1 2 3; do
    guided all $seed >guided.json || fail "no search with seed $seed"
    expect_equal "$(grep -c . guided.json)" 36 "points that were tried"
    found=$(area guided.json)
    [ $((found * 100)) -ge $((whole * 95)) ] || fail "seed $seed finds $found of $whole"
done
guided few 3 | cmp -s - guided.json || fail "another table with a store that has nothing"
guided few 1 | cmp -s - guided.json && fail "the seed changes nothing"
run "$VESTIGE" sweep --store all --set search=guided --set budget=36 guided.ini
expect_out '^tried 36 units of a budget of 36: 36 points on all runs, 0 on some; 324 points were never tried$'

begin guides_whatever_there_is
run "$VESTIGE" sweep --store odd --set search=guided --set budget=9999 s.ini
expect_status 0
expect_out ': 12 points on all runs, 0 on some; 0 points were never tried$'
run "$VESTIGE" sweep --store odd --set search=guided --set budget=1 s.ini
expect_status 0
expect_out '^tried 0 units of a budget of 1: 0 points on all runs, 0 on some; 12 points were never tried$'
run "$VESTIGE" sweep --store odd --set search=guided --set budget=7 --set 'minimise=bits storage_bits' -t control-flow -t mcfTG:ittage='1|2|16' -t 'mcfTR_e:ras=4' a.vest
expect_out ': 7 points on all runs, 0 on some; '

# A cluster that starts nothing: what it has in its queue is in the file `queue`.
mkdir bin
printf '#!/bin/sh\necho 7\n' >bin/sbatch
printf '#!/bin/sh\ncat "%s/queue"\n' "$T" >bin/squeue
printf '#!/bin/sh\nexit 1\n' >bin/scontrol
chmod +x bin/*

begin does_not_wait_for_held_tasks
printf '%s\n' 'COMPLETED None' 'PENDING launch failed requeued held' 'PENDING JobHeldAdmin' >queue
for again in 1 2; do
    run env PATH="$T/bin:$PATH" "$VESTIGE" sweep --engine slurm --store held s.ini
    expect_status 2
    expect_one_line_err
    expect_err "^vestige sweep: job 7: 2 tasks are held \\(JobHeldAdmin\\); 'scontrol release 7' or 'scancel 7' helps; "
    expect_equal "$(find held/jobs -name '*.tasks' | wc -l)" 1 "jobs submitted, time $again"
done

# What tasks are to do is said with whole paths, so that they may run in any folder.
begin runs_tasks_in_another_folder
run "$VESTIGE" sweep --json --status --store held s.ini
[ "$(jq .missing "$out")" -gt 0 ] || fail "nothing is left to do"
for task in $(sed -n 's/^task //p' held/jobs/*.tasks); do
    (cd / && "$VESTIGE" sweep --task $task "$T"/held/jobs/*.tasks) 2>"$err" || fail "task $task: $(cat "$err")"
done
run "$VESTIGE" sweep --json --status --store held s.ini
expect_equal "$(jq -c '[.units, .done, .missing]' "$out")" '[24,24,0]'

begin finds_the_number_among_warnings
printf '#!/bin/sh\necho 3 warnings:\necho 8\necho sbatch: warning: it is late >&2\n' >bin/sbatch
rm -rf held
run env PATH="$T/bin:$PATH" "$VESTIGE" sweep --engine slurm --store held s.ini
expect_err '^vestige sweep: job 8: 2 tasks are held'
expect_equal "$(cat held/jobs/current)" 8

begin gives_up_on_jobs_that_bring_nothing
rm -rf held
echo 'FAILED NonZeroExitCode' >queue
run env PATH="$T/bin:$PATH" "$VESTIGE" sweep --engine slurm --store held s.ini
expect_status 2
expect_one_line_err
expect_err '^vestige sweep: 3 jobs brought no results; '

begin takes_everything_from_the_command_line
run "$VESTIGE" sweep --csv -t 'mcfTR_e:gshare=256..1024*2,hash=*' --set verify=none --store cl a.vest b.vest
expect_status 0
expect_equal "$(grep -c '^"run"' "$out")" 12

begin shows_why_points_fail
cat >f.ini <<'END'
[runs]
file = a.vest
file = cut.vest
[techniques]
mcfTR_e
mcfTG:ittage=1|2
END
head -c $(($(wc -c <a.vest) / 2)) a.vest >cut.vest
run "$VESTIGE" sweep --json f.ini
expect_status 1
expect_one_line_err
expect_err '^vestige sweep: f\.ini:3: cut\.vest: [0-9]+ of [0-9]+ points failed: [a-z].*'
cp "$out" f.json
run jq -es '(map(select(.run == "cut.vest")) | length > 0 and all(.[]; .status == "failed" and .bits == null and (.reason | length) > 5)) and
    (map(select(.run == "a.vest" and .technique == "mcfTR_e")) | length == 1 and all(.[]; .bits > 0 and .status == "done")) and
    (map(select(.kind == "sum" and .technique == "mcfTR_e")) | length == 1 and all(.[]; .status == "failed" and .reason == "1 of 2 runs failed"))' f.json
expect_status 0

begin tries_again_what_failed
cp a.vest cut2.vest
run "$VESTIGE" sweep --json --status f.ini
failed=$(jq .failed "$out")
run "$VESTIGE" sweep --json --status --retry f.ini
[ "$(jq .missing "$out")" -gt 0 ] && [ "$(jq .failed "$out")" -lt "$failed" ] || fail "nothing is to be tried again"

begin keeps_the_reasons_of_unreadable_runs_apart
mkfifo pipe1 pipe2
run "$VESTIGE" sweep --json -t mcfTR_e --store unreadable pipe1 pipe2 a.vest
expect_status 1
expect_err '^vestige sweep: pipe1: 1 of 1 points failed: pipe1 is not a regular file$'
expect_err '^vestige sweep: pipe2: 1 of 1 points failed: pipe2 is not a regular file$'
expect_equal "$(find unreadable/results -type f | wc -l)" 1 "files of results"

if [ -z "$sanitized" ]; then # which takes terabytes of addresses
    begin tries_again_what_lacked_memory
    run "$VESTIGE" sweep --csv --jobs 1 --store enough -t mcfTR_e:gshare=16777216 a.vest
    cp "$out" enough.csv
    lacking=0
    for kilobytes in 20000 30000 40000 60000; do
        rm -rf lacks
        run bash -c 'ulimit -v "$0"; exec "$@"' $kilobytes "$VESTIGE" sweep --csv --jobs 1 --store lacks \
            -t mcfTR_e:gshare=16777216 a.vest
        if grep -q '1 of 1 points failed: out of memory$' "$err"; then
            lacking=$((lacking + 1))
            expect_equal "$(find lacks/results -type f | wc -l)" 0 "files of results"
        fi
        run "$VESTIGE" sweep --csv --jobs 1 --store lacks -t mcfTR_e:gshare=16777216 a.vest
        expect_status 0
        cmp -s "$out" enough.csv || fail "another table"
    done
    [ $lacking -gt 0 ] || fail "memory was never short"
fi

begin lets_recorded_programs_have_all_signals
cat >mask.ini <<'END'
[record blocked]
command = sh -c "grep SigBlk /proc/self/status >>{to}{n}"
options = --control-only
n = 1|2
[techniques]
mcfTR_e
END
for jobs in 1 4; do
    run "$VESTIGE" sweep --csv --jobs $jobs --store "mask$jobs" --define "to=$T/mask-$jobs-" mask.ini
    expect_status 0
done
expect_equal "$(cat mask-?-? | wc -l)" 4 "programs that were recorded"
expect_equal "$(sort -u mask-?-? | wc -l)" 1 "different masks"

begin ends_a_recording_if_it_is_interrupted
cat >long.ini <<'END'
[record long]
command = sh -c "echo >{to}; exec sleep 1000"
options = --control-only
[techniques]
mcfTR_e
END
bash -c 'exec "$@"' _ "$VESTIGE" sweep --store long --define "to=$T/started" long.ini >"$out" 2>"$err" &
pid=$!
await test -e started
kill -TERM $pid
wait $pid
expect_equal $? 143
expect_err '^vestige sweep: stopped before anything was measured; the same command goes on$'
expect_equal "$(find long/runs -type f | wc -l)" 0 "files left"

begin changes_nothing_to_tell_the_state
cat >state.ini <<'END'
[runs]
file = a.vest
[record fft]
command = {fft} -n 4
[techniques]
mcfTR_e:gshare=256|512
END
run "$VESTIGE" sweep --json --status --define "fft=$fft" state.ini
expect_status 0
expect_equal "$(jq -c '[.units, .done, .missing]' "$out")" '[4,0,4]'
expect_no_file state.sweep
run "$VESTIGE" sweep --csv --define "fft=$fft" state.ini
expect_status 0
run "$VESTIGE" sweep --json --status --define "fft=$fft" state.ini
expect_equal "$(jq -c '[.units, .done, .missing]' "$out")" '[4,4,0]'
file=$(find state.sweep/results -type f | head -n 1)
printf x | dd of="$file" bs=1 seek=60 conv=notrunc status=none
run "$VESTIGE" sweep --json --status --define "fft=$fft" state.ini
expect_err '^vestige sweep: 1 damaged files of results are of no use; they are measured again$'
expect_file "$file"

begin records_once
cat >r.ini <<'END'
[record]
threads = 1|2
options = --cores {threads} {mode}
as = /bin/program
[record fft]
mode = plain:|timed:--timed
command = {fft} -n 4 -p {threads}
group = {mode_group}
[techniques]
mcfTR_e:gshare=256|512
[variables]
mode_group = all_of_them
[sweep]
columns = kind run name threads mode technique config bits cycles
END
run "$VESTIGE" sweep --csv --define "fft=$fft" r.ini
expect_status 0
cp "$out" r.csv
expect_out '^"run","fft-1-plain","fft","1","plain","mcfTR_e","gshare=256",[0-9]+,$'
expect_out '^"run","fft-2-timed","fft","2","timed","mcfTR_e","gshare=512",[0-9]+,[0-9]+$'
expect_out '^"sum","all_of_them","fft",,,"mcfTR_e","gshare=512",[0-9]+,$'
run "$VESTIGE" sweep --json --define "fft=$fft" --set columns="kind run bits instructions rebuild" r.ini
mkdir rebuilt
jq -r 'select(.kind == "sum" and .run == "all") | .rebuild + " --json"' "$out" | head -1 >rebuilt/line
expect_equal "$(cd rebuilt && PATH=${VESTIGE%/*}:$PATH bash line 2>/dev/null | grep '^{' | jq -cs '.[-1] | [.bits, .instructions]')" \
    "$(jq -c 'select(.kind == "sum" and .run == "all") | [.bits, .instructions]' "$out" | head -1)" "the sum, recorded and measured again"
mkdir elsewhere
cp "$fft" elsewhere/other
run "$VESTIGE" sweep --csv --define "fft=elsewhere/other" --store r2 r.ini
cmp -s "$out" r.csv || fail "another table if the program lies elsewhere"
run "$VESTIGE" sweep --json --status --define "fft=elsewhere/other" --store r.sweep r.ini
expect_equal "$(jq -c '[.units, .done, .missing]' "$out")" '[8,8,0]' # the same recordings
run "$VESTIGE" sweep --csv --define "fft=elsewhere/other" --store r.sweep r.ini
cmp -s "$out" r.csv || fail "another table from a store that others filled"
find r.sweep/runs -type f -exec ls -li --time-style=full-iso {} + | sort >before
run "$VESTIGE" sweep --csv --define "fft=$fft" r.ini
find r.sweep/runs -type f -exec ls -li --time-style=full-iso {} + | sort | cmp -s - before || fail "recorded again"

begin measures_only_the_runs_that_are_wanted
cat >o.ini <<'END'
[sweep]
only    = threads=1..2
only    = mode=plain
columns = kind run workload=name threads mode config group_bits=bits
order   = runs
[record]
threads = 1|2|4
mode    = plain:|timed:--timed
options = --cores {threads} {mode}
as      = /bin/program
group   = {mode}-{threads}
[record fft]
command = {fft} -n 4 -p {threads}
[record more]
command = {fft} -n 5 -p {threads}
[techniques]
mcfTR_e:gshare=256
# for two cores alone
[techniques plain-2]
mcfTR_e:gshare=512
[techniques timed-4]
mcfTR_e:gshare=1024
END
run "$VESTIGE" sweep --csv --define "fft=$fft" o.ini
expect_status 0
expect_no_err
expect_equal "$(head -1 "$out")" kind,run,workload,threads,mode,config,group_bits
expect_equal "$(grep '^"run"' "$out" | cut -d, -f 2,6)" '"fft-1-plain","gshare=256"
"fft-2-plain","gshare=256"
"fft-2-plain","gshare=512"
"more-1-plain","gshare=256"
"more-2-plain","gshare=256"
"more-2-plain","gshare=512"'
# A sum is there if the technique is for all of its runs; all sums come after the runs.
expect_equal "$(sed 1d "$out" | grep -v '^"run"' | cut -d, -f 1,2,6)" '"sum","all","gshare=256"
"mean","all","gshare=256"
"sum","plain-1","gshare=256"
"mean","plain-1","gshare=256"
"sum","plain-2","gshare=256"
"mean","plain-2","gshare=256"
"sum","plain-2","gshare=512"
"mean","plain-2","gshare=512"'
cp "$out" o.csv
expect_equal "$(find o.sweep/runs -name '*.vest' | wc -l)" 4
run "$VESTIGE" sweep --json --status --define "fft=$fft" o.ini
expect_equal "$(jq -c '[.runs, .points, .units, .done, .missing]' "$out")" '[4,2,6,6,0]'
run "$VESTIGE" sweep --csv --define "fft=$fft" --set order=points o.ini
cmp -s <(sort "$out") <(sort o.csv) || fail "other rows in another order"
expect_equal "$(sed -n 2,4p "$out" | cut -d, -f 2)" '"fft-1-plain"
"fft-2-plain"
"more-1-plain"'
# What is said last counts, and a run that is for no technique is not recorded.
run "$VESTIGE" sweep --csv --define "fft=$fft" --set only=threads=4 --set only=mode=timed --set only=name=more o.ini
expect_status 0
expect_equal "$(sed 1d "$out" | cut -d, -f 2,5,6)" '"more-4-timed","timed","gshare=256"
"more-4-timed","timed","gshare=1024"'
sed '/gshare=256/d' o.ini >o2.ini
run "$VESTIGE" sweep --csv --define "fft=$fft" --store o2 --set only=mode=plain\|timed o2.ini
expect_status 0
expect_equal "$(find o2/runs -name '*.vest' | wc -l)" 2
run "$VESTIGE" sweep --define "fft=$fft" --set search=random --set budget=3 o.ini
expect_status 2
expect_one_line_err
expect_err "^vestige sweep: o\.ini:20: a search tries each technique on all runs, not on those of 'plain-2'$"

# refused LINE REASON: what is on standard input is no study.
refused() {
    cat >bad.ini
    run "$VESTIGE" sweep --store bad bad.ini
    expect_status 2
    expect_one_line_err
    expect_err "^vestige sweep: bad\\.ini:$1: $2"
    expect_no_out
}

begin names_the_line_of_what_is_wrong
refused 2 "no key 'nope' in \[sweep\]; there are: columns" <<<$'[sweep]\nnope = 1'
refused 1 "no section \[nope\]" <<<'[nope]'
refused 1 "'x = 1' stands before" <<<'x = 1'
refused 2 "'x' is not 'key = value'" <<<$'[sweep]\nx'
refused 2 "batch has no value" <<<$'[sweep]\nbatch ='
refused 2 "'-1' is not a number" <<<$'[sweep]\nseed = -1'
refused 2 "no technique 'nope'" <<<$'[techniques]\nnope:gshare=256'
refused 2 "no .*'nope'" <<<$'[techniques]\nmcfTR_e:nope=256'
refused 2 "the range '512..256\*2' is empty" <<<$'[techniques]\nmcfTR_e:gshare=512..256*2'
refused 2 "gshare is a power of two, not 3" <<<$'[techniques]\nmcfTR_e:gshare=1..3+1'
refused 2 "'\*' stands for words" <<<$'[techniques]\nmcfTR_e:gshare=*'
refused 2 "'nope' is no constraint" <<<$'[sweep]\nconstraint = nope'
refused 2 "no technique has a parameter 'nope'" <<<$'[sweep]\nconstraint = nope<=5'
refused 2 "nothing is called 'nope'" <<<$'[sweep]\ncolumns = nope\n[runs]\nfile = a.vest\n[techniques]\nmcfTR_e'
refused 2 "there are two columns 'bits'" <<<$'[sweep]\ncolumns = bits gates bits\n[runs]\nfile = a.vest\n[techniques]\nmcfTR_e'
refused 4 "there are two columns 'N'" <<<$'[record x]\ncommand = x\n[sweep]\ncolumns = n N\n[techniques]\nmcfTR_e'
refused 2 "'a-b=bits' is no name" <<<$'[sweep]\ncolumns = a-b=bits'
refused 3 "there are two columns 'bits'" <<<$'[sweep]\ncolumns = bits\ncolumns = bits=gates\n[runs]\nfile = a.vest\n[techniques]\nmcfTR_e'
refused 2 "nothing is called 'nope'" <<<$'[sweep]\ncolumns = bits=nope\n[runs]\nfile = a.vest\n[techniques]\nmcfTR_e'
refused 2 "'nope' is not points or runs" <<<$'[sweep]\norder = nope'
refused 2 "'nope' is not NAME=VALUES" <<<$'[sweep]\nonly = nope'
refused 2 "'nope=' is not NAME=VALUES" <<<$'[sweep]\nonly = nope='
refused 2 "no recorded run has a 'nope'" <<<$'[sweep]\nonly = nope=1\n[record x]\ncommand = true\n[techniques]\nmcfTR_e'
refused 2 "the range '2..1' is empty" <<<$'[sweep]\nonly = n=2..1\n[record x]\nn = 1\ncommand = true\n[techniques]\nmcfTR_e'
refused 2 "no run is left with n=2" <<<$'[sweep]\nonly = n=2\n[record x]\nn = 1\ncommand = true\n[techniques]\nmcfTR_e'
refused 4 "no run is in 'nope'" <<<$'[record x]\ncommand = true\n[techniques nope]\nmcfTR_e'
refused 2 "both are 'bits'" <<<$'[sweep]\nminimise = bits bits\n[runs]\nfile = a.vest\n[techniques]\nmcfTR_e'
refused 2 "there is no run 'none.vest'" <<<$'[runs]\nfile = none.vest\n[techniques]\nmcfTR_e'
refused 2 "no file matches 'none\*'" <<<$'[runs]\nfile = none*\n[techniques]\nmcfTR_e'
refused 3 "the run 'a.vest' is named twice" <<<$'[runs]\nfile = a.vest\nfile = a.vest\n[techniques]\nmcfTR_e'
refused 2 "no point has storage<=5; the nearest has [0-9]+" <<<$'[sweep]\nconstraint = storage<=5\n[runs]\nfile = a.vest\n[techniques]\nmcfTR_e'
refused 4 "no point fits together" <<<$'[runs]\nfile = a.vest\n[techniques]\nmcfTG:ittage=1'
refused 1 "\[record x\] has no command" <<<$'[record x]\n[techniques]\nmcfTR_e'
refused 1 "there is no program for 'none -n 4'" <<<$'[record x]\ncommand = none -n 4\n[techniques]\nmcfTR_e'
refused 1 'a quotation does not end: ls "a' <<<$'[record x]\ncommand = ls "a\n[techniques]\nmcfTR_e'
refused 1 "nothing has the name 'y'" <<<$'[record x]\ncommand = {y}\n[techniques]\nmcfTR_e'

begin refuses_what_is_no_study
run "$VESTIGE" sweep none.ini
expect_status 2
expect_one_line_err
run "$VESTIGE" sweep -t mcfTR_e:gshare=3 a.vest
expect_status 2
expect_err '^vestige sweep: command line: gshare is a power of two, not 3$'
run "$VESTIGE" sweep -t mcfTR_e none.vest
expect_status 2
expect_err "^vestige sweep: command line: there is no run 'none.vest'$"
run "$VESTIGE" sweep a.vest
expect_status 2
expect_err "there is no technique"
run "$VESTIGE" sweep --csv --json s.ini
expect_status 2
run "$VESTIGE" sweep --csv -o table.csv s.ini
expect_status 2
expect_err 'table\.csv: exists; -f replaces it'

finish
