// SPDX-License-Identifier: MIT
// A table that can be sorted by each column, filtered, and unfolded.

// columns: {name, get, text, number, share, title}; options: filter (a label), sort (a column's number), up, limit,
// chosen (row), pick (row => ...), detail ((row, element) => ...), label
function table(parent, columns, rows, options) {
    const o = Object.assign({limit: 15, sort: null, up: false}, options);
    const bar = add(parent, "div", "bar");
    let needle = "", all = false, sort = o.sort, up = o.up;
    if (o.filter) {
        const input = add(add(bar, "label", "", o.filter + " "), "input");
        input.type = "search";
        input.addEventListener("input", () => {
            needle = input.value.toLowerCase();
            fill();
        });
    }
    const shown = add(bar, "span", "note");
    shown.setAttribute("role", "status");
    const box = add(parent, "div", "scroll");
    box.tabIndex = 0;
    box.setAttribute("role", "region");
    box.setAttribute("aria-label", o.label || "Table");
    const t = add(box, "table");
    const head = add(add(t, "thead"), "tr");
    const body = add(t, "tbody");
    const heads = columns.map((c, i) => {
        const th = add(head, "th", c.number ? "number" : "");
        th.scope = "col";
        const b = button(th, c.name, null, () => {
            up = sort === i ? !up : !c.number;
            sort = i;
            fill();
        });
        if (c.title) b.title = c.title;
        return th;
    });

    const text = (c, r) => (c.text ? c.text(r) : c.number ? count(c.get(r)) : String(c.get(r)));

    function order(list) {
        if (sort === null) return list;
        const get = columns[sort].get, sign = up ? 1 : -1;
        return list.slice().sort((a, b) => {
            if (a.last !== b.last) return a.last ? 1 : -1;
            const x = get(a), y = get(b);
            if (x === null || y === null) return (x === null) - (y === null);
            return sign * (typeof x === "number" ? x - y : String(x).localeCompare(String(y)));
        });
    }

    function put(r) {
        const tr = add(body, "tr", o.chosen && o.chosen(r) ? "chosen" : "");
        columns.forEach((c) => {
            const td = add(tr, "td", c.number ? "number" : "text", text(c, r));
            if (c.share) {
                td.appendChild(document.createTextNode(" "));
                const s = add(add(td, "span", "shares"), "span", "share");
                s.style.width = 3.5 * Math.min(1, c.share(r)) + "em";
            }
        });
        if (o.pick) {
            tr.style.cursor = "pointer";
            tr.tabIndex = 0;
            const pick = () => {
                o.pick(r);
                fill();
            };
            tr.addEventListener("click", pick);
            tr.addEventListener("keydown", (e) => e.key === "Enter" && pick());
        }
        if (o.detail) unfold(tr, r);
    }

    function unfold(tr, r) {
        const first = tr.firstChild;
        const label = first.textContent;
        clear(first);
        const b = button(first, "▸ " + label, null, () => {
            const open = tr.nextSibling && tr.nextSibling.className === "detail";
            if (open) body.removeChild(tr.nextSibling);
            else {
                const row = document.createElement("tr");
                row.className = "detail";
                body.insertBefore(row, tr.nextSibling);
                const td = add(row, "td");
                td.colSpan = columns.length;
                o.detail(r, td);
            }
            b.textContent = (open ? "▸ " : "▾ ") + label;
            b.setAttribute("aria-expanded", !open);
        });
        b.setAttribute("aria-expanded", false);
        b.style.cssText = "border:0;padding:0;background:none;text-align:left";
    }

    function fill() {
        clear(body);
        heads.forEach((th, i) => {
            if (sort === i) th.setAttribute("aria-sort", up ? "ascending" : "descending");
            else th.removeAttribute("aria-sort");
            th.firstChild.textContent = columns[i].name + (sort === i ? (up ? " ↑" : " ↓") : "");
        });
        const found = needle
            ? rows.filter((r) => columns.some((c) => text(c, r).toLowerCase().includes(needle)))
            : rows;
        const list = order(found);
        list.slice(0, all ? list.length : o.limit).forEach(put);
        clear(shown);
        const n = all ? list.length : Math.min(o.limit, list.length);
        shown.textContent = rows.length > o.limit || needle
            ? `${count(n)} of ${plural(needle ? list.length : rows.length, "row")}` : "";
        if (found.length > o.limit) {
            shown.appendChild(document.createTextNode(" "));
            button(shown, all ? "Fewer" : "All", null, () => {
                all = !all;
                fill();
            });
        }
    }
    fill();
    return {fill};
}
