/** All numbers of a step in one long table, to take away. */

/** @typedef {import("./stage.js").Table} Table */

/** All numbers in one long table. @param {Table[]} tables */
export function listed(tables) {
  return {
    columns: ["matrix", "row", "column", "value"],
    rows: tables.flatMap(({ name, rows, columns, values }) =>
      values.flatMap((row, i) =>
        row.map((value, j) => /** @type {(string | number)[]} */ ([name, rows[i], columns[j] ?? String(j + 1), value])),
      ),
    ),
  };
}

/** The same, matrix by matrix. @param {Table[]} tables */
export function matrices(tables) {
  return tables.map(({ name, rows, columns, values }) => ({
    name,
    rows,
    columns,
    values: values.map((row) => row.map((x) => (Number.isFinite(x) ? Math.round(x * 1e6) / 1e6 : null))),
  }));
}
