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
formats=$("$VESTIGE" help --format bash | grep -o 'folded[a-z ]*' | head -n 1)
run "$VESTIGE" export --help
for format in folded lackey din csv; do
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

# ---- all formats -----------------------------------------------------------------------------------

begin needs_no_more_memory_for_a_longer_run
cat >peak.py <<'PYTHON'
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
PYTHON
"$VESTIGE_GEN" -o short.vest --seed 5 --threads 2 --events 300000 >/dev/null || exit 2
"$VESTIGE_GEN" -o long.vest --seed 5 --threads 2 --events 3000000 >/dev/null || exit 2
[ -n "$sanitized" ] || for format in lackey din csv; do
    short=$(python3 peak.py "$VESTIGE" export --to $format -o - short.vest)
    long_=$(python3 peak.py "$VESTIGE" export --to $format -o - long.vest)
    echo "$format: $short KiB for 300,000 events, $long_ KiB for 3,000,000"
    [ "$long_" -lt $((short + 20000)) ] || fail "$format: $short KiB, and $long_ KiB for a run ten times as long"
done

begin ends_quietly_if_nobody_reads
for format in lackey csv; do
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

finish
