// Begin: the cards in their order, the state of the address, and what follows a change.
main.replaceChildren(...Object.values(cards).map((card) => card.root));
if (DATA.live) Object.assign(state, readLink(location.hash.slice(1)) ?? {});
let waiting = false;
let busy = 0;
const soon = () => {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(async () => {
    waiting = false;
    busy += 1;
    main.setAttribute("aria-busy", "true");
    await refresh().finally(() => main.setAttribute("aria-busy", String((busy -= 1) > 0)));
    drawTop();
  });
};
heard.push(soon);
addEventListener("hashchange", () => {
  const given = readLink(location.hash.slice(1));
  if (given) { Object.assign(state, given); soon(); }
});
addEventListener("resize", later(120, soon));
drawTop();
soon();
