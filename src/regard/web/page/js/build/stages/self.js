/** Every word asks: three matrices, one product, and who can reach whom. */

import { h } from "../../dom.js";
import { symbol } from "../equation.js";
import { Grid } from "../grid.js";
import { look } from "../math.js";
import { Plane } from "../plane.js";
import { Reach } from "../reach.js";
import { arrows, line, squares, stacked, vectors } from "./parts.js";

/** @typedef {import("./parts.js").Numbers} Numbers */
/** @typedef {import("./parts.js").Hands} Hands */

/** @param {Numbers} now */
const inside = (now) => look(now.x, now.x, now.heads[0]);

/** @type {(now: Numbers, hands: Hands) => import("./parts.js").Stage} */
export function selfStep(now, hands) {
  const plane = new Plane("Words as arrows", (_, i) => hands.pick(i));
  const x = vectors(now, hands);
  const ways = /** @type {const} */ (["q", "k", "v"]).map((role) => way(now, hands, role));
  const { scores, weights, y } = looks(now, hands);
  const reach = new Reach(now.words);
  const made = h(
    "div",
    { class: "made" },
    line(x),
    h("div", { class: "stack" }, line("×", ...ways.map(({ by }) => by)), line("=", ...ways.map(({ is }) => is))),
  );
  return {
    element: stacked(
      h("div", { class: "pair wide" }, plane.element, h("div", { class: "stack" }, made)),
      line(scores, "→", weights, "× V =", y),
      reach.element,
    ),
    update(now) {
      const all = inside(now);
      plane.update(arrows(now, hands, "x", now.row < 0 ? undefined : all.weights[now.row]));
      x.update(now.x, { row: now.row });
      ways.forEach(({ role, by, is }) => {
        by.update(now.heads[0][role]);
        is.update(all[role], { row: now.row });
      });
      scores.update(all.scores, now);
      weights.update(all.weights, now);
      y.update(all.y, { row: now.row });
      reach.update(all.weights, now.row);
    },
    tables: (now) => squares(now, inside(now)),
  };
}

/** A matrix to change, and what it makes. @param {Numbers} now @param {Hands} hands @param {"q" | "k" | "v"} role */
function way(now, hands, role) {
  return {
    role,
    by: new Grid(2, 2, {
      name: `matrix W ${role}`,
      title: symbol("W", role, role),
      added: true,
      edit: (i, j, value) => hands.cell(`w${role}`, i, j, value),
    }),
    is: new Grid(now.words.length, 2, {
      name: { q: "queries", k: "keys", v: "values" }[role],
      title: symbol(role.toUpperCase(), role),
    }),
  };
}

/** @param {Numbers} now @param {Hands} hands */
function looks(now, hands) {
  const n = now.words.length;
  return {
    scores: new Grid(n, n, {
      name: "scores",
      title: h("span", null, symbol("Q", "q"), symbol("K", "k"), "⊤/√d"),
      kind: "score",
      rows: now.words,
      columns: now.words,
      pick: hands.pick,
    }),
    weights: new Grid(n, n, {
      name: "shares",
      title: symbol("A", "e"),
      note: "softmax",
      kind: "weight",
      rows: now.words,
      again: true,
      columns: now.words,
      pick: hands.pick,
    }),
    y: new Grid(n, 2, { name: "answers", title: symbol("Y", "y"), rows: now.words, again: true }),
  };
}
