// An answer: the Table of a question, as the command prints it.
class Answer {
  constructor(given) {
    this.columns = given.columns;
    this.rows = given.rows;
    this.notes = given.notes ?? [];
    this.command = given.command ?? "";
    this.lead = given.lead ?? [];
    this.names = given.columns.map((column) => column.name);
  }

  records() {
    return this.rows.map((row) => Object.fromEntries(row.map((cell, i) => [this.names[i], cell])));
  }

  tsv() {
    const text = (cell) => (Array.isArray(cell) ? cell.join(" ") : String(cell ?? ""));
    const line = (cells) => cells.map((cell) => text(cell).replace(/\s+/g, " ")).join("\t") + "\n";
    return [this.names, ...this.rows].map(line).join("");
  }

  // As a table of the page; a long one shows its first rows.
  draw(most = 300) {
    const shown = this.names.map((_, i) => i).filter((i) => this.columns[i].role !== "vector");
    const number = (cell) => typeof cell === "number";
    const show = (cell) => (number(cell) && !Number.isInteger(cell) ? fixed(cell, 4) : (cell ?? ""));
    return h("div", { class: "scroll behind", tabindex: 0 },
      h("table", null,
        h("thead", null, h("tr", null, shown.map((i) =>
          h("th", { scope: "col", title: this.columns[i].meaning }, this.names[i])))),
        h("tbody", null, this.rows.slice(0, most).map((row) =>
          h("tr", null, shown.map((i) =>
            h("td", { class: number(row[i]) ? "number" : null, dir: "auto" }, show(row[i]))))))),
      this.rows.length > most && h("p", { class: "hint" }, `the first ${most} of ${this.rows.length} rows; TSV has all`));
  }
}
