// What each word is worth: how far the vector moves when it is taken away, beside its weight.
function drawWorth(rows, take, width) {
  const side = Math.min(130, Math.max(60, ...rows.map((row) => measure(row.removed, 14) + 14)));
  const tall = 26, long = (width - side - 20) / 2;
  const high = Math.max(0.05, ...rows.map((row) => row.change));
  const height = 26 + tall * rows.length;
  const svg = s("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": "change and weight of each context word" },
    s("text", { class: "soft", x: side, y: 14, "font-size": 12 }, "weight"),
    s("text", { class: "soft", x: side + long + 20, y: 14, "font-size": 12 }, "change without it"));
  rows.forEach((row, i) => {
    const y = 24 + tall * i;
    svg.append(s("g", { class: take ? "word" : null, role: take ? "button" : null, tabindex: take ? 0 : null, "data-key": `worth-${i}`,
      "aria-label": `${row.removed}, weight ${fixed(row.weight)}, change ${fixed(row.change)}`, onclick: () => take?.(row),
      onkeydown: (event) => (event.key === "Enter" || event.key === " ") && (event.preventDefault(), take?.(row)) },
      s("rect", { class: "box", x: 2, y: y - 2, width: width - 4, height: tall - 2, rx: 4 }),
      s("text", { x: side - 10, y: y + 14, "font-size": 14, "text-anchor": "end" }, row.removed),
      s("rect", { class: "fill", x: side, y: y + 3, width: Math.max(0.5, (long - 44) * row.weight), height: 14, rx: 2, opacity: 0.55 }),
      s("text", { class: "soft", x: side + (long - 44) * row.weight + 6, y: y + 14, "font-size": 12 }, fixed(row.weight)),
      s("rect", { x: side + long + 20, y: y + 3, width: Math.max(0.5, ((long - 64) * row.change) / high), height: 14, rx: 2, fill: "var(--c1)" }),
      s("text", { class: "soft", x: side + long + 26 + ((long - 64) * row.change) / high, y: y + 14, "font-size": 12 }, fixed(row.change, 3))));
  });
  return svg;
}
