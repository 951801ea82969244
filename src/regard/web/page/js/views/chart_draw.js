/** A chart as a drawing: lines of the axes, a curve for each run, and, to be taken away, its title and its legend. */

import { hue } from "../color.js";
import { svg } from "../dom.js";
import { drawing, inks } from "./paint.js";
import { EDGE, TALL, plain, read, scales, shown, soft } from "./chart_scale.js";

/** @typedef {import("./chart_scale.js").Curves} Curves */
/** @typedef {import("./chart_scale.js").Series} Series */
/** @typedef {import("./chart_scale.js").Scales} Scales */
/** @typedef {import("./chart_scale.js").Point} Point */

const DOTS = 30; // a curve with fewer points shows them
const LINE = 20; // pixels of a line of the legend

/** @param {Curves} curves @param {number} width @param {string} label for those who do not see it */
export function draw(curves, width, label) {
  const out = drawing(width, TALL, 12);
  out.setAttribute("role", "img");
  out.setAttribute("aria-label", label);
  if (!curves.series.some((series) => series.points.length)) {
    const place = { x: width / 2, y: TALL / 2, "text-anchor": "middle", fill: inks().muted };
    out.append(svg("text", place, "nothing measured yet"));
    return out;
  }
  const scale = scales(curves, width);
  out.append(...axes(scale, width, curves.across ?? "step"));
  for (const series of curves.series) out.append(...curve(curves, series, scale));
  return out;
}

/** The same with its title above and whose curves these are below. @param {Curves} curves @param {number} width @param {string} title */
export function drawWhole(curves, width, title) {
  const inside = draw(curves, width, title);
  const tall = LINE + TALL + LINE * curves.series.length;
  const out = drawing(width, tall, 12);
  const { ink } = inks();
  inside.setAttribute("y", String(LINE));
  out.append(svg("text", { x: 0, y: 13, fill: ink, "font-weight": 600 }, title), inside);
  curves.series.forEach(({ name, hue: colour }, i) => {
    const y = LINE + TALL + LINE * i;
    out.append(
      svg("rect", { x: EDGE.left, y: y + 3, width: 11, height: 11, rx: 3, fill: hue(colour) }),
      svg("text", { x: EDGE.left + 18, y: y + 13, fill: ink }, name),
    );
  });
  return out;
}

/** @param {Scales} scale @param {number} width @param {string} across what is counted along */
function axes({ x, y, ticks }, width, across) {
  const { line, muted } = inks();
  const text = (/** @type {number} */ x, /** @type {number} */ y, /** @type {string} */ anchor) => ({
    x,
    y,
    "text-anchor": anchor,
    fill: muted,
  });
  return [
    ...ticks.y.flatMap((mark) => [
      svg("line", { x1: EDGE.left, x2: width - EDGE.right, y1: y(mark), y2: y(mark), stroke: line }),
      svg("text", text(EDGE.left - 8, y(mark) + 4, "end"), plain(mark)),
    ]),
    ...ticks.x.map((mark) => svg("text", text(x(mark), TALL - EDGE.bottom + 18, "middle"), plain(mark))),
    svg("text", { ...text(width - EDGE.right, TALL - 1, "end"), "font-size": 11 }, across),
  ];
}

/** @param {Curves} curves @param {Series} series @param {Scales} scale */
function curve(curves, series, { x, y }) {
  const log = Boolean(curves.log);
  const path = (/** @type {Point[]} */ points) =>
    points
      .filter(([, value]) => shown(value, log))
      .map(([a, b], i) => `${i ? "L" : "M"}${x(a).toFixed(1)} ${y(b).toFixed(1)}`)
      .join("");
  const pen = { fill: "none", stroke: hue(series.hue), "stroke-linejoin": "round" };
  const raw = soft(curves, series)
    ? [svg("path", { ...pen, d: path(series.points), "stroke-width": 1, "stroke-opacity": 0.22 })]
    : [];
  const few = series.points.length < DOTS ? series.points.filter(([, value]) => shown(value, log)) : [];
  return [
    ...raw,
    svg("path", { ...pen, d: path(read(curves, series)), "stroke-width": 2 }),
    ...few.map(([a, b]) => svg("circle", { cx: x(a), cy: y(b), r: 3, fill: hue(series.hue) })),
  ];
}
