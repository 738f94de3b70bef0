// SPDX-License-Identifier: MIT
// All techniques: a table, and bits against gates.

// Those than which nothing has both fewer gates and fewer bits.
function frontier(list) {
    const sorted = list.slice().sort((a, b) => a.gates - b.gates || a.bits - b.bits);
    let least = Infinity;
    return sorted.filter((t) => t.bits < least && ((least = t.bits), true));
}

// Where an axis with a logarithmic scale has ticks.
function powers(scale) {
    const [a, b] = scale.domain(), all = d3.range(Math.floor(Math.log10(a)), Math.ceil(Math.log10(b)) + 1).map((e) => Math.pow(10, e));
    const list = all.length > 3 ? all : [].concat(...all.map((v) => [v, 2 * v, 5 * v]));
    return list.map((v) => +v.toPrecision(1)).filter((v) => v >= a * 0.999 && v <= b * 1.001);
}

// Gives each point a place for its name, to the right above or below it, where no other name is.
function placeNames(points, name) {
    const taken = [];
    return points.map((p) => {
        const w = 6.6 * name(p).length;
        const found = [[8, -5], [8, 13], [-8 - w, -5], [-8 - w, 13]].find(([dx, dy]) => {
            const box = [p.x + dx, p.y + dy - 10, p.x + dx + w, p.y + dy + 2];
            return !taken.some((t) => box[0] < t[2] && t[0] < box[2] && box[1] < t[3] && t[1] < box[3]) && taken.push(box);
        });
        return Object.assign({at: found}, p);
    });
}

function scatter(parent, r, list, chosen, pick) {
    const c = chart(parent, 320, "Bits per instruction against gates");
    const margin = {left: 62, right: 20, top: 24, bottom: 38};
    const per = (t) => t.bits / r.instructions;
    const some = list.filter((t) => t.bits > 0);
    const free = d3.min(some.filter((t) => t.gates), (t) => t.gates) || 100;
    const gates = (t) => t.gates || free / 4;
    const x = d3.scaleLog(d3.extent(some, gates), [margin.left + 12, c.width - margin.right - 40]).nice();
    const y = d3.scaleLog(d3.extent(some, per), [c.height - margin.bottom, margin.top]).nice();
    if (x.domain()[0] === x.domain()[1]) x.domain([x.domain()[0] / 2, x.domain()[0] * 2]);
    if (y.domain()[0] === y.domain()[1]) y.domain([y.domain()[0] / 2, y.domain()[0] * 2]);
    const {svg, width, height} = c;
    svg.append("g").attr("class", "grid").attr("transform", `translate(${margin.left},0)`)
        .call(d3.axisLeft(y).tickValues(powers(y)).tickSize(-(width - margin.left - margin.right)).tickFormat(""));
    svg.append("g").attr("transform", `translate(0,${height - margin.bottom})`)
        .call(d3.axisBottom(x).ticks(5, "~s").tickSizeOuter(0)).select(".domain").attr("d", `M${margin.left},0H${width - margin.right}`);
    svg.append("g").attr("transform", `translate(${margin.left},0)`)
        .call(d3.axisLeft(y).tickValues(powers(y)).tickFormat(d3.format("~g")).tickSize(0).tickPadding(6)).select(".domain").remove();
    svg.append("text").attr("x", width - margin.right).attr("y", height - 4).attr("text-anchor", "end").text("gates (none: at the left)");
    svg.append("text").attr("x", 2).attr("y", 12).text("bits per instruction");
    const named = [];
    kindBits.forEach(([kind], k) => {
        const of = some.filter((t) => t.serves & kind && (t.serves & -t.serves) === kind);
        const best = frontier(of);
        svg.append("path").attr("fill", "none").attr("stroke", series(k)).attr("stroke-width", 1.4).attr("stroke-dasharray", "4 3").attr("opacity", 0.75)
            .attr("d", d3.line().x((t) => x(gates(t))).y((t) => y(per(t))).curve(d3.curveStepAfter)(best));
        const dots = svg.append("g").selectAll("g").data(of).enter().append("g")
            .attr("transform", (t) => `translate(${x(gates(t))},${y(per(t))})`);
        dots.append("circle").attr("r", (t) => (t.spec === chosen ? 8 : 5)).attr("fill", series(k))
            .attr("stroke", (t) => (t.spec === chosen ? "var(--ink)" : "var(--surface)")).attr("stroke-width", 1.6).style("cursor", "pointer")
            .on("click", (t) => pick(t))
            .on("mousemove", (t) => showTip(`${techniqueName(t)} (${t.kinds})\n${rate(per(t))} bits per instruction\n${count(t.gates)} gates\n${t.spec}`, d3.event.clientX, d3.event.clientY))
            .on("mouseleave", hideTip);
        of.filter((t) => list.length <= 24 || best.includes(t)).forEach((t) => named.push({t, x: x(gates(t)), y: y(per(t))}));
    });
    svg.append("g").selectAll("text").data(placeNames(named, (p) => techniqueName(p.t)).filter((p) => p.at)).enter().append("text")
        .attr("x", (p) => p.x + p.at[0]).attr("y", (p) => p.y + p.at[1]).text((p) => techniqueName(p.t));
    legend(parent, kindBits.filter(([k]) => some.some((t) => (t.serves & -t.serves) === k)).map(([k, name]) => [name, series(Math.log2(k))])
        .concat([["dashed: the frontier, on which nothing is better in both", "transparent"]]));
}

function drawTechniques(body, r) {
    const list = techniques(r);
    let chosen = null;
    const per = (t, n) => t.bits / n;
    const picture = add(body, "div");
    const draw = () => scatter(clear(picture), r, list, chosen, (t) => {
        chosen = t.spec;
        draw();
        rows.fill();
    });
    const best = new Set();
    kindBits.forEach(([kind]) => frontier(list.filter((t) => (t.serves & -t.serves) === kind)).forEach((t) => best.add(t.spec)));
    const most = d3.max(list, (t) => t.bits);
    draw();
    const columns = [
        {name: "technique", get: techniqueName},
        {name: "reports", get: (t) => t.kinds},
        {name: "bits/instruction", get: (t) => per(t, r.instructions), text: (t) => rate(per(t, r.instructions)), number: true, share: (t) => t.bits / most},
    ];
    if (r.timed) columns.push({name: "bits/cycle", get: (t) => per(t, r.cycles), text: (t) => rate(per(t, r.cycles)), number: true});
    columns.push(
        {name: "gain", get: (t) => t.baseline / t.bits, text: (t) => (t.bits ? rate(t.baseline / t.bits) : "–"), number: true, title: "how many times fewer bits than the baseline of its kind takes"},
        {name: "bits", get: (t) => t.bits, number: true},
        {name: "messages", get: (t) => t.messages, number: true},
        {name: "storage", get: (t) => t.storage, number: true, title: "bits"},
        {name: "gates", get: (t) => t.gates, number: true},
        {name: "frontier", get: (t) => (best.has(t.spec) ? "yes" : ""), title: "nothing of its kind has both fewer bits and fewer gates"});
    const rows = table(body, columns, list, {filter: "Filter", sort: 2, up: true, label: "Techniques",
        chosen: (t) => t.spec === chosen, pick: (t) => {
            chosen = t.spec;
            draw();
        }});
    note(body, "Each technique encoded the whole run. Choose a row or a point to find one in the other.");
}

section("techniques", "Techniques", "Which trace module sends least, and what does it cost?", drawTechniques,
    (r) => r.techniques.rows.length);
