// The map of a word: a point for each occurrence, its sense by colour and shape.
class SenseMap {
  constructor() {
    this.view = null; // what part of the plane is shown; null for all of it
    this.picked = null; // the occurrence whose neighbours are listed
    this.word = null;
  }

  // points, legend, placed: answers; found: text looked for; hidden: senses that are not shown.
  draw({ word, points, legend, placed, found, hidden, toggle, search, redrawn, room }) {
    if (word !== this.word) Object.assign(this, { word, view: null, picked: null });
    const width = room, height = Math.round(Math.max(300, Math.min(480, room * 0.72)));
    const all = points.records();
    const here = (placed ?? []).filter((p) => p.x !== null);
    const box = this.view ?? around([...all, ...here]);
    const unit = Math.min((width - 40) / (box.x1 - box.x0), (height - 40) / (box.y1 - box.y0));
    const px = (x) => width / 2 + (x - (box.x0 + box.x1) / 2) * unit;
    const py = (y) => height / 2 - (y - (box.y0 + box.y1) / 2) * unit;
    const wanted = found.trim().toLowerCase();
    const hit = (point) => !wanted || point.sentence.toLowerCase().includes(wanted);
    const senses = legend.records();
    const few = all.length < 40;
    const svg = s("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img",
      "aria-label": `map of ${all.length} occurrences of ${word} in ${senses.length} senses` });
    const shown = all.filter((point) => !hidden.includes(point.sense));
    for (const { sense } of senses) {
      for (const lit of wanted ? [false, true] : [true]) {
        const d = shown.filter((point) => point.sense === sense && hit(point) === lit)
          .map((point) => SHAPES[senseShape(sense)](round(px(point.x)), round(py(point.y)), few ? 7 : lit && wanted ? 4.2 : 3)).join("");
        svg.append(s("path", { d, fill: senseColour(sense), opacity: lit ? 0.72 : 0.1, "data-sense": sense }));
      }
    }
    const taken = [];
    for (const one of senses.filter((row) => !hidden.includes(row.sense))) {
      const text = one.markers.split(" ").slice(0, 3).join(" ");
      const half = measure(text, 15, 650) / 2 + 4;
      const x = Math.min(width - half, Math.max(half, px(one.x)));
      let y = Math.min(height - 8, Math.max(18, py(one.y)));
      while (taken.some(([left, top, wide]) => Math.abs(left - x) < wide + half && Math.abs(top - y) < 18)) y += 18; // below the others
      taken.push([x, y, half]);
      svg.append(s("text", { x, y, "font-size": 15, "font-weight": 650, "text-anchor": "middle", stroke: "var(--card)", "stroke-width": 4, "paint-order": "stroke" }, text));
    }
    here.forEach((p, i) => svg.append(s("g", { class: "here" },
      s("circle", { cx: px(p.x), cy: py(p.y), r: 11, fill: "none", stroke: "var(--ink)", "stroke-width": 2.5 }),
      s("circle", { cx: px(p.x), cy: py(p.y), r: 4, fill: "var(--ink)" }),
      s("text", { x: px(p.x) + (px(p.x) > width - 120 ? -15 : 15), y: py(p.y) + 5, "font-size": 13, "font-weight": 650, "text-anchor": px(p.x) > width - 120 ? "end" : "start",
        stroke: "var(--card)", "stroke-width": 3, "paint-order": "stroke" }, here.length > 1 ? `sentence ${i + 1}` : "this sentence"))));
    const ring = s("circle", { r: 7, fill: "none", stroke: "var(--ink)", "stroke-width": 1.5, visibility: "hidden" });
    svg.append(ring);
    const tip = h("div", { class: "tip", hidden: true, dir: "auto" });
    const frame = h("div", { class: "map-box" }, svg, tip);
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
    const zoom = (factor, cx = (box.x0 + box.x1) / 2, cy = (box.y0 + box.y1) / 2) => {
      this.view = { x0: cx - (cx - box.x0) * factor, x1: cx + (box.x1 - cx) * factor, y0: cy - (cy - box.y0) * factor, y1: cy + (box.y1 - cy) * factor };
      redrawn();
    };
    svg.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.shiftKey) return; // the page itself scrolls
      event.preventDefault();
      const [, mx, my] = nearest(event);
      zoom(event.deltaY > 0 ? 1.25 : 0.8, (mx - width / 2) / unit + (box.x0 + box.x1) / 2, (height / 2 - my) / unit + (box.y0 + box.y1) / 2);
    }, { passive: false });
    this.pan(svg, box, unit, width, redrawn);
    const button = (text, name, call) => h("button", { type: "button", "aria-label": name, title: name, "data-key": `map-${name}`, onclick: call }, text);
    const controls = h("div", { class: "controls" },
      h("label", null, "search ", h("input", { type: "search", value: found, "data-key": "map-search", "aria-label": "search the occurrences", ...typing(150, (event) => search(event.target.value)) })),
      wanted && h("span", { class: "hint", role: "status" }, `${shown.filter(hit).length} of ${shown.length}`),
      h("span", { class: "group" }, button("+", "zoom in", () => zoom(0.7)), button("−", "zoom out", () => zoom(1.4)), button("all", "show all", () => { this.view = null; redrawn(); })),
      h("span", { class: "group senses", role: "group", "aria-label": "senses" }, senses.map((one) =>
        h("button", { type: "button", "aria-pressed": String(!hidden.includes(one.sense)), "data-key": `sense-${one.sense}`, onclick: () => toggle(one.sense) },
          mark(senseShape(one.sense), senseColour(one.sense)), `${one.sense}: `, h("bdi", null, one.markers.split(" ").slice(0, 2).join(" ")), ` ${Math.round(100 * one.share)} %`))));
    return { svg, parts: [controls, h("div", { class: "map-side" }, frame, this.list(all, shown, wanted ? shown.filter(hit) : []))] };
  }

  // The twelve occurrences that are most alike, by all the directions the page has.
  list(all, shown, hits) {
    const from = all[this.picked];
    if (!from && !hits.length) return h("p", { class: "hint" }, "Each point is one occurrence. Point at one to read it; click it, and the twelve most like it are listed here. Ctrl with the wheel zooms, dragging moves.");
    const chosen = from ? nearestTo(from, all, 12) : hits.slice(0, 12);
    return h("div", null,
      h("p", { class: "plain", dir: "auto" }, from ? ["Most like ", h("b", null, from.sentence)] : "The first that were found"),
      h("ol", { class: "near" }, chosen.map((point) => h("li", { dir: "auto" }, mark(senseShape(point.sense), senseColour(point.sense)), point.sentence))));
  }

  pan(svg, box, unit, width, redrawn) {
    svg.addEventListener("pointerdown", (start) => {
      if (start.pointerType === "touch") return;
      const scale = width / svg.getBoundingClientRect().width;
      const up = (end) => {
        removeEventListener("pointerup", up);
        const [dx, dy] = [((start.clientX - end.clientX) * scale) / unit, ((end.clientY - start.clientY) * scale) / unit];
        if (Math.hypot(end.clientX - start.clientX, end.clientY - start.clientY) < 6) return;
        this.view = { x0: box.x0 + dx, x1: box.x1 + dx, y0: box.y0 + dy, y1: box.y1 + dy };
        redrawn();
      };
      addEventListener("pointerup", up);
    });
  }
}

const round = (value) => Math.round(value * 10) / 10;

function around(points) {
  const [xs, ys] = [points.map((p) => p.x), points.map((p) => p.y)];
  const ends = (values) => [values.reduce((a, b) => Math.min(a, b), Infinity), values.reduce((a, b) => Math.max(a, b), -Infinity)];
  const [[x0, x1], [y0, y1]] = [ends(xs), ends(ys)];
  const pad = 0.5 * (x1 === x0 && y1 === y0);
  return { x0: x0 - pad, x1: x1 + pad, y0: y0 - pad, y1: y1 + pad };
}

function nearestTo(from, all, number) {
  const away = (point) => point.near.reduce((sum, n, i) => sum + (n - from.near[i]) ** 2, 0);
  return all.filter((point) => point !== from).map((point) => [away(point), point])
    .sort((a, b) => a[0] - b[0]).slice(0, number).map(([, point]) => point);
}
