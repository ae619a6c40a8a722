// The card of the sentences: each with its words, its input, and what can be changed.
function drawSentences() {
  const live = DATA.live;
  const parts = state.sentences.map((one, i) => {
    const read = seen[i];
    const part = h("div", { class: "sentence", "data-sentence": i });
    if (live) part.append(inputOf(one, i), ...(state.over !== null ? [overInput()] : []));
    if (read?.unknown && read.layout) {
      part.append(...drawUnknown(read, i));
      return part;
    }
    if (!read || read.text === null || !read.answer) {
      part.append(h("p", { class: "hint" }, !one.text.trim() ? "type a sentence" : read?.text && state.over !== null ? "type the sentence it looks at"
        : "no word of this sentence is in the vocabulary"));
      return part;
    }
    const look = preview && preview[0] === i ? preview[2] : null;
    const target = look ? preview[1] : read.target;
    const gone = one.gone;
    const about = read.other ?? { ...read, target };
    const drawn = look ?? read.hand ?? read.answer, how = read.hand ? () => null : workedOut(drawn);
    const { values, heads, positions } = numbersOf(drawn, about, read.other ? [] : gone, state.head);
    const others = read.other?.real.map((j) => ({ ...read.other.words[j], tail: "", value: values[j], byHand: false, gone: false, known: Boolean(read.other.words[j].known) }));
    const words = read.real.map((j) => ({ can: DATA.live || kept.has(keyOf("explain", explainParameters(read.words[j].marked))),
      written: read.words[j].written, word: read.words[j].word, known: Boolean(read.words[j].known), gone: gone.includes(j), value: values[j], how: how(positions[j]),
      tail: (read.words[j + 1]?.before ?? "").trim(), byHand: i === state.focus && state.weights[j] !== undefined }));
    const at = (k) => read.real[k];
    const on = {
      choose: (k) => { preview = null; set(i, { target: at(k) }, { focus: i, weights: {} }); },
    };
    if (live && !others) Object.assign(on, {
      bars: true,
      take: (k) => takeAway(i, at(k)),
      weigh: state.draw === "weight" && ((k, weight) => { if (look) return; change({ focus: i, weights: { ...(i === state.focus ? state.weights : {}), [at(k)]: Math.round(weight * 100) / 100 } }); }),
    });
    const k = read.real.indexOf(target);
    part.append(drawSentence({ layout: look ? preview[3] : read.layout, words, others, target: k < 0 ? null : k, on, chosen: read.real.indexOf(read.target) }));
    if (read.layout.records()[0].arc === "rtl") part.lastChild.style.marginInlineStart = "auto";
    if (state.vectors && state.draw === "weight" && heads.length === 1 && target !== null && !exercise.running) part.append(recipe(others ?? words, words[k].written));
    part.append(h("div", { class: "definition", "data-definition": i, "aria-live": "polite" }, read.defined));
    return part;
  });
  const read = seen[state.focus];
  const svg = () => cards.sentences.body.querySelectorAll(".sentence svg")[state.focus] ?? null;
  cards.sentences.show(read?.answer ?? null, null, controls(read), h("div", { class: twoColumns() ? "sentences two" : "sentences" }, parts), live ? moreSentences() : null);
  const first = svg();
  cards.sentences.picture = first;
  const [a, b] = cards.sentences.tools.children;
  a.hidden = b.hidden = !first;
  drawTop();
}

// The target as a mixture: of the words, or with matrices of their values.
function recipe(words, target) {
  const parts = words.filter((word) => word.value !== null && !word.gone);
  return h("p", { class: "says recipe" }, mixture(target, parts.map((word) => [word.value, word.written])));
}

// target = weight word + ...; a word may be written from right to left.
function mixture(target, parts) {
  return [h("bdi", null, target), " = ", ...parts.flatMap(([weight, word], i) => [`${i ? " + " : ""}${fixed(weight)} `, h("bdi", null, word)])];
}

// A sentence whose target is not in the vocabulary: another word of it can be chosen.
function drawUnknown(read, i) {
  const words = read.real.map((j) => ({ written: read.words[j].written, word: read.words[j].word, known: Boolean(read.words[j].known), gone: state.sentences[i].gone.includes(j), value: null, tail: "" }));
  const on = { choose: (k) => set(i, { target: read.real[k] }, { focus: i, weights: {} }), take: (k) => takeAway(i, read.real[k]) };
  const similar = h("span", { class: "similar" });
  ask("explain", explainParameters(state.sentences[i].text)).catch((error) => { similar.textContent = / close known words: .*/.exec(error.message)?.[0] ?? ""; });
  return [drawSentence({ layout: read.layout, words, target: null, on, chosen: null }),
    h("p", { class: "error", role: "alert" }, `“${read.unknown}” is not in the vocabulary of this model: it has no vector. `, words.some((word) => word.known) && "Click another word.", similar)];
}

// Show an error below the sentence, which stays editable.
function refuse(message) {
  Object.values(cards).forEach((card) => card.hide());
  const inputs = state.sentences.map((one, i) => h("div", { class: "sentence", "data-sentence": i }, inputOf(one, i)));
  cards.sentences.show(null, null, ...(DATA.live ? inputs : []), DATA.live && state.over !== null ? overInput() : null, h("p", { class: "error", role: "alert" }, message));
  drawTop();
}

function set(i, patch, more = {}) {
  change({ sentences: state.sentences.map((one, j) => (j === i ? { ...one, ...patch } : one)), ...more });
}

function takeAway(i, word) {
  const gone = state.sentences[i].gone;
  set(i, { gone: gone.includes(word) ? gone.filter((j) => j !== word) : [...gone, word].sort((a, b) => a - b) }, { weights: {} });
}

// Preview the attention of the word under the cursor. The listener is on the document because
// words are replaced while the cursor is over them.
document.addEventListener("pointermove", (event) => {
  const word = event.target.closest?.("[data-word]");
  const sentence = word?.closest("[data-sentence]");
  hover(sentence ? [Number(sentence.dataset.sentence), Number(word.dataset.word)] : null);
});

const hover = later(70, async (where) => {
  const [i, k] = where ?? [0, null];
  const read = seen[i];
  const at = k === null ? null : read?.real[k];
  if (!read || state.hand || at === null || at === read.target) {
    if (preview) { preview = null; drawSentences(); }
    return;
  }
  if (preview && preview[0] === i && preview[1] === at) return;
  try {
    const [answer, layout] = await Promise.all([ask("explain", explainParameters(read.words[at].marked)), ask("layout", layoutParameters(i, at))]);
    if (!answer || read !== seen[i]) return;
    preview = [i, at, answer, layout];
    drawSentences();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
  }
});

function inputOf(one, i) {
  return h("div", { class: "sentence-input" },
    h("input", { value: one.text, "data-key": `input-${i}`, "aria-label": `sentence ${i + 1}`, dir: "auto", maxlength: 2000, spellcheck: "false", autocomplete: "off",
      placeholder: "type a sentence; [brackets] mark the word", ...typing(120, (event) => set(i, { text: event.target.value, target: null, gone: [] }, { weights: {}, hand: null })) }),
    state.sentences.length > 1 && h("button", { type: "button", "aria-label": `remove sentence ${i + 1}`, onclick: () => {
      change({ sentences: state.sentences.filter((_, j) => j !== i), focus: 0, weights: {} });
    } }, "×"));
}

function moreSentences() {
  const edited = Object.keys(state.weights).length > 0;
  const gone = state.sentences.some((one) => one.gone.length);
  return h("div", { class: "controls" },
    state.sentences.length < 4 && state.over === null && h("button", { type: "button", "data-key": "more", onclick: () => {
      change({ sentences: [...state.sentences, { text: "", target: null, gone: [] }] });
      document.querySelector(`[data-key="input-${state.sentences.length - 1}"]`)?.focus();
    } }, "+ another sentence"),
    state.sentences.length === 1 && state.over === null && h("button", { type: "button", "data-key": "cross", title: "cross-attention: two sequences", onclick: () => {
      change({ over: "", weights: {}, map: false });
      document.querySelector('[data-key="input-over"]')?.focus();
    } }, "+ a sentence to look at"),
    gone && h("button", { type: "button", "data-key": "back", onclick: () => change({ sentences: state.sentences.map((one) => ({ ...one, gone: [] })), weights: {} }) }, "put all words back"),
    edited && h("button", { type: "button", "data-key": "unhand", onclick: () => change({ weights: {} }) }, "weights as computed"),
    h("span", { class: "hint" }, state.over !== null ? "Click a word of the first sentence to make it the target." : "Click a word to make it the target. × or Delete removes a word. "
      + (state.draw === "weight" ? "Drag a bar or press + and − to change its weight." : "Choose weight to change weights by hand.")));
}

function overInput() {
  return h("div", { class: "sentence-input" },
    h("input", { value: state.over, "data-key": "input-over", "aria-label": "the sentence it looks at", dir: "auto", maxlength: 2000, spellcheck: "false", autocomplete: "off",
      placeholder: "looks at this sentence: cross-attention", ...typing(120, (event) => change({ over: event.target.value })) }),
    h("button", { type: "button", "aria-label": "remove the sentence it looks at", onclick: () => change({ over: null }) }, "×"));
}
