/** Two sentences, one above the other, and between them who looks at whom. */

import { weight } from "../color.js";
import { h, set, svg } from "../dom.js";
import { shown } from "./numbers.js";

const [WIDE, HIGH, EDGE] = [440, 190, 30];

export class Ribbons {
  /** @param {string[]} above who asks @param {string[]} below who answers @param {(i: number) => void} pick */
  constructor(above, below, pick) {
    this.above = above;
    this.below = below;
    this.lines = above.map(() => below.map(() => svg("path", { fill: "none" })));
    this.words = above.map((word, i) =>
      svg(
        "text",
        {
          x: at(i, above.length),
          y: EDGE - 9,
          class: "asks",
          role: "button",
          tabindex: 0,
          onclick: () => pick(i),
          onkeydown: (/** @type {KeyboardEvent} */ event) => event.key === "Enter" && pick(i),
        },
        word,
      ),
    );
    this.element = h(
      "div",
      { class: "ribbons" },
      svg(
        "svg",
        { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "group", "aria-label": "who looks at whom" },
        this.lines.flat(),
        this.words,
        below.map((word, i) => svg("text", { x: at(i, below.length), y: HIGH - 9 }, word)),
      ),
    );
  }

  /** @param {number[][]} weights @param {number} row the word whose look is shown; -1 for all */
  update(weights, row) {
    this.lines.forEach((lines, i) =>
      lines.forEach((line, j) => {
        const [x1, x2, share] = [at(i, this.above.length), at(j, this.below.length), weights[i]?.[j] ?? 0];
        set(line, {
          d: `M${x1} ${EDGE}C${x1} ${HIGH / 2} ${x2} ${HIGH / 2} ${x2} ${HIGH - EDGE}`,
          style: {
            "stroke-width": `${(share * 16).toFixed(2)}px`,
            stroke: weight(0.35 + share * 0.5),
            opacity: row < 0 || row === i ? 0.25 + share * 0.75 : 0.12,
          },
        });
      }),
    );
    this.words.forEach((word, i) => {
      word.classList.toggle("chosen", i === row);
      word.setAttribute(
        "aria-label",
        `${this.above[i]} looks at ${this.below.map((other, j) => `${other} ${shown(weights[i]?.[j] ?? 0)}`).join(", ")}`,
      );
    });
  }
}

/** @param {number} i @param {number} count */
const at = (i, count) => ((i + 0.5) * WIDE) / count;
