// Header and footer: examples, link, theme, model and commands.
const two = (first, second) => ({ sentences: [first, second].map((text) => ({ text, target: null, gone: [] })) });
const lone = (text) => ({ sentences: [{ text, target: null, gone: [] }] });
const MONEY = [["money", "money, loan, cash"], ["river", "river, water, boat"]];
const EXAMPLES = {
  "One word, many sentences": {
    "Apple launches a phone while I eat an orange": lone("[Apple] launched a new phone while I was eating an orange"),
    "two apples in one sentence": lone("[Apple] launched a new phone while I was eating an apple"),
    "apple in four sentences": { sentences: ["An [apple] a day keeps the doctor away", "[Apple] is healthy", "[Apple] is better than orange", "[Apple] makes great phones"].map((text) => ({ text, target: null, gone: [] })) },
    "money bank, river bank": { ...two("money [bank] grows", "river [bank] flows"), axes: MONEY },
    "the server and the server": { ...two("[Server], can I have the check?", "Looks like I just crashed the [server]"), axes: [["restaurant", "waiter, menu, food"], ["computer", "computer, network, software"]] },
    "break a leg, let the cat out of the bag": two("[Break a leg] before you go on stage", "He [let the cat out of the bag] about the party"),
    "a piece of cake": { ...two("Solving problems like these is a [piece of cake]", "She ate a [piece of cake] with her tea"), axes: [["kitchen", "sugar, butter, bread"], ["study", "easy, exam, problem"]] },
  },
  "By hand, as on the board": {
    "apple by hand, [taste, technology], most of the corpus about fruit": { ...lone("[Apple] launched a phone while eating an orange"), vectors: "apple" },
    "the same, most of the corpus about the company": { ...lone("[Apple] launched a phone while eating an orange"), vectors: "apple-company" },
    "phone · fruit = 0": { ...lone("[phone] fruit"), vectors: "phone-fruit" },
    "new(bank) = softmax over three products": { ...lone("money [bank] grows"), vectors: "bank" },
    "money bank and river bank, three numbers a word": { ...two("money [bank] grows", "river [bank] flows"), vectors: "bank" },
    "order: sine waves added to each word": { ...lone("money [bank] grows"), vectors: "bank", encoding: "sinusoidal" },
    "W_V scales the vector": { ...lone("[phone] fruit"), vectors: "scaling" },
    "W_V turns the vector": { ...lone("[phone] fruit"), vectors: "rotation" },
    "W_Q, W_K, W_V at random, before training": { ...two("[Apple] launched a new phone while I was eating an orange", "An [apple] a day keeps the doctor away"), vectors: "apple-untrained" },
    "W_Q, W_K, W_V after training on four sentences": { ...two("[Apple] launched a new phone while I was eating an orange", "An [apple] a day keeps the doctor away"), vectors: "apple-trained" },
    "king, queen, cricket: each number is a factor": { ...lone("[king] queen cricket"), vectors: "king-queen-cricket" },
  },
  "Several points of view, two sequences": {
    "several heads": { ...lone("we sat on the [bank] of the river"), axes: MONEY, head: "1" },
    "two sequences: bank looks at river flows": { ...lone("[bank]"), over: "river flows", vectors: "bank" },
    "two sequences: one sentence looks at another": { ...lone("the [bank] was old"), over: "she lent me money at low interest" },
  },
  "The ladder below": {
    "mat cat mat, cat rat rat: one-hot, counts, TF-IDF": { ...two("mat cat mat", "cat rat rat"), ladder: true },
  },
  "Picked by hand, nothing computed": {
    "tea = 0.5 milk + …": { hand: "tea" },
    "the weights of money bank grows": { hand: "money-bank" },
    "the weights of river bank flows": { hand: "river-bank" },
  },
};

function drawTop() {
  const menu = DATA.live && h("select", { "aria-label": "worked examples", "data-key": "examples", onchange: (event) => {
    const [group, name] = JSON.parse(event.target.value);
    change({ ...structuredClone(START), ...structuredClone(EXAMPLES[group][name]) });
  } }, h("option", { value: "", selected: true, disabled: true }, "worked examples"),
    Object.entries(EXAMPLES).map(([group, items]) => h("optgroup", { label: group }, Object.keys(items).map((name) => h("option", { value: JSON.stringify([group, name]) }, name)))));
  redraw(document.getElementById("top"),
    h("h1", null, "What does this word mean here?", h("small", null, state.model ? DATA.models[state.model].model : DATA.model)),
    lessonButton(),
    menu || null,
    !DATA.live && DATA.sentences.length > 1 && h("select", { "data-key": "which", "aria-label": "sentence", onchange: (event) => change({ ...structuredClone(START), ...DATA.start, sentences: [DATA.sentences[Number(event.target.value)]] }) },
      DATA.sentences.map((one, i) => h("option", { value: i, selected: !state.lesson && one.text === state.sentences[0].text }, one.text.replace(/[[\]]/g, "").slice(0, 70)))),
    DATA.live && h("button", { type: "button", "data-key": "link", onclick: () => copy(location.href, "Link copied.") }, "copy link"),
    h("button", { type: "button", "data-key": "theme", "aria-label": "light or dark", onclick: turnTheme }, "light / dark"));
  redraw(document.getElementById("foot"),
    commands(), DATA.foot.map((line) => h("div", { dir: "auto" }, line)));
}

function commands() {
  const shown = [...new Set(Object.values(cards).filter((card) => !card.root.hidden && card.answer?.command).map((card) => card.answer.command))];
  return DATA.live && shown.length ? h("details", null, h("summary", null, "the same on the command line"),
    shown.map((line) => h("div", { class: "command" }, line))) : null;
}

function turnTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
}
