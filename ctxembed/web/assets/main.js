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
  recurrent: new Card("recurrent", "A recurrent network", "what it keeps at each word it reads, and what is left of the word in the end", { wide: true }),
  alike: new Card("alike", "How alike", "cosine of the words as they are meant here", { wide: true }),
};
const map = new SenseMap();
let preview = null; // [sentence, word] under the cursor
let turn = 0;
let stopMap = false; // kept when the page is drawn again

// The width of a picture in a card, also before the card is shown.
function cardWidth(wide = false) {
  const inner = main.clientWidth - (innerWidth > 760 ? 40 : 24);
  const card = wide || innerWidth <= 760 ? inner : (inner - 16) / 2;
  return Math.floor(card - (innerWidth > 760 ? 38 : 26));
}

// The axes that are shown: those typed, or those of the word's own senses.
function axesShown(read) {
  return state.axes ?? read?.axes ?? [];
}

const axesParameter = (read) => {
  const axes = Object.fromEntries(axesShown(read).map(([name, words]) => [name.trim(), words.split(/[,\s]+/).filter(Boolean)]).filter(([name, words]) => name && words.length));
  return Object.keys(axes).length && !state.vectors ? axes : undefined;
};

async function suggestAxes(read) {
  if (state.axes || state.vectors || read.target === null) return [];
  const answer = await ask("axes", { ...shared(), word: read.words[read.target].word });
  return (answer?.records() ?? []).map((row) => [row.axis, [row.words].flat().join(", ")]);
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
      const whole = read.text !== null && (state.over === null || read.other);
      [read.answer, read.layout, read.axes] = await Promise.all([
        whole ? ask("explain", explainParameters(read.text)) : null,
        whole || read.unknown ? ask("layout", layoutParameters(i, read.target ?? undefined)) : null,
        whole && i === state.focus ? suggestAxes(read) : [],
      ]);
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
    for (const name of ["meaning", "axes", "worth", "map", "recurrent", "alike"]) cards[name].hide();
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
    showStates(read, stale).catch(failed(cards.recurrent)),
    showAlike(stale).catch(failed(cards.alike)),
    showMap(read, texts, stale).catch(failed(cards.map)),
  ];
  showHeads(read);
  await Promise.all(jobs);
}
