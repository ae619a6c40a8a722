// The answer in words: what the word is like here, why, and what it is like on average.
function inWords({ rows, name, could, weights, words, target }) {
  const own = new Set(words.map((word) => word.word));
  const of = (way) => rows.find((row) => row.representation === way);
  const near = (row) => (row?.like ?? row?.nearest ?? "").split(" ").filter((word) => word && !own.has(word)).slice(0, 4).join(", ");
  const because = words.map((word, i) => [weights[i] ?? 0, word.written, i]).filter(([, , i]) => i !== target)
    .sort((a, b) => b[0] - a[0]).slice(0, 3).filter(([weight]) => weight >= 0.05)
    .map(([weight, word]) => `${word} ${fixed(weight)}`).join(", ");
  const told = of(name);
  const like = could?.records().map((row) => row.substitute).slice(0, 4).join(", ") ?? near(told);
  return [
    h("p", { class: "says", dir: "auto" }, h("b", null, words[target].written), " here is like ", h("b", { class: "like" }, like || "nothing else"), "."),
    (told?.because ?? because) && h("p", { class: "plain because" }, "Because it looks at ", told?.because ?? because, "."),
    told?.sense && h("p", { class: "plain sense" }, `Sense ${told.sense}`, told.sense_share ? `, ${fixed(told.sense_share)} sure.` : "."),
    rows.filter((row) => row.like || row.nearest).map((row) => h("p", { class: "plain", "data-near": row.representation },
      h("span", { class: "name" }, mark(wayShape(row.representation), wayColour(row.representation)), row.representation), near(row))),
  ];
}
