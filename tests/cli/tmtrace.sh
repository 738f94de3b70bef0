#!/bin/bash
# SPDX-License-Identifier: MIT
# tmTrace: its descriptors against the events of the same simulation, recorded; its flags; bad input.
. "$(dirname "$0")/lib.sh"

fft=$(workload rv64 fft)
tm=$VESTIGE_BUILD/bin/tmTrace
program=(--cores 2 -- "$fft" -n 6 -p 2)
"$VESTIGE" record -o "$T/run.vest" --timed "${program[@]}" >/dev/null 2>&1 || exit 2
"$VESTIGE" dump --json "$T/run.vest" >"$T/events" || exit 2

# trace FLAG...: runs tmTrace; $T/lines has its descriptors.
trace() {
    run "$tm" -f --mTrace "$T/t.gz" "$@" "${program[@]}"
    expect_status 0
    gzip -dc "$T/t.gz" >"$T/all" || fail "not a gzip file"
    grep -v '^t\?[mM][A-Za-z]*:\|^tIns:' "$T/all" >"$T/lines"
    [ -s "$T/lines" ] || fail "no descriptors"
}

# expect_lines JQ: the descriptors are what the filter makes of the events.
expect_lines() {
    jq -r "$1" "$T/events" >"$T/wanted" || fail "jq"
    cmp -s "$T/lines" "$T/wanted" || fail "other descriptors: $(diff "$T/lines" "$T/wanted" | head -n 3 | tr '\n' ' ')"
    echo "compared $(wc -l <"$T/lines") descriptors"
}

# Common parts of the filters: an address without 0x, the start of a line.
hex='def hex: ltrimstr("0x"); def start: "\(.cycle), \(.thread), ";'

# What an ecall is to the original's kinds, and a branch.
transfer='def direct: if (.branch // "" | test("^i|ret")) then "I" else "D" end;
    def always: if (.branch // "" | test("cond")) then "C" else "U" end;
    def kind: {cond: 6, jump: 5, call: 1, icall: 1, ijump: 4, ret: 2, "ret-call": 2}[.branch // ""] // 3;
    def line: start + "\(.pc | hex), \(if .target then .target | hex else "NEXT" end), \(.length // 4), " +
        "\(direct), \(always), \(if .taken == false then "N" else "T" end), \(kind)";'

begin traces_control_transfers
trace --mcf
# a system call goes on behind itself, which the filter does not compute; counts are compared below
sed -i -E 's/,[0-9]+$//; s/^([0-9]+, [0-9]+, [0-9a-f]+), [0-9a-f]+(.*, 3)$/\1, NEXT\2/' "$T/lines"
expect_lines "$hex$transfer"' select(.kind == "branch" or .kind == "syscall") | line'

begin counts_instructions_between_transfers
trace --mcf
got=$(awk -F, '{ n += $NF } END { print n }' "$T/lines")
want=$(jq -s 'map(select(.kind != "thread-exit") | .icount) | add' "$T/events")
expect_equal "$got" "$want" "instructions in descriptors"

begin adds_assembly_to_transfers
trace --mcf --mTraceMax
expect_equal "$(awk -F', ' '$6 == "D" && $7 == "C" { print $NF }' "$T/lines" | sort -u)" branch
grep -qE ', 2,[0-9]+, ret, jalr$' "$T/lines" || fail "no return has its assembly"

begin traces_reads
trace --mld
expect_lines "$hex"' select(.kind == "load") | start + "\(.pc | hex), \(.addr | hex), \(.size)"'

begin traces_writes
trace --mst
expect_lines "$hex"' select(.kind == "store") | start + "\(.pc | hex), \(.addr | hex), \(.size)"'

begin traces_writes_of_system_calls
trace --mst --mTraceSysPrg
expect_lines "$hex"' select(.kind == "store" or .kind == "external") |
    start + "\(.pc // "0x0" | hex), \(.addr | hex), \(.size)"'

begin traces_reads_and_writes
trace --mld --mst
expect_lines "$hex"' select(.kind == "load" or .kind == "store") |
    start + "\(if .kind == "load" then 0 else 1 end), \(.pc | hex), \(.addr | hex), \(.size)"'

begin traces_values_of_reads
trace --mld --mTraceMax
sed -i -E 's/^([0-9]+, [0-9]+, [0-9a-f]+), .*, ([0-9a-f]+, [0-9]+, [0-9a-f]+)$/\1, \2/' "$T/lines"
expect_lines "$hex"' select(.kind == "load") |
    start + "\(.pc | hex), \(.addr | hex), \(.size), \(.value | hex)"'

begin traces_every_instruction
trace
expect_equal "$(wc -l <"$T/lines")" "$("$VESTIGE" info --json --no-scan "$T/run.vest" | jq .instructions)" descriptors
expect_equal "$(sort -s -c -t, -k1,1n "$T/lines" 2>&1)" "" "order of cycles"
# the text of each address is objdump's
riscv64-linux-gnu-objdump -d --no-show-raw-insn "$fft" |
    sed -nE 's/^ +([0-9a-f]+):\t([^#<]*[^ #<\t]).*$/\1 \2/p' | tr '\t' ' ' | sort -u >"$T/objdump"
cut -d, -f3- "$T/lines" | sed -E 's/^ ([0-9a-f]+), (.*), [a-z.]+$/\1 \2/' | tr '\t' ' ' | sort -u >"$T/ours"
expect_equal "$(comm -23 "$T/ours" "$T/objdump" | head -n 3)" "" "assembly that objdump does not have"
echo "compared $(wc -l <"$T/ours") instructions with objdump"

begin skips_and_stops
run "$tm" -f --mTrace "$T/t.gz" --mTraceSkip 5000 --mTraceLength 700 "${program[@]}"
expect_status 0
expect_equal "$(gzip -dc "$T/t.gz" | grep -c '^[0-9]')" 700 instructions

begin gives_the_programs_status
run "$tm" -f --mTrace "$T/t.gz" --mcf -- "$fft" -n 0x
expect_status 2

begin refuses_flags_that_do_not_fit
run "$tm" --mTrace "$T/u.gz" --mcf --mld "${program[@]}"
expect_status 2
expect_one_line_err
run "$tm" --mcf "${program[@]}"
expect_status 2
expect_one_line_err
run "$tm" --mTrace "$T/u.gz" --mcf --preset cs64 "${program[@]}"
expect_status 2
expect_err "no preset 'cs64'"
expect_no_file "$T/u.gz"

begin refuses_other_programs
run "$tm" --mTrace "$T/u.gz" --mcf /bin/true
expect_status 2
expect_one_line_err
expect_no_file "$T/u.gz"

begin keeps_a_file_that_exists
run "$tm" --mTrace "$T/t.gz" --mcf "${program[@]}"
expect_status 2
expect_one_line_err
expect_err 't.gz: exists; -f replaces it'

finish
