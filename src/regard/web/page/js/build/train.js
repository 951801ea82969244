/**
 * A tiny attention that learns. It reads an animal, a place and a question: "who?" wants the colour of the animal, "where?"
 * that of the place. So the last word must find out whom to look at, and whom to look past. Plain gradient descent, its
 * gradient written by hand; a test holds it to finite differences.
 */

import { product, sum, transpose, weigh } from "./math.js";

/** @typedef {import("./math.js").Matrix} Matrix */
/** @typedef {{x: Matrix, q: Matrix, k: Matrix, v: Matrix, u: Matrix}} Weights vectors of words, three matrices, and one vector for each word that may come next */
/** @typedef {{words: string[], next: string}} Sentence */

const WIDE = 4; // numbers of a word; queries, keys and values have two, so that they can be seen
const ANIMALS = ["frog", "whale", "canary"];
const PLACES = ["grass", "sky", "sun"];
export const OUTPUTS = ["green", "blue", "yellow"]; // of both, in this order
export const ASKERS = ["who?", "where?"];
export const INPUTS = [...ANIMALS, ...PLACES, ...ASKERS];
/** Every animal in every place, asked for both. @type {Sentence[]} */
export const SENTENCES = ANIMALS.flatMap((animal, i) =>
  PLACES.flatMap((place, j) => ASKERS.map((ask, a) => ({ words: [animal, place, ask], next: OUTPUTS[a ? j : i] }))),
);
const PARTS = /** @type {const} */ (["x", "q", "k", "v", "u"]);

/** Small numbers, the same for everybody. @returns {Weights} */
export function begin() {
  let state = 20170612;
  const random = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state / 4294967296 - 0.5) * 1.6;
  };
  /** @param {number} rows @param {number} columns */
  const small = (rows, columns) => Array.from({ length: rows }, () => Array.from({ length: columns }, random));
  return {
    x: small(INPUTS.length, WIDE),
    q: small(WIDE, 2),
    k: small(WIDE, 2),
    v: small(WIDE, 2),
    u: small(OUTPUTS.length, 2),
  };
}

/** One sentence, with all that happens inside. @param {Weights} weights @param {Sentence} sentence */
export function guess(weights, { words, next }) {
  const rows = words.map((word) => INPUTS.indexOf(word));
  const x = rows.map((row) => weights.x[row]);
  const [[q], k, v] = [product([x[x.length - 1]], weights.q), product(x, weights.k), product(x, weights.v)];
  const [a] = weigh([k.map((key) => sum(key.map((each, j) => each * q[j])) / Math.SQRT2)]);
  const [y] = product([a], v);
  const [p] = weigh(product([y], transpose(weights.u)));
  const target = OUTPUTS.indexOf(next);
  return { rows, x, q, k, v, a, y, p, target, loss: -Math.log(Math.max(p[target], 1e-300)) };
}

/** How surprised it is by the right words, on average. @param {Weights} weights */
export function loss(weights) {
  return sum(SENTENCES.map((sentence) => guess(weights, sentence).loss)) / SENTENCES.length;
}

/** Which way every number would have to go to make the loss larger. @param {Weights} weights @returns {Weights} */
export function gradient(weights) {
  const total = /** @type {Weights} */ (
    Object.fromEntries(PARTS.map((part) => [part, weights[part].map((row) => row.map(() => 0))]))
  );
  for (const sentence of SENTENCES) add(total, weights, guess(weights, sentence));
  return mapped(total, (value) => value / SENTENCES.length);
}

/** The gradient of one sentence, from its loss back to its words. @param {Weights} total @param {Weights} weights @param {ReturnType<typeof guess>} one */
function add(total, weights, { rows, x, q, k, v, a, y, p, target }) {
  const last = rows.length - 1;
  const surprise = p.map((share, i) => share - (i === target ? 1 : 0)); // softmax and logarithm at once
  outer(total.u, surprise, y);
  const [toY] = product([surprise], weights.u);
  const toA = v.map((value) => dot(value, toY));
  const mean = dot(a, toA);
  const toScore = a.map((share, i) => (share * (toA[i] - mean)) / Math.SQRT2); // through the softmax of attention
  const [toQ] = product([toScore], k);
  outer(total.q, x[last], toQ);
  back(total.x[rows[last]], weights.q, toQ);
  rows.forEach((row, i) => {
    const [toK, toV] = [q.map((each) => each * toScore[i]), toY.map((each) => each * a[i])];
    outer(total.k, x[i], toK);
    outer(total.v, x[i], toV);
    back(total.x[row], weights.k, toK);
    back(total.x[row], weights.v, toV);
  });
}

/** One step downhill. @param {Weights} weights @param {number} rate @returns {Weights} */
export function descend(weights, rate) {
  const slope = gradient(weights);
  return /** @type {Weights} */ (
    Object.fromEntries(
      PARTS.map((part) => [
        part,
        weights[part].map((row, i) => row.map((value, j) => held(value - rate * slope[part][i][j]))),
      ]),
    )
  );
}

/** A rate that is much too high must not end in numbers that are none. @param {number} value */
const held = (value) => Math.max(-60, Math.min(60, value));

/** @param {Weights} weights @param {(value: number) => number} change @returns {Weights} */
function mapped(weights, change) {
  return /** @type {Weights} */ (
    Object.fromEntries(PARTS.map((part) => [part, weights[part].map((row) => row.map(change))]))
  );
}

/** @param {Matrix} total @param {number[]} column @param {number[]} row */
function outer(total, column, row) {
  column.forEach((c, i) => row.forEach((r, j) => (total[i][j] += c * r)));
}

/** @param {number[]} total @param {Matrix} matrix @param {number[]} from */
function back(total, matrix, from) {
  matrix.forEach((row, i) => (total[i] += dot(row, from)));
}

/** @param {number[]} a @param {number[]} b */
const dot = (a, b) => sum(a.map((x, i) => x * b[i]));
