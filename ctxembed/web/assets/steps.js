// The attention equation step by step, with the numbers of one head.
const STEPS = [
  ["q and k", (t) => `${t} has a query q, and each word has a key k. One square is one number.`],
  ["q·k", (t) => `How well does each key match the query of ${t}? Multiply number by number and add.`],
  ["score", () => "Multiply by the scale, then add terms that do not depend on the meaning: distance, frequency, and clause borders between the words."],
  ["softmax", () => "Raise e to each score and divide by the sum of all: the weights are positive and add up to 1."],
  ["v", () => "Each value v is multiplied by its weight."],
  ["sum", (t) => `Add all weighted values and the part that stays of ${t} itself: the vector of ${t} in this sentence.`],
];
const ADDED = { distance: "distance", word: "the word itself", wall: "clause borders" };

function drawStrip(numbers, high, shade = 1) {
  if (numbers.length <= 5) return h("span", null, `[${numbers.map((n) => fixed(n * shade)).join(", ")}]`);
  const wide = Math.max(1.2, (cardWidth(true) < 1000 ? 130 : 190) / numbers.length);
  return s("svg", { class: "strip", viewBox: `0 0 ${numbers.length * wide} 14`, width: numbers.length * wide, height: 14, "aria-hidden": "true" },
    numbers.map((n, i) => s("rect", { x: i * wide, y: 0, width: wide + 0.2, height: 14, fill: tint((n * shade) / high) })),
    s("rect", { x: 0.5, y: 0.5, width: numbers.length * wide - 1, height: 13, fill: "none", class: "axis" }));
}

function drawSteps(answer, target, now, go) {
  const rows = answer.records();
  const of = (step) => rows.filter((row) => row.step === step);
  const one = (step) => of(step)[0];
  const tokens = of("k").map((row) => [row.token, row.position]);
  const terms = [...new Set(rows.map((row) => row.step))].filter((step) => !["x", "q", "k", "dot", "scale", "score", "weight", "v", "own", "output"].includes(step));
  const value = (step, position) => of(step).find((row) => row.position === position);
  const largest = (step) => Math.max(1e-9, ...of(step).flatMap((row) => row.vector.map(Math.abs)));
  const [qs, ks, vs] = [largest("q"), largest("k"), largest("v")];
  const total = of("v").reduce((sum, row) => sum.map((n, i) => n + row.vector[i] * value("weight", row.position).value), one("v")?.vector.map(() => 0) ?? []);
  const part = (step, ...text) => h("button", { type: "button", class: `${step <= now ? "open" : ""} ${step === now ? "now" : ""}`, "data-key": `part-${step}`, title: STEPS[step - 1][0], onclick: () => go(step) }, text);
  const powers = of("score").reduce((sum, row) => sum + Math.exp(row.value), 0);
  const heaviest = Math.max(...of("weight").map((row) => row.value));
  const weighted = (v, weight) => (v.length <= 5 ? drawStrip(v, 1, weight) : drawStrip(v, vs, weight / heaviest));
  const columns = [
    [1, "k", (at) => drawStrip(value("k", at).vector, ks)],
    [2, "q·k", (at) => number(value("dot", at).value, `q·k: ${product(one("q").vector, value("k", at).vector)}`)],
    [3, "× scale", (at) => number(value("scale", at).value)],
    ...terms.map((term) => [3, `+ ${ADDED[term] ?? term}`, (at) => number(value(term, at).value)]),
    [3, "= score", (at) => number(value("score", at).value, [`${fixed(value("dot", at).value)} × ${fixed(value("scale", at).value)}`, ...terms.map((term) => fixed(value(term, at).value))].join(" + "),
      terms.reduce((sum, term) => sum + rounded(value(term, at).value), rounded(value("dot", at).value) * rounded(value("scale", at).value)))],
    [4, "eˢᶜᵒʳᵉ", (at) => power(value("score", at).value, `e to the power of ${fixed(value("score", at).value)}`)],
    [4, "÷ sum", (at) => weightBar(value("weight", at).value, `${power(value("score", at).value).textContent} ÷ ${power(Math.log(powers)).textContent}`,
      Number(power(value("score", at).value).textContent) / Number(power(Math.log(powers)).textContent))],
    [5, "v · weight", (at) => weighted(value("v", at).vector, value("weight", at).value)],
  ].filter(([step]) => (cardIsNarrow(true) ? step === Math.min(now, 5) : step <= now)); // a phone shows one step
  const scores = [part(3, "scale · "), part(2, h("i", null, "q·k"), h("sub", null, "j")), terms.map((term) => part(3, " + ", ADDED[term] ?? term))];
  return [
    h("div", { class: "equation" }, part(6, h("i", null, target), " = stays + "), part(6, "Σ", h("sub", null, "j")), " ", part(4, "softmax("), scores, part(4, ")"), " · ", part(5, h("i", null, "v"), h("sub", null, "j"))),
    h("p", { class: "plain", "aria-live": "polite" }, h("b", null, `${now}. ${STEPS[now - 1][0]}. `), STEPS[now - 1][1](target)),
    h("div", { class: "controls" },
      h("button", { type: "button", "data-key": "step-back", disabled: now === 1, onclick: () => go(now - 1) }, "back"),
      h("button", { type: "button", "data-key": "step-next", disabled: now === STEPS.length, onclick: () => go(now + 1) }, "next step"),
      h("span", { class: "hint" }, `step ${now} of ${STEPS.length}`)),
    h("div", { class: "scroll" }, h("table", { class: "steps" },
      h("thead", null, h("tr", null, h("th", null, ""), columns.map(([step, name]) => h("th", { scope: "col", class: step === now ? "now" : null }, name)))),
      h("tbody", null,
        h("tr", null, h("td", null, h("b", null, target), " asks"), h("td", { colspan: columns.length }, "q ", drawStrip(one("q").vector, qs))),
        tokens.map(([token, at]) => h("tr", { "data-token": token }, h("td", null, token), columns.map(([step, , cell]) => h("td", { class: step === now ? "now" : null }, cell(at))))),
        now >= 4 && h("tr", null, h("td", null, "sum"), columns.map(([step, name]) => h("td", null,
          name === "eˢᶜᵒʳᵉ" ? power(Math.log(powers)) : step === 4 ? fixed(of("weight").reduce((sum, row) => sum + row.value, 0)) : step === 5 ? drawStrip(total, Math.max(1e-9, ...total.map(Math.abs))) : ""))),
        now >= 6 && [["own", "stays of the word"], ["output", "output, all heads"]].map(([step, name]) =>
          h("tr", null, h("td", null, name), h("td", { colspan: columns.length }, drawStrip(one(step).vector, Math.max(1e-9, ...one(step).vector.map(Math.abs)))))))))];
}

// e raised to a number: with two digits, or as a power of ten where it is large.
function power(exponent, how = null) {
  const value = Math.exp(exponent);
  return value < 10_000 ? number(value, how, Math.exp(rounded(exponent))) : h("span", { title: String(value) }, value.toExponential(2));
}

// A dot product as a sum: of short vectors with its numbers.
function product(q, k) {
  return q.length > 5 ? "multiply number by number and add" : q.map((n, i) => `${fixed(n)} · ${fixed(k[i])}`).join(" + ");
}

function weightBar(weight, how, shown) {
  return h("span", null, s("svg", { class: "strip", viewBox: "0 0 60 12", width: 60, height: 12, "aria-hidden": "true" },
    s("rect", { class: "track", width: 60, height: 12, rx: 3 }), s("rect", { class: "fill", width: 60 * weight, height: 12, rx: 3 })), " ", number(weight, how, shown));
}
