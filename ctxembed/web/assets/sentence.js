// The sentence: its words, shaded by weight, with an arc from the word that looks to those it sees.
// words: [{written, tail, known, gone, weight}], target: place or null,
// on: what a click, a hover, a key or a drag does; what is missing cannot be done.
function drawSentence({ words, target, rtl, width, on, chosen }) {
  // As large as the row has room for; a sentence longer than a row goes down the page.
  const plans = [24, 21, 18].map((size) => plan(words, size));
  const fits = plans.find((one) => one.total <= width);
  const size = fits?.size ?? 18;
  const drawn = fits ? flow(words, fits, Boolean(on.weigh)) : stack(words, plans[2].wide, Math.max(280, width));
  const at = (x) => (rtl ? drawn.width - x : x);
  const label = `The sentence; ${target === null ? "no word" : words[target].written} looks at the others`;
  const svg = s("svg", { viewBox: `0 0 ${drawn.width} ${drawn.height}`, width: drawn.width, height: drawn.height,
    role: "group", "aria-label": label });
  const order = words.map((_, i) => i).sort((a, b) => (words[a].weight ?? 0) - (words[b].weight ?? 0));
  if (target !== null) for (const i of order) {
    const weight = words[i].weight;
    if (i === target || weight === null || weight <= 0 || words[i].gone) continue;
    svg.append(s("path", { class: "arc", d: drawn.arc(target, i, at), "stroke-width": Math.max(0.5, 16 * weight).toFixed(2),
      opacity: Math.min(1, 0.3 + weight).toFixed(2), "data-weight": weight }));
  }
  words.forEach((word, i) => svg.append(...drawWord(word, i, drawn.places[i], { at, target, rtl, on, chosen, words, size })));
  return svg;
}

function plan(words, size) {
  const wide = words.map((word) => Math.max(40, measure(word.written, size, 650) + 14));
  const tails = words.map((word) => (word.tail ? measure(word.tail, size) : 0) + size / 2.5);
  return { size, wide, tails, total: wide.reduce((a, b) => a + b, 0) + tails.reduce((a, b) => a + b, 0) };
}

// Words in a row, arcs above them.
function flow(words, { wide, tails, total }, weigh) {
  const reach = Math.min(150, 50 + total / 10);
  const places = [];
  let x = 0;
  words.forEach((_, i) => {
    places.push({ x, y: reach, w: wide[i], h: 36, down: true });
    x += wide[i] + tails[i];
  });
  const middle = (i, at) => at(places[i].x + places[i].w / 2);
  return {
    width: Math.ceil(total), height: reach + 36 + (weigh ? 80 : 26), places,
    arc: (from, to, at) => {
      const [a, b] = [middle(from, at), middle(to, at)];
      const top = reach - Math.min(reach - 8, 16 + 0.3 * Math.abs(b - a)) * 1.28;
      return `M${a},${reach - 3}C${a},${top} ${b},${top} ${b},${reach - 3}`;
    },
  };
}

// Words one below the other, where a row has no room for them; arcs beside them.
function stack(words, wide, most) {
  const width = Math.min(most, 560);
  const side = 74, row = 36;
  const places = words.map((_, i) => ({ x: side, y: 4 + i * row, w: Math.min(wide[i], width - side - 120), h: 30, down: false, end: width }));
  const middle = (i) => places[i].y + 15;
  return {
    width, height: words.length * row + 8, places,
    arc: (from, to, at) => {
      const [a, b] = [middle(from), middle(to)];
      const out = at(side - 4 - Math.min(side - 10, 12 + 0.35 * Math.abs(b - a)) * 1.25);
      return `M${at(side - 3)},${a}C${out},${a} ${out},${b} ${at(side - 3)},${b}`;
    },
  };
}

function drawWord(word, i, place, { at, target, rtl, on, chosen, words, size }) {
  const { x, y, w, h: high } = place;
  const left = rtl ? at(x + w) : x;
  const kind = ["word", i === target && "target", !word.known && "unknown", word.gone && "gone"].filter(Boolean).join(" ");
  const told = word.gone ? "taken away" : !word.known ? "the model does not know it"
    : i === target ? "the word that looks" : word.weight === null ? "" : `weight ${fixed(word.weight)}`;
  const can = word.known && word.can !== false && (on.choose || word.gone);
  const group = s("g", { class: kind, role: can ? "button" : null, tabindex: can ? 0 : null, "data-key": `word-${i}`, "data-word": can && !word.gone ? i : null,
    "aria-label": [word.written, told].filter(Boolean).join(", "), "aria-pressed": can ? String(i === chosen) : null,
    onclick: () => (word.gone ? on.take?.(i) : can && on.choose(i)),
    onkeydown: (event) => onKey(event, i, word, on, words) },
    s("title", null, [word.written, told].filter(Boolean).join(": ")),
    s("rect", { class: "shade", x: left, y, width: w, height: high, rx: 5, opacity: word.gone || i === target ? 0 : (0.62 * Math.min(1, word.weight ?? 0)).toFixed(3) }),
    s("rect", { class: "box", x: left, y, width: w, height: high, rx: 5 }),
    s("text", { x: left + w / 2, y: y + high / 2 + size / 3, "font-size": size, "text-anchor": "middle", direction: rtl ? "rtl" : null }, word.written));
  const beside = [group];
  const takes = on.take && word.known && !word.gone && i !== chosen;
  if (takes) beside.push(takeButton(word, i, left + w - 3, y + 2, on));
  if (word.tail && place.down) {
    beside.push(s("text", { class: "soft", x: at(x + w), y: y + high / 2 + size / 3, "font-size": size, "text-anchor": "start", direction: rtl ? "rtl" : null }, word.tail));
  }
  if (word.weight !== null && !word.gone) beside.push(gauge(word, i, place, left, at, rtl, i === target ? {} : on)); // its own: a number
  return beside;
}

function takeButton(word, i, x, y, on) {
  return s("g", { class: "take", role: "button", "aria-label": `take ${word.written} away`, "data-tool": "", "data-key": `take-${i}`, onclick: () => on.take(i) },
    s("title", null, `take ${word.written} away (Delete)`),
    s("circle", { cx: x, cy: y, r: 8 }), s("text", { x, y: y + 4, "font-size": 12, "text-anchor": "middle" }, "×"));
}

// The weight as a number and a bar that can be dragged.
function gauge(word, i, place, left, at, rtl, on) {
  const { y, w, h: high, down, end } = place;
  const weight = Math.min(1, word.weight);
  const text = fixed(word.weight);
  const group = s("g", { class: word.byHand ? "byhand" : null });
  if (down) {
    const middle = left + w / 2, top = y + high + 22, tall = 44;
    group.append(s("text", { class: "soft", x: middle, y: y + high + 16, "font-size": 12, "text-anchor": "middle" }, text));
    if (on.weigh) group.append(
      s("rect", { class: "track", x: middle - 4, y: top, width: 8, height: tall, rx: 4, "data-tool": "" }),
      s("rect", { class: "fill", x: middle - 4, y: top + tall * (1 - weight), width: 8, height: tall * weight, rx: 4, "data-tool": "" }),
      grip({ x: middle - 12, y: top - 6, width: 24, height: tall + 12 }, word, i, on, (event, box) => 1 - (event.clientY - box.top - 6 * box.scale) / (tall * box.scale)));
  } else {
    const long = 84, from = end - long - 34;
    const x = rtl ? at(from + long) : from;
    group.append(
      s("text", { class: "soft", x: at(end - 2), y: y + 20, "font-size": 12, "text-anchor": rtl ? "start" : "end" }, text),
      s("rect", { class: "track", x, y: y + 11, width: long, height: 8, rx: 4 }),
      s("rect", { class: "fill", x: rtl ? x + long * (1 - weight) : x, y: y + 11, width: long * weight, height: 8, rx: 4 }));
    if (on.weigh) group.append(grip({ x: x - 6, y: y + 2, width: long + 12, height: 26 }, word, i, on, (event, box) => {
      const share = (event.clientX - box.left - 6 * box.scale) / (long * box.scale);
      return rtl ? 1 - share : share;
    }));
  }
  return group;
}

function grip(box, word, i, on, read) {
  let held = null;
  const move = (event) => held && on.weigh(i, Math.min(1, Math.max(0, read(event, held))));
  return s("rect", { ...box, class: "grip", "data-tool": "", "data-grip": i, role: "slider", "aria-label": `weight of ${word.written}`,
    "aria-valuemin": 0, "aria-valuemax": 1, "aria-valuenow": fixed(word.weight),
    onpointerdown: (event) => {
      const seen = event.currentTarget.getBoundingClientRect();
      held = { left: seen.left, top: seen.top, scale: seen.width / box.width };
      event.preventDefault();
      const up = () => { held = null; removeEventListener("pointermove", move); removeEventListener("pointerup", up); };
      addEventListener("pointermove", move); // the rectangle itself is drawn anew while it moves
      addEventListener("pointerup", up);
      move(event);
    } }, s("title", null, `drag to give ${word.written} another weight (+ and − keys)`));
}

function onKey(event, i, word, on, words) {
  const places = words.map((_, j) => j).filter((j) => words[j].known && words[j].can !== false);
  const go = (step) => {
    const next = places[places.indexOf(i) + step];
    document.querySelectorAll(`[data-key="word-${next}"]`).forEach((e) => {
      if (e.ownerSVGElement === event.currentTarget.ownerSVGElement) e.focus();
    });
  };
  const forward = document.dir === "rtl" ? -1 : 1;
  const keys = {
    Enter: () => (word.gone ? on.take?.(i) : on.choose?.(i)), " ": () => (word.gone ? on.take?.(i) : on.choose?.(i)),
    Delete: () => on.take?.(i), Backspace: () => on.take?.(i),
    ArrowRight: () => go(forward), ArrowLeft: () => go(-forward), ArrowDown: () => go(1), ArrowUp: () => go(-1),
    "+": () => on.weigh?.(i, Math.min(1, (word.weight ?? 0) + 0.05)), "-": () => on.weigh?.(i, Math.max(0, (word.weight ?? 0) - 0.05)),
  };
  if (!keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
}
