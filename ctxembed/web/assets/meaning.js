// The answer in words: what the word is like here, why, and what it is like on average.
function inWords({ rows, name, words, target, lead }) {
  const told = rows.find((row) => row.representation === name);
  const list = (row) => [row?.like ?? []].flat().join(", ");
  const sense = /sense \d+ of \d+ \([^)]*\)/.exec(lead ?? "")?.[0];
  return [
    (list(told) || !state.vectors) && h("p", { class: "says", dir: "auto" }, h("b", null, words[target].written), " here is like ",
      h("b", { class: "like" }, list(told) || "no word it knows"), "."),
    told?.because?.length > 0 && h("p", { class: "plain because" }, "Because of ", [told.because].flat().flatMap((one, i) => [i ? ", " : "", h("bdi", null, one)]), "."),
    sense && h("p", { class: "plain sense" }, `${sense[0].toUpperCase()}${sense.slice(1)}, ${fixed(told.sense_share)} sure.`),
    rows.filter((row) => row.like?.length).map((row) => h("p", { class: "plain", "data-near": row.representation },
      h("span", { class: "name" }, mark(wayShape(row.representation), wayColour(row.representation)), row.representation),
      list(row))),
  ];
}
