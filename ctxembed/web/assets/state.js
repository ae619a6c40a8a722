// All that the page shows follows from this; the address holds it behind the #.
const AXES = [["taste", "fruit, sweet, juice"], ["technology", "phone, company, software"]];
const START = {
  sentences: [{ text: "[Apple] launched a new phone while I was eating an orange", target: null, gone: [] }],
  focus: 0, attention: null, general: null, head: "mean", encoding: "none", vectors: null,
  hand: null, over: null, ladder: false, axes: AXES, weights: {}, step: 1, map: false, found: "", hidden: [],
};
const state = { ...structuredClone(START), ...DATA.start };
const heard = [];

function change(patch) {
  Object.assign(state, patch);
  const link = `#${writeLink(state)}`;
  if (DATA.live && link !== location.hash) history.replaceState(null, "", link);
  for (const call of heard) call(patch);
}

function writeLink(now) {
  const made = new URLSearchParams();
  for (const one of now.sentences) {
    const extra = [one.target ?? "", one.gone.join(",")].join(";").replace(/;$/, "");
    made.append("s", extra ? `${extra}|${one.text}` : `|${one.text}`);
  }
  const plain = { f: now.focus, a: now.attention, g: now.general, h: now.head, e: now.encoding,
    v: now.vectors, hand: now.hand, over: now.over, n: now.step, q: now.found };
  const start = { f: 0, h: "mean", e: "none", n: 1, q: "" };
  for (const [name, value] of Object.entries(plain)) {
    if (value !== null && value !== start[name]) made.set(name, value);
  }
  for (const [name, words] of now.axes) made.append("axis", `${name}=${words}`);
  for (const [place, weight] of Object.entries(now.weights)) made.append("w", `${place}:${weight}`);
  if (now.map) made.set("map", "1");
  if (now.ladder) made.set("ladder", "1");
  return made.toString();
}

function readLink(text) {
  const given = new URLSearchParams(text);
  if (!given.has("s")) return null;
  const whole = (value, most) => Math.min(most, Math.max(0, Number.parseInt(value, 10) || 0));
  const sentences = given.getAll("s").slice(0, 4).map((item) => {
    const [extra, ...rest] = item.split("|");
    const [target, gone] = extra.split(";");
    return {
      text: rest.join("|"),
      target: target ? whole(target, 1000) : null,
      gone: gone ? gone.split(",").map((place) => whole(place, 1000)) : [],
    };
  });
  return {
    ...structuredClone(START), sentences,
    focus: whole(given.get("f"), sentences.length - 1),
    attention: given.get("a"), general: given.get("g"), head: given.get("h") ?? "mean",
    encoding: given.get("e") ?? "none", vectors: given.get("v"), hand: given.get("hand"), over: given.get("over"), ladder: given.has("ladder"),
    step: whole(given.get("n") ?? 1, 6) || 1, found: given.get("q") ?? "", map: given.has("map"),
    axes: given.getAll("axis").map((axis) => [axis.split("=")[0], axis.split("=").slice(1).join("=")]),
    weights: Object.fromEntries(given.getAll("w").map((item) => item.split(":"))
      .map(([place, weight]) => [whole(place, 1000), Math.min(1, Math.max(0, Number(weight) || 0))])),
  };
}
