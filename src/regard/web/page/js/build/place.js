/** Where a word lies: the lecture's words as in the lecture, common ones where their meaning puts them, others by chance. */

import { FAR, LETTERS, PLACES, STEP, WORDS } from "./places.js";

/** The words of the lecture. */
const LECTURE = new Map([
  ["we", [1.7, 0.8]],
  ["see", [0.8, 1.7]],
  ["the", [-1.6, 0.6]],
  ["sky", [0.3, -1.8]],
  ["vediamo", [1.2, 1.1]],
  ["il", [-1.8, 0.5]],
  ["cielo", [0.4, -1.9]],
]);
/** Its Italian words lie where their English ones do. */
const MEANT = new Map([
  ["vediamo", "see"],
  ["il", "the"],
  ["cielo", "sky"],
]);

/** @type {Map<string, number> | undefined} */
let rows;

/** The place of a common word on the map of docs/places.py. @param {string} word @returns {[number, number] | null} */
function mapped(word) {
  rows ??= new Map(WORDS.split(" ").map((each, i) => [each, i]));
  const bare = plain(word);
  const row = rows.get(MEANT.get(bare) ?? bare);
  if (row === undefined) return null;
  /** @param {number} at */
  const number = (at) => tidy(LETTERS.indexOf(PLACES[at]) * STEP - FAR);
  return [number(2 * row), number(2 * row + 1)];
}

/** Is its place a matter of chance? @param {string} word */
export function byChance(word) {
  return !LECTURE.has(plain(word)) && mapped(word) === null;
}

/** The first two numbers of all words. Between themselves the lecture's words lie as in the lecture. @param {string[]} words @returns {number[][]} */
export function places(words) {
  const lecture = words.every((word) => LECTURE.has(plain(word)));
  return words.map((word) => [
    ...((lecture ? LECTURE.get(plain(word)) : mapped(word)) ?? [thrown(word, 0), thrown(word, 1)]),
  ]);
}

/** A number from the letters of a word, always the same: two uniform ones, then Box and Muller. @param {string} word @param {number} index which number */
export function thrown(word, index) {
  const [a, b] = [hash(`${word.toLowerCase()}/${index}/a`), hash(`${word.toLowerCase()}/${index}/b`)];
  const normal = Math.sqrt(-2 * Math.log(a)) * Math.cos(2 * Math.PI * b);
  return tidy(Math.max(-2.2, Math.min(2.2, normal * (index < 2 ? 1.3 : 1))));
}

/** Without capitals and punctuation. @param {string} word */
const plain = (word) => word.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
/** @param {number} value */
const tidy = (value) => Math.round(value * 100) / 100 + 0;

/** @param {string} text @returns {number} above 0 and below 1 */
function hash(text) {
  let value = 2166136261;
  for (const letter of text) value = Math.imul(value ^ (letter.codePointAt(0) ?? 0), 16777619);
  value = Math.imul(value ^ (value >>> 15), 2246822507);
  value = Math.imul(value ^ (value >>> 13), 3266489909);
  return ((value ^ (value >>> 16)) >>> 0) / 4294967296 + 1e-9;
}
