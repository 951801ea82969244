/** What the address of the room holds, as values. */

/** @typedef {import("../state.js").Flat} Flat */
/** @typedef {"tsne" | "pca" | "given" | "live"} How */
/** @typedef {"near" | "sums" | "live" | "own" | "concepts"} Tab */
/**
 * @typedef {object} State
 * @property {How | ""} how
 * @property {2 | 3} dim
 * @property {string} word
 * @property {string} sum an expression such as king - man + woman
 * @property {string} arrows the name of some pairs that are drawn
 * @property {string} odd words of which one does not belong
 * @property {string} find what is looked for
 * @property {string} cam
 * @property {string} sel words, or a /pattern/
 * @property {boolean} only whether the selection alone is shown
 * @property {import("./vectors.js").Way} vec
 * @property {string} colour
 * @property {Tab} as
 * @property {string} marks
 * @property {string} own the name of a file
 * @property {string} model the name of vectors that the server has; none for the bundled ones
 * @property {string} live how many words, perplexity, steps
 * @property {number} step
 * @property {number} n
 * @property {number} count
 */

/** @template {string} T @param {unknown} value @param {readonly T[]} choices @param {T} other @returns {T} */
const among = (value, choices, other) => choices.find((each) => each === value) ?? other;
/** @param {unknown} value @param {number} low @param {number} high @param {number} other */
const between = (value, low, high, other) => {
  const number = Math.round(Number(value));
  return value !== undefined && value !== "" && Number.isFinite(number) ? Math.max(low, Math.min(high, number)) : other;
};

/** @param {Flat} flat @returns {State} */
export function readState(flat) {
  const text = (/** @type {string} */ key) => String(flat[key] ?? "").slice(0, 8000);
  return {
    how: among(flat["how"], ["tsne", "pca", "given", "live", ""], ""),
    dim: Number(flat["dim"]) === 3 ? 3 : 2,
    word: text("w"),
    sum: text("sum"),
    arrows: text("arrows"),
    odd: text("odd"),
    find: text("q"),
    cam: text("cam"),
    sel: text("sel"),
    only: String(flat["only"] ?? "") === "1",
    vec: among(flat["vec"], ["unit", "raw", "sphere"], "unit"),
    colour: text("colour"),
    as: among(flat["as"], ["near", "sums", "live", "own", "concepts"], "near"),
    marks: text("marks"),
    own: text("own"),
    model: text("m"),
    live: text("live"),
    step: between(flat["step"], -1, 100000, -1),
    n: between(flat["n"], 2, 512, 100),
    count: between(flat["count"], 2, 10000, 1000),
  };
}

/** Words of a selection, as the address has them. @param {string} sel */
export const listed = (sel) =>
  sel
    .split(",")
    .filter(Boolean)
    .map((word) => word.replaceAll("%2C", ","));
/** @param {string[]} words */
export const list = (words) => words.map((word) => word.replaceAll(",", "%2C")).join(",");
