// Save what a card shows: the picture with its colours as attributes, or its table.
const STYLES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size", "font-weight",
  "font-style", "font-family", "paint-order", "text-anchor", "dominant-baseline", "text-decoration-line", "direction"];

const PICTURE_MARGIN = 20; // pixels around a saved picture
const CAPTION = 22; // pixels of the line below it that says what is drawn

function withMargin(svg) {
  const { x, y, width, height } = svg.viewBox.baseVal, line = svg.dataset.caption ? CAPTION : 0;
  return { x: x - PICTURE_MARGIN, y: y - PICTURE_MARGIN, width: Math.max(width, line && 420) + 2 * PICTURE_MARGIN, height: height + line + 2 * PICTURE_MARGIN };
}

function standalone(svg) {
  const copy = svg.cloneNode(true);
  const from = [svg, ...svg.querySelectorAll("*")];
  const into = [copy, ...copy.querySelectorAll("*")];
  from.forEach((original, i) => {
    const style = getComputedStyle(original);
    for (const name of STYLES) {
      const value = plainColour(style.getPropertyValue(name));
      if (value && value !== "none" || name === "fill" || name === "stroke") into[i].setAttribute(name.replace("-line", ""), value);
    }
    for (const name of ["class", "tabindex", "role", "data-key"]) into[i].removeAttribute(name);
  });
  copy.querySelectorAll("[data-tool]").forEach((tool) => tool.remove());
  const { x, y, width, height } = withMargin(svg);
  if (svg.dataset.caption) copy.append(s("text", { x: x + PICTURE_MARGIN, y: y + height - PICTURE_MARGIN, "font-size": 12, fill: getComputedStyle(svg).color, "font-family": "sans-serif" }, svg.dataset.caption));
  copy.removeAttribute("data-caption");
  copy.setAttribute("xmlns", SVG);
  copy.setAttribute("viewBox", `${x} ${y} ${width} ${height}`);
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  copy.prepend(s("rect", { x, y, width, height, fill: getComputedStyle(svg.closest(".card")).backgroundColor }));
  // Remove characters that XML forbids.
  return new XMLSerializer().serializeToString(copy).replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, "");
}

// Write color(srgb …) as rgb(…), which every program reads.
function plainColour(value) {
  return value.replace(/color\(srgb ([\d.e-]+) ([\d.e-]+) ([\d.e-]+)(?: \/ [\d.]+)?\)/g, (_, ...parts) =>
    `rgb(${parts.slice(0, 3).map((part) => Math.round(255 * Number(part))).join(",")})`);
}

function save(name, content, type) {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = h("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

function savePicture(name, svg) {
  const { width, height } = withMargin(svg);
  const url = URL.createObjectURL(new Blob([standalone(svg)], { type: "image/svg+xml" }));
  const image = new Image();
  image.onload = () => {
    const canvas = h("canvas", { width: Math.ceil(width * 2), height: Math.ceil(height * 2) });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => save(`${name}.png`, blob));
    URL.revokeObjectURL(url);
  };
  image.src = url;
}

async function copy(text, message) {
  try {
    await navigator.clipboard.writeText(text);
    say(message);
  } catch {
    window.prompt(message, text); // a page opened from a file has no clipboard
  }
}
