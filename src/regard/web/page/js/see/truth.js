/** What is true of a picture of the world: its things and their masks; and whether a map finds them. */

import { get } from "../api.js";
import { load } from "../views/pixels.js";
import { scene } from "./wishes.js";

/**
 * @typedef {object} Truth
 * @property {{name: string, kind: string, box: number[]}[]} things
 * @property {number | null} largest that which clearly is, if there is one
 * @property {boolean} named is the picture to be named after the largest?
 * @property {string} image
 * @property {number} size
 * @property {Uint8Array} masks
 */

/** @type {Map<number, Promise<Omit<Truth, "named">>>} */
const kept = new Map();

/** The truth, or null where nobody knows it; a scene is the same for every task. @param {string} picture @param {string} task @returns {Promise<Truth | null>} */
export async function truth(picture, task) {
  const index = scene(picture);
  if (index === null) return null;
  const found =
    kept.get(index) ??
    get("/api/pictures/world", { params: { index } }).then(async (told) => {
      const { size, grey } = await load(told.masks);
      return { ...told, size, masks: grey };
    });
  kept.set(index, found);
  found.catch(() => kept.delete(index));
  return { ...(await found), named: task === "recognize" };
}

/** The highest place of a map, as shares of the picture. @param {import("./maps.js").Field} field */
export function peak({ height, width, values }) {
  let best = 0;
  values.forEach((value, i) => value > (values[best] ?? 0) && (best = i));
  return { x: ((best % width) + 0.5) / width, y: (Math.floor(best / width) + 0.5) / height };
}

/** The pointing game: on which thing does the highest place lie? @param {Truth} known @param {{x: number, y: number}} at */
export function verdict({ things, largest, named, size, masks }, { x, y }) {
  const number = (masks[Math.floor(y * size) * size + Math.floor(x * size)] ?? 0) - 1;
  const thing = things[number];
  const after = named && largest !== null ? things[largest] : undefined;
  const hit = after ? thing === after : Boolean(thing);
  const where = thing ? `on the ${thing.name}` : "on the backdrop";
  const why = after
    ? hit
      ? ", after which the picture is named"
      : `; the picture is named after the ${after.name}`
    : named
      ? "; no thing is clearly the largest, after which it would be named"
      : "";
  return { hit, says: `${hit ? "Hit" : "Miss"}: the highest place lies ${where}${why}.` };
}
