#!/bin/bash
# SPDX-License-Identifier: MIT
# Every command, with one call of the system or of the allocator after the other failing (tests/fault/inject.c).
# Whatever fails: the status is 0, 1 or 2; an error is one line that says so; a file has its final name only when it is
# complete, and an earlier one of that name is as it was; nothing else is left, but what a recording says it saved. What is interrupted or comes in parts
# makes no difference.
#
# A sample of the calls; with VESTIGE_LONG=1 each. FAULTS_ONLY=REGEX: only cases of these names. FAULTS_ALL=1: shows all that is
# wrong, not only the first of a case.
. "$(dirname "$0")/lib.sh"

inject=$VESTIGE_BUILD/test/inject.so
bin=$VESTIGE_BUILD/bin
if [ -n "$(sed -n 's/^SAN=//p' "$VESTIGE_BUILD/config")" ] || [ ! -e "$inject" ]; then
    skip_all "the sanitizers have an allocator of their own"
fi
export SOURCE_DATE_EPOCH=1700000000 LC_ALL=C TZ=UTC
long=${VESTIGE_LONG:-}

W=$T/work log=$T/log input=/dev/null
mkdir "$W" "$T/good"
cd "$W" || exit 2
attempts=0 fired=0 wrongs=0

# What the cases work on.
fft=$(workload rv64 fft)
run=$T/run.vest port=$T/run.vport flow=$T/flow.vport
"$VESTIGE" record --cores 2 --timed -o "$run" "$fft" -n 4 -p 2 >"$out" 2>&1 &&
    "$VESTIGE" encode -t mc2RT -o "$port" "$run" >>"$out" 2>&1 &&
    "$VESTIGE" encode -t mcfTR_e -o "$flow" "$run" >>"$out" 2>&1 &&
    "$VESTIGE" encode -t pt --raw "$T/flow.pt" "$run" >>"$out" 2>&1 &&
    "$bin/mcfTrace" -a -c gzip -o "$T/branches" -i "$run" >>"$out" 2>&1 &&
    "$bin/mlsTrace" -a -c gzip -store -o "$T/accesses" -i "$run" >>"$out" 2>&1 &&
    "$bin/tmTrace" --cores 2 --mcf --mTrace "$T/mcf.gz" "$fft" -n 4 -p 2 >>"$out" 2>&1 &&
    "$bin/tmTrace" --cores 2 --mld --mst --mTrace "$T/mld.gz" "$fft" -n 4 -p 2 >>"$out" 2>&1 || {
    cat "$out"
    exit 2
}
printf '#include <unistd.h>\nint main(void) { return write(1, "x", 1) == 1 ? 0 : 0; }\n' | gcc -static -x c -o "$T/native" - || exit 2
"$VESTIGE" record -q -f --inputs --all -o "$T/both.vest" -- /bin/true || exit 2
"$VESTIGE" shrink -f -o "$T/short.vest" "$T/both.vest" >"$T/shrunk" || exit 2
head -c $(($(wc -c <"$run") - 30)) "$run" >"$T/cut" # without all of its index
printf 'cores = 2\n# of the platform\ntimed = yes\n' >"$T/platform"
printf '100 200\n# and\n1000 50\n' >"$T/windows"

# packet TEXT: as gdb sends it.
packet() {
    local i sum=0
    for ((i = 0; i < ${#1}; i++)); do sum=$((sum + $(printf %d "'${1:i:1}"))); done
    printf '+$%s#%02x' "$1" $((sum % 256))
}

for text in 'qSupported:xmlRegisters=riscv' 'qXfer:features:read:target.xml:0,fff' '?' g 'Z0,10400,2' \
    'vCont;s' 'vCont;c' bs bc 'm10000,40' qfThreadInfo 'qRcmd,74696d65' D; do
    packet "$text"
done >"$T/talk"

# ---- one attempt ---------------------------------------------------------------------------------

# attempt FAULT: the command of the case, with this fault. Every other time the outputs are there before.
attempt() {
    local name
    fault=$1
    attempts=$((attempts + 1))
    had=$((attempts % 2))
    : >"$log"
    rm -rf "$T/fresh"
    for name in $outputs; do
        if [ $had = 1 ]; then
            echo old >"$W/$name"
        elif [ -e "$W/$name" ]; then
            rm -f "$W/$name"
        fi
    done
    _command="VESTIGE_FAULT=$fault ${command[*]}"
    LD_PRELOAD=$inject VESTIGE_FAULT=$fault VESTIGE_FAULT_LOG=$log "${command[@]}" >"$out" 2>"$err" <"$input"
    status=$?
    ! was_hit || fired=$((fired + 1))
}

# wrong TEXT: like fail, and counts.
wrong() {
    wrongs=$((wrongs + 1))
    fail "$*"
    [ -z "${FAULTS_ALL:-}" ] || echo "WRONG ${_case#survives_faults_of_}: $*: $_command ($(head -n 3 "$err" | tr '\n' '|'))"
}

# was_hit: whether the call was made that was to fail.
was_hit() {
    local word count
    while read -r word count _; do
        [ "$word" != fired ] || [ "$count" = 0 ] || return 0
    done <"$log"
    return 1
}

# same FILE GOOD: but for times, and the system's numbers of threads.
same() {
    case $kind:$1 in
    native:*/out) [ "$(sed 's/[0-9]*$//' "$1")" = "$(sed 's/[0-9]*$//' "$2")" ] ;;
    *.Statistics) [ "$(sed 's/Time.*//' "$1")" = "$(sed 's/Time.*//' "$2")" ] ;;
    *) cmp -s "$1" "$2" ;;
    esac
}

# instructions PAGE: what a page says of them.
instructions() {
    sed -n '/id="data">$/,/^<.script>$/p' "$1" | sed '1d;$d' | jq '.runs[0] | [.instructions, .routines.values]' 2>&1
}

# complete NAME: the output is what it should be. Of a program that ran natively, a run that is whole.
complete() {
    case $kind:$1 in
    native:*.vest) [ -e "$W/$1" ] && "$VESTIGE" check --quiet --flow "$W/$1" >/dev/null 2>&1 ;;
    native:*.gz) gzip -t "$W/$1" ;;
    native:*) [ -s "$W/$1" ] ;;
    # names and source lines are missing if an image cannot be read
    lines:*.html) [ "$(tail -n 1 "$W/$1")" = "</html>" ] && [ "$(instructions "$W/$1")" = "$(instructions "$T/good/$1")" ] ;;
    *) same "$W/$1" "$T/good/$1" ;;
    esac
}

# is_saved NAME: it is what a recording saved, which says so, and reads as a run.
is_saved() {
    [ $status = 2 ] && grep -q "events are saved: 'vestige salvage $1'\$" "$err" &&
        "$VESTIGE" salvage -f -o "$T/saved.vest" "$W/$1" >"$T/saved" 2>&1 && "$VESTIGE" check --quiet --flow "$T/saved.vest" >"$T/saved" 2>&1
}

expect_nothing_else() {
    local file name
    for file in "$W"/* "$W"/.[!.]*; do
        [ -e "$file" ] || continue
        name=${file##*/}
        [[ " $outputs " != *" $name "* ]] || continue
        ! is_saved "$name" || { rm -f "$file" && continue; }
        wrong "left behind: $name"
        rm -rf "$file"
    done
}

expect_whole_outputs() {
    local name
    for name in $outputs; do
        complete "$name" || wrong "status 0, but $name is not complete"
    done
    case $kind in
    # A name is left out if its image cannot be read; then the run says the same without.
    names | lines) same "$out" "$T/good/.out" || same "$out" "$T/good/.nameless" || wrong "status 0, but the output differs" ;;
    # A debugger is told what fails.
    talks) same "$out" "$T/good/.out" || grep -q '[$][EO]' "$out" || wrong "status 0, but the answers differ" ;;
    *) same "$out" "$T/good/.out" || wrong "status 0, but the output differs" ;;
    esac
}

# After a failure: each is as it was, or (of two, made one after the other) complete.
expect_old_outputs() {
    local name text
    for name in $outputs; do
        if [ -e "$W/$name" ]; then
            text=
            read -r text 2>/dev/null <"$W/$name"
            { [ $had = 1 ] && [ "$text" = old ]; } || complete "$name" ||
                wrong "failed, but $name is there, and neither the old nor complete"
        elif [ $had = 1 ]; then
            wrong "failed, and the old $name is gone"
        fi
    done
}

# expect_one_error: says what failed. A fault that goes on may have to be told of two files.
expect_one_error() {
    local line n=0
    while IFS= read -r line; do
        [[ $line != 'vestige debug: '*' debugger '?(comes|leaves) ]] || continue
        [[ $kind != runs || $line != 'fft: '* ]] || continue
        n=$((n + 1))
        [[ $line =~ ^vestige\ [a-zA-Z]+:\ .+ ]] || wrong "what error is that?"
    done <"$err"
    [ $n = 1 ] || { [ $n = 2 ] && [ "${fault: -1}" = + ]; } || wrong "$n lines of errors"
}

# What the program is told of its own calls is its business; the run of that is whole.
expect_program_ended() {
    local name
    for name in $outputs; do
        [[ $name != *.vest ]] || "$VESTIGE" check --quiet --flow "$W/$name" >/dev/null 2>&1 ||
            wrong "the program failed, and $name is not complete"
    done
}

# sound: what holds whatever happened.
sound() {
    expect_nothing_else
    case $status in
    0) expect_whole_outputs ;;
    1 | 2)
        if [ "$kind" = runs ] && grep -q '^fft: ' "$err" && ! grep -q '^vestige [a-zA-Z]*: ' "$err"; then
            expect_program_ended
        else
            expect_one_error
            expect_old_outputs
        fi
        ;;
    *) wrong "status $status" ;;
    esac
}

# ---- the faults of a case ------------------------------------------------------------------------

# numbers COUNT SAMPLES: 1 to COUNT, or a sample of them that has both ends (or is the middle).
numbers() {
    local i
    if [ "$2" = 1 ] && [ "$1" -gt 0 ]; then
        echo $(($1 / 2 + 1))
        return
    fi
    for ((i = 0; i < ($1 < $2 ? $1 : $2); i++)); do
        echo $((1 + ($1 > $2 ? i * ($1 - 1) / ($2 - 1) : i)))
    done
}

# each CLASS HOW SAMPLES [+]: with a fault that goes on some suffice, since it meets later calls as well.
each() {
    local n most=$3
    if [ -n "$long" ]; then
        most=1000000
        [ -z "${4-}" ] || most=20
    elif [ "$kind" = native ]; then
        most=1
    else
        most=$(((most + 1) / 2))
    fi
    for n in $(numbers "${calls[$1]}" "$most"); do
        attempt "$1:$2:$n${4-}"
        sound
    done
}

# harmless CLASS HOW: all calls of the class; nothing changes.
harmless() {
    [ "${calls[$1]}" != 0 ] || return
    attempt "$1:$2:1+"
    expect_nothing_else
    if [ $status = 0 ]; then expect_whole_outputs; else wrong "status $status"; fi
}

# good: counts the calls of the command, and keeps what it makes.
good() {
    local word count name
    rm -rf "$T"/good/* "$T"/good/.[a-z]* "$W"/* "$log" "$T/fresh"
    _command=${command[*]}
    LD_PRELOAD=$inject VESTIGE_FAULT_LOG=$log "${command[@]}" >"$out" 2>"$err" <"$input"
    status=$?
    expect_status 0
    declare -gA calls=()
    while read -r word count _; do calls[$word]=$count; done <"$log"
    cp "$out" "$T/good/.out"
    for name in $outputs; do cp "$W/$name" "$T/good/$name"; done
    [[ $kind != @(names|lines) ]] || LD_PRELOAD=$inject VESTIGE_FAULT=open:EMFILE:2 "${command[@]}" >"$T/good/.nameless"
}

# try NAME OUTPUTS COMMAND...: these files are made by it, here. $kind: what else there is to it.
try() {
    [[ $1 =~ ${FAULTS_ONLY:-.} ]] || return
    begin "survives_faults_of_$1"
    outputs=$2
    shift 2
    command=("$@")
    good
    [ $_bad = 0 ] || return
    # libdw ends the process with an assertion if there is no memory for a table of its own.
    if [ "$kind" != lines ]; then
        each memory ENOMEM 8
        each memory ENOMEM 2 +
    fi
    each map ENOMEM 2
    each thread EAGAIN 3
    each process EAGAIN 2
    each open EMFILE 3
    each read EIO 4
    each read EIO 2 +
    each write ENOSPC 3 +
    each write EIO 2
    each sync EIO 2
    each rename EACCES 2
    each close EIO 2
    each files EIO 3
    harmless read EINTR
    harmless read short
    harmless write EINTR
    harmless write short
    harmless wait EINTR
}

# spread COUNT SAMPLES: some of 1 to COUNT, evenly, and others each time.
spread() {
    local i
    turn=$((turn + 1))
    for ((i = 0; i < $2; i++)); do
        echo $((1 + (i * $1 / $2 + turn * 7919) % $1))
    done
}

# lacking NAME OUTPUTS COMMAND...: as try, of allocations only. The data are right: the status is never 1.
lacking() {
    local n numbers
    [[ $1 =~ ${FAULTS_ONLY:-.} ]] || return
    begin "survives_a_lack_of_memory_of_$1"
    outputs=$2
    shift 2
    command=("$@")
    good
    [ $_bad = 0 ] || return
    if [ -n "$long" ]; then numbers=$(seq "${calls[memory]}"); else numbers=$(spread "${calls[memory]}" 4); fi
    for n in $numbers; do
        attempt "memory:ENOMEM:$n"
        sound
        [ $status != 1 ] || wrong "status 1, of data that are right"
    done
}

kind=names
try info '' "$VESTIGE" info "$run"
try info_json '' "$VESTIGE" info --json "$run"
kind=
try dump '' "$VESTIGE" dump --limit 3000 "$run"
try dump_blocks '' "$VESTIGE" dump --blocks "$run"
kind=lines
try dump_lines '' "$VESTIGE" dump --source --disassemble --from 1000 --limit 200 "$run"
try info_lines '' "$VESTIGE" info --source "$run"
try dump_calls '' "$VESTIGE" dump --stack --from 1000 --limit 200 "$run"
try info_callers '' "$VESTIGE" info --callers "$run"
try info_folded '' "$VESTIGE" info --folded "$run"
for format in folded speedscope pprof; do
    try export_$format '' "$VESTIGE" export --to $format -o - "$run"
done
try report x.html "$VESTIGE" report -t mcfTR_e -f -o x.html "$run"
try diff '' "$VESTIGE" diff "$run" "$run"
kind=
for format in lackey din csv vcd 'perfetto -t mcfNX_b'; do
    # shellcheck disable=SC2086 # words
    try export_${format%% *} x.out "$VESTIGE" export -f -o x.out --to $format "$run"
done
try decode_instructions '' "$VESTIGE" decode --disassemble --until 5000 "$flow"
try check '' "$VESTIGE" check --memory --flow "$run"
try techniques '' "$VESTIGE" techniques mcfTR_e
try salvage x.vest "$VESTIGE" salvage -f -o x.vest "$T/cut"
# A recording that can be told to go on and to pause.
gcc -O1 -o "$T/waits" "$VESTIGE_SRC/tests/programs/waits.c" || exit 2
"$VESTIGE" record -q --paused -o "$T/paused.vest" -- "$T/waits" "$T/ready" "$T/stop" &
recorder=$!
await test -e "$T/ready"
try resume '' "$VESTIGE" resume $recorder
try pause '' "$VESTIGE" pause $recorder
: >"$T/stop"
wait $recorder || fail 'the recording failed'
try expand x.vest "$VESTIGE" expand -f -o x.vest "$T/short.vest"
try expand_a_part x.vest "$VESTIGE" expand -f --skip 100 --length 1000 --no-shared-libs -o x.vest "$T/short.vest"
try sample '' "$VESTIGE" bandwidth -t mcfTR_e --sample 5K:1K "$T/short.vest"
try shrink x.vest "$VESTIGE" shrink -f -o x.vest "$T/both.vest"
try check_inputs '' "$VESTIGE" check --inputs "$T/both.vest"
try bandwidth '' "$VESTIGE" bandwidth "$run"
kind=lines
try bandwidth_by '' "$VESTIGE" bandwidth -t mcfTR_e -t mc2RT --by line "$run"
kind=
try bandwidth_csv '' "$VESTIGE" bandwidth ${long:+-t all} --window 1K --buffer 1 --csv "$run"
try sweep '' "$VESTIGE" sweep --csv --store "$T/fresh" --jobs 1 --set batch=2 --set 'constraint=gates<=1m' -t mcfTR_e:gshare=256..1024*2 "$run"
try sweep_guided '' "$VESTIGE" sweep --csv --store "$T/guided" --jobs 1 --set search=guided --set budget=4 -t 'mcfTR_e:gshare=256..4096*2,ras=2|4' "$run"
try bandwidth_plot x.svg "$VESTIGE" bandwidth -t mcfTR_e -t bTMBP -f --plot x.svg "$run"
try compressors '' "$VESTIGE" compressors "$run"
try chunks '' "$VESTIGE" chunks -t mcfTR_e "$run"
try entropy '' "$VESTIGE" entropy "$run"
try locality '' "$VESTIGE" locality "$run"
try encode_values x.vport "$VESTIGE" encode -f -t mc2RT -o x.vport "$run"
try encode_flow x.vport "$VESTIGE" encode -f -t mcfTR_e -o x.vport "$run"
try encode_plainly 'x.pt.0 x.pt.1 x.pt.code x.pt.json' "$VESTIGE" encode -f -t pt --raw x.pt "$run"
try import x.vest "$VESTIGE" import -f --from pt "$T/flow.pt" -o x.vest
try import_image x.vest "$VESTIGE" import -f --from pt --isa rv64 --image "$fft" "$T/flow.pt.0" "$T/flow.pt.1" -o x.vest
try decode '' "$VESTIGE" decode "$flow"
try decode_image '' "$VESTIGE" decode --image "$fft" --summary "$flow"
try decode_code '' "$VESTIGE" decode --code "$run" --json "$flow"
try verify_stream '' "$VESTIGE" verify --stream "$port" "$run"
for t in mcfTR_e mc2RT ADAC; do
    try "verify_$t" '' "$VESTIGE" verify -t "$t" "$run"
done
try replay '' "$VESTIGE" replay --print-output --registers "$port"
try replay_check '' "$VESTIGE" replay --check "$run" --json "$port"
kind=talks input=$T/talk
try debug '' "$VESTIGE" debug --stdio "$port"
try debug_run '' "$VESTIGE" debug --stdio "$run"
try debug_disk '' "$VESTIGE" debug --stdio --disk 64M "$run"

# What encoder and decoder of every technique allocate. Control flow is decoded, load values are replayed; going back clones
# their decoders.
turn=0
while read -r t of; do
    kind='' input=/dev/null x=$T/$t.vport
    "$VESTIGE" encode -t "$t" -o "$x" "$run" >/dev/null || exit 2
    lacking "bandwidth_of_$t" '' "$VESTIGE" bandwidth -t "$t" --window 1K "$run"
    lacking "encode_of_$t" x.vport "$VESTIGE" encode -f -t "$t" -o x.vport "$run"
    lacking "verify_of_$t" '' "$VESTIGE" verify -t "$t" "$run"
    lacking "stream_of_$t" '' "$VESTIGE" verify --stream "$x" "$run"
    case $of in
    control*) lacking "decode_of_$t" '' "$VESTIGE" decode --code "$run" "$x" ;;
    load*)
        lacking "replay_of_$t" '' "$VESTIGE" replay --registers "$x"
        kind=talks input=$T/talk
        "$VESTIGE" debug --stdio "$x" <"$input" >/dev/null 2>&1 && lacking "debug_of_$t" '' "$VESTIGE" debug --stdio "$x"
        ;;
    esac
    rm -f "$x"
done < <("$VESTIGE" techniques --json | jq -r '.[] | select(.decodable) | "\(.name) \(.kind)"')
kind='' input=/dev/null
try help '' "$VESTIGE" help record

kind=runs
try simulate '' "$VESTIGE" simulate --platform "$T/platform" "$fft" -n 4 -p 2
try record run.vest "$VESTIGE" record -f -o run.vest --cores 2 --timed "$fft" -n 4 -p 2
try record_windows run.vest "$VESTIGE" record -f -o run.vest --windows "$T/windows" "$fft" -n 4 -p 2
try record_from run.vest "$VESTIGE" record -f -o run.vest --from main --to exit "$fft" -n 4 -p 2
try tmTrace t.gz "$bin/tmTrace" -f --cores 2 --mcf --mTraceMax --mTrace t.gz "$fft" -n 4 -p 2

kind=
for tool in mcfTrace mlsTrace mcfTRaptor mlvCFiat; do
    try "$tool" 't.txt t.Statistics' "$bin/$tool" -a -o t -i "$run"
done
try mlsTrace_gzip 't.bin.gz t.Statistics' "$bin/mlsTrace" -c gzip -store -o t -i "$run"
try mcfTrace_routine 't.txt t.Statistics' "$bin/mcfTrace" -a -filter_rtn main -o t -i "$run"
try mcfTRaptor_text 't.txt t.Statistics' "$bin/mcfTRaptor" -a -o t -i "$T/branches.txt.gz" -code "$run"
try mlvCFiat_text 't.txt t.Statistics' "$bin/mlvCFiat" -a -o t -i "$T/accesses.txt.gz" -descriptors
try tmcfTRaptor 't.txt t.Statistics' "$bin/tmcfTRaptor" --o t "$T/mcf.gz"
try tmlvCFiat 't.txt t.Statistics' "$bin/tmlvCFiat" --o t "$T/mld.gz"

# Only vestige has the faults: neither Valgrind nor the program.
kind=native
try record_natively run.vest "$VESTIGE" record -f -o run.vest -- "$T/native"
if [ -n "$long" ]; then
    try record_routine run.vest "$VESTIGE" record -f --routine main -o run.vest -- "$T/native"
    try mcfTrace_natively 't.bin.gz t.Statistics' "$bin/mcfTrace" -c gzip -o t -- "$T/native"
fi

# Valgrind waits for an answer that does not come.
begin does_not_wait_for_a_lost_connection
rm -f "$W"/*
outputs=run.vest command=("$VESTIGE" record -f --routine main -o run.vest -- "$T/native")
LD_PRELOAD=$inject VESTIGE_FAULT_LOG=$log "${command[@]:0:2}" -q "${command[@]:2}" >"$out" 2>"$err"
reads=$(sed -n 's/^read //p' "$log") # at first of files, then of the connection, too; without -q also of files at the end
for fault in "read:EIO:$((reads * 3 / 4))+" write:EIO:2; do
    attempt $fault
    expect_status 2
    expect_err ': cannot (hear|answer) Valgrind: '
    sound
done

# A recording that follows children makes several files, at the same time. What is left is whole, or is what it says
# that it saved, and the list has it; no process stays.
begin survives_faults_of_following
cat >"$T/forks.c" <<'END'
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
    if (fork() == 0)
        _exit(write(1, "c", 1) == 1 ? 3 : 4);
    wait(NULL);
    return write(1, "x", 1) != 1;
}
END
gcc -static -o "$T/forks" "$T/forks.c" || fail "not compiled"

# follow FAULT: into the folder runs.
follow() {
    local file
    rm -rf runs
    attempts=$((attempts + 1))
    fault=$1
    : >"$log"
    _command="VESTIGE_FAULT=$1 record --follow"
    LD_PRELOAD=$inject VESTIGE_FAULT=$1 VESTIGE_FAULT_LOG=$log "$VESTIGE" record -q --follow -o runs -- "$T/forks" \
        >"$out" 2>"$err" </dev/null
    status=$?
    ! was_hit || fired=$((fired + 1))
    [ $status = 0 ] || [ $status = 2 ] || wrong "status $status"
    [ $status != 0 ] || [ "$(echo runs/*)" = "runs/1.vest runs/2.vest runs/manifest.json" ] ||
        wrong "status 0, but there is $(echo runs/*)"
    [ $status = 0 ] || expect_one_error
    for file in runs/*; do
        case $file in
        runs/\*) ;;
        runs/[12].vest) "$VESTIGE" check --quiet --flow "$file" >"$T/saved" 2>&1 || wrong "$file is not complete" ;;
        runs/[12].vest.partial) is_saved "$file" || wrong "$file is left, and not said to be" ;;
        runs/manifest.json) jq . "$file" >"$T/saved" 2>&1 || wrong "the list is not complete" ;;
        *) wrong "left behind: $file" ;;
        esac
    done
}

if [[ following =~ ${FAULTS_ONLY:-.} ]]; then
    follow ''
    expect_status 0
    declare -A calls=()
    while read -r word count _; do calls[$word]=$count; done <"$log"
    for class in memory:ENOMEM:12 map:ENOMEM:2 thread:EAGAIN:7 process:EAGAIN:1 open:EMFILE:8 read:EIO:6 write:ENOSPC:8 \
        sync:EIO:3 rename:EACCES:3 files:EIO:6 close:EIO:3; do
        IFS=: read -r class how most <<<"$class"
        [ -z "$long" ] || most=1000000
        for n in $(numbers "${calls[$class]}" "$most"); do
            follow "$class:$how:$n"
        done
    done
    for fault in read:EINTR:1+ wait:EINTR:1+ read:short:1+ write:short:1+; do
        follow $fault
        expect_status 0
    done
fi
rm -rf runs

begin tries_every_command
for name in $("$VESTIGE" help | sed -n 's/^  \([a-zA-Z]\+\) .*/\1/p'); do
    grep -qE "^ *try ${name}[_ ]" "$VESTIGE_SRC/tests/cli/faults.sh" || fail "no line 'try $name ...' above"
done

begin makes_the_faults
[ $fired -gt 800 ] || [ -n "${FAULTS_ONLY:-}" ] || fail "only $fired of $attempts attempts met their fault"
echo "$attempts attempts, $fired with a fault, $wrongs wrong"

# ---- streams that are closed, full or broken -----------------------------------------------------

[ -z "${FAULTS_ONLY:-}" ] || finish
rm -f "$W"/*

# Commands that print; words that are names of files stand for them.
printing=("info RUN" "info --json RUN" "dump RUN" "dump --json RUN" "check --memory RUN" techniques "techniques --json"
    "bandwidth RUN" "bandwidth -t mcfTR_e -f --plot x.svg RUN" "compressors --csv RUN" "chunks -t mcfTR_e RUN" "entropy RUN" "locality RUN" "decode FLOW"
    "verify -t mcfTR_e RUN" "replay PORT" help "help record" "encode -f -t mcfTR_e -o x.vport RUN" "import -f --from pt PLAIN -o x.vest" "salvage -f -o x.vest CUT" "expand -f -o x.vest RUN" "export --to csv -o - RUN" "debug --stdio PORT" "debug --stdio --disk 64M RUN"
    "mcfTrace -a -o t -i RUN" "mlsTrace -a -o t -i RUN" "mcfTRaptor -a -o t -i RUN" "mlvCFiat -a -o t -i RUN"
    "tmcfTRaptor --o t MCF" "tmlvCFiat --o t MLD")

# words TEXT: the command, in $command.
words() {
    local word
    command=("$VESTIGE")
    for word in $1; do
        word=${word//RUN/$run} word=${word//PORT/$port} word=${word//FLOW/$flow} word=${word//LONG/$T/long} word=${word//CUT/$T/cut} word=${word//PLAIN/$T/flow.pt}
        word=${word//MCF/$T/mcf.gz} word=${word//MLD/$T/mld.gz}
        command+=("$word")
    done
    input=/dev/null
    [[ $1 != debug* ]] || input=$T/talk
}

# expect_no_partial: what has its final name is complete, and nothing else is there.
expect_no_partial() {
    local file
    for file in "$W"/*.partial; do
        [ ! -e "$file" ] || fail "left behind: ${file##*/}"
    done
}

full() { "$@" >/dev/full; }
closed() { "$@" >&-; }
for how in full closed; do
    begin "reports_a_${how}_output"
    for text in "${printing[@]}"; do
        words "$text"
        fault=
        run $how "${command[@]}" <"$input"
        expect_status 2
        expect_one_error
        expect_err "cannot write the output: |cannot talk to the debugger: "
        expect_no_partial
        rm -f "$W"/*
    done
done

begin needs_no_input
no_input() { "$@" <&-; }
for text in "${printing[@]}"; do
    [[ $text != debug* ]] || continue
    words "$text"
    run "${command[@]}"
    cp "$out" "$T/wanted"
    run no_input "${command[@]}"
    expect_status 0
    cmp -s "$out" "$T/wanted" || fail "another output without standard input"
done

# Files must not get the numbers of the standard streams, and with them what is printed.
begin writes_files_with_all_streams_closed
nothing_open() { "$@" <&- >&- 2>&-; }
for text in "${printing[@]}"; do
    [[ $text = *" -o "[!-]* || $text = *"--o "* ]] || continue
    words "$text"
    rm -f "$W"/* "$T"/good/*
    "${command[@]}" >/dev/null
    mv "$W"/* "$T/good"
    run nothing_open "${command[@]}"
    expect_status 2
    for file in "$T"/good/*; do
        same "$W/${file##*/}" "$file" || fail "${file##*/} differs"
    done
done

# Nor may what is shared with Valgrind be a stream of the program.
begin records_natively_with_all_streams_closed
run nothing_open "$VESTIGE" record -f -o run.vest -- "$T/native"
expect_status 0
run "$VESTIGE" check --flow run.vest
expect_status 0
rm -f run.vest

begin ends_quietly_when_nobody_reads
for action in default ignore; do
    for text in "${printing[@]}"; do
        words "$text"
        [[ $text != debug* ]] || continue
        _command="${command[*]} | true"
        env --$action-signal=PIPE "${command[@]}" 2>"$err" | true
        status=${PIPESTATUS[0]}
        [ "$status" = 0 ] || { [ $action = default ] && [ "$status" = 141 ]; } || fail "status $status"
        expect_no_err
    done
done

# ---- signals -------------------------------------------------------------------------------------

rm -f "$W"/*
"$VESTIGE" record --cores 2 -o "$T/long.vest" "$fft" -n 14 -p 2 >/dev/null 2>&1 &&
    "$VESTIGE" encode -t mlvCF_e -o "$T/long.vport" "$T/long.vest" >/dev/null || exit 2

# is_at_work PROCESS: it has used some time of a processor, or has ended.
is_at_work() {
    local ticks
    ticks=$(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d ' ' -f 12,13) || return 0
    [ -z "$ticks" ] || [ $((${ticks/ / + })) -ge 3 ]
}

# is_writing PROCESS: run.vest grows, or it has ended.
is_writing() {
    has_bytes 100000 run.vest.partial || has_ended "$1"
}

# stop SIGNAL WHEN COMMAND...: sends it as soon as `WHEN PROCESS` holds. (Of what is in the background, SIGINT is ignored.)
stop() {
    local process
    _command="${*:3}"
    env --default-signal=INT "${@:3}" >"$out" 2>"$err" &
    process=$!
    await "$2" $process
    kill -s "$1" $process 2>/dev/null
    await has_ended $process || kill -s KILL $process
    wait $process
    status=$?
}

for signal in INT TERM; do
    begin "ends_at_once_by_SIG$signal"
    for text in 'bandwidth -t all LONG.vest' 'verify -t all LONG.vest' 'replay --check LONG.vest LONG.vport' \
        'encode -t mlvNX_xz -o x.vport LONG.vest' 'check --memory --flow LONG.vest' 'dump --json LONG.vest'; do
        words "$text"
        stop $signal is_at_work "${command[@]}"
        [ "$status" = $((128 + $(kill -l $signal))) ] || [ "$status" = 0 ] || fail "status $status"
        expect_no_err
        [ "$status" = 0 ] || expect_no_file x.vport
        rm -f x.vport x.vport.partial
    done
    begin "seals_what_was_recorded_before_SIG$signal"
    echo old >run.vest
    stop $signal is_writing "$VESTIGE" record -f -o run.vest --cores 2 "$fft" -n 22 -p 2
    expect_status $((128 + $(kill -l $signal)))
    expect_err "the program was ended by signal .*SIG$signal"
    run "$VESTIGE" check --flow run.vest
    expect_status 0
    expect_no_file run.vest.partial
    rm -f run.vest
done
finish
