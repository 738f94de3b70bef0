// SPDX-License-Identifier: MIT
// A sweep: its points by the two figures whose frontier is wanted, and the table of all of their figures.

const pointName = (p) => p.technique + (p.config === "default" ? "" : ":" + p.config);

// One colour for each technique, of which there may be more than colours.
const sweepTechniques = (s) => Array.from(new Set(s.points.map((p) => p.technique)));

// A figure in millionths is shown as a number.
const isMillionths = (name) => /_millionths$/.test(name);
const figureName = (name) => ({bpi_millionths: "bits per instruction", bpc_millionths: "bits per cycle",
    mpi_millionths: "messages per instruction"}[name] || name.replace(/_millionths$/, "").replace(/_/g, " "));
const figure = (name, v) => (v === null ? "–" : isMillionths(name) ? d3.format(",.6~f")(v / 1e6) : count(v));

// A logarithmic axis for figures above 0; a zero stands at its lower end.
function figureScale(values, range) {
    const some = values.filter((v) => v > 0), [low, high] = some.length ? d3.extent(some) : [1, 10];
    const zero = values.some((v) => v === 0);
    const scale = d3.scaleLog([zero ? low / 4 : low / 1.2, low === high ? high * 2 : high * 1.2], range);
    return {scale, at: (v) => scale(v > 0 ? v : scale.domain()[0])};
}

function drawPoints(parent, s, chosen, pick) {
    const c = chart(parent, 420, figureName(s.objectives[0]) + " against " + figureName(s.objectives[1]));
    const margin = {left: 62, right: 20, top: 24, bottom: 38};
    const {svg, width, height} = c, [one, other] = s.objectives;
    const known = s.points.filter((p) => p.x !== null && p.y !== null);
    const unit = isMillionths(one) ? 1e6 : 1, unitOther = isMillionths(other) ? 1e6 : 1;
    const across = figureScale(known.map((p) => p.y / unitOther), [margin.left + 12, width - margin.right - 60]);
    const up = figureScale(known.map((p) => p.x / unit), [height - margin.bottom, margin.top + 8]);
    const x = (p) => across.at(p.y / unitOther), y = (p) => up.at(p.x / unit);
    const tip = (p) => `${pointName(p)}\n${figure(one, p.x)} ${figureName(one)}\n${figure(other, p.y)} ${figureName(other)}`;
    svg.append("g").attr("class", "grid").attr("transform", `translate(${margin.left},0)`)
        .call(d3.axisLeft(up.scale).tickValues(powers(up.scale)).tickSize(-(width - margin.left - margin.right)).tickFormat(""));
    svg.append("g").attr("transform", `translate(0,${height - margin.bottom})`)
        .call(d3.axisBottom(across.scale).tickValues(powers(across.scale)).tickFormat(d3.format("~s")).tickSizeOuter(0))
        .select(".domain").attr("d", `M${margin.left},0H${width - margin.right}`);
    svg.append("g").attr("transform", `translate(${margin.left},0)`)
        .call(d3.axisLeft(up.scale).tickValues(powers(up.scale)).tickFormat(d3.format("~g")).tickSize(0).tickPadding(6)).select(".domain").remove();
    svg.append("text").attr("x", width - margin.right).attr("y", height - 4).attr("text-anchor", "end").text(figureName(other));
    svg.append("text").attr("x", 2).attr("y", 12).text(figureName(one));
    const best = known.filter((p) => p.frontier).sort((a, b) => a.y - b.y || a.x - b.x);
    svg.append("path").attr("class", "frontier").attr("fill", "none").attr("stroke", "var(--ink)").attr("stroke-width", 1.4)
        .attr("stroke-dasharray", "4 3").attr("opacity", 0.6).attr("d", d3.line().x(x).y(y).curve(d3.curveStepAfter)(best));
    const names = sweepTechniques(s);
    svg.append("g").attr("class", "points").selectAll("circle").data(known.filter((p) => !p.frontier).concat(best)).enter().append("circle")
        .attr("cx", x).attr("cy", y).attr("r", (p) => (p === chosen ? 8 : p.frontier ? 5 : 3.5)).attr("fill", (p) => series(names.indexOf(p.technique)))
        .attr("opacity", (p) => (p.frontier || p === chosen ? 1 : 0.55)).attr("stroke", (p) => (p === chosen ? "var(--ink)" : "var(--surface)"))
        .attr("stroke-width", 1.4).style("cursor", "pointer").on("click", pick)
        .on("mousemove", (p) => showTip(tip(p), d3.event.clientX, d3.event.clientY)).on("mouseleave", hideTip);
    const named = best.concat(chosen && !chosen.frontier && known.includes(chosen) ? [chosen] : []).map((p) => ({p, x: x(p), y: y(p)}));
    svg.append("g").attr("class", "names").selectAll("text").data(placeNames(named, (n) => pointName(n.p)).filter((n) => n.at)).enter().append("text")
        .attr("x", (n) => n.x + n.at[0]).attr("y", (n) => n.y + n.at[1]).text((n) => pointName(n.p));
    legend(parent, names.map((name, i) => [name, series(i)]).concat([["dashed: the frontier, on which nothing is better in both", "transparent"]]));
}

function drawState(body, s) {
    const tiles = add(body, "div", "tiles");
    tile(tiles, count(s.runs), s.runs === 1 ? "run" : "runs");
    tile(tiles, count(s.point_count), s.point_count === 1 ? "point" : "points");
    tile(tiles, count(s.points.filter((p) => p.frontier).length), "on the frontier");
    tile(tiles, count(s.done), "units measured");
    if (s.failed) tile(tiles, count(s.failed), "units failed");
    if (s.missing) tile(tiles, count(s.missing), "units missing");
    if (s.excluded) tile(tiles, count(s.excluded), "points left out by constraints");
    if (s.constraints.length) {
        heading(body, "What a point must be like");
        const list = add(body, "ul", "constraints");
        s.constraints.forEach((text) => add(list, "li", "", text));
    }
}

function drawSweep(body, s) {
    drawState(body, s);
    const picture = add(body, "div");
    let chosen = null;
    const draw = () => drawPoints(clear(picture), s, chosen, (p) => {
        chosen = p;
        draw();
        rows.fill();
    });
    const cell = (i) => (p) => p.cells[i];
    const told = s.columns.map((c, i) => [c, i]).filter(([, i]) => s.points.some((p) => p.cells[i] !== null));
    const columns = [{name: "point", get: pointName}, {name: "frontier", get: (p) => (p.frontier ? "yes" : "")}].concat(told.map(([c, i]) => ({
        name: c.name === c.of && isMillionths(c.of) ? figureName(c.of) : c.name, title: c.of, number: !c.text, get: cell(i),
        text: (p) => (c.text ? p.cells[i] || "" : figure(c.of, p.cells[i])),
    })));
    draw();
    const sort = 2 + told.findIndex(([c]) => c.of === s.objectives[0]);
    const rows = table(body, columns, s.points, {filter: "Filter", sort: sort > 1 ? sort : 0, up: true, label: "Points", chosen: (p) => p === chosen,
        pick: (p) => {
            chosen = p;
            draw();
        }});
    if (s.point_count > s.points.length) note(body, `${plural(s.point_count - s.points.length, "point")} lack runs and are not shown.`);
    note(body, "Sums over " + (s.group === "all" ? "all runs" : `the runs of ${s.group}`) +
        "; of sizes the largest. Choose a row or a point to find one in the other.");
}

sweepSection("sweep", "Points", "Which modules does nothing beat in both figures?", drawSweep);
