// SPDX-License-Identifier: MIT
// Puts the sections onto the page.

document.getElementById("version").textContent = data.vestige;

function build() {
    const main = clear(document.getElementById("main")), contents = document.getElementById("contents");
    sections.forEach((s) => {
        const e = add(main, "section");
        e.id = s.id;
        e.setAttribute("aria-labelledby", s.id + "-title");
        add(e, "h2", "", s.title).id = s.id + "-title";
        add(e, "p", "question", s.question);
        s.body = add(e, "div");
        const a = add(add(contents, "li"), "a", "", s.title);
        a.href = "#" + s.id;
        s.link = a;
    });
    const seen = new IntersectionObserver((entries) => entries.forEach((e) => {
        const s = sections.find((k) => k.id === e.target.id);
        if (e.isIntersecting) sections.forEach((k) => k.link.setAttribute("aria-current", k === s));
    }), {rootMargin: "-15% 0px -70% 0px"});
    sections.forEach((s) => seen.observe(document.getElementById(s.id)));
}

function drawAll() {
    redrawers.length = 0;
    document.getElementById("title").textContent = "· " + fileName(run().path);
    document.title = "Vestige: " + fileName(run().path);
    sections.forEach(drawSection);
    document.body.dataset.drawn = state.run + 1;
}

// ---- light and dark

const root = document.documentElement, theme = document.getElementById("theme");
const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");

function setTheme(dark) {
    root.dataset.theme = dark ? "dark" : "light";
    theme.textContent = dark ? "Light" : "Dark";
    theme.setAttribute("aria-label", dark ? "Use light colours" : "Use dark colours");
    redrawers.forEach((draw) => draw());
}
theme.addEventListener("click", () => setTheme(root.dataset.theme !== "dark"));
prefersDark.addListener((e) => setTheme(e.matches));

// Paper is white; what was chosen before comes back afterwards.
let screenTheme = null;
window.addEventListener("beforeprint", () => {
    screenTheme = root.dataset.theme;
    setTheme(false);
});
window.addEventListener("afterprint", () => setTheme(screenTheme === "dark"));

// ---- runs

if (data.runs.length > 1) {
    const select = document.getElementById("run");
    document.getElementById("runs").hidden = false;
    data.runs.forEach((r, i) => (add(select, "option", "", `${i + 1}: ${fileName(r.path)}`).value = i));
    select.addEventListener("change", () => {
        state.run = +select.value;
        drawAll();
    });
}

// Only the width matters to charts.
let resized = null, drawnWidth = innerWidth;
window.addEventListener("resize", () => {
    if (innerWidth === drawnWidth) return;
    drawnWidth = innerWidth;
    clearTimeout(resized);
    resized = setTimeout(drawAll, 200);
});

setTheme(prefersDark.matches);
build();
drawAll();
