// The map of a word: a point for each occurrence, with the colour and shape of its sense.
class SenseMap {
  constructor() {
    this.zoom = [1, 0, 0]; // factor, and shift in pixels
    this.picked = null; // index of the occurrence whose neighbours are listed
    this.word = null;
  }

  // points, legend, placed: answers; query: text to find; hidden: senses that are not shown.
  draw({ word, points, legend, placed, query, hidden, toggle, search, redrawn, centres }) {
    const frame = points.pictures[0][cardIsNarrow(true) ? 1 : 0], { width, height } = frame;
    if (word !== this.word) Object.assign(this, { word, zoom: [1, 0, 0], picked: null });
    const [factor, left, top] = this.zoom; // on the page: factor * pixel + left or top
    const px = (x) => factor * (width / 2 + frame.unit * (x - frame.x)) + left;
    const py = (y) => factor * (height / 2 - frame.unit * (y - frame.y)) + top;
    const all = points.records();
    const here = (placed ?? []).filter((p) => p.x !== null);
    const wanted = query.trim().toLowerCase();
    const hit = (point) => !wanted || point.sentence.toLowerCase().includes(wanted);
    const senses = legend.records();
    const few = all.length < 40;
    const svg = s("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img",
      "aria-label": centres ? `map of ${senses.length} senses of ${word}` : `map of ${all.length} occurrences of ${word} in ${senses.length} senses` });
    const shown = all.filter((point) => !hidden.includes(point.sense));
    for (const { sense } of senses) {
      for (const lit of wanted ? [false, true] : [true]) {
        const d = shown.filter((point) => point.sense === sense && hit(point) === lit)
          .map((point) => outline(sense - 1, px(point.x), py(point.y), few ? 7 : lit && wanted ? 4.2 : 3)).join("");
        svg.append(s("path", { d, fill: colour(sense - 1), opacity: lit ? 0.72 : 0.1, "data-sense": sense }));
      }
    }
    const halo = { "font-weight": 650, stroke: "var(--card)", "stroke-width": 4, "paint-order": "stroke" };
    const within = (p) => [Math.min(width - 12, Math.max(12, px(p.x))), Math.min(height - 12, Math.max(12, py(p.y)))];
    // labels are placed where they cover no other label, ring or centre of a sense
    const taken = [...here, ...(centres ? shown : [])].map((p) => { const [x, y] = within(p); return [x - 12, y - 12, x + 12, y + 12]; });
    for (const [x, y, text, sense] of frame.names) {
      if (hidden.includes(sense)) continue;
      const [at, above] = [factor * x + left, factor * y + top];
      const place = centres ? freePlace(...within(shown.find((point) => point.sense === sense)), text, 15, taken, width, height) : [at, above, "middle"];
      svg.append(s("text", { x: place[0], y: place[1], "font-size": 15, "text-anchor": place[2], ...halo }, text));
      if (!centres) taken.push([at - 4 * text.length, above - 12, at + 4 * text.length, above + 4]);
    }
    here.forEach((p, i) => {
      const [x, y] = within(p), text = here.length > 1 ? `sentence ${i + 1}` : "this sentence";
      const place = freePlace(x, y, text, 13, taken, width, height);
      svg.append(s("g", { class: "here" }, s("circle", { cx: x, cy: y, r: 11, fill: "none", stroke: "var(--ink)", "stroke-width": 2.5 }), s("circle", { cx: x, cy: y, r: 4, fill: "var(--ink)" }),
        s("text", { x: place[0], y: place[1], "font-size": 13, "text-anchor": place[2], ...halo }, text)));
    });
    const ring = s("circle", { r: 7, fill: "none", stroke: "var(--ink)", "stroke-width": 1.5, visibility: "hidden" });
    svg.append(ring);
    const tip = h("div", { class: "tip", hidden: true, dir: "auto" });
    const plane = h("div", { class: "map-box" }, svg, tip);
    const nearest = (event) => {
      const seen = svg.getBoundingClientRect();
      const [mx, my] = [((event.clientX - seen.left) / seen.width) * width, ((event.clientY - seen.top) / seen.height) * height];
      let best = null, least = 18 ** 2;
      for (const point of shown) {
        const away = (px(point.x) - mx) ** 2 + (py(point.y) - my) ** 2;
        if (away < least) [best, least] = [point, away];
      }
      return [best, mx, my, seen.width / width];
    };
    svg.addEventListener("pointermove", (event) => {
      const [point, mx, my, scale] = nearest(event);
      tip.hidden = !point;
      ring.setAttribute("visibility", point ? "visible" : "hidden");
      if (!point) return;
      tip.textContent = point.sentence;
      tip.style.left = `${Math.min(mx * scale + 12, Math.max(0, width * scale - 260))}px`;
      tip.style.top = `${my * scale + 14}px`;
      ring.setAttribute("cx", px(point.x));
      ring.setAttribute("cy", py(point.y));
    });
    svg.addEventListener("pointerleave", () => { tip.hidden = true; ring.setAttribute("visibility", "hidden"); });
    svg.addEventListener("click", (event) => { const [point] = nearest(event); if (point) { this.picked = all.indexOf(point); redrawn(); } });
    const zoom = (by, x = width / 2, y = height / 2) => { // (x, y) stays where it is
      this.zoom = [factor * by, x - by * (x - left), y - by * (y - top)];
      redrawn();
    };
    svg.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.shiftKey) return; // the page itself scrolls
      event.preventDefault();
      const [, mx, my] = nearest(event);
      zoom(event.deltaY > 0 ? 0.8 : 1.25, mx, my);
    }, { passive: false });
    svg.addEventListener("pointerdown", (start) => {
      if (start.pointerType === "touch") return;
      const scale = width / svg.getBoundingClientRect().width;
      addEventListener("pointerup", (end) => {
        const [dx, dy] = [end.clientX - start.clientX, end.clientY - start.clientY];
        if (Math.hypot(dx, dy) < 6) return;
        this.zoom = [factor, left + dx * scale, top + dy * scale];
        redrawn();
      }, { once: true });
    });
    const button = (text, name, call) => h("button", { type: "button", "aria-label": name, title: name, "data-key": `map-${name}`, onclick: call }, text);
    const controls = h("div", { class: "controls" },
      !centres && h("label", null, "search ", h("input", { type: "search", value: query, "data-key": "map-search", "aria-label": "search the occurrences", ...typing(150, (event) => search(event.target.value)) })),
      wanted && h("span", { class: "hint", role: "status" }, `${shown.filter(hit).length} of ${shown.length}`),
      h("span", { class: "group" }, button("+", "zoom in", () => zoom(1.4)), button("−", "zoom out", () => zoom(0.7)), button("all", "show all", () => { this.zoom = [1, 0, 0]; redrawn(); })),
      h("span", { class: "group senses", role: "group", "aria-label": "senses" }, senses.map((one) =>
        h("button", { type: "button", "aria-pressed": String(!hidden.includes(one.sense)), "data-key": `sense-${one.sense}`, onclick: () => toggle(one.sense) },
          mark(one.sense - 1), `${one.sense}: `, h("bdi", null, one.markers.split(" ").slice(0, 2).join(" ")), ` ${Math.round(100 * one.share)} %`))));
    return { svg, parts: [controls, h("div", { class: "map-side" }, plane, this.list(all, shown, wanted ? shown.filter(hit) : [], centres))] };
  }

  // The twelve most similar occurrences, by the coordinates in `near`.
  list(all, shown, hits, centres) {
    const from = all[this.picked];
    if (centres) return h("p", { class: "hint" }, "Each mark is the middle of one sense: this model was made without its corpus, so single occurrences cannot be drawn.");
    if (!from && !hits.length) return h("p", { class: "hint" }, "Each point is one occurrence. Point at one to read it; click it, and the twelve most like it are listed here. Ctrl with the wheel zooms, dragging moves.");
    const chosen = from ? nearestTo(from, all, 12) : hits.slice(0, 12);
    return h("div", null,
      h("p", { class: "plain", dir: "auto" }, from ? ["Most like ", h("b", null, from.sentence)] : "The first matches"),
      h("ol", { class: "near" }, chosen.map((point) => h("li", { dir: "auto" }, mark(point.sense - 1), point.sentence))));
  }
}

// Where a label beside a point covers least of the boxes taken; its own box is added to them.
function freePlace(x, y, text, size, taken, width, height) {
  const long = 0.6 * size * text.length;
  const places = [[x + 16, y + size / 3, "start"], [x - 16, y + size / 3, "end"], [x, y - 18, "middle"], [x, y + 14 + size, "middle"]].map(([a, b, anchor]) => {
    const from = anchor === "start" ? a : anchor === "end" ? a - long : a - long / 2;
    return { place: [a, b, anchor], box: [from, b - size, from + long, b + 4] };
  });
  const covered = ([a, b, c, d]) => taken.reduce((sum, [e, f, g, i]) => sum + Math.max(0, Math.min(c, g) - Math.max(a, e)) * Math.max(0, Math.min(d, i) - Math.max(b, f)), 0)
    + 100 * (Math.max(0, -a) + Math.max(0, c - width) + Math.max(0, -b) + Math.max(0, d - height));
  const best = places.reduce((one, other) => (covered(other.box) < covered(one.box) ? other : one));
  taken.push(best.box);
  return best.place;
}

function nearestTo(from, all, number) {
  const away = (point) => point.near.reduce((sum, n, i) => sum + (n - from.near[i]) ** 2, 0);
  return all.filter((point) => point !== from).map((point) => [away(point), point])
    .sort((a, b) => a[0] - b[0]).slice(0, number).map(([, point]) => point);
}
