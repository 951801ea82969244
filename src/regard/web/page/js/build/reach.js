/** Four ways for tokens to hear of each other in one layer, as deck 004 draws them: convolution, pyramid, full, attention. */

import { weight } from "../color.js";
import { h, set, svg } from "../dom.js";

const [WIDE, HIGH, EDGE] = [190, 104, 16];
const WAYS = /** @type {const} */ ([
  {
    id: "conv",
    name: "Convolution",
    says: "Neighbours only. The weights belong to places, and are the same everywhere.",
  },
  { id: "pyramid", name: "Pyramid", says: "Far words meet after several layers, each half as long." },
  {
    id: "full",
    name: "Full connection",
    says: "Everybody in one layer, but a weight of its own for each pair of places.",
  },
  { id: "attention", name: "Attention", says: "Everybody in one layer, and the words decide the weights." },
]);

export class Reach {
  /** @param {string[]} words */
  constructor(words) {
    this.count = words.length;
    /** @type {{id: string, lines: {from: number, to: number, path: SVGPathElement}[]}[]} */
    this.drawn = [];
    this.element = h(
      "section",
      { class: "reach", "aria-label": "Who can reach whom" },
      h("h2", null, "Who can reach whom"),
      h(
        "div",
        { class: "reach-ways" },
        WAYS.map(({ id, name, says }) =>
          h("figure", null, this._picture(id, name), h("figcaption", null, h("strong", null, name), " ", says)),
        ),
      ),
    );
  }

  /** @param {string} id @param {string} name */
  _picture(id, name) {
    const levels = id === "pyramid" ? halved(this.count) : [this.count, this.count];
    const lines = levels.slice(1).flatMap((above, level) =>
      pairs(id, levels[level], above).map(([from, to]) => {
        const [x1, y1, x2, y2] = [...at(from, level, levels), ...at(to, level + 1, levels)];
        return { from, to, path: svg("path", { d: `M${x1} ${y1}L${x2} ${y2}`, class: "reach-line" }) };
      }),
    );
    this.drawn.push({ id, lines });
    return svg(
      "svg",
      { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", "aria-label": name },
      lines.map(({ path }) => path),
      levels
        .map((many, level) =>
          Array.from({ length: many }, (_, i) => {
            const [cx, cy] = at(i, level, levels);
            return svg("circle", { cx, cy, r: 5, class: level ? "reach-out" : "reach-in" });
          }),
        )
        .flat(),
    );
  }

  /** @param {number[][]} weights of the live attention @param {number} row the word in hand: what it hears is dark */
  update(weights, row) {
    for (const { id, lines } of this.drawn) {
      for (const { from, to, path } of lines) {
        const mine = id === "pyramid" || to === row;
        const share = id === "attention" ? (weights[to]?.[from] ?? 0) : 0.33;
        set(path, {
          style: {
            stroke: id === "attention" ? weight(0.35 + share * 0.6) : "var(--muted)",
            "stroke-width": `${(id === "attention" ? 0.5 + share * 6 : 1.4).toFixed(2)}px`,
            opacity: mine ? 1 : 0.22,
          },
        });
      }
    }
  }
}

/** @param {string} id @param {number} below @param {number} above @returns {[number, number][]} from below to above */
function pairs(id, below, above) {
  /** @type {[number, number][]} */
  const found = [];
  for (let to = 0; to < above; to++) {
    for (let from = 0; from < below; from++) {
      const near = id === "conv" ? Math.abs(from - to) <= 1 : id === "pyramid" ? Math.floor(from / 2) === to : true;
      if (near) found.push([from, to]);
    }
  }
  return found;
}

/** 6, 3, 2, 1. @param {number} count */
function halved(count) {
  const levels = [count];
  while (levels[levels.length - 1] > 1) levels.push(Math.ceil(levels[levels.length - 1] / 2));
  return levels.length > 1 ? levels : [count, count];
}

/** @param {number} i @param {number} level @param {number[]} levels @returns {[number, number]} */
function at(i, level, levels) {
  return [
    EDGE + ((i + 0.5) * (WIDE - 2 * EDGE)) / levels[level],
    HIGH - EDGE - (level * (HIGH - 2 * EDGE)) / (levels.length - 1),
  ];
}
