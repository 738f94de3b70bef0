#!/bin/bash
# SPDX-License-Identifier: MIT
# Bits over time as a chart.
. "$(dirname "$0")/lib.sh"

export SOURCE_DATE_EPOCH=1000000000
program=$(workload rv64 pipeline)
"$VESTIGE" record -o "$T/t.vest" --cores 2 --timed -- "$program" -n 3 -p 2 >"$out" 2>&1 || exit 2
"$VESTIGE" record -o "$T/u.vest" --control-only -- "$program" -n 3 >"$out" 2>&1 || exit 2

# compare SVG JSON TITLE: every step of every line is where the axes have the figure that --json has.
cat >"$T/compare.py" <<'CODE'
import json, math, re, sys
import xml.etree.ElementTree as tree

ns = "{http://www.w3.org/2000/svg}"
root = tree.parse(sys.argv[1]).getroot()
rows = [json.loads(line) for line in open(sys.argv[2])]
texts = [(t.get("x"), t.get("y"), t.text) for t in root.iter(ns + "text")]
said = [t for _, _, t in texts]
wanted = []  # label, rates without the last window's, summary
for r in rows:
    w = r["windows"]
    rate = lambda series: [bits / w["width"] for bits in series][:-1]
    name = r["technique"] + ("" if r["config"] == "default" else ":" + r["config"])
    wanted.append((name, rate(w["series"]), w))
    if len(rows) == 1 and len(w["cores"]) > 1:
        for i, series in enumerate(w["cores"]):
            wanted.append(("core %d" % i, rate(series), w["core_rates"][i]))
log = max(w["average"] for _, _, w in wanted) > 10 * min(w["average"] for _, _, w in wanted if w["peak_bits"])
unit = w["unit"][:-1]
assert "bits per " + unit + (", logarithmic" if log else "") in said, "axis"
assert said[0] == sys.argv[3] and root.find(ns + "title").text == sys.argv[3], "title"
assert said[1].endswith("windows of {:,} {}s".format(w["width"], unit)), "subtitle"

levels = [(float(y) - 4, float(t)) for x, y, t in texts if x == "66.0"]
assert len(levels) >= 3 and len({y for y, _ in levels}) == len(levels)
assert all(60 - 0.1 <= y <= 400.1 for y, _ in levels)
scale = math.log if log else lambda v: v
(y0, v0), (y1, v1) = levels[0], levels[-1]
def place(rate):
    if log and rate == 0:
        return 400
    return min(400, y0 + (y1 - y0) * (scale(rate) - scale(v0)) / (scale(v1) - scale(v0)))

lines = [p for p in root.iter(ns + "path") if p.get("fill") == "none" and p.get("stroke-linejoin")]
assert len(lines) == len(wanted), "%d lines" % len(lines)
assert len({(p.get("stroke"), p.get("stroke-dasharray")) for p in lines}) == len(lines), "alike"
for path, (name, rates, summary) in zip(lines, wanted):
    assert min(map(float, re.findall(r"V(-?[0-9.]+)", path.get("d")))) >= 60, name
    steps = re.findall(r"(?:M72 |V)([0-9.]+)H([0-9.]+)", path.get("d"))
    assert len(steps) > len(rates), name
    for i, rate in enumerate(rates):
        assert abs(float(steps[i][0]) - place(rate)) < 0.2, "%s: window %d: %s" % (name, i, steps[i])
    assert steps[-1][1] == "936.0", "the end"
    at = said.index(name if len(name) <= 34 else name[:34] + "\u2026")
    for text, key in zip(said[at + 1:at + 3], ("average", "peak")):
        assert abs(float(text) - summary[key]) <= 1e-6 + summary[key] / 1e3, name + ": " + key
print(len(lines), "log" if log else "linear")
CODE
compare() {
    run python3 "$T/compare.py" "$@"
    expect_status 0
}

begin draws_what_it_counted
run "$VESTIGE" bandwidth "$T/t.vest" --window 100K --plot "$T/dozen.svg" --json
expect_status 0
expect_no_err
cp "$out" "$T/dozen.json"
compare "$T/dozen.svg" "$T/dozen.json" "$T/t.vest"
expect_out '^12 log$'
run "$VESTIGE" bandwidth "$T/t.vest" --window 100K --json
expect_equal "$(cat "$out")" "$(cat "$T/dozen.json")" "a plot changes nothing else"

begin draws_cores_of_one
run "$VESTIGE" bandwidth "$T/t.vest" -t mlvCF_e:granule=8,dcc=5,dcc_next=3,caches=private --plot "$T/one.svg" --json
expect_status 0
cp "$out" "$T/one.json"
windows=$(jq '.windows.series | length' "$out")
[ "$windows" -ge 100 ] && [ "$windows" -le 250 ] || fail "$windows windows without --window"
compare "$T/one.svg" "$T/one.json" "$T/t.vest"
expect_out "^$(($(jq .cores "$T/one.json") + 1)) "

begin draws_linear_axes_and_instructions
run "$VESTIGE" bandwidth "$T/u.vest" -t mcfTR_e -t mcfTR_e:small --plot "$T/u.svg" --json
expect_status 0
cp "$out" "$T/u.json"
expect_equal "$(jq -r .windows.unit "$out" | sort -u)" instructions
compare "$T/u.svg" "$T/u.json" "$T/u.vest"
expect_out '^2 linear$'

begin draws_the_same_again
run "$VESTIGE" bandwidth "$T/t.vest" --window 100K --plot "$T/again.svg"
expect_status 0
cmp -s "$T/dozen.svg" "$T/again.svg" || fail "differs"

begin draws_many_windows_in_few_bytes
run "$VESTIGE" bandwidth "$T/t.vest" -t mcfTR_e -t mcfNX_b --window 50 --plot "$T/many.svg" --json
expect_status 0
[ "$(jq -s '.[0].windows.series | length' "$out")" -gt 5000 ] || fail "not many"
[ "$(stat -c %s "$T/many.svg")" -lt 60000 ] || fail "$(stat -c %s "$T/many.svg") bytes"

begin escapes_names
name="$T/"$'a <b> & "c'\'$' \x01\xff\xef\xbf\xbf \xc3\xa9.vest'
cp "$T/u.vest" "$name"
run "$VESTIGE" bandwidth "$name" -t mcfNX_b --plot "$T/name.svg"
expect_status 0
run python3 -c 'import sys, xml.etree.ElementTree as t
print(ascii(t.parse(sys.argv[1]).getroot()[0].text[-23:]))' "$T/name.svg"
expect_equal "$(cat "$out")" "'/a <b> & \"c\\' \\ufffd\\ufffd\\ufffd \\xe9.vest'"
name=$T/$(printf 'x%.0s' {1..120}).vest
cp "$T/u.vest" "$name"
run "$VESTIGE" bandwidth "$name" -t mcfNX_b --plot "$T/long.svg"
grep -q '<title>…x*\.vest</title>' "$T/long.svg" || fail "a long name is not cut"

begin replaces_a_file_only_if_told
cp "$T/u.svg" "$T/kept.svg"
run "$VESTIGE" bandwidth "$T/t.vest" -t mcfNX_b --plot "$T/kept.svg"
expect_status 2
expect_one_line_err
expect_err 'kept\.svg: exists; -f replaces it$'
expect_no_out
cmp -s "$T/u.svg" "$T/kept.svg" || fail "it was touched"
run "$VESTIGE" bandwidth "$T/t.vest" --window 100K -f --plot "$T/kept.svg"
expect_status 0
cmp -s "$T/dozen.svg" "$T/kept.svg" || fail "it was not replaced"

begin leaves_nothing_after_an_error
mkdir "$T/empty"
for wrong in "$T/t.vest $T/u.vest -t mcfNX_b" "$T/t.vest -t all" "$T/u.vest -t load-values" "$T/none.vest" \
    "$T/u.vest -t mlvCF_e" "$T/t.vest -t mcfNX_b --window 1" "$T/t.vest -t mcfNX_b --window 0"; do
    # shellcheck disable=SC2086
    run "$VESTIGE" bandwidth $wrong --plot "$T/empty/x.svg"
    [ "$status" != 0 ] || fail "$wrong: status 0"
    expect_one_line_err
    expect_equal "$(ls "$T/empty")" '' "$wrong"
done
run "$VESTIGE" bandwidth "$T/t.vest" -t mcfNX_b --plot "$T/none/x.svg"
expect_status 2
expect_one_line_err
expect_no_out

begin draws_what_a_cut_run_has
"$VESTIGE_GEN" -o "$T/whole.vest" --seed 1 --threads 3 --events 100000 --chunk-events 20000 >"$out" || exit 2
head -c $(($(stat -c %s "$T/whole.vest") * 4 / 5)) "$T/whole.vest" >"$T/cut.vest"
run "$VESTIGE" bandwidth "$T/cut.vest" -t mcfNX_b --plot "$T/cut.svg" --json
expect_status 1
expect_err incomplete
cp "$out" "$T/cut.json"
compare "$T/cut.svg" "$T/cut.json" "$T/cut.vest"

finish
