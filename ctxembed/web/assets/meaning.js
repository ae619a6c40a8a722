// What a dictionary says of a word here, and how sure it is; said: lines, as the command says it.
function definitionOf(row, written, said) {
  if (!row?.definition) return [];
  const second = row.second && row.sure < 0.6 ? [`or ${row.second}`] : [];
  const [first, ...others] = said ?? [`${row.definition}, ${fixed(row.sure)} sure`, ...second];
  return [h("p", null, h("b", { dir: "auto" }, written), ` here: ${first}`,
    h("meter", { min: 0, max: 1, low: 0.4, high: 0.6, optimum: 1, value: row.sure, title: `${fixed(row.sure)} sure`, "aria-label": "how sure" })),
    ...others.map((other) => h("p", { class: "plain" }, other))];
}

// The answer in words: what the word is like here, why, and on average.
// hand: the answer with weights set by hand, which then leads. waves: positions are added to the vectors that
// are drawn, and compare does not add them.
function inWords({ hand, rows, name, waves, words, target, lead }) {
  const chosen = hand?.row ?? rows.find((row) => row.representation === name);
  const list = (row) => [row?.like ?? []].flat().join(", ");
  const sense = !hand && /sense \d+ of \d+ \([^)]*\)/.exec(lead ?? "")?.[0];
  return [
    waves && h("p", { class: "hint" }, "Without the waves of the positions it is like:"),
    !waves && (list(chosen) || !state.vectors) && h("p", { class: "says", dir: "auto" }, hand && h("span", { class: "hint" }, "With your weights, "), h("b", null, words[target].written), " here is like ",
      h("b", { class: "like" }, list(chosen) || "no word it knows"), "."),
    !waves && chosen?.because?.length > 0 && h("p", { class: "plain because" }, "Because of ", [chosen.because].flat().flatMap((one, i) => [i ? ", " : "", h("bdi", null, one.word ? `${one.word} ${one.share.toFixed(2)}` : one)]), "."),
    sense && h("p", { class: "plain sense" }, `${sense[0].toUpperCase()}${sense.slice(1)}, ${fixed(chosen.sense_share)} sure.`),
    rows.map((row, i) => row.like?.length > 0 && h("p", { class: "plain", "data-near": row.representation },
      h("span", { class: "name" }, mark(i), row.representation),
      list(row),
      row.definition && row.definition !== chosen?.definition && h("span", { class: "hint other-sense" }, ` · ${row.definition}`))),
  ];
}
