/** Sums of words, as regard.words does them: vectors of length 1 are added, and the answer is given by both rules. */

import { most } from "./vectors.js";

/** @typedef {import("./vectors.js").Vectors} Vectors */
/** @typedef {import("./vectors.js").Near} Near */
/** @typedef {{row: number, weight: number}} Term */
/** @typedef {{terms: Term[], without: Near[], with: Near[]}} Answer the nearest words without those of the question, and with them */

const TERMS = 32;
/** @type {Record<string, number>} */
const SIGNS = { "+": 1, "-": -1, "−": -1, "–": -1 };

/** The terms of `king - man + woman` or `2*king - prince`. @param {Vectors} vectors @param {string} expression @returns {Term[]} */
export function parse(vectors, expression) {
  /** @type {Term[]} */
  const terms = [];
  /** @type {number | null} */
  let sign = null;
  for (const token of tokens(vectors, expression)) {
    const given = SIGNS[token];
    if (given !== undefined) {
      if (sign !== null) throw new Error("There are two signs in a row; put a word between them.");
      sign = given;
    } else {
      if (sign === null && terms.length) throw new Error(`There is no sign before “${token}”; put + or − there.`);
      terms.push(term(vectors, token, sign ?? 1));
      sign = null;
    }
  }
  if (sign !== null) throw new Error("It ends with a sign; put a word behind it.");
  if (!terms.length) throw new Error("No words are given; write something like king - man + woman.");
  if (terms.length > TERMS) throw new Error(`${terms.length} words are too many; at most ${TERMS} are read.`);
  return terms;
}

/** Words and signs; the sign before a word such as -man is taken off. @param {Vectors} vectors @param {string} expression */
function tokens(vectors, expression) {
  return expression
    .slice(0, 2000)
    .replace(/(\d{1,6}(?:\.\d{1,6})?)\s*[*×]\s*/g, "$1*")
    .split(/\s+/)
    .filter(Boolean)
    .flatMap((token) => {
      const first = token.charAt(0);
      return token.length > 1 && first in SIGNS && vectors.row(token) < 0 ? [first, token.slice(1)] : [token];
    });
}

/** @param {Vectors} vectors @param {string} token @param {number} sign @returns {Term} */
function term(vectors, token, sign) {
  const [, number = "1", word = token] = token.match(/^(\d{1,6}(?:\.\d{1,6})?)\*(.+)$/) ?? [];
  if (!Number(number)) throw new Error(`“${token}” weighs nothing; leave it out, or give it another number.`);
  return { row: known(vectors, word), weight: sign * Number(number) };
}

/** The row of a word, or a sentence with a spelling that is known. @param {Vectors} vectors @param {string} word */
export function known(vectors, word) {
  const row = vectors.row(word);
  if (row >= 0) return row;
  const hint = vectors.hint(word);
  throw new Error(`No word of ${vectors.name} is called “${word.slice(0, 60)}”${hint ? `; try ${hint}` : ""}.`);
}

/** @param {Vectors} vectors @param {string} expression @param {number} [count] @returns {Answer} */
export function solve(vectors, expression, count = 8) {
  const terms = parse(vectors, expression);
  const target = sum(vectors, terms);
  if (!(target.reduce((all, value) => all + value * value, 0) > 1e-12)) {
    throw new Error("This leaves nothing, a vector of zeros, and nothing is near that.");
  }
  const scores = vectors.cosines(target);
  return { terms, without: most(scores, count, new Set(terms.map(({ row }) => row))), with: most(scores, count) };
}

/** @param {Vectors} vectors @param {Term[]} terms */
export function sum(vectors, terms) {
  const target = new Float64Array(vectors.width);
  for (const { row, weight } of terms) {
    vectors.direction(row).forEach((value, j) => (target[j] = (target[j] ?? 0) + weight * value));
  }
  return target;
}

/** Words by how near they are to the mean of them all; the last does not belong. @param {Vectors} vectors @param {string[]} words @returns {Near[]} */
export function odd(vectors, words) {
  const rows = [...new Set(words.map((word) => known(vectors, word)))];
  if (rows.length < 3) throw new Error(`Of ${rows.length} different words none is the odd one; give 3 or more.`);
  const scores = vectors.cosines(
    sum(
      vectors,
      rows.map((row) => ({ row, weight: 1 })),
    ),
  );
  return rows.map((row) => ({ row, score: scores[row] ?? 0 })).sort((a, b) => b.score - a.score);
}

/** How parallel the steps of pairs are: the mean cosine between any two of them, and the mean step.
 * @param {Vectors} vectors @param {[number, number][]} pairs */
export function parallel(vectors, pairs) {
  const steps = pairs.map(([from, to]) =>
    sum(vectors, [
      { row: to, weight: 1 },
      { row: from, weight: -1 },
    ]),
  );
  const length = steps.map((step) => Math.sqrt(step.reduce((all, value) => all + value * value, 0)) || 1);
  let [total, count] = [0, 0];
  steps.forEach((one, i) =>
    steps.slice(i + 1).forEach((other, k) => {
      const product = one.reduce((all, value, j) => all + value * (other[j] ?? 0), 0);
      total += product / ((length[i] ?? 1) * (length[i + 1 + k] ?? 1));
      count += 1;
    }),
  );
  return count ? total / count : 1;
}
