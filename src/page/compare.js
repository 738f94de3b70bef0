// SPDX-License-Identifier: MIT
// Runs side by side.

// The difference from the first run, in per cent.
const change = (a, b) => (a ? d3.format("+.3~p")(b / a - 1) : b ? "new" : "–");

function counts(parent, what, rows, filter) {
    const columns = [{name: what, get: (x) => x.name}];
    data.runs.forEach((r, i) => {
        columns.push({name: "run " + (i + 1), get: (x) => x.values[i], text: (x) => (x.text || count)(x.values[i]), number: true});
        if (i) columns.push({name: i === 1 && data.runs.length === 2 ? "change" : `run ${i + 1} / run 1`, number: true,
            get: (x) => (x.values[0] ? x.values[i] / x.values[0] : x.values[i] ? Infinity : 1), text: (x) => change(x.values[0], x.values[i])});
    });
    table(parent, columns, rows, {label: what, filter, limit: 16});
}

function byName(get) {
    const maps = data.runs.map((r) => new Map(get(r)));
    const names = new Set([].concat(...maps.map((m) => Array.from(m.keys()))));
    return Array.from(names).map((name) => ({name, values: maps.map((m) => m.get(name) || 0)}));
}

function parting(parent) {
    const p = data.parting;
    heading(parent, "Where they part");
    if (!p.different) {
        note(parent, `They do not: ${count(p.compared)} events of ${plural(p.threads, "thread")} were compared, and all are equal.`);
        return;
    }
    note(parent, `${count(p.different)} of ${plural(p.threads, "thread")} differ; ${count(p.compared)} events were compared. These are each thread's first events that differ.`);
    const place = (e) => (!e ? "no more events" : `${e.kind} at ${e.pc}` + (e.addr !== "0x0" ? ` → ${e.addr}` : "") +
        (e.routine ? ` in ${e.routine}` : "") + (e.file ? `, ${fileName(e.file)}:${e.line}` : ""));
    table(parent, [
        {name: "thread", get: (d) => d.thread, number: true},
        {name: "equal events before", get: (d) => d.position, number: true},
        {name: "in run 1", get: (d) => place(d.events[0])},
        {name: "in run 2", get: (d) => place(d.events[1])},
    ], p.differing, {label: "First differences", limit: 16});
}

function drawComparison(body) {
    const list = add(body, "ol");
    data.runs.forEach((r) => add(list, "li", "", r.path));
    if (data.parting) parting(body);
    heading(body, "Figures");
    const of = (name, get, text) => ({name, values: data.runs.map(get), text});
    counts(body, "figure", [
        of("instructions", (r) => r.instructions), of("cycles", (r) => r.cycles), of("threads", (r) => r.thread_count),
        of("branches", (r) => r.branches_at.executed), of("mispredicted", (r) => r.branches_at.mispredicted),
        of("loads", (r) => r.memory.loads), of("stores", (r) => r.memory.stores),
        of("system calls", (r) => counted(r.kinds, "syscall")),
        of("misses of the cores' caches", (r) => d3.sum(r.memory.cores, (c) => c[1])),
        of("lines moved between cores", (r) => d3.sum(r.memory.moved, (row) => d3.sum(row))),
    ].filter((x) => d3.sum(x.values)));
    heading(body, "Bits per instruction, by technique");
    const bits = byName((r) => techniques(r).map((t) => [techniqueName(t), t.bits / r.instructions]));
    bits.forEach((x) => (x.text = rate));
    if (bits.length) groupedBars(body, bits);
    counts(body, "technique", bits);
    heading(body, "Instructions by routine");
    const routines = byName((r) => r.routines.names.map((n, i) => [routineName(n), r.routines.values[0][i]]));
    counts(body, "routine", routines.sort((a, b) => Math.abs(b.values[1] - b.values[0]) - Math.abs(a.values[1] - a.values[0])), "Filter");
}

function groupedBars(parent, rows) {
    const n = data.runs.length, row = 11 * n + 9, left = 130;
    const c = chart(parent, rows.length * row + 26, "Bits per instruction by technique and run");
    const x = d3.scaleLinear([0, d3.max(rows, (r) => d3.max(r.values))], [left, c.width - 70]);
    rows.forEach((r, k) => {
        c.svg.append("text").attr("x", left - 8).attr("y", k * row + (11 * n) / 2 + 4).attr("text-anchor", "end").text(r.name);
        r.values.forEach((v, i) => {
            c.svg.append("rect").attr("x", left).attr("y", k * row + 11 * i).attr("width", Math.max(1, x(v) - left)).attr("height", 10).attr("fill", series(i));
            c.svg.append("text").attr("x", x(v) + 5).attr("y", k * row + 11 * i + 9).style("font-size", "10.5px").text(rate(v));
        });
    });
    legend(parent, data.runs.map((r, i) => [`run ${i + 1}: ${fileName(r.path)}`, series(i)]));
}

if (data.runs.length > 1)
    section("comparison", "Comparison", "How do the runs differ?", drawComparison);
