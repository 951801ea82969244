/** The map as a drawing to take away: exactly the points, lines and words that are seen. */

import { svg } from "../dom.js";
import { drawing, inks } from "../views/paint.js";
import { bytes, palette } from "./tint.js";

/** @typedef {import("./desk.js").Desk} Desk */

const LETTER = 12.5;

/** @param {Desk} desk @returns {SVGSVGElement} */
export function drawMap(desk) {
  const { map } = desk;
  const { width, height } = map.camera;
  const out = drawing(width, height, LETTER);
  const ink = inks();
  out.append(dots(desk));
  for (const { from, to, tint, dashed, arrow } of map.marks.lines) {
    const [a, b] = [map.place(from), map.place(to)];
    if (!a || !b) continue;
    const stroke = { stroke: ink[tint], "stroke-width": arrow ? 2 : 1.25, "stroke-dasharray": dashed ? "3 4" : null };
    out.append(svg("line", { x1: a[0], y1: a[1], x2: b[0], y2: b[1], ...stroke }));
    if (arrow) out.append(svg("path", { d: tip(a, b), fill: ink[tint] }));
  }
  for (const [row, tint] of map.marks.rings) {
    const at = map.place(row);
    if (at)
      out.append(
        svg("circle", {
          cx: at[0],
          cy: at[1],
          r: map.size / 2 + 2,
          fill: "none",
          stroke: ink[tint],
          "stroke-width": 1.75,
        }),
      );
  }
  for (const { x, y, text, bold } of map.labels) {
    out.append(svg("text", { x, y, fill: ink.ink, "font-weight": bold ? 600 : 400, "font-size": LETTER }, text));
  }
  return out;
}

/** All points of one colour are one path: thirty thousand elements would be no picture but a burden. @param {Desk} desk */
function dots({ map, vectors, hits, state }) {
  const { of } = palette(vectors.columns.find((column) => column.name === state.colour));
  const colours = bytes(map.scene.rows, of, hits);
  /** @type {Map<string, string[]>} */
  const paths = new Map();
  map.scene.rows.forEach((_, slot) => {
    const [x = -1, y = -1] = map.seen.subarray(3 * slot, 3 * slot + 2);
    if (x < 0 || y < 0 || x > map.camera.width || y > map.camera.height) return;
    const [r, g, b, a = 255] = colours.subarray(4 * slot, 4 * slot + 4);
    const key = `rgb(${r},${g},${b})/${(a / 255).toFixed(2)}`;
    const path = paths.get(key) ?? [];
    path.push(`M${x.toFixed(1)} ${y.toFixed(1)}h0`);
    paths.set(key, path);
  });
  const group = svg("g", { fill: "none", "stroke-linecap": "round", "stroke-width": map.size });
  for (const [key, path] of paths) {
    const [stroke = "", opacity = ""] = key.split("/");
    group.append(svg("path", { d: path.join(""), stroke, "stroke-opacity": opacity }));
  }
  return group;
}

/** @param {[number, number]} from @param {[number, number]} to */
function tip(from, to) {
  const turn = Math.atan2(to[1] - from[1], to[0] - from[0]);
  const corner = (/** @type {number} */ side) =>
    `L${to[0] + 10 * Math.cos(turn + side)} ${to[1] + 10 * Math.sin(turn + side)}`;
  return `M${to[0]} ${to[1]}${corner(2.7)}${corner(-2.7)}z`;
}
