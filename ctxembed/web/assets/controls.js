// Controls: attention, head, temperature.
function controls(read) {
  const heads = read?.answer ? numbersOf(read.answer, read, state.sentences[state.focus].gone, "mean").heads : [];
  const button = (name, value) => h("button", { type: "button", "aria-pressed": String(value === state.head), "data-key": `head-${value}`, onclick: () => change({ head: value, weights: {} }) }, name);
  const temperature = Number((state.general ?? "").split(":")[1] ?? 6);
  return h("div", { class: "controls" },
    !state.vectors && attentions().length > 1 && h("label", null, "attention ",
      h("select", { "data-key": "attention", onchange: (event) => change({ attention: event.target.value, head: "mean", weights: {}, general: null }) },
        attentions().map((name) => h("option", { value: name, selected: name === attention() }, name)))),
    heads.length > 1 && h("span", { class: "group", role: "group", "aria-label": "head" }, "head ", button(state.draw === "weight" ? "mean" : "all", "mean"), heads.map((head) => button(head, head))),
    read?.answer && !state.hand && h("span", { class: "group", role: "group", "aria-label": "what is drawn" }, "draw ", ["contribution", "weight"].map((name) =>
      h("button", { type: "button", "aria-pressed": String(name === state.draw), "data-key": `draw-${name}`, onclick: () => change({ draw: name }) }, name))),
    DATA.live && attention() === "general" && !state.vectors && h("label", { title: "what the cosines are multiplied by: at 0 all words weigh the same" }, "temperature ",
      h("input", { type: "range", min: 0, max: 20, step: 0.5, value: temperature, "data-key": "temperature", "aria-label": "temperature",
        oninput: (event) => change({ general: `cosine:${event.target.value}`, weights: {} }) }), h("output", null, temperature)),
    state.vectors && h("span", { class: "hint" }, `worked example: ${state.vectors}`),
    read?.answer && h("p", { class: "hint apart" }, h("b", null, "contribution"), " how much of the vector comes from a word · ", h("b", null, "weight"), " how much attention looks at it, though it may add little"));
}
