// Create elements by code only: text becomes text nodes and is never parsed as markup.
const SVG = "http://www.w3.org/2000/svg";

function element(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "value") node.value = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(2)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}

function h(name, attributes, ...children) {
  return element(document.createElement(name), attributes, children);
}

function s(name, attributes, ...children) {
  return element(document.createElementNS(SVG, name), attributes, children);
}

// Replace the content of an element; keep the keyboard focus.
function redraw(parent, ...children) {
  const active = document.activeElement;
  const key = parent.contains(active) ? active.dataset?.key : null;
  const typed = key && ["text", "search"].includes(active.type) ? [active.value, active.selectionStart, active.selectionEnd] : null;
  parent.replaceChildren(...children.flat().filter((child) => child));
  const again = key && [...parent.querySelectorAll("[data-key]")].find((e) => e.dataset.key === key);
  if (!again) return;
  again.focus({ preventScroll: true });
  if (typed && again.type) { // keep what was typed meanwhile
    again.value = typed[0];
    again.setSelectionRange(typed[1], typed[2]);
  }
}

// Handlers that call after a pause in typing, but not while an input method composes.
function typing(wait, call) {
  const soon = later(wait, call);
  return { oninput: (event) => event.isComposing || soon(event), oncompositionend: soon };
}

function later(wait, call) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => call(...values), wait);
  };
}

// Show a message for a moment, also to screen readers.
function say(text) {
  const message = h("div", { class: "said", role: "status" }, text);
  document.body.append(message);
  setTimeout(() => message.remove(), 2500);
}

// A number as the page writes it everywhere, with two digits.
const fixed = (value, digits = 2) =>
  value === null || value === undefined ? "" : value.toFixed(digits).replace(/^-(0\.?0*)$/, "$1");

// The same with more digits in its tip. how: how it is worked out, if an exercise may hide it; shown: what comes
// out with the numbers of two digits that the page shows.
const number = (value, how = null, shown = value) => h("span", { title: fixed(value, 5), "data-value": how && value, "data-shown": how && shown, "data-how": how }, fixed(value));
const rounded = (value) => Number(fixed(value));
