/** Colours of points: by a column of what is known of the words, and dim where another group is in question. */

import { hue, weightRgb } from "../color.js";
import { inks } from "../views/paint.js";

/** @typedef {import("./vectors.js").Column} Column */
/** @typedef {[number, number, number]} Rgb */
/** @typedef {{name: string, colour: Rgb}[]} Legend */

const KINDS = 8; // groups that have a colour of their own; the others share one

/** A colour for each word, and what the colours mean. @param {Column | undefined} column @returns {{of: (row: number) => Rgb, legend: Legend}} */
export function palette(column) {
  if (!column) {
    const plain = rgb(inks().accent);
    return { of: () => plain, legend: [] };
  }
  return column.values.every((value) => typeof value === "number") ? scale(column) : groups(column);
}

/** Numbers by their rank among all: the smallest are pale. @param {Column} column */
function scale({ values }) {
  const numbers = /** @type {number[]} */ (values);
  const order = [...new Set(numbers)].sort((a, b) => a - b);
  const share = new Map(order.map((value, i) => [value, order.length > 1 ? i / (order.length - 1) : 0.5]));
  const colour = (/** @type {number} */ part) => weightRgb(0.25 + 0.75 * part);
  const ends = [order[0] ?? 0, order[Math.floor(order.length / 2)] ?? 0, order.at(-1) ?? 0];
  return {
    of: (/** @type {number} */ row) => colour(share.get(numbers[row] ?? 0) ?? 0),
    legend: ends.map((value) => ({
      name: String(Number(value.toPrecision(3))),
      colour: colour(share.get(value) ?? 0),
    })),
  };
}

/** @param {Column} column */
function groups({ values }) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const value of values) counts.set(String(value), (counts.get(String(value)) ?? 0) + 1);
  const common = [...counts].sort((a, b) => b[1] - a[1]).slice(0, KINDS);
  const colours = new Map(common.map(([name], i) => [name, rgb(hue(i))]));
  const other = rgb(inks().muted);
  const legend = common.map(([name]) => ({ name: name || "(nothing)", colour: colours.get(name) ?? other }));
  if (counts.size > KINDS) legend.push({ name: `${counts.size - KINDS} others`, colour: other });
  return { of: (/** @type {number} */ row) => colours.get(String(values[row])) ?? other, legend };
}

/** Four bytes a point; where some are lit the others are dim. @param {Int32Array} rows @param {(row: number) => Rgb} of
 * @param {Set<number> | null} lit */
export function bytes(rows, of, lit) {
  const found = new Uint8Array(rows.length * 4);
  const lamp = rgb(inks().lamp);
  const strong = rows.length > 5000 ? 120 : 215;
  rows.forEach((row, slot) => {
    const shines = lit?.has(row);
    found.set(shines ? lamp : of(row), 4 * slot);
    found[4 * slot + 3] = shines ? 255 : lit ? 45 : strong;
  });
  return found;
}

/** @param {string} colour @returns {Rgb} */
export function rgb(colour) {
  const hex = colour.match(/^#(..)(..)(..)$/);
  const [r = 0, g = 0, b = 0] = hex
    ? hex.slice(1).map((part) => parseInt(part, 16))
    : (colour.match(/[\d.]+/g) ?? []).map(Number);
  return [r, g, b];
}
