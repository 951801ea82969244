/** Attention in its block: norm, residual and MLP around it, each to be switched off. */

import { h } from "../../dom.js";
import { symbol } from "../equation.js";
import { Grid } from "../grid.js";
import { block } from "../math.js";
import { DEPTH, PARTS } from "../numbers.js";
import { Plane } from "../plane.js";
import { arrows, count, line, paired, slider, stacked, toggle } from "./parts.js";

/** @typedef {import("./parts.js").Numbers} Numbers */
/** @typedef {import("./parts.js").Hands} Hands */
/** @typedef {import("./parts.js").Matrix} Matrix */

/** The two matrices of the MLP: four hidden numbers. */
export const NETWORK = {
  up: [
    [1, -1, 0.5, -0.5],
    [0.5, 0.5, -1, 1],
  ],
  down: [
    [0.5, 0.3],
    [-0.4, 0.4],
    [0.3, -0.5],
    [-0.2, -0.4],
  ],
};

/** The stream before each block, and what happens inside the last one. @param {Numbers} now */
export function passed(now) {
  const stream = [now.x];
  let last = block(now.x, now.heads[0], NETWORK, now.off);
  for (let i = 1; i < now.depth; i++) {
    stream.push(last.y);
    last = block(last.y, now.heads[0], NETWORK, now.off);
  }
  return { stream: [...stream, last.y], x: stream[stream.length - 1], ...last };
}

/** @type {(now: Numbers, hands: Hands) => import("./parts.js").Stage} */
export function blockStep(now, hands) {
  const plane = new Plane("Words on their way through the blocks", (_, i) => i < now.words.length && hands.pick(i));
  let off = now.off;
  const parts = PARTS.map((part) =>
    toggle(part, () => {
      const next = PARTS.filter((each) => (each === part ? !off.has(part) : off.has(each)));
      hands.change({ off: next.join(",") }, true);
    }),
  );
  const depth = slider("depth", "blocks", { min: 1, max: DEPTH, step: 1 }, (d) => hands.change({ depth: d }, "depth"));
  const grids = columns(now);
  const zeros = now.words.map(() => [0, 0]);
  return {
    element: stacked(
      paired(
        plane.element,
        h("div", { class: "knobs parts", role: "group", "aria-label": "Parts of the block" }, parts),
        depth.element,
        flow(),
      ),
      line(grids.x, "+", grids.attended, "=", grids.middle, "+", grids.thought, "=", grids.y),
      h(
        "p",
        { class: "quiet" },
        "The columns are those of the last block. The norm divides each vector by its length (RMSNorm).",
      ),
    ),
    update(now) {
      const all = passed(now);
      off = now.off;
      parts.forEach((button, i) => button.setAttribute("aria-pressed", String(!now.off.has(PARTS[i]))));
      depth.update(now.depth, String(now.depth));
      plane.update(path(now, hands, all.stream), dashes(all.stream));
      grids.x.update(all.x, { row: now.row });
      grids.attended.update(all.attended ?? zeros, { row: now.row });
      grids.middle.update(all.middle, { row: now.row });
      grids.thought.update(all.thought ?? zeros, { row: now.row });
      grids.y.update(all.y, { row: now.row });
    },
    tables(now) {
      const all = passed(now);
      return [
        { name: "x", rows: now.words, columns: count(2), values: all.x, kind: "vector" },
        { name: "attention adds", rows: now.words, columns: count(2), values: all.attended ?? zeros, kind: "vector" },
        { name: "h", rows: now.words, columns: count(2), values: all.middle, kind: "vector" },
        { name: "MLP adds", rows: now.words, columns: count(2), values: all.thought ?? zeros, kind: "vector" },
        { name: "y", rows: now.words, columns: count(2), values: all.y, kind: "vector" },
      ];
    },
  };
}

/** @param {Numbers} now */
function columns(now) {
  /** @param {string} name @param {import("../../dom.js").Child} title @param {boolean} [again] */
  const grid = (name, title, again = true) => new Grid(now.words.length, 2, { name, title, rows: now.words, again });
  return {
    x: grid("stream", symbol("x", "x"), false),
    attended: grid("what attention adds", "attention"),
    middle: grid("stream in the middle", symbol("h", "x")),
    thought: grid("what the MLP adds", "MLP"),
    y: grid("stream behind the block", symbol("y", "y")),
  };
}

function flow() {
  return h(
    "ul",
    { class: "quiet said" },
    h("li", null, "Attention lets words hear of each other."),
    h("li", null, "The MLP thinks about each word alone."),
    h("li", null, "The residual keeps the word: each part only adds to it."),
    h("li", null, "The norm keeps the numbers in range."),
  );
}

/** Where each word begins, and where it ends. @param {Numbers} now @param {Hands} hands @param {Matrix[]} stream */
function path(now, hands, stream) {
  const last = stream[stream.length - 1];
  return [
    ...arrows(now, hands, "x"),
    ...now.words.map((name, i) => ({ name: `${name} behind the blocks`, short: name, role: "y", to: last[i] })),
  ];
}

/** @param {Matrix[]} stream */
function dashes(stream) {
  return stream.slice(1).flatMap((after, t) => after.map((to, i) => ({ from: stream[t][i], to })));
}
