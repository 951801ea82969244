/** Positions, as deck 003 explains them: a binary counter, and the same with waves. */

import { signed } from "../color.js";
import { h, set, svg } from "../dom.js";
import { binary, sinusoid } from "./math.js";

const [ROWS, DIGITS, WAVES] = [16, 4, 16];
const [HIGH, DIGIT, WAVE, LEFT, GAP, TOP] = [14, 22, 15, 26, 46, 30];
const RIGHT = LEFT + DIGITS * DIGIT + GAP;
const [WIDE, TALL] = [RIGHT + WAVES * WAVE + 4, TOP + ROWS * HIGH + 4];

export class Counter {
  constructor() {
    this.waves = rows().map((t) =>
      sinusoid(t, WAVES).map((value, i) => ({ value, cell: svg("rect", { ...cell(t, RIGHT + i * WAVE, WAVE) }) })),
    );
    this.digits = rows().map((t) =>
      binary(t, DIGITS).map((value, i) => ({
        value,
        cell: svg("rect", { ...cell(t, LEFT + i * DIGIT, DIGIT), class: value ? "digit one" : "digit" }),
        text: svg(
          "text",
          { x: LEFT + (i + 0.5) * DIGIT, y: TOP + (t + 0.5) * HIGH + 4, class: value ? "one" : "" },
          value,
        ),
      })),
    );
    this.mark = svg("rect", { class: "now", x: LEFT - 2, width: WIDE - LEFT, height: HIGH + 1, rx: 3 });
    this.element = h(
      "div",
      { class: "counter" },
      svg(
        "svg",
        {
          viewBox: `0 0 ${WIDE} ${TALL}`,
          role: "img",
          "aria-label": "Positions 0 to 15 as a binary counter and as waves",
        },
        svg("text", { x: LEFT + (DIGITS * DIGIT) / 2, y: 11 }, "binary counter"),
        svg("text", { x: LEFT + (DIGITS * DIGIT) / 2, y: 24, class: "aside" }, "slow → fast"),
        svg("text", { x: RIGHT + (WAVES * WAVE) / 2, y: 11 }, "sines and cosines"),
        svg("text", { x: RIGHT + (WAVES * WAVE) / 2, y: 24, class: "aside" }, "fast → slow"),
        rows().map((t) => svg("text", { x: LEFT - 8, y: TOP + (t + 0.5) * HIGH + 4, class: "place" }, t)),
        this.digits.flat().map(({ cell }) => cell),
        this.digits.flat().map(({ text }) => text),
        this.waves.flat().map(({ cell }) => cell),
        this.mark,
      ),
    );
  }

  /** @param {number} time */
  update(time) {
    for (const { value, cell } of this.waves.flat()) set(cell, { style: { fill: signed(value) } });
    this.mark.setAttribute("y", String(TOP + time * HIGH - 1));
  }
}

const rows = () => Array.from({ length: ROWS }, (_, t) => t);
/** @param {number} t @param {number} x @param {number} width */
const cell = (t, x, width) => ({ x, y: TOP + t * HIGH, width: width - 1.5, height: HIGH - 1.5, rx: 2 });
