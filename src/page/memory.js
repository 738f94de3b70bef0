// SPDX-License-Identifier: MIT
// Where loads and stores go: locality, sharing, and memory over time.

function curve(parent, r) {
    const m = r.memory, c = chart(parent, 230, "Misses by size of the cache");
    const margin = {left: 52, right: 18, top: 22, bottom: 36};
    const x = d3.scaleLog().base(2).domain([m.curve[0][0], m.curve[m.curve.length - 1][0]]).range([margin.left + 6, c.width - margin.right]);
    const y = d3.scaleLinear([0, d3.max(m.curve, (d) => d[1]) / m.touched || 1], [c.height - margin.bottom, margin.top]).nice(4);
    axes(c, x, y, margin, "size of the cache", "misses per access", bytes, d3.format(".2~p"), m.curve.length);
    c.svg.select(".x").call(d3.axisBottom(x).tickValues(m.curve.map((d) => d[0])).tickFormat(bytes).tickSizeOuter(0));
    c.svg.append("path").attr("fill", "none").attr("stroke", "var(--c0)").attr("stroke-width", 2)
        .attr("d", d3.line().x((d) => x(d[0])).y((d) => y(d[1] / m.touched))(m.curve));
    c.svg.selectAll("circle").data(m.curve).enter().append("circle").attr("cx", (d) => x(d[0])).attr("cy", (d) => y(d[1] / m.touched)).attr("r", 4.5).attr("fill", "var(--c0)")
        .on("mousemove", (d) => showTip(`${bytes(d[0])}: ${count(d[1])} misses, ${percent(d[1], m.touched)}`, d3.event.clientX, d3.event.clientY)).on("mouseleave", hideTip);
    note(parent, `One cache for all threads, with ${m.ways} ways and lines of ${m.line} bytes.`);
}

function matrix(parent, r) {
    const m = r.memory, n = m.moved.length;
    const cell = Math.max(6, Math.min(26, Math.floor(380 / n))), left = 64, top = 30;
    const c = chart(parent, top + n * cell + 8, "Lines that moved from one core's cache to another's");
    const most = d3.max(m.moved, (row) => d3.max(row)) || 1;
    function paint() {
        const shade = ramp();
        c.svg.selectAll("rect").attr("fill", (d) => (d.v ? shade(Math.sqrt(d.v / most)) : "var(--empty)"));
    }
    c.svg.selectAll("rect").data([].concat(...m.moved.map((row, i) => row.map((v, k) => ({v, i, k}))))).enter().append("rect")
        .attr("x", (d) => left + d.k * cell).attr("y", (d) => top + d.i * cell).attr("width", cell - 1).attr("height", cell - 1)
        .on("mousemove", (d) => showTip(`${count(d.v)} lines from core ${d.i} to core ${d.k}`, d3.event.clientX, d3.event.clientY)).on("mouseleave", hideTip);
    paint();
    redrawers.push(paint);
    const step = Math.ceil(14 / cell);
    d3.range(0, n, step).forEach((i) => {
        c.svg.append("text").attr("x", left - 6).attr("y", top + (i + 0.5) * cell + 4).attr("text-anchor", "end").text(i);
        c.svg.append("text").attr("x", left + (i + 0.5) * cell).attr("y", top - 5).attr("text-anchor", "middle").text(i);
    });
    c.svg.append("text").attr("x", left).attr("y", 11).text("to core");
    c.svg.append("text").attr("x", 0).attr("y", top + 10).text("from");
}

function heat(parent, r) {
    const m = r.memory, rows = m.heat.length;
    if (!rows) return note(parent, "None.");
    let what = "both";
    const bar = add(parent, "div", "bar");
    tabs(bar, "Accesses", [["both", "Loads and stores"], ["loads", "Loads"], ["stores", "Stores"]], what, (v) => {
        what = v;
        draw();
    });
    const figure = add(parent, "figure"), canvas = add(figure, "canvas");
    const width = Math.max(300, Math.floor(figure.getBoundingClientRect().width)), left = 150, right = 8;
    const row = Math.max(3, Math.min(14, Math.floor(420 / rows))), height = rows * row + 34;
    const ratio = window.devicePixelRatio || 1, times = Math.min(m.heat[0].loads.length, Math.ceil(r.timeline.span / m.heat_step));
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    canvas.style.cssText = `width:${width}px;height:${height}px`;
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", "Accesses by address and time");
    const value = (h, i) => (what === "both" ? h.loads[i] + h.stores[i] : h[what][i]);
    const cell = (width - left - right) / times;
    function draw() {
        const c = canvas.getContext("2d"), shade = ramp();
        c.setTransform(ratio, 0, 0, ratio, 0, 0);
        c.clearRect(0, 0, width, height);
        const most = Math.log1p(d3.max(m.heat, (h) => d3.max(d3.range(times), (i) => value(h, i))));
        m.heat.forEach((h, k) => {
            c.fillStyle = colour("empty");
            c.fillRect(left, k * row, width - left - right, row - (row > 5 ? 1 : 0));
            for (let i = 0; i < times; i++) {
                const v = value(h, i);
                if (!v) continue;
                c.fillStyle = shade(Math.log1p(v) / most);
                c.fillRect(left + i * cell, k * row, cell + 0.3, row - (row > 5 ? 1 : 0));
            }
        });
        c.fillStyle = colour("soft");
        c.font = "11px monospace";
        c.textAlign = "right";
        c.textBaseline = "middle";
        for (let k = 0, last = -20; k < rows; k++)
            if (k * row - last >= 14) {
                c.fillText(m.heat[k].from, left - 7, k * row + Math.max(row / 2, 6));
                last = k * row;
            }
        c.font = "12px sans-serif";
        c.textAlign = "center";
        const x = d3.scaleLinear([0, m.heat_step * times], [left, width - right]);
        x.ticks(Math.floor(width / 130)).forEach((v) => c.fillText(brief(v + r.timeline.first), Math.min(width - 24, x(v)), height - 24));
        c.textAlign = "right";
        c.fillText(unit(r), width - right, height - 8);
    }
    canvas.addEventListener("mousemove", (e) => {
        const box = canvas.getBoundingClientRect(), k = Math.floor((e.clientY - box.top) / row), i = Math.floor((e.clientX - box.left - left) / cell);
        if (k < 0 || k >= rows || i < 0 || i >= times) return hideTip();
        const h = m.heat[k];
        showTip(`${h.from} to ${h.to}${h.bytes <= m.granule ? "" : ", of which " + bytes(h.bytes) + " are in use"}\n${count(h.loads[i])} loads, ${count(h.stores[i])} stores\n` +
            `${unit(r)} ${count(i * m.heat_step + r.timeline.first)} and further`, e.clientX, e.clientY);
    });
    canvas.addEventListener("mouseleave", hideTip);
    draw();
    redrawers.push(draw);
    note(parent, `Rows are memory that was accessed, in the order of addresses; what is between them is left out. In all, ${plural(m.granules, "piece")} of ${bytes(m.granule)} were touched.`);
}

function drawMemory(body, r) {
    const m = r.memory, l = m.lines, cores = m.cores.length;
    const columns = add(body, "div", "columns"), left = add(columns, "div"), right = add(columns, "div");
    heading(left, "How local accesses are");
    curve(left, r);
    heading(right, "Who touches memory");
    const word = `lines of ${m.line} bytes`;
    bars(right, [
        {name: "one core only", value: l.private, fill: "var(--c2)"},
        {name: "several cores, only read", value: l.read, fill: "var(--c3)"},
        {name: "several cores, written", value: l.written, fill: "var(--c1)"},
    ]);
    note(right, `In ${word}, as seen by caches of ${bytes(m.cache)} with ${m.ways} ways for each core, kept coherent by MOESI.` +
        (l.untold ? ` ${count(l.untold)} misses concern further lines, which are not in these numbers.` : "") +
        (m.shared ? "" : " There are too many threads for that."));
    if (cores > 1) {
        heading(right, "Lines that moved from core to core");
        matrix(right, r);
        heading(left, "Caches");
        table(left, [
            {name: "core", get: (c) => c.i, number: true},
            {name: "accesses", get: (c) => c.v[0], number: true},
            {name: "misses", get: (c) => c.v[1], number: true},
            {name: "rate", get: (c) => c.v[1] / (c.v[0] || 1), text: (c) => percent(c.v[1], c.v[0]), number: true},
            {name: "upgrades", get: (c) => c.v[2], number: true, title: "writes to a line that others had, too"},
        ], m.cores.map((v, i) => ({i, v})), {label: "Caches", limit: 10});
    }
    heading(body, "Memory over time");
    heat(body, r);
    if (m.contended.length) {
        heading(body, "Lines that cores take from each other most");
        table(body, [
            {name: "line", get: (c) => c[0]},
            {name: "came from another core", get: (c) => c[1], number: true},
            {name: "copies lost to a write", get: (c) => c[2], number: true},
            {name: "cores", get: (c) => c[3], number: true},
            {name: "of which write", get: (c) => c[4], number: true},
        ], m.contended, {filter: "Filter", sort: 1, limit: 12, label: "Shared lines"});
    }
}

section("memory", "Memory", "How local are addresses, and what do cores share?", drawMemory, (r) => r.memory.touched);
