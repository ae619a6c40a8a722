// Marks that differ by shape as well as by colour.
const SHAPES = {
  circle: (x, y, r) => `M${x - r},${y}a${r},${r} 0 1 0 ${2 * r},0a${r},${r} 0 1 0 ${-2 * r},0z`,
  square: (x, y, r) => `M${x - 0.88 * r},${y - 0.88 * r}h${1.76 * r}v${1.76 * r}h${-1.76 * r}z`,
  triangle: (x, y, r) => `M${x},${y - 1.15 * r}l${1.1 * r},${1.9 * r}h${-2.2 * r}z`,
  diamond: (x, y, r) => `M${x},${y - 1.3 * r}l${1.3 * r},${1.3 * r}l${-1.3 * r},${1.3 * r}l${-1.3 * r},${-1.3 * r}z`,
  down: (x, y, r) => `M${x},${y + 1.15 * r}l${1.1 * r},${-1.9 * r}h${-2.2 * r}z`,
  cross: (x, y, r) => `M${x - r},${y - r / 3}h${r * 2 / 3}v${-r * 2 / 3}h${r * 2 / 3}v${r * 2 / 3}h${r * 2 / 3}v${r * 2 / 3}h${-r * 2 / 3}v${r * 2 / 3}h${-r * 2 / 3}v${-r * 2 / 3}h${-r * 2 / 3}z`,
};
const ORDER = Object.keys(SHAPES);
const WAYS = ["static", "bag", "general", "learned"];

// The colours and shapes of the pictures that the commands draw, in the same order.
const wayNumber = (name) => (name === "by hand" ? 4 : WAYS.includes(name) ? WAYS.indexOf(name) : 5);
const wayShape = (name) => ORDER[wayNumber(name)];
const wayColour = (name) => `var(--c${wayNumber(name)})`;
const senseShape = (sense) => ORDER[(sense - 1) % 6];
const senseColour = (sense) => `var(--c${(sense - 1) % 6})`;

function mark(shape, colour) {
  return s("svg", { class: "mark", viewBox: "0 0 14 14", "aria-hidden": "true" },
    s("path", { d: SHAPES[shape](7, 7, 5), fill: colour }));
}

// A colour for a number from -1 to 1; zero has the colour of the paper.
function tint(value) {
  const share = Math.round(85 * Math.min(1, Math.abs(value)));
  return `color-mix(in srgb, var(--c${value < 0 ? 1 : 0}) ${share}%, var(--card))`;
}

// Round numbers between two ends, for the ticks of an axis.
function ticks(low, high, about = 5) {
  const rough = (high - low || 1) / about;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough);
  const made = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9; i++) made.push(Number((i * step).toPrecision(6)));
  return made;
}
