// SPDX-License-Identifier: MIT
// Where instructions, mispredictions and bits are: fields, routines, lines, and the tree of calls.

// The metrics of a run, in the order of the values: instructions, mispredictions, and each technique's bits.
function metrics(r) {
    const seen = new Set(), list = [[0, "instructions"], [1, "mispredicted branches"]];
    r.techniques.rows.forEach((t, i) => {
        if (!seen.has(t.spec)) list.push([2 + i, "bits of " + techniqueName(t)]);
        seen.add(t.spec);
    });
    return list;
}

function placeTable(parent, r, what, metric, columns, label) {
    const values = r[what].values, names = r[what].names, n = names.length;
    const total = d3.sum(values[metric]), all = d3.sum(values[0]);
    const rows = names.map((name, i) => ({name, value: values[metric][i], instructions: values[0][i]}));
    if (values[metric][n]) rows.push({name: null, last: true, value: values[metric][n], instructions: values[0][n]});
    const most = d3.max(rows, (x) => x.value) || 1;
    const title = metrics(r).find((m) => m[0] === metric)[1];
    const list = columns.concat([
        {name: title, get: (x) => x.value, number: true},
        {name: "share", get: (x) => x.value / (total || 1), text: (x) => percent(x.value, total), number: true, share: (x) => x.value / most},
    ]);
    if (metric !== 0) list.push(
        {name: "per 1,000 instructions", get: (x) => (x.instructions ? (1000 * x.value) / x.instructions : 0),
            text: (x) => (x.instructions ? rate((1000 * x.value) / x.instructions) : "–"), number: true},
        {name: "instructions", get: (x) => x.instructions, text: (x) => percent(x.instructions, all), number: true});
    table(parent, list, rows.filter((x) => x.value), {filter: "Filter", sort: columns.length, limit: 15, label});
}

const routineName = (n) => n[0] || (n[1] ? `(code without a name in ${n[1]})` : "(outside all images)");

function routineTable(parent, r, metric) {
    placeTable(parent, r, "routines", metric, [
        {name: "routine", get: (x) => (x.name ? routineName(x.name) : "(all others)")},
        {name: "file", get: (x) => (x.name ? x.name[1] : "")},
    ], "Routines");
}

function lineTable(parent, r, metric) {
    placeTable(parent, r, "lines", metric, [
        {name: "line", get: (x) => (!x.name ? "(all others)" : x.name[0] ? fileName(x.name[0]) + ":" + x.name[1] : "(no source line)")},
        {name: "routine", get: (x) => (x.name ? routineName([x.name[2], x.name[3]]) : "")},
    ], "Source lines");
}

function drawSources(body, r) {
    const list = techniques(r);
    let index = r.techniques.rows.indexOf(list[Math.min(1, list.length - 1)]);
    const bar = add(body, "div", "bar"), inner = add(body, "div");
    choice(bar, "Technique", list.map((t) => [String(r.techniques.rows.indexOf(t)), techniqueName(t) + " – " + t.kinds]), String(index), (v) => {
        index = +v;
        draw();
    }).id = "source-technique";
    function draw() {
        clear(inner);
        const t = r.techniques.rows[index];
        heading(inner, "By field: what the bits say");
        const rows = r.techniques.fields.map((name, i) => ({name, value: t.fields[i], text: `${count(t.fields[i])} (${percent(t.fields[i], t.bits)})`}));
        bars(inner, rows.filter((x) => x.value).sort((a, b) => b.value - a.value));
        note(inner, `${count(t.bits)} bits in ${plural(t.messages, "message")}.` +
            (t.frame ? ` Of all bits, ${count(t.frame)} are encapsulation.` : "") +
            " A message is charged, whole, to the instruction at which it is complete; so the tables sum to these bits exactly.");
        heading(inner, "By routine");
        routineTable(inner, r, 2 + index);
        heading(inner, "By source line");
        lineTable(inner, r, 2 + index);
    }
    draw();
}

section("sources", "Where bits come from", "Which fields, routines and source lines cause a technique's bits?", drawSources,
    (r) => r.techniques.rows.length);

// ---- the tree of calls

function flameTree(r, metric) {
    const f = r.flame, own = f.values[metric], n = own.length;
    const nodes = d3.range(n).map((i) => ({
        id: i, own: own[i], sum: own[i], children: [], parent: null,
        name: i === 0 ? "all" : f.routines[i] === f.names.length ? "(small ones)" : routineName(f.names[f.routines[i]]),
        image: i && f.routines[i] < f.names.length ? f.names[f.routines[i]][1] : "",
    }));
    for (let i = n - 1; i > 0; i--) {
        const p = nodes[f.parents[i]];
        nodes[i].parent = p;
        p.sum += nodes[i].sum;
        p.children.push(nodes[i]);
    }
    nodes.forEach((x) => x.children.sort((a, b) => (a.name < b.name ? -1 : 1)));
    nodes[0].depth = 0;
    nodes.forEach((x) => x.parent && (x.depth = x.parent.depth + 1));
    return nodes[0];
}

const warm = (name) => {
    let h = 7;
    for (let i = 0; i < name.length; i++) h = (h * 31 + name.charCodeAt(i)) >>> 0;
    return d3.hsl(18 + (h % 34), 0.62 + ((h >>> 8) % 20) / 100, 0.6 + ((h >>> 16) % 14) / 100).toString();
};

function flame(parent, r, metric) {
    const root = flameTree(r, metric), title = metrics(r).find((m) => m[0] === metric)[1];
    if (!root.sum) return note(parent, "There are none.");
    const bar = add(parent, "div", "bar");
    const back = button(bar, "Show all", null, () => zoom(root));
    const told = add(bar, "span", "note");
    told.setAttribute("role", "status");
    const row = 19, figure = add(parent, "figure");
    const width = Math.max(300, Math.floor(figure.getBoundingClientRect().width));
    const svg = d3.select(figure).append("svg").attr("class", "flame").attr("role", "tree")
        .attr("aria-label", `Flame graph by ${title}. Arrows move, Enter zooms, Escape shows all.`);
    let top = root, current = root;

    const text = (x) => `${x.name}${x.image ? "  (" + x.image + ")" : ""}\n${count(x.sum)} ${title}, ${percent(x.sum, root.sum)}; itself ${count(x.own)}`;

    function zoom(x) {
        top = x;
        current = x;
        draw();
        svg.select("rect[tabindex='0']").node().focus({preventScroll: true});
    }

    function layout() {
        const list = [];
        for (let x = top.parent, up = top.depth - 1; x; x = x.parent, up--) list.push({x, from: 0, to: width, level: up});
        const stack = [{x: top, from: 0, to: width, level: top.depth}];
        while (stack.length) {
            const box = stack.pop();
            list.push(box);
            const scale = (box.to - box.from) / (box.x.sum || 1);
            let at = box.from;
            box.x.children.forEach((child) => {
                const to = at + child.sum * scale;
                if (to - at >= 0.4) stack.push({x: child, from: at, to, level: box.level + 1});
                at = to;
            });
        }
        return list;
    }

    function draw() {
        const list = layout(), deepest = d3.max(list, (b) => b.level);
        const height = (deepest + 1) * row;
        svg.attr("viewBox", `0 0 ${width} ${height}`).attr("width", width).attr("height", height);
        svg.selectAll("*").remove();
        const g = svg.selectAll("g").data(list).enter().append("g").attr("transform", (b) => `translate(${b.from},${b.level * row})`);
        g.append("rect").attr("width", (b) => Math.max(0.4, b.to - b.from)).attr("height", row - 1).attr("rx", 2)
            .attr("fill", (b) => (b.x === root ? "var(--line)" : warm(b.x.name))).attr("opacity", (b) => (b.level < top.depth ? 0.55 : 1))
            .attr("role", "treeitem").attr("aria-level", (b) => b.level + 1).attr("aria-label", (b) => text(b.x))
            .attr("tabindex", (b) => (b.x === current ? 0 : -1))
            .on("click", (b) => zoom(b.x))
            .on("mousemove", (b) => showTip(text(b.x), d3.event.clientX, d3.event.clientY)).on("mouseleave", hideTip)
            .on("focus", (b) => (told.textContent = text(b.x).replace("\n", ": ")))
            .on("keydown", (b) => move(b.x, d3.event));
        g.filter((b) => b.to - b.from > 34).append("text").attr("x", 4).attr("y", row - 6).style("fill", (b) => (b.x === root ? "var(--ink)" : null))
            .text((b) => {
                const room = Math.floor((b.to - b.from - 6) / 6.3), name = b.x.name;
                return name.length <= room ? name : room > 3 ? name.slice(0, room - 1) + "…" : "";
            });
        back.disabled = top === root;
    }

    function focus(x) {
        const rects = svg.selectAll("rect");
        if (!x || rects.filter((b) => b.x === x).empty()) return;
        current = x;
        rects.attr("tabindex", (b) => (b.x === x ? 0 : -1));
        rects.filter((b) => b.x === x).node().focus();
    }

    function move(x, e) {
        const siblings = x.parent ? x.parent.children : [x], i = siblings.indexOf(x);
        const act = {
            ArrowUp: () => focus(x.parent), ArrowLeft: () => focus(siblings[i - 1]), ArrowRight: () => focus(siblings[i + 1]),
            ArrowDown: () => focus(x.children.slice().sort((a, b) => b.sum - a.sum)[0]),
            Enter: () => zoom(x), Escape: () => zoom(root),
        }[e.key];
        if (act) {
            act();
            e.preventDefault();
        }
    }
    draw();
}

function drawHot(body, r) {
    const bar = add(body, "div", "bar"), inner = add(body, "div");
    let metric = 0;
    choice(bar, "Count", metrics(r).map(([i, name]) => [String(i), name]), "0", (v) => {
        metric = +v;
        draw();
    }).id = "metric";
    function draw() {
        clear(inner);
        heading(inner, "By path of calls");
        flame(inner, r, metric);
        note(inner, "A routine is below those that called it; its width is what it has, together with what it called. Choose one to see it in full width.");
        heading(inner, "By routine");
        routineTable(inner, r, metric);
    }
    draw();
}

section("hot", "Hot routines", "Where do instructions, mispredictions and bits come from, and who called that?", drawHot);
