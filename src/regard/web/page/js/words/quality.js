/** How many of the ten nearest neighbours a map keeps, asked of some points. */

import { most } from "./vectors.js";

const NEIGHBOURS = 10;
const WORK = 4e8; // products at most

/** @param {Float32Array} table @param {number} width @param {Float32Array} places @param {number} dimensions */
export function kept(table, width, places, dimensions) {
  const count = table.length / width;
  const k = Math.min(NEIGHBOURS, Math.floor((count - 1) / 2));
  if (k < 1) return { preservation: 1, neighbours: k, asked: 0 };
  const asked = Math.max(10, Math.min(count, Math.floor(WORK / (count * width))));
  let same = 0;
  for (let i = 0; i < asked; i++) {
    const row = Math.floor((i * count) / asked);
    const real = new Set(near(table, width, row, k));
    same += near(places, dimensions, row, k).filter((each) => real.has(each)).length;
  }
  return { preservation: same / (asked * k), neighbours: k, asked };
}

/** The rows nearest to one of them. @param {Float32Array} table @param {number} width @param {number} row @param {number} count */
export function near(table, width, row, count) {
  const scores = new Float32Array(table.length / width);
  for (let i = 0, at = 0; i < scores.length; i++) {
    let sum = 0;
    for (let j = 0; j < width; j++, at++) {
      sum += /** @type {number} */ (table[at] - /** @type {number} */ (table[row * width + j])) ** 2;
    }
    scores[i] = -sum;
  }
  return most(scores, count, new Set([row])).map((each) => each.row);
}
