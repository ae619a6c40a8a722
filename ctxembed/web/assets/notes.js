// Weights picked by hand, as the notes have them: an illustration, nothing is computed.
async function showHand(now) {
  const answer = await ask("weights", { weights: state.hand });
  if (now !== turn) return;
  Object.values(cards).forEach((card) => card.hide());
  const rows = answer.records();
  const targets = [...new Set(rows.map((row) => row.target))];
  const parts = targets.map((target) => {
    const mine = rows.filter((row) => row.target === target);
    const inside = mine.findIndex((row) => row.token === target);
    const words = mine.map((row) => ({ written: row.token, word: row.token, known: true, gone: false, weight: row.weight, tail: "" }));
    const recipe = `${target} = ${mine.map((row) => `${fixed(row.weight)} ${row.token}`).join(" + ")}`;
    return h("div", { class: "sentence" }, h("p", { class: "says recipe" }, recipe),
      drawSentence({ words, target: inside < 0 ? null : inside, rtl: false, width: 600, on: {}, chosen: inside }));
  });
  cards.sentences.show(answer, null, ...parts);
  cards.sentences.picture = cards.sentences.body.querySelector("svg");
  drawTop();
}

// The ladder below word vectors: sentences as counts, which carry no meaning.
const RUNGS = [["one-hot", "One-hot", "a word is a 1 in a place of its own"], ["bow", "Bag of words", "how often each word is in each sentence"], ["tfidf", "TF-IDF", "the same; words of many sentences count less"]];
for (const [method, title, hint] of RUNGS) cards[method] = new Card(method, title, hint);

async function showLadder(now) {
  const sentences = state.sentences.map((one) => one.text).filter((text) => text.trim());
  const answers = sentences.length ? await Promise.all(RUNGS.map(([method]) => ask("counts", { sentences, method }))) : [];
  if (now !== turn) return;
  Object.values(cards).forEach((card) => card.hide());
  cards.sentences.show(null, null, h("p", { class: "hint" }, "Below word vectors: any two different words are equally far apart."),
    ...state.sentences.map((one, i) => h("div", { class: "sentence", "data-sentence": i }, inputOf(one, i))));
  answers.forEach((answer, i) => {
    const values = answer.rows.map((row) => row.slice(1));
    const rows = answer.rows.map(([name]) => (typeof name === "number" ? `sentence ${name}` : name));
    cards[RUNGS[i][0]].show(answer, drawHeat({ rows, columns: answer.names.slice(1), values, title: RUNGS[i][1], room: room(),
      high: Math.max(1, ...values.flat()), digits: RUNGS[i][0] === "tfidf" ? 2 : 0 }));
  });
  drawTop();
}
