#!/bin/bash
# SPDX-License-Identifier: MIT
# mlvCFiat and tmlvCFiat: formats, rates, the published examples, and that all inputs lead to the same descriptors.
. "$(dirname "$0")/lib.sh"

export SOURCE_DATE_EPOCH=1000000000
bin=$(dirname "$VESTIGE")
program=$(workload rv64 racy)
cd "$T" || exit 2
"$VESTIGE" record -o a.vest --cores 2 -- "$program" -n 200 -p 2 >"$out" 2>&1 || exit 2
"$VESTIGE" record -o one.vest -- "$(workload rv64 signals)" -n 30 >"$out" 2>&1 || exit 2
"$VESTIGE_GEN" -o wide.vest --seed 7 --threads 3 --events 30000 >"$out" || exit 2
for run in a one wide; do
    "$bin/mlsTrace" -a -store -o "$run.mls" -i "$run.vest" >"$out" || exit 2
done
"$bin/mlsTrace" -store -c gzip -o a.mls -i a.vest >"$out" || exit 2
"$bin/mlsTrace" -store -o a.mls -i a.vest >"$out" || exit 2

# model KB LINE WAYS GRANULE SHARED: from mlsTrace's lines, the descriptors as another program finds them.
model() {
    awk -F', ' -v size=$(($1 * 1024)) -v line="$2" -v ways="$3" -v granule="$4" -v shared="$5" '
        function hex(s, i, n) {
            for (i = 3; i <= length(s); i++) n = n * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
            return n + 0
        }
        # Whether all granules [from, to) of a line of a cache are there and flagged; then they are.
        function access(c, number, from, to, way, all, g) {
            set = c SUBSEP (number % sets)
            all = (set, number) in where
            if (!all) {
                way = (ways - 1) - last[set]++ % ways
                if ((set, way) in held) delete where[set, held[set, way]]
                held[set, way] = number
                where[set, number] = ++fetched
            }
            for (g = int(from / granule); g * granule < to; g++) {
                if (!((where[set, number], g) in flag)) all = 0
                flag[where[set, number], g] = 1
            }
            return all
        }
        BEGIN { sets = size / line / ways; CONVFMT = "%.0f" }
        {
            c = shared ? 0 : $1
            at = hex($4)
            end = at + $5
            all = 1
            for (number = int(at / line); number * line < end; number++) {
                from = number * line > at ? 0 : at - number * line
                to = end - number * line < line ? end - number * line : line
                if (!access(c, number, from, to)) all = 0
            }
            if ($2 == "S") next
            if (all) hits[$1]++
            else {
                print $1 ", " hits[$1] + 0 ", " $6
                hits[$1] = 0
            }
        }'
}

# sum FILE TITLE: the hits and misses of all sizes, and of the row on the total.
sum() {
    awk -v title="-- $2 " '
        /^--/ { on = index($0, title) == 1 }
        on && /^\t/ {
            n = split($NF, part, /[:(]/)
            if ($1 == "Total") total = part[1] " " part[2]
            else { hits += part[1]; misses += part[2] }
        }
        END { print hits + 0, misses + 0, total }' "$1"
}

begin writes_text_and_statistics
run "$bin/mlvCFiat" -a -o r -i a.vest
expect_status 0
expect_no_err
expect_out '^mlvCFiat: Writing to text file: r\.txt$'
expect_out '^mlvCFiat descriptor: ThreadID, fahCnt, Load Value$'
expect_out '^mlvCFiat: thread begin 1 [0-9]+$'
grep -vqE '^[01], [0-9]+, 0x([0-9a-f]{2})+$' r.txt && fail "another line"
read -r loads stores <<<"$("$VESTIGE" info --json a.vest | jq -r '.counts | "\(.loads.count) \(.stores.count)"')"
read -r hits misses total_hits total_misses <<<"$(sum r.Statistics "Cache References")"
expect_equal "$hits $misses" "$total_hits $total_misses" "sizes and total"
expect_equal $((hits + misses)) $((loads + stores)) "references"
read -r first_hits first_misses total_hits total_misses <<<"$(sum r.Statistics "First Access Flag References")"
expect_equal "$first_hits $first_misses" "$total_hits $total_misses" "sizes and total of flags"
expect_equal "$(wc -l <r.txt)" $((loads - first_hits)) "lines"
[ $((loads - first_hits)) -gt "$first_misses" ] || fail "no load missed in the cache"
expect_equal "$(sed -n 's/^Instructions Traced: //p' r.Statistics)" \
    "$("$VESTIGE" info --no-scan --json a.vest | jq .instructions)" "instructions"

begin agrees_with_another_model
while read -r name kb line ways granule share; do
    # shellcheck disable=SC2086
    run "$bin/mlvCFiat" -a -cs $kb -cls $line -ca $ways -cfg $granule ${share:+-cshare} -o d -i "$name.vest"
    expect_status 0
    model "$kb" "$line" "$ways" "$granule" "${share:+1}" <"$name.mls.txt" >want
    [ -s want ] || fail "the other model has nothing"
    cmp -s d.txt want || fail "$name $kb $line $ways $granule $share: $(diff want d.txt | head -n 4)"
done <<'END'
a 32 32 4 4
a 32 32 4 4 share
a 1 64 2 8
a 1 16 64 16 share
a 2 32 1 1
one 1 32 4 4
wide 4 32 4 2
wide 1 512 2 128 share
END
run "$bin/mlvCFiat" -a -cs 32 -cls 32 -ca 4 -cfg 4 -o d -i a.vest
cmp -s d.txt r.txt || fail "these are not the defaults"

begin writes_the_same_in_binary
{
    cat wide.mls.txt
    printf '1, L, 0x%016x, 0x%016x, 300, 0x' 1 65599
    for i in $(seq 300); do printf '%02x' $((i % 251)); done
    echo
    echo "1, L, 0x0000000000000001, 0x000000000001003f, 1, 0x00"
    echo "1, L, 0x0000000000000001, 0x0000000000010160, 1, 0x00"
    echo "1, L, 0x0000000000000001, 0x0000000000010170, 1, 0xaa"
} >longer.mls.txt
for name in a longer; do
    "$bin/mlvCFiat" -a -o t -i "$name.mls.txt" -descriptors >"$out" || exit 2
    run "$bin/mlvCFiat" -o b -i "$name.mls.txt" -descriptors
    expect_status 0
    expect_out '^mlvCFiat descriptor: ThreadID, fahCnt, Operand Size, Load Value$'
    # An operand of more than 255 bytes is in pieces of 128, the first of them lowest.
    od -An -v -tu1 -w1 b.bin | awk '
        function byte() { return (getline line) > 0 ? line + 0 : -1 }
        BEGIN {
            while ((thread = byte()) >= 0) {
                hits = byte() + 256 * byte() + 65536 * byte() + 16777216 * byte()
                size = byte()
                value = ""
                while (size-- > 0) value = value sprintf("%02x", byte())
                print thread ", " hits ", 0x" value
            }
        }' >got
    awk -F', ' '{
            value = substr($3, 3)
            n = length(value) / 2
            if (n <= 255) { print; next }
            for (from = 0; from < n; from += 128) {
                size = n - from < 128 ? n - from : 128
                print $1 ", " (from ? 0 : $2) ", 0x" substr(value, 2 * (n - from - size) + 1, 2 * size)
            }
        }' t.txt >want
    cmp -s got want || fail "$name: $(diff want got | head -n 4)"
done
expect_equal "$(tail -n 1 got)" "1, 2, 0xaa"
expect_equal "$(tail -n 4 got | cut -c 1-4 | sed -n '2,3p' | paste -sd' ')" "1, 0 1, 0" "pieces"
[ "$(awk -F', ' 'length($3) > 600' t.txt | wc -l)" = 1 ] || fail "no operand was in pieces"
read -r hits misses _ <<<"$(sum b.Statistics "Cache References")"
expect_equal $((hits + misses)) "$(wc -l <longer.mls.txt)" "references"

begin shares_with_nobody_as_if_private
"$bin/mlvCFiat" -a -cs 1 -o p -i one.vest >"$out" || exit 2
run "$bin/mlvCFiat" -a -cs 1 -cshare -o s -i one.vest
expect_status 0
cmp -s p.txt s.txt || fail "other descriptors of one thread"
cmp -s <(tail -n +2 p.Statistics) <(tail -n +2 s.Statistics) || fail "other statistics of one thread"
run "$bin/mlvCFiat" -a -cshare -o s -i a.vest
cmp -s r.txt s.txt && fail "two threads share nothing"

begin reads_descriptors_of_mlstrace
for input in a.mls.txt a.mls.bin a.mls.bin.gz; do
    run "$bin/mlvCFiat" -a -o d -i "$input" -descriptors
    expect_status 0
    expect_no_err
    cmp -s r.txt d.txt || fail "$input: other descriptors"
    cmp -s <(tail -n +4 r.Statistics) <(tail -n +4 d.Statistics) || fail "$input: other statistics"
done
"$bin/mlvCFiat" -a -o w -i wide.vest >"$out" || exit 2
run "$bin/mlvCFiat" -a -o d -i wide.mls.txt -descriptors
cmp -s w.txt d.txt || fail "other descriptors of wide operands"

begin traces_a_program
run "$bin/mlvCFiat" -a -d -o live -- "$VESTIGE_BUILD/test/programs/memory"
expect_status 0
expect_out '^mlvCFiat: thread begin 0 [0-9]+$'
grep -qE '^0, [0-9]+, 0x([0-9a-f]{2})+ [a-z]' live.txt || fail "no instruction"
read -r hits misses _ <<<"$(sum live.Statistics "Cache References")"
[ $((hits + misses)) -gt 0 ] || fail "no references"
run "$bin/mlvCFiat" -a -l 1000 -s 500 -o d -i a.vest
expect_status 0
grep -q '^Instructions Traced: 1000$' d.Statistics || fail "another window"
grep -q '^Skipped Instructions: 500$' d.Statistics || fail "others were skipped"

begin compresses
while read -r name suffix; do
    has_program "$name" || continue
    run "$bin/mlvCFiat" -a -c "$name" -o c -i a.vest
    expect_status 0
    "$name" -dc "c.txt.$suffix" | cmp -s - r.txt || fail "$name: other descriptors"
done <<'END'
gzip gz
bzip2 bz2
xz xz
zstd zst
END

# ---- timed --------------------------------------------------------------------------------------

# The examples are of caches below 1 KB: 32 or 8 bytes. All that is in bytes is multiplied to make it one.
# scaled FACTOR: lines "S|L address size" as lines of TmTrace.
scaled() {
    local kind at size cycle=100
    while read -r kind at size; do
        printf '%d, 0, %d, 8048132, %x, %d\n' $((cycle++)) "$([ "$kind" = S ] && echo 1 || echo 0)" \
            $((16#$at * $1)) $((size * $1))
    done
}

begin follows_the_example_of_stores_and_loads
{
    echo "mTrace: a title"
    {
        echo S a51e1680 8
        for at in 50 54 58 5c 60 64 68 6c 70; do echo "S a51e16$at 4"; done
        echo L a51e1680 8
        echo L a51e1688 8
    } | scaled 32
} >evict
run "$bin/tmlvCFiat" --cs 1 --cls 512 --ca 2 --cfg 128 --o e evict
expect_status 0
expect_no_err
expect_equal "$(paste -sd';' e.txt)" "110, 0, 256, 0;111, 0, 256, 0"
grep -q '^	Total 7:5(58%)$' e.Statistics || fail "other references"
grep -q '^	Total 0:1(0%)$' e.Statistics || fail "other references of flags"

begin follows_the_example_of_spanning_operands
{
    for at in 80 78 70 68 60; do echo "S a51e16$at 8"; done
    for at in 78 70 68 60; do echo "L a51e16$at 8"; done
    echo S a51e1640 32
    echo L a51e1640 32
    echo S a51e1620 8
    echo L a51e1640 32
} | scaled 32 >span
run "$bin/tmlvCFiat" --cs 1 --cls 512 --ca 2 --cfg 128 --o e span
expect_status 0
expect_equal "$(cat e.txt)" "112, 0, 1024, 5"
grep -q '^	Total 5:0(100%)$' e.Statistics || fail "other references of flags"
printf '%s\n' "S bffeff58 8" "L bffeff58 8" | scaled 128 >double
run "$bin/tmlvCFiat" --cs 1 --cls 512 --ca 2 --cfg 512 --o e double
expect_status 0
expect_equal "$(cat e.txt)" ""
grep -q '^	Total 1:1(50%)$' e.Statistics || fail "other references"
grep -q '^	Total 1:0(100%)$' e.Statistics || fail "other references of flags"

begin follows_the_example_of_reads_only
for at in 3c 40 44 48 4c 50 54 58 5c; do echo "L bffeff$at 4"; done | scaled 32 >nine
run "$bin/tmlvCFiat" --cs 1 --cls 512 --ca 2 --cfg 512 --o e nine
expect_status 0
expect_equal "$(paste -sd';' e.txt)" "100, 0, 128, 0;101, 0, 128, 0;105, 0, 128, 3"

begin counts_operands_and_bytes
printf '%s\n' "1, 0, 0, 8048132, bfff0000, 4" "2, 1, 1, 8048132, bfff0000, 8" "3, 1, 0, 8048132, bfff0004, 10" >few
run "$bin/tmlvCFiat" --o f few
expect_status 0
expect_out '^tmlvCFiat: Writing to text file: f\.txt$'
expect_equal "$(paste -sd';' f.txt)" "1, 0, 4, 0;3, 1, 10, 0"
expect_equal "$(grep -c '^	1 ( %50.00 ) \(Doubleword\|Extended Precision\) Operands$' f.Statistics)" 2 "loads"
grep -q '^Total Store Operands: 1$' f.Statistics || fail "other stores"
grep -q '^Input, 24, 33, 57$' f.Statistics || fail "other bytes of input"
grep -q '^Output, 16, 12, 28$' f.Statistics || fail "other bytes of output"
echo "4, 1, 0, 8048132, 1bfff0004, 4" >>few
run "$bin/tmlvCFiat" --o f - <few
grep -q '^Input, 32, 76, 108$' f.Statistics || fail "other bytes of wide addresses"

begin follows_a_timed_trace
"$bin/tmTrace" --mTrace t.gz --mld --mst --cores 2 -- "$program" -n 200 -p 2 >"$out" 2>&1 || exit 2
"$VESTIGE" record -o t.vest --timed --cores 2 -- "$program" -n 200 -p 2 >"$out" 2>&1 || exit 2
"$bin/mlvCFiat" -a -cs 4 -o t -i t.vest >"$out" || exit 2
run "$bin/tmlvCFiat" --cs 4 --o u t.gz
expect_status 0
expect_no_err
grep -vqE '^[0-9]+, [01], [0-9]+, [0-9]+$' u.txt && fail "another line"
# What the run has of values the trace has of cycles.
cmp -s <(awk -F', ' '{ print $1, $2, (length($3) - 2) / 2 }' t.txt) <(awk -F', ' '{ print $2, $4, $3 }' u.txt) ||
    fail "other descriptors than of the same run"
cmp -s <(sed -n '/^--/,$p' t.Statistics) <(sed -n '/^--/,/^;/p' u.Statistics | sed '$d') || fail "other statistics"
gzip -dc t.gz >plain
run "$bin/tmlvCFiat" --cs 4 --o v plain
cmp -s u.txt v.txt || fail "other lines of what is not compressed"

# ---- errors -------------------------------------------------------------------------------------

# refused STATUS PATTERN COMMAND...: one line, and no files.
refused() {
    local wanted=$1 pattern=$2
    shift 2
    run "$@"
    expect_status "$wanted"
    expect_one_line_err
    expect_err "$pattern"
    expect_no_file x.txt
    expect_no_file x.bin
    expect_no_file x.Statistics
}

begin refuses_bad_flags
refused 2 'must be 3 ways of 32-byte lines' "$bin/mlvCFiat" -ca 3 -o x -i a.vest
refused 2 'a cache line of 48 bytes' "$bin/mlvCFiat" -cls 48 -o x -i a.vest
refused 2 'granules of 64 bytes' "$bin/mlvCFiat" -cfg 64 -o x -i a.vest
refused 2 "-cs: '0' is not between" "$bin/mlvCFiat" -cs 0 -o x -i a.vest
refused 2 "-ca: 'four' " "$bin/mlvCFiat" -ca four -o x -i a.vest
refused 2 'nothing to trace' "$bin/mlvCFiat" -o x
refused 2 'descriptors do not tell' "$bin/mlvCFiat" -l 10 -o x -i a.mls.bin -descriptors
refused 2 'not for descriptors' "$bin/mlvCFiat" -a -d -o x -i a.mls.bin -descriptors
refused 2 'which -i names' "$bin/mlvCFiat" -descriptors -o x -- "$program"
refused 2 'granules of 3 bytes' "$bin/tmlvCFiat" --cfg 3 --o x few
refused 2 '' "$bin/tmlvCFiat" --o x
refused 2 '' "$bin/tmlvCFiat" --o x none
"$VESTIGE" record --loads -o loads.vest -- "$(workload rv64 signals)" -n 1 >"$out" 2>&1 || exit 2
refused 2 'was recorded without stores' "$bin/mlvCFiat" -o x -i loads.vest

begin refuses_bad_input
refused 1 '' "$bin/mlvCFiat" -o x -i a.mls.bin
refused 1 'descriptor 1: .* made with -store' "$bin/mlvCFiat" -o x -i r.txt -descriptors
"$bin/mlsTrace" -o loads -i a.vest >"$out" || exit 2
refused 1 'descriptor [0-9]+: .* made with -store' "$bin/mlvCFiat" -o x -i loads.bin -descriptors
head -c 1000 a.mls.bin >cut.bin
refused 1 'cut' "$bin/mlvCFiat" -o x -i cut.bin -descriptors
for line in "0, L, 0x10, 0x20, 0, 0x" "0, L, 0x10, 0x20, 4, 0x123456" "70000, L, 0x10, 0x20, 1, 0x00" \
    "0, X, 0x10, 0x20, 1, 0x00" "0, L, 0x10, 0x20, 70000, 0x00" "0, L, 0x10"; do
    echo "$line" >wrong
    refused 1 'descriptor 1: ' "$bin/mlvCFiat" -o x -i wrong -descriptors
done
for line in "1, 0, 8048132, bfff0000, 4" "1, 0, 2, 8048132, bfff0000, 4" "1, 70000, 0, 8048132, bfff0000, 4" \
    "1, 0, 0, 8048132, bfff0000, 0" "1, 0, 0, 8048132, bfff0000, 65536" "1, 0, 0, 8048132, bfff0000, 4, 5" \
    "463, 0, 804814c, 8058090, 5, D, U, T, 1,13" "1, 0"; do
    echo "$line" >wrong
    refused 1 'line 1: ' "$bin/tmlvCFiat" --o x wrong
done
echo "mTrace: a title" >wrong
refused 1 'it has no read or write' "$bin/tmlvCFiat" --o x wrong
head -c $(($(stat -c %s t.gz) / 2)) t.gz >cut.gz
run "$bin/tmlvCFiat" --o x cut.gz
[ "$status" != 0 ] || fail "a cut file passes"
expect_no_file x.txt

begin helps
for command in "mlvCFiat -help" "mlvCFiat -h" "tmlvCFiat --help" "vestige help tmlvCFiat"; do
    # shellcheck disable=SC2086
    run "$bin"/$command
    expect_status 0
    expect_out '^example:$'
    expect_out '^ +--?cfg BYTES '
done

finish
