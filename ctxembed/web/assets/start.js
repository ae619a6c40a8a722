// Start: add the cards, read the state from the address, redraw after a change.
main.replaceChildren(...Object.values(cards).map((card) => card.root));
Object.assign(state, readLink(location.hash.slice(1)) ?? {});
let waiting = false;
let busy = 0;
function soon() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(async () => {
    waiting = false;
    busy += 1;
    main.setAttribute("aria-busy", "true");
    await refresh().finally(() => main.setAttribute("aria-busy", String((busy -= 1) > 0)));
    drawTop();
    drawLesson();
    if (state.lesson) exercise.hide(pointedCard(chapterOf(state.lesson)));
  });
}
listeners.push(soon);
addEventListener("hashchange", () => {
  const linked = readLink(location.hash.slice(1));
  if (linked) { Object.assign(state, linked); soon(); }
});
addEventListener("resize", later(120, soon));
drawTop();
soon();
