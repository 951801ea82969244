/** Words from the server, bundled or of the reader's own, or from the files of a site without a server. */

import { Vectors } from "./vectors.js";

/** @typedef {import("../app.js").Context["api"]} Api */
/** @typedef {Record<string, any>} Facts how a map was made, and how far it can be trusted */
/** @typedef {{name: string, title: string, bundled: boolean}} Choice */
/** @typedef {{name: string, title: string, count: number, total: number, width: number, knows: string, examples: string[], notes: string[], layout: {name: string, type: string}[], maps: Record<string, Facts>, room: Room, sets: Choice[]} & Record<string, any>} About
 * `count` words are shown of `total`; `sets` are all there are to choose from */
/** @typedef {{optimised: [number, number, number][], dimensions: number, count: number, shares: Record<string, number[]>}} Room */
/** @typedef {{about: About, vectors: Vectors}} Served */

const LARGEST = 32767;

/** The bundled words have no name here, since a site without a server knows no other. @type {Map<string, Promise<Served>>} */
const kept = new Map();

/** @param {Api} api @param {string} [model] @returns {Promise<Served>} */
export function loadWords(api, model = "") {
  const found = kept.get(model) ?? read(api, model);
  for (const name of kept.keys()) if (name !== "" && name !== model) kept.delete(name); // they may be large
  kept.set(model, found);
  found.catch(() => kept.delete(model));
  return found;
}

/** @param {string} model */
const named = (model) => ({ model: model || null });

/** @param {Api} api @param {string} model @returns {Promise<Served>} */
async function read(api, model) {
  const params = named(model);
  const about = /** @type {About} */ (await api.get("/api/words", { params }));
  const [words, { data }] = await Promise.all([
    /** @type {Promise<string[]>} */ (api.get("/api/words/list", { params })),
    api.bytes("/api/words/vectors.bin", { params }),
  ]);
  const { width, name } = about;
  return { about, vectors: new Vectors({ name, words, raw: numbers(about, data), width }) };
}

/** Rows as they are, or as whole numbers with a scale for each. @param {About} about @param {ArrayBuffer} data */
function numbers({ count, width, layout }, data) {
  if (layout[0]?.name === "rows") return new Float32Array(data);
  const scales = new Float32Array(data, 0, count);
  const rows = new Int8Array(data, 4 * count, count * width);
  const raw = new Float32Array(count * width);
  for (let row = 0, at = 0; row < count; row++) {
    const scale = scales[row] ?? 0;
    for (let j = 0; j < width; j++, at++) raw[at] = scale * /** @type {number} */ (rows[at]);
  }
  return raw;
}

/** Where all words lie on the map that is stored with them, three numbers each.
 * @param {Api} api @param {string} model @param {number} dimensions @returns {Promise<Float32Array>} */
export async function loadPlaces(api, model, dimensions) {
  const { data } = await api.bytes("/api/words/map.bin", { params: { dimensions, how: "tsne", ...named(model) } });
  return spread(new Int16Array(data), dimensions, 1 / LARGEST);
}

/** Places of two or three numbers as places of three. @param {ArrayLike<number>} flat @param {number} dimensions @param {number} [scale] */
export function spread(flat, dimensions, scale = 1) {
  const found = new Float32Array((flat.length / dimensions) * 3);
  for (let i = 0; i < flat.length; i++) {
    found[Math.floor(i / dimensions) * 3 + (i % dimensions)] = scale * /** @type {number} */ (flat[i]);
  }
  return found;
}
