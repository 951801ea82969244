/** Who may see whom: scores that can be hidden, and what is left of the shares. */

import { h } from "../../dom.js";
import { symbol } from "../equation.js";
import { Grid } from "../grid.js";
import { look } from "../math.js";
import { writeVisible } from "../numbers.js";
import { Plane } from "../plane.js";
import { arrows, line, paired, squares, stacked, toggle } from "./parts.js";

/** @typedef {import("./parts.js").Numbers} Numbers */
/** @typedef {import("./parts.js").Hands} Hands */

/** @param {Numbers} now */
function inside(now) {
  const all = look(now.x, now.x, now.heads[0], now.visible);
  return { ...all, scores: all.scores.map((row, i) => row.map((x, j) => (now.visible[i][j] ? x : -Infinity))) };
}

/** @type {(now: Numbers, hands: Hands) => import("./parts.js").Stage} */
export function maskStep(now, hands) {
  const n = now.words.length;
  let visible = now.visible;
  const plane = new Plane("Words as arrows", (_, i) => hands.pick(i));
  const future = toggle("Hide the future", () => hands.change({ hide: "future" }, true));
  const open = toggle("Let all see all", () => hands.change({ hide: "nothing" }, true));
  const { scores, weights, y } = grids(now, hands, (i, j) => {
    const next = visible.map((each) => [...each]);
    next[i][j] = !next[i][j];
    hands.change({ hide: writeVisible(next), row: i, column: j }, true);
  });
  return {
    element: stacked(
      paired(plane.element, h("div", { class: "knobs" }, future, open), line(scores)),
      line(weights, "× V =", y),
    ),
    update(now) {
      const all = inside(now);
      visible = now.visible;
      const hidden = now.visible.flat().filter((may) => !may).length;
      const past = hidden === (n * (n - 1)) / 2 && now.visible.every((row, i) => row.every((may, j) => may === j <= i));
      future.setAttribute("aria-pressed", String(past));
      open.setAttribute("aria-pressed", String(hidden === 0));
      plane.update(arrows(now, hands, "x", now.row < 0 ? undefined : all.weights[now.row]));
      scores.update(all.scores, now);
      weights.update(all.weights, now);
      y.update(all.y, { row: now.row });
    },
    tables: (now) => squares(now, inside(now)),
  };
}

/** @param {Numbers} now @param {Hands} hands @param {(i: number, j: number) => void} hide */
function grids(now, hands, hide) {
  const n = now.words.length;
  return {
    scores: new Grid(n, n, {
      name: "scores; press one to hide it",
      title: h("span", null, symbol("Q", "q"), symbol("K", "k"), "⊤/√d + ", symbol("M", "e")),
      note: "press to hide",
      kind: "score",
      rows: now.words,
      columns: now.words,
      added: true,
      pick: hide,
    }),
    weights: new Grid(n, n, {
      name: "shares",
      title: symbol("A", "e"),
      note: "softmax",
      kind: "weight",
      rows: now.words,
      columns: now.words,
      pick: hands.pick,
    }),
    y: new Grid(n, 2, { name: "answers", title: symbol("Y", "y"), rows: now.words, again: true }),
  };
}
