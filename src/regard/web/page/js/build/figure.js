/** The matrices of a step as one drawing, to take away. */

import { dark, ink, signed, weight } from "../color.js";
import { svg } from "../dom.js";
import { shown } from "./numbers.js";

/** @typedef {import("./stage.js").Table} Table */

const [CELL, HIGH, GAP, HEAD, LETTER] = [54, 34, 40, 54, 8];

/** @param {Table[]} tables @returns {SVGSVGElement} */
export function drawing(tables) {
  const colour = dark() ? "#e4e9f1" : "#1b1f32";
  let left = 0;
  const parts = tables.map((table, t) => {
    const margin = Math.max(20, LETTER * Math.max(...table.rows.map((row) => row.length)) + 12);
    const most = Math.max(1e-9, ...table.values.flat().filter(Number.isFinite).map(Math.abs));
    const x = (/** @type {number} */ j) => left + margin + j * CELL;
    const y = (/** @type {number} */ i) => HEAD + i * HIGH;
    const drawn = [
      svg("text", { x: left + margin, y: 16, "font-style": "italic", "font-size": 16, fill: colour }, table.name),
      table.columns.map((column, j) => svg("text", { x: x(j) + CELL / 2, y: HEAD - 8, "text-anchor": "middle", "font-size": 12, fill: colour }, column)),
      table.rows.map((row, i) => svg("text", { x: x(0) - 8, y: y(i) + HIGH / 2 + 5, "text-anchor": "end", "font-size": 14, fill: colour }, row)),
      table.values.map((row, i) =>
        row.map((value, j) => {
          const fill = table.kind === "weight" ? weight(value) : table.kind === "score" ? signed(value, most) : "none";
          return [
            svg("rect", { x: x(j), y: y(i), width: CELL - 2, height: HIGH - 2, rx: 4, fill, stroke: fill === "none" ? "#8b919f" : "none" }),
            svg("text", { x: x(j) + CELL / 2 - 1, y: y(i) + HIGH / 2 + 4, "text-anchor": "middle", "font-size": 13, fill: fill === "none" ? colour : ink(fill) }, shown(value)),
          ];
        }),
      ),
    ];
    left = x(table.values[0]?.length ?? 0) + (t < tables.length - 1 ? GAP : 0);
    return drawn.flat(3);
  });
  const height = HEAD + HIGH * Math.max(...tables.map((table) => table.rows.length));
  return svg("svg", { viewBox: `0 0 ${left} ${height}`, width: left, height }, parts.flat());
}

/** All numbers in one long table. @param {Table[]} tables */
export function listed(tables) {
  return {
    columns: ["matrix", "row", "column", "value"],
    rows: tables.flatMap(({ name, rows, columns, values }) =>
      values.flatMap((row, i) => row.map((value, j) => /** @type {(string | number)[]} */ ([name, rows[i], columns[j] ?? String(j + 1), value]))),
    ),
  };
}
