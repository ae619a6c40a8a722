// The sentence: words shaded by a number, with arcs from the target to the other words.
// layout: a row for the drawing, then a box for each word. words: [{written, tail, known, gone, value}].
// value: the contribution or the weight of a word, as state.draw says; of those below 0 another colour.
// others: the words of a second sentence that the target looks at. target: index or null.
// on: handlers of a click, a key or a drag; a missing handler disables the action.
function drawSentence({ layout, words, others = null, target, on, chosen }) {
  const [whole, ...boxes] = layout.records();
  const { width, size } = whole, rtl = whole.arc === "rtl", seen = others ?? words;
  const down = Boolean(others) || boxes.some((box) => box.y !== boxes[0].y);
  const height = whole.height + (down ? 0 : on.bars ? 80 : 26);
  const svg = s("svg", { class: "words", viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "data-caption": CAPTIONS[state.hand ? "weight" : state.draw],
    "aria-label": `The sentence; ${target === null ? "no word" : words[target].written} looks at the ${others ? "other" : "others"}` });
  const box = (i) => boxes[others ? words.length + i : i];
  const order = seen.map((_, i) => i).sort((a, b) => Math.abs(seen[a].value ?? 0) - Math.abs(seen[b].value ?? 0));
  if (target !== null) for (const i of order) {
    const { value, gone } = seen[i], size = Math.abs(value ?? 0);
    if (!size || gone || !box(i)?.arc) continue;
    svg.append(s("path", { class: value < 0 ? "arc minus" : "arc", d: box(i).arc, "stroke-width": Math.max(0.5, 16 * size).toFixed(2),
      opacity: Math.min(1, 0.3 + size).toFixed(2), "data-value": value }));
  }
  const shared = { rtl, size, width, down };
  words.forEach((word, i) => svg.append(...drawWord(others ? { ...word, value: null } : word, i, boxes[i], { ...shared, target, on, chosen, words })));
  others?.forEach((word, i) => svg.append(...drawWord(word, `other-${i}`, box(i), { ...shared, target: null, on: {}, chosen: null, words: others })));
  return svg;
}

const CAPTIONS = {
  contribution: "contribution: how much of the vector comes from a word",
  weight: "weight: how much attention looks at a word, though it may add little",
};

// How the numbers below the words are worked out.
const HOW = {
  weight: "Softmax of the scores: e to the score, divided by the sum of all; of several heads, the mean",
  contribution: "The weight times how far the word's value points along the new vector; all of them sum to 1",
  hand: "All weights sum to 1: subtract the others from 1",
};

function drawWord(word, i, { x, y, width: w, height: high }, { rtl, size, width, down, target, on, chosen, words }) {
  const kind = ["word", i === target && "target", !word.known && "unknown", word.gone && "gone"].filter(Boolean).join(" ");
  const status = word.gone ? "removed" : !word.known ? "not in the vocabulary"
    : i === target ? "the target" : word.value === null ? "" : `${word.byHand === undefined ? "weight" : state.draw} ${fixed(word.value)}`;
  const can = word.known && word.can !== false && (on.choose || word.gone);
  const letters = { y: y + high / 2 + size / 3, "font-size": size, direction: rtl ? "rtl" : null };
  const group = s("g", { class: kind, role: can ? "button" : null, tabindex: can ? 0 : null, "data-key": `word-${i}`, "data-word": can && !word.gone ? i : null,
    "aria-label": [word.written, status].filter(Boolean).join(", "), "aria-pressed": can ? String(i === chosen) : null,
    onclick: () => (word.gone ? on.take?.(i) : can && on.choose(i)),
    onkeydown: (event) => onKey(event, i, word, on, words) },
    s("title", null, [word.written, status].filter(Boolean).join(": ")),
    s("rect", { class: word.value < 0 ? "shade minus" : "shade", x, y, width: w, height: high, rx: 5, opacity: word.gone || i === target ? 0 : (0.62 * Math.min(1, Math.abs(word.value ?? 0))).toFixed(3) }),
    s("rect", { class: "box", x, y, width: w, height: high, rx: 5 }),
    s("text", { x: x + w / 2, "text-anchor": "middle", ...letters }, word.written));
  return [
    group,
    on.take && word.known && !word.gone && i !== chosen && takeButton(word, i, x + w - 3, y + 2, on),
    word.tail && !down && s("text", { class: "soft", x: rtl ? x : x + w, "text-anchor": "start", ...letters }, word.tail),
    word.value !== null && !word.gone && gauge(word, i, { x, y, w, high, down, width }, rtl, i === target ? { bars: on.bars } : on), // the target's own weight cannot be dragged
  ].filter(Boolean);
}

function takeButton(word, i, x, y, on) {
  return s("g", { class: "take", role: "button", "aria-label": `remove ${word.written}`, "data-tool": "", "data-key": `take-${i}`, onclick: () => on.take(i) },
    s("title", null, `remove ${word.written} (Delete)`),
    s("circle", { cx: x, cy: y, r: 8 }), s("text", { x, y: y + 4, "font-size": 12, "text-anchor": "middle" }, "×"));
}

// The number of a word, and a bar; the bar of a weight can be dragged.
function gauge(word, i, { x, y, w, high, down, width }, rtl, on) {
  const size = Math.min(1, Math.abs(word.value)), long = down ? 84 : 44;
  const [left, top] = down ? [rtl ? 34 : width - 118, y + 11] : [x + w / 2 - 4, y + high + 22];
  const place = down ? { x: rtl ? 2 : width - 2, y: y + 20, "text-anchor": rtl ? "start" : "end" } : { x: x + w / 2, y: y + high + 16, "text-anchor": "middle" };
  const group = s("g", { class: word.byHand ? "byhand" : null }, s("text", { class: "soft", "font-size": 12, "data-number": i, "data-value": word.value, "data-how": word.how ?? HOW[state.hand ? "hand" : state.draw], ...place }, s("title", null, fixed(word.value, 5)), fixed(word.value)));
  if (!down && !on.bars) return group;
  const bar = (name, part, from) => s("rect", { class: name, rx: 4, "data-tool": down ? null : "",
    ...(down ? { x: left + from, y: top, width: part, height: 8 } : { x: left, y: top + from, width: 8, height: part }) });
  group.append(bar("track", long, 0), bar(word.value < 0 ? "fill minus" : "fill", long * size, down && !rtl ? 0 : long * (1 - size)));
  if (!on.weigh) return group;
  const area = down ? { x: left - 6, y: y + 2, width: long + 12, height: 26 } : { x: left - 8, y: top - 6, width: 24, height: long + 12 };
  group.append(grip(area, word, i, on, (event, held) => {
    const part = ((down ? event.clientX - held.left : event.clientY - held.top) - 6 * held.scale) / (long * held.scale);
    return down && !rtl ? part : 1 - part;
  }));
  return group;
}

function grip(box, word, i, on, read) {
  let held = null;
  const move = (event) => held && on.weigh(i, Math.min(1, Math.max(0, read(event, held))));
  return s("rect", { ...box, class: "grip", "data-tool": "", "data-grip": i, role: "slider", "aria-label": `weight of ${word.written}`,
    "aria-valuemin": 0, "aria-valuemax": 1, "aria-valuenow": fixed(word.value),
    onpointerdown: (event) => {
      const seen = event.currentTarget.getBoundingClientRect();
      held = { left: seen.left, top: seen.top, scale: seen.width / box.width };
      event.preventDefault();
      const up = () => { held = null; removeEventListener("pointermove", move); removeEventListener("pointerup", up); };
      addEventListener("pointermove", move); // the rectangle is replaced while it moves
      addEventListener("pointerup", up);
      move(event);
    } }, s("title", null, `drag to give ${word.written} another weight (+ and − keys)`));
}

function onKey(event, i, word, on, words) {
  const known = words.map((_, j) => j).filter((j) => words[j].known && words[j].can !== false);
  const go = (step) => {
    const next = known[known.indexOf(i) + step];
    document.querySelectorAll(`[data-key="word-${next}"]`).forEach((e) => {
      if (e.ownerSVGElement === event.currentTarget.ownerSVGElement) e.focus();
    });
  };
  const forward = document.dir === "rtl" ? -1 : 1;
  const keys = {
    Enter: () => (word.gone ? on.take?.(i) : on.choose?.(i)), " ": () => (word.gone ? on.take?.(i) : on.choose?.(i)),
    Delete: () => on.take?.(i), Backspace: () => on.take?.(i),
    ArrowRight: () => go(forward), ArrowLeft: () => go(-forward), ArrowDown: () => go(1), ArrowUp: () => go(-1),
    "+": () => on.weigh?.(i, Math.min(1, (word.value ?? 0) + 0.05)), "-": () => on.weigh?.(i, Math.max(0, (word.value ?? 0) - 0.05)),
  };
  if (!keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
}
