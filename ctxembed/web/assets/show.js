// What each card shows, from the answers to the state.
// The representation in words: of a worked example its own matrices, if it has any.
function described(answer) {
  // Learned attention, whose weights are shown, answers together with an encoder if there is one.
  if (!state.vectors) return attention() === "learned" && answer.records().some((row) => row.representation === "together") ? "together" : attention();
  return answer.records().some((row) => row.representation === "given") ? "given" : "general";
}

async function showCompare(read, stale, axes = axesParameter(read), problem = null) {
  const texts = seen.map((one) => one.text).filter((text) => text !== null);
  const parameters = { ...shared(), sentences: texts, axes: axes ?? undefined, general: layer().general };
  const answer = (await ask("compare", parameters)) ?? (await ask("compare", { ...parameters, sentences: [read.text] }));
  if (!answer || stale()) return;
  const number = answer.records().some((row) => row.sentence === 2) ? texts.indexOf(read.text) + 1 : 1;
  const rows = answer.records().filter((row) => row.sentence === number);
  const name = described(answer);
  await showDefinitions(read, answer, parameters);
  if (stale()) return;
  const hand = await weighed(read, axes);
  if (stale()) return;
  cards.meaning.show(answer, null, ...inWords({ hand, rows, name, waves: state.encoding !== "none", words: read.words, target: read.target, lead: answer.lead.find((line) => line.startsWith(answer.lead[0]?.startsWith("1. ") ? `${number}. ` : rows[0]?.target)) }), together(answer, read));
  if (state.vectors) cards.meaning.body.prepend(await becomes(read, hand));
  const names = axes ? Object.keys(axes) : [];
  let drawn = [answer, number - 1];
  if (hand) {
    rows.push({ ...hand.row, cos_static: null });
    drawn = [hand.answer, 0];
    read.defined = definitionOf(hand.row, read.words[read.target].written);
    document.querySelector(`[data-definition="${seen.indexOf(read)}"]`)?.replaceChildren(...read.defined);
  }
  if (!names.length && (!DATA.live || state.vectors)) return cards.axes.hide();
  const picture = names.length ? drawPicture(drawn[0], `cosine with ${names.join(", ")}`, { number: drawn[1], how: HOW_AXIS }) : null;
  cards.axes.show(answer, picture, ...[problem && h("p", { class: "error", role: "alert" }, problem), picture, names.length ? axisNumbers(rows, names) : null,
    DATA.live && !state.vectors && !names.length && h("p", { class: "hint" }, "This word has one sense here. Name two directions yourself, each by a few words."),
    DATA.live && !state.vectors && axisEditor(axesShown(read), (changed) => change({ axes: changed }))].filter(Boolean));
}

// The answer with weights set by hand; null if there are none.
async function weighed(read, axes) {
  if (!Object.keys(read.edited ?? {}).length || !DATA.live) return null;
  const answer = await ask("reweigh", { ...layer(), sentence: read.text, weights: read.edited, axes: axes ?? undefined, head: headParameter(state.head) });
  return { answer, row: answer.records().find((row) => row.representation === "by hand") };
}

// Below each sentence: what a dictionary says of its target there.
async function showDefinitions(focus, answer, parameters) {
  const main = attentions().includes("learned") ? "learned" : "general"; // whose answer is given in words
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
async function becomes(read, hand) {
  const rows = (await ask("unfold", unfoldParameters(read)))?.records() ?? [];
  const write = (vector) => `[${vector.map((n) => fixed(n)).join(", ")}]`;
  const vectorOf = (step) => rows.find((row) => row.step === step).vector;
  return rows.length ? h("p", { class: "says becomes" }, h("bdi", null, h("b", null, read.words[read.target].written)), ` ${write(vectorOf("x"))} becomes ${write(hand?.row.vector ?? vectorOf("output"))} here.`) : "";
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
  const { heads } = numbersOf(read.answer, read, [], "mean");
  if (heads.length < 2) return cards.heads.hide();
  const names = ["mean", ...heads];
  cards.heads.hint.textContent = `${state.draw} of each word, head by head; choose one`;
  const picture = drawPicture(read.hand ?? read.answer, `${state.draw} of each word in each head`, { number: pictureNumber(), how: HEADS_HOW[state.draw], chosen: names.indexOf(state.head), pick: (i) => names[i] && change({ head: names[i], weights: {} }) });
  cards.heads.show(read.answer, picture, h("div", { class: "scroll" }, picture));
}

const HEADS_HOW = {
  weight: "The softmax of this head; the first row is the mean of the heads",
  contribution: "The first row is the sum of the heads, for the target with its own part",
};
const pictureNumber = () => (state.draw === "weight" && !DATA.live ? 1 : 0); // an answer in a report has a picture of each
const headShown = (read) => (state.head === "mean" ? strongestHead(read.answer) : state.head);
const unfoldParameters = (read) => ({ ...explainParameters(read.text), head: headShown(read) });

async function showSteps(read, stale) {
  const answer = await ask("unfold", unfoldParameters(read));
  if (stale()) return;
  if (!answer) return cards.steps.hide();
  const target = read.words[read.target].written;
  const heads = numbersOf(read.answer, read, [], "mean").heads.length;
  const most = state.head === "mean" ? ", the one that contributes most" : "";
  cards.steps.hint.textContent = heads > 1 ? `head ${headShown(read)} of ${heads}${most}; the other heads do the same with matrices of their own` : "every number";
  cards.steps.show(answer, null, ...drawSteps(answer, target, state.step, (step) => change({ step })));
}

async function showWorth(read, stale) {
  const known = read.real.filter((j) => read.words[j].known && !state.sentences[state.focus].gone.includes(j));
  if (known.length < 2 || state.vectors) return cards.worth.hide();
  const parameters = { ...shared(), sentences: [read.text], attention: layer().attention, general: layer().general };
  const answer = await ask("ablate", { ...parameters, axes: axesParameter(read) }).catch((error) => (error instanceof Refused && axesParameter(read) ? ask("ablate", parameters) : Promise.reject(error)));
  if (!answer || stale()) return !answer && cards.worth.hide();
  const rows = answer.records();
  const context = known.filter((j) => j !== read.target);
  const pick = DATA.live && rows.length === context.length ? (row) => takeAway(state.focus, context[row]) : null;
  cards.worth.show(answer, drawPicture(answer, `${state.draw} and change of each context word`, { how: "The change is 1 minus the cosine of the vectors with the word and without it", number: pictureNumber(), pick }));
}

// Where a chapter speaks of it: a recurrent network, step by step.
async function showStates(read, stale) {
  if (chapterOf(state.lesson)?.page.open !== "recurrent") return cards.recurrent.hide();
  const answer = await ask("states", { ...shared(), sentence: read.text });
  if (stale()) return;
  if (!answer) return cards.recurrent.hide();
  const picture = drawPicture(answer, "share of each word that is left", { how: null });
  cards.recurrent.show(answer, picture, picture, answer.draw());
}

async function showAlike(stale) {
  const texts = seen.filter((one) => one.text !== null).map((one) => one.words[one.target].together);
  const answer = await ask("similarity", { ...shared(), words: texts, attention: attention() });
  if (stale()) return;
  const picture = answer && drawPicture(answer, "cosines", { how: "The dot product of the two vectors in this sentence, both of length 1" });
  if (picture) cards.alike.show(answer, picture);
  else cards.alike.hide();
}

const openMap = (word) => h("p", { class: "plain" },
  h("button", { type: "button", "data-key": "open-map", onclick: () => { stopMap = false; change({ map: true }); } }, `Draw the map of ${word}`),
  maps() === "senses" ? " the middle of each saved sense, and this sentence among them: this model has no corpus" : " every occurrence in the corpus as a point, and this sentence among them");

async function showMap(read, texts, stale) {
  const word = read.words[read.target].word;
  cards.map.title.textContent = `The map of ${word}`;
  if (state.vectors || word.includes(" ") || !maps() || !read.words[read.target].mapped) return cards.map.hide();
  const parameters = { ...shared(), word, attention: attention() };
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
    stopMap = state.map = false; // a sentence typed meanwhile does not start it again
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
    search: (query) => change({ query }), redrawn: () => refresh(), centres: maps() === "senses" });
  cards.map.show(points, svg, ...parts);
}
