#!/bin/bash
# SPDX-License-Identifier: MIT
# Recordings that come to no end: the disk is full, or the recorder is killed. What was written stays, is not replaced
# unasked, and `vestige salvage` makes a run of it that is as good as any other.
. "$(dirname "$0")/lib.sh"

P=$VESTIGE_SRC/tests/programs
cc=$(sed -n 's/^CC=//p' "$VESTIGE_BUILD/config")
cd "$T" || exit 2
# shellcheck disable=SC2086 # a compiler may have options
$cc -O1 -D_GNU_SOURCE -pthread -o end "$P/real_end.c" || exit 2
fft=$(workload rv64 fft)

# limited KB COMMAND...: no file may grow beyond that.
limited() {
    (
        ulimit -f "$1"
        shift
        exec "$@"
    )
}

# expect_good FILE: passes what whole runs do, and says what it lacks.
expect_good() {
    run "$VESTIGE" check --flow "$1"
    expect_status 0
    run "$VESTIGE" info "$1"
    expect_status 0
    expect_no_err
    expect_out '^ *incomplete +salvaged: '
    run "$VESTIGE" verify -t mcfTR_e -t mlvCF_e "$1"
    expect_status 0
    expect_out 'all equal$'
}

# expect_saved: of a recording of run.vest that failed.
expect_saved() {
    expect_status 2
    expect_one_line_err
    expect_err "[1-9][0-9,]* events are saved: 'vestige salvage run.vest.partial'\$"
    expect_no_file run.vest
    expect_file run.vest.partial
    saved=$(sed 's/.*; \([0-9,]*\) events are saved.*/\1/' "$err" | tr -d ,)
}

begin keeps_what_fits_on_the_disk
if [ -z "$brief" ]; then
    run limited 17000 timeout 60 "$VESTIGE" record --all -o run.vest ./end loop # 16 MB are for what is shared with Valgrind
    expect_saved
    run "$VESTIGE" salvage run.vest.partial
    expect_good run.vest
    rm -f run.vest run.vest.partial
fi
run limited 4000 timeout 60 "$VESTIGE" record -o run.vest --cores 2 "$fft" -n 14 -p 2
expect_saved
expect_err 'File too large'

begin makes_a_run_of_it
cp run.vest.partial before
run "$VESTIGE" salvage run.vest.partial
expect_status 0
expect_no_err
expect_out "^run.vest: [0-9,]+ instructions, $(sed ':a;s/\B[0-9]\{3\}\>/,&/;ta' <<<"$saved") events, 2 threads\$"
cmp -s before run.vest.partial || fail "the partial file was changed"
expect_no_file run.vest.salvaged
expect_equal "$("$VESTIGE" info --no-scan --json run.vest | jq .events)" "$saved"
expect_good run.vest

begin refuses_to_replace_a_run_unasked
cp run.vest whole.vest
run "$VESTIGE" salvage run.vest.partial
expect_status 2
expect_one_line_err
expect_err 'run.vest: exists; -f replaces it'
cmp -s run.vest whole.vest || fail "it was replaced"
run "$VESTIGE" salvage --json -f run.vest.partial
expect_status 0
expect_equal "$(jq -r '[.file, .from, .events, .threads] | @csv' "$out")" "\"run.vest\",\"run.vest.partial\",$saved,2"
run "$VESTIGE" salvage --json -o other.vest run.vest.partial
expect_status 0
cmp -s run.vest other.vest || fail "they differ"

# A partial file with events is not replaced, nor deleted, unless the user says so.
begin spares_what_was_saved
rm -f run.vest
run "$VESTIGE" record -o run.vest ./end _exit
expect_status 2
expect_one_line_err
expect_no_out
expect_err "run.vest.partial has $saved events of a run that was cut off; 'vestige salvage' .* -f discards it"
cmp -s before run.vest.partial || fail "it was changed"
run "$VESTIGE" record -f -o run.vest ./end _exit
expect_status 42
expect_no_file run.vest.partial
run "$VESTIGE" info --no-scan run.vest
expect_status 0

begin replaces_what_has_no_events
rm -f run.vest
for text in '' 'left over'; do
    printf '%s' "$text" >run.vest.partial
    run "$VESTIGE" record -f -o run.vest ./end _exit
    expect_status 42
    expect_no_file run.vest.partial
done
rm -f run.vest
head -c 100 whole.vest >run.vest.partial
run "$VESTIGE" record -o run.vest ./end _exit
expect_status 42

begin leaves_nothing_if_there_was_nothing_to_save
rm -f run.vest
run limited 1 timeout 60 "$VESTIGE" record -o run.vest "$fft" -n 4
expect_status 2
expect_one_line_err
expect_no_file run.vest.partial

# Of a run whose last chunk does not fit, and of one whose index does not.
begin keeps_a_simulated_run_that_cannot_be_sealed
"$VESTIGE" record -f -o full.vest --cores 2 --timed "$fft" -n 10 -p 2 >"$out" 2>&1
size=$(stat -c %s full.vest)
for left in 1 0; do
    rm -f run.vest run.vest.partial
    run limited $((size / 1024 + 1 - left)) "$VESTIGE" record -o run.vest --cores 2 --timed "$fft" -n 10 -p 2
    if [ $status = 2 ]; then
        expect_one_line_err
        [ ! -e run.vest.partial ] || { expect_saved; run "$VESTIGE" salvage run.vest.partial; expect_status 0; }
    else
        expect_status 0
    fi
done

begin keeps_all_but_the_seal
rm -f run.vest run.vest.partial
if [ -z "$sanitized" ]; then
    LD_PRELOAD=$VESTIGE_BUILD/test/inject.so VESTIGE_FAULT=sync:EIO:1 run "$VESTIGE" record -o run.vest --cores 2 "$fft" -n 4 -p 2
    expect_saved
    run "$VESTIGE" salvage run.vest.partial
    expect_status 0
    expect_out '^nothing is missing'
    run "$VESTIGE" check --flow --memory run.vest
    expect_status 0
    expect_equal "$("$VESTIGE" info --no-scan --json run.vest | jq .meta.incomplete)" null
fi

begin saves_what_a_killed_recorder_wrote
rm -f run.vest run.vest.partial
_command='record, killed'
"$VESTIGE" record --all -o run.vest ./end loop >"$out" 2>"$err" &
recorder=$!
for _ in $(seq 1200); do
    [ "$(stat -c %s run.vest.partial 2>/dev/null || echo 0)" -lt 500000 ] || break
    sleep 0.05
done
run "$VESTIGE" salvage run.vest.partial
expect_status 2
expect_one_line_err
expect_err 'run.vest.partial: is being written'
program=$(pgrep -P $recorder)
kill -9 $recorder
wait $recorder 2>/dev/null
kill -9 "$program"
expect_no_file run.vest
run "$VESTIGE" record -o run.vest ./end _exit
expect_status 2
expect_err 'cut off'
run "$VESTIGE" salvage run.vest.partial
expect_status 0
expect_good run.vest

# Inputs are few, and safe all the same.
begin saves_inputs_of_a_killed_recorder
rm -f run.vest run.vest.partial
_command='record of inputs, killed'
"$VESTIGE" record -o run.vest ./end loop >"$out" 2>"$err" &
recorder=$!
await has_bytes 10000 run.vest.partial
program=$(pgrep -P $recorder)
kill -9 $recorder
wait $recorder 2>/dev/null
kill -9 "$program"
run "$VESTIGE" salvage run.vest.partial
expect_status 0
[ "$("$VESTIGE" info --no-scan --json run.vest | jq .instructions)" -gt 1000000 ] || fail "few instructions"
run "$VESTIGE" check --inputs run.vest
expect_status 0
expect_no_err
expect_out '^run.vest: executed [1-9][0-9,]* instructions again, compared registers [1-9]'

begin saves_what_precedes_damage
rm -f run.vest run.vest.partial
cp whole.vest bad.vest
printf 'damage' | dd of=bad.vest bs=1 seek=$(($(stat -c %s whole.vest) / 2)) conv=notrunc 2>/dev/null
run "$VESTIGE" info --no-scan bad.vest
run "$VESTIGE" salvage -o run.vest bad.vest
expect_status 0
expect_good run.vest

begin refuses_what_is_no_run
echo text >text.partial
run "$VESTIGE" salvage text.partial
expect_status 1
expect_one_line_err
head -c 100 whole.vest >head.partial
run "$VESTIGE" salvage head.partial
expect_status 1
expect_one_line_err
run "$VESTIGE" salvage none.partial
expect_status 2
expect_one_line_err
run "$VESTIGE" salvage whole.vest
expect_status 2
expect_err '^vestige salvage: -o says'
run "$VESTIGE" salvage -f -o whole.vest whole.vest
expect_status 2
expect_one_line_err
expect_no_file text
expect_no_file head

# ---- files that may not grow ---------------------------------------------------------------------

begin reports_a_file_that_may_not_grow
rm -f run.vest*
for text in 'encode -t mcfNX_b -o x.vport whole.vest' 'bandwidth -t mcfTR_e -t bTMBP --plot x.svg whole.vest' \
    'mcfTrace -a -o x -i whole.vest' 'dump --limit 1000 whole.vest'; do
    # shellcheck disable=SC2086
    run limited 4 "$VESTIGE" $text
    expect_status 2
    expect_one_line_err
    expect_err 'File too large'
    expect_equal "$(ls x.* 2>/dev/null)" ''
done

begin lets_the_program_have_its_own_limit
cat >grows.c <<'END'
#include <fcntl.h>
#include <unistd.h>
int main(void)
{
    static char zeros[1 << 20];
    int fd = open("big", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    for (int i = 0; i < 32; i++)
        if (write(fd, zeros, sizeof(zeros)) < 0)
            return 3;
    return 4;
}
END
# shellcheck disable=SC2086
$cc -o grows grows.c && riscv64-linux-gnu-gcc -static -o grows.rv64 grows.c || fail "no compiler"
run limited 20000 "$VESTIGE" record --all -f -o run.vest --length 1000 ./grows
expect_status 153
run limited 20000 "$VESTIGE" simulate ./grows.rv64
expect_status 153
rm -f big run.vest

begin leaves_nothing_after_an_error
rm -f run.vest*
run limited 100 "$VESTIGE" salvage -o run.vest before
expect_status 2
expect_one_line_err
expect_equal "$(ls run.vest* 2>/dev/null)" ''

finish
