/** The page's fonts within a drawing that leaves it: only those whose letters it has, so that it looks the same elsewhere. */

import { svg } from "./dom.js";

/** @typedef {{family: string, weights: [number, number], ranges: [number, number][], rule: string, url: string}} Face a font of the page, and the letters it is for */

/** What the mathematics has that letters lack; for any other sign, its 120 kB would be carried for nothing. */
const SIGNS = /[\u2070-\u209f\u2100-\u2bff\u{1d400}-\u{1d7ff}]/u;
const MATH = "regard math";

/** @type {Map<string, Promise<string>>} */
const read = new Map();

/** Put the fonts of its texts into a drawing that is not on the page. @param {SVGSVGElement} drawing @returns {Promise<SVGSVGElement>} */
export async function withFonts(drawing) {
  const rules = await Promise.all(usedFaces(drawing).map(embedded));
  const found = rules.filter(Boolean);
  if (found.length) drawing.prepend(svg("style", null, found.join("\n")));
  return drawing;
}

/** @param {SVGSVGElement} drawing @returns {Face[]} */
function usedFaces(drawing) {
  const known = faces();
  /** @type {Set<Face>} */
  const used = new Set();
  for (const { families, weight, letters } of texts(drawing)) {
    for (const letter of letters) {
      const face = faceOf(known, families, weight, letter);
      if (face) used.add(face);
    }
  }
  return known.filter((face) => used.has(face));
}

/** The letters of a drawing by how they are set. @param {SVGSVGElement} drawing */
function texts(drawing) {
  /** @type {Map<string, {families: string[], weight: number, letters: Set<string>}>} */
  const found = new Map();
  const walker = document.createTreeWalker(drawing, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const [family, bold] = [attribute(node, "font-family"), attribute(node, "font-weight")];
    const key = `${bold}/${family}`;
    const entry = found.get(key) ?? { families: split(family), weight: weightOf(bold), letters: new Set() };
    for (const letter of node.textContent ?? "") entry.letters.add(letter);
    found.set(key, entry);
  }
  return found.values();
}

/** What an element says of its text, or the nearest around it that does. @param {Node} node @param {string} name */
function attribute(node, name) {
  return node.parentElement?.closest(`[${name}]`)?.getAttribute(name) ?? "";
}

/** @param {string} family */
const split = (family) => family.split(",").map((each) => each.trim().replace(/^["']|["']$/g, ""));
/** @param {string} weight */
const weightOf = (weight) => ({ bold: 700, normal: 400 })[weight] ?? (Number(weight) || 400);

/** The face that a letter is set in, as the browser chooses: the first family that has it, in the nearest weight.
 * @param {Face[]} known @param {string[]} families @param {number} weight @param {string} letter */
function faceOf(known, families, weight, letter) {
  const code = letter.codePointAt(0) ?? 0;
  for (const [place, family] of families.entries()) {
    if (family === MATH && place > 0 && !SIGNS.test(letter)) continue;
    const able = known.filter((face) => face.family === family && holds(face, code));
    if (able.length) return able.reduce((best, face) => (off(face, weight) < off(best, weight) ? face : best));
  }
  return null;
}

/** How far a face is from a weight. @param {Face} face @param {number} weight */
const off = ({ weights: [low, high] }, weight) => Math.max(low - weight, weight - high, 0);
/** @param {Face} face @param {number} code */
const holds = ({ ranges }, code) => !ranges.length || ranges.some(([low, high]) => code >= low && code <= high);

/** All that the style sheets of the page declare. @returns {Face[]} */
function faces() {
  return [...document.styleSheets].flatMap((sheet) => {
    try {
      return [...sheet.cssRules].flatMap((rule) => (rule instanceof CSSFontFaceRule ? [face(rule, sheet)] : []));
    } catch {
      return []; // a sheet of another site, as around a notebook
    }
  });
}

/** @param {CSSFontFaceRule} rule @param {CSSStyleSheet} sheet @returns {Face} */
function face({ style }, sheet) {
  const of = (/** @type {string} */ name) => style.getPropertyValue(name);
  const [low = 400, high = low] = of("font-weight").split(/\s+/).filter(Boolean).map(weightOf);
  const ranges = [...of("unicode-range").matchAll(/U\+([0-9A-F]+)(?:-([0-9A-F]+))?/gi)].map(
    ([, first = "", last = first]) => /** @type {[number, number]} */ ([parseInt(first, 16), parseInt(last, 16)]),
  );
  const said = ["font-family", "font-weight", "font-style", "unicode-range"]
    .filter(of)
    .map((name) => `${name}: ${of(name)};`);
  const url = of("src").match(/url\(["']?([^"')]+)["']?\)/)?.[1] ?? "";
  return {
    family: split(of("font-family"))[0] ?? "",
    weights: [low, high],
    ranges,
    rule: said.join(" "),
    url: url && new URL(url, sheet.href ?? document.baseURI).href,
  };
}

/** A face with its file in it; nothing where the file cannot be had, and the drawing names its font as before. @param {Face} face */
async function embedded({ rule, url }) {
  if (!url) return "";
  const data = url.startsWith("data:") ? Promise.resolve(url) : (read.get(url) ?? fetched(url));
  read.set(url, data);
  try {
    return `@font-face { ${rule} src: url("${await data}") format("woff2"); }`;
  } catch {
    read.delete(url);
    return "";
  }
}

/** A file as an address that holds it. @param {string} url @returns {Promise<string>} */
async function fetched(url) {
  const response = await fetch(url, { credentials: "same-origin" });
  if (!response.ok) throw new Error(`${url} was answered with ${response.status}`);
  const bytes = new Uint8Array(await response.arrayBuffer());
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return `data:font/woff2;base64,${btoa(text)}`;
}
