/** Disparities, pixel by pixel: what they say in metres, in colours, and to an eye that moves. */

import { weightRgb } from "../color.js";

/** @typedef {{height: number, width: number, values: Float32Array}} Field shares of the width */

/** Nearest and farthest disparity of some fields. @param {(Field | null)[]} fields */
export function range(fields) {
  let [far, near] = [Infinity, 0];
  for (const field of fields)
    for (const value of field?.values ?? []) {
      if (value > near) near = value;
      if (value < far) far = value;
    }
  return { near, far: Math.min(far, near) };
}

/** Near is strong. @param {number} share @param {{near: number, far: number}} ends */
export const strength = (share, { near, far }) => (near > far ? (share - far) / (near - far) : 0.5);

/** A depth in words. @param {number} share @param {number | null} metres */
export function distance(share, metres) {
  const depth = (metres ?? 1) / Math.max(share, 1e-6);
  return metres === null ? depth.toFixed(1) : `${depth.toFixed(2)} m`;
}

/** A field in colours. @param {Field} field @param {{near: number, far: number}} ends */
export function coloured({ height, width, values }, ends) {
  const out = new ImageData(width, height);
  values.forEach((share, i) => out.data.set([...weightRgb(strength(share, ends)), 255], i * 4));
  return out;
}

/**
 * What an eye sees that has moved to the right, in parts of the distance between two eyes: all is further left, what is
 * near most, and hides what is far. Where nothing comes to lie is what the picture does not show; the farther neighbour
 * fills it.
 * @param {Uint8ClampedArray} pixels @param {Field} field @param {number} moved
 */
export function seenFrom(pixels, { height, width, values }, moved) {
  const out = new ImageData(width, height);
  for (let row = 0; row < height; row++) {
    const from = row * width;
    const nearest = new Float32Array(width).fill(-1);
    const source = new Int32Array(width).fill(-1);
    for (let column = 0; column < width; column++) {
      const share = values[from + column] ?? 0;
      const place = Math.round(column - moved * share * width);
      if (place < 0 || place >= width || share <= (nearest[place] ?? 0)) continue;
      nearest[place] = share;
      source[place] = column;
    }
    for (let column = 0; column < width; column++) {
      const filled = source[column] ?? -1;
      const pixel = from + (filled < 0 ? neighbour(source, nearest, column) : filled);
      out.data.set(pixels.subarray(pixel * 4, pixel * 4 + 4), (from + column) * 4);
    }
  }
  return out;
}

/** The farther of the two nearest places that are filled. @param {Int32Array} source @param {Float32Array} nearest @param {number} column */
function neighbour(source, nearest, column) {
  let [left, right] = [column, column];
  while (left >= 0 && (source[left] ?? -1) < 0) left--;
  while (right < source.length && (source[right] ?? -1) < 0) right++;
  if (left < 0 && right >= source.length) return column;
  if (left < 0) return source[right] ?? column;
  if (right >= source.length) return source[left] ?? column;
  return (nearest[left] ?? 0) <= (nearest[right] ?? 0) ? (source[left] ?? column) : (source[right] ?? column);
}
