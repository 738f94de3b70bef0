#!/bin/bash
# SPDX-License-Identifier: MIT
# Locality of addresses, against a computation of its own from the dumped events.
. "$(dirname "$0")/lib.sh"

export SOURCE_DATE_EPOCH=1000000000
"$VESTIGE_GEN" -o "$T/g.vest" --seed 5 --threads 3 --events 2500 >"$out" || exit 2
"$VESTIGE_GEN" -o "$T/control.vest" --seed 7 --threads 2 --events 2000 --control-only >"$out" || exit 2
"$VESTIGE" record -o "$T/p.vest" --cores 2 -- "$(workload rv64 racy)" -n 5 -p 2 >"$out" 2>&1 || exit 2
"$VESTIGE" record -o "$T/n.vest" -- "$(workload host racy)" -n 1 -p 2 >"$out" 2>&1 || exit 2

# recompute.py DUMP.jsonl FIGURES.json: every hit rate of the object from the dumped accesses.
cat >"$T/recompute.py" <<'PYTHON'
import collections, json, sys

events = [json.loads(line) for line in open(sys.argv[1])]
f = json.load(open(sys.argv[2]))
accesses = [(e["thread"], int(e["pc"], 16), int(e["addr"], 16)) for e in events]
assert f["loads"] == sum(e["kind"] == "load" for e in events)
assert f["stores"] == sum(e["kind"] == "store" for e in events)

def history(entries, shift):
    hits, recent = 0, collections.defaultdict(collections.OrderedDict)
    for core, _, addr in accesses:
        r = recent[core]
        hits += any(a >> shift == addr >> shift for a in r)
        r.pop(addr, None)
        r[addr] = True
        if len(r) > entries:
            r.popitem(last=False)
    return hits

def table(entries, shift):
    sets, hits = entries // 4, 0
    bits = sets.bit_length() - 1
    # ways in their order, each [address, when it was used]
    ways = collections.defaultdict(lambda: [[0, i - 4] for i in range(4)])
    for time, (core, pc, addr) in enumerate(accesses):
        x = pc >> 1
        s = ways[core, (x ^ x >> bits) % sets]
        way = next((w for w in s if w[0] >> shift == addr >> shift), None)
        hits += way is not None
        way = way or min(s, key=lambda w: w[1])
        way[:] = addr, time
    return hits

assert len(f["history"]) == len(f["table"]) == 9
for key, count in (("history", history), ("table", table)):
    for row in f[key]:
        want = count(row["entries"], row["shift"])
        if row["hits"] != want or abs(row["rate"] - want / len(accesses)) > 1e-6:
            sys.exit(f"{key} {row}: expected {want}")
print("compared", len(accesses), "accesses")
PYTHON

begin agrees_with_a_computation_of_its_own
for name in g p n; do
    "$VESTIGE" dump --json --kind load --kind store "$T/$name.vest" >"$T/accesses.json" || fail "no dump"
    run "$VESTIGE" locality --json "$T/$name.vest"
    expect_status 0
    expect_no_err
    cp "$out" "$T/$name.json"
    run python3 "$T/recompute.py" "$T/accesses.json" "$T/$name.json"
    expect_status 0
    expect_out '^compared [1-9][0-9]* accesses$'
done

begin filters_as_the_technique_does
for name in p n; do
    for code in plain nexus; do
        run "$VESTIGE" bandwidth "$T/$name.vest" -t "daFilter:$code" --json
        cp "$out" "$T/$code.json"
    done
    expect_equal "$(jq -c '[.filter.bits, .filter.loads.all.filtered, .filter.stores.all.filtered]' "$T/$name.json")" \
        "$(jq -c '[.bits, (.addresses.loads | .count - .reported), (.addresses.stores | .count - .reported)]' "$T/plain.json")"
    expect_equal "$(jq .filter.nexus_bits "$T/$name.json")" "$(jq .bits "$T/nexus.json")"
    expect_equal "$(jq -c '.filter | [.loads, .stores][] | (del(.all) | [.[].count] | add) == .all.count
        and (del(.all) | [.[].filtered] | add) == .all.filtered' "$T/$name.json" | sort -u)" true "sums of forms"
    [ "$(jq '.filter.all.rate > 0.3' "$T/$name.json")" = true ] || fail "little is filtered"
done
expect_equal "$(jq '.filter.loads.pc.rate' "$T/n.json")" 1 "pc-relative addresses are always known"
expect_equal "$(jq -c '.filter.loads | keys' "$T/p.json")" '["all","base"]' "RV64 has one form"

begin prints_a_table
run "$VESTIGE" locality "$T/p.vest"
expect_status 0
expect_no_err
expect_out "^$T/p.vest: [0-9,]+ loads, [0-9,]+ stores, [0-9,]+ instructions\$"
expect_equal "$(grep -cE '^(history|table) +[0-9]+( +[01]\.[0-9]{3}){3}$' "$out")" 6 "rows"
expect_out '^base( +[0-9,]+ +[0-9]+\.[0-9]{2}){3}$'
expect_out '^bits/ins +[0-9.]+ whole, [0-9.]+ in the code of daNX$'

begin totals_are_sums
run "$VESTIGE" locality --json "$T/p.vest" "$T/n.vest"
expect_status 0
expect_equal "$(jq -s -c '.[2] | [.run, .loads, .history[4].hits, .table[8].hits, .filter.bits]' "$out")" \
    "$(jq -s -c '[null, .[0].loads + .[1].loads, .[0].history[4].hits + .[1].history[4].hits,
        .[0].table[8].hits + .[1].table[8].hits, .[0].filter.bits + .[1].filter.bits]' "$out")"
run "$VESTIGE" locality "$T/p.vest" "$T/n.vest"
expect_out '^total of 2 runs: '

begin writes_csv
run "$VESTIGE" locality --csv "$T/p.vest" "$T/n.vest"
expect_status 0
expect_equal "$(wc -l <"$out")" $((1 + 3 * (18 + 14 + 2)))
expect_equal "$(awk -F, '{ print NF }' "$out" | sort -u)" 7 "columns"
expect_equal "$(head -1 "$out")" run,what,name,shift,count,hits,rate

begin refuses_bad_usage_and_files
run "$VESTIGE" locality
expect_status 2
run "$VESTIGE" locality --json --csv "$T/p.vest"
expect_status 2
expect_one_line_err
run "$VESTIGE" locality "$T/none.vest"
expect_status 2
expect_one_line_err
run "$VESTIGE" locality "$T/control.vest"
expect_status 2
expect_one_line_err
expect_err 'nothing to study: loads and stores were not recorded'
head -c $(($(stat -c %s "$T/p.vest") / 2)) "$T/p.vest" >"$T/cut.vest"
run "$VESTIGE" locality "$T/cut.vest"
expect_status 1
expect_one_line_err
cp "$T/p.vest" "$T/bad.vest"
printf 'x' | dd of="$T/bad.vest" bs=1 seek=$(($(stat -c %s "$T/bad.vest") / 2)) conv=notrunc status=none
run "$VESTIGE" locality "$T/bad.vest"
expect_status 1
expect_one_line_err

finish
