/** What a text model is asked: from what the link says to the request. */

import { tooLong } from "../bench/text.js";
import { choices, prompt, readShots } from "./shots.js";

/** @typedef {import("../bench/address.js").State} State */
/** @typedef {import("../bench/answer.js").Model} Model */
/** @typedef {Record<string, unknown>} Request */
/** A word of a text, where it stands, and whether somebody wrote a mask there. @typedef {{text: string, from: number, to: number, typed: boolean}} Word */

const WORD = /\[MASK\]|<mask>|(?<![\p{L}\p{N}_])_+(?![\p{L}\p{N}_])|[\p{L}\p{N}]+(?:['’][\p{L}]+)*|[^\s\p{L}\p{N}]/gu;
const TOLD = 20; // guesses at a hidden word, of which some are shown; the others say what moved
const TYPED = /^(\[MASK\]|<mask>|_+)$/;
/** Tasks that read two texts, and what these are called. @type {Record<string, [string, string]>} */
const PAIRS = {
  answer: ["Question", "Text"],
  similar: ["First text", "Second text"],
  fill: ["Text", "Second sentence"],
  classify: ["Text", "Second sentence"],
  embed: ["Text", "Second text"],
};

/** @param {Model | undefined} model */
export const pairOf = (model) => PAIRS[String(model?.["task"])] ?? null;
/** @param {State} state */
export const textOf = ({ input }) => input.replace(/^t:/, "");

/** @param {string} text @returns {Word[]} */
export function wordsOf(text) {
  return [...text.matchAll(WORD)].map((found) => ({
    text: found[0],
    from: found.index,
    to: found.index + found[0].length,
    typed: TYPED.test(found[0]),
  }));
}

/** Which words are hidden by hand. @param {State} state @returns {Set<number>} */
export const hiddenOf = ({ flat }) => new Set(String(flat["mask"] ?? "").split(",").filter(Boolean).map(Number)); // prettier-ignore

/** The text with its hidden words as masks, and what these are. @param {string} text @param {Set<number>} hidden */
export function hide(text, hidden) {
  /** @type {(string | null)[]} */
  const own = [];
  let [out, place] = ["", 0];
  wordsOf(text).forEach((word, i) => {
    if (!word.typed && !hidden.has(i)) return;
    out += `${text.slice(place, word.from)}[MASK]`;
    place = word.to;
    own.push(word.typed ? null : word.text);
  });
  return { text: out + text.slice(place), own };
}

/** What is written behind a text: how many tokens, and how they are drawn. @param {unknown} w `20,0.8,0.9,50,1` */
export function readWriting(w) {
  const [most, temperature, topP, topK, seed] = String(w ?? "").split(",").map(Number); // prettier-ignore
  return most ? { most, temperature: temperature ?? 1, topP: topP ?? 1, topK: topK ?? 50, seed: seed ?? 0 } : null;
}

/** @param {Model} model @param {State} state @param {Record<string, number>} limits @returns {Request | null} */
export function request(model, state, limits) {
  const text = textOf(state);
  const long = tooLong(text, limits["text"]);
  if (long) throw new Error(long);
  if (!text.trim()) return null;
  const { name, task } = model;
  if (task === "recall") return { model: name, input: { numbers: numbers(text) }, options: {} };
  if (task === "generate") return generating(model, state, limits);
  if (["answer", "similar"].includes(task) && !text.split("\t")[1]?.trim()) return null;
  if (task !== "fill") return { model: name, input: { text }, options: {} };
  const { text: shown, own } = hide(text, hiddenOf(state));
  return { model: name, input: { text: shown }, options: own.some(Boolean) ? { top: TOLD, own } : { top: TOLD } };
}

/** @param {Model} model @param {State} state @param {Record<string, number>} limits @param {{on: boolean, mixed: boolean}} [how] other examples than those of the link */
export function generating(model, state, limits, how) {
  const shots = readShots(state.flat);
  const writing = how ? null : readWriting(state.flat["w"]);
  const text = shots.shots.length ? prompt(shots, textOf(state), how) : textOf(state);
  const long = tooLong(text, limits["text"]);
  if (long) throw new Error(long);
  return {
    model: model["name"],
    input: { text },
    options: {
      ...(writing
        ? {
            max_new: Math.min(writing.most, limits["new"] ?? 200),
            temperature: writing.temperature,
            top_p: writing.topP,
            top_k: writing.topK,
            seed: writing.seed,
          }
        : {}),
      ...(shots.shots.length ? { choices: choices(shots) } : {}),
    },
  };
}

/** @param {string} text */
function numbers(text) {
  const found = text.split(/[\s,]+/).filter(Boolean);
  const odd = found.find((each) => !/^\d{1,9}$/.test(each));
  if (odd) throw new Error(`This model reads numbers, and “${odd}” is none: write them as 3 12 4 13.`);
  return found.map(Number);
}
