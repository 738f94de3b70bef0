#!/bin/bash
# SPDX-License-Identifier: MIT
# The Python package as installed: what it says of runs is what the commands say, and what is misused, damaged or closed
# raises an exception. In a sanitizer's build it runs with the sanitizers' library loaded first.
. "$(dirname "$0")/lib.sh"

python=/usr/bin/python3
"$python" -c 'import numpy' 2>/dev/null && ls "$VESTIGE_BUILD"/python/vestige/_vestige*.so >/dev/null 2>&1 ||
    skip_all "the Python package was not built: python3-dev or python3-numpy is missing"
. "$VESTIGE_SRC/tests/installed.sh"
export PYTHONPATH=$root/site PYTHONDONTWRITEBYTECODE=1
mkdir "$root/site" && cp -r "$root"/usr/lib/python3/dist-packages/vestige "$root/site"

program=$(workload rv64 racy)
"$VESTIGE" record -o "$T/a.vest" --cores 2 --timed -- "$program" -n 200 -p 2 >"$out" 2>&1 || exit 2
"$VESTIGE" info --json "$T/a.vest" >"$T/info.json"
"$VESTIGE" bandwidth --json --window 5000 -t mcfTR_e:small -t mlvCF_e "$T/a.vest" >"$T/bandwidth.json"
"$VESTIGE" encode -t mcfTR_e -o "$T/flow.vport" "$T/a.vest" >/dev/null
"$VESTIGE" encode -t mc2RT -o "$T/data.vport" "$T/a.vest" >/dev/null
"$VESTIGE" replay --until 20000 --registers --json "$T/data.vport" >"$T/replay.json"
cd "$T" || exit 2

# Python does not free what it has at its end, so leaks are not looked for.
san_libs=
[ -n "$san" ] && san_libs=$(gcc -print-file-name=libasan.so):$(gcc -print-file-name=libubsan.so)

# script: runs standard input.
script() {
    cat >"$T/script.py"
    run env ${san_libs:+LD_PRELOAD="$san_libs"} ASAN_OPTIONS="${ASAN_OPTIONS-}:detect_leaks=0" "$python" -X faulthandler \
        "$T/script.py"
    expect_status 0
    expect_no_err 'runtime error|Sanitizer|Traceback'
}

begin iterates_over_events_in_place
script <<'CODE'
import json, numpy as np, vestige
info = json.load(open("info.json"))
with vestige.open("a.vest") as run:
    kinds, first, last, kept = np.zeros(32, dtype=np.int64), 0, 0, []
    for batch in run:
        assert batch.first == first and len(batch) == len(batch.events) == len(batch.cycles)
        assert batch.events.dtype == vestige.EVENT and batch.events.base is not None
        assert (np.diff(batch.cycles.astype(np.int64)) >= 0).all() and batch.cycles[0] >= last
        first, last = first + len(batch), batch.cycles[-1]
        kinds += np.bincount(batch.events["kind"], minlength=32)
        kept.append((batch, batch.events["pc"].sum()))
    assert first == run.events == info["events"], (first, run.events)
    assert run.instructions_retired == info["instructions"] and run.threads == 2 and run.timed and run.sealed
    assert run.facts["isa"] == "rv64" and run.images[0]["path"].endswith("racy")
    for name, number in vestige.KINDS.items():
        assert kinds[number] == info["counts"]["kinds"].get(name.replace("-", "_"), 0), name
    assert sum(run.thread(i)["events"] for i in range(2)) == run.events
# The arrays outlive the run, and nothing was written over them.
for batch, total in kept:
    assert batch.events["pc"].sum() == total
del kept
print(first)
CODE
expect_out '^[1-9][0-9]{4,}$'

begin reads_values_and_goes_to_places
script <<'CODE'
import vestige
run = vestige.open("a.vest")
wide = 0
for batch in run:
    for i in range(len(batch)):
        e = batch.events[i]
        value = batch.value(i)
        if e["kind"] == vestige.KINDS["syscall"]:
            wide += 1
            assert len(value) == e["size"] >= 56
        elif e["kind"] == vestige.KINDS["load"]:
            assert int.from_bytes(value, "little") == e["value"] and len(value) == e["size"]
assert wide > 10
run.seek(1000)
assert next(run).first == 1000
run.seek(cycle=5000)
assert next(run).cycles[0] >= 5000
run.seek(thread=1, instruction=300)
run.select(1)
b = next(run)
assert (b.events["thread"] == 1).all()
assert sum(len(b) for b in [b] + list(run)) <= run.thread(1)["events"]
run.select()
run.seek(0)
assert sum(len(b) for b in run) == run.events
name = run.name(run.images[0]["start"] + 0x600)
assert name["image"].endswith("racy") and set(name) == {"image", "routine", "offset", "file", "line"}
assert run.name(1)["image"] is None
CODE

begin walks_instructions
script <<'CODE'
import numpy as np, vestige
with vestige.open("a.vest") as run:
    walk, total, names = run.instructions(), 0, set()
    for some in walk:
        assert some.dtype == vestige.INSTRUCTION
        total += len(some)
        assert set(np.unique(some["size"])) <= {2, 4}
        first = some[0]
        names.add(walk.text(int(first["pc"]), first["bytes"][: first["size"]].tobytes()).split()[0])
    assert total == run.instructions_retired, total
    assert len(names) > 1
CODE

begin measures_and_costs
script <<'CODE'
import json, vestige
wanted = [json.loads(line) for line in open("bandwidth.json")]
with vestige.open("a.vest") as run:
    found = run.measure(["mcfTR_e:small", "mlvCF_e"], window=5000)
    for a, b in zip(wanted, found):
        assert (a["technique"], a["bits"], a["messages"], a["gates"]) == (
            b["technique"], b["bits"], b["messages"], b["gates"]), (a, b)
        assert sum(b["fields"].values()) == b["bits"]
        assert b["windows"].sum() == b["bits"] == sum(w.sum() for w in b["core_windows"])
        assert list(b["windows"][:3]) == [sum(x[1:]) if isinstance(x, list) else x for x in b["windows"][:3]]
    assert found[0]["counts"]["conditional"] > 0
    proofs = run.prove(["mcfTR_e", "mlvCF_e", "daNX"])
    assert all(p["same"] and p["compared"] > 1000 and p["bits"] > 0 and not p["why"] for p in proofs), proofs
parts = vestige.cost("mcfTR_e:small", cores=2, timed=True)
assert sum(p["gates"] * p["copies"] for p in parts) > 100 and all(p["name"] for p in parts)
assert {t["name"] for t in vestige.techniques()} >= {"mcfNX_b", "mc2RT", "daNX"}
CODE

begin encodes_and_decodes
script <<'CODE'
import numpy as np, vestige
with vestige.open("a.vest") as run:
    written = run.encode("mcfTR_e", "mine.vport")
    assert open("mine.vport", "rb").read() == open("flow.vport", "rb").read()
    assert written["bits"] > 1000 and written["messages"] > 100
    try:
        run.encode("mcfTR_e", "mine.vport")
        assert False
    except vestige.Error as e:
        assert e.code == "VSE_EXISTS" and "mine.vport" in str(e)
    run.encode("mcfTR_e", "mine.vport", overwrite=True)
    steps = vestige.decode("mine.vport", code="a.vest")
    assert steps.dtype == vestige.STEP and steps["instructions"].sum() == run.instructions_retired
    events = np.concatenate([b.events for b in run])
    branches = events[events["kind"] == vestige.KINDS["branch"]]
    taken = lambda flags: ((flags & vestige.BR_COND != 0) & (flags & vestige.BR_TAKEN != 0)).sum()
    assert taken(steps["flags"]) == taken(branches["flags"]) > 100
    assert len(vestige.decode("mine.vport", code="a.vest", limit=1000)) < len(steps)
CODE

begin replays_to_a_position
script <<'CODE'
import json, vestige
wanted = json.load(open("replay.json"))
for path in "data.vport", "a.vest":
    with vestige.replay(path) as p:
        assert p.position == 0 and p.cores == 2 and not p.over
        assert p.goto(20000) == 20000
        for number, core in enumerate(wanted["cores"]):
            now = p.core(number)
            assert now["retired"] == core["instructions"] and now["pc"] == int(str(core["pc"]), 0), (now, core["pc"])
        regs = p.registers(0)
        assert regs["pc"] == p.core(0)["pc"] and regs["sp"] == p.register(0, "sp")
        word = p.memory(0, regs["sp"], 16)
        assert 0 <= len(word) <= 16
        assert p.goto(300) == 300
        before = p.registers(0)
        p.goto(20000)
        assert p.registers(0) == regs and p.registers(0) != before
        p.goto(100, core=1)
        assert p.core(1)["retired"] == 100
        p.goto(1 << 60)
        assert p.over
        for wrong in lambda: p.register(0, "none"), lambda: p.register(9, "sp"):
            try:
                wrong()
                assert False
            except KeyError:
                pass
        try:
            p.registers(9)
            assert False
        except IndexError:
            pass
CODE

begin raises_exceptions
script <<'CODE'
import gc, os, threading, numpy as np, vestige

def raises(kind, call, *words):
    try:
        call()
    except kind as e:
        for word in words:
            assert word in str(e), (word, str(e))
        return e
    assert False, f"{kind} was expected"

e = raises(vestige.Error, lambda: vestige.open("none.vest"), "none.vest")
assert e.code == "VSE_IO" and e.offset is None
raises(TypeError, lambda: vestige.open(3.5))
raises(TypeError, lambda: vestige.open())
raises((ValueError, TypeError), lambda: vestige.open("a\0b"))
run = vestige.open("a.vest")
walk = run.instructions()
raises(TypeError, lambda: run.measure("mcfTR_e"), "sequence of strings")
raises(TypeError, lambda: run.measure([1]))
raises(TypeError, lambda: run.measure(7))
raises(vestige.Error, lambda: run.measure(["none"]), "no technique 'none'")
raises(vestige.Error, lambda: run.measure(["mcfTR_e:gshare=3"]))
raises(vestige.Error, lambda: run.measure(["mcfTR_e"], plugins=["./none.so"]), "cannot load")
assert run.measure([]) == [] and run.prove([]) == []
raises(TypeError, lambda: run.seek())
raises(TypeError, lambda: run.seek(1, cycle=2))
raises((OverflowError, TypeError), lambda: run.seek(-1))
raises(IndexError, lambda: run.seek(1 << 50))
raises(IndexError, lambda: run.seek(thread=70000, instruction=0))
raises(IndexError, lambda: run.select(99))
raises(IndexError, lambda: run.thread(99))
raises(vestige.Error, lambda: vestige.cost("mcfTR_e", cores=0), "no machine")
# No number is cut down to one that is there.
p = vestige.replay("data.vport")
raises(IndexError, lambda: run.thread(2**32), "4294967296")
for name in "thread", "name", "seek":
    for wrong in -1, 2**64:
        raises(OverflowError, lambda: getattr(run, name)(wrong))
    raises(TypeError, lambda: getattr(run, name)(1.5))
for words in {"cores": 2**32 + 1}, {"address_bits": 2**32 + 64}:
    raises(vestige.Error, lambda: vestige.cost("mcfTR_e", **words), "no machine")
for wrong in -1, 2**64:
    raises(OverflowError, lambda: vestige.cost("mcfTR_e", cores=wrong))
    raises(OverflowError, lambda: vestige.cost("mcfTR_e", address_bits=wrong))
    raises(OverflowError, lambda: run.measure(["mcfTR_e"], window=wrong))
    raises(OverflowError, lambda: run.measure(["mcfTR_e"], sync=wrong))
    raises(OverflowError, lambda: vestige.decode("flow.vport", code="a.vest", limit=wrong))
    raises(OverflowError, lambda: vestige.replay("data.vport", memory=wrong))
    raises(OverflowError, lambda: walk.text(wrong, b"\0\0"))
    for call in (lambda: p.goto(wrong), lambda: p.goto(1, core=wrong), lambda: p.register(wrong, "sp"),
                 lambda: p.registers(wrong), lambda: p.core(wrong), lambda: p.memory(wrong, 0, 8),
                 lambda: p.memory(0, wrong, 8)):
        raises(OverflowError, call)
for call in lambda: p.registers(2**32), lambda: p.core(2**32), lambda: p.memory(2**32, 0, 8):
    raises(IndexError, call, "4294967296")
raises(KeyError, lambda: p.register(2**32, "sp"), "4294967296")
raises(vestige.Error, lambda: p.goto(1, core=2**32), "no core")
assert p.position == 0 and p.goto(np.uint64(5)) == 5 and run.thread(np.int16(1)) == run.thread(1)
run.seek(np.uint32(0))
raises(vestige.Error, lambda: vestige.decode("data.vport", code="a.vest"), "has no control flow")
raises(vestige.Error, lambda: vestige.replay("flow.vport"), "no load values")
raises(vestige.Error, lambda: vestige.decode("flow.vport", code="a.vest", images=["x"]), "not from both")
for wrong in [1], 7, ["x", 2]:
    raises(TypeError, lambda: vestige.decode("flow.vport", images=wrong))
    raises(TypeError, lambda: vestige.replay("data.vport", images=wrong))
    raises(TypeError, lambda: vestige.techniques(plugins=wrong))
class Shortens: # the list that it is in
    def __fspath__(self):
        specs.clear()
        return "mcfTR_e"
specs = [Shortens()] + ["mcfNX_b" + ":a" * i for i in range(1000)]
raises(vestige.Error, lambda: run.measure(specs))
raises(TypeError, lambda: vestige.Run())
raises(TypeError, lambda: vestige.Batch())
batch = next(run)
raises(IndexError, lambda: batch.value(len(batch)))
raises(AttributeError, lambda: setattr(batch, "events", None))
batch.events["size"] = 65000 # its owner may do as he likes
batch.events["kind"] = vestige.KINDS["syscall"]
raises(ValueError, lambda: batch.value(len(batch) - 1), "was changed")
next(walk)
raises(ValueError, lambda: walk.text(0, b""), "no instruction")
run.close()
run.close()
assert run.closed
for call in (lambda: next(run), lambda: run.events, lambda: run.facts, lambda: run.images, lambda: run.seek(0),
             lambda: run.select(), lambda: run.thread(0), lambda: run.name(0), lambda: run.measure(["mcfTR_e"]),
             lambda: run.encode("mcfTR_e", "x.vport"), lambda: run.prove(["mcfTR_e"]), run.instructions,
             run.__enter__):
    raises(ValueError, call, "the run is closed")
assert not os.path.exists("x.vport")
next(walk) # which has the run open for itself
p = vestige.replay("data.vport")
p.close()
for call in (lambda: p.goto(1), lambda: p.position, lambda: p.memory(0, 0, 8), lambda: p.registers(0),
             lambda: p.core(0), lambda: p.register(0, "sp"), p.__enter__):
    raises(ValueError, call, "the playback is closed")
raises(ValueError, lambda: vestige.replay("data.vport").memory(0, 0, -1))
raises(vestige.Error, lambda: vestige.replay("data.vport", technique="mc2RT"), "it is a stream")

# Threads: each call gives events, or says that another thread is there.
run, seen, busy, lock = vestige.open("a.vest"), [], [], threading.Lock()
def read():
    while True:
        try:
            b = next(run)
            with lock:
                seen.append(len(b))
        except StopIteration:
            return
        except RuntimeError as e:
            assert "another thread" in str(e)
            busy.append(1)
threads = [threading.Thread(target=read) for _ in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
assert sum(seen) == run.events, (sum(seen), len(busy))
stop = threading.Event()
def close_often():
    while not stop.is_set():
        try:
            run.close()
        except RuntimeError:
            pass
closer = threading.Thread(target=close_often)
closer.start()
for _ in range(20):
    run = vestige.open("a.vest")
    try:
        for b in run:
            b.events["pc"].sum()
    except ValueError as e:
        assert "closed" in str(e)
stop.set()
closer.join()
results = []
runs = vestige.open("a.vest")
work = [threading.Thread(target=lambda: results.append(runs.measure(["mcfTR_e"])[0]["bits"])) for _ in range(3)]
[t.start() for t in work]
[t.join() for t in work]
assert len(set(results)) == 1 and len(results) == 3
gc.collect()
CODE

begin refuses_damaged_files
size=$(stat -c %s a.vest)
for i in 1 2 3 4 5 6 7 8; do
    cp a.vest "bad$i.vest"
    printf '\377\000\125' | dd of="bad$i.vest" bs=1 seek=$((size * i / 9)) conv=notrunc 2>/dev/null
    head -c $((size * i / 9)) a.vest >"cut$i.vest"
    cp data.vport "bad$i.vport"
    printf '\377\000\125' | dd of="bad$i.vport" bs=1 seek=$(($(stat -c %s data.vport) * i / 9)) conv=notrunc 2>/dev/null
done
script <<'CODE'
import glob, vestige
errors = 0
for path in sorted(glob.glob("bad*.vest") + glob.glob("cut*.vest") + glob.glob("bad*.vport")):
    for work in (lambda: sum(len(b) for b in vestige.open(path)), lambda: vestige.open(path).measure(["mcfTR_e"]),
                 lambda: list(vestige.open(path).instructions()), lambda: vestige.replay(path).goto(1 << 40),
                 lambda: vestige.decode(path, code="a.vest")):
        try:
            work()
        except vestige.Error as e:
            assert path in str(e) and e.code.startswith("VSE_"), str(e)
            errors += 1
print(errors)
CODE
expect_out '^[1-9][0-9]'

begin has_hints_and_docstrings
script <<'CODE'
import ast, vestige
tree = ast.parse(open(vestige.__file__ + "i").read())
named = {n.name: n for n in tree.body if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
values = {n.target.id for n in tree.body if isinstance(n, ast.AnnAssign)}
assert set(vestige.__all__) <= set(named) | values, set(vestige.__all__) - set(named) - values
for kind in "Run", "Batch", "Playback", "Instructions":
    hinted = {n.name for n in named[kind].body if isinstance(n, ast.FunctionDef)} | {
        n.target.id for n in named[kind].body if isinstance(n, ast.AnnAssign)}
    has = {n for n in vars(getattr(vestige, kind)) if not n.startswith("__")}
    assert has == {n for n in hinted if not n.startswith("__")}, (kind, has ^ hinted)
    for name in has:
        assert getattr(vestige, kind).__dict__[name].__doc__, name
for name in "open", "cost", "decode", "replay", "techniques":
    assert getattr(vestige, name).__doc__
CODE

finish
