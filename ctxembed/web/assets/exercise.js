// Exercises: some numbers of a card are hidden where they stand; the student types them and is told.
const HIDDEN = 4; // numbers of an exercise
const WITHIN = 0.0151; // of the number: one more or less in the second digit is right

class Exercise {
  constructor() {
    this.root = h("div", { class: "exercise" });
    this.stop();
  }

  stop() {
    Object.assign(this, { seed: null, typed: new Map(), card: null });
    redraw(this.root, h("button", { type: "button", "data-key": "hide-numbers", onclick: () => this.start(1) }, "Exercise: hide numbers"));
  }

  get running() {
    return this.seed !== null;
  }

  start(seed) {
    Object.assign(this, { seed, typed: new Map() });
    soon(); // the numbers are drawn again, then hidden
  }

  // Hide numbers of the card that the chapter points at; called whenever the page is drawn.
  hide(card) {
    if (!this.running || !card) return;
    const found = [...card.body.querySelectorAll("[data-how]")].filter((one) => Math.abs(Number(one.dataset.value)) >= 0.005);
    const chosen = shuffled(found.length, this.seed).slice(0, HIDDEN).sort((a, b) => a - b);
    chosen.forEach((at, i) => this.cover(found[at], i));
    this.tell(chosen.length);
  }

  // Put an input in place of a number, in HTML or in SVG.
  cover(number, i) {
    const { value, shown = value, how } = number.dataset, before = this.typed.get(i);
    const input = h("input", { class: "hidden-number", inputmode: "decimal", size: 5, "aria-label": `hidden number ${i + 1}`, "data-key": `hidden-${i}`, value: before?.text ?? "",
      placeholder: "?", onclick: (event) => event.stopPropagation(), onchange: (event) => this.check(i, event.target, [Number(value), Number(shown)], how),
      onkeydown: (event) => { event.stopPropagation(); if (event.key === "Enter") this.check(i, event.target, [Number(value), Number(shown)], how); } });
    if (before) input.classList.add(before.right ? "right" : "wrong");
    if (!(number instanceof SVGElement)) return number.replaceWith(input);
    const box = number.getBBox();
    const frame = s("foreignObject", { x: box.x + box.width / 2 - 25, y: box.y - 4, width: 50, height: 24, "data-tool": "" });
    frame.append(input);
    number.replaceWith(frame);
  }

  // values: the number, and what comes out with the rounded numbers that are shown; both are right.
  check(i, input, values, how) {
    const text = input.value.trim();
    if (!text) return;
    const right = values.some((value) => Math.abs(typedNumber(text) - value) <= WITHIN);
    this.typed.set(i, { text, right, value: values[0], how });
    input.classList.toggle("right", right);
    input.classList.toggle("wrong", !right);
    this.tell();
  }

  tell(number = this.number ?? 0) {
    this.number = number;
    const all = [...this.typed.entries()].sort(([a], [b]) => a - b);
    const right = all.filter(([, one]) => one.right).length;
    redraw(this.root,
      h("p", { role: "status" }, number ? `${right} of ${number} numbers right. Type each hidden number with two digits.` : "There is no number to hide here."),
      all.map(([i, one]) => h("p", { class: one.right ? "plain good" : "plain bad" }, `${i + 1}. ${one.text}: ${one.right ? "right" : "not yet"}. ${one.how}`, one.right ? ` = ${fixed(one.value)}` : "")),
      h("div", { class: "controls" },
        h("button", { type: "button", "data-key": "other-numbers", onclick: () => this.start(this.seed + 1) }, "other numbers"),
        h("button", { type: "button", "data-key": "show-numbers", onclick: () => { this.stop(); soon(); } }, "show all")));
  }
}

// 0.25, 0,25, 1/4 and 25 % are the same, as in the quiz of the terminal.
function typedNumber(text) {
  const [above, below = 1] = text.replaceAll(",", ".").replace("−", "-").replace(/%$/, "").split("/").map(Number);
  return above / below / (text.endsWith("%") ? 100 : 1);
}

// The numbers from 0 to n - 1 in an order that the seed decides.
function shuffled(n, seed) {
  const order = Array.from({ length: n }, (_, i) => i);
  let now = seed * 2654435761 % 4294967296;
  for (let i = n - 1; i > 0; i--) {
    now = (now * 1664525 + 1013904223) % 4294967296;
    const j = Math.floor((now / 4294967296) * (i + 1));
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}

const exercise = new Exercise();
