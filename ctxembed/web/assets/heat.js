// A heat map: a square for each number, written into it where there is room.
function drawHeat({ rows, columns, values, title, room, high = 1, chosen = null, pick = null, digits = 2 }) {
  const side = Math.max(...rows.map((name) => measure(name, 13))) + 14;
  const longest = Math.max(...columns.map((name) => measure(name, 13)));
  const even = Math.min(64, (room - side - 12) / columns.length), tall = 28;
  const slanted = longest > even - 6;
  const cell = slanted ? Math.max(14, Math.min(64, (room - side - longest * 0.72 - 12) / columns.length)) : even;
  const top = slanted ? longest * 0.72 + 16 : 24;
  const over = slanted ? top : 10;
  const width = side + cell * columns.length + over, height = top + tall * rows.length + 6;
  const svg = s("svg", { class: "heat", viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": title });
  columns.forEach((name, j) => {
    const x = side + cell * (j + 0.5);
    svg.append(s("text", { x, y: top - 8, "font-size": 13, "text-anchor": slanted ? "start" : "middle",
      transform: slanted ? `rotate(-45 ${x} ${top - 8})` : null }, name));
  });
  rows.forEach((name, i) => {
    const y = top + tall * i;
    const line = s("g", pick && { class: "word", role: "button", tabindex: 0, "data-key": `row-${i}`, "aria-pressed": String(i === chosen),
      "aria-label": name, onclick: () => pick(i), onkeydown: (event) => (event.key === "Enter" || event.key === " ") && (event.preventDefault(), pick(i)) },
      s("text", { x: side - 8, y: y + 19, "font-size": 13, "text-anchor": "end", "font-weight": i === chosen ? 700 : null }, name));
    values[i].forEach((value, j) => {
      if (value === null) return;
      const x = side + cell * j;
      const strong = Math.abs(value) / high > 0.62;
      line.append(s("rect", { class: "cell", x, y, width: cell, height: tall, fill: tint(value / high) },
        s("title", null, `${name}, ${columns[j]}: ${fixed(value, 4)}`)));
      if (cell >= 31) line.append(s("text", { x: x + cell / 2, y: y + 19, "font-size": 11.5, "text-anchor": "middle",
        fill: strong ? "var(--card)" : null, class: strong ? "on" : "soft" }, fixed(value, digits)));
    });
    if (i === chosen) line.append(s("rect", { x: side, y, width: cell * columns.length, height: tall, fill: "none", stroke: "var(--accent)", "stroke-width": 1.5 }));
    svg.append(line);
  });
  return svg;
}
