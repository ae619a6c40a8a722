// Two sequences: a word of the one on the left looks at all words of the one on the right.
function drawCross({ words, target, others, rtl, width, on, chosen }) {
  const size = 18, row = 36, wide = Math.min(width, 640);
  const room = (list) => Math.max(40, ...list.map((word) => measure(word.written, size, 650) + 14));
  const left = Math.min(room(words), wide * 0.34), right = Math.min(room(others), wide * 0.34);
  const end = wide, gap = 8, from = left, to = wide - 34 - 84 - gap - right;
  const height = row * Math.max(words.length, others.length) + 8;
  const at = (x) => (rtl ? wide - x : x);
  const offset = (list) => (height - row * list.length) / 2;
  const svg = s("svg", { viewBox: `0 0 ${wide} ${height}`, width: wide, height, role: "group",
    "aria-label": `Two sequences; ${target === null ? "no word" : words[target].written} looks at the other` });
  const y = (list, i) => offset(list) + row * i + 3;
  const order = others.map((_, i) => i).sort((a, b) => (others[a].weight ?? 0) - (others[b].weight ?? 0));
  if (target !== null) for (const i of order) {
    const weight = others[i].weight;
    if (weight === null || weight <= 0) continue;
    const [a, b, middle] = [y(words, target) + 15, y(others, i) + 15, at((from + to) / 2)];
    svg.append(s("path", { class: "arc", d: `M${at(from)},${a}C${middle},${a} ${middle},${b} ${at(to)},${b}`,
      "stroke-width": Math.max(0.5, 16 * weight).toFixed(2), opacity: Math.min(1, 0.3 + weight).toFixed(2), "data-weight": weight }));
  }
  const place = (list, i, x, w) => ({ x, y: y(list, i), w, h: 30, down: false, end });
  const fit = (word, most) => Math.min(most, Math.max(40, measure(word.written, size, 650) + 14));
  words.forEach((word, i) => {
    const w = fit(word, left);
    svg.append(...drawWord({ ...word, weight: null }, i, place(words, i, from - w, w), { at, target, rtl, on, chosen, words, size }));
  });
  others.forEach((word, i) => svg.append(...drawWord(word, `other-${i}`, place(others, i, to, fit(word, right)), { at, target: null, rtl, on: {}, chosen: null, words: others, size })));
  return svg;
}

function overInput() {
  return h("div", { class: "sentence-input" },
    h("input", { value: state.over, "data-key": "input-over", "aria-label": "the sentence it looks at", dir: "auto", maxlength: 2000, spellcheck: "false", autocomplete: "off",
      placeholder: "looks at this sentence: cross-attention", ...typing(120, (event) => change({ over: event.target.value })) }),
    h("button", { type: "button", "aria-label": "remove the sentence it looks at", onclick: () => change({ over: null }) }, "×"));
}

// The other sequence, as far as it can be read.
async function readOther() {
  const words = (await ask("words", { sentence: state.over, vectors: state.vectors ?? undefined })).records();
  const real = words.map((_, j) => j).filter((j) => words[j].written);
  return real.some((j) => words[j].known) ? { words, real } : null;
}
