// SPDX-License-Identifier: MIT
// What ran.

const counted = (list, name) => (list.find((k) => k[0] === name) || [name, 0])[1];

function tile(parent, value, label, title) {
    const t = add(parent, "div", "tile");
    add(t, "b", "", value);
    add(t, "span", "", label);
    if (title) t.title = title;
}

function drawTiles(body, r) {
    const tiles = add(body, "div", "tiles"), b = r.branches_at;
    tile(tiles, short(r.instructions), "instructions", count(r.instructions));
    if (r.timed) {
        tile(tiles, short(r.cycles), "cycles", count(r.cycles));
        tile(tiles, rate(r.instructions / r.cycles), "instructions per cycle");
    }
    tile(tiles, count(r.thread_count), r.thread_count === 1 ? "thread" : "threads");
    tile(tiles, short(counted(r.kinds, "branch")), "branches");
    if (r.loads) tile(tiles, short(counted(r.kinds, "load")), "loads (operands)");
    if (r.stores) tile(tiles, short(counted(r.kinds, "store")), "stores (operands)");
    tile(tiles, short(counted(r.kinds, "syscall")), "system calls");
    tile(tiles, short(counted(r.kinds, "exception")), "signals and exceptions");
    tile(tiles, percent(b.mispredicted, b.executed), "of branches mispredicted");
    tile(tiles, bytes(r.bytes), "the run's file");
}

function perThousand(r, list) {
    return list.map(([name, n]) => ({
        name,
        value: n,
        text: short(n) + "  (" + rate((1000 * n) / r.instructions) + ")",
    }));
}

const branchNames = {
    cond: "conditional", jump: "jump", call: "call", ijump: "indirect jump", icall: "indirect call",
    ret: "return",
};

function drawMix(body, r) {
    const columns = add(body, "div", "columns");
    const left = add(columns, "div"), right = add(columns, "div");
    heading(left, "What the instructions did, and how often per 1,000 instructions");
    const mix = r.branches.map(([name, n]) => ["branch: " + (branchNames[name] || name), n]);
    ["load", "store"].forEach((k) => counted(r.kinds, k) && mix.push([k + "s", counted(r.kinds, k)]));
    bars(left, perThousand(r, mix));
    if (r.syscalls.length) {
        heading(left, "System calls");
        bars(left, r.syscalls.slice(0, 12).map(([name, n]) => ({name, value: n})), {fill: "var(--c4)"});
    }
    if (r.signals.length) {
        heading(left, "Signals and exceptions");
        bars(left, r.signals.slice(0, 12).map(([name, n]) => ({name, value: n})), {fill: "var(--c1)"});
    }
    heading(right, "Instructions by thread" + (r.thread_count > 32 ? ", the busiest 32" : ""));
    const threads = r.threads.slice().sort((a, b) => b[1] - a[1]).slice(0, 32).sort((a, b) => a[0] - b[0]);
    bars(right, threads.map(([n, i]) => ({name: "thread " + n, value: i, text: short(i)})), {fill: "var(--c2)"});
    if (r.loads || r.stores) {
        heading(right, "Bytes of operands");
        const sizes = r.load_sizes.map(([name, n], i) => ({name: name + (name === "1" ? " byte" : name === "other" ? "" : " bytes"), value: n + r.store_sizes[i][1],
            text: short(n) + " loads, " + short(r.store_sizes[i][1]) + " stores"}));
        bars(right, sizes.filter((s) => s.value), {fill: "var(--c3)"});
    }
}

function drawImages(body, r) {
    heading(body, "Files that were mapped as code");
    table(body, [
        {name: "file", get: (i) => i.path},
        {name: "address", get: (i) => i.start},
        {name: "size", get: (i) => i.length, text: (i) => bytes(i.length), number: true},
        {name: "source lines", get: (i) => (i.lines ? "yes" : "no debug information")},
    ], r.images, {limit: 8, label: "Images", filter: r.images.length > 8 ? "Filter" : ""});
    const more = add(body, "details");
    add(more, "summary", "", "How it was recorded");
    table(more, [{name: "fact", get: (f) => f[0]}, {name: "value", get: (f) => f[1]}], r.facts, {limit: 100, label: "Facts"});
}

section("what", "What ran", "Which program was this, and what did it spend its instructions on?", (body, r) => {
    const command = r.facts.find((f) => f[0] === "command");
    if (command) add(body, "pre", "", command[1]);
    note(body, `${r.path}: ${r.isa}, ${r.timed ? "timed by simulated cycles" : "not timed: the instructions that all threads have retired stand for time"}.` +
        (r.sealed ? "" : " The run is incomplete.") + (r.skipped ? ` ${count(r.skipped)} instructions were not recorded.` : ""));
    drawTiles(body, r);
    drawMix(body, r);
    drawImages(body, r);
});
