/** How far each head looks, by depth: a dot a head. */

import { h, replace, svg } from "../dom.js";
import { headHue } from "../views/paint.js";
import { brief, layered } from "./wishes.js";

/** @typedef {{name: string, heads: number[], even: number}} Far */

const [WIDE, TALL, LEFT, BELOW] = [320, 170, 34, 30];

/** @param {HTMLElement} host @param {Far[]} all @param {(name: string, head: number) => void} open @param {import("./wishes.js").Wishes} chosen */
export function show(host, all, open, chosen) {
  const most = Math.max(0.1, ...all.flatMap(({ heads, even }) => [...heads, even])) * 1.1;
  const column = (WIDE - LEFT - 6) / Math.max(1, all.length);
  const x = (/** @type {number} */ i) => LEFT + (i + 0.5) * column;
  // The heads of a layer stay in its column, however many they are.
  const crowd = Math.max(1, ...all.map(({ heads }) => heads.length));
  const step = Math.min(7, (0.8 * column) / crowd);
  const dot = Math.max(2.4, Math.min(4, 0.8 * step));
  // A head that is switched off looks nowhere, which is not the same as at itself.
  const off = (/** @type {string} */ name, /** @type {number} */ head) =>
    chosen.edits.some(
      (each) => each.kind === "off" && each.name === name && (each.head === null || each.head === head),
    );
  const y = (/** @type {number} */ far) => 8 + (TALL - BELOW - 8) * (1 - far / most);
  const ticks = [0, most / 2.2, most / 1.1];
  const every = Math.ceil(all.length / 8);
  const figure = svg(
    "svg",
    {
      viewBox: `0 0 ${WIDE} ${TALL}`,
      class: dot < 3 ? "see-far crowded" : "see-far",
      role: "group",
      "aria-label": "How far each head looks, by layer",
    },
    ticks
      .map((tick) => [
        svg("line", { x1: LEFT, x2: WIDE - 4, y1: y(tick), y2: y(tick), class: "rule" }),
        svg("text", { x: LEFT - 5, y: y(tick) + 4, "text-anchor": "end" }, tick.toFixed(2)),
      ])
      .flat(),
    all
      .map(({ name, even }, i) => [
        svg("line", { x1: x(i - 0.45), x2: x(i + 0.45), y1: y(even), y2: y(even), class: "even" }),
        i % every === 0 &&
          svg(
            "text",
            { x: x(i), y: TALL - 18, "text-anchor": "middle" },
            all.length > 6 ? String(i + 1) : brief(name).slice(-9),
          ),
      ])
      .flat(),
    all.flatMap(({ name, heads }, i) =>
      heads.map(
        (far, head) =>
          !off(name, head) &&
          svg(
            "circle",
            {
              cx: x(i) + (head - (heads.length - 1) / 2) * step,
              cy: y(far),
              r: chosen.name === name && chosen.head === head ? dot + 2 : dot,
              fill: headHue(head),
              onclick: () => open(name, head),
            },
            svg("title", null, `${layered(name)}, head ${head + 1}: ${far.toFixed(2)} sides of the picture`),
          ),
      ),
    ),
    svg("text", { x: (WIDE + LEFT) / 2, y: TALL - 4, "text-anchor": "middle" }, "layer"),
  );
  replace(
    host,
    h("h2", null, "How far heads look"),
    figure,
    h("p", { class: "quiet" }, "In sides of the picture; a dot is a head, a dashed line is looking evenly."),
  );
  return figure;
}
