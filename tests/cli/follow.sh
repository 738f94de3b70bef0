#!/bin/bash
# SPDX-License-Identifier: MIT
# Recordings that follow the program's children: what a program prints and how it ends is as without, each process has
# a run, which holds, and the list says who made whom. Under the sanitizers there are fewer programs, unless
# VESTIGE_LONG is set.
. "$(dirname "$0")/lib.sh"

cc=${CC:-gcc}
family=$T/family
$cc -O1 -D_GNU_SOURCE -pthread -o "$family" "$VESTIGE_SRC/tests/programs/real_family.c" || exit 2
cd "$T" || exit 2

# follow OPTION... -- PROGRAM...: records it into the folder $T/runs.
follow() {
    rm -rf runs
    run timeout 600 "$VESTIGE" record -q --follow -o runs "$@"
}

# listed FILTER: of each process in the list, on a line.
listed() {
    jq -r ".processes[] | $1" runs/manifest.json
}

# expect_runs COUNT: so many processes, with as many runs, and nothing else.
expect_runs() {
    expect_equal "$(jq '.processes | length' runs/manifest.json)" "$1" processes
    expect_equal "$(listed .file)" "$(seq -f %g.vest "$1")" files
    expect_equal "$(ls runs)" "$({ seq -f %g.vest "$1" && echo manifest.json; } | sort)" "in the folder"
}

# expect_checked WORD... -- OPTION...: each run passes the check, and each of the words is in as many lines.
expect_checked() {
    local words=() word n
    while [ "$1" != -- ]; do
        words+=("$1")
        shift
    done
    shift
    run timeout 900 "$VESTIGE" check "$@" runs
    expect_status 0
    expect_no_err
    n=$(jq '[.processes[] | select(.file)] | length' runs/manifest.json)
    for word in "${words[@]}"; do
        expect_equal "$(grep -c ": $word .*: all equal\$" "$out")" "$n" "runs that were $word"
    done
    [ "${#words[@]}" = 0 ] || awk -v name="$_case" '
        { gsub(/,/, "") } / loads / { loads += $3 } / instructions \(/ { walked += $3 } / executed / { again += $3 }
        END { printf "%s: %d loads compared, %d instructions walked, %d executed again\n", name, loads, walked, again }' "$out"
}

# expect_native COMMAND...: prints and ends as natively; the folder is in $T/runs, from options in ${options[@]}.
options=()
expect_native() {
    local native
    "$@" >native.out 2>native.err
    native=$?
    follow "${options[@]}" -- "$@"
    expect_status $native
    cmp -s native.out "$out" || fail "it prints something else"
    cmp -s native.err "$err" || fail "it says something else"
}

# ---- every way to make a child ------------------------------------------------------------------------------------

# The way, how many processes there are, and how all but the first end.
ways='fork 2 22
clone 2 3
vfork 2 2
spawn 2 2
failing 2 4
outlive 2 5
kill 2 137
abort 2 134
otherwise 3 6 7
handler 2 1
thread 2 22
memory 2 0
server 5 143 143 143 0
generations 5 4 3 2 1'
brief_ways=' vfork kill thread server '

while read -r way count exits; do
    [ -z "$brief" ] || [[ $brief_ways = *" $way "* ]] || continue
    begin "follows_$way"
    options=()
    expect_native "$family" "$way"
    expect_runs "$count"
    # Children that run at the same time begin in any order.
    # shellcheck disable=SC2086 # words
    expect_equal "$(listed .exit | sort -n | paste -sd ' ')" \
        "$(printf '%s\n' 0 $exits | sort -n | paste -sd ' ')" "exit statuses"
    expect_checked compared -- --memory
    expect_checked compared -- --flow

    begin "follows_inputs_of_$way"
    options=(--inputs)
    expect_native "$family" "$way"
    expect_runs "$count"
    expect_checked executed -- --inputs

    # Both are recorded, and compared event by event.
    begin "makes_the_same_events_of_$way"
    options=(--inputs --all)
    expect_native "$family" "$way"
    expect_runs "$count"
    expect_checked executed -- --inputs --memory --flow
    expect_equal "$(grep -c 'and \([0-9,]*\) of \1 events: all equal' "$out")" "$count" "runs that are equal throughout"
done <<<"$ways"
options=()

begin says_who_made_whom
follow -- "$family" generations
expect_equal "$(listed .process | paste -sd ' ')" "1 2 3 4 5" processes
expect_equal "$(listed .parent | paste -sd ' ')" "null 1 2 3 4" parents
expect_equal "$(jq '.processes as $p | [$p[1:][] | .parent_pid == $p[.parent - 1].pid] | all' runs/manifest.json)" true
expect_equal "$(jq '.processes as $p | [$p[1:][] | .started >= $p[.parent - 1].started and .ended >= .started] | all' \
    runs/manifest.json)" true "times are in order"
expect_equal "$(jq '[.processes[].pid] | unique | length' runs/manifest.json)" 5 "different processes"
expect_equal "$(jq '.processes[0].parent_pid > 0' runs/manifest.json)" true
# Each run says it of itself, too.
for n in 2 3 4 5; do
    run "$VESTIGE" info --no-scan --json "runs/$n.vest"
    expect_equal "$(jq -r '.meta | "\(.process) \(.parent) \(.pid) \(.exit)"' "$out")" \
        "$n $((n - 1)) $(listed "select(.process == $n).pid") $((6 - n))"
done

begin says_which_run_a_killed_process_left
follow -- "$family" kill
expect_equal "$(listed .incomplete)" "null
the program was killed"
expect_equal "$("$VESTIGE" info --no-scan --json runs/2.vest | jq -r .meta.incomplete)" "the program was killed"

begin follows_many_at_a_time
expect_native "$family" many
expect_runs 25
expect_equal "$(listed 'select(.process > 1) | .parent' | sort -u)" 1
expect_equal "$(listed 'select(.process > 1) | "exit \(.exit)"' | sort)" "$(grep exit native.out | sort)"
expect_checked -- -q

# ---- programs -----------------------------------------------------------------------------------------------------

begin follows_a_pipeline
# shellcheck disable=SC2016 # for the shell that is recorded
expect_native sh -c 'printf "%s\n" b a c | sort | tr a-z A-Z; exit 3'
expect_runs 4
expect_equal "$(listed 'select(.process > 1) | .exit' | sort -u)" 0
expect_equal "$(listed .command | grep -c '/sort$\|/tr a-z A-Z$')" 2
expect_checked compared -- --memory
expect_checked compared -- --flow
run "$VESTIGE" verify -q -t mcfTR_e runs
expect_status 0
expect_out 'compared [1-9][0-9,]* events: all equal'

begin keeps_standard_input_and_output
printf 'one\ntwo\n' >input
# shellcheck disable=SC2016 # for the shell that is recorded
follow -- sh -c 'read first; echo "$first" >&2; (read second; echo "$second"); cat' <input
expect_status 0
expect_equal "$(cat "$out" "$err")" "two
one"

begin follows_make
mkdir project
printf '%s\n' 'all: a.txt b.txt' '	cat a.txt b.txt >all.txt' '%.txt: %.in' '	sort $< | tr a-z A-Z >$@' >project/Makefile
printf '%s\n' y x >project/a.in
printf '%s\n' q p >project/b.in
follow -- make -s -j2 -C project
expect_status 0
expect_no_err
expect_equal "$(tr '\n' ' ' <project/all.txt)" "X Y P Q "
expect_equal "$(listed .exit | sort -u)" 0
expect_equal "$(listed .command | grep -c '/sort [ab].in$\|/tr a-z A-Z$\|/cat a.txt b.txt$')" 5
expect_runs "$(jq '.processes | length' runs/manifest.json)"
expect_checked compared -- --memory
expect_checked compared -- --flow

begin follows_a_compiler
printf '%s\n' '#include <stdio.h>' 'int main(void) { printf("hi\n"); return 3; }' >hi.c
if [ -n "$brief" ]; then
    skip "a sample is enough"
else
    follow --inputs -- gcc -O2 -o hi hi.c
    expect_status 0
    expect_no_err
    expect_equal "$(./hi)" hi
    for program in cc1 as collect2 ld; do
        expect_equal "$(listed .command | grep -c "^[^ ]*/$program ")" 1 "$program"
    done
    expect_equal "$(listed 'select(.command | test("/ld ")) | .parent')" \
        "$(listed 'select(.command | test("/collect2 ")) | .process')" "the linker's parent"
    expect_checked executed -- --inputs
    if [ -n "$long" ]; then
        follow -- gcc -O2 -o hi hi.c
        expect_status 0
        expect_checked compared -- --memory
        expect_checked compared -- --flow
    fi
fi

begin follows_multiprocessing
cat >processes.py <<'END'
import multiprocessing, sys

def square(connection):
    for n in iter(connection.recv, None):
        connection.send(n * n)
    sys.exit(4)

multiprocessing.set_start_method("fork")
ours, theirs = multiprocessing.Pipe()
child = multiprocessing.Process(target=square, args=(theirs,))
child.start()
for n in 3, 4, 5:
    ours.send(n)
    print(ours.recv())
ours.send(None)
child.join()
print(child.exitcode)
END
if ! has_program python3; then
    skip "there is no python3"
elif [ -n "$brief" ]; then
    skip "a sample is enough"
else
    # What is called python3 may be a script that finds it.
    python=$(python3 -c 'import sys; print(sys.executable)')
    options=(--inputs)
    expect_native "$python" -S processes.py
    options=()
    expect_runs 2
    expect_equal "$(listed .exit)" "0
4"
    expect_checked executed -- --inputs
fi

# ---- what else is asked for ---------------------------------------------------------------------------------------

begin applies_regions_to_each_run
follow --length 500 -- "$family" fork
expect_status 0
expect_equal "$(listed .instructions)" "500
500"
expect_checked compared -- --flow
follow --routine work -- "$family" fork
expect_status 0
expect_equal "$(listed '.instructions > 0')" "false
true"
expect_checked -- -q

begin refuses_a_routine_that_is_nowhere
follow --from nothing_of_this_name -- sh -c 'exec true'
expect_status 2
expect_one_line_err
expect_err "no routine 'nothing_of_this_name'"
expect_no_file runs

begin prints_children_as_json
rm -rf runs
run "$VESTIGE" record --follow --json -o runs -- "$family" server
expect_status 0
expect_equal "$(jq -c .children "$out")" "$(jq -c '.processes[1:]' runs/manifest.json)"
expect_equal "$(jq -r '.file, .forks' "$out")" "runs/1.vest
0"

begin sums_up
rm -rf runs
run "$VESTIGE" record --follow -o runs -- "$family" kill
expect_err '^vestige: 2 processes, [1-9][0-9,]* instructions, [1-9][0-9,]* events in '
expect_err '^vestige: process 2: the program was killed; what was captured is in the file$'
expect_err '^vestige: runs: [0-9.]* MB$'
! grep -q 'not recorded' "$err" || fail "it says that a child was not recorded"

begin changes_nothing_without_the_option
run "$VESTIGE" record -f -o alone.vest -- "$family" fork
expect_status 0
expect_err '^vestige: 1 child process was not recorded$'
expect_equal "$("$VESTIGE" info --no-scan --json alone.vest | jq -r .meta.forks)" 1

begin names_the_folder_after_the_program
run "$VESTIGE" record -q --follow -- "$family" fork
expect_status 0
expect_file family.runs/manifest.json
expect_file family.runs/2.vest

begin replaces_runs_only_if_asked
follow -- "$family" generations
run "$VESTIGE" record --follow -o runs -- "$family" fork
expect_status 2
expect_one_line_err
expect_err 'runs: has runs already; -f replaces them$'
expect_runs 5
echo mine >runs/notes
run "$VESTIGE" record -q -f --follow -o runs -- "$family" fork
expect_status 0
expect_file runs/notes
rm runs/notes
expect_runs 2

# ---- folders as operands ------------------------------------------------------------------------------------------

begin goes_through_a_folder
follow -- "$family" generations
run "$VESTIGE" info --json --no-scan runs
expect_status 0
expect_equal "$(jq -r .file "$out")" "$(seq -f runs/%g.vest 5)"
run "$VESTIGE" check runs/ alone.vest
expect_status 0
expect_equal "$(cut -d: -f1 "$out")" "$(seq -f runs/%g.vest 5)
alone.vest"
run "$VESTIGE" bandwidth -t mcfTR_e --csv runs
expect_status 0
expect_equal "$(grep -c 'runs/[1-5].vest' "$out")" 5
run "$VESTIGE" verify -t mcfTR_e runs
expect_status 0
expect_out 'compared [1-9][0-9,]* events: all equal'

begin debugs_one_of_a_folder
run "$VESTIGE" debug --stdio runs </dev/null
expect_status 2
expect_one_line_err
expect_err 'runs has 5 processes: choose one with --process'
for process in 6 999999999; do
    run "$VESTIGE" debug --stdio --process $process runs </dev/null
    expect_status 2
    expect_one_line_err
    expect_err "runs: there is no process $process\$"
done
for process in x -1 3x ''; do
    run "$VESTIGE" debug --stdio --process="$process" runs </dev/null
    expect_status 2
    expect_one_line_err
    expect_err "process"
done
run "$VESTIGE" debug --stdio --process 1 alone.vest </dev/null
expect_status 2
expect_one_line_err
expect_err '^vestige debug: alone.vest: --process is for a folder of runs$'
if has_program gdb; then
    for process in 1 3 "$(listed 'select(.process == 3).pid')"; do
        run timeout 600 "$VESTIGE" debug --process "$process" runs -- -batch -ex 'break generations' -ex 'p $rdi' \
            -ex continue -ex 'p $rdi'
        expect_status 0
        expect_out '^Breakpoint 1, .* generations \(\)'
        expect_equal "$(grep -c '^\$2 = ' "$out")" 1
        [ "$process" = 1 ] || expect_out '^\$2 = 2$'
        [ "$process" != 1 ] || expect_out '^\$2 = 4$'
    done
fi

# bad TEXT PATTERN: a list with that text is refused.
bad() {
    printf '%s' "$1" >runs/manifest.json
    for command in info check 'verify -t mcfTR_e' 'bandwidth -t mcfTR_e' 'debug --stdio --process 1'; do
        # shellcheck disable=SC2086 # words
        run "$VESTIGE" $command runs </dev/null
        expect_status 1
        expect_one_line_err
        expect_err "^vestige ${command%% *}: runs: manifest.json, line [0-9]+: $2"
    done
}

begin refuses_a_list_that_is_damaged
one='"process":1,"parent":null,"pid":7,"file":"1.vest"'
bad '' 'no value'
bad 'x' 'no value'
bad '{' 'no key'
bad '[]' 'no list of processes'
bad '{"version":2}' 'a version that this vestige does not know'
bad '{"version":1,"processes":[]}' 'no processes'
bad '{"version":1,"processes":{}}' "'processes' is no array"
bad '{"version":1,"processes":[7]}' 'a process is no object'
bad "{\"version\":1,\"processes\":[{$one}]} x" 'more after the end'
bad "{\"version\":1,\"processes\":[{$one},{$one}]}" 'processes are not numbered in order'
bad "{\"version\":1,\"processes\":[{\"process\":1,\"parent\":1}]}" 'a process has a parent that cannot be'
bad "{\"version\":1,\"processes\":[{$one},{\"process\":2,\"parent\":9}]}" 'a process has a parent that cannot be'
bad '{"version":1,"processes":[{"process":"1"}]}' "'process' is no number"
bad '{"version":1,"processes":[{"process":1,"pid":-5}]}' "'pid' is no count"
bad '{"version":1,"processes":[{"process":1,"pid":99999999999999999999}]}' "'pid' is no count"
bad '{"version":1,"processes":[{"process":1,"file":3}]}' "'file' is no string"
for name in '' . .. ../runs/1.vest /etc/passwd; do
    bad "{\"version\":1,\"processes\":[{\"process\":1,\"file\":\"$name\"}]}" "'file' is no name of a file in the folder"
done
bad '{"version":1,"processes":[{"process":1,"file":"\ud800"}]}' 'an escape that makes no sense'
bad '{"version":1,"processes":[{"process":1,"file":"a' 'a string without an end'
bad "$(printf '[%.0s' {1..40})" 'no list of processes'
bad "{\"more\":$(printf '[%.0s' {1..40})" 'too many levels'

begin reads_a_list_with_more_in_it
printf '{"new":[{"a":[1,2,{}]},null,true,"\\u00e9\\n"],"version":1,\n"processes":[{"x":{"y":[]},%s,"z":1.5e3}]}\n' "$one" \
    >runs/manifest.json
run "$VESTIGE" check runs
expect_status 0
expect_equal "$(cut -d: -f1 "$out")" runs/1.vest

begin says_what_a_list_lacks
echo '{"version":1,"processes":[{"process":1,"file":null}]}' >runs/manifest.json
run "$VESTIGE" check runs
expect_status 1
expect_one_line_err
expect_err '^vestige check: runs: none of its processes has a run$'
echo '{"version":1,"processes":[{"process":1,"file":"7.vest"}]}' >runs/manifest.json
run "$VESTIGE" check runs
expect_status 2
expect_one_line_err
expect_err '^vestige check: runs/7.vest: '
mkdir -p empty
run "$VESTIGE" check empty
expect_status 2
expect_one_line_err
expect_err "^vestige check: empty: a folder without runs; 'vestige record --follow' makes folders of runs\$"

begin lists_runs_by_name_if_there_is_no_list
follow -- "$family" many
rm runs/manifest.json
run "$VESTIGE" check runs
expect_status 0
expect_equal "$(cut -d: -f1 "$out")" "$(seq -f runs/%g.vest 25)"

# ---- how it ends --------------------------------------------------------------------------------------------------

begin refuses_what_is_no_folder
: >file
run "$VESTIGE" record --follow -o file -- true
expect_status 2
expect_one_line_err
expect_err 'file: is no folder; with --follow there are several runs'
run "$VESTIGE" record --follow -o none/runs -- true
expect_status 2
expect_one_line_err
expect_err 'none/runs: No such file or directory'
run "$VESTIGE" record --follow -o runs2 -- /nowhere/none
expect_status 2
expect_one_line_err
expect_no_file runs2
run "$VESTIGE" record --follow -o runs2 --engine sim -- "$(workload rv64 fft)"
expect_status 2
expect_one_line_err
expect_err '--follow is for native programs'
expect_no_file runs2

# says WORD COUNT: whether it is in so many lines; a number follows it.
says() {
    [ -e said ] && [ "$(grep -c "^$1 [0-9]*\$" said)" -ge "$2" ]
}

begin waits_for_children_and_passes_signals_on
rm -rf runs said
"$VESTIGE" record -q --follow -o runs -- "$family" leave >said 2>&1 &
recorder=$!
await says stays 1
await says leaves 1
# Only when the program is over does the child get the signal.
await has_ended "$(sed -n 's/^leaves //p' said)"
kill -TERM $recorder
wait $recorder
status=$?
expect_status 0
expect_equal "$(listed .exit | paste -sd ' ')" "0 143"
expect_equal "$(listed .incomplete)" "null
interrupted"
expect_checked -- -q

# are_stopped COUNT: of the recorder and the processes that say that they stay.
are_stopped() {
    local process n=0
    for process in $recorder $(sed -n 's/^stays //p' said); do
        ! grep -qs '^State:.T' "/proc/$process/status" || n=$((n + 1))
    done
    [ $n = "$1" ]
}

begin stops_and_continues_all_of_them
rm -rf runs said
set -m # in a group of its own, whose parent is here: an orphaned one would not stop
"$VESTIGE" record -q --follow -o runs -- "$family" stay >said 2>&1 </dev/null &
recorder=$!
set +m
await says stays 2
kill -TSTP $recorder
await are_stopped 3
kill -CONT $recorder
await are_stopped 0
# shellcheck disable=SC2046 # words
kill -KILL $(sed -n 's/^stays //p' said)
wait $recorder 2>/dev/null
status=$?
expect_status 137
expect_runs 2
expect_checked -- -q

begin lets_a_terminal_interrupt_all_of_them
if has_program python3; then
    rm -rf runs
    printf '%s\n' 'expect waits' 'expect waits' 'send \x03' >talk
    run timeout 300 python3 "$VESTIGE_SRC/tests/cli/terminal.py" 80 "$VESTIGE" record -q --follow -o runs -- \
        "$family" interrupt <talk
    expect_status 130
    expect_equal "$(listed '"\(.exit) \(.incomplete)"')" "130 interrupted
130 interrupted"
    expect_checked -- -q
fi

begin kills_all_if_the_user_insists
rm -rf runs said
"$VESTIGE" record -q --follow -o runs -- "$family" stay >said 2>&1 &
recorder=$!
await says stays 2
kill -TERM $recorder && kill -TERM $recorder && kill -TERM $recorder
until has_ended $recorder; do
    kill -TERM $recorder 2>/dev/null && kill -TERM $recorder 2>/dev/null && kill -TERM $recorder 2>/dev/null
    sleep 0.2
done
wait $recorder
status=$?
expect_status 137
expect_runs 2
expect_equal "$(listed .incomplete)" "interrupted
interrupted"
expect_checked -- -q

begin leaves_what_can_be_read_if_it_is_killed
rm -rf runs said
"$VESTIGE" record -q --follow -o runs -- "$family" stay >said 2>&1 &
recorder=$!
await says stays 2
kill -KILL $recorder
wait $recorder 2>/dev/null
# shellcheck disable=SC2046 # words
kill -KILL $(sed -n 's/^stays //p' said)
expect_no_file runs/manifest.json
expect_file runs/1.vest.partial
expect_file runs/2.vest.partial
run "$VESTIGE" record --follow -o runs -- "$family" fork
expect_status 2
expect_one_line_err
expect_err 'runs: has runs already; -f replaces them$'
run "$VESTIGE" info --no-scan --json runs
expect_equal "$(jq -r .file "$out")" "runs/1.vest.partial
runs/2.vest.partial"

# What is executed after that runs without Valgrind, and has none of its descriptors.
begin lets_processes_go_on_if_it_is_killed
mkfifo go
printf '%s\n' 'echo starts 1' 'read -r line <go' 'sh -c "echo forks 1"' \
    'exec sh -c "ls -l /proc/\$\$/fd | grep -c memfd; echo ends 1"' >goes_on
for option in --follow ''; do
    rm -rf runs said
    # shellcheck disable=SC2086 # none or one
    "$VESTIGE" record -q $option -o runs -- sh goes_on >said 2>&1 &
    recorder=$!
    await says starts 1
    kill -KILL $recorder
    wait $recorder 2>/dev/null
    echo >go
    await says ends 1
    expect_equal "$(paste -sd ' ' said)" 'starts 1 forks 1 0 ends 1'
done

finish
