/** Points stamped dot by dot into the pixels of a canvas, for a machine without a graphics card. */

import { inks } from "../views/paint.js";
import { rgb } from "./tint.js";

/** @typedef {import("./points.js").Points} Points */

/** The canvas is opaque and filled in every frame, so that nothing behind it has to be drawn again.
 * @param {HTMLCanvasElement} canvas @returns {Points} */
export function byHand(canvas) {
  const pen = canvas.getContext("2d", { alpha: false });
  /** @type {Uint8Array} */
  let colours = new Uint8Array(0);
  /** Kept from frame to frame: a new one each time is megabytes to be cleared and thrown away. @type {ImageData | null} */
  let image = null;
  let pixels = new Uint32Array(0);
  let ground = pack(255, 255, 255);
  return {
    kind: "canvas",
    canvas,
    place: () => {},
    colour: (given) => {
      colours = given;
      ground = pack(...rgb(inks().raised));
    },
    draw: (_, seen, size) => {
      const { width, height } = canvas;
      if (!pen || !width || !height) return;
      if (!image || image.width !== width || image.height !== height) {
        image = pen.createImageData(width, height);
        pixels = new Uint32Array(image.data.buffer);
      }
      pixels.fill(ground);
      stamp(pixels, width, height, seen, colours, ground, size);
      pen.putImageData(image, 0, 0);
    },
  };
}

/** A small disc for each point, paler if it is far. @param {Uint32Array} pixels @param {number} width @param {number} height
 * @param {Float32Array} seen @param {Uint8Array} colours @param {number} ground @param {number} size */
function stamp(pixels, width, height, seen, colours, ground, size) {
  const ratio = devicePixelRatio || 1;
  const side = Math.max(1, Math.round(size * ratio * 0.9));
  const spans = Int32Array.from({ length: side }, (_, y) => inset(y, side));
  const shift = 0.5 - side / 2;
  const [right, bottom] = [width - side, height - side];
  const count = colours.length / 4;
  for (let i = 0; i < count; i++) {
    const left = Math.floor(num(seen, 3 * i) * ratio + shift);
    const top = Math.floor(num(seen, 3 * i + 1) * ratio + shift);
    if (left < 0 || top < 0 || left > right || top > bottom) continue;
    const colour = mixed(colours, 4 * i, ground, num(seen, 3 * i + 2));
    for (let y = 0, start = top * width + left; y < side; y++, start += width) {
      const skip = num(spans, y);
      // A loop, since `fill` takes longer to be called than these few pixels to be set.
      for (let at = start + skip, end = start + side - skip; at < end; at++) pixels[at] = colour;
    }
  }
}

/** @param {ArrayLike<number>} array @param {number} i */
const num = (array, i) => /** @type {number} */ (array[i]);
/** A pixel as a canvas stores it, which has no holes. @param {number} r @param {number} g @param {number} b */
const pack = (r, g, b) => (0xff000000 | (b << 16) | (g << 8) | r) >>> 0;

/** How many pixels a row of a disc leaves out at either end. @param {number} y @param {number} side */
function inset(y, side) {
  const high = Math.abs(y + 0.5 - side / 2);
  return side < 4 ? 0 : Math.round(side / 2 - Math.sqrt(Math.max(0, (side / 2) ** 2 - high ** 2)));
}

/** A colour over the ground, thinner the farther it is. @param {Uint8Array} colours @param {number} at @param {number} ground @param {number} far */
function mixed(colours, at, ground, far) {
  const thin = far === 1 ? 1 : Math.min(1, Math.max(0.25, 1.6 - 0.75 * far));
  const share = (num(colours, at + 3) / 255) * thin;
  const rest = 1 - share;
  const r = num(colours, at) * share + (ground & 255) * rest;
  const g = num(colours, at + 1) * share + ((ground >> 8) & 255) * rest;
  const b = num(colours, at + 2) * share + ((ground >> 16) & 255) * rest;
  return 0xff000000 | (b << 16) | (g << 8) | r; // the shifts cut what is behind the point
}
