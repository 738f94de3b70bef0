// SPDX-License-Identifier: MIT
// Bits over time, and what ports and buffers make of them.

const kindBits = [[1, "Control flow"], [2, "Load values"], [4, "Data addresses"]];
const techniqueName = (t) => t.name + (t.config === "default" ? "" : ":" + t.config);

// Each technique once, although a baseline may be asked for and also be there as such.
function techniques(r) {
    const seen = new Set();
    return r.techniques.rows.filter((t) => {
        const known = seen.has(t.spec);
        seen.add(t.spec);
        return !known;
    });
}

function fewTechniques(r, kind) {
    return techniques(r).filter((t) => t.serves & kind).slice(0, 8);
}

function linesOverTime(parent, r, list, get, label, yLabel, limit) {
    const T = r.techniques;
    const c = chart(parent, 250, label);
    const margin = {left: 62, right: 14, top: 22, bottom: 36};
    const most = Math.max(limit ? limit * 1.15 : 0, d3.max(list, (t) => d3.max(get(t)) || 0) || 1);
    const x = d3.scaleLinear([0, T.end], [margin.left, c.width - margin.right]);
    const y = d3.scaleLinear([0, most], [c.height - margin.bottom, margin.top]).nice(4);
    axes(c, x, y, margin, unit(r), yLabel, brief, brief);
    list.forEach((t) => {
        const values = get(t);
        const line = d3.line().x((d, i) => x(Math.min(T.end, i * T.window))).y((d) => y(d)).curve(d3.curveStepAfter);
        c.svg.append("path").attr("d", line(values.concat(values.length ? [values[values.length - 1]] : [])))
            .attr("fill", "none").attr("stroke", t.fill).attr("stroke-width", 1.6).attr("stroke-linejoin", "round");
    });
    if (limit)
        c.svg.append("line").attr("x1", margin.left).attr("x2", c.width - margin.right).attr("y1", y(limit)).attr("y2", y(limit))
            .attr("stroke", "var(--ink)").attr("stroke-dasharray", "5 4");
    const cross = c.svg.append("line").attr("y1", margin.top).attr("y2", c.height - margin.bottom)
        .attr("stroke", "var(--faint)").attr("visibility", "hidden");
    c.svg.on("mousemove", function () {
        const e = d3.event, px = d3.mouse(this)[0], i = Math.floor(x.invert(px) / T.window);
        const n = d3.max(list, (t) => get(t).length);
        if (i < 0 || i >= n) return;
        cross.attr("x1", px).attr("x2", px).attr("visibility", "visible");
        showTip(`${unit(r)} ${count(i * T.window)} to ${count(Math.min(T.end, (i + 1) * T.window))}\n` +
            list.map((t) => `${techniqueName(t)}: ${rate(get(t)[i] || 0)}`).join("\n"), e.clientX, e.clientY);
    }).on("mouseleave", () => {
        cross.attr("visibility", "hidden");
        hideTip();
    });
    return c;
}

// The last window is cut by the run's end.
function rates(r, t) {
    const T = r.techniques;
    return t.windows.map((bits, i) => bits / Math.max(1, Math.min(T.window, T.end - i * T.window)));
}

function drawBits(body, r) {
    const T = r.techniques;
    const kinds = kindBits.filter(([k]) => fewTechniques(r, k).length);
    let kind = kinds[0][0], width = 2;
    const bar = add(body, "div", "bar");
    tabs(bar, "What is traced", kinds, kind, (k) => {
        kind = k;
        draw();
    });
    const widths = T.quarters.map((q, i) => [String(i), (q >= 4 ? q / 4 : "1/" + 4 / q) + (q <= 4 ? " bit" : " bits")]);
    choice(bar, "Port takes, per " + unit(r).slice(0, -1), widths, String(width), (v) => {
        width = +v;
        draw();
    }).id = "width";
    const inner = add(body, "div");

    function draw() {
        clear(inner);
        const list = fewTechniques(r, kind).map((t, i) => Object.assign({}, t, {fill: series(i), rates: rates(r, t)}));
        const bitsPort = T.quarters[width] / 4;
        heading(inner, `Bits per ${unit(r).slice(0, -1)} that leave the trace module`);
        linesOverTime(inner, r, list, (t) => t.rates, "Bits over time by technique", "bits", bitsPort);
        legend(inner, list.map((t) => [techniqueName(t), t.fill]));
        note(inner, `The dashed line is what the port takes. Windows are of ${count(T.window)} ${unit(r)}.`);
        heading(inner, "How full a buffer without a limit gets before that port");
        linesOverTime(inner, r, list, (t) => t.occupancy[width], "Occupancy of the buffer over time", "bits");
        heading(inner, "What is lost if the buffer is limited");
        const columns = [
            {name: "technique", get: techniqueName},
            {name: "average", get: (t) => t.bits / T.end, text: (t) => rate(t.bits / T.end), number: true, title: "bits per " + unit(r).slice(0, -1)},
            {name: "peak", get: (t) => d3.max(t.rates) || 0, text: (t) => rate(d3.max(t.rates) || 0), number: true, title: "in the window with most"},
            {name: "to lose nothing", get: (t) => t.largest[width], text: (t) => count(t.largest[width]) + " bits", number: true},
        ];
        T.sizes.forEach((size, i) => {
            const lost = (t) => t.lost[i * T.quarters.length + width];
            columns.push({name: `lost with ${count(size)} bits`, get: lost, number: true,
                text: (t) => (lost(t) ? `${count(lost(t))} (${percent(lost(t), t.bits)})` : "nothing")});
        });
        table(inner, columns, list, {label: "Ports and buffers"});
        note(inner, "A message that does not fit into the buffer is lost as a whole. These figures are exact, message by message." +
            (r.timed ? "" : " As the run is not timed, an instruction stands for a cycle."));
    }
    draw();
}

section("bits", "Bits over time", "When do trace modules send how much, and which port and buffer would do?", drawBits,
    (r) => r.techniques.rows.length);
