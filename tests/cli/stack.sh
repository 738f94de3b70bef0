#!/bin/bash
# SPDX-License-Identifier: MIT
# Every command with a stack of 128 KiB; where source lines are read, with 512 KiB, since libdw keeps up to 4,096 of them
# on the stack. (The sanitizers' own frames are larger.)
. "$(dirname "$0")/lib.sh"

[ -z "$sanitized" ] || skip_all "a sanitized build needs more stack"

fft=$(workload rv64 fft)
bin=$VESTIGE_BUILD/bin
cd "$T" || exit 2
"$VESTIGE" record -o run.vest --cores 2 --timed -- "$fft" -p 2 -n 8 >"$out" 2>&1 || exit 2
"$VESTIGE" encode run.vest -t mcfTR_e -o flow.vport >"$out" || exit 2
"$VESTIGE" encode run.vest -t mc2RT -o data.vport >"$out" || exit 2
"$VESTIGE" tmTrace --mcf --mTrace flow.gz --cores 2 -- "$fft" -p 2 -n 8 >"$out" 2>&1 || exit 2
"$VESTIGE" tmTrace --mld --mst --mTrace data.gz --cores 2 -- "$fft" -p 2 -n 8 >"$out" 2>&1 || exit 2

"$VESTIGE" record -q --inputs --all -o both.vest -- /bin/true || exit 2
"$VESTIGE" shrink -o short.vest both.vest >"$out" || exit 2

# within KIB NAME COMMAND...: does what it does with a larger stack.
within() {
    begin "needs_little_stack_for_$2"
    run timeout 120 bash -c 'ulimit -s "$1" && shift 2 && exec "$@"' _ "$@"
    expect_status 0
}

small() { within 128 "$@"; }
lines() { within 512 "$@"; }

small info "$VESTIGE" info run.vest
small info_as_json "$VESTIGE" info --json run.vest
small dump "$VESTIGE" dump --full run.vest
lines dump_with_lines "$VESTIGE" dump --source --disassemble run.vest
lines dump_with_calls "$VESTIGE" dump --stack run.vest
lines callers "$VESTIGE" info --callers run.vest
lines callers_folded "$VESTIGE" info --folded run.vest
small check "$VESTIGE" check --memory --flow run.vest
small techniques "$VESTIGE" techniques
small a_technique "$VESTIGE" techniques mc2RT
small bandwidth "$VESTIGE" bandwidth -t all --csv run.vest
lines bandwidth_by_line "$VESTIGE" bandwidth -t all --by line --csv run.vest
small sweep "$VESTIGE" sweep --csv --store swept --set verify=all -t mcfTR_e:gshare=256..1024*2 -t mc2RT:CS16 run.vest
small a_plot "$VESTIGE" bandwidth run.vest --window 1000 --plot run.svg
small compressors "$VESTIGE" compressors run.vest
small chunks "$VESTIGE" chunks -t mcfTR_e run.vest
small entropy "$VESTIGE" entropy run.vest
small locality "$VESTIGE" locality run.vest
lines report "$VESTIGE" report run.vest run.vest -o run.html
small encode "$VESTIGE" encode run.vest -t mlvNX_xz -o packed.vport
small encode_plainly "$VESTIGE" encode -f run.vest -t pt --raw flow.pt
for format in lackey din csv vcd perfetto; do
    small export_$format "$VESTIGE" export --to $format -o run.$format run.vest
done
small export_champsim "$VESTIGE" export --to champsim --thread 0 -o run.champsim both.vest
for format in folded speedscope pprof; do
    lines export_$format "$VESTIGE" export --to $format -o run.$format run.vest
done
small import "$VESTIGE" import -f --from pt flow.pt -o imported.vest
small decode "$VESTIGE" decode flow.vport
lines decode_with_lines "$VESTIGE" decode --source --disassemble flow.vport
small verify "$VESTIGE" verify run.vest
small mutations "$VESTIGE" verify -q --mutate 4 -t mc2RT -t mcfTR_e run.vest
small diff "$VESTIGE" diff --values run.vest run.vest
small salvage "$VESTIGE" salvage -f -o whole.vest run.vest
small expand "$VESTIGE" expand -f -o whole.vest short.vest
small expand_a_part "$VESTIGE" expand -f --skip 100 --no-shared-libs -o part.vest short.vest
small a_sample "$VESTIGE" bandwidth --sample 5K:1K --warm 1K -t mcfTR_e short.vest
small resume sh -c '! "$1" resume $$' sh "$VESTIGE"
small shrink "$VESTIGE" shrink -f -o small.vest both.vest
small verify_a_stream "$VESTIGE" verify --stream data.vport run.vest
small replay "$VESTIGE" replay --check run.vest data.vport
small debug "$VESTIGE" debug --stdio data.vport </dev/null
small simulate "$VESTIGE" simulate --cores 4 --timed -- "$fft" -p 4 -n 8
small simulate_list "$VESTIGE" simulate --list
small record "$VESTIGE" record -f -o r.vest --cores 4 --timed -- "$fft" -p 4 -n 8
small help "$VESTIGE" help
small man "$VESTIGE" help --format man
small bash "$VESTIGE" help --format bash
small zsh "$VESTIGE" help --format zsh
small tmTrace "$bin/tmTrace" --mcf --mTrace t.gz --cores 2 -- "$fft" -p 2 -n 8
small tmcfTRaptor "$bin/tmcfTRaptor" --o t flow.gz
small tmlvCFiat "$bin/tmlvCFiat" --o t data.gz
for tool in mcfTrace mlsTrace mcfTRaptor mlvCFiat; do
    small $tool "$bin/$tool" -o t -i run.vest
done

begin needs_little_stack_for_errors
run bash -c 'ulimit -s 128 && exec "$@"' _ "$VESTIGE" info none.vest
expect_status 2
expect_one_line_err
run bash -c 'ulimit -s 128 && exec "$@"' _ "$VESTIGE"
expect_status 2

mkdir runs
cp run.vest runs/1.vest
small a_folder "$VESTIGE" check runs
echo '{"version":1,"processes":[{"process":1,"file":"1.vest"}]}' >runs/manifest.json
small a_list "$VESTIGE" check runs

# Valgrind's own start needs a megabyte.
begin records_natively_or_says_why
run timeout 120 bash -c 'ulimit -s 128 && exec "$@"' _ "$VESTIGE" record -f -o r.vest -- /bin/true
[ "$status" = 0 ] || { expect_status 2 && expect_one_line_err; }

# The recorder has little stack, and so have its threads; Valgrind has what it needs.
begin needs_little_stack_to_follow
printf '%s\n' '#!/bin/sh' 'ulimit -s 8192' 'exec /usr/bin/env valgrind.bin "$@"' >valgrind.bin
sed -i "s|/usr/bin/env valgrind.bin|$(command -v valgrind.bin || command -v valgrind)|" valgrind.bin
chmod +x valgrind.bin
run timeout 120 env PATH="$T:$PATH" bash -c 'ulimit -S -s 128 && exec "$@"' _ \
    "$VESTIGE" record -q --follow -o followed -- sh -c 'echo a | cat; echo b'
expect_status 0
expect_equal "$(tr '\n' ' ' <"$out")" "a b "
expect_equal "$(jq '.processes | length' followed/manifest.json)" 3

finish
