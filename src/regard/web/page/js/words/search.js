/** Words that begin so, or that match a /pattern/; a pattern that takes too long is given up. */

import { work } from "./work.js";

/** @typedef {import("./vectors.js").Vectors} Vectors */

const PATTERN = 100; // letters
const WORD = 60; // letters of a word that a pattern sees
const SECONDS = 2;

/** The rows of what is found. @param {Vectors} vectors @param {string} asked @param {AbortSignal} signal @returns {Promise<number[]>} */
export async function find(vectors, asked, signal) {
  const pattern = asked.match(/^\/(.*)\/$/)?.[1];
  if (pattern === undefined) {
    const start = asked.toLowerCase();
    return vectors.words.flatMap((word, row) => (word.toLowerCase().startsWith(start) ? [row] : []));
  }
  if (pattern.length > PATTERN)
    throw new Error(`A pattern of ${pattern.length} letters is too long; up to ${PATTERN} are read.`);
  try {
    new RegExp(pattern, "iu");
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^Invalid regular expression: /, "") : error;
    throw new Error(`${why}; mend the pattern.`);
  }
  const words = vectors.words.map((word) => word.slice(0, WORD));
  try {
    return await work("match", { words, pattern }, { signal, seconds: SECONDS });
  } catch (error) {
    if (!(error instanceof Error) || error.message !== "too long") throw error;
    throw new Error(`/${pattern}/ takes longer than ${SECONDS} seconds and was given up; write a simpler pattern.`);
  }
}
