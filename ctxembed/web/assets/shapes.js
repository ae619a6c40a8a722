// Pictures: Python computes every coordinate, the page creates the elements and adds clicks.
const cardIsNarrow = (wide) => cardWidth(wide) < (wide ? 600 : 450);

// A picture of an answer; `pick` makes its rows buttons, `chosen` is the row that is pressed. how: how its
// numbers are worked out, for an exercise.
function drawPicture(answer, title, { number = 0, pick = null, chosen = null, how = title } = {}) {
  const drawn = answer.pictures[number]?.[cardIsNarrow() && !DATA.live ? 1 : 0];
  if (!drawn) return null;
  const svg = s("svg", { class: "picture", viewBox: `0 0 ${drawn.width} ${drawn.height}`, width: drawn.width, height: drawn.height,
    role: pick ? "group" : "img", "aria-label": title });
  const named = new Set();
  for (const [tag, { "data-row": row, ...attributes }, text, tip] of drawn.marks) {
    const call = pick && row !== undefined && (() => pick(Number(row)));
    const button = call && tag === "text" && !named.has(row) && named.add(row) && {
      role: "button", tabindex: 0, "data-key": `${title}-${row}`, "aria-label": text, "aria-pressed": chosen === null ? null : String(Number(row) === chosen),
      onkeydown: (event) => (event.key === "Enter" || event.key === " ") && (event.preventDefault(), call()) };
    const shown = tag === "text" && attributes["text-anchor"] !== "end" && (attributes.class === "soft" ? /^-?\d\.\d\d$/ : /^-?\d+(\.\d\d)?$/).test(text) && { "data-value": text, "data-how": how };
    svg.append(s(tag, { ...attributes, ...button, ...shown, onclick: call, "data-row": row }, tip && s("title", null, tip), text));
  }
  return svg;
}

// The outline of the mark of a series around (x, y), and its colour, as in the pictures.
function outline(series, x, y, r) {
  const shape = DATA.shapes[(series + Math.floor(series / DATA.shapes.length)) % DATA.shapes.length];
  if (!shape.length) return `M${round(x - r)},${round(y)}a${r},${r} 0 1 0 ${2 * r},0a${r},${r} 0 1 0 ${-2 * r},0z`;
  return `M${shape.map(([dx, dy]) => `${round(x + r * dx)},${round(y + r * dy)}`).join("L")}z`;
}

const colour = (series) => `var(--c${series % 7})`;
const round = (value) => Math.round(value * 10) / 10;

function mark(series) {
  return s("svg", { class: "mark", viewBox: "0 0 14 14", "aria-hidden": "true" }, s("path", { d: outline(series, 7, 7, 5), fill: colour(series) }));
}

// The colour of a number from -1 to 1; zero is the background.
function tint(value) {
  const percent = Math.round(85 * Math.min(1, Math.abs(value)));
  return `color-mix(in srgb, var(--c${value < 0 ? 1 : 0}) ${percent}%, var(--card))`;
}
