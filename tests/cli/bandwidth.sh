#!/bin/bash
# SPDX-License-Identifier: MIT
# Bits of trace modules on runs, and the search for chunk sizes.
. "$(dirname "$0")/lib.sh"

export SOURCE_DATE_EPOCH=1000000000
program=$(workload rv64 pipeline)
"$VESTIGE" record -o "$T/a.vest" --cores 2 -- "$program" -n 3 -p 2 >"$out" 2>&1 || exit 2
"$VESTIGE" record -o "$T/t.vest" --cores 2 --timed -- "$program" -n 3 -p 2 >"$out" 2>&1 || exit 2

begin measures_a_dozen_by_default
run "$VESTIGE" bandwidth "$T/a.vest"
expect_status 0
expect_no_err
expect_out "^$T/a.vest: [0-9]+ cores?, [0-9,]+ instructions\$"
expect_out '^mcfNX_b +default +[0-9,]+ .* 1\.00 '
expect_equal "$(grep -c -E '^[A-Za-z0-9_-]+ +(default|adac) +[0-9]+' "$out")" 12 "rows"

begin sums_fields_and_relates_bits
run "$VESTIGE" bandwidth "$T/t.vest" -t all --json
expect_status 0
loads=$(jq 'select(.technique == "mlvNX_b").bits' "$out")
addresses=$(jq 'select(.technique == "daNX").bits' "$out")
instructions=$("$VESTIGE" info --no-scan --json "$T/t.vest" | jq .instructions)
cycles=$("$VESTIGE" info --no-scan --json "$T/t.vest" | jq .cycles.count)
base=$(jq 'select(.technique == "mcfNX_b" and .config == "default").bits' "$out")
expect_equal "$(jq -c "select(([.fields[]] | add) != .bits or .instructions != $instructions or .cycles != $cycles
    or ((.bpi * .instructions - .bits) | fabs) > 2 + .bits / 1e3
    or ((.bpc * .cycles - .bits) | fabs) > 2 + .bits / 1e3
    or .baseline_bits != (if .addresses then $addresses elif .loads then $loads else $base end)
    or ((.ratio * .bits - .baseline_bits) | fabs) > .baseline_bits / 1e3) | .technique" "$out")" "" "rows that do not add up"

begin encodes_the_baseline_along
run "$VESTIGE" bandwidth "$T/t.vest" -t mcfTR_e:small --json
expect_status 0
expect_equal "$(wc -l <"$out")" 1
expect_equal "$(jq -c '[.technique, .config, .baseline_bits]' "$out")" "[\"mcfTR_e\",\"small\",$base]"
bits=$(jq .bits "$out")

begin counts_the_bits_that_are_written
run "$VESTIGE" encode "$T/t.vest" -t mcfTR_e:small -o "$T/t.vport"
expect_equal "$(sed 's/.*: mcfTR_e: \([0-9,]*\) bits in .*/\1/' "$out" | tr -d ,)" "$bits"

begin totals_are_sums_and_not_means
run "$VESTIGE" bandwidth "$T/a.vest" "$T/t.vest" -t mcfTR_b --json
expect_status 0
expect_equal "$(wc -l <"$out")" 3
expect_equal "$(jq -s -c '.[2] | [.run, .bits, .instructions, .cycles]' "$out")" \
    "$(jq -s -c '[null, .[0].bits + .[1].bits, .[0].instructions + .[1].instructions, null]' "$out")"
run "$VESTIGE" bandwidth "$T/t.vest" "$T/t.vest" -t mcfTR_b
expect_out '^total of 2 runs$'

begin writes_csv
run "$VESTIGE" bandwidth "$T/a.vest" -t mcfTR_e:small,gshare=1024 -t mcfNX_b --csv
expect_status 0
expect_equal "$(wc -l <"$out")" 3
expect_equal "$(head -1 "$out" | cut -d, -f1-9)" run,technique,config,cores,bits,instructions,cycles,bpi,bpc
expect_out ',mcfTR_e,"small,gshare=1024",'
grep -q ',bits_bCnt,' "$out" || fail "no field"

begin shows_bits_over_time
run "$VESTIGE" bandwidth "$T/t.vest" -t mcfTR_e --window 100000 --json
expect_status 0
expect_equal "$(jq -c '[([.windows.series[]] | add) == .bits, ([.windows.cores[][]] | add) == .bits,
    (.windows.series | max) == .windows.peak_bits, .windows.unit]' "$out")" '[true,true,true,"cycles"]'
run "$VESTIGE" bandwidth "$T/t.vest" -t mcfTR_e --window 1
expect_status 1
expect_one_line_err
expect_err 'too many windows'

begin shows_cores_over_time
run "$VESTIGE" bandwidth "$T/t.vest" -t mcfTR_e --window 100000 --json
cp "$out" "$T/windows.json"
expect_equal "$(jq -c '.windows | .width as $w | (.cores | map(length) | max - 1) as $last | [
    ([.core_rates, .cores] | transpose | all(.[0].peak_bits == (.[1] | max) and .[1][.[0].peak_at] == .[0].peak_bits and
        (.[0].peak_at == $last or ((.[0].peak - .[0].peak_bits / $w) | fabs) < 1e-5))),
    ((([.core_rates[].average] | add) - .average | fabs) < 1e-4)]' "$out")" '[true,true]'
run "$VESTIGE" bandwidth "$T/t.vest" -t mcfTR_e --window 100000 --csv
expect_equal "$(head -1 "$out" | sed 's/.*,spec,/spec,/')" \
    spec,whole_ratio,cache_fraction,core_averages,core_peaks,core_series,frame_bits
expect_equal "$(sed -n 2p "$out" | awk -F, '{ print $(NF - 1) "," $(NF - 2) "," $(NF - 3) }' | tr ' ' '|' |
    sed -E 's/(\.[0-9]*[1-9])0+\b/\1/g')" \
    "$(jq -r '.windows | def row: map(tostring) | join("|"); [(.cores | map(row) | join(";")),
        (.core_rates | (map(.peak), map(.average)) | row)] | join(",")' "$T/windows.json")"
run "$VESTIGE" bandwidth "$T/t.vest" "$T/t.vest" -t mcfTR_e --window 100000 --csv
expect_equal "$(tail -1 "$out" | grep -o ',,,,0$')" ',,,,0' "a total has no cores"

# late_column NAME: of the CSV in $out, after each line's run. It is counted from the end, since a config or spec has commas.
late_column() {
    awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) back = NF - i; next } { print $1, $(NF - back) }' "$out"
}

begin relates_to_whole_addresses
run "$VESTIGE" bandwidth "$T/a.vest" "$T/t.vest" -t mcfTR_e -t bTMBP -t mlvCF_e:CS32 --json
expect_status 0
expect_equal "$(jq -s -c 'map(if .branches then .whole_bits == 64 * .instructions and
    ((.whole_ratio * .bits - .whole_bits) | fabs) <= 1e-6 * .bits else has("whole_ratio") | not end) | unique' "$out")" '[true]'
ratio=$(jq -s 'map(select(.run == null and .technique == "bTMBP"))[0].whole_ratio' "$out")
run "$VESTIGE" bandwidth "$T/a.vest" "$T/t.vest" -t bTMBP -t mlvCF_e:CS32 --csv
expect_equal "$(late_column whole_ratio | sed -n 's/^"total" //p' | paste -sd,)" "$(printf '%.6f' "$ratio"),"

begin relates_flags_to_the_cache
run "$VESTIGE" bandwidth "$T/a.vest" "$T/t.vest" -t mlvCF_e:CS32,caches=private -t mlvCF_e:shared -t mlvNX_b -t mcfTR_e --json
expect_status 0
expect_equal "$(jq -r 'select(.run == null) | [.config, .cache_fraction] | join(" ")' "$out" | paste -sd,)" \
    "CS32,caches=private 0.031494,shared 0.032104,default ,default "
expect_equal "$(jq -c 'select(.technique == "mcfTR_e") | has("cache_fraction")' "$out" | sort -u)" false
run "$VESTIGE" bandwidth "$T/a.vest" -t mlvCF_e:CS32,caches=private --csv
expect_equal "$(late_column cache_fraction)" "\"$T/a.vest\" 0.031494"

begin fills_a_buffer
run "$VESTIGE" bandwidth "$T/t.vest" -t mcfTR_e --buffer 1 --json
need=$(jq .buffer.largest "$out")
[ "$need" -gt 10 ] || fail "nothing in it"
run "$VESTIGE" bandwidth "$T/t.vest" -t mcfTR_e --buffer "1:$need" --json
expect_equal "$(jq -c '[.buffer.largest, .buffer.dropped_bits]' "$out")" "[$need,0]"
run "$VESTIGE" bandwidth "$T/t.vest" -t mcfTR_e --buffer "1:$((need - 1))" --json
[ "$(jq .buffer.dropped_bits "$out")" -gt 0 ] || fail "nothing dropped"
run "$VESTIGE" bandwidth "$T/t.vest" -t mcfTR_e --buffer 1/8 --json
[ "$(jq .buffer.largest "$out")" -gt "$need" ] || fail "a slower port needs no more"

begin stalls_for_a_buffer
run "$VESTIGE" bandwidth "$T/t.vest" -t mcfTR_e --buffer "1:$need:stall" --json
expect_equal "$(jq -c .buffer "$out")" \
    "{\"largest\":$need,\"capacity\":$need,\"dropped_bits\":0,\"dropped_messages\":0,\"stalled_cycles\":0}"
before=0
for capacity in $((need - 1)) $((need / 2)) 1; do
    run "$VESTIGE" bandwidth "$T/t.vest" -t mcfTR_e --buffer "1:$capacity:stall" --json
    expect_equal "$(jq -c '[.buffer.largest, .buffer.dropped_bits]' "$out")" "[$capacity,0]"
    stalled=$(jq .buffer.stalled_cycles "$out")
    [ "$stalled" -gt "$before" ] || fail "a buffer of $capacity bits stalls for no more than $before cycles"
    before=$stalled
done
run "$VESTIGE" bandwidth "$T/t.vest" -t mcfTR_e --buffer 1:1:stall
expect_out ' buffer +stalled$'
expect_out " 1 +$(grouped "$stalled")\$"
run "$VESTIGE" bandwidth "$T/t.vest" -t mcfTR_e --buffer 1:1:stall --csv
expect_equal "$(awk -F, '{ print $(NF - 1) }' "$out" | paste -sd' ')" "buffer_stalled_cycles $stalled"
run "$VESTIGE" bandwidth "$T/t.vest" "$T/t.vest" -t mcfTR_e --buffer 1:1:stall --json
expect_equal "$(jq -s '.[2].buffer.stalled_cycles' "$out")" $((2 * stalled))

# 3000 prefetches, and one that is not reached.
begin counts_prefetches_as_published
cat >"$T/prefetch.s" <<'END'
        .globl _start
_start: mov $1000, %ecx
1:      prefetcht0 (%rsp)
        prefetchnta 64(%rsp)
        prefetcht2 128(%rsp)
        dec %ecx
        jnz 1b
        test %ecx, %ecx
        je 2f
        prefetcht1 (%rsp)
2:      mov $60, %eax
        xor %edi, %edi
        syscall
END
gcc -nostdlib -static -o "$T/prefetch" "$T/prefetch.s" || fail "no assembler"
"$VESTIGE" record -o "$T/p.vest" -- "$T/prefetch" >"$out" 2>&1 || fail "not recorded"
run "$VESTIGE" bandwidth "$T/p.vest" --json -t mlvNX_b -t mlvNX_b:prefetch=reported
expect_status 0
expect_equal "$(jq -s -c 'map([.messages, .bits]) | [.[1][0] - .[0][0], .[1][1] - .[0][1]]' "$out")" "[3000,$((3000 * 512))]"
cat >"$T/hints.s" <<'END'
        .globl _start
_start: li t0, 100
1:      .word 0x00116013        # prefetch.r 0(sp)
        .word 0x02316013        # prefetch.w 32(sp)
        .word 0x00016013        # prefetch.i 0(sp) asks for code
        addi t0, t0, -1
        bnez t0, 1b
        li a0, 0
        li a7, 93
        ecall
END
riscv64-linux-gnu-gcc -nostdlib -static -o "$T/hints" "$T/hints.s" || fail "no assembler"
for timed in '' --timed; do
    "$VESTIGE" record -f -o "$T/h.vest" $timed -- "$T/hints" >"$out" 2>&1 || fail "not recorded"
    run "$VESTIGE" bandwidth "$T/h.vest" --json -t mlvNX_b -t mlvNX_b:prefetch=reported
    expect_status 0
    expect_equal "$(jq -s -c '.[1].fields.value - (.[0].fields.value // 0)' "$out")" "$((200 * 512))"
done

begin refuses_bad_usage
for wrong in "-t none" "-t mcfTR_e:gshare=3" "-t mcfTR_e:ibtb" "--buffer 0" "--buffer 1:x" "--buffer 1/" "--buffer 1:" "--buffer 1:stall" "--buffer 1:8:" \
    "--buffer 1:8:stalls" "--buffer 1:8:stall:" "--buffer 1::stall" "--window 0" \
    "--json --csv" "-t all:x"; do
    # shellcheck disable=SC2086
    run "$VESTIGE" bandwidth "$T/a.vest" $wrong
    expect_status 2
    expect_one_line_err
    expect_no_out
done
run "$VESTIGE" bandwidth
expect_status 2

begin says_that_nothing_fits
run "$VESTIGE" record -f --control-only -o "$T/flow.vest" "$program" -n 8
expect_status 0
for command in bandwidth verify; do
    run "$VESTIGE" $command "$T/flow.vest" -t load-values
    expect_status 2
    expect_one_line_err
    expect_err 'recorded without'
done

begin refuses_bad_files
run "$VESTIGE" bandwidth "$T/none.vest"
expect_status 2
expect_one_line_err
run "$VESTIGE" bandwidth "$program"
expect_status 1
expect_one_line_err
cp "$T/a.vest" "$T/bad.vest"
printf 'x' | dd of="$T/bad.vest" bs=1 seek=$(($(stat -c %s "$T/bad.vest") / 2)) conv=notrunc status=none
run "$VESTIGE" bandwidth "$T/bad.vest" -t mcfNX_b
expect_status 1
expect_one_line_err
head -c $(($(stat -c %s "$T/a.vest") / 2)) "$T/a.vest" >"$T/cut.vest"
run "$VESTIGE" bandwidth "$T/cut.vest" -t mcfNX_b
expect_status 1
expect_one_line_err
expect_err 'incomplete'

# ---- chunks ----

begin finds_the_cheapest_pair
run "$VESTIGE" chunks "$T/a.vest" -t mcfTR_e --field bCnt --json
expect_status 0
expect_equal "$(jq -c '[([.surface[][]] | min) == .best.bits, .surface[.best.first - 1][.best.other - 1] == .best.bits,
    .surface[3][1] == .used.bits, .used.bits == .bits, ([.lengths[]] | add) == .numbers]' "$out")" '[true,true,true,true,true]'
read -r first other bits < <(jq -r '.best | "\(.first) \(.other) \(.bits)"' "$out")
run "$VESTIGE" bandwidth "$T/a.vest" -t "mcfTR_e:bcnt=$first,bcnt_next=$other" --json
expect_equal "$(jq .fields.bCnt "$out")" "$bits" "what the best pair costs"

begin shows_the_surface
run "$VESTIGE" chunks "$T/t.vest" -t mcfTR_e
expect_status 0
expect_out '^dCC: [0-9,]+ numbers'
expect_out '^  used chunks \(4,2\)'
run "$VESTIGE" chunks "$T/t.vest" -t mcfTR_e --field dCC --most 3 --csv
expect_equal "$(wc -l <"$out")" 10
run "$VESTIGE" chunks "$T/t.vest" -t tTMBP --field bCnt --most 3
expect_out '^  used: another code$'

begin refuses_fields_that_there_are_not
run "$VESTIGE" chunks "$T/a.vest" -t mcfTR_e --field bcount
expect_status 2
expect_err "'bcount' is not one of Ti, dCC,"
run "$VESTIGE" chunks "$T/a.vest" -t mcfTR_e --field dCC
expect_status 2
expect_one_line_err
run "$VESTIGE" chunks "$T/a.vest"
expect_status 2
expect_one_line_err

# Standard error is a terminal, standard output a file. All techniques take seconds, and the line comes every tenth of one.
begin shows_progress_while_a_table_goes_to_a_file
if [ -z "$brief" ]; then
    cat >"$T/terminal.py" <<'END'
import os, pty, sys
child, fd = pty.fork()
if child == 0:
    os.dup2(os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
    os.environ["TERM"] = "xterm"
    os.execv(sys.argv[2], sys.argv[2:])
shown = b""
while True:
    try:
        part = os.read(fd, 65536)
    except OSError:
        break
    if not part:
        break
    shown += part
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
sys.stdout.buffer.write(shown)
sys.exit(status)
END
    run timeout 120 python3 "$T/terminal.py" "$T/table.csv" "$VESTIGE" bandwidth -t all --csv "$T/t.vest"
    expect_status 0
    expect_out 'encoding: +[0-9.]+%  .* events '
    [ "$(wc -l <"$T/table.csv")" -gt 50 ] || fail "no table"
fi

finish
