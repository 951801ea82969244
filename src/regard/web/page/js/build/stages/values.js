/** Find by the key, take the value: two planes and what one makes of the other. */

import { h } from "../../dom.js";
import { symbol } from "../equation.js";
import { Grid } from "../grid.js";
import { dot, product, weigh } from "../math.js";
import { Plane } from "../plane.js";
import { arrows, column, count, line, stacked } from "./parts.js";

/** @typedef {import("./parts.js").Numbers} Numbers */
/** @typedef {import("./parts.js").Hands} Hands */

/** @param {Numbers} now */
function inside(now) {
  const weights = weigh(dot([now.q], now.x))[0];
  return { weights, parts: now.v.map((row, i) => row.map((x) => x * weights[i])), y: product([weights], now.v) };
}

/** @type {(now: Numbers, hands: Hands) => import("./parts.js").Stage} */
export function valuesStep(now, hands) {
  const n = now.words.length;
  const questions = new Plane("Question and keys", (_, i) => i < n && hands.pick(i));
  const values = new Plane("Values, and the answer they make", (_, i) => i < n && hands.pick(i));
  const { a, v, parts, y } = grids(now, hands);
  return {
    element: stacked(
      h(
        "div",
        { class: "planes" },
        framed(questions, "find: ", symbol("q", "q"), " meets the keys ", symbol("k", "k", "i")),
        framed(values, "take: the values ", symbol("v", "v", "i"), " make ", symbol("y", "y")),
      ),
      line(a, "×", v, "=", parts, "Σ →", y),
      h(
        "p",
        { class: "quiet" },
        "One query finds all words whose keys lie close together, here “we” and “see” in the sentence of the lecture. Their values lie apart, so that each adds what is its own.",
      ),
    ),
    update(now) {
      const { weights, parts: taken, y: answer } = inside(now);
      questions.update([
        ...arrows(now, hands, "k", weights),
        { name: "q", role: "q", to: now.q, move: (to) => hands.vector("q", 0, to) },
      ]);
      values.update([...offered(now, hands, weights), { name: "y", role: "y", to: answer[0] }], chain(taken));
      a.update(column(weights), { row: now.row });
      v.update(now.v, { row: now.row });
      parts.update(taken, { row: now.row });
      y.update(answer);
    },
    tables(now) {
      const { weights, y: answer } = inside(now);
      return [
        { name: "a", rows: now.words, columns: ["share"], values: column(weights), kind: "weight" },
        { name: "v", rows: now.words, columns: count(2), values: now.v, kind: "vector" },
        { name: "y", rows: ["y"], columns: count(2), values: answer, kind: "vector" },
      ];
    },
  };
}

/** @param {Numbers} now @param {Hands} hands */
function grids(now, hands) {
  const n = now.words.length;
  return {
    a: new Grid(n, 1, {
      name: "shares",
      title: symbol("a", "e", "i"),
      kind: "weight",
      rows: now.words,
      pick: (i) => hands.pick(i),
    }),
    v: new Grid(n, 2, {
      name: "values",
      title: symbol("v", "v", "i"),
      added: true,
      spoken: now.words,
      edit: (i, j, value) => hands.cell("v", i, j, value),
    }),
    parts: new Grid(n, 2, {
      name: "taken",
      title: h("span", null, symbol("a", "e", "i"), symbol("v", "v", "i")),
      rows: now.words,
      again: true,
    }),
    y: new Grid(1, 2, { name: "answer", title: symbol("y", "y"), added: true }),
  };
}

/** @param {Plane} plane @param {...import("../../dom.js").Child} caption */
export function framed(plane, ...caption) {
  return h("figure", { class: "framed" }, plane.element, h("figcaption", null, ...caption));
}

/** @param {Numbers} now @param {Hands} hands @param {number[]} weights */
function offered(now, hands, weights) {
  return now.words.map((name, i) => ({
    name,
    role: "v",
    to: now.v[i],
    weight: weights[i],
    chosen: i === now.row,
    move: (/** @type {[number, number]} */ to) => hands.vector("v", i, to),
  }));
}

/** The shares of the values, laid tip to tail, end where the answer is. @param {number[][]} taken */
function chain(taken) {
  let at = [0, 0];
  return taken.map((part) => {
    const from = at;
    at = at.map((x, j) => x + part[j]);
    return { from, to: at };
  });
}
