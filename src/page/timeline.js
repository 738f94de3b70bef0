// SPDX-License-Identifier: MIT
// A lane for each thread: what it did in each stretch of time, where it waited, and what happened.

const channels = [
    ["instructions", "instructions retired"],
    ["accesses", "loads and stores"],
    ["mispredicted", "mispredicted branches"],
    ["misses", "cache misses"],
    ["coherence", "coherence traffic"],
];
const markNames = ["system call", "signal", "thread begins", "thread ends", "recording was off"];
const markColours = ["c4", "c1", "c2", "c5", "c7"];

function timeline(body, r) {
    const t = r.timeline;
    const has = channels.filter((c) => t.channels[c[0]]);
    let channel = "instructions";
    const bar = add(body, "div", "bar");
    if (has.length) channel = has[0][0];
    choice(bar, "Shade by", has, channel, (v) => {
        channel = v;
        draw();
    }).id = "channel";
    const zooms = add(bar, "span", "controls");
    button(zooms, "+", "Zoom in", () => zoomBy(0.5));
    button(zooms, "−", "Zoom out", () => zoomBy(2));
    button(zooms, "←", "Earlier", () => pan(-0.4));
    button(zooms, "→", "Later", () => pan(0.4));
    button(zooms, "All", "Show the whole run", () => show(0, t.span));
    const where = add(bar, "span", "note");
    where.setAttribute("role", "status");

    const lane = Math.max(9, Math.min(30, Math.floor(520 / t.lanes)));
    const margin = {left: 74, right: 8, top: 4, bottom: 34};
    const height = margin.top + margin.bottom + lane * t.lanes;
    const figure = add(body, "figure");
    const canvas = add(figure, "canvas");
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "img");
    const width = Math.max(300, Math.floor(figure.getBoundingClientRect().width));
    const ratio = window.devicePixelRatio || 1;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    canvas.style.width = width + "px";
    canvas.style.height = height + "px";
    const x = d3.scaleLinear().range([margin.left, width - margin.right]);
    let from = 0, to = t.span, starts = null;

    // Bins are of equal length, up to rounding.
    const binStart = (i) => (t.span * i) / t.bins;

    function show(a, b) {
        const least = Math.min(t.span, Math.max(1, t.span / t.bins) * 4);
        let length = Math.min(t.span, Math.max(least, b - a));
        from = Math.max(0, Math.min(t.span - length, a));
        to = from + length;
        draw();
    }
    const zoomBy = (f, at) => {
        const middle = at === undefined ? (from + to) / 2 : at;
        show(middle - (middle - from) * f, middle + (to - middle) * f);
    };
    const pan = (f) => show(from + f * (to - from), to + f * (to - from));

    function draw() {
        const c = canvas.getContext("2d");
        const cells = t.channels[channel], shade = ramp();
        c.setTransform(ratio, 0, 0, ratio, 0, 0);
        c.clearRect(0, 0, width, height);
        x.domain([from, to]);
        const first = Math.max(0, Math.floor((from / t.span) * t.bins) - 1);
        const last = Math.min(t.bins, Math.ceil((to / t.span) * t.bins) + 1);
        let most = 1;
        if (cells)
            for (let l = 0; l < t.lanes; l++)
                for (let i = first; i < last; i++) most = Math.max(most, cells[l * t.bins + i]);
        c.save();
        c.beginPath();
        c.rect(margin.left, 0, width - margin.left - margin.right, height);
        c.clip();
        for (let l = 0; l < t.lanes; l++) {
            const y = margin.top + l * lane;
            c.fillStyle = colour("empty");
            c.fillRect(margin.left, y + 1, width - margin.left - margin.right, lane - 2);
            c.fillStyle = colour("wait");
            t.waits.forEach((w) => w[0] === l && c.fillRect(x(w[1]), y + lane / 2 - 1, Math.max(1, x(w[2]) - x(w[1])), 2));
            for (let i = first; i < last; ) {
                // what falls into one pixel is shown as its average
                let sum = 0, n = 0, j = i;
                const px = Math.round(x(binStart(i)));
                while (j < last && (n === 0 || x(binStart(j + 1)) < px + 1.5)) {
                    sum += cells ? cells[l * t.bins + j] : 0;
                    n++;
                    j++;
                }
                if (sum) {
                    c.fillStyle = shade(Math.pow(sum / n / most, 0.6));
                    c.fillRect(px, y + 1, Math.max(1, Math.round(x(binStart(j))) - px), lane - 2);
                }
                i = j;
            }
        }
        t.marks.forEach((m) => {
            const px = x(m[0]), y = margin.top + m[1] * lane;
            if (m[0] < from || m[0] > to) return;
            c.fillStyle = colour(markColours[m[2]]);
            if (m[2] === 0) c.fillRect(px - 0.5, y + lane - Math.max(4, lane / 3), 1.2, Math.max(4, lane / 3));
            else {
                c.beginPath();
                c.moveTo(px - 4, y + 1);
                c.lineTo(px + 4, y + 1);
                c.lineTo(px, y + 8);
                c.fill();
            }
        });
        c.restore();
        c.fillStyle = colour("soft");
        c.font = "12px sans-serif";
        c.textBaseline = "middle";
        c.textAlign = "right";
        const step = Math.ceil(12 / lane);
        for (let l = 0; l < t.lanes; l += step)
            c.fillText((l === t.lanes - 1 && t.lanes < r.thread_count ? "others " : "thread ") + l, margin.left - 7, margin.top + (l + 0.5) * lane);
        const base = height - margin.bottom + 2;
        c.fillStyle = colour("line");
        c.fillRect(margin.left, base, width - margin.left - margin.right, 1);
        c.fillStyle = colour("soft");
        c.textAlign = "center";
        const ticks = x.ticks(Math.floor(width / 110));
        const close = ticks.length > 1 && ticks[1] - ticks[0] < ticks[ticks.length - 1] / 1000;
        ticks.forEach((v) => {
            c.fillRect(x(v), base, 1, 4);
            const px = Math.min(width - 30, x(v));
            c.fillText(close ? count(v + t.first) : brief(v + t.first), px, base + 13);
        });
        c.textAlign = "right";
        c.fillText(unit(r), width - margin.right, base + 27);
        where.textContent = from === 0 && to === t.span ? "" : `${count(Math.round(from + t.first))} to ${count(Math.round(to + t.first))}`;
        canvas.dataset.from = Math.round(from);
        canvas.dataset.to = Math.round(to);
        canvas.setAttribute("aria-label", `Timeline of ${plural(t.lanes, "thread")}, shaded by ${channels.find((k) => k[0] === channel)[1]}, from ` +
            `${count(Math.round(from + t.first))} to ${count(Math.round(to + t.first))} ${unit(r)}. Keys: plus and minus zoom, arrows move, 0 shows all.`);
    }

    function tell(e) {
        const box = canvas.getBoundingClientRect();
        const px = e.clientX - box.left, time = x.invert(px), l = Math.floor((e.clientY - box.top - margin.top) / lane);
        if (l < 0 || l >= t.lanes || px < margin.left || px > width - margin.right) return hideTip();
        const bin = Math.max(0, Math.min(t.bins - 1, Math.floor((time / t.span) * t.bins)));
        const lines = [`thread ${l}, ${unit(r)} ${count(Math.round(binStart(bin) + t.first))} to ${count(Math.round(binStart(bin + 1) + t.first))}`];
        channels.concat([["syscalls", "system calls"], ["signals", "signals"]]).forEach(([k, name]) => {
            const n = t.channels[k] ? t.channels[k][l * t.bins + bin] : 0;
            if (n) lines.push(`${count(n)} ${name}`);
        });
        t.waits.filter((w) => w[0] === l && w[1] <= time && time <= w[2]).slice(0, 1).forEach((w) => lines.push(
            (w[3] ? "waits in " + w[3] : r.timed ? "retires nothing" : "others run") + ` for ${count(w[2] - w[1])} ${unit(r)}`));
        t.marks.filter((m) => m[1] === l && Math.abs(x(m[0]) - px) < 4).slice(0, 6)
            .forEach((m) => lines.push(m[3] || markNames[m[2]]));
        showTip(lines.join("\n"), e.clientX, e.clientY);
    }
    canvas.addEventListener("mousemove", (e) => {
        if (starts !== null && e.buttons) {
            const box = canvas.getBoundingClientRect();
            const moved = x.invert(starts.x) - x.invert(e.clientX - box.left);
            starts.x = e.clientX - box.left;
            show(from + moved, to + moved);
        } else tell(e);
    });
    canvas.addEventListener("mousedown", (e) => (starts = {x: e.clientX - canvas.getBoundingClientRect().left}));
    canvas.addEventListener("mouseup", () => (starts = null));
    canvas.addEventListener("mouseleave", () => {
        starts = null;
        hideTip();
    });
    canvas.addEventListener("wheel", (e) => {
        if (!e.ctrlKey && !e.shiftKey) return;
        e.preventDefault();
        zoomBy(Math.pow(1.0015, e.deltaY || e.deltaX), x.invert(e.clientX - canvas.getBoundingClientRect().left));
    }, {passive: false});
    canvas.addEventListener("dblclick", (e) => zoomBy(0.4, x.invert(e.clientX - canvas.getBoundingClientRect().left)));
    canvas.addEventListener("keydown", (e) => {
        const act = {"+": () => zoomBy(0.5), "=": () => zoomBy(0.5), "-": () => zoomBy(2), ArrowLeft: () => pan(-0.2),
            ArrowRight: () => pan(0.2), 0: () => show(0, t.span)}[e.key];
        if (act) {
            act();
            e.preventDefault();
        }
    });
    draw();
    redrawers.push(draw);
    const kinds = markNames.map((name, i) => [name, i]).filter(([, i]) => t.mark_counts[i]);
    legend(body, kinds.map(([name, i]) => [`${name} (${count(t.mark_counts[i])})`, `var(--${markColours[i]})`])
        .concat(t.waits.length ? [["no instruction retired for long", "var(--wait)"]] : []));
    if (t.mark_counts.some((n, i) => n > t.marks.filter((m) => m[2] === i).length))
        note(body, "Of each kind, the first 1,500 are drawn by themselves; all are counted.");
    note(body, "Drag to move; hold Ctrl or Shift and turn the wheel, or double-click, to zoom; with the keyboard + − ← → 0. " +
        `A stretch is ${short(Math.max(1, t.span / t.bins))} ${unit(r)} long.`);
    const numbers = add(body, "details");
    add(numbers, "summary", "", "The numbers");
    const lanes = d3.range(t.lanes).map((l) => {
        const row = {thread: l};
        channels.concat([["syscalls"], ["signals"]]).forEach(([k]) => {
            row[k] = t.channels[k] ? d3.sum(t.channels[k].slice(l * t.bins, (l + 1) * t.bins)) : 0;
        });
        row.waits = d3.sum(t.waits.filter((w) => w[0] === l), (w) => w[2] - w[1]);
        return row;
    });
    table(numbers, [{name: "thread", get: (l) => l.thread, number: true}].concat(
        channels.map(([k, name]) => ({name, get: (l) => l[k], number: true})),
        [{name: "system calls", get: (l) => l.syscalls, number: true}, {name: "signals", get: (l) => l.signals, number: true},
            {name: `waited (${unit(r)})`, get: (l) => l.waits, number: true}]), lanes, {label: "Threads", limit: 40});
}

section("timeline", "Timeline", "What did each thread do when, and when did it do nothing?", timeline);
