// Weights set by hand: an illustration, nothing is computed.
async function showHand(now) {
  const answer = await ask("weights", { weights: state.hand });
  const rows = answer.records();
  const targets = [...new Set(rows.map((row) => row.target))];
  const parts = await Promise.all(targets.map(async (target) => {
    const mine = rows.filter((row) => row.target === target);
    const inside = mine.findIndex((row) => row.token === target);
    const words = mine.map((row) => ({ written: row.token, word: row.token, known: true, gone: false, value: row.weight, tail: "" }));
    const layout = await ask("layout", { sentence: mine.map((row) => row.token).join(" "), target: inside < 0 ? undefined : inside });
    const recipe = mixture(target, mine.map((row) => [row.weight, row.token]));
    return h("div", { class: "sentence" }, h("p", { class: "says recipe" }, recipe),
      layout.rows.length === words.length + 1 && drawSentence({ layout, words, target: inside < 0 ? null : inside, on: {}, chosen: inside }));
  }));
  if (now !== turn) return;
  Object.values(cards).forEach((card) => card.hide());
  cards.sentences.show(answer, null, ...parts);
  cards.sentences.picture = cards.sentences.body.querySelector("svg");
  drawTop();
}

// Sentences as counts, without word vectors: one-hot, bag of words, TF-IDF.
const RUNGS = [["one-hot", "One-hot", "each word has its own position with a 1"], ["bow", "Bag of words", "how often each word is in each sentence"], ["tfidf", "TF-IDF", "the same; words that are in many sentences count less"]];
for (const [method, title, hint] of RUNGS) cards[method] = new Card(method, title, hint);

async function showLadder(now) {
  const sentences = state.sentences.map((one) => one.text).filter((text) => text.trim());
  const answers = sentences.length ? await Promise.all(RUNGS.map(([method]) => ask("counts", { sentences, method }))) : [];
  if (now !== turn) return;
  Object.values(cards).forEach((card) => card.hide());
  cards.sentences.show(null, null, h("p", { class: "hint" }, "Below word vectors: any two different words are equally far apart."),
    ...state.sentences.map((one, i) => h("div", { class: "sentence", "data-sentence": i }, inputOf(one, i))));
  answers.forEach((answer, i) => {
    cards[RUNGS[i][0]].show(answer, drawPicture(answer, RUNGS[i][1], { how: `${RUNGS[i][1]}: ${RUNGS[i][2]}` }));
  });
  drawTop();
}
