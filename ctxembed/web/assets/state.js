// The state of the page; the address holds it after the #.
const START = {
  sentences: [{ text: "[Apple] launched a new phone while I was eating an orange", target: null, gone: [] }],
  focus: 0, attention: null, general: null, head: "mean", encoding: "none", vectors: null,
  hand: null, over: null, ladder: false, axes: null, weights: {}, step: 1, map: false, query: "", hidden: [],
  lesson: null, model: null, // the number of a chapter; a bundled model in place of the page's own
  draw: "contribution", // or weight: what pictures of attention show; axes: null for those of the word's senses
};
const state = { ...structuredClone(START), ...DATA.start };
const listeners = [];

function change(patch) {
  Object.assign(state, patch);
  const link = DATA.live ? `#${writeLink(state)}` : state.lesson ? chapterLink(state.lesson) : "#"; // a report has links to chapters
  if (link !== location.hash) history.replaceState(null, "", link);
  for (const call of listeners) call(patch);
}

function writeLink(now) {
  const link = new URLSearchParams();
  for (const one of now.sentences) {
    const extra = [one.target ?? "", one.gone.join(",")].join(";").replace(/;$/, "");
    link.append("s", extra ? `${extra}|${one.text}` : `|${one.text}`);
  }
  const plain = { f: now.focus, a: now.attention, g: now.general, h: now.head, e: now.encoding,
    v: now.vectors, hand: now.hand, over: now.over, n: now.step, q: now.query, d: now.draw, l: now.lesson, m: now.model };
  const start = { f: 0, h: "mean", e: "none", n: 1, q: "", d: "contribution" };
  for (const [name, value] of Object.entries(plain)) {
    if (value !== null && value !== start[name]) link.set(name, value);
  }
  for (const [name, words] of now.axes ?? []) link.append("axis", `${name}=${words}`);
  if (now.axes && !now.axes.length) link.append("axis", "");
  for (const [index, weight] of Object.entries(now.weights)) link.append("w", `${index}:${weight}`);
  if (now.map) link.set("map", "1");
  if (now.ladder) link.set("ladder", "1");
  return link.toString();
}

const chapterLink = (number) => `#l=${number}`;

function readLink(text) {
  const link = new URLSearchParams(text);
  const chapter = DATA.lessons.find((one) => one.number === Number(link.get("l"))) ?? null;
  if (!link.has("s") || !DATA.live) return chapter && chapterState(chapter);
  const whole = (value, most) => Math.min(most, Math.max(0, Number.parseInt(value, 10) || 0));
  const sentences = link.getAll("s").slice(0, 4).map((item) => {
    const [extra, ...rest] = item.split("|");
    const [target, gone] = extra.split(";");
    return {
      text: rest.join("|"),
      target: target ? whole(target, 1000) : null,
      gone: gone ? gone.split(",").map((index) => whole(index, 1000)) : [],
    };
  });
  return {
    ...structuredClone(START), sentences,
    focus: whole(link.get("f"), sentences.length - 1),
    attention: link.get("a"), general: link.get("g"), head: link.get("h") ?? "mean",
    encoding: link.get("e") ?? "none", vectors: link.get("v"), hand: link.get("hand"), over: link.get("over"), ladder: link.has("ladder"),
    step: whole(link.get("n") ?? 1, 6) || 1, query: link.get("q") ?? "", map: link.has("map"),
    lesson: chapter?.number ?? null,
    model: link.get("m") in DATA.models ? link.get("m") : null,
    draw: link.get("d") === "weight" ? "weight" : "contribution",
    axes: link.has("axis") ? link.getAll("axis").filter(Boolean).map((axis) => [axis.split("=")[0], axis.split("=").slice(1).join("=")]) : null,
    weights: Object.fromEntries(link.getAll("w").map((item) => item.split(":"))
      .map(([index, weight]) => [whole(index, 1000), Math.min(1, Math.max(0, Number(weight) || 0))])),
  };
}
