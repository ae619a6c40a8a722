// The answer in words: what the word is like here, why, and on average.
function inWords({ rows, name, words, target, lead }) {
  const chosen = rows.find((row) => row.representation === name);
  const list = (row) => [row?.like ?? []].flat().join(", ");
  const sense = /sense \d+ of \d+ \([^)]*\)/.exec(lead ?? "")?.[0];
  return [
    (list(chosen) || !state.vectors) && h("p", { class: "says", dir: "auto" }, h("b", null, words[target].written), " here is like ",
      h("b", { class: "like" }, list(chosen) || "no word it knows"), "."),
    chosen?.because?.length > 0 && h("p", { class: "plain because" }, "Because of ", [chosen.because].flat().flatMap((one, i) => [i ? ", " : "", h("bdi", null, one)]), "."),
    sense && h("p", { class: "plain sense" }, `${sense[0].toUpperCase()}${sense.slice(1)}, ${fixed(chosen.sense_share)} sure.`),
    rows.map((row, i) => row.like?.length > 0 && h("p", { class: "plain", "data-near": row.representation },
      h("span", { class: "name" }, mark(i), row.representation),
      list(row))),
  ];
}
