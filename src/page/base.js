// SPDX-License-Identifier: MIT
// What all sections share: the data, formats, elements, the tooltip, colours.

const data = JSON.parse(document.getElementById("data").textContent);
const state = {run: 0};
const run = () => data.sweep || data.runs[state.run];

const count = d3.format(",");
const percent = (part, whole) => (whole ? d3.format(".3~p")(part / whole) : "–");

// A number in three digits with its unit: 12.3 M
function short(n) {
    if (Math.abs(n) < 10000) return count(Math.round(n * 100) / 100);
    return d3.format(".3s")(n).replace(/([kMGTP])$/, " $1").replace("k", "K");
}

// The same without zeros at the end, for axes.
const brief = (n) => (Math.abs(n) < 10000 ? count(n) : d3.format(".3~s")(n).replace(/([kMGTP])$/, " $1").replace("k", "K"));

// A rate, in as many digits as it takes.
const rate = (n) => (n === 0 ? "0" : n >= 100 ? count(Math.round(n)) : d3.format(".3~r")(n));

function bytes(n) {
    const units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let i = 0;
    for (; n >= 1024 && i < 4; i++) n /= 1024;
    return d3.format(n < 10 ? ".2~f" : ".4~r")(n) + " " + units[i];
}

const plural = (n, what) => count(n) + " " + what + (n === 1 ? "" : "s");
const fileName = (path) => path.split("/").pop() || path;
const unit = (r) => (r.timed ? "cycles" : "instructions");

// Makes an element; text from the run only ever goes through textContent.
function add(parent, name, className, text) {
    const e = document.createElement(name);
    if (className) e.className = className;
    if (text !== undefined) e.textContent = text;
    parent.appendChild(e);
    return e;
}

function clear(e) {
    while (e.firstChild) e.removeChild(e.firstChild);
    return e;
}

const heading = (parent, text) => add(parent, "h3", "", text);
const note = (parent, text) => add(parent, "p", "note", text);

// ---- controls

function choice(parent, label, options, chosen, changed) {
    const l = add(parent, "label", "", label + " ");
    const s = add(l, "select");
    options.forEach(([value, text]) => {
        const o = add(s, "option", "", text);
        o.value = value;
        o.selected = value === chosen;
    });
    s.addEventListener("change", () => changed(s.value));
    return s;
}

function button(parent, text, label, pressed) {
    const b = add(parent, "button", "", text);
    b.type = "button";
    if (label) b.setAttribute("aria-label", label);
    b.addEventListener("click", pressed);
    return b;
}

// Buttons of which one is pressed.
function tabs(parent, label, options, chosen, changed) {
    const group = add(parent, "span", "controls");
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", label);
    options.forEach(([value, text]) => {
        const b = button(group, text, null, () => {
            group.querySelectorAll("button").forEach((x) => x.setAttribute("aria-pressed", x === b));
            changed(value);
        });
        b.setAttribute("aria-pressed", value === chosen);
    });
    return group;
}

// ---- the tooltip

const tip = document.getElementById("tip");

function showTip(text, x, y) {
    tip.textContent = text;
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - box.width - 8)) + "px";
    tip.style.top = (y + 18 + box.height < innerHeight ? y + 16 : y - box.height - 8) + "px";
}

const hideTip = () => (tip.hidden = true);

// ---- colours

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
const series = (i) => "var(--c" + (i % 8) + ")";
const ramp = () => d3.interpolateLab(colour("low"), colour("high"));

// ---- charts

// An SVG of that size, as wide as its parent, that screen readers take for an image.
function chart(parent, height, label) {
    const figure = add(parent, "figure");
    const width = Math.max(280, Math.floor(figure.getBoundingClientRect().width || 800));
    const svg = d3.select(figure).append("svg").attr("viewBox", `0 0 ${width} ${height}`)
        .attr("width", width).attr("height", height).attr("role", "img").attr("aria-label", label);
    return {svg, width, height, figure};
}

function axes(c, x, y, margin, xLabel, yLabel, xFormat, yFormat, xTicks) {
    const {svg, width, height} = c;
    svg.append("g").attr("class", "grid").attr("transform", `translate(${margin.left},0)`)
        .call(d3.axisLeft(y).ticks(4, yFormat).tickSize(-(width - margin.left - margin.right)).tickFormat(""));
    svg.append("g").attr("class", "x").attr("transform", `translate(0,${height - margin.bottom})`)
        .call(d3.axisBottom(x).ticks(xTicks || Math.min(10, width / 90)).tickFormat(xFormat).tickSizeOuter(0));
    svg.append("g").attr("transform", `translate(${margin.left},0)`)
        .call(d3.axisLeft(y).ticks(4).tickFormat(yFormat).tickSize(0).tickPadding(6)).select(".domain").remove();
    svg.append("text").attr("x", width - margin.right).attr("y", height - 4).attr("text-anchor", "end").text(xLabel);
    svg.append("text").attr("x", 2).attr("y", 12).text(yLabel);
}

function legend(parent, entries) {
    const list = add(parent, "ul", "legend");
    entries.forEach(([text, fill]) => {
        const item = add(list, "li");
        add(item, "span", "key").style.background = fill;
        item.appendChild(document.createTextNode(text));
    });
    return list;
}

// Names, bars and values, one below the other.
function bars(parent, rows, options) {
    const o = options || {};
    const most = d3.max(rows, (r) => r.value) || 1;
    const grid = add(parent, "div", "rows");
    grid.setAttribute("role", "list");
    rows.forEach((r) => {
        const name = add(grid, "span", "name", r.name);
        name.title = r.name;
        name.setAttribute("role", "listitem");
        const bar = add(add(grid, "span"), "span", "share");
        bar.style.width = (100 * r.value) / most + "%";
        bar.style.background = r.fill || o.fill || "var(--c0)";
        add(grid, "span", "value", r.text === undefined ? count(r.value) : r.text);
    });
    if (!rows.length) note(parent, "None.");
}

// ---- sections

const sections = [];

// What has to be painted again when the colours change.
const redrawers = [];

// A section answers a question; draw gets its body and is called anew for another run.
function section(id, title, question, draw, wanted) {
    if (!data.sweep) sections.push({id, title, question, draw, wanted});
}

// Likewise, of a page that shows a sweep.
function sweepSection(id, title, question, draw) {
    if (data.sweep) sections.push({id, title, question, draw});
}

function drawSection(s) {
    const body = clear(s.body);
    if (s.wanted && !s.wanted(run())) {
        note(body, "The run has nothing for this section.");
        return;
    }
    s.draw(body, run());
}
