#!/bin/bash
# SPDX-License-Identifier: MIT
# mcfTRaptor and tmcfTRaptor: formats, rates, and that all inputs lead to the same descriptors.
. "$(dirname "$0")/lib.sh"

export SOURCE_DATE_EPOCH=1000000000
bin=$(dirname "$VESTIGE")
program=$(workload rv64 racy)
"$VESTIGE" record -o "$T/a.vest" --cores 2 -- "$program" -n 200 -p 2 >"$out" 2>&1 || exit 2
"$VESTIGE" record -o "$T/s.vest" -- "$(workload rv64 signals)" -n 30 >"$out" 2>&1 || exit 2

begin writes_text_and_statistics
run "$bin/mcfTRaptor" -a -o "$T/r" -i "$T/a.vest"
expect_status 0
expect_no_err
expect_out '^mcfTRaptor: Private TRaptor thread begin 0 [0-9]+$'
grep -vqE '^[0-9]+, [1-9][0-9]*(, T, 0x[0-9a-f]{16})?$' "$T/r.txt" && fail "another line"
grep -q ', T, 0x' "$T/r.txt" || fail "no target"
counts=$("$VESTIGE" bandwidth "$T/a.vest" -t mcfTR_e:large --json | jq -c '.branches | [.conditional.count,
    .conditional.reported, .returns.count + .indirect.count, .returns.reported + .indirect.reported]')
expect_equal "[$(sed -n 's/^\([0-9]*\) conditional direct branches$/\1/p; s/^\t\([0-9]*\) .* outcomes mispredicted$/\1/p
    s/^\([0-9]*\) unconditional indirect branches$/\1/p; s/^\t\([0-9]*\) .* targets mispredicted$/\1/p' "$T/r.Statistics" |
    paste -sd,)]" "$counts" "what the technique counts"
expect_equal "$(wc -l <"$T/r.txt")" "$(jq '.[1] + .[3]' <<<"$counts")" "lines"

begin writes_the_same_in_binary
run "$bin/mcfTRaptor" -o "$T/b" -i "$T/a.vest"
expect_status 0
outcomes=$(grep -vc T "$T/r.txt") targets=$(grep -c T "$T/r.txt")
expect_equal "$(stat -c %s "$T/b.bin")" $((6 * outcomes + 15 * targets))
expect_equal "$(od -An -tu1 -N 6 "$T/b.bin" | xargs)" "0 $(head -1 "$T/r.txt" | cut -d' ' -f2) 0 0 0 0"

begin reports_exceptions
run "$bin/mcfTRaptor" -a -o "$T/e" -i "$T/s.vest"
expect_status 0
exceptions=$("$VESTIGE" info --json "$T/s.vest" | jq .counts.exceptions)
[ "$exceptions" -gt 0 ] || fail "the program has no signals"
expect_equal "$(grep -cE '^0, 0, [0-9]+, 0x[0-9a-f]{16}$' "$T/e.txt")" "$exceptions"
grep -q "^$exceptions exceptions\$" "$T/e.Statistics" || fail "the statistics have others"

begin reads_descriptors_of_mcftrace
"$bin/mcfTrace" -a -o "$T/m" -i "$T/a.vest" >"$out" || exit 2
"$bin/mcfTrace" -o "$T/m" -i "$T/a.vest" >"$out" || exit 2
"$bin/mcfTrace" -a -c gzip -o "$T/m" -i "$T/a.vest" >"$out" || exit 2
for input in m.txt m.bin m.txt.gz; do
    run "$bin/mcfTRaptor" -a -o "$T/d" -i "$T/$input" -code "$T/a.vest"
    expect_status 0
    expect_no_err
    cmp -s "$T/r.txt" "$T/d.txt" || fail "$input: other descriptors"
done

begin uses_the_sizes_that_are_given
"$VESTIGE" record -o "$T/i.vest" -- "$(workload rv64 interp)" -n 1 >"$out" 2>&1 || exit 2
"$bin/mcfTRaptor" -a -o "$T/i" -i "$T/i.vest" >"$out" || exit 2
for flags in "-gshare 0" "-gshare 256" "-RAS 0" "-iBTB 0"; do
    # shellcheck disable=SC2086
    run "$bin/mcfTRaptor" -a $flags -o "$T/d" -i "$T/i.vest"
    expect_status 0
    [ "$(wc -l <"$T/d.txt")" -gt "$(wc -l <"$T/i.txt")" ] || fail "$flags mispredicts no more"
done
run "$bin/mcfTRaptor" -a -TRaptorShare -o "$T/d" -i "$T/a.vest"
expect_out '^mcfTRaptor: Shared TRaptor thread begin 1 '
cmp -s "$T/r.txt" "$T/d.txt" && fail "sharing changes nothing"
run "$bin/mcfTRaptor" -gshare 0 -a -o "$T/d" -i "$T/a.vest"
grep -q '^	0 ( %0.00 ) outcomes predicted$' "$T/d.Statistics" || fail "something is predicted without gshare"

begin predicts_a_loop
# 20 times taken, then not. The history of 8 outcomes starts empty, so that the first 9 lookups are of 9 entries, all of
# which say not taken; the last of them stays, and is right 11 times.
{
    echo "tMcf: a title"
    for i in $(seq 20); do echo "$((100 + 3 * i)), 0, 8048440, 8048430, 2, D, C, T, 6,4"; done
    echo "170, 0, 8048440, 8048430, 2, D, C, N, 6,4"
} >"$T/loop"
run "$bin/tmcfTRaptor" --gshare 256 --o "$T/l" "$T/loop"
expect_status 0
expect_equal "$(cut -d' ' -f3 "$T/l.txt" | paste -sd' ')" "1 1 1 1 1 1 1 1 1 12"
expect_equal "$(tail -1 "$T/l.txt")" "170, 0, 12"

begin follows_a_timed_trace
"$bin/tmTrace" --mTrace "$T/t.gz" --mcf --cores 2 -- "$program" -n 200 -p 2 >"$out" 2>&1 || exit 2
run "$bin/tmcfTRaptor" --gshare 4096 --ras 32 --ibtb 64 --o "$T/t" "$T/t.gz"
expect_status 0
expect_no_err
grep -vqE '^[0-9]+, [01], [1-9][0-9]*(, T, 0x[0-9a-f]{8,})?$' "$T/t.txt" && fail "another line"
gzip -dc "$T/t.gz" >"$T/plain"
run "$bin/tmcfTRaptor" --gshare 4096 --ras 32 --ibtb 64 --o "$T/u" "$T/plain"
cmp -s "$T/t.txt" "$T/u.txt" || fail "other lines of what is not compressed"
lines=$(grep -c '^[0-9]' "$T/plain")
grep -q "^Recorded $lines control transfer instructions\.$" "$T/t.Statistics" || fail "not all were counted"
expect_equal "$(awk '/ instruction:\t/ { n += $3 } END { print n }' "$T/t.Statistics")" "$lines" "kinds"
direct=$(grep -vc T "$T/t.txt")
grep -q "^OutputDirect, $((8 * direct)), $((5 * direct)), $((13 * direct))\$" "$T/t.Statistics" || fail "other sizes"

begin refuses_bad_input
run "$bin/mcfTRaptor" -a -o "$T/x" -i "$T/m.bin"
expect_status 1
expect_one_line_err
run "$bin/mcfTRaptor" -a -o "$T/x" -i "$T/m.bin" -code "$T/s.vest"
expect_status 1
expect_one_line_err
expect_err 'descriptor [0-9]+: '
head -c 1000 "$T/m.bin" >"$T/cut.bin"
run "$bin/mcfTRaptor" -a -o "$T/x" -i "$T/cut.bin" -code "$T/a.vest"
expect_status 1
expect_err 'the last descriptor is cut'
run "$bin/mcfTRaptor" -a -gshare 300 -o "$T/x" -i "$T/a.vest"
expect_status 2
expect_err "'300' is not one of 0, 256,"
run "$bin/mcfTRaptor" -a -l 10 -o "$T/x" -i "$T/m.bin" -code "$T/a.vest"
expect_status 2
run "$bin/tmcfTRaptor" --o "$T/x" "$T/m.txt"
expect_status 1
expect_one_line_err
expect_err 'line 1: '
for line in "1, 0, 10, 20, 4, D, U, T, 6,1" "1, 0, 10, 20, 4, D, U, N, 5,1" "1, 0, 10, 20, 4, D, C, T, 7,1" \
    "1, 70000, 10, 20, 4, D, C, T, 6,1" "1, 0, 10"; do
    echo "$line" >"$T/wrong"
    run "$bin/tmcfTRaptor" --o "$T/x" "$T/wrong"
    expect_status 1
    expect_one_line_err
done
run "$bin/tmcfTRaptor" --o "$T/x" "$T/none"
expect_status 2
expect_one_line_err
head -c $(($(stat -c %s "$T/t.gz") / 2)) "$T/t.gz" >"$T/cut.gz"
run "$bin/tmcfTRaptor" --o "$T/x" "$T/cut.gz"
[ "$status" != 0 ] || fail "a cut file passes"
expect_no_file "$T/x.txt"
expect_no_file "$T/x.bin"
expect_no_file "$T/x.Statistics"

finish
