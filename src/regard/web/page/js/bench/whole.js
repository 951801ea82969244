/** All weights of a view, fetched once for whoever asks. */

/** @typedef {import("../views/view.js").Weights} Weights */

/** @type {WeakMap<Weights, Promise<Float32Array>>} */
const known = new WeakMap();

/** @param {Weights} weights @returns {Promise<Float32Array>} */
export function whole(weights) {
  const found = known.get(weights) ?? weights.all();
  known.set(weights, found);
  found.catch(() => known.delete(weights));
  return found;
}
