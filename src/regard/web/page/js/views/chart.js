/** Curves over steps or minutes: several runs in one picture, on a plain or a logarithmic scale. */

import { hue } from "../color.js";
import { h, replace, svg } from "../dom.js";
import { SANS, inks, themed } from "./paint.js";

/** @typedef {{name: string, hue: number, points: [number, number][]}} Series */
/** @typedef {{series: Series[], log?: boolean, smooth?: number, across?: string}} Curves */
/** @typedef {{title: string, format?: (value: number) => string}} Options */

const EDGE = { left: 54, right: 14, top: 10, bottom: 30 };
const TALL = 240;

/** @param {HTMLElement} host @param {Options} options */
export function create(host, options) {
  /** @type {Curves} */
  let shown = { series: [] };
  let width = 480;
  /** @type {number | null} */
  let at = null; // where the reader points, in the units of the axis
  const format = options.format ?? plain;
  const stage = h("div", { class: "chart-stage" });
  const tip = h("div", { class: "chart-tip", hidden: true });
  const root = h("figure", { class: "chart" }, h("figcaption", null, options.title), stage, tip);
  host.append(root);
  const watcher = new ResizeObserver(() => {
    if (Math.abs(stage.clientWidth - width) < 2 || !stage.clientWidth) return;
    width = stage.clientWidth;
    draw();
  });
  watcher.observe(stage);
  const unwatch = themed(draw);

  /** @param {Curves} next */
  function update(next) {
    shown = next;
    draw();
  }

  function draw() {
    const picture = drawing();
    picture.setAttribute("tabindex", "0");
    picture.addEventListener("pointermove", (event) => point(event.offsetX));
    picture.addEventListener("pointerleave", () => point(null));
    picture.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const { x } = scales();
      const now = at === null ? EDGE.left : x(at);
      point(Math.max(EDGE.left, Math.min(width - EDGE.right, now + step * 12)));
    });
    picture.addEventListener("blur", () => point(null));
    const focused = stage.contains(document.activeElement);
    replace(stage, picture);
    if (focused) picture.focus();
    if (at !== null) point(scales().x(at));
  }

  function scales() {
    const all = shown.series.flatMap((series) => series.points);
    const [left, right] = [EDGE.left, width - EDGE.right];
    const xs = all.map(([x]) => x);
    const ys = all.map(([, y]) => y).filter((y) => Number.isFinite(y) && (!shown.log || y > 0));
    const [x0, x1] = [Math.min(...xs), Math.max(...xs)];
    const [low, high] = range(ys, Boolean(shown.log));
    const bend = (/** @type {number} */ y) => (shown.log ? Math.log10(Math.max(y, 1e-12)) : y);
    return {
      x: (/** @type {number} */ value) => left + ((value - x0) / Math.max(1e-9, x1 - x0)) * (right - left),
      back: (/** @type {number} */ pixel) => x0 + ((pixel - left) / (right - left)) * (x1 - x0),
      y: (/** @type {number} */ value) =>
        TALL -
        EDGE.bottom -
        ((bend(value) - bend(low)) / Math.max(1e-9, bend(high) - bend(low))) * (TALL - EDGE.bottom - EDGE.top),
      ticks: { x: ticks(x0, x1, width / 110), y: shown.log ? decades(low, high) : ticks(low, high, 5) },
    };
  }

  /** @returns {SVGSVGElement} */
  function drawing() {
    const colours = inks();
    const told = shown.series.map(({ name, points }) => `${name} ${format(points.at(-1)?.[1] ?? NaN)}`).join(", ");
    const out = svg("svg", {
      xmlns: "http://www.w3.org/2000/svg",
      width,
      height: TALL,
      viewBox: `0 0 ${width} ${TALL}`,
      role: "img",
      "aria-label": `${options.title}: ${told}`,
      "font-family": SANS,
      "font-size": 12,
    });
    if (!shown.series.some((series) => series.points.length)) {
      out.append(
        svg(
          "text",
          { x: width / 2, y: TALL / 2, "text-anchor": "middle", fill: colours.muted },
          "nothing measured yet",
        ),
      );
      return out;
    }
    const { x, y, ticks: marks } = scales();
    for (const mark of marks.y) {
      out.append(
        svg("line", { x1: EDGE.left, x2: width - EDGE.right, y1: y(mark), y2: y(mark), stroke: colours.line }),
        svg("text", { x: EDGE.left - 8, y: y(mark) + 4, "text-anchor": "end", fill: colours.muted }, format(mark)),
      );
    }
    for (const mark of marks.x)
      out.append(
        svg(
          "text",
          { x: x(mark), y: TALL - EDGE.bottom + 18, "text-anchor": "middle", fill: colours.muted },
          plain(mark),
        ),
      );
    out.append(
      svg(
        "text",
        { x: width - EDGE.right, y: TALL - 1, "text-anchor": "end", fill: colours.muted, "font-size": 11 },
        shown.across ?? "step",
      ),
    );
    for (const { hue: colour, points } of shown.series) {
      const line = (/** @type {[number, number][]} */ some) =>
        some
          .filter(([, value]) => Number.isFinite(value) && (!shown.log || value > 0))
          .map(([a, b], i) => `${i ? "L" : "M"}${x(a).toFixed(1)} ${y(b).toFixed(1)}`)
          .join("");
      const soft = Boolean(shown.smooth) && points.length > 12;
      if (soft)
        out.append(
          svg("path", {
            d: line(points),
            fill: "none",
            stroke: hue(colour),
            "stroke-width": 1,
            "stroke-opacity": 0.22,
          }),
        );
      out.append(
        svg("path", {
          d: line(soft ? smoothed(points, shown.smooth ?? 0) : points),
          fill: "none",
          stroke: hue(colour),
          "stroke-width": 2,
          "stroke-linejoin": "round",
        }),
      );
      if (points.length < 30)
        for (const [a, b] of points) out.append(svg("circle", { cx: x(a), cy: y(b), r: 3, fill: hue(colour) }));
    }
    out.append(
      svg("line", {
        class: "cross",
        x1: 0,
        x2: 0,
        y1: EDGE.top,
        y2: TALL - EDGE.bottom,
        stroke: colours.muted,
        "stroke-dasharray": "3 3",
        visibility: "hidden",
      }),
    );
    return out;
  }

  /** Tell the values at a place. @param {number | null} pixel */
  function point(pixel) {
    const line = stage.querySelector(".cross");
    const some = shown.series.filter((series) => series.points.length);
    if (pixel === null || !some.length || pixel < EDGE.left - 4) {
      at = null;
      tip.hidden = true;
      line?.setAttribute("visibility", "hidden");
      return;
    }
    const { x, back } = scales();
    at = back(pixel);
    const here = at;
    const near = some.map((series) => ({
      series,
      point: nearest(
        shown.smooth && series.points.length > 12 ? smoothed(series.points, shown.smooth) : series.points,
        here,
      ),
    }));
    const place = x(near[0]?.point[0] ?? here);
    line?.setAttribute("visibility", "visible");
    line?.setAttribute("x1", String(place));
    line?.setAttribute("x2", String(place));
    tip.hidden = false;
    replace(
      tip,
      h("b", null, `${shown.across ?? "step"} ${plain(near[0]?.point[0] ?? here)}`),
      near.map(({ series, point: found }) =>
        h(
          "div",
          null,
          h("span", null, h("i", { class: "swatch", style: { "--hue": hue(series.hue) } }), ` ${series.name}`),
          h("output", null, format(found[1])),
        ),
      ),
    );
    tip.style.setProperty("left", `${place > width / 2 ? place - tip.offsetWidth - 12 : place + 12}px`);
    tip.style.setProperty("top", "2rem");
  }

  return {
    update,
    /** @returns {Promise<SVGSVGElement>} */
    exportSvg: async () => drawing(),
    destroy() {
      watcher.disconnect();
      unwatch();
      root.remove();
    },
  };
}

/** A running mean in which the past fades by `amount`, fair from the first point on. @param {[number, number][]} points @param {number} amount @returns {[number, number][]} */
export function smoothed(points, amount) {
  let [sum, mass] = [0, 0];
  return points.map(([x, y]) => {
    [sum, mass] = [sum * amount + y * (1 - amount), mass * amount + (1 - amount)];
    return [x, sum / mass];
  });
}

/** Round numbers between two ends. @param {number} low @param {number} high @param {number} many */
export function ticks(low, high, many) {
  const rough = (high - low) / Math.max(1, many);
  if (!(rough > 0)) return Number.isFinite(low) ? [low] : [];
  const size = 10 ** Math.floor(Math.log10(rough));
  const step = size * ([1, 2, 5, 10].find((each) => each * size >= rough) ?? 10);
  const found = [];
  for (let mark = Math.ceil(low / step) * step; mark <= high + step * 1e-6; mark += step)
    found.push(+mark.toPrecision(12));
  return found;
}

/** @param {number} low @param {number} high */
function decades(low, high) {
  const found = [];
  const dense = high / low < 200 ? [1, 2, 5] : [1];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++)
    for (const each of dense) found.push(each * 10 ** power);
  return found.filter((mark) => mark >= low * 0.999 && mark <= high * 1.001);
}

/** The ends of an axis. @param {number[]} values @param {boolean} log @returns {[number, number]} */
function range(values, log) {
  if (!values.length) return [0, 1];
  const [low, high] = [Math.min(...values), Math.max(...values)];
  if (log) return [low / 1.05, high * 1.05];
  const pad = (high - low || Math.abs(high) || 1) * 0.05;
  return [low >= 0 && low < 0.3 * high ? 0 : low - pad, high + pad];
}

/** @param {[number, number][]} points @param {number} x @returns {[number, number]} */
function nearest(points, x) {
  let best = points[0] ?? [0, NaN];
  for (const point of points) if (Math.abs(point[0] - x) < Math.abs(best[0] - x)) best = point;
  return best;
}

/** @param {number} value */
export function plain(value) {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size >= 1e6) return `${+(value / 1e6).toFixed(1)} M`;
  if (size >= 1e4) return `${+(value / 1e3).toFixed(1)} k`;
  if (size !== 0 && size < 1e-3) return value.toExponential(0).replace("e-", "e−");
  return String(+value.toPrecision(size >= 100 ? 4 : 3));
}
