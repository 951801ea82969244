/** One sentence asks another. */

import { symbol } from "../equation.js";
import { Grid } from "../grid.js";
import { look } from "../math.js";
import { Plane } from "../plane.js";
import { Ribbons } from "../ribbons.js";
import { count, line, paired, stacked, strange } from "./parts.js";

/** @typedef {import("./parts.js").Numbers} Numbers */
/** @typedef {import("./parts.js").Hands} Hands */

/** @param {Numbers} now */
const inside = (now) => look(now.z, now.x, now.heads[0]);

/** @type {(now: Numbers, hands: Hands) => import("./parts.js").Stage} */
export function crossStep(now, hands) {
  const m = now.others.length;
  const plane = new Plane("Words that ask and words that answer", (_, i) => i < m && hands.pick(i));
  const ribbons = new Ribbons(now.others, now.words, (i) => hands.pick(i));
  const { z, weights, y } = grids(now, hands);
  return {
    element: stacked(paired(plane.element, ribbons.element), line(z, "→", weights, "× V =", y)),
    update(now) {
      const all = inside(now);
      const row = Math.min(now.row, m - 1);
      plane.update([
        ...both(now, hands, "z").map((each, i) => ({ ...each, chosen: i === row })),
        ...both(now, hands, "x").map((each, i) => ({ ...each, weight: row < 0 ? 0 : all.weights[row][i] })),
      ]);
      ribbons.update(all.weights, row);
      z.update(now.z, { row });
      weights.update(all.weights, { row, column: now.column });
      y.update(all.y, { row });
    },
    tables(now) {
      const all = inside(now);
      return [
        { name: "shares", rows: now.others, columns: now.words, values: all.weights, kind: "weight" },
        { name: "y", rows: now.others, columns: count(2), values: all.y, kind: "vector" },
      ];
    },
  };
}

/** Those who ask, or those who answer, as arrows. @param {Numbers} now @param {Hands} hands @param {"x" | "z"} role */
function both(now, hands, role) {
  return (role === "z" ? now.others : now.words).map((name, i) => ({
    name,
    role,
    to: now[role][i],
    chance: strange(name, now[role][i]),
    move: (/** @type {[number, number]} */ to) => hands.vector(role, i, to),
  }));
}

/** @param {Numbers} now @param {Hands} hands */
function grids(now, hands) {
  const [n, m] = [now.words.length, now.others.length];
  return {
    z: new Grid(m, 2, {
      name: "vectors of those who ask",
      title: symbol("Z", "z"),
      rows: now.others,
      added: true,
      edit: (i, j, value) => hands.cell("z", i, j, value),
    }),
    weights: new Grid(m, n, {
      name: "shares",
      title: symbol("A", "e"),
      note: "who looks at whom",
      kind: "weight",
      rows: now.others,
      again: true,
      columns: now.words,
      pick: hands.pick,
    }),
    y: new Grid(m, 2, { name: "answers", title: symbol("Y", "y"), rows: now.others, again: true }),
  };
}
