// What the page has read of each sentence: its words, its target, and the numbers of each word.
const seen = []; // of each sentence: its words, its marked text, the answer of explain

const shared = () => ({ vectors: state.vectors ?? undefined, model: state.vectors ? undefined : state.model ?? undefined });
const attentions = () => (state.model ? DATA.models[state.model].attentions : DATA.attentions);
const maps = () => !state.model && DATA.maps; // occurrences, senses, or false
const attention = () => (state.vectors ? undefined : state.attention ?? attentions()[0]);
const layer = () => ({ ...shared(), attention: attention(), general: attention() === "general" || state.vectors ? state.general ?? undefined : undefined });
const overText = () => state.over?.trim() || undefined;
const twoColumns = () => state.sentences.length > 1 && state.over === null && cardWidth(true) >= 1000;

// Of the widths that sentences are laid out for, the largest that fits.
function layoutWidth() {
  const free = twoColumns() ? (cardWidth(true) - 32) / 2 : cardWidth(true);
  return DATA.widths.filter((width) => width <= free).pop() ?? DATA.widths[0];
}

const layoutParameters = (i, target) => ({ ...shared(), sentence: state.sentences[i].text, target, width: layoutWidth(), over: overText() });
const explainParameters = (text) => ({ ...layer(), sentence: text, over: overText(), encoding: state.encoding === "none" ? undefined : state.encoding });
const headParameter = (head) => (head === "mean" ? undefined : head);

async function readSentence(i) {
  const one = state.sentences[i];
  const words = (await ask("words", { ...shared(), sentence: one.text, gone: one.gone.length ? one.gone : undefined })).records();
  const real = words.map((word, j) => j).filter((j) => words[j].written);
  const can = real.filter((j) => words[j].known && !one.gone.includes(j));
  let target = one.target;
  if (!can.includes(target)) {
    const marked = real.find((j) => words[j].target);
    if (marked !== undefined && !words[marked].known) return { words, real, target: null, text: null, unknown: words[marked].written };
    const same = seen[0]?.words?.[seen[0].target]?.word;
    target = can.find((j) => words[j].target) ?? (i ? can.find((j) => words[j].word === same) : undefined)
      ?? can.find((j) => words[j].content) ?? can[0] ?? null;
  }
  return { words, real, target, text: target === null ? null : words[target].marked };
}

// The words of the other sequence; null if none is in the vocabulary.
async function readOther() {
  const words = (await ask("words", { ...shared(), sentence: state.over })).records();
  const real = words.map((_, j) => j).filter((j) => words[j].written);
  return real.some((j) => words[j].known) ? { words, real } : null;
}

// The weight or the contribution of each word, by explain; of one head, or of all: weights are then averaged,
// contributions add up, with the part of the target itself.
function numbersOf(answer, read, gone, head, name = state.draw) {
  const all = answer.records(), rows = all.filter((row) => row.head !== "own");
  const heads = [...new Set(rows.map((row) => row.head))];
  const here = read.real.filter((j) => !gone.includes(j));
  const mine = rows.filter((row) => row.head === heads[0]);
  const indices = mine.length === here.length ? here : here.filter((j) => read.words[j].known);
  const whole = head === "mean" || !heads.includes(head), chosen = whole ? heads : [head];
  const parts = name === "weight" ? chosen.length : 1;
  const values = read.words.map(() => null);
  for (const one of chosen) {
    rows.filter((row) => row.head === one).forEach((row, k) => {
      const value = row[name] ?? null;
      if (value !== null && indices[k] !== undefined) values[indices[k]] = (values[indices[k]] ?? 0) + value / parts;
    });
  }
  const own = all.find((row) => row.head === "own");
  if (name !== "weight" && read.target !== undefined && read.target !== null) {
    if (whole && own) values[read.target] = (values[read.target] ?? 0) + own[name];
    else if (own && !values[read.target]) values[read.target] = null; // left out of its own weights
  }
  const positions = Object.fromEntries(indices.map((j, k) => [j, mine[k]?.position]));
  return { values, heads, positions };
}

// How each weight of a single head follows from the sums of explain; null where several heads are averaged.
function workedOut(answer) {
  const rows = answer.records().filter((row) => row.head !== "own" && row.weight !== null);
  if (state.draw !== "weight" || new Set(rows.map((row) => row.head)).size !== 1 || rows.length > 8) return () => null;
  const power = (row) => `e^${fixed(row.sum)}`;
  return (position) => { const own = rows.find((row) => row.position === position); return own ? `${power(own)} ÷ (${rows.map(power).join(" + ")})` : null; };
}

// The head whose words contribute most to the vector.
function strongestHead(answer) {
  const sums = {};
  for (const row of answer.records()) if (row.head !== "own") sums[row.head] = (sums[row.head] ?? 0) + (row.contribution ?? 0);
  return Object.keys(sums).reduce((best, head) => (sums[head] > sums[best] ? head : best), Object.keys(sums)[0]);
}

// The answer with weights set by hand; the other words share the rest.
async function byHand(read, i) {
  const { positions } = numbersOf(read.answer, read, state.sentences[i].gone, "mean");
  const edited = Object.entries(state.weights).map(([j, weight]) => [positions[j], weight]).filter(([position]) => position);
  read.edited = i !== state.focus || read.other ? {} : Object.fromEntries(edited);
  if (!Object.keys(read.edited).length) return null;
  return ask("explain", { ...explainParameters(read.text), weights: read.edited, head: headParameter(state.head) });
}
