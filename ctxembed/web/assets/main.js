// The page: ask for what the state needs, and draw each card when its answer arrives.
const main = document.getElementById("main");
const cards = {
  sentences: new Card("sentence", "The sentence", "", { wide: true }),
  meaning: new Card("meaning", "In words", "what the word is like, here and on average"),
  axes: new Card("axes", "On the axes", "cosine with a few words you name", { withNotes: false }),
  steps: new Card("steps", "Step by step", "one head, every number", { wide: true }),
  heads: new Card("heads", "All heads", "each attends differently; choose one", { withNotes: false }),
  worth: new Card("worth", "What each word is worth", "remove a word and see"),
  map: new Card("map", "The map of the word", "", { wide: true }),
  alike: new Card("alike", "How alike", "cosine of the words as they are meant here", { wide: true }),
};
const map = new SenseMap();
const seen = []; // per sentence: its words, its marked text, the answer of explain
let preview = null; // [sentence, word] under the cursor
let turn = 0;
let stopMap = false; // kept when the page is drawn again

// The width of a picture in a card, also before the card is shown.
function cardWidth(wide = false) {
  const inner = main.clientWidth - (innerWidth > 760 ? 40 : 24);
  const card = wide || innerWidth <= 760 ? inner : (inner - 16) / 2;
  return Math.floor(card - (innerWidth > 760 ? 38 : 26));
}

const attention = () => (state.vectors ? undefined : state.attention ?? DATA.attentions[0]);
const layer = () => ({ attention: state.vectors ? undefined : attention(), general: attention() === "general" || state.vectors ? state.general ?? undefined : undefined,
  vectors: state.vectors ?? undefined });
const axesParameter = () => {
  const axes = Object.fromEntries(state.axes.map(([name, words]) => [name.trim(), words.split(/[,\s]+/).filter(Boolean)]).filter(([name, words]) => name && words.length));
  return Object.keys(axes).length && !state.vectors ? axes : undefined;
};

async function readSentence(i) {
  const one = state.sentences[i];
  const words = (await ask("words", { sentence: one.text, gone: one.gone.length ? one.gone : undefined, vectors: state.vectors ?? undefined })).records();
  const real = words.map((word, j) => j).filter((j) => words[j].written);
  const can = real.filter((j) => words[j].known && !one.gone.includes(j));
  let target = one.target;
  if (!can.includes(target)) {
    const same = seen[0]?.words?.[seen[0].target]?.word;
    target = can.find((j) => words[j].target) ?? (i ? can.find((j) => words[j].word === same) : undefined)
      ?? can.find((j) => words[j].content) ?? can[0] ?? null;
  }
  return { words, real, target, text: target === null ? null : words[target].marked };
}

const layoutParameters = (i, target) => ({ sentence: state.sentences[i].text, target, narrow: cardIsNarrow(true) || undefined, over: state.over?.trim() || undefined, vectors: state.vectors ?? undefined });
const explainParameters = (text) => ({ sentence: text, ...layer(), over: state.over?.trim() || undefined, encoding: state.encoding === "none" ? undefined : state.encoding });

// The weights of explain for each word of the sentence; of one head or the mean.
function weightsOf(answer, read, gone, head) {
  const rows = answer.records().filter((row) => row.head !== "own");
  const heads = [...new Set(rows.map((row) => row.head))];
  const here = read.real.filter((j) => !gone.includes(j));
  const mine = rows.filter((row) => row.head === heads[0]);
  const indices = mine.length === here.length ? here : here.filter((j) => read.words[j].known);
  const chosen = head === "mean" || !heads.includes(head) ? heads : [head];
  const weights = read.words.map(() => null);
  for (const one of chosen) {
    rows.filter((row) => row.head === one).forEach((row, k) => {
      if (row.weight !== null && indices[k] !== undefined) weights[indices[k]] = (weights[indices[k]] ?? 0) + row.weight / chosen.length;
    });
  }
  const positions = Object.fromEntries(indices.map((j, k) => [j, mine[k]?.position]));
  return { weights, heads, positions };
}

// The answer with weights set by hand; the other words share the rest.
async function byHand(read, i) {
  const { positions } = weightsOf(read.answer, read, state.sentences[i].gone, "mean");
  read.edited = Object.fromEntries(Object.entries(state.weights).map(([j, weight]) => [positions[j], weight]).filter(([position]) => position));
  if (i !== state.focus || read.other || !Object.keys(read.edited).length) return null;
  return ask("explain", { ...explainParameters(read.text), weights: read.edited, head: state.head === "mean" ? undefined : state.head });
}

async function refresh() {
  const now = ++turn;
  const stale = () => now !== turn;
  const failed = (card) => (error) => { if (!stale()) (error instanceof Refused ? card.say(error.message) : Promise.reject(error)); };
  const refused = (error) => {
    if (stale()) return;
    if (!(error instanceof Refused)) throw error;
    refuse(error.message);
  };
  if (state.hand) return showHand(now).catch(refused);
  if (state.ladder) return showLadder(now).catch(refused);
  for (const [method] of RUNGS) cards[method].hide();
  try {
    for (let i = 0; i < state.sentences.length; i++) {
      const read = await readSentence(i);
      if (stale()) return;
      read.other = state.over?.trim() ? await readOther() : null;
      if (stale()) return;
      read.answer = read.text === null || (state.over !== null && !read.other) ? null : await ask("explain", explainParameters(read.text));
      read.layout = read.answer && await ask("layout", layoutParameters(i, read.target));
      read.hand = read.answer && await byHand(read, i);
      if (stale()) return;
      const before = seen[i]; // its definition stays until the new one is known
      read.defined = state.over === null && before?.words[before.target]?.word === read.words[read.target]?.word ? before?.defined ?? [] : [];
      seen[i] = read;
    }
    seen.length = state.sentences.length;
  } catch (error) {
    return refused(error);
  }
  drawSentences();
  const read = seen[state.focus];
  if (!read || read.text === null || !read.answer) {
    Object.values(cards).forEach((card) => card !== cards.sentences && card.hide());
    return;
  }
  if (state.over !== null) {
    for (const name of ["meaning", "axes", "worth", "map", "alike"]) cards[name].hide();
    showHeads(read);
    return showSteps(read, stale).catch(failed(cards.steps));
  }
  const texts = seen.filter((one) => one.text !== null && one.words[one.target].word === read.words[read.target].word).map((one) => one.text);
  const jobs = [
    showCompare(read, stale).catch((error) => {
      if (stale()) return null;
      if (!(error instanceof Refused)) throw error;
      return showCompare(read, stale, null, error.message); // show the rest without the invalid axis
    }).catch(failed(cards.meaning)),
    showSteps(read, stale).catch(failed(cards.steps)),
    showWorth(read, stale).catch(failed(cards.worth)),
    showAlike(stale).catch(failed(cards.alike)),
    showMap(read, texts, stale).catch(failed(cards.map)),
  ];
  showHeads(read);
  await Promise.all(jobs);
}

function drawSentences() {
  const live = DATA.live;
  const parts = state.sentences.map((one, i) => {
    const read = seen[i];
    const part = h("div", { class: "sentence", "data-sentence": i });
    if (live) part.append(inputOf(one, i), ...(state.over !== null ? [overInput()] : []));
    if (!read || read.text === null || !read.answer) {
      part.append(h("p", { class: "hint" }, !one.text.trim() ? "type a sentence" : read?.text && state.over !== null ? "type the sentence it looks at"
        : "no word of this sentence is in the vocabulary"));
      return part;
    }
    const look = preview && preview[0] === i ? preview[2] : null;
    const target = look ? preview[1] : read.target;
    const gone = one.gone;
    const { weights } = weightsOf(look ?? read.hand ?? read.answer, read.other ?? read, read.other ? [] : gone, state.head);
    const others = read.other?.real.map((j) => ({ ...read.other.words[j], tail: "", weight: weights[j], gone: false, known: Boolean(read.other.words[j].known) }));
    const words = read.real.map((j) => ({ can: DATA.live || kept.has(keyOf("explain", explainParameters(read.words[j].marked))),
      written: read.words[j].written, word: read.words[j].word, known: Boolean(read.words[j].known), gone: gone.includes(j), weight: weights[j],
      tail: (read.words[j + 1]?.before ?? "").trim(), byHand: i === state.focus && state.weights[j] !== undefined }));
    const at = (k) => read.real[k];
    const on = {
      choose: (k) => { preview = null; set(i, { target: at(k) }, { focus: i, weights: {} }); },
    };
    if (live && !others) Object.assign(on, {
      take: (k) => takeAway(i, at(k)),
      weigh: (k, weight) => { if (look) return; change({ focus: i, weights: { ...(i === state.focus ? state.weights : {}), [at(k)]: Math.round(weight * 100) / 100 } }); },
    });
    const k = read.real.indexOf(target);
    part.append(drawSentence({ layout: look ? preview[3] : read.layout, words, others, target: k < 0 ? null : k, on, chosen: read.real.indexOf(read.target) }));
    if (read.layout.records()[0].arc === "rtl") part.lastChild.style.marginInlineStart = "auto";
    part.append(h("div", { class: "definition", "data-definition": i, "aria-live": "polite" }, read.defined));
    return part;
  });
  const read = seen[state.focus];
  const svg = () => cards.sentences.body.querySelectorAll(".sentence svg")[state.focus] ?? null;
  cards.sentences.show(read?.answer ?? null, null, controls(read), ...parts, live ? moreSentences() : null);
  const first = svg();
  cards.sentences.picture = first;
  const [a, b] = cards.sentences.tools.children;
  a.hidden = b.hidden = !first;
  drawTop();
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
    h("span", { class: "hint" }, state.over !== null ? "Click a word on the left to make it the target." : "Click a word to make it the target. × or Delete removes a word; drag a bar or press + and − to change its weight."));
}

// Controls: attention, head, temperature.
function controls(read) {
  const heads = read?.answer ? weightsOf(read.answer, read, state.sentences[state.focus].gone, "mean").heads : [];
  const button = (name, value) => h("button", { type: "button", "aria-pressed": String(value === state.head), "data-key": `head-${value}`, onclick: () => change({ head: value, weights: {} }) }, name);
  const temperature = Number((state.general ?? "").split(":")[1] ?? 6);
  return h("div", { class: "controls" },
    !state.vectors && DATA.attentions.length > 1 && h("label", null, "attention ",
      h("select", { "data-key": "attention", onchange: (event) => change({ attention: event.target.value, head: "mean", weights: {}, general: null }) },
        DATA.attentions.map((name) => h("option", { value: name, selected: name === attention() }, name)))),
    heads.length > 1 && h("span", { class: "group", role: "group", "aria-label": "head" }, "head ", button("mean", "mean"), heads.map((head) => button(head, head))),
    DATA.live && attention() === "general" && !state.vectors && h("label", { title: "what the cosines are multiplied by: at 0 all words weigh the same" }, "temperature ",
      h("input", { type: "range", min: 0, max: 20, step: 0.5, value: temperature, "data-key": "temperature", "aria-label": "temperature",
        oninput: (event) => change({ general: `cosine:${event.target.value}`, weights: {} }) }), h("output", null, fixed(temperature, 1))),
    state.vectors && h("span", { class: "hint" }, `vectors of the notes: ${state.vectors}`));
}

// The representation in words: of a worked example its own matrices, if it has any.
function described(answer) {
  // Learned attention, whose weights are shown, answers together with an encoder if there is one.
  if (!state.vectors) return attention() === "learned" && answer.records().some((row) => row.representation === "together") ? "together" : attention();
  return answer.records().some((row) => row.representation === "given") ? "given" : "general";
}

async function showCompare(read, stale, axes = axesParameter(), problem = null) {
  const texts = seen.map((one) => one.text).filter((text) => text !== null);
  const parameters = { sentences: texts, axes: axes ?? undefined, general: layer().general, vectors: layer().vectors };
  const answer = (await ask("compare", parameters)) ?? (await ask("compare", { ...parameters, sentences: [read.text] }));
  if (!answer || stale()) return;
  const number = answer.records().some((row) => row.sentence === 2) ? texts.indexOf(read.text) + 1 : 1;
  const rows = answer.records().filter((row) => row.sentence === number);
  const name = described(answer);
  await showDefinitions(read, answer, parameters);
  if (stale()) return;
  cards.meaning.show(answer, null, ...inWords({ rows, name, words: read.words, target: read.target, lead: answer.lead.find((line) => line.startsWith(answer.lead[0]?.startsWith("1. ") ? `${number}. ` : rows[0]?.target)) }), together(answer, read));
  if (state.vectors) cards.meaning.body.prepend(await becomes(read));
  const names = axes ? Object.keys(axes) : [];
  let drawn = [answer, number - 1];
  if (Object.keys(read.edited ?? {}).length && DATA.live && !state.vectors) {
    const moved = await ask("reweigh", { sentence: read.text, weights: read.edited, axes: axes ?? undefined, head: state.head === "mean" ? undefined : state.head, ...layer() });
    if (stale()) return;
    const hand = moved.records().find((row) => row.representation === "by hand");
    rows.push({ ...hand, cos_static: null });
    drawn = [moved, 0];
    cards.meaning.body.append(h("p", { class: "plain", "data-near": "by hand" }, h("span", { class: "name" }, mark(rows.length - 1), "by hand"), [hand.nearest].flat().join(", ")));
  }
  if (!names.length && (!DATA.live || state.vectors)) return cards.axes.hide();
  const picture = names.length ? drawPicture(drawn[0], `cosine with ${names.join(", ")}`, { number: drawn[1] }) : null;
  cards.axes.show(answer, picture, ...[problem && h("p", { class: "error", role: "alert" }, problem), picture, names.length ? axisNumbers(rows, names) : null,
    DATA.live && !state.vectors && axisEditor(state.axes, (changed) => change({ axes: changed }))].filter(Boolean));
}

// Below each sentence: what a dictionary says of its target there.
async function showDefinitions(focus, answer, parameters) {
  const main = DATA.attentions.includes("learned") ? "learned" : "general"; // whose answer is given in words
  const known = seen.filter((one) => one.text !== null);
  const all = answer.records().some((row) => row.sentence === 2);
  for (const one of known) {
    const own = all || one === focus ? answer : await ask("compare", { ...parameters, sentences: [one.text] });
    const number = all ? known.indexOf(one) + 1 : 1;
    const row = own?.records().find((each) => each.sentence === number && each.representation === described(own));
    const start = row && `${all ? `${number}. ` : ""}${row.target}: `;
    const first = [main, "together"].includes(row?.representation) ? own.lead.findIndex((line) => line.startsWith(start)) : -1;
    const rest = own?.lead.slice(first + 1) ?? [], end = rest.findIndex((line) => !/^  (perhaps|or) /.test(line));
    const said = first < 0 ? null : [own.lead[first].slice(start.length), ...rest.slice(0, end < 0 ? rest.length : end)];
    one.defined = definitionOf(row, one.words[one.target].written, said);
    document.querySelector(`[data-definition="${seen.indexOf(one)}"]`)?.replaceChildren(...one.defined);
  }
}

// Worked examples: the vector before and after attention.
async function becomes(read) {
  const rows = (await ask("unfold", unfoldParameters(read))).records();
  const vectorOf = (step) => `[${rows.find((row) => row.step === step).vector.map((n) => fixed(n)).join(", ")}]`;
  return h("p", { class: "says" }, h("b", null, read.words[read.target].written), ` ${vectorOf("x")} becomes ${vectorOf("output")} here.`);
}

// Several sentences: the similarity of the word between them.
function together(answer, read) {
  const rows = answer.records().filter((row) => row.sentence > 1 && row.representation === described(answer));
  const word = read.words[read.target].word;
  const same = rows.filter((row) => row.cos_first !== undefined && row.cos_first !== null && row.target.split(":")[0] === word);
  if (!same.length) return null;
  return h("p", { class: "plain" }, same.map((row) => `${row.target} in sentence ${row.sentence} and in sentence 1: cosine ${fixed(row.cos_first)}`
    + (row.cos_random === null ? "" : ` (two of its occurrences at random: ${fixed(row.cos_random)})`)).join("; "));
}

function showHeads(read) {
  const { heads } = weightsOf(read.answer, read, [], "mean");
  if (heads.length < 2) return cards.heads.hide();
  const names = ["mean", ...heads];
  const picture = drawPicture(read.answer, "weights of each head", { chosen: names.indexOf(state.head), pick: (i) => names[i] && change({ head: names[i], weights: {} }) });
  cards.heads.show(read.answer, picture, h("div", { class: "scroll" }, picture));
}

const unfoldParameters = (read) => ({ ...explainParameters(read.text), head: state.head === "mean" ? undefined : state.head });

async function showSteps(read, stale) {
  if (!DATA.live) return;
  const answer = await ask("unfold", unfoldParameters(read));
  if (!answer || stale()) return;
  const target = read.words[read.target].written;
  const heads = weightsOf(read.answer, read, [], "mean").heads.length;
  cards.steps.hint.textContent = heads > 1 ? `head ${state.head === "mean" ? 1 : state.head} of ${heads}; the other heads do the same with matrices of their own` : "every number";
  cards.steps.show(answer, null, ...drawSteps(answer, target, state.step, (step) => change({ step })));
}

async function showWorth(read, stale) {
  const known = read.real.filter((j) => read.words[j].known && !state.sentences[state.focus].gone.includes(j));
  if (known.length < 2 || state.vectors) return cards.worth.hide();
  const parameters = { sentences: [read.text], attention: layer().attention, general: layer().general };
  const answer = await ask("ablate", { ...parameters, axes: axesParameter() }).catch((error) => (error instanceof Refused && axesParameter() ? ask("ablate", parameters) : Promise.reject(error)));
  if (!answer || stale()) return !answer && cards.worth.hide();
  const rows = answer.records();
  const context = known.filter((j) => j !== read.target);
  const pick = DATA.live && rows.length === context.length ? (row) => takeAway(state.focus, context[row]) : null;
  cards.worth.show(answer, drawPicture(answer, "weight and change of each context word", { pick }));
}

async function showAlike(stale) {
  const texts = seen.filter((one) => one.text !== null).map((one) => one.words[one.target].together);
  const answer = await ask("similarity", { words: texts, attention: state.vectors ? undefined : attention(), vectors: state.vectors ?? undefined });
  if (stale()) return;
  const picture = answer && drawPicture(answer, "cosines");
  if (picture) cards.alike.show(answer, picture);
  else cards.alike.hide();
}

const openMap = (word) => h("p", { class: "plain" },
  h("button", { type: "button", "data-key": "open-map", onclick: () => { stopMap = false; change({ map: true }); } }, `Draw the map of ${word}`),
  " every occurrence in the corpus as a point, and this sentence among them");

async function showMap(read, texts, stale) {
  const word = read.words[read.target].word;
  cards.map.title.textContent = `The map of ${word}`;
  if (state.vectors || word.includes(" ") || !DATA.maps) return cards.map.hide();
  const parameters = { word, attention: attention() };
  if (DATA.live && !state.map) {
    return cards.map.show(null, null, openMap(word));
  }
  const [bar, stage] = [h("progress", { max: 1 }), h("span")];
  const waiting = h("div", { class: "controls" }, bar, stage, h("button", { type: "button", "data-key": "stop-map", onclick: () => { stopMap = true; } }, "stop"));
  const progress = (body) => {
    if (stale()) return "leave";
    if (!waiting.isConnected) cards.map.show(null, null, waiting);
    if (body.progress === null) bar.removeAttribute("value");
    else bar.value = body.progress;
    stage.textContent = body.stage;
    if (!stopMap) return "go on";
    stopMap = false;
    return "stop";
  };
  let points;
  try {
    points = await ask("map", parameters, progress);
  } catch (error) {
    if (error instanceof Refused && !stale()) {
      state.map = false; // the button starts it again
      cards.map.show(null, null, openMap(word), h("p", { class: "error", role: "alert" }, error.message));
      return;
    }
    throw error;
  }
  if (stale()) return;
  if (!points) return cards.map.hide();
  const legend = await ask("legend", parameters);
  const placed = [];
  for (const sentence of texts) placed.push(...((await ask("place", { ...parameters, sentence }))?.records() ?? []));
  if (stale()) return;
  const { svg, parts } = map.draw({ word, points, legend, placed, query: state.query, hidden: state.hidden,
    toggle: (sense) => change({ hidden: state.hidden.includes(sense) ? state.hidden.filter((other) => other !== sense) : [...state.hidden, sense] }),
    search: (query) => change({ query }), redrawn: () => refresh() });
  cards.map.show(points, svg, ...parts);
}

function overInput() {
  return h("div", { class: "sentence-input" },
    h("input", { value: state.over, "data-key": "input-over", "aria-label": "the sentence it looks at", dir: "auto", maxlength: 2000, spellcheck: "false", autocomplete: "off",
      placeholder: "looks at this sentence: cross-attention", ...typing(120, (event) => change({ over: event.target.value })) }),
    h("button", { type: "button", "aria-label": "remove the sentence it looks at", onclick: () => change({ over: null }) }, "×"));
}

// The words of the other sequence; null if none is in the vocabulary.
async function readOther() {
  const words = (await ask("words", { sentence: state.over, vectors: state.vectors ?? undefined })).records();
  const real = words.map((_, j) => j).filter((j) => words[j].written);
  return real.some((j) => words[j].known) ? { words, real } : null;
}
