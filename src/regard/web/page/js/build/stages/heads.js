/** Two heads, side by side, and the matrix that blends them. */

import { h } from "../../dom.js";
import { symbol } from "../equation.js";
import { Grid } from "../grid.js";
import { aside, multihead } from "../math.js";
import { Plane } from "../plane.js";
import { arrows, count, line, paired, slider, stacked } from "./parts.js";

/** @typedef {import("./parts.js").Numbers} Numbers */
/** @typedef {import("./parts.js").Hands} Hands */

/** @param {Numbers} now */
const inside = (now) => multihead(now.x, now.x, now.heads, now.out);

/** @type {(now: Numbers, hands: Hands) => import("./parts.js").Stage} */
export function headsStep(now, hands) {
  const plane = new Plane("Words as arrows", (_, i) => hands.pick(i));
  const knob = slider("turn", "turn head 2", { min: 0, max: 359, step: 5 }, (turn) => hands.change({ turn }, "turn"));
  const looks = [0, 1].map((i) => shares(now, hands, i));
  const { parts, out, y } = blend(now, hands);
  const many = now.words.length > 4; // two wide matrices need the whole line
  return {
    element: stacked(
      paired(plane.element, knob.element, many ? null : line(...looks)),
      many ? line(...looks) : null,
      line(parts, "×", out, "=", y),
    ),
    update(now) {
      const all = inside(now);
      knob.update(now.turn, `${now.turn}°`);
      const row = Math.max(0, now.row);
      plane.update([
        ...arrows(now, hands, "x"),
        ...all.looks.map((each, i) => ({
          name: `q${"₁₂"[i]}`,
          role: "q",
          to: each.q[row].map((value) => value * 0.7),
        })),
      ]);
      looks.forEach((grid, i) => grid.update(all.looks[i].weights, now));
      parts.update(aside(all.looks.map((each) => each.y)), { row: now.row });
      out.update(now.out);
      y.update(all.y, { row: now.row });
    },
    tables(now) {
      const all = inside(now);
      return [
        ...all.looks.map((each, i) => ({
          name: `head ${i + 1}`,
          rows: now.words,
          columns: now.words,
          values: each.weights,
          kind: /** @type {const} */ ("weight"),
        })),
        { name: "y", rows: now.words, columns: count(2), values: all.y, kind: "vector" },
      ];
    },
  };
}

/** @param {Numbers} now @param {Hands} hands @param {number} i */
function shares(now, hands, i) {
  return new Grid(now.words.length, now.words.length, {
    name: `shares of head ${i + 1}`,
    title: symbol("A", "e", String(i + 1)),
    note: `head ${i + 1}`,
    kind: "weight",
    rows: now.words,
    again: i > 0,
    columns: now.words,
    added: true,
    pick: hands.pick,
  });
}

/** @param {Numbers} now @param {Hands} hands */
function blend(now, hands) {
  return {
    parts: new Grid(now.words.length, 4, {
      name: "answers of both heads",
      title: h("span", null, "[", symbol("Y", "y", "1"), " ", symbol("Y", "y", "2"), "]"),
      note: "side by side",
      rows: now.words,
    }),
    out: new Grid(4, 2, {
      name: "matrix W o",
      title: symbol("W", "e", "o"),
      edit: (i, j, value) => hands.cell("wo", i, j, value),
    }),
    y: new Grid(now.words.length, 2, { name: "answers", title: symbol("Y", "y"), rows: now.words, again: true }),
  };
}
