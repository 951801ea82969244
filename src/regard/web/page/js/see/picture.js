/** A picture with what lies over it: a veil where nobody looks, outlines of groups and things, boxes, and a mark. */

import { dark, hue, table } from "../color.js";
import { h } from "../dom.js";
import { SANS, inks, picture as painted, sheet } from "../views/paint.js";

/** @typedef {import("./maps.js").Over} Over */
/** @typedef {{box: number[], label: string, strong: boolean}} Box */
/**
 * @typedef {object} Shown
 * @property {string} image
 * @property {Over | null} over
 * @property {{height: number, width: number, cell: number} | null} [mark] a cell
 * @property {Box[]} [boxes]
 * @property {import("./truth.js").Truth | null} [truth]
 * @property {{x: number, y: number} | null} [peak]
 */
/** @typedef {{point?: (x: number, y: number) => void, leave?: () => void, pick?: (x: number, y: number) => void, step?: (right: number, down: number) => void}} Hands */

const VEIL = 0.86;

/** @param {string} name @param {Hands} [hands] */
export function create(name, hands) {
  /** @type {Shown | null} */
  let shown = null;
  const below = new Image();
  const canvas = h("canvas", {
    class: "see-canvas",
    "aria-label": name,
    ...(hands?.pick
      ? {
          tabindex: 0,
          role: "application",
          "aria-roledescription": "picture",
          onpointermove: (/** @type {PointerEvent} */ event) =>
            event.pointerType !== "touch" && hands.point?.(...at(event)),
          onpointerleave: () => hands.leave?.(),
          onclick: (/** @type {PointerEvent} */ event) => hands.pick?.(...at(event)),
          onkeydown: (/** @type {KeyboardEvent} */ event) => stepped(event, hands),
        }
      : { role: "img" }),
  });
  /** @param {PointerEvent} event @returns {[number, number]} */
  const at = ({ offsetX, offsetY }) => [
    Math.min(0.999, Math.max(0, offsetX / canvas.clientWidth)),
    Math.min(0.999, Math.max(0, offsetY / canvas.clientHeight)),
  ];
  const page = sheet(canvas, (pen, { width, height }) => shown && paint(pen, width, height, shown, below));
  below.addEventListener("load", () => {
    canvas.style.setProperty("--aspect", String(below.naturalWidth / Math.max(1, below.naturalHeight)));
    page.repaint();
  });
  return {
    element: canvas,
    /** @param {Shown} next */
    show(next) {
      if (next.image !== shown?.image) below.src = next.image;
      shown = next;
      page.repaint();
    },
    stop: page.stop,
  };
}

/** @param {KeyboardEvent} event @param {Hands} hands */
function stepped(event, hands) {
  const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  if (!way) return;
  event.preventDefault();
  event.stopPropagation();
  hands.step?.(way[0] ?? 0, way[1] ?? 0);
}

/** @param {CanvasRenderingContext2D} pen @param {number} width @param {number} height @param {Shown} shown @param {HTMLImageElement} below */
export function paint(pen, width, height, { over, mark, boxes, truth, peak, image }, below) {
  const colours = inks();
  pen.fillStyle = colours.sunken;
  pen.fillRect(0, 0, width, height);
  pen.imageSmoothingEnabled = false; // what the model sees has few pixels, and they should be seen
  if (image && below.complete && below.naturalWidth) pen.drawImage(below, 0, 0, width, height);
  if (over?.pixels) pen.drawImage(coloured(over.pixels), 0, 0, width, height);
  if (over?.field) pen.drawImage(veil(over.field, colours.raised), 0, 0, width, height);
  if (over?.groups) grouped(pen, width, height, over.groups, mark?.cell);
  if (truth) outlined(pen, width, height, truth);
  if (boxes) boxed(pen, width, height, boxes, colours);
  if (mark)
    framed(
      pen,
      (mark.cell % mark.width) / mark.width,
      Math.floor(mark.cell / mark.width) / mark.height,
      1 / mark.width,
      1 / mark.height,
      width,
      height,
    );
  if (peak) crossed(pen, peak.x * width, peak.y * height, colours);
}

/** Where nobody looks, paper lies over the picture. @param {import("./maps.js").Field} field @param {string} paper */
function veil({ height, width, values }, paper) {
  const canvas = h("canvas", { width, height });
  const pen = canvas.getContext("2d");
  if (!pen) return canvas;
  const [r = 0, g = 0, b = 0] = (paper.match(/\d+/g) ?? []).map(Number);
  const pixels = pen.createImageData(width, height);
  let most = 1e-12;
  for (const value of values) if (value > most) most = value;
  values.forEach((value, k) => pixels.data.set([r, g, b, 255 * VEIL * (1 - Math.max(0, value) / most)], k * 4));
  pen.putImageData(pixels, 0, 0);
  return canvas;
}

/** @param {{height: number, width: number, pixels: Uint8Array}} map */
export function coloured({ height, width, pixels }) {
  const canvas = h("canvas", { width, height });
  const pen = canvas.getContext("2d");
  const image = pen?.createImageData(width, height);
  if (!pen || !image) return canvas;
  for (let k = 0; k < width * height; k++)
    image.data.set([pixels[3 * k] ?? 0, pixels[3 * k + 1] ?? 0, pixels[3 * k + 2] ?? 0, 255], 4 * k);
  pen.putImageData(image, 0, 0);
  return canvas;
}

/** Groups as small pictures. @param {{height: number, width: number, groups: number[]}} map */
export function tiled({ height, width, groups }) {
  const canvas = h("canvas", { width, height });
  const pen = canvas.getContext("2d");
  groups.forEach((group, k) => {
    if (!pen) return;
    pen.fillStyle = hue(group);
    pen.fillRect(k % width, Math.floor(k / width), 1, 1);
  });
  return canvas;
}

/** Cells that see each other have one colour. @param {CanvasRenderingContext2D} pen @param {number} width @param {number} height
 * @param {{height: number, width: number, groups: number[]}} map @param {number | undefined} chosen */
function grouped(pen, width, height, { height: rows, width: columns, groups }, chosen) {
  const [wide, tall] = [width / columns, height / rows];
  const one = chosen === undefined ? undefined : groups[chosen];
  groups.forEach((group, k) => {
    const lit = one === undefined || group === one;
    pen.globalAlpha = lit ? 0.55 : 0.12;
    pen.fillStyle = hue(group);
    pen.fillRect((k % columns) * wide, Math.floor(k / columns) * tall, wide + 0.5, tall + 0.5);
  });
  pen.globalAlpha = 1;
  pen.fillStyle = dark() ? "#000" : "#fff";
  groups.forEach((group, k) => {
    const [x, y] = [(k % columns) * wide, Math.floor(k / columns) * tall];
    if ((k + 1) % columns && groups[k + 1] !== group) pen.fillRect(x + wide - 0.75, y, 1.5, tall);
    if (k + columns < groups.length && groups[k + columns] !== group) pen.fillRect(x, y + tall - 0.75, wide, 1.5);
  });
}

/** The edges of true things. @param {CanvasRenderingContext2D} pen @param {number} width @param {number} height @param {import("./truth.js").Truth} truth */
function outlined(pen, width, height, { size, masks, largest, named }) {
  const step = width / size;
  for (let k = 0; k < masks.length; k++) {
    const thing = masks[k] ?? 0;
    const edge = thing !== (masks[k + 1] ?? 0) || thing !== (masks[k + size] ?? 0);
    if (!edge || k % size === size - 1) continue;
    const owner = thing || masks[k + 1] || masks[k + size] || 1;
    pen.fillStyle = named && owner - 1 === largest ? "#ffd23f" : "#ff5da2";
    pen.fillRect(
      (k % size) * step - 0.5,
      (Math.floor(k / size) * height) / size - 0.5,
      Math.max(2, step) + 1,
      Math.max(2, step) + 1,
    );
  }
}

/** Boxes and their names, those that matter first; a name that finds no free place is left out.
 * @param {CanvasRenderingContext2D} pen @param {number} width @param {number} height @param {Box[]} boxes @param {ReturnType<typeof inks>} colours */
function boxed(pen, width, height, boxes, colours) {
  /** @type {number[][]} */
  const taken = [];
  const free = (/** @type {number} */ x, /** @type {number} */ y, /** @type {number} */ wide) =>
    taken.every(([a = 0, b = 0, c = 0]) => x >= a + c || a >= x + wide || Math.abs(b - y) >= 18);
  boxes.forEach(({ box: [x = 0, y = 0, w = 0, tall = 0], strong }, i) =>
    framed(pen, x, y, w, tall, width, height, hue(i), strong ? 3.5 : 1.75),
  );
  pen.font = `600 ${width < 240 ? 11 : 13}px ${SANS}`;
  pen.textBaseline = "middle";
  for (const {
    box: [x = 0, y = 0, , tall = 0],
    label,
  } of [...boxes].sort((a, b) => Number(b.strong) - Number(a.strong))) {
    const wide = pen.measureText(label).width + 8;
    const left = Math.max(0, Math.min(x * width, width - wide));
    const tops = [y * height - 9, (y + tall) * height - 9].map((each) => Math.max(0, Math.min(each, height - 18)));
    const top = tops.find((each) => free(left, each, wide));
    if (top === undefined) continue;
    taken.push([left, top, wide]);
    pen.fillStyle = colours.raised;
    pen.fillRect(left, top, wide, 18);
    pen.fillStyle = colours.ink;
    pen.fillText(label, left + 4, top + 9.5);
  }
}

/** @param {CanvasRenderingContext2D} pen @param {number} x @param {number} y @param {number} w @param {number} tall @param {number} width @param {number} height @param {string} [colour] @param {number} [broad] */
function framed(pen, x, y, w, tall, width, height, colour = inks().accent, broad = 3) {
  for (const [stroke, line] of /** @type {[string, number][]} */ ([
    [inks().raised, broad + 2.5],
    [colour, broad],
  ])) {
    pen.strokeStyle = stroke;
    pen.lineWidth = line;
    pen.strokeRect(x * width + 1, y * height + 1, w * width - 2, tall * height - 2);
  }
}

/** @param {CanvasRenderingContext2D} pen @param {number} x @param {number} y @param {ReturnType<typeof inks>} colours */
function crossed(pen, x, y, colours) {
  for (const [stroke, line] of /** @type {[string, number][]} */ ([
    [colours.raised, 5],
    [colours.y, 2.5],
  ])) {
    pen.strokeStyle = stroke;
    pen.lineWidth = line;
    pen.beginPath();
    pen.moveTo(x - 8, y);
    pen.lineTo(x + 8, y);
    pen.moveTo(x, y - 8);
    pen.lineTo(x, y + 8);
    pen.stroke();
  }
}

/** A head as a small picture of where it looks. @param {Float32Array} values @param {number} width */
export function thumbnail(values, width) {
  let most = 1e-12;
  for (const value of values) if (value > most) most = value;
  return painted(values, width, most, table());
}
