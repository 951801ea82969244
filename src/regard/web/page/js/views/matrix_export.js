/** The matrix as a drawing to take away: the cells in sight with their numbers, the names of both axes, direction and scale. */

import { ink as readable, weight as colour } from "../color.js";
import { svg } from "../dom.js";
import { MONO, SANS, drawing, inks, measure } from "./paint.js";
import { number } from "./view.js";

/** @typedef {import("./matrix.js").Matrix} Matrix */
/** @typedef {{left: number, top: number, wide: number, tall: number, named: boolean, numbered: boolean}} Measures */

export const GOLD = "#e0a21b";
export const WAYS = { rows: "looks ↓", columns: "at →" };
/** @param {number} value */
export const digits = (value) => value.toFixed(2).replace(/^0/, "");
const MANY = 6400; // cells, from which on they are small and have no numbers
const FOOT = 34; // pixels for the scale

/** @param {Matrix} matrix @returns {Promise<SVGSVGElement>} */
export async function exported(matrix) {
  if (!matrix.view) return svg("svg", null);
  const { first, last } = matrix.sight();
  const rows = matrix.rows.slice(first.row, last.row);
  const columns = matrix.columns.slice(first.column, last.column);
  const { weights, gold = [] } = matrix.view;
  const all = await weights.exact(first.row, last.row, first.column, last.column, weights.control.signal);
  const few = rows.length * columns.length <= MANY;
  const size = few ? Math.max(26, Math.min(44, matrix.wide)) : Math.max(1, 1200 / columns.length);
  const longest = (/** @type {string[]} */ some) => Math.max(48, ...some.map((name) => measure(name, `13px ${SANS}`)));
  /** @type {Measures} */
  const at = {
    left: few ? longest(rows) + 16 : 64,
    top: few ? longest(columns) * 0.72 + 24 : 40,
    wide: size,
    tall: few ? Math.max(20, Math.min(size, matrix.tall)) : size,
    named: few,
    numbered: few && matrix.wide >= 34,
  };
  // A name leans out to the right, a long one beyond those that follow.
  const over = (/** @type {string} */ name, /** @type {number} */ j) =>
    measure(name, `13px ${SANS}`) * 0.72 - (columns.length - j - 0.5) * at.wide;
  const lean = few ? columns.reduce((most, name, j) => Math.max(most, over(name, j)), 0) + 12 : 10;
  const [width, height] = [at.left + columns.length * at.wide + lean, at.top + rows.length * at.tall];
  const out = drawing(Math.max(width, 240), height + FOOT);
  const marks = gold.map(([row, column]) => ({ row: row - first.row, column: column - first.column }));
  out.append(
    ...cells(all, columns.length, matrix.most, at, rows, columns),
    ...gilded(
      marks.filter(({ row, column }) => row >= 0 && column >= 0 && row < rows.length && column < columns.length),
      at,
    ),
    ...names(rows, columns, at),
    ...scale(matrix.most, at.left, height + 12),
  );
  return out;
}

/** @param {Float32Array} all @param {number} wide @param {number} most @param {Measures} at @param {string[]} rows @param {string[]} columns */
function cells(all, wide, most, at, rows, columns) {
  const gap = at.named ? 1 : 0;
  /** @type {SVGElement[]} */
  const out = [];
  for (let k = 0; k < all.length; ) {
    const [i, j] = [Math.floor(k / wide), k % wide];
    const value = all[k] ?? 0;
    const fill = colour(value / most);
    let end = j + 1;
    // Neighbours of one colour are one rectangle, so that a long input does not make a huge file.
    while (!at.named && end < wide && colour((all[i * wide + end] ?? 0) / most) === fill) end += 1;
    const [x, y] = [at.left + j * at.wide, at.top + i * at.tall];
    const rect = svg("rect", { x, y, width: (end - j) * at.wide - gap, height: at.tall - gap, fill });
    if (at.named) rect.append(svg("title", null, `${rows[i]} → ${columns[j]}: ${number(value)}`));
    out.push(rect);
    if (at.numbered && value >= 0.005) {
      const place = {
        x: x + at.wide / 2,
        y: y + at.tall / 2 + 4,
        "text-anchor": "middle",
        "font-size": 11,
        "font-family": MONO,
      };
      out.push(svg("text", { ...place, fill: readable(fill) }, digits(value)));
    }
    k = i * wide + end;
  }
  return out;
}

/** @param {{row: number, column: number}[]} gold @param {Measures} at */
function gilded(gold, { left, top, wide, tall }) {
  const look = { width: wide - 3, height: tall - 3, fill: "none", stroke: GOLD, "stroke-width": 2 };
  return gold.map(({ row, column }) => svg("rect", { x: left + column * wide + 1, y: top + row * tall + 1, ...look }));
}

/** @param {string[]} rows @param {string[]} columns @param {Measures} at */
function names(rows, columns, { left, top, wide, tall, named }) {
  const { ink, muted } = inks();
  const way = { x: left - 8, "text-anchor": "end", fill: muted, "font-size": 12, "font-style": "italic" };
  const ways = [svg("text", { ...way, y: top - 24 }, WAYS.columns), svg("text", { ...way, y: top - 8 }, WAYS.rows)];
  if (!named) return ways;
  const across = rows.map((name, i) =>
    svg("text", { x: left - 8, y: top + (i + 0.5) * tall + 4, "text-anchor": "end", fill: ink }, name),
  );
  const along = columns.map((name, j) => {
    const [x, y] = [left + (j + 0.5) * wide, top - 8];
    return svg("text", { x, y, transform: `rotate(-45 ${x} ${y})`, fill: ink }, name);
  });
  return [...ways, ...across, ...along];
}

/** The colours from nothing to the most. @param {number} most @param {number} x @param {number} y */
function scale(most, x, y) {
  const { muted } = inks();
  const steps = 24;
  const look = { fill: muted, "font-size": 12, y: y + 11 };
  return [
    svg("text", { ...look, x: x - 8, "text-anchor": "end" }, "weight 0"),
    ...Array.from({ length: steps }, (_, i) =>
      svg("rect", { x: x + i * 5, y, width: 5.5, height: 14, fill: colour(i / (steps - 1)) }),
    ),
    svg("text", { ...look, x: x + steps * 5 + 8 }, most < 1 ? number(most) : "1"),
  ];
}
