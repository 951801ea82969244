/** A canvas that is sharp on any screen, painted once a frame at most, in the colours of the page. */

import { dark } from "../color.js";
import { svg } from "../dom.js";

/** @typedef {{width: number, height: number}} Size */

/**
 * @typedef {object} Sheet
 * @property {HTMLCanvasElement} canvas
 * @property {() => void} repaint soon
 * @property {() => void} stop
 */

/**
 * Paint when asked, when the size changes and when the theme does.
 * @param {HTMLCanvasElement} canvas
 * @param {(ink: CanvasRenderingContext2D, size: Size) => void} paint
 * @returns {Sheet}
 */
export function sheet(canvas, paint) {
  let frame = 0;
  const now = () => {
    frame = 0;
    const ratio = devicePixelRatio || 1;
    const size = { width: canvas.clientWidth, height: canvas.clientHeight };
    if (!size.width || !size.height) return;
    const [width, height] = [Math.round(size.width * ratio), Math.round(size.height * ratio)];
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    const ink = canvas.getContext("2d");
    if (!ink) return;
    ink.setTransform(ratio, 0, 0, ratio, 0, 0);
    ink.clearRect(0, 0, size.width, size.height);
    paint(ink, size);
  };
  const repaint = () => {
    frame ||= requestAnimationFrame(now);
  };
  const watcher = new ResizeObserver(repaint);
  watcher.observe(canvas);
  const unwatch = themed(repaint);
  return {
    canvas,
    repaint,
    stop: () => {
      cancelAnimationFrame(frame);
      watcher.disconnect();
      unwatch();
    },
  };
}

/** Be told when the page turns dark or light. @param {() => void} run @returns {() => void} */
export function themed(run) {
  const watcher = new MutationObserver(run);
  watcher.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  return () => watcher.disconnect();
}

/** @typedef {Record<"ink" | "muted" | "line" | "raised" | "sunken" | "accent" | "lamp" | "q" | "k" | "v" | "x" | "y", string>} Inks */
/** @type {{theme: boolean, inks: Inks} | null} */
let mixed = null;

/** The colours of the page, resolved for canvases and files. @returns {Inks} */
export function inks() {
  if (mixed && mixed.theme === dark()) return mixed.inks;
  const probe = document.body.appendChild(document.createElement("i"));
  const read = (/** @type {string} */ name) => {
    probe.style.setProperty("color", `var(--${name})`);
    return getComputedStyle(probe).color;
  };
  const names = ["ink", "muted", "line", "raised", "sunken", "accent", "lamp", "q", "k", "v", "x", "y"];
  const found = /** @type {Inks} */ (Object.fromEntries(names.map((name) => [name, read(name)])));
  probe.remove();
  mixed = { theme: dark(), inks: found };
  return found;
}

const DESK = 17; // pixels of the page's letters, up to which pictures keep their size

/** How many times as large as at a desk pictures are: on a wall they grow with the letters of the page. */
export const enlarged = () => Math.max(1, parseFloat(getComputedStyle(document.documentElement).fontSize) / DESK);

/** The page's letters, as canvases and drawings are told them. */
export const SANS = '"regard text", "regard math", sans-serif';
export const MONO = '"regard mono", "regard math", monospace';

/** Be told when letters have come, since what was measured before was measured in others. @param {() => void} run @returns {() => void} */
export function lettered(run) {
  document.fonts.addEventListener("loadingdone", run);
  return () => document.fonts.removeEventListener("loadingdone", run);
}

/** Sixteen heads told apart, on paper and at night; more begin again. */
const HEADS = {
  paper:
    "#0072b2 #c64f00 #00805e #a8487f #8a6d00 #7a3fb5 #3f6fb0 #b0303a #4f7a00 #006d8f #9a5b2b #c03a8e #2f7d4f #6b5fc0 #7d6650 #50607a",
  night:
    "#5cb8f0 #ff9a4d #3ed6a8 #f0a5cf #e6c84a #c39df0 #8fb4ff #ff8f8f #a5d65a #55d0e8 #d9a878 #ff9fe0 #7fe09a #b3a9ff #d6c2a8 #a9bad6",
};

/** The colour of a head. @param {number} head */
export function headHue(head) {
  const set = HEADS[dark() ? "night" : "paper"].split(" ");
  return set[head % set.length] ?? "";
}

/** A drawing to be taken away: it carries its size and its letters. @param {number} width @param {number} height @param {number} [size] of letters */
export function drawing(width, height, size = 13) {
  const [xmlns, viewBox] = ["http://www.w3.org/2000/svg", `0 0 ${width} ${height}`];
  return svg("svg", { xmlns, width, height, viewBox, "font-family": SANS, "font-size": size });
}

/** @type {CanvasRenderingContext2D | null} */
let ruler = null;

/** How wide a text is. @param {string} text @param {string} font */
export function measure(text, font) {
  ruler ??= document.createElement("canvas").getContext("2d");
  if (!ruler) return text.length * 7;
  ruler.font = font;
  return ruler.measureText(text).width;
}

/** As much of a text as fits. @param {string} text @param {string} font @param {number} width */
export function fitted(text, font, width) {
  if (measure(text, font) <= width) return text;
  let end = text.length;
  while (end > 1 && measure(`${text.slice(0, end)}…`, font) > width) end -= 1;
  return `${text.slice(0, end)}…`;
}

/** Numbers as a picture, a pixel each: 0 has the first colour of a table, `most` the last.
 * @param {ArrayLike<number>} values @param {number} width @param {number} most @param {Uint8ClampedArray} table */
export function picture(values, width, most, table) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width, values.length / width];
  const pen = canvas.getContext("2d");
  if (!pen) return canvas;
  const image = pen.createImageData(canvas.width, canvas.height);
  const colours = new Uint32Array(table.buffer);
  const pixels = new Uint32Array(image.data.buffer); // whole pixels at once
  for (let k = 0; k < pixels.length; k++) {
    pixels[k] = colours[Math.max(0, Math.min(255, Math.round((255 * (values[k] ?? 0)) / most)))] ?? 0;
  }
  pen.putImageData(image, 0, 0);
  return canvas;
}
