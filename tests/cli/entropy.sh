#!/bin/bash
# SPDX-License-Identifier: MIT
# Compressibility of loaded values, against a computation of its own from the dumped events.
. "$(dirname "$0")/lib.sh"

export SOURCE_DATE_EPOCH=1000000000
"$VESTIGE_GEN" -o "$T/a.vest" --seed 5 --threads 3 --events 40000 >"$out" || exit 2
"$VESTIGE_GEN" -o "$T/small.vest" --seed 6 --threads 2 --events 900 >"$out" || exit 2
"$VESTIGE_GEN" -o "$T/control.vest" --seed 7 --threads 2 --events 2000 --control-only >"$out" || exit 2
"$VESTIGE" record -o "$T/p.vest" --cores 2 -- "$(workload rv64 pipeline)" -n 1 -p 2 >"$out" 2>&1 || exit 2

# recompute.py UNIT DUMP.jsonl FIGURES.json: every figure of the object from the dumped loads.
cat >"$T/recompute.py" <<'PYTHON'
import collections, json, math, sys

unit, dump, figures = sys.argv[1], sys.argv[2], sys.argv[3]
words, loads, size_bytes = [], 0, 0
for line in open(dump):
    e = json.loads(line)
    loads += 1
    size_bytes += e["size"]
    b = int(e["value"], 16).to_bytes(e["size"], "little")
    words += [int.from_bytes(b[i:i + 4], "little") for i in range(0, len(b), 4)]

def block_entropy(b):
    return -sum(c / len(b) * math.log2(c / len(b)) for c in collections.Counter(b).values())

def same(what, got, want):
    if abs(got - want) > 2e-6 * max(1, abs(want)):
        sys.exit(f"{what}: got {got}, expected {want}")

f = json.load(open(figures))
same("loads", f["loads"], loads)
same("bytes", f["bytes"], size_bytes)
same("words", f["words"], len(words))
assert f["unit"] == unit
assert [b["block"][:-2] for b in f["blocks"]] == ["1", "8", "64", "128"]
for kilo, b in zip((1, 8, 64, 128), f["blocks"]):
    n = kilo * (256 if unit == "bytes" else 1024)
    assert b["block_words"] == n and [m["mask"] for m in b["masks"]] == [0, 4, 8, 12]
    blocks = [words[i:i + n] for i in range(0, len(words) // n * n, n)] or [words]
    assert b["cut"] == (len(words) < n)
    same("blocks", b["blocks"], len(blocks))
    same("words", b["words"], sum(map(len, blocks)))
    for m in b["masks"]:
        mask, where = m["mask"], f'{b["block"]} mask {m["mask"]}'
        high = [[w >> mask for w in x] for x in blocks]
        hs, vs = [block_entropy(x) for x in high], [len(set(x)) for x in high]
        bits = sum(32 * v + (len(x) - v) * (h + mask) for x, h, v in zip(high, hs, vs))
        mean_h, mean_v, mean_n = (sum(x) / len(blocks) for x in (hs, vs, map(len, blocks)))
        same(where + " min", m["entropy_min"], min(hs))
        same(where + " avg", m["entropy_avg"], mean_h)
        same(where + " max", m["entropy_max"], max(hs))
        same(where + " distinct", m["distinct"], mean_v)
        same(where + " bits", m["bits"], bits)
        same(where + " ratio", m["ratio"], 32 * b["words"] / bits)
        same(where + " ratio of averages", m["ratio_of_averages"],
             32 * mean_n / (32 * mean_v + (mean_n - mean_v) * (mean_h + mask)))
assert [s["size"] for s in f["small"]] == list(range(4, 13))
for s in f["small"]:
    fit = sum(w < 1 << s["size"] for w in words)
    same("fit", s["words"], fit)
    same("fraction", s["fraction"], fit / len(words))
    code = sum(1 + (s["size"] if w < 1 << s["size"] else 32) for w in words)
    same("ratio", s["ratio"], 32 * len(words) / code)
print("compared", len(words), "words")
PYTHON

# recomputed UNIT RUN OPTION...: the figures are those of the dumped loads.
recomputed() {
    local unit=$1 file=$2
    shift 2
    "$VESTIGE" dump --json --kind load "$@" "$file" >"$T/loads.json" || fail "no dump"
    run "$VESTIGE" entropy --json --unit "$unit" "$@" "$file"
    expect_status 0
    expect_no_err
    cp "$out" "$T/figures.json"
    run python3 "$T/recompute.py" "$unit" "$T/loads.json" "$T/figures.json"
    expect_status 0
    expect_out '^compared [1-9][0-9]* words$'
}

begin agrees_with_a_computation_of_its_own
recomputed bytes "$T/a.vest"
expect_equal "$(jq -c '[.blocks[].cut]' "$T/figures.json")" "[false,false,false,false]" "blocks to study"
expect_equal "$(jq -c '[.run, .thread]' "$T/figures.json")" "[\"$T/a.vest\",null]"

begin counts_blocks_in_values
recomputed values "$T/p.vest"

begin follows_a_program
recomputed bytes "$T/p.vest"

begin studies_one_thread
recomputed bytes "$T/a.vest" --thread 1
expect_equal "$(jq .thread "$T/figures.json")" 1

begin studies_what_there_is_of_a_short_run
recomputed bytes "$T/small.vest"
expect_equal "$(jq -c '[.blocks[] | select(.cut) | .blocks]' "$T/figures.json")" "[1,1,1]"
run "$VESTIGE" entropy "$T/small.vest"
expect_status 0
expect_out '^128KB +cut +12 '

begin prints_a_table
run "$VESTIGE" entropy "$T/a.vest"
expect_status 0
expect_no_err
expect_out "^$T/a.vest: [0-9,]+ loads, [0-9,]+ bytes, [0-9,]+ words\$"
expect_equal "$(grep -cE '^(1|8|64|128)KB +[0-9]+ +(0|4|8|12)( +[0-9]+\.[0-9]+){6}$' "$out")" 16 "rows"
expect_out '^fit( +[01]\.[0-9]{3}){9}$'
expect_out '^ratio( +[0-9]+\.[0-9]{3}){9}$'
run "$VESTIGE" entropy --unit values --thread 2 "$T/a.vest"
expect_out "^$T/a.vest: thread 2: "
expect_out '^128Ki '

begin totals_are_of_all_blocks
run "$VESTIGE" entropy --json "$T/a.vest" "$T/p.vest"
expect_status 0
expect_equal "$(jq -s -c '.[2] | [.run, .loads, .words, .blocks[0].blocks]' "$out")" \
    "$(jq -s -c '[null, .[0].loads + .[1].loads, .[0].words + .[1].words, .[0].blocks[0].blocks + .[1].blocks[0].blocks]' "$out")"
expect_equal "$(jq -s '[.[].blocks[1].masks[1]] | (.[2].bits - .[0].bits - .[1].bits | fabs) < 0.01
    and .[2].entropy_min == ([.[0].entropy_min, .[1].entropy_min] | min)
    and .[2].entropy_max == ([.[0].entropy_max, .[1].entropy_max] | max)' "$out")" true "sums"
run "$VESTIGE" entropy "$T/a.vest" "$T/p.vest"
expect_out '^total of 2 runs: '

begin totals_without_a_full_block
run "$VESTIGE" entropy --json "$T/small.vest" "$T/small.vest"
expect_status 0
expect_equal "$(jq -s -c '.[2].blocks[3] | [.blocks, .cut, .masks[0].entropy_avg, .masks[0].ratio]' "$out")" "[0,false,null,null]"
run "$VESTIGE" entropy "$T/small.vest" "$T/small.vest"
expect_out '^128KB +0 +12 +- +- +- +- +- +-$'

begin writes_csv
run "$VESTIGE" entropy --csv "$T/a.vest" "$T/small.vest"
expect_status 0
expect_equal "$(wc -l <"$out")" $((1 + 3 * 25))
expect_equal "$(awk -F, '{ print NF }' "$out" | sort -u)" 15 "columns"
cp "$out" "$T/figures.csv"
"$VESTIGE" entropy --json "$T/a.vest" >"$T/figures.json"
run python3 - "$T/figures.csv" "$T/figures.json" <<'PYTHON'
import csv, json, sys
rows = [r for r in csv.DictReader(open(sys.argv[1])) if r["run"].endswith("a.vest")]
f = json.load(open(sys.argv[2]))
for b in f["blocks"]:
    for m in b["masks"]:
        r, = [r for r in rows if r["block"] == b["block"] and r["mask"] == str(m["mask"])]
        assert int(r["blocks"]) == b["blocks"] and int(r["cut"]) == b["cut"]
        for c in "entropy_min", "entropy_avg", "entropy_max", "distinct", "ratio", "ratio_of_averages":
            assert abs(float(r[c]) - m[c]) < 1e-5, (c, r, m)
for s in f["small"]:
    r, = [r for r in rows if r["size"] == str(s["size"])]
    assert abs(float(r["fraction"]) - s["fraction"]) < 1e-5 and abs(float(r["ratio"]) - s["ratio"]) < 1e-5
PYTHON
expect_status 0

begin refuses_runs_without_loads
run "$VESTIGE" entropy "$T/control.vest"
expect_status 2
expect_no_out
expect_one_line_err
expect_err 'control.vest: nothing to study: loads were not recorded$'
run "$VESTIGE" entropy --json "$T/control.vest" "$T/a.vest"
expect_status 2
expect_one_line_err
expect_equal "$(wc -l <"$out")" 1 "objects"

begin refuses_bad_usage
for wrong in "--thread 3" "--thread x" "--thread 65536" "--unit bits" "--json --csv" "--blocks 4"; do
    # shellcheck disable=SC2086 # an option and its value
    run "$VESTIGE" entropy "$T/a.vest" $wrong
    expect_status 2
    expect_no_out
    expect_one_line_err
done
run "$VESTIGE" entropy
expect_status 2
run "$VESTIGE" entropy "$T/none.vest"
expect_status 2
expect_one_line_err

begin says_what_is_wrong_with_files
run "$VESTIGE" entropy "$T/recompute.py"
expect_status 1
expect_one_line_err
cp "$T/a.vest" "$T/bad.vest"
printf 'x' | dd of="$T/bad.vest" bs=1 seek=$(($(stat -c %s "$T/bad.vest") / 2)) conv=notrunc status=none
run "$VESTIGE" entropy "$T/bad.vest"
expect_status 1
expect_no_out
expect_one_line_err
"$VESTIGE_GEN" -o "$T/chunks.vest" --seed 5 --events 120000 --chunk-events 20000 >"$out" || exit 2
head -c $(($(stat -c %s "$T/chunks.vest") * 2 / 3)) "$T/chunks.vest" >"$T/cut.vest"
run "$VESTIGE" entropy "$T/cut.vest"
expect_status 1
expect_one_line_err
expect_err 'incomplete'
expect_out '^1KB '
head -c 64 "$T/chunks.vest" >"$T/stub.vest"
run "$VESTIGE" entropy "$T/stub.vest"
expect_status 1
expect_no_out
expect_one_line_err

begin has_help
run "$VESTIGE" entropy --help
expect_status 0
expect_out '^usage: vestige entropy '
[ "$(awk '{ if (length > 80) n++ } END { print n + 0 }' "$out")" = 0 ] || fail "long lines"
run "$VESTIGE" help
expect_out '^  entropy '
finish
