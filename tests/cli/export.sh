#!/bin/bash
# SPDX-License-Identifier: MIT
# Exports, each read by something that is not ours: what Valgrind's own tool prints, jq, protoc, vcd2fst, or a reader written
# here from the format's description. Memory does not grow with the run, and no file is left half-written.
. "$(dirname "$0")/lib.sh"

cd "$T" || exit 2
"$VESTIGE" record -q --all -o host.vest -- "$(workload host racy)" -n 20 -p 2 >/dev/null || exit 2
"$VESTIGE" record -q --all -o signals.vest -- "$(workload host signals)" -n 30 >/dev/null || exit 2
"$VESTIGE" record -q -o inputs.vest -- "$(workload host tree)" -n 1 >/dev/null || exit 2
"$VESTIGE" record -q --cores 2 --timed -o timed.vest -- "$(workload rv64 racy)" -n 20 -p 2 >/dev/null || exit 2
"$VESTIGE" record -q -o traps.vest -- "$(workload rv64 signals)" -n 30 >/dev/null || exit 2
for run_ in host signals inputs timed traps; do
    "$VESTIGE" dump --json $run_.vest >$run_.json || exit 2
done
runs="timed signals $(more host inputs traps)"

# export_ FORMAT RUN [OPTION...]: makes $T/RUN.FORMAT.
export_() {
    run "$VESTIGE" export -f --to "$1" -o "$2.$1" "${@:3}" "$2.vest"
    expect_status 0
    expect_no_err
    expect_no_out
}

instructions() {
    "$VESTIGE" info --json --no-scan "$1.vest" | jq .instructions
}

begin lists_every_format
run "$VESTIGE" export --help
for format in perfetto folded speedscope pprof champsim lackey din csv vcd; do
    expect_out "^  $format  "
    run "$VESTIGE" export --to "${format}x" -o x host.vest
    expect_err "did you mean '$format'"
    run "$VESTIGE" export --help
    grep -q "^| \`$format\` |" "$VESTIGE_SRC/docs/exports.md" || fail "docs/exports.md has no $format"
done

# ---- csv -------------------------------------------------------------------------------------------

# From the documentation alone: each line against the same event as dump tells it.
cat >rows.py <<'PYTHON'
import csv, json, sys

sys.set_int_max_str_digits(0)

rows = csv.DictReader(open(sys.argv[1]))
compared = 0
for line, row in zip(open(sys.argv[2]), rows, strict=True):
    e = json.loads(line)
    wanted = {"event": e["event"], "thread": e["thread"], "at": e["at"], "kind": e["kind"], "icount": e["icount"]}
    if "cycle" in e:
        wanted["cycle"] = e["cycle"]
    kind = e["kind"]
    if "pc" in e:
        wanted["pc"] = e["pc"]
    if kind in ("load", "store", "external"):
        wanted |= {"addr": e["addr"], "size": e["size"], "value": e["value"]}
        if kind != "external":
            wanted["what"] = " ".join(w for w in ("atomic", "repeat") if e[w])
    elif kind == "branch":
        wanted |= {"addr": e["target"], "size": e["length"], "what": e["branch"] + (" taken" if e["taken"] else " not-taken")}
    elif kind == "syscall":
        wanted |= {"addr": e["number"], "value": e["result"]}
    elif kind == "nondet":
        wanted |= {"size": e["size"], "value": e["value"]}
    elif kind == "map":
        wanted |= {"addr": e["addr"], "value": e["length"],
                   "what": "".join(c if e[w] else "-" for c, w in (("r", "read"), ("w", "write"), ("x", "exec"))) + (" gone" if e["gone"] else "")}
    elif kind in ("exception", "exception-return"):
        wanted["addr"] = e["target"]
    elif kind == "thread-start":
        wanted["addr"] = e["id"]
    for key, value in wanted.items():
        got = row[key]
        if key in ("pc", "addr", "value"):
            got, value = int(got, 16), value if isinstance(value, int) else int(value, 16)
        if str(got) != str(value):
            sys.exit(f"event {e['event']}: {key} is {row[key]!r}, not {value!r}")
        compared += 1
print("compared", compared)
PYTHON

begin writes_every_event_as_csv
for run_ in $runs; do
    export_ csv $run_
    run python3 rows.py $run_.csv $run_.json
    expect_status 0
    expect_out '^compared [0-9]{5,}$'
    [ -z "$brief" ] || break
done
cut -d, -f5 timed.csv | sort -u >kinds
[ "$(wc -l <kinds)" -gt 8 ] || fail "few kinds of events"

begin writes_one_thread_only
export_ csv timed --thread 1
jq -r 'select(.thread == 1) | .event' timed.json >wanted
tail -n +2 timed.csv | cut -d, -f1 | cmp -s - wanted || fail "other events"
export_ lackey timed --thread 1
expect_equal "$(grep -c ^I timed.lackey)" "$(jq -s 'map(select(.thread == 1) | .icount) | add' timed.json)" instructions
run "$VESTIGE" export --to csv --thread 2 -o x.csv timed.vest
expect_status 2
expect_one_line_err
expect_err '^vestige export: --thread: no thread 2; the run has 2, from 0 up$'
expect_no_file x.csv

begin writes_a_part
export_ lackey inputs --skip 1000 --length 500
expect_equal "$(grep -c ^I inputs.lackey)" 500 instructions
export_ lackey inputs
grep ^I inputs.lackey | sed -n '1001,1500p' >wanted
export_ lackey inputs --skip 1000 --length 500
grep ^I inputs.lackey | cmp -s - wanted || fail "other instructions"

# ---- addresses -------------------------------------------------------------------------------------

# Every value that is loaded is used, so that Valgrind's optimiser removes no load; nothing repeats itself; and the stack is
# the program's own, since that of the system begins elsewhere in each environment.
cat >plain.s <<'ASSEMBLY'
    .intel_syntax noprefix
    .globl _start
    .data
    .balign 64
m:  .quad 5, 6, 7, 8
    .skip 4096
stack:
    .text
_start:
    lea rsp, [rip + stack]
    mov ecx, 40
1:  mov rax, [rip + m]
    add [rip + m + 8], rax
    inc word ptr [rip + m + 16]
    movzx edx, byte ptr [rip + m + 2]
    add rax, rdx
    push rax
    call 2f
    dec ecx
    jnz 1b
    movups xmm0, [rip + m]
    movups [rip + m + 16], xmm0
    mov eax, 60
    xor edi, edi
    syscall
2:  pop rdx
    pop rax
    add rax, [rip + m + 8]
    push rdx
    ret
ASSEMBLY

begin writes_what_lackey_prints
gcc -nostdlib -static -no-pie -Wl,-z,noexecstack -o plain plain.s || fail "not assembled"
"$VESTIGE" record -q --all -o plain.vest -- ./plain || fail "not recorded"
export_ lackey plain
if ! has_program valgrind || ! valgrind -q --tool=lackey --trace-mem=yes --log-file=real.log ./plain; then
    skip_part "Valgrind's lackey does not run"
else
    grep -E '^(I | [LSM])' real.log >real
    cmp real plain.lackey >&2 || fail "not what lackey prints: $(diff real plain.lackey | head -3)"
    [ "$(wc -l <real)" -gt 900 ] || fail "few lines"
    grep -c '^ M' real | grep -qx 80 || fail "$(grep -c '^ M' real) modifications"
fi

# Each instruction that retired is there, in its place: after a branch comes where it went.
cat >flow.py <<'PYTHON'
import json, sys

branches, follows, signals, pending = [], 0, 0, False
for line in open(sys.argv[2]):
    e = json.loads(line)
    if e["thread"] != int(sys.argv[3]):
        continue
    if e["icount"]:
        signals += pending
        pending = False
    if e["kind"] in ("exception", "exception-return"):
        pending = True
    if e["kind"] == "branch":
        branches.append((int(e["pc"], 16), e["taken"], int(e["target"], 16)))
lines = [(int(a, 16), int(n)) for a, n in (l[3:].split(",") for l in open(sys.argv[1]) if l[0] == "I")]
at = 0
for i, (pc, size) in enumerate(lines[:-1]):
    after = lines[i + 1][0]
    if at < len(branches) and pc == branches[at][0]:
        wanted = branches[at][2] if branches[at][1] else pc + size
        at += 1
    else:
        wanted = pc + size
    follows += after == wanted
if at != len(branches):
    sys.exit(f"{at} of {len(branches)} branches")
# Only signals, and returns from their handlers, lead elsewhere than branches do.
if len(lines) - 1 - follows != signals:
    sys.exit(f"{len(lines) - 1 - follows} times elsewhere, with {signals} signals")
print("compared", len(lines), signals)
PYTHON

begin writes_every_instruction_in_order
for run_ in $runs; do
    export_ lackey $run_
    expect_equal "$(grep -c ^I $run_.lackey)" "$(instructions $run_)" "instructions of $run_"
    expect_equal "$(grep -c '^ [LM]' $run_.lackey)" "$(jq -s 'map(select(.kind == "load")) | length' $run_.json)" "loads of $run_"
    expect_equal "$(grep -c '^ [SM]' $run_.lackey)" "$(jq -s 'map(select(.kind == "store")) | length' $run_.json)" "stores of $run_"
    export_ din $run_
    sed -E 's/^I  0*/2 /; s/^ L 0*/0 /; s/^ S 0*/1 /; s/^ M 0*(.*),.*/0 \1\n1 \1/; s/,.*//' $run_.lackey |
        cmp - $run_.din >&2 || fail "din and lackey differ for $run_"
    export_ lackey $run_ --thread 0
    run python3 flow.py $run_.lackey $run_.json 0
    expect_status 0
    expect_out '^compared [0-9]{5,} [0-9]+$'
done

# ---- flame graphs ----------------------------------------------------------------------------------

begin writes_paths_of_calls
for run_ in $runs; do
    export_ folded $run_
    expect_equal "$(awk '{ n += $NF } END { printf "%d\n", n }' $run_.folded)" "$(instructions $run_)" instructions
    "$VESTIGE" info --folded $run_.vest | sort >wanted
    sort $run_.folded | cmp -s - wanted || fail "not what info --folded has"
done
export_ folded timed --thread 1
expect_equal "$(awk '{ n += $NF } END { printf "%d\n", n }' timed.folded)" \
    "$(jq -s 'map(select(.thread == 1) | .icount) | add' timed.json)" "instructions of a thread"

# Of routines whose names are as long as any that is not cut, and longer.
{
    echo '    .globl _start'
    echo '_start: call 1f'
    echo '    mov $60, %eax'
    echo '    xor %edi, %edi'
    echo '    syscall'
    for name in a:1021 b:1022 c:1023 d:1024 e:3000; do
        name=r$(printf "%$((${name#*:} - 1))s" '' | tr ' ' "${name%:*}")
        printf '    .type %s, @function\n%s:\n1:  nop\n    call 1f\n    ret\n' "$name" "$name"
        printf '    .size %s, . - %s\n' "$name" "$name"
    done
    echo '1:  ret'
} >named.s

begin writes_long_names_whole
gcc -nostdlib -static -no-pie -Wl,-z,noexecstack -o named named.s || fail "not assembled"
"$VESTIGE" record -q --all -o named.vest -- ./named || fail "not recorded"
export_ folded named
"$VESTIGE" info --folded named.vest | sort >wanted
sort named.folded | cmp - wanted >&2 || fail "not what info --folded has"
expect_equal "$(tr ' ;' '\n\n' <named.folded | grep '^r' | awk '{ print length }' | sort -nu | tr '\n' ' ')" \
    "1021 1022 1023 " "the lengths of names"
export_ speedscope named
jq -r '.shared.frames[].name' named.speedscope | grep '^r' | sort -u >got
tr ' ;' '\n\n' <named.folded | grep '^r' | sort -u | cmp - got >&2 || fail "speedscope has other names"
export_ pprof named
gzip -dc <named.pprof | grep -aoE 'r[a-e]{1020,}' | sort -u | cmp - got >&2 || fail "pprof has other names"
for format in perfetto csv vcd lackey; do
    export_ $format named
done

# A profile in profile.proto's words, as pprof's description has them.
cat >profile.proto <<'PROTO'
syntax = "proto3";
message Profile {
  repeated ValueType sample_type = 1;
  repeated Sample sample = 2;
  repeated Mapping mapping = 3;
  repeated Location location = 4;
  repeated Function function = 5;
  repeated string string_table = 6;
  repeated int64 comment = 13;
}
message ValueType { int64 type = 1; int64 unit = 2; }
message Sample { repeated uint64 location_id = 1; repeated int64 value = 2; }
message Mapping {
  uint64 id = 1; uint64 memory_start = 2; uint64 memory_limit = 3; uint64 file_offset = 4;
  int64 filename = 5; int64 build_id = 6; bool has_functions = 7;
}
message Location { uint64 id = 1; uint64 mapping_id = 2; uint64 address = 3; repeated Line line = 4; }
message Line { uint64 function_id = 1; int64 line = 2; }
message Function { uint64 id = 1; int64 name = 2; int64 system_name = 3; int64 filename = 4; int64 start_line = 5; }
PROTO

# The paths of calls again, from what protoc prints.
cat >pprof.py <<'PYTHON'
import re, sys

strings, functions, locations, samples, where, message = [], {}, {}, [], [], None
for line in sys.stdin:
    line = line.strip()
    if line.endswith("{"):
        where.append(line.split()[0])
        if len(where) == 1:
            message = {}
    elif line == "}":
        kind = where.pop()
        if not where and kind == "function":
            functions[message["id"][0]] = message["name"][0]
        elif not where and kind == "location":
            locations[message["id"][0]] = message["function_id"][0]
        elif not where and kind == "sample":
            samples.append(message)
    else:
        key, value = line.split(": ", 1)
        if key == "string_table":
            strings.append(re.sub(r"\\(['\"\\])", r"\1", value[1:-1]))
        elif where:
            message.setdefault(key, []).append(int(value) if value.isdigit() else value)
for s in samples:
    names = [strings[functions[locations[i]]] for i in reversed(s["location_id"])]
    print(";".join(names), s["value"][0])
PYTHON

begin writes_profiles_for_speedscope_and_pprof
for run_ in $runs; do
    export_ folded $run_
    sed 's/^(where is not known) /(outside all images) /' $run_.folded | sort >wanted
    export_ speedscope $run_
    jq -r '.shared.frames as $f | .profiles[0] | . as $p | range(.samples | length) as $i |
        ([$p.samples[$i][] | $f[.].name] | join(";")) + " " + ($p.weights[$i] | tostring)' $run_.speedscope | sort |
        cmp - wanted >&2 || fail "speedscope has other paths"
    expect_equal "$(jq '.profiles[0].endValue == (.profiles[0].weights | add)' $run_.speedscope)" true "the sum of weights"
    export_ pprof $run_
    if has_program protoc; then
        gzip -dc <$run_.pprof | protoc --decode=Profile profile.proto >decoded || fail "protoc refuses it"
        python3 pprof.py <decoded | sort | cmp - wanted >&2 || fail "pprof has other paths"
        expect_equal "$(grep -c '^mapping {' decoded)" "$("$VESTIGE" dump --images $run_.vest | wc -l)" mappings
    fi
done

# ---- time ------------------------------------------------------------------------------------------

# Calls, stretches, bits and misses against the dumped events.
cat >timeline.py <<'PYTHON'
import json, sys

events = [json.loads(l) for l in open(sys.argv[2])]
trace = json.load(open(sys.argv[1]))["traceEvents"]
bits = {r["technique"]: r["bits"] for r in map(json.loads, open(sys.argv[3]))}
for t in trace:
    assert t["ph"] in "MXiC" and t["pid"] == 1 and t["name"] and t["ts"] >= 0, t
calls = [t for t in trace if t["ph"] == "X" and "number" in t.get("args", {})]
wanted = [e for e in events if e["kind"] == "syscall"]
assert [(t["tid"], t["args"]["number"]) for t in calls] == [(e["thread"], e["number"]) for e in wanted], "calls"
assert all(int(t["args"].get("result", "0"), 16) == int(e.get("result", "0"), 16) for t, e in zip(calls, wanted)), "results"
assert sum(t["ph"] == "i" for t in trace) == sum(e["kind"] in ("exception", "exception-return", "thread-start", "thread-exit") for e in events), "signals"

# A thread does one thing at a time.
for thread in {e["thread"] for e in events}:
    slices = sorted((round(t["ts"] * 1000), round((t["ts"] + t["dur"]) * 1000)) for t in trace if t["ph"] == "X" and t["tid"] == thread)
    assert all(a[1] <= b[0] for a, b in zip(slices, slices[1:])), f"slices of thread {thread} overlap"

# The bits of all windows are those of the stream.
for name, total in bits.items():
    rows = [t for t in trace if t["ph"] == "C" and t["name"].startswith(name + ",")]
    width = round((rows[1]["ts"] - rows[0]["ts"]) * 1000)
    got = sum(v * width for t in rows for v in t["args"].values())
    last = sum(rows[-1]["args"].values()) * width # the end cuts the last window, and so its rate is higher
    assert got - last - 1 <= total <= got + 1 + 1e-6 * got, (name, got, total)

# Misses: 64 sets of 8 lines of 64 bytes, of which the one used the longest ago makes way.
caches, misses = {}, {}
for e in events:
    if e["kind"] in ("load", "store"):
        line = int(e["addr"], 16) >> 6
        ways = caches.setdefault((e["thread"], line & 63), [])
        if line in ways:
            ways.remove(line)
        else:
            misses[e["thread"]] = misses.get(e["thread"], 0) + 1
            del ways[: max(0, len(ways) - 7)]
        ways.append(line)
got = {}
for t in trace:
    if t["ph"] == "C" and t["name"].startswith("misses"):
        for name, n in t["args"].items():
            got[int(name.split()[1])] = got.get(int(name.split()[1]), 0) + n
assert {k: v for k, v in got.items() if v} == misses, (got, misses)
print("compared", len(calls), len(trace), sum(misses.values()))
PYTHON

begin writes_a_timeline
for run_ in $runs; do
    export_ perfetto $run_
    "$VESTIGE" bandwidth -t mcfTR_e -t mlvCF_e --json $run_.vest | jq -c '{technique, bits}' >bits || fail "no bits"
    run python3 timeline.py $run_.perfetto $run_.json bits
    expect_status 0
    expect_out '^compared [1-9][0-9]* [0-9]{3,} [0-9]{2,}$'
done
export_ perfetto timed -t mc2RT -t mcfNX_b
jq -r '.traceEvents[] | select(.ph == "C") | .name' timed.perfetto | sort -u >"$out"
expect_out '^mc2RT, bits per cycle$'
expect_out '^mcfNX_b, bits per cycle$'

# From the description of value change dumps: the words of the port in order, and each core's addresses.
cat >vcd.py <<'PYTHON'
import json, sys

names, scopes, values, time, last = {}, [], {}, 0, None
for line in open(sys.argv[1]):
    word = line.split()
    if word[0] == "$scope":
        scopes.append(word[2])
    elif word[0] == "$upscope":
        scopes.pop()
    elif word[0] == "$var":
        names[word[3]] = ".".join(scopes[1:] + [word[4]])
        values[names[word[3]]] = []
    elif line[0] == "#":
        assert last is None or int(line[1:]) > last, "time goes back"
        time = last = int(line[1:])
    elif line[0] == "b":
        values[names[word[1]]].append((time, int(word[0][1:], 2)))
words = [v for _, v in values["port.word"]]
times = [t for t, _ in values["port.word"]]
assert all(a < b for a, b in zip(times, times[1:])), "two words at once"
assert [v for _, v in values["port.count"]] == list(range(1, len(words) + 1)), "count"
stream = b"".join(w.to_bytes(4, "little") for w in words)
nbits, port = int(sys.argv[3]), open(sys.argv[4], "rb").read()
assert len(words) == (nbits + 31) // 32, (len(words), nbits)
assert stream[: nbits // 8] in port, "other bits"
pcs, now = {}, 0
for e in map(json.loads, open(sys.argv[2])):
    now = e.get("cycle", now + e["icount"])
    if "pc" in e and e["kind"] != "external":
        list_ = pcs.setdefault(e["thread"], [(0, 0)])
        if list_[-1][1] != int(e["pc"], 16):
            list_.append((now, int(e["pc"], 16)))
for thread, list_ in pcs.items():
    assert values[f"core{thread}.pc"] == list_[1:], f"other addresses of thread {thread}"
print("compared", len(words), sum(map(len, pcs.values())))
PYTHON

# Two of them have the same values at all times.
cat >same_vcd.py <<'PYTHON'
import sys

def read(path):
    names, scopes, values, time = {}, [], {}, 0
    for line in open(path):
        word = line.split()
        if not word:
            continue
        if word[0] == "$scope":
            scopes.append(word[2])
        elif word[0] == "$upscope":
            scopes.pop()
        elif word[0] == "$var":
            names[word[3]] = ".".join(scopes + [word[4]])
        elif line[0] == "#":
            time = int(line[1:])
        elif line[0] == "b" and "x" not in word[0]:
            values[names[word[1]], time] = int(word[0][1:], 2)
    changes, last = {}, {}
    for (name, time), v in values.items():
        if last.get(name) != v:
            changes[name, time] = v
        last[name] = v
    return changes

a, b = read(sys.argv[1]), read(sys.argv[2])
assert a == b, sorted(set(a.items()) ^ set(b.items()))[:4]
print("compared", len(a))
PYTHON

begin writes_what_a_waveform_viewer_shows
for run_ in $runs; do
    export_ vcd $run_
    bits=$("$VESTIGE" encode -f -t mcfTR_e --json -o $run_.vport $run_.vest | jq .bits)
    run python3 vcd.py $run_.vcd $run_.json "$bits" $run_.vport
    expect_status 0
    expect_out '^compared [0-9]{3,} [0-9]{4,}$'
    if has_program vcd2fst && has_program fst2vcd; then
        run vcd2fst $run_.vcd $run_.fst
        expect_status 0
        fst2vcd $run_.fst >back.vcd 2>"$err" || fail "fst2vcd refuses it"
        run python3 same_vcd.py $run_.vcd back.vcd
        expect_status 0
        expect_out '^compared [0-9]{4,}$'
    fi
done
run "$VESTIGE" export --to vcd -o x.vcd -t pt host.vest
expect_status 2
expect_err 'host.vest: pt has a stream for each core, and a waveform shows one port$'
run "$VESTIGE" export --to vcd -o x.vcd -t mc2RT -t mcfNX_b host.vest
expect_status 2
expect_err 'vcd shows the bits of 1 techniques?$'
expect_no_file x.vcd

begin takes_wider_windows_if_there_are_many_cores
"$VESTIGE" record -q -o wide.vest --cores 64 -- "$(workload rv64 fft)" -p 64 -n 10 >/dev/null || fail "no run"
for format in vcd perfetto; do
    run "$VESTIGE" export --to $format -o - wide.vest
    expect_status 0
    expect_no_err
done

# ---- instruction records ---------------------------------------------------------------------------

# From the description of ChampSim's records, and of how it tells branches apart.
cat >champsim.py <<'PYTHON'
import collections, json, struct, sys

data = open(sys.argv[1], "rb").read()
assert len(data) % 64 == 0, "not whole records"
records = list(struct.iter_unpack("<QBB2B4B2Q4Q", data))
SP, FLAGS, IP = 6, 25, 26

def kind(read, written):
    other = any(r not in (0, SP, FLAGS, IP) for r in read)
    if IP not in written:
        return None
    if SP in read and SP in written:
        return "ret" if IP not in read else "icall" if other else "call"
    if FLAGS in read:
        return "cond"
    return "ijump" if other else "jump"

branches, loads, stores = [], collections.Counter(), collections.Counter()
for e in map(json.loads, open(sys.argv[2])):
    if e["thread"] != int(sys.argv[4]):
        continue
    if e["kind"] == "branch":
        branches.append((int(e["pc"], 16), e["branch"], e["taken"]))
    elif e["kind"] in ("load", "store"):
        (loads if e["kind"] == "load" else stores)[int(e["addr"], 16)] += 1
ips, at, told = [], 0, 0
for r in records:
    ip, is_branch, taken, written, read = r[0], r[1], r[2], r[3:5], r[5:9]
    ips.append(ip)
    stores.subtract(a for a in r[9:11] if a)
    loads.subtract(a for a in r[11:15] if a)
    if is_branch:
        pc, name, was = branches[at]
        at += 1
        assert (pc, was) == (ip, bool(taken)), hex(ip)
        got = kind(read, written)
        # A conditional that counts rcx reads no flags, and an indirect one may take its address from memory alone.
        told += got == name
        assert got == name or name in ("cond", "ijump", "icall"), (hex(ip), name, got, read, written)
assert at == len(branches) and told > 0.95 * at, (at, len(branches), told)
insns = [int(l[3:].split(",")[0], 16) for l in open(sys.argv[3]) if l[0] == "I"]
extra = 0
for i in insns: # a repeated instruction has more records
    while ips[extra] != i:
        assert ips[extra] == ips[extra - 1], hex(ips[extra])
        extra += 1
    extra += 1
lost = sum(v for v in loads.values() if v > 0) + sum(v for v in stores.values() if v > 0)
assert min(list(loads.values()) + list(stores.values())) >= 0, "accesses that there are not"
assert lost <= 0.01 * len(records), lost
print("compared", len(records), at)
PYTHON

begin writes_records_for_champsim
for run_ in signals $(more host inputs); do
    export_ champsim $run_ --thread 0
    export_ lackey $run_ --thread 0
    run python3 champsim.py $run_.champsim $run_.json $run_.lackey 0
    expect_status 0
    expect_out '^compared [0-9]{5,} [0-9]{4,}$'
done
run "$VESTIGE" export --to champsim -o x.champsim host.vest
expect_status 2
expect_one_line_err
expect_err 'host.vest: champsim holds one thread, and the run has 2; --thread chooses one$'
run "$VESTIGE" export --to champsim --thread 0 -o x.champsim timed.vest
expect_status 2
expect_one_line_err
expect_err 'timed.vest: champsim holds x86-64 instructions only, and the run has rv64$'
expect_no_file x.champsim

# ---- all formats -----------------------------------------------------------------------------------

begin needs_no_more_memory_for_a_longer_run
cat >peak.py <<'PYTHON'
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
PYTHON
"$VESTIGE_GEN" -o short.vest --seed 5 --threads 2 --events 300000 >/dev/null || exit 2
"$VESTIGE_GEN" -o long.vest --seed 5 --threads 2 --events 3000000 >/dev/null || exit 2
[ -n "$sanitized" ] || for format in lackey din csv 'perfetto -t mcfTR_e' vcd; do
    # shellcheck disable=SC2086 # words
    short=$(python3 peak.py "$VESTIGE" export -o - --to $format short.vest)
    # shellcheck disable=SC2086 # words
    long_=$(python3 peak.py "$VESTIGE" export -o - --to $format long.vest)
    echo "$format: $short KiB for 300,000 events, $long_ KiB for 3,000,000"
    [ "$long_" -lt $((short + 20000)) ] || fail "$format: $short KiB, and $long_ KiB for a run ten times as long"
done

# A run of inputs takes 0.1 MB, whatever its length; -n 2500 gives 10^9 events, which takes too long here.
if [ -n "$long" ] && [ -z "$sanitized" ]; then
    begin needs_no_more_memory_for_a_hundred_million_events_than_for_ten
    for n in 25 250; do
        "$VESTIGE" record -q -o inputs$n.vest -- "$(workload host interp)" -n $n >/dev/null || exit 2
    done
    for format in champsim perfetto csv; do
        export_ $format inputs25 --thread 0
        short=$(python3 peak.py "$VESTIGE" export -o - --thread 0 --to $format inputs25.vest)
        long_=$(python3 peak.py "$VESTIGE" export -o - --thread 0 --to $format inputs250.vest)
        echo "$format: $short KiB for 10^7 events, $long_ KiB for 10^8"
        [ "$long_" -lt $((short + 8000)) ] || fail "$format: $short KiB, and $long_ KiB for a run ten times as long"
        [ $format != csv ] || [ "$(wc -l <inputs25.csv)" -gt 10000000 ] || fail "only $(wc -l <inputs25.csv) events"
        rm inputs25.$format
    done
fi

begin ends_quietly_if_nobody_reads
for format in lackey csv vcd perfetto; do
    "$VESTIGE" export --to $format -o - short.vest 2>"$err" | head -n 1 >"$out"
    status=${PIPESTATUS[0]}
    [ "$status" = 0 ] || [ "$status" = 141 ] || fail "status $status"
    expect_no_err
    expect_equal "$(wc -l <"$out")" 1 lines
done

begin leaves_nothing_of_a_damaged_run
size=$(stat -c %s short.vest)
cp short.vest bad.vest
printf '\377' | dd of=bad.vest bs=1 seek=$((size / 2)) conv=notrunc status=none
echo old >bad.csv
for format in lackey csv folded; do
    run "$VESTIGE" export --to $format -f -o bad.csv bad.vest
    expect_status 1
    expect_one_line_err
    expect_err '^vestige export: bad.vest: .*chunk [0-9]+ at offset [0-9]+'
    expect_equal "$(cat bad.csv)" old
    expect_no_file bad.csv.partial
done
run "$VESTIGE" export --to csv -o bad.csv short.vest
expect_status 2
expect_one_line_err
expect_err 'bad.csv: exists; -f replaces it'

begin leaves_nothing_of_a_cut_run
"$VESTIGE_GEN" -o many.vest --seed 5 --threads 2 --events 30000 --chunk-events 3000 >/dev/null || exit 2
head -c $(($(stat -c %s many.vest) * 2 / 3)) many.vest >cut.vest
for format in csv vcd perfetto folded; do
    echo old >bad.csv
    for file in new bad.csv; do
        run "$VESTIGE" export --to $format -f -o $file cut.vest
        expect_status 1
        expect_one_line_err
        expect_err '^vestige export: cut.vest: incomplete: chunk [0-9]+ at offset [0-9]+: .*; only what precedes it was read$'
    done
    expect_no_file new
    expect_no_file new.partial
    expect_no_file bad.csv.partial
    expect_equal "$(cat bad.csv)" old
done
"$VESTIGE" export --to csv -o - many.vest >whole.csv
run "$VESTIGE" export --to csv -o - cut.vest
expect_status 1
expect_one_line_err
lines=$(wc -l <"$out")
[ "$lines" -gt 1000 ] || fail "only $lines lines"
head -n "$lines" whole.csv | cmp - "$out" >&2 || fail "not the first lines of the whole run"
cp "$out" before.csv
"$VESTIGE" salvage -o saved.vest cut.vest >/dev/null || fail "not salvaged"
export_ csv saved
cmp saved.csv before.csv >&2 || fail "not what precedes the cut"

# What is cut before its first chunk of events ends has no thread, and perhaps no instruction set.
begin leaves_nothing_of_a_run_cut_before_its_first_events
timed_size=$(stat -c %s timed.vest)
for at in 40 600 3000 $((timed_size - 3000)); do
    head -c $at timed.vest >cut.vest
    expect_equal "$("$VESTIGE" info --json --no-scan cut.vest 2>/dev/null | jq -c '[.events, (.threads | length)]')" '[0,0]' \
        "events and threads of $at bytes"
    for format in csv vcd perfetto folded speedscope pprof lackey din; do
        for file in new -; do
            run "$VESTIGE" export --to $format -o $file cut.vest
            expect_status 1
            expect_one_line_err
            expect_err '^vestige export: cut.vest: incomplete: chunk [0-9]+ at offset [0-9]+: .*; only what precedes it was read$'
        done
        expect_no_file new
        expect_no_file new.partial
    done
    for format in vcd perfetto; do
        run "$VESTIGE" export --to $format -o - cut.vest
        expect_no_out
    done
    run "$VESTIGE" export --to csv --thread 0 -o new cut.vest
    expect_status 1
    expect_one_line_err
    expect_no_file new
done

finish
