// What is shown, as a file: the picture with its colours written into it, or the table behind it.
const STYLES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size", "font-weight",
  "font-style", "font-family", "paint-order", "text-anchor", "dominant-baseline", "text-decoration-line", "direction"];

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
  const { width, height } = svg.viewBox.baseVal;
  copy.setAttribute("xmlns", SVG);
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  const paper = getComputedStyle(document.documentElement).getPropertyValue("--card").trim();
  copy.prepend(s("rect", { width, height, fill: paper }));
  // A character that XML forbids would make the file unreadable.
  return new XMLSerializer().serializeToString(copy).replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, "");
}

// Mixed colours as every program reads them.
function plainColour(value) {
  return value.replace(/color\(srgb ([\d.e-]+) ([\d.e-]+) ([\d.e-]+)(?: \/ [\d.]+)?\)/g, (_, ...parts) =>
    `rgb(${parts.slice(0, 3).map((part) => Math.round(255 * Number(part))).join(",")})`);
}

function save(name, content, type) {
  const place = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = h("a", { href: place, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(place), 10_000);
}

function savePicture(name, svg) {
  const { width, height } = svg.viewBox.baseVal;
  const place = URL.createObjectURL(new Blob([standalone(svg)], { type: "image/svg+xml" }));
  const image = new Image();
  image.onload = () => {
    const canvas = h("canvas", { width: Math.ceil(width * 2), height: Math.ceil(height * 2) });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((made) => save(`${name}.png`, made));
    URL.revokeObjectURL(place);
  };
  image.src = place;
}

async function copy(text, told) {
  try {
    await navigator.clipboard.writeText(text);
    say(told);
  } catch {
    window.prompt(told, text); // a page opened from a file may not write there
  }
}
