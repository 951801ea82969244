/** The same words in two orders, and positions that tell them apart. */

import { h, set, svg } from "../../dom.js";
import { Counter } from "../counter.js";
import { symbol } from "../equation.js";
import { Grid } from "../grid.js";
import { look, plus, sinusoid } from "../math.js";
import { Plane } from "../plane.js";
import { arrows, count, line, paired, slider, stacked, toggle } from "./parts.js";

/** @typedef {import("./parts.js").Numbers} Numbers */
/** @typedef {import("./parts.js").Hands} Hands */
/** @typedef {import("./parts.js").Matrix} Matrix */

/** What attention answers to the words in an order, with the positions of that order where they are added. @param {Numbers} now @param {number[]} order */
export function answers(now, order) {
  const rows = order.map((i) => now.x[i]);
  const x = now.placed
    ? plus(
        rows,
        rows.map((_, t) => sinusoid(t, 2)),
      )
    : rows;
  return look(x, x, now.heads[0]).y;
}

/** Both orders, and which words got the same answer. @param {Numbers} now */
export function twins(now) {
  const here = answers(
    now,
    now.words.map((_, i) => i),
  );
  const there = answers(now, now.order);
  const same = now.order.map((i, j) => here[i].every((value, d) => Math.abs(value - there[j][d]) < 0.005));
  return { here, there, same };
}

/** @type {(now: Numbers, hands: Hands) => import("./parts.js").Stage} */
export function orderStep(now, hands) {
  const n = now.words.length;
  const plane = new Plane("Words as arrows", (_, i) => i < n && hands.pick(i));
  const positions = toggle("Add positions", () =>
    hands.change({ placed: positions.getAttribute("aria-pressed") === "true" ? "" : 1 }, true),
  );
  const told = h("p", { class: "agreed", role: "status" });
  const twist = svg("svg", {
    class: "twist",
    viewBox: `0 0 100 ${n}`,
    preserveAspectRatio: "none",
    "aria-hidden": "true",
  });
  const { here, there } = grids(now);
  const counter = new Counter();
  const time = slider("time", "position t", { min: 0, max: 15, step: 1 }, (t) => hands.change({ time: t }, "time"));
  return {
    element: stacked(
      paired(
        plane.element,
        h("div", { class: "knobs" }, positions),
        line(here, h("div", { class: "twist-box", style: { "--rows": n } }, twist), there),
        told,
      ),
      h("div", { class: "positions" }, counter.element, h("div", { class: "stack tight" }, time.element, explained())),
    ),
    update(now) {
      const { here: first, there: second, same } = twins(now);
      positions.setAttribute("aria-pressed", String(now.placed));
      plane.update(moved(now, hands), now.placed ? steps(now) : []);
      here.update(first, { row: now.row });
      there.update(second, { row: now.order.indexOf(now.row) });
      there.name(now.order.map((i) => now.words[i]));
      set(twist, {}).replaceChildren(...crossing(now, same));
      told.textContent = verdict(now, same);
      counter.update(now.time);
      time.update(now.time, String(now.time));
    },
    tables(now) {
      const { here: first, there: second } = twins(now);
      return [
        { name: "y", rows: now.words, columns: count(2), values: first, kind: "vector" },
        {
          name: "y shuffled",
          rows: now.order.map((i) => now.words[i]),
          columns: count(2),
          values: second,
          kind: "vector",
        },
      ];
    },
  };
}

/** @param {Numbers} now */
function grids(now) {
  const n = now.words.length;
  return {
    here: new Grid(n, 2, { name: "answers as written", title: symbol("Y", "y"), note: "as written", rows: now.words }),
    there: new Grid(n, 2, {
      name: "answers in another order",
      title: symbol("Y", "y"),
      note: "shuffled",
      rows: now.order.map((i) => now.words[i]),
      mirrored: true,
      added: true,
    }),
  };
}

function explained() {
  return h(
    "p",
    { class: "quiet" },
    "Each digit of the counter changes half as often as the one to its right. Waves do the same without jumps: every position has a row of its own, numbers stay between −1 and 1, and a text may be longer than any before. Here p(t) = (sin t, cos t) is added to the two numbers of a word.",
  );
}

/** The words, with their positions where these are added. @param {Numbers} now @param {Hands} hands */
function moved(now, hands) {
  const plain = arrows(now, hands, "x");
  if (!now.placed) return plain;
  return [
    ...plain,
    ...now.words.map((name, t) => ({
      name: `${name} at ${t}`,
      short: String(t),
      role: "p",
      to: plus([now.x[t]], [sinusoid(t, 2)])[0],
      from: now.x[t],
    })),
  ];
}

/** @param {Numbers} now */
const steps = (now) => now.x.map((from, t) => ({ from, to: plus([from], [sinusoid(t, 2)])[0] }));

/** Lines from each word to its twin. @param {Numbers} now @param {boolean[]} same */
function crossing(now, same) {
  return now.order.map((i, j) =>
    svg("path", {
      class: same[j] ? "same" : "other",
      d: `M0 ${i + 0.5}C50 ${i + 0.5} 50 ${j + 0.5} 100 ${j + 0.5}`,
      "vector-effect": "non-scaling-stroke",
    }),
  );
}

/** @param {Numbers} now @param {boolean[]} same */
function verdict(now, same) {
  const many = same.filter(Boolean).length;
  const all = same.length;
  if (many === all) return `All ${all} words get the same answer in both orders: attention sees a set.`;
  return `${many ? `Only ${many}` : "None"} of ${all} words ${many === 1 ? "gets" : "get"} the same answer: order counts now.`;
}
