// The course: a chapter sets the page, points at the card that it speaks of, and hides numbers to work out.
const lessonPanel = document.getElementById("lesson");
const PANELS = { sentence: "sentences", sentences: "sentences", recipe: "sentences", words: "meaning", like: "meaning", neighbors: "meaning", compare: "meaning" };

const COUNTED = ["ladder", "counts", "one-hot", "bow", "tfidf"]; // panels of sentences as counts

const chapterOf = (number) => DATA.lessons.find((one) => one.number === number) ?? null;

// The state of the page for a chapter.
function chapterState(chapter) {
  const { page } = chapter, model = page.vectors || page.weights ? null : page.model ?? "english";
  const known = DATA.models[model]?.attentions ?? [];
  return {
    ...structuredClone(START), lesson: chapter.number, model: model === DATA.name ? null : model,
    sentences: (page.sentences.length ? page.sentences : START.sentences.map((one) => one.text)).map((text) => ({ text, target: null, gone: [] })),
    vectors: page.vectors, hand: page.weights, general: page.general, head: page.head, encoding: page.encoding, over: page.over,
    attention: known.includes(page.attention) ? page.attention : null, ladder: COUNTED.includes(page.open),
    axes: page.axes.length ? page.axes.map(([name, words]) => [name, words.replaceAll(",", ", ")]) : null,
    draw: ["steps", "recipe"].includes(page.open) ? "weight" : "contribution", step: page.open === "steps" ? (cardIsNarrow(true) ? 4 : STEPS.length) : 1,
  };
}

function openChapter(number) {
  const chapter = chapterOf(number);
  exercise.stop();
  change(chapter ? chapterState(chapter) : { lesson: null, ...(DATA.live ? {} : structuredClone({ ...START, ...DATA.start })) });
  lessonPanel.scrollTop = 0;
  document.querySelector('[data-key="lesson-next"], [data-key="lesson"]')?.focus({ preventScroll: true });
}

function lessonButton() {
  if (!DATA.lessons.length) return null;
  return h("button", { type: "button", "data-key": "lesson", "aria-pressed": String(Boolean(state.lesson)), "aria-controls": "lesson",
    onclick: () => openChapter(state.lesson ? null : DATA.lessons[0].number) }, "Lesson");
}

function drawLesson() {
  const chapter = chapterOf(state.lesson);
  lessonPanel.hidden = !chapter;
  document.documentElement.classList.toggle("in-lesson", Boolean(chapter));
  if (!chapter) {
    pointAt(null);
    return redraw(lessonPanel);
  }
  const at = DATA.lessons.indexOf(chapter), step = (text, key, to) => h("button", { type: "button", "data-key": key, disabled: !to, onclick: () => openChapter(to.number) }, text);
  redraw(lessonPanel,
    h("div", { class: "controls" },
      h("select", { "aria-label": "chapter", "data-key": "chapters", onchange: (event) => openChapter(Number(event.target.value)) },
        DATA.lessons.map((one) => h("option", { value: one.number, selected: one === chapter }, `${one.number}. ${one.title}`))),
      h("button", { type: "button", "aria-label": "close the lesson", "data-key": "lesson-close", onclick: () => openChapter(null) }, "×")),
    h("h2", { id: "lesson-title" }, `${chapter.number}. ${chapter.title}`),
    h("p", { class: "short" }, chapter.short),
    h("p", null, chapter.text),
    h("p", { class: "points", "data-points": "" }),
    h("div", { class: "controls" }, step("back", "lesson-back", DATA.lessons[at - 1]), step("next", "lesson-next", DATA.lessons[at + 1]),
      h("span", { class: "hint" }, `chapter ${at + 1} of ${DATA.lessons.length}`)),
    exercise.root,
    h("details", null, h("summary", null, "in the terminal"),
      chapter.steps.map((one) => [h("div", { class: "command" }, one.line), h("p", { class: "hint" }, one.look)]),
      h("p", null, h("b", null, "Try. "), chapter.task.look), h("div", { class: "command" }, chapter.task.line)),
    h("button", { type: "button", "data-key": "lesson-link", onclick: () => copy(location.href.split("#")[0] + chapterLink(chapter.number), "Link copied.") }, "link to this chapter"));
  pointAt(chapter);
}

// Mark the card that a chapter speaks of, and say which it is.
function pointAt(chapter) {
  const card = chapter && pointedCard(chapter);
  for (const one of Object.values(cards)) one.root.classList.toggle("pointed", one === card && !one.root.hidden);
  const line = lessonPanel.querySelector("[data-points]");
  if (line) redraw(line, card && !card.root.hidden && h("a", { href: `#${card.id}`, "data-key": "lesson-point", onclick: (event) => { event.preventDefault(); card.root.scrollIntoView({ behavior: "smooth", block: "nearest" }); } }, `→ Look at: ${card.title.textContent}`));
}

function pointedCard(chapter) {
  const { open } = chapter.page, card = cards[PANELS[open] ?? open] ?? cards[state.ladder ? "bow" : "sentences"];
  return card.root.hidden ? cards.sentences : card;
}
