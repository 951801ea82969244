/**
 * The numbers of the room: what the link holds, and what follows from it. What was not touched is not in the link.
 */

import { causal, product } from "./math.js";
import { places, thrown } from "./place.js";
import { SENTENCES } from "./train.js";

/** @typedef {import("./math.js").Matrix} Matrix */
/** @typedef {import("../state.js").Flat} Flat */
/** @typedef {{q: Matrix, k: Matrix, v: Matrix}} Head */
/**
 * @typedef {object} Numbers
 * @property {string[]} words who can be looked at
 * @property {Matrix} x their vectors
 * @property {number[]} q the question
 * @property {number[]} w how the small network of the additive score adds up
 * @property {Matrix} v their values
 * @property {number} width of the vectors where it can be changed
 * @property {Head[]} heads
 * @property {number} turn degrees by which the question of the second head is turned
 * @property {Matrix} out
 * @property {boolean[][]} visible
 * @property {string[]} others who asks in cross-attention
 * @property {Matrix} z their vectors
 * @property {number} row the word that asks
 * @property {number} column the word that is looked at
 * @property {number[]} order in which the twin of the sentence has its words
 * @property {boolean} placed whether positions are added
 * @property {number} time the position that is shown
 * @property {Set<string>} off parts of the block that are switched off
 * @property {number} depth how many blocks
 * @property {Run[]} run the training so far
 * @property {number} rate of learning
 * @property {number} asked which sentence of the training is shown
 * @property {number[] | null} y the answer, where somebody has moved it
 * @property {number} heat the temperature of the last softmax
 */
/** @typedef {{steps: number, rate: number}} Run */

export const MOST = 6; // words that fit a phone
export const REACH = 3; // numbers lie between -3 and 3
export const SENTENCE = "we see the sky";
export const OTHER = "vediamo il cielo";

const QUESTION = [1.1, 1.1];
const TURN = 90; // degrees from the first head's question to that of the second
const NETWORK = [1, 1, 1];
/** W and U of the additive score. U has three directions that cancel out and W is its opposite, so together with `b` the
 * sum of the three tanh is highest where k = q. */
export const ADDITIVE = {
  q: [
    [-1, 0, 1],
    [0, -1, 1],
  ],
  k: [
    [1, 0, -1],
    [0, 1, -1],
  ],
  b: 1,
};
/** @type {Record<string, Matrix>} */
const MATRICES = {
  wq: [
    [1.2, 0],
    [0, 1.2],
  ],
  wk: [
    [1, 0],
    [0, 1],
  ],
  // What the words have in common is shrunk, what tells them apart is kept: found together, they still add what is their own.
  wv: [
    [0.8, -0.35],
    [-0.35, 0.8],
  ],
  wq2: [
    [1.2, 0],
    [0, 1.2],
  ],
  wk2: [
    [1, 0],
    [0, 1],
  ],
  wv2: [
    [1, 0],
    [0, -1],
  ],
  wo: [
    [1, 0],
    [0, 1],
    [0.5, 0],
    [0, 0.5],
  ],
};

/** @param {string} text @returns {string[]} */
export function split(text) {
  const words = text
    .trim()
    .split(/\s+/)
    .filter(Boolean)
    .slice(0, MOST)
    .map((word) => word.slice(0, 14));
  return words.length ? words : ["…"];
}

/** @param {Flat} state @returns {Numbers} */
export function read(state) {
  const words = split(String(state.words ?? SENTENCE));
  const others = split(String(state.other ?? OTHER));
  const x = matrix(state.x, places(words));
  const heads = ["", "2"].map((which) => ({
    q: named(state, `wq${which}`),
    k: named(state, `wk${which}`),
    v: named(state, `wv${which}`),
  }));
  const angle = Math.round(within(Number(String(state.turn ?? "") || TURN), 0, 359, TURN));
  const second = heads[1];
  if (second) second.q = turned(second.q, angle);
  return {
    words,
    others,
    x,
    heads,
    turn: angle,
    q: matrix(state.q, [QUESTION])[0] ?? QUESTION,
    w: matrix(state.w, [NETWORK])[0] ?? NETWORK,
    v: matrix(state.v, values(places(words))),
    width: Math.round(within(Number(state.d ?? 2), 2, 64)) || 2,
    out: named(state, "wo"),
    visible: visible(String(state.hide ?? "future"), words.length),
    z: matrix(state.z, places(others)),
    row: index(state.row, words.length - 1),
    column: index(state.column, words.length - 1),
    ...further(state, words.length),
  };
}

export const PARTS = ["norm", "attention", "residual", "MLP"];
export const DEPTH = 8;
export const RATES = [0.05, 0.1, 0.2, 0.5, 1, 2, 4];
export const LONGEST = 2000; // steps of training that a link repeats

/** What the later steps hold. @param {Flat} state @param {number} count */
function further(state, count) {
  const order = String(state.order ?? "")
    .split(",")
    .map(Number);
  const whole = order.length === count && [...order].sort((a, b) => a - b).every((each, i) => each === i);
  const rate = Number(state.rate ?? 0.2);
  const moved = matrix(state.y, [[NaN, NaN]])[0];
  return {
    order: whole && state.order !== undefined ? order : Array.from({ length: count }, (_, i) => count - 1 - i),
    placed: String(state.placed ?? "") === "1",
    time: index(state.time, 15),
    off: new Set(
      PARTS.filter((part) =>
        String(state.off ?? "")
          .split(",")
          .includes(part),
      ),
    ),
    depth: Math.round(within(Number(state.depth ?? 1), 1, DEPTH)),
    run: runs(String(state.run ?? "")),
    rate: RATES.includes(rate) ? rate : 0.2,
    asked: index(state.asked, SENTENCES.length - 1),
    y: Number.isFinite(moved[0]) ? moved : null,
    heat: within(Number(state.heat ?? 1), 0.1, 3, 1),
  };
}

/** A training as a link tells it: "120@0.2,40@1". @param {string} text @returns {Run[]} */
function runs(text) {
  let left = LONGEST;
  return text
    .split(",")
    .slice(0, 40)
    .map((part) => part.split("@").map(Number))
    .filter(([steps, rate]) => Number.isInteger(steps) && steps > 0 && RATES.includes(rate))
    .map(([steps, rate]) => {
      const taken = Math.min(steps, left);
      left -= taken;
      return { steps: taken, rate };
    })
    .filter(({ steps }) => steps > 0);
}

/** @param {Run[]} run */
export const writeRun = (run) => run.map(({ steps, rate }) => `${steps}@${rate}`).join(",");

/** W q and U k + b, which the additive score adds. @param {Numbers} now */
export function projected({ q, x }) {
  return { q: product([q], ADDITIVE.q), k: product(x, ADDITIVE.k).map((row) => row.map((each) => each + ADDITIVE.b)) };
}

/** The values that belong to words before anybody changes them. @param {Matrix} x @returns {Matrix} */
function values(x) {
  return product(x, MATRICES.wv).map((row) => row.map(round));
}

/** A vector carried on to more numbers, for the step that asks what width does. @param {string} word @param {number[]} start @param {number} width */
export function widened(word, start, width) {
  return Array.from({ length: width }, (_, i) => start[i] ?? thrown(word, i));
}

/** What a link calls a matrix: rows by semicolons. @param {Matrix} a */
export function write(a) {
  return a.map((row) => row.map((x) => String(round(x))).join(",")).join(";");
}

/** @param {boolean[][]} seen */
export function writeVisible(seen) {
  if (JSON.stringify(seen) === JSON.stringify(causal(seen.length))) return "future";
  const hidden = seen.flatMap((row, i) => row.flatMap((may, j) => (may ? [] : [`${i}.${j}`])));
  return hidden.join(",") || "nothing";
}

/** @param {string} text @param {number} count @returns {boolean[][]} */
function visible(text, count) {
  if (text === "future") return causal(count);
  const hidden = new Set(text.split(","));
  return Array.from({ length: count }, (_, i) => Array.from({ length: count }, (_, j) => !hidden.has(`${i}.${j}`)));
}

/** @param {Flat} state @param {string} name @returns {Matrix} */
function named(state, name) {
  return matrix(state[name], MATRICES[name] ?? []);
}

/** Numbers of a link, if they have the right shape. @param {unknown} text @param {Matrix} otherwise @returns {Matrix} */
function matrix(text, otherwise) {
  if (typeof text !== "string" || !text) return otherwise.map((row) => [...row]);
  const rows = text.split(";").map((row) => row.split(",").map(Number));
  const fits = rows.length === otherwise.length && rows.every((row, i) => row.length === otherwise[i]?.length);
  return fits && rows.flat().every(Number.isFinite)
    ? rows.map((row) => row.map(bounded))
    : otherwise.map((row) => [...row]);
}

/** @param {Matrix} a @param {number} degrees @returns {Matrix} */
function turned(a, degrees) {
  const [c, s] = [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)];
  return a.map(([p = 0, q = 0]) => [p * c - q * s, p * s + q * c]);
}

/** @param {unknown} value @param {number} most */
function index(value, most) {
  const number = Math.round(Number(value ?? NaN));
  return number >= 0 ? Math.min(number, most) : 0;
}

/** @param {number} value @param {number} low @param {number} high @param {number} [otherwise] for what is no number */
const within = (value, low, high, otherwise = low) =>
  Math.min(high, Math.max(low, Number.isFinite(value) ? value : otherwise));
/** @param {number} value */
export const bounded = (value) => within(value, -REACH, REACH);
/** @param {number} value */
export const round = (value) => Math.round(value * 100) / 100 + 0;

/** With one digit where that is all there is. @param {number} value */
export function brief(value) {
  return shown(value).replace(/(\.\d)0$/, "$1");
}

/** A number as it is shown, with a real minus and as many figures as a cell holds. @param {number} value @param {number} [digits] */
export function shown(value, digits = 2) {
  if (value === -Infinity) return "−∞";
  const text =
    Math.abs(value) >= 1000
      ? value.toExponential(1).replace("+", "")
      : value.toFixed(Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : digits);
  return text.replace("-", "−").replace(/^−(0(\.0+)?)$/, "$1");
}
