/** Curves over steps or minutes: several runs in one picture, and what they have where the reader points. */

import { hue } from "../color.js";
import { h, replace, svg } from "../dom.js";
import { draw, drawWhole } from "./chart_draw.js";
import { EDGE, TALL, nearest, plain, read, scales } from "./chart_scale.js";
import { inks, themed } from "./paint.js";

/** @typedef {import("./chart_scale.js").Curves} Curves */
/** @typedef {import("./chart_scale.js").Series} Series */
/** @typedef {{title: string, format?: (value: number) => string}} Options */

const STEP = 12; // pixels that an arrow key goes

export class Chart {
  /** @param {HTMLElement} host @param {Options} options */
  constructor(host, { title, format = plain }) {
    this.title = title;
    this.format = format;
    /** @type {Curves} */
    this.curves = { series: [] };
    this.width = 480;
    /** Where the reader points, in the units of the axis. @type {number | null} */
    this.at = null;
    this.stage = h("div", { class: "chart-stage" });
    this.tip = h("div", { class: "chart-tip", hidden: true });
    this.root = h("figure", { class: "chart" }, h("figcaption", null, title), this.stage, this.tip);
    host.append(this.root);
    this.watcher = new ResizeObserver(() => this.resize());
    this.watcher.observe(this.stage);
    this.unwatch = themed(() => this.draw());
  }

  /** @param {Curves} curves */
  update(curves) {
    this.curves = curves;
    this.draw();
  }

  resize() {
    const width = this.stage.clientWidth;
    if (!width || Math.abs(width - this.width) < 2) return;
    this.width = width;
    this.draw();
  }

  draw() {
    const picture = draw(this.curves, this.width, `${this.title}: ${this.told()}`);
    const line = { class: "cross", x1: 0, x2: 0, y1: EDGE.top, y2: TALL - EDGE.bottom, visibility: "hidden" };
    picture.append(svg("line", { ...line, stroke: inks().muted, "stroke-dasharray": "3 3" }));
    picture.setAttribute("tabindex", "0");
    picture.addEventListener("pointermove", (event) => this.point(event.offsetX));
    picture.addEventListener("pointerdown", (event) => this.point(event.offsetX));
    picture.addEventListener("pointerleave", () => this.point(null));
    picture.addEventListener("blur", () => this.point(null));
    picture.addEventListener("keydown", (event) => this.walk(event));
    const focused = this.stage.contains(document.activeElement);
    const { at } = this;
    replace(this.stage, picture);
    if (focused) picture.focus();
    if (at !== null) this.point(scales(this.curves, this.width).x(at));
  }

  /** The last value of each curve. */
  told() {
    return this.curves.series.map(({ name, points }) => `${name} ${this.format(points.at(-1)?.[1] ?? NaN)}`).join(", ");
  }

  /** @param {KeyboardEvent} event */
  walk(event) {
    const step = { ArrowLeft: -STEP, ArrowRight: STEP }[event.key];
    if (!step) return;
    event.preventDefault();
    const now = this.at === null ? EDGE.left : scales(this.curves, this.width).x(this.at);
    this.point(Math.max(EDGE.left, Math.min(this.width - EDGE.right, now + step)));
  }

  /** Tell the values at a place. @param {number | null} pixel */
  point(pixel) {
    const line = this.stage.querySelector(".cross");
    const some = this.curves.series.filter((series) => series.points.length);
    const off = pixel === null || !some.length || pixel < EDGE.left - 4;
    this.tip.hidden = off;
    line?.setAttribute("visibility", off ? "hidden" : "visible");
    if (off) {
      this.at = null;
      return;
    }
    const { x, back } = scales(this.curves, this.width);
    const here = back(pixel);
    this.at = here;
    const near = some.map((series) => ({ series, point: nearest(read(this.curves, series), here) }));
    const first = near[0]?.point[0] ?? here;
    line?.setAttribute("x1", String(x(first)));
    line?.setAttribute("x2", String(x(first)));
    replace(
      this.tip,
      h("b", null, `${this.curves.across ?? "step"} ${plain(first)}`),
      near.map(({ series, point }) => this.row(series, point[1])),
    );
    this.place(x(first));
  }

  /** @param {Series} series @param {number} value */
  row({ name, hue: colour }, value) {
    return h(
      "div",
      null,
      h("span", null, h("i", { class: "swatch", style: { "--hue": hue(colour) } }), ` ${name}`),
      h("output", null, this.format(value)),
    );
  }

  /** Beside the line, on the side that has room. @param {number} x */
  place(x) {
    const wide = this.tip.offsetWidth;
    const left = x + wide + 24 > this.width ? x - wide - 12 : x + 12;
    this.tip.style.setProperty("left", `${Math.max(0, left)}px`);
    this.tip.style.setProperty("top", "2rem");
  }

  /** @returns {SVGSVGElement} */
  exportSvg() {
    return drawWhole(this.curves, this.width, this.title);
  }

  destroy() {
    this.watcher.disconnect();
    this.unwatch();
    this.root.remove();
  }
}
