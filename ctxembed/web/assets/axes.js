// Where each representation of the word lies on the axes: dots on a line, and the numbers.
function drawAxes(rows, axes, chosen, width) {
  const side = Math.min(130, Math.max(70, ...axes.map((name) => measure(name, 14) + 14)));
  const all = rows.flatMap((row) => axes.map((axis) => row[axis])).filter((v) => v !== null);
  const low = Math.min(0, ...all) - 0.02, high = Math.max(0.5, ...all) + 0.04;
  const x = (value) => side + ((value - low) / (high - low)) * (width - side - 14);
  const tall = 46, height = tall * axes.length + 34;
  const svg = s("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": `cosine with ${axes.join(", ")}` },
    s("defs", null, s("marker", { id: "tip", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 6, markerHeight: 6, orient: "auto" },
      s("path", { d: "M0,0L8,4L0,8z", fill: "var(--soft)" }))));
  for (const value of ticks(low, high)) {
    svg.append(s("line", { class: "axis", x1: x(value), x2: x(value), y1: 6, y2: height - 24, "stroke-dasharray": value === 0 ? null : "2 4" }),
      s("text", { class: "soft", x: x(value), y: height - 8, "font-size": 12, "text-anchor": "middle" }, String(value)));
  }
  axes.forEach((axis, i) => {
    const y = 8 + tall * (i + 0.5);
    svg.append(s("text", { x: side - 12, y: y + 5, "font-size": 14, "text-anchor": "end" }, axis),
      s("line", { class: "axis", x1: side, x2: width - 10, y1: y, y2: y }));
    const from = rows.find((row) => row.representation === "static")?.[axis];
    const to = rows.find((row) => row.representation === chosen)?.[axis];
    if (from !== undefined && to !== undefined && Math.abs(x(from) - x(to)) > 22) {
      const away = Math.sign(x(to) - x(from)) * 9;
      svg.append(s("path", { d: `M${x(from) + away},${y - 13}L${x(to) - away / 9},${y - 13}`, stroke: "var(--soft)", fill: "none", "marker-end": "url(#tip)" }));
    }
    for (const row of rows) {
      if (row[axis] === null || row[axis] === undefined) continue;
      svg.append(s("path", { d: SHAPES[wayShape(row.representation)](x(row[axis]), y, row.representation === chosen ? 7.5 : 6), fill: wayColour(row.representation), opacity: 0.9 },
        s("title", null, `${row.representation}: ${axis} ${fixed(row[axis], 4)}`)));
    }
  });
  return svg;
}

function axisNumbers(rows, axes) {
  return h("table", { class: "numbers" },
    h("thead", null, h("tr", null, h("th", { scope: "col" }, ""), axes.map((axis) => h("th", { scope: "col" }, axis)),
      h("th", { scope: "col", title: "cosine with the word's static vector" }, "with static"))),
    h("tbody", null, rows.map((row) => {
      const best = Math.max(...axes.map((axis) => row[axis]));
      return h("tr", { "data-way": row.representation },
        h("td", null, mark(wayShape(row.representation), wayColour(row.representation)), row.representation),
        axes.map((axis) => h("td", { "data-axis": axis },
          row[axis] === best && axes.length > 1 ? h("b", null, fixed(row[axis], 3)) : fixed(row[axis], 3))),
        h("td", null, fixed(row.cos_static ?? null, 3)));
    })));
}

// The axes as they can be edited; each a name and a few words.
function axisEditor(axes, changed) {
  // as they are by now: another field of theirs may have been typed into a moment ago
  const set = (i, part, value) => changed(state.axes.map((axis, j) => (j === i ? axis.map((old, k) => (k === part ? value : old)) : axis)));
  return h("div", { class: "axes" },
    axes.map(([name, words], i) => h("div", null,
      h("input", { value: name, "aria-label": `name of axis ${i + 1}`, "data-key": `axis-${i}-0`, ...typing(400, (event) => set(i, 0, event.target.value)) }),
      h("input", { value: words, "aria-label": `words of axis ${i + 1}`, "data-key": `axis-${i}-1`, ...typing(400, (event) => set(i, 1, event.target.value)) }),
      h("button", { type: "button", title: "remove this axis", onclick: () => changed(axes.filter((_, j) => j !== i)) }, "×"))),
    axes.length < 4 && h("div", null, h("button", { type: "button", onclick: () => changed([...axes, ["", ""]]) }, "+ axis")));
}
