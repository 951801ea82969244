/** The steps with one question: words, additive, dot and softmax share a plane with the question in it. */

import { h } from "../../dom.js";
import { symbol } from "../equation.js";
import { Grid, number } from "../grid.js";
import { additive, beside, dot, sum, weigh } from "../math.js";
import { brief, projected, shown } from "../numbers.js";
import { Plane } from "../plane.js";
import { arrows, column, count, line, paired, vectors } from "./parts.js";

/** @typedef {import("./parts.js").Numbers} Numbers */
/** @typedef {import("./parts.js").Matrix} Matrix */
/** @typedef {import("./parts.js").Hands} Hands */
/** @typedef {import("./parts.js").Stage} Stage */
/** @typedef {import("./parts.js").Table} Table */
/** @typedef {import("../../dom.js").Child} Child */
/** @typedef {import("../grid.js").Options & {values: (now: Numbers) => Matrix, width?: number, sign?: string, total?: (values: Matrix) => string, most?: (now: Numbers) => number}} Column */

/** @type {(now: Numbers, hands: Hands) => Stage} */
export function words(now, hands) {
  const plane = new Plane("Words as arrows", (_, i) => hands.pick(i));
  const x = vectors(now, hands, "x", true);
  const element = paired(plane.element, line(x));
  element.classList.add("even"); // there is nothing else to see
  return {
    element,
    update(now) {
      plane.update(arrows(now, hands, "x"));
      x.update(now.x, { row: now.row });
    },
    tables: (now) => [{ name: "x", rows: now.words, columns: count(2), values: now.x, kind: "vector" }],
  };
}

/** @type {(now: Numbers, hands: Hands) => Stage} */
export function additiveStep(now, hands) {
  const inputs = [0, 1, 2].map((j) => number(`network, number ${j + 1}`, (value) => hands.cell("w", 0, j, value)));
  const network = h(
    "div",
    { class: "stack tight" },
    h("div", { class: "knobs" }, h("span", null, symbol("w", "e"), " of the small network"), inputs),
    h(
      "p",
      { class: "quiet" },
      "Here U k = (k₁, k₂, −k₁ − k₂), W q = −U q and b = 1, so a word scores high where it lies close to q. A model learns all four.",
    ),
  );
  /** @type {Column[]} */
  const columns = [
    {
      name: "tanh(Wq + Uk + b)",
      title: "tanh(…)",
      kind: "score",
      width: 3,
      added: true,
      values: (now) => projected(now).k.map((k) => beside(projected(now).q[0], k)),
      most: () => 1,
    },
    {
      name: "score",
      sign: "·w",
      title: symbol("e", "e", "i"),
      kind: "score",
      added: true,
      values: (now) => column(additive(projected(now).q, projected(now).k, now.w)[0]),
      most: () => 3,
    },
  ];
  const stage = ledger(now, hands, columns, network);
  return {
    ...stage,
    update(now) {
      stage.update(now);
      inputs.forEach((input, j) => {
        if (document.activeElement !== input || !input.dataset.typing) input.value = brief(now.w[j]);
      });
    },
  };
}

/** @type {(now: Numbers, hands: Hands) => Stage} */
export function dotStep(now, hands) {
  /** @type {Column[]} */
  const columns = [
    {
      name: "q × k",
      sign: "×q",
      title: h("span", null, symbol("q", "q", "j"), symbol("k", "k", "ij")),
      kind: "score",
      width: 2,
      values: (now) => now.x.map((k) => k.map((x, j) => x * now.q[j])),
      most: () => 4,
    },
    {
      name: "score",
      sign: "+",
      title: symbol("e", "e", "i"),
      kind: "score",
      added: true,
      values: (now) => column(dot([now.q], now.x, 1)[0]),
      most: () => 5,
    },
  ];
  return ledger(now, hands, columns, null, true);
}

/** @type {(now: Numbers, hands: Hands) => Stage} */
export function softmaxStep(now, hands) {
  /** @param {Numbers} now */
  const scores = (now) => dot([now.q], now.x)[0];
  return ledger(now, hands, [
    { name: "score", title: symbol("e", "e", "i"), kind: "score", values: (now) => column(scores(now)), most: () => 4 },
    {
      name: "exp",
      sign: "exp",
      title: h("span", null, "exp(", symbol("e", "e", "i"), ")"),
      values: (now) => column(scores(now).map(Math.exp)),
      total: (values) => `Σ = ${shown(sum(values.flat()))}`,
      kind: "vector",
    },
    {
      name: "share",
      sign: "÷ Σ",
      title: symbol("a", "e", "i"),
      kind: "weight",
      added: true,
      values: (now) => column(weigh([scores(now)])[0]),
      total: (values) => `Σ = ${shown(sum(values.flat()))}`,
    },
  ]);
}

/** A plane with question and keys, and columns of what is computed of them.
 * @param {Numbers} now @param {Hands} hands @param {Column[]} columns @param {Child} [below] @param {boolean} [projections] @returns {Stage} */
function ledger(now, hands, columns, below, projections = false) {
  const plane = new Plane("Question and keys as arrows", (_, i) => i < now.words.length && hands.pick(i));
  const asks = new Grid(1, 2, {
    name: "question",
    title: symbol("q", "q"),
    rows: ["asks"],
    edit: (_, j, value) => hands.cell("q", 0, j, value),
  });
  const keys = vectors(now, hands, "k");
  const grids = columns.map((column) => grid(now, hands, column));
  const element = paired(
    plane.element,
    line(asks),
    line(keys, ...columns.flatMap((column, i) => [column.sign ?? "→", grids[i]])),
    below,
  );
  return {
    element,
    update(now) {
      const weights = columns.some(({ kind }) => kind === "weight") ? weigh(dot([now.q], now.x))[0] : undefined;
      plane.update(
        [
          ...arrows(now, hands, "k", weights),
          { name: "q", role: "q", to: now.q, move: (to) => hands.vector("q", 0, to) },
        ],
        projections ? shadows(now) : [],
      );
      asks.update([now.q]);
      keys.update(now.x, { row: now.row });
      columns.forEach((column, i) => {
        const values = column.values(now);
        grids[i].update(values, { row: now.row, most: column.most?.(now), total: column.total?.(values) });
      });
    },
    tables: (now) => listed(now, columns),
  };
}

/** @param {Numbers} now @param {Hands} hands @param {Column} column */
function grid(now, hands, column) {
  return new Grid(now.words.length, column.width ?? 1, {
    ...column,
    summed: column.total !== undefined,
    spoken: now.words,
    pick: column.kind === "vector" ? undefined : (i) => hands.pick(i),
  });
}

/** @param {Numbers} now @param {Column[]} columns @returns {Table[]} */
function listed(now, columns) {
  return [
    { name: "q", rows: ["q"], columns: count(2), values: [now.q], kind: "vector" },
    { name: "k", rows: now.words, columns: count(2), values: now.x, kind: "vector" },
    ...columns.map((column) => ({
      name: column.name,
      rows: now.words,
      columns: column.width ? count(column.width) : [column.name],
      values: column.values(now),
      kind: column.kind ?? /** @type {const} */ ("vector"),
    })),
  ];
}

/** The line of the question, and where the keys fall on it. @param {Numbers} now */
function shadows({ q, x }) {
  const long = sum(q.map((each) => each * each)) || 1;
  return [
    { from: q.map((each) => -9 * each), to: q.map((each) => 9 * each) },
    ...x.map((k) => {
      const share = sum(q.map((each, i) => each * k[i])) / long;
      return { from: k, to: q.map((each) => each * share) };
    }),
  ];
}
