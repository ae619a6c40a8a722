// The context words of a meaning with their shares, as the command prints them; null for another cell.
function reasons(cell) {
  return Array.isArray(cell) && cell[0]?.word ? cell.map((one) => `${one.word} ${one.share.toFixed(2)}`).join(", ") : null;
}

// The answer to a question: a Table, as the command prints it.
class Answer {
  constructor(content) {
    this.columns = content.columns;
    this.rows = content.rows;
    this.notes = content.notes ?? [];
    this.command = content.command ?? "";
    this.lead = content.lead ?? [];
    this.pictures = content.pictures ?? [];
    this.names = content.columns.map((column) => column.name);
  }

  records() {
    return this.rows.map((row) => Object.fromEntries(row.map((cell, i) => [this.names[i], cell])));
  }

  tsv() {
    const text = (cell) => String(reasons(cell) ?? (Array.isArray(cell) ? cell.join(" ") : (cell ?? "")));
    const quote = (cell) => (cell.includes('"') ? `"${cell.replaceAll('"', '""')}"` : cell); // as pandas and R read it
    const line = (cells) => cells.map((cell) => quote(text(cell).replace(/\s+/g, " "))).join("\t") + "\n";
    return [this.names, ...this.rows].map(line).join("");
  }

  // The table as HTML; only the first rows of a long one.
  draw(maxRows = 300) {
    const long = (cell) => Array.isArray(cell) && cell.length > 4;
    const shown = this.names.map((_, i) => i).filter((i) => this.columns[i].role !== "vector" || (this.rows.length && !this.rows.some((row) => long(row[i]))));
    const isNumber = (cell) => typeof cell === "number";
    const whole = this.names.map((_, i) => this.rows.every((row) => !isNumber(row[i]) || Number.isInteger(row[i])));
    const vector = (cell) => (cell[0] === null ? "" : `[${cell.map((n) => fixed(n)).join(", ")}]`);
    const show = (cell, i) => reasons(cell) ?? (this.columns[i].role === "vector" && cell ? vector(cell) : isNumber(cell) && !whole[i] ? number(cell) : (cell ?? ""));
    return h("div", { class: "scroll rows", tabindex: 0 },
      h("table", null,
        h("thead", null, h("tr", null, shown.map((i) =>
          h("th", { scope: "col", title: this.columns[i].meaning }, this.names[i])))),
        h("tbody", null, this.rows.slice(0, maxRows).map((row) =>
          h("tr", null, shown.map((i) =>
            h("td", { class: isNumber(row[i]) ? "number" : null, dir: "auto" }, show(row[i], i))))))),
      this.rows.length > maxRows && h("p", { class: "hint" }, `the first ${maxRows} of ${this.rows.length} rows; TSV has all`));
  }
}
