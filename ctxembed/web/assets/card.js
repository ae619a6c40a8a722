// A card: a title, tools to save what it shows, and its table.
class Card {
  constructor(id, title, hint, { wide = false, withNotes = true } = {}) {
    this.id = id;
    this.answer = null;
    this.picture = null;
    this.open = false;
    this.withNotes = withNotes; // false if another card shows the notes
    this.body = h("div");
    this.table = h("div");
    this.notes = h("ul", { class: "notes" });
    this.title = h("h2", { id: `${id}-title` }, title);
    this.hint = h("span", { class: "hint" }, hint);
    const tool = (name, meaning, call) =>
      h("button", { type: "button", title: meaning, "data-key": `${id}-${name}`, onclick: call }, name);
    this.tools = h("div", { class: "tools", role: "group", "aria-label": `save ${title}` },
      tool("SVG", "save the picture as SVG", () => this.picture && save(`${id}.svg`, standalone(this.picture), "image/svg+xml")),
      tool("PNG", "save the picture as PNG", () => this.picture && savePicture(id, this.picture)),
      tool("TSV", "save the table", () => this.answer && save(`${id}.tsv`, this.answer.tsv(), "text/tab-separated-values")),
      tool("table", "show the table", () => this.toggle()),
      tool("$", "copy the command that prints it", () => copy(this.answer.command, "Command copied.")));
    this.root = h("section", { class: `card${wide ? " wide" : ""}`, id, "aria-labelledby": `${id}-title`, hidden: true },
      h("div", { class: "bar" }, this.title, this.hint, this.tools),
      this.body, this.table, this.notes);
  }

  show(answer, picture, ...content) {
    this.answer = answer;
    this.picture = picture;
    this.root.hidden = false;
    const [svg, png, tsv, table, command] = this.tools.children;
    svg.hidden = png.hidden = !picture;
    tsv.hidden = table.hidden = !answer;
    command.hidden = !answer?.command;
    redraw(this.body, ...(content.length ? content : [picture]));
    const notes = this.withNotes ? answer?.notes ?? [] : [];
    redraw(this.notes, notes.map((note) => h("li", { dir: "auto" }, note)));
    redraw(this.table, this.open && answer ? answer.draw() : null);
  }

  toggle() {
    this.open = !this.open;
    redraw(this.table, this.open && this.answer ? this.answer.draw() : null);
  }

  say(text) {
    this.root.hidden = false;
    redraw(this.body, h("p", { class: "error", role: "alert" }, text));
    redraw(this.notes);
  }

  hide() {
    this.root.hidden = true;
  }
}
