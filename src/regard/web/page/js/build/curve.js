/** A loss that falls, drawn. */

import { h, svg } from "../dom.js";
import { shown } from "./numbers.js";

const [WIDE, HIGH, LEFT, BELOW] = [250, 130, 28, 18];
const MOST = 1.3; // what is higher is drawn at the edge

export class Curve {
  constructor() {
    this.path = svg("path", { class: "curve" });
    this.point = svg("circle", { class: "curve-now", r: 4 });
    this.end = svg("text", { x: WIDE - 4, y: HIGH - 5, class: "end" });
    this.svg = svg(
      "svg",
      { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", "aria-label": "The loss, step by step" },
      [0, 0.5, 1].flatMap((value) => [
        svg("line", { class: "rule", x1: LEFT, x2: WIDE - 4, y1: up(value), y2: up(value) }),
        svg("text", { x: LEFT - 6, y: up(value) + 4, class: "end" }, value),
      ]),
      svg("text", { x: LEFT, y: HIGH - 5 }, "loss by step"),
      this.end,
      this.path,
      this.point,
    );
    this.element = h("div", { class: "loss" }, this.svg);
  }

  /** @param {number[]} losses */
  update(losses) {
    const steps = Math.max(100, losses.length - 1);
    const every = Math.max(1, Math.floor(losses.length / 300));
    /** @param {number} t */
    const across = (t) => LEFT + (t / steps) * (WIDE - LEFT - 8);
    const last = losses.length - 1;
    const seen = losses.map((value, t) => ({ value, t })).filter(({ t }) => t % every === 0 || t === last);
    this.path.setAttribute(
      "d",
      seen.map(({ value, t }, i) => `${i ? "L" : "M"}${across(t).toFixed(1)} ${up(value).toFixed(1)}`).join(""),
    );
    this.point.setAttribute("cx", across(last).toFixed(1));
    this.point.setAttribute("cy", up(losses[last]).toFixed(1));
    this.end.textContent = String(steps);
    this.svg.setAttribute("aria-label", `The loss, step by step: ${shown(losses[last])} after ${last} steps`);
  }
}

/** @param {number} value */
const up = (value) => 8 + (1 - Math.min(value, MOST) / MOST) * (HIGH - BELOW - 12);
