/** A table of numbers as cells, the fuller the more. */

import { svg } from "../dom.js";
import { heading, fitted, text } from "./panel.js";
import { written } from "./scale.js";

/** @typedef {import("./scale.js").Heat} Heat */
/** @typedef {import("./panel.js").Drawn} Drawn */

/** @param {Heat} table @param {number} width @returns {Drawn} */
export function drawHeat(table, width) {
  const left = 14 + 6.4 * Math.max(1, ...table.rows.map((name) => name.length));
  const top = (table.title ? 22 : 0) + 15 * fitted(table.y, width).length + 8;
  const [rows, columns] = [table.cells.length, table.cells[0]?.length ?? 1];
  const wide = (width - left - 8) / columns;
  const tall = Math.min(wide, 240 / rows);
  const height = top + rows * tall + 44;
  const picture = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, class: "panel-picture" });
  heading(picture, table, width);
  const [least, most] = table.bounds;
  table.cells.forEach((row, i) =>
    row.forEach((value, j) => {
      if (value === null) return;
      const share = Math.min(Math.max((value - least) / (most - least), 0), 1);
      const [x, y] = [left + j * wide, top + i * tall];
      picture.append(
        svg(
          "rect",
          {
            class: "cell c0",
            "fill-opacity": share.toFixed(3),
            x: x + 0.5,
            y: y + 0.5,
            width: wide - 1,
            height: tall - 1,
          },
          svg("title", null, `${table.rows[i] ?? i}, ${table.columns[j] ?? j}: ${written(value)}`),
        ),
      );
      if (wide >= 34)
        picture.append(
          text(x + wide / 2, y + tall / 2 + 5, value.toFixed(2), `tick middle ${share > 0.55 ? "over" : ""}`),
        );
    }),
  );
  table.rows.forEach((name, i) => picture.append(text(left - 7, top + (i + 0.5) * tall + 4, name, "tick end")));
  table.columns.forEach((name, j) =>
    picture.append(text(left + (j + 0.5) * wide, top + rows * tall + 18, name, "tick middle")),
  );
  picture.append(text((left + width) / 2, height - 6, table.x, "note middle"));
  const stops = table.columns.map((name, j) => ({
    x: left + (j + 0.5) * wide,
    name,
    values: table.cells.map((row, i) => ({ label: table.rows[i] ?? String(i), colour: 0, value: row[j] ?? null })),
  }));
  return { picture, stops, span: [top, top + rows * tall] };
}
