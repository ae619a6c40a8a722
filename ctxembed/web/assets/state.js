// The state of the page; the address holds it after the #.
const AXES = [["taste", "fruit, sweet, juice"], ["technology", "phone, company, software"]];
const START = {
  sentences: [{ text: "[Apple] launched a new phone while I was eating an orange", target: null, gone: [] }],
  focus: 0, attention: null, general: null, head: "mean", encoding: "none", vectors: null,
  hand: null, over: null, ladder: false, axes: AXES, weights: {}, step: 1, map: false, query: "", hidden: [],
};
const state = { ...structuredClone(START), ...DATA.start };
const listeners = [];

function change(patch) {
  Object.assign(state, patch);
  const link = `#${writeLink(state)}`;
  if (DATA.live && link !== location.hash) history.replaceState(null, "", link);
  for (const call of listeners) call(patch);
}

function writeLink(now) {
  const link = new URLSearchParams();
  for (const one of now.sentences) {
    const extra = [one.target ?? "", one.gone.join(",")].join(";").replace(/;$/, "");
    link.append("s", extra ? `${extra}|${one.text}` : `|${one.text}`);
  }
  const plain = { f: now.focus, a: now.attention, g: now.general, h: now.head, e: now.encoding,
    v: now.vectors, hand: now.hand, over: now.over, n: now.step, q: now.query };
  const start = { f: 0, h: "mean", e: "none", n: 1, q: "" };
  for (const [name, value] of Object.entries(plain)) {
    if (value !== null && value !== start[name]) link.set(name, value);
  }
  for (const [name, words] of now.axes) link.append("axis", `${name}=${words}`);
  for (const [index, weight] of Object.entries(now.weights)) link.append("w", `${index}:${weight}`);
  if (now.map) link.set("map", "1");
  if (now.ladder) link.set("ladder", "1");
  return link.toString();
}

function readLink(text) {
  const link = new URLSearchParams(text);
  if (!link.has("s")) return null;
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
    axes: link.getAll("axis").map((axis) => [axis.split("=")[0], axis.split("=").slice(1).join("=")]),
    weights: Object.fromEntries(link.getAll("w").map((item) => item.split(":"))
      .map(([index, weight]) => [whole(index, 1000), Math.min(1, Math.max(0, Number(weight) || 0))])),
  };
}
