/** Neighbours of a word in the full space beside those on the map, and what the map got wrong. */

import { most, rank } from "./vectors.js";

/** @typedef {import("./vectors.js").Vectors} Vectors */
/** @typedef {import("./map.js").Scene} Scene */
/** @typedef {{row: number, score: number, kept: boolean, rank: number}} Neighbour `rank` is its number on the other list, from 1 */
/** @typedef {{real: Neighbour[], shown: Neighbour[], kept: number}} Compared */

export const COUNT = 10;

/** Only words that are on the map are compared. @param {Vectors} vectors @param {Scene} scene @param {number} row @param {number} slot @returns {Compared} */
export function compare(vectors, scene, row, slot) {
  const cosines = vectors.cosines(vectors.direction(row));
  const near = Float32Array.from(scene.rows, (each) => cosines[each] ?? 0);
  const away = distances(scene.places, slot);
  const self = new Set([slot]);
  const [real, shown] = [most(near, COUNT, self), most(away, COUNT, self)];
  const both = new Set(real.map((each) => each.row).filter((each) => shown.some((other) => other.row === each)));
  /** @param {import("./vectors.js").Near[]} found @param {Float32Array} other @returns {Neighbour[]} */
  const told = (found, other) =>
    found.map((each) => ({
      row: scene.rows[each.row] ?? 0,
      score: near[each.row] ?? 0,
      kept: both.has(each.row),
      rank: rank(other, each.row), // the word itself comes before all
    }));
  return { real: told(real, away), shown: told(shown, near), kept: both.size };
}

/** Less than nothing the farther away. @param {Float32Array} places @param {number} slot */
function distances(places, slot) {
  const [x = 0, y = 0, z = 0] = places.subarray(3 * slot, 3 * slot + 3);
  const found = new Float32Array(places.length / 3);
  for (let i = 0; i < found.length; i++) {
    const [a = 0, b = 0, c = 0] = [places[3 * i], places[3 * i + 1], places[3 * i + 2]];
    found[i] = -((a - x) ** 2 + (b - y) ** 2 + (c - z) ** 2);
  }
  return found;
}
