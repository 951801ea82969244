/** What the stages are made of: lines of matrices, the words as arrows, knobs. */

import { h } from "../../dom.js";
import { symbol } from "../equation.js";
import { Grid } from "../grid.js";
import { byChance, places } from "../place.js";

/** @typedef {import("../numbers.js").Numbers} Numbers */
/** @typedef {import("../math.js").Matrix} Matrix */
/** @typedef {import("../../dom.js").Child} Child */
/**
 * How the stage changes the numbers.
 * @typedef {object} Hands
 * @property {(name: "x" | "v" | "z" | "q" | "w" | "wq" | "wk" | "wv" | "wo", i: number, j: number, value: number) => void} cell
 * @property {(name: "x" | "v" | "z" | "q" | "y", i: number, to: [number, number]) => void} vector
 * @property {(row: number, column?: number) => void} pick
 * @property {(patch: import("../../state.js").Flat, undo: boolean | string) => void} change anything else that the link holds
 */
/** @typedef {{element: HTMLElement, update: (now: Numbers) => void, tables: (now: Numbers) => Table[], stop?: () => void}} Stage */
/** @typedef {{name: string, rows: string[], columns: string[], values: Matrix, kind: "vector" | "score" | "weight"}} Table */

/**
 * Matrices and signs side by side. On the line's own width depends how wide a cell can be, so that nothing wraps.
 * @param {...(Grid | HTMLElement | string)} parts a text is an operator
 */
export function line(...parts) {
  const grids = parts.filter((part) => part instanceof Grid);
  const cells = grids.reduce((total, grid) => total + grid.width, 0);
  const rest = parts.reduce((total, part) => total + room(part), 0);
  return h(
    "div",
    { class: "line", style: { "--cells": Math.max(1, cells), "--rest": `${rest.toFixed(2)}rem` } },
    parts.map((part) => (typeof part === "string" ? operator(part) : part instanceof Grid ? part.element : part)),
  );
}

/** What a part needs beside its cells, in rem. @param {Grid | HTMLElement | string} part */
function room(part) {
  if (typeof part === "string") return 0.9 + 0.62 * part.length;
  if (!(part instanceof Grid)) return 2;
  const letters = Math.max(0, ...(part.options.rows ?? []).map((row) => row.length));
  const label = part.options.rows && !part.options.again ? Math.min(5.6, 1.1 + 0.6 * letters) : 0;
  return 0.65 + label + part.width * 0.2;
}

/** @param {string} sign */
const operator = (sign) => h("span", { class: "operator", "aria-hidden": "true" }, sign);
/** A plane, and numbers beside it. @param {Child} left @param {...Child} right */
export const paired = (left, ...right) => h("div", { class: "pair" }, left, h("div", { class: "stack" }, ...right));
/** @param {...Child} parts */
export const stacked = (...parts) => h("div", { class: "stack" }, ...parts);
/** Numbers of a vector are counted. @param {number} count */
export const count = (count) => Array.from({ length: count }, (_, i) => String(i + 1));
/** As one column. @param {number[]} row @returns {Matrix} */
export const column = (row) => row.map((x) => [x]);

/** @param {Numbers} now @param {Hands} hands @param {string} [letter] @param {boolean} [added] */
export function vectors(now, hands, letter = "x", added = false) {
  return new Grid(now.words.length, 2, {
    name: letter === "x" ? "vectors" : "keys",
    title: symbol(letter, letter, letter === "k" ? "i" : undefined),
    rows: now.words,
    added,
    edit: (i, j, value) => hands.cell("x", i, j, value),
  });
}

/** The words as arrows. @param {Numbers} now @param {Hands} hands @param {string} role @param {number[]} [weights] */
export function arrows(now, hands, role, weights) {
  return now.words.map((name, i) => ({
    name,
    role,
    to: now.x[i],
    weight: weights?.[i] ?? 0,
    chosen: i === now.row,
    chance: strange(name, now.x[i]),
    move: (/** @type {[number, number]} */ to) => hands.vector("x", i, to),
  }));
}

/** Does a word lie where only chance has put it? @param {string} word @param {number[]} at */
export function strange(word, at) {
  const [thrown] = byChance(word) ? places([word]) : [null];
  return thrown !== null && thrown[0] === at[0] && thrown[1] === at[1];
}

/**
 * A slider with its name and what it says.
 * @param {string} id @param {Child} name @param {{min: number, max: number, step?: number}} range @param {(value: number) => void} change
 */
export function slider(id, name, range, change) {
  const input = h("input", { type: "range", id, ...range, oninput: () => change(Number(input.value)) });
  const told = h("output", { class: "big", for: id });
  const element = h("label", { class: "knobs slider", for: id }, h("span", null, name), input, told);
  /** @param {number} value @param {string} text */
  const update = (value, text) => {
    input.value = String(value);
    input.setAttribute("aria-valuetext", text);
    told.textContent = text;
  };
  return { element, update };
}

/** A button that is on or off. @param {string} text @param {() => void} press */
export function toggle(text, press) {
  return h("button", { class: "button", "aria-pressed": "false", onclick: press }, text);
}

/** What words that look at each other give away. @param {Numbers} now @param {{scores: Matrix, weights: Matrix, y: Matrix}} all @returns {Table[]} */
export function squares(now, { scores, weights, y }) {
  return [
    { name: "scores", rows: now.words, columns: now.words, values: scores, kind: "score" },
    { name: "shares", rows: now.words, columns: now.words, values: weights, kind: "weight" },
    { name: "y", rows: now.words, columns: count(2), values: y, kind: "vector" },
  ];
}
