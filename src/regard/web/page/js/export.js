/** Figures and numbers to take away: SVG and PNG with their caption and fonts, CSV and JSON. */

import { h, svg } from "./dom.js";
import { withFonts } from "./fonts.js";
import { openSheet } from "./sheet.js";
import { measure as long } from "./views/paint.js";

/** @typedef {{columns: string[], rows: (string | number)[][]}} Table */
/**
 * What a room can give away; a figure it draws, numbers it knows.
 * @typedef {object} Figure
 * @property {string} title
 * @property {() => SVGSVGElement | Promise<SVGSVGElement>} [svg]
 * @property {() => Table | Promise<Table>} [table]
 * @property {() => unknown} [json] may be a promise
 */
/** What a picture leaves with. @typedef {{caption: string, ground: boolean}} How */
/** @typedef {{caption: string, room: string, toast: (message: string, kind?: "note" | "error") => void}} Setting */

const LINE = 18; // of the caption, in pixels
const EDGE = 16;
/** What a figure has from the style sheets and must carry with it. */
const CARRIED = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-opacity",
  "stroke-dasharray",
  "stroke-linecap",
  "opacity",
  "font-family",
  "font-size",
  "font-weight",
  "font-style",
  "text-anchor",
  "dominant-baseline",
];

/** Offer all figures in a dialog. @param {Figure[]} figures @param {Setting} setting */
export function openExport(figures, setting) {
  const caption = h("input", { type: "checkbox", checked: true });
  const ground = h("input", { type: "checkbox" });
  const how = () => ({ caption: caption.checked ? setting.caption : "", ground: ground.checked });
  openSheet(
    "Export",
    figures.length === 0 && h("p", null, "There is nothing to export yet: make a picture first, then come back."),
    figures.map((figure) => row(figure, setting, how)),
    figures.length > 0 && h("label", { class: "check" }, ground, "with the page's ground; else it is transparent"),
    setting.caption && h("label", { class: "check" }, caption, "with its caption: ", setting.caption),
  );
}

/** @param {Figure} figure @param {Setting} setting @param {() => How} how */
function row(figure, setting, how) {
  const name = `regard-${setting.room}-${slug(figure.title)}`;
  /** @param {string} label @param {() => Promise<Blob>} make */
  const button = (label, make) =>
    h(
      "button",
      {
        class: "button",
        "aria-label": `${figure.title} as ${label}`,
        onclick: () => void save(`${name}.${label.toLowerCase()}`, make, setting),
      },
      label,
    );
  const drawn = async () => withFonts(captioned(await /** @type {Required<Figure>} */ (figure).svg(), how()));
  return h(
    "div",
    { class: "export-row" },
    h("span", null, figure.title),
    h(
      "span",
      { class: "buttons" },
      figure.svg && button("SVG", async () => svgBlob(await drawn())),
      figure.svg && button("PNG", async () => png(await drawn())),
      figure.table && button("CSV", async () => csv(await /** @type {Required<Figure>} */ (figure).table())),
      figure.json && button("JSON", async () => json(await figure.json?.())),
    ),
  );
}

/** @param {string} name @param {() => Promise<Blob>} make @param {Setting} setting */
async function save(name, make, { toast }) {
  try {
    download(name, await make());
    toast(`Saved ${name}`);
  } catch (error) {
    toast(`${name} was not saved: ${error instanceof Error ? error.message : error}`, "error");
  }
}

/** Hand a file to the reader. @param {string} name @param {Blob} blob */
export function download(name, blob) {
  const href = URL.createObjectURL(blob);
  h("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 10000);
}

/**
 * A copy that stands alone: styles written into it, the caption below, and a ground if it is wished.
 * @param {SVGSVGElement} source drawn on the page, or loose
 * @param {How} how
 * @returns {SVGSVGElement}
 */
export function captioned(source, { caption, ground }) {
  const loose = !source.isConnected;
  if (loose) document.body.append(h("div", { class: "backstage" }, source));
  const [width, height] = measure(source);
  const style = getComputedStyle(document.body);
  const copy = /** @type {SVGSVGElement} */ (source.cloneNode(true));
  carry(source, copy);
  if (loose) source.parentElement?.remove();
  const lines = wrap(caption, Math.max(160, width), `12px ${style.fontFamily}`);
  const tall = height + (lines.length ? EDGE + lines.length * LINE : 0);
  for (const name of ["class", "id", "tabindex", "style"]) copy.removeAttribute(name);
  copy.setAttribute("x", String(EDGE));
  copy.setAttribute("y", String(EDGE));
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  return svg(
    "svg",
    {
      xmlns: "http://www.w3.org/2000/svg",
      viewBox: `0 0 ${width + 2 * EDGE} ${tall + 2 * EDGE}`,
      width: width + 2 * EDGE,
      height: tall + 2 * EDGE,
    },
    ground && svg("rect", { width: "100%", height: "100%", fill: style.backgroundColor }),
    copy,
    lines.map((line, i) =>
      svg(
        "text",
        {
          x: EDGE,
          y: height + 2 * EDGE + (i + 0.7) * LINE,
          fill: style.color,
          "font-size": 12,
          "font-family": style.fontFamily,
        },
        line,
      ),
    ),
  );
}

/** @param {SVGSVGElement} element */
export function svgBlob(element) {
  return new Blob([new XMLSerializer().serializeToString(element)], { type: "image/svg+xml" });
}

/** Twice the size, so that it can be printed. @param {SVGSVGElement} element @returns {Promise<Blob>} */
export async function png(element) {
  const href = URL.createObjectURL(svgBlob(element));
  try {
    const image = new Image();
    image.src = href;
    await image.decode();
    const canvas = h("canvas", { width: image.naturalWidth * 2, height: image.naturalHeight * 2 });
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve, reject) =>
      canvas.toBlob(
        (blob) => (blob ? resolve(blob) : reject(new Error("the figure is too large for a PNG; take the SVG"))),
        "image/png",
      ),
    );
  } finally {
    URL.revokeObjectURL(href);
  }
}

/** @param {Table} table */
export function csv({ columns, rows }) {
  const lines = [columns, ...rows].map((each) => each.map(field).join(","));
  return new Blob(["\ufeff", lines.join("\r\n"), "\r\n"], { type: "text/csv" });
}

/** @param {unknown} value */
export function json(value) {
  return new Blob([JSON.stringify(value, null, 2), "\n"], { type: "application/json" });
}

/** Quoted where needed; a word that a spreadsheet would run as a formula is only a word. @param {string | number} value */
function field(value) {
  const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** @param {SVGSVGElement} element @returns {[number, number]} */
function measure(element) {
  const box = element.viewBox.baseVal;
  if (box && box.width && box.height) return [box.width, box.height];
  const drawn = element.getBoundingClientRect();
  return [drawn.width || 300, drawn.height || 150];
}

/** @param {Element} from @param {Element} to */
function carry(from, to) {
  const style = getComputedStyle(from);
  for (const name of CARRIED) {
    const value = style.getPropertyValue(name);
    if (value) to.setAttribute(name, value);
  }
  [...from.children].forEach((child, i) => {
    const twin = to.children[i];
    if (twin) carry(child, twin);
  });
}

/** @param {string} text @param {number} width in pixels @param {string} font @returns {string[]} */
function wrap(text, width, font) {
  /** @type {string[]} */
  const lines = [];
  for (const word of text
    .split(/\s+/)
    .filter(Boolean)
    .flatMap((each) => parts(each, width, font))) {
    const last = lines.at(-1);
    if (last !== undefined && long(`${last} ${word}`, font) <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** A word that is longer than a line, in parts that are not. @param {string} word @param {number} width @param {string} font @returns {string[]} */
function parts(word, width, font) {
  const letters = [...word];
  let end = letters.length;
  while (end > 1 && long(letters.slice(0, end).join(""), font) > width) end -= 1;
  return end < letters.length ? [letters.slice(0, end).join(""), ...parts(letters.slice(end).join(""), width, font)] : [word]; // prettier-ignore
}

/** @param {string} text */
const slug = (text) =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-|-$/g, "") || "figure";
