// SPDX-License-Identifier: MIT
// The branches that are mispredicted most.

function lines(parent, list, here, format) {
    const pre = add(parent, "pre");
    list.forEach((l) => add(pre, "span", here(l) ? "here" : "", (here(l) ? "→ " : "  ") + format(l) + "\n"));
}

function drawBranches(body, r) {
    const b = r.branches_at, p = b.predictors;
    note(body, `${count(b.mispredicted)} of ${count(b.executed)} branches (${percent(b.mispredicted, b.executed)}) at ${plural(b.places, "place")} were mispredicted by ` +
        `the predictors of a small core: gshare with ${count(p.gshare)} counters, a stack of ${p.ras} return addresses, ${p.ibtb} indirect targets; each thread has its own.`);
    let sum = 0;
    const c = chart(body, 190, "Share of all mispredictions that the worst branches have");
    const margin = {left: 52, right: 14, top: 22, bottom: 36};
    const points = [[0, 0]].concat(b.worst.map((w, i) => [i + 1, (sum += w.mispredicted) / (b.mispredicted || 1)]));
    const x = d3.scaleLinear([0, Math.max(1, b.worst.length)], [margin.left, c.width - margin.right]);
    const y = d3.scaleLinear([0, 1], [c.height - margin.bottom, margin.top]);
    axes(c, x, y, margin, "the worst branches", "share of all mispredictions", d3.format("d"), d3.format(".0%"), Math.min(10, Math.max(1, b.worst.length)));
    c.svg.append("path").attr("d", d3.area().x((d) => x(d[0])).y0(y(0)).y1((d) => y(d[1]))(points)).attr("fill", "var(--c1)").attr("opacity", 0.18);
    c.svg.append("path").attr("d", d3.line().x((d) => x(d[0])).y((d) => y(d[1]))(points)).attr("fill", "none").attr("stroke", "var(--c1)").attr("stroke-width", 1.8);
    table(body, [
        {name: "branch", get: (w) => (w.file ? fileName(w.file) + ":" + w.line : w.pc)},
        {name: "routine", get: (w) => routineName([w.routine || "", w.image || ""])},
        {name: "kind", get: (w) => branchNames[w.kind] || w.kind},
        {name: "executed", get: (w) => w.executed, number: true},
        {name: "taken", get: (w) => w.taken / w.executed, text: (w) => percent(w.taken, w.executed), number: true},
        {name: "mispredicted", get: (w) => w.mispredicted, number: true},
        {name: "rate", get: (w) => w.mispredicted / w.executed, text: (w) => percent(w.mispredicted, w.executed), number: true, share: (w) => w.mispredicted / w.executed},
        {name: "of all", get: (w) => w.mispredicted / b.mispredicted, text: (w) => percent(w.mispredicted, b.mispredicted), number: true},
    ], b.worst, {filter: "Filter", sort: 5, label: "Branches", detail: (w, td) => {
        note(td, `${w.pc}${w.image ? " in " + w.image : ""}`);
        if (w.source && w.source.length) lines(td, w.source, (l) => l[0] === w.line, (l) => d3.format("5")(l[0]) + "  " + l[1]);
        if (w.code && w.code.length) lines(td, w.code, (l) => l[0] === w.pc, (l) => l[0] + "  " + l[1]);
        if (!(w.source && w.source.length) && !(w.code && w.code.length)) note(td, "Its code is not in this report, which has that of the first 60 branches.");
    }});
}

section("branches", "Mispredicted branches", "Which branches does a core guess wrongly, and what does their code look like?", drawBranches,
    (r) => r.branches_at.executed);
