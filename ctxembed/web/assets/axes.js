const HOW_AXIS = "The dot product of the vector and the axis, both of length 1; the picture above shows it";

// The cosine of each representation with the axes, and inputs to edit the axes.
function axisNumbers(rows, axes) {
  return h("table", { class: "numbers" },
    h("thead", null, h("tr", null, h("th", { scope: "col" }, ""), axes.map((axis) => h("th", { scope: "col" }, axis)),
      h("th", { scope: "col", title: "cosine with the word's static vector" }, "with static"))),
    h("tbody", null, rows.map((row, i) => {
      const best = Math.max(...axes.map((axis) => row[axis]));
      return h("tr", { "data-representation": row.representation },
        h("td", null, mark(i), row.representation),
        axes.map((axis) => h("td", { "data-axis": axis },
          row[axis] === best && axes.length > 1 ? h("b", null, number(row[axis], HOW_AXIS)) : number(row[axis], HOW_AXIS))),
        h("td", null, fixed(row.cos_static ?? null)));
    })));
}

// Inputs to edit the axes, each a name and a few words.
function axisEditor(axes, changed) {
  // read the current state: another field may have changed meanwhile
  const set = (i, part, value) => changed((state.axes ?? axes).map((axis, j) => (j === i ? axis.map((old, k) => (k === part ? value : old)) : axis)));
  return h("div", { class: "axes" },
    axes.map(([name, words], i) => h("div", null,
      h("input", { value: name, "aria-label": `name of axis ${i + 1}`, "data-key": `axis-${i}-0`, ...typing(400, (event) => set(i, 0, event.target.value)) }),
      h("input", { value: words, "aria-label": `words of axis ${i + 1}`, "data-key": `axis-${i}-1`, ...typing(400, (event) => set(i, 1, event.target.value)) }),
      h("button", { type: "button", title: "remove this axis", onclick: () => changed(axes.filter((_, j) => j !== i)) }, "×"))),
    h("div", null, axes.length < 4 && h("button", { type: "button", onclick: () => changed([...axes, ["", ""]]) }, "+ axis"),
      state.axes && h("button", { type: "button", "data-key": "own-axes", onclick: () => changed(null) }, "axes of the word's senses")));
}
