// Elements made by code alone: text goes in as text nodes, and nothing is ever read as markup.
const SVG = "http://www.w3.org/2000/svg";

function element(made, given, children) {
  for (const [name, value] of Object.entries(given ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "value") made.value = value;
    else made.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(2)) {
    if (child === null || child === undefined || child === false) continue;
    made.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return made;
}

function h(name, given, ...children) {
  return element(document.createElement(name), given, children);
}

function s(name, given, ...children) {
  return element(document.createElementNS(SVG, name), given, children);
}

// Put new content into a place; what had the keyboard's focus there has it again.
function redraw(place, ...children) {
  const active = document.activeElement;
  const key = place.contains(active) ? active.dataset?.key : null;
  const typed = key && ["text", "search"].includes(active.type) ? [active.value, active.selectionStart, active.selectionEnd] : null;
  place.replaceChildren(...children.flat().filter((child) => child));
  const again = key && [...place.querySelectorAll("[data-key]")].find((e) => e.dataset.key === key);
  if (!again) return;
  again.focus({ preventScroll: true });
  if (typed && again.type) { // what was typed meanwhile is not lost
    again.value = typed[0];
    again.setSelectionRange(typed[1], typed[2]);
  }
}

// What to do a little after the last key, and not within a character that is put together of keys.
function typing(wait, call) {
  const soon = later(wait, call);
  return { oninput: (event) => event.isComposing || soon(event), oncompositionend: soon };
}

function later(wait, call) {
  let timer = 0;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => call(...given), wait);
  };
}

// Tell something for a moment, to screen readers too.
function say(text) {
  const said = h("div", { class: "said", role: "status" }, text);
  document.body.append(said);
  setTimeout(() => said.remove(), 2500);
}

const fixed = (value, digits = 2) =>
  value === null || value === undefined ? "" : value.toFixed(digits).replace(/^-(0\.?0*)$/, "$1");

const rightToLeft = (text) =>
  /^[^A-Za-z\u00c0-\u024f\u0370-\u052f]*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/.test(text);

// Width of text on the page, before it is drawn.
const measure = (() => {
  const context = document.createElement("canvas").getContext("2d");
  return (text, size = 18, weight = 400) => {
    context.font = `${weight} ${size}px ${getComputedStyle(document.body).fontFamily}`;
    return context.measureText(text).width;
  };
})();
