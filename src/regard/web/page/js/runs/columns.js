/** The columns of the table of models: what all have, and what was measured of those of one task. */

import { metricName, metricText, metricValue, metricsOf, metricsTold, rounded } from "../measured.js";

/** @typedef {Record<string, any>} Model what its card says */
/** @typedef {import("../views/sortable.js").Column<Model>} Column */

/** Models of one task have a column for each metric; over all tasks, one column says what was measured.
 * @param {Model[]} models @param {boolean} one whether they are of one task @returns {Column[]} */
export function columns(models, one) {
  return [
    fact("title", "model"),
    ...(one ? [] : [fact("task", "task")]),
    fact("family", "architecture"),
    fact("data", "data"),
    fact("parameters", "parameters", (value) => `${rounded(Number(value) / 1e6, 1)} M`),
    fact("minutes", "minutes", (value) => rounded(Number(value), 0)),
    ...(one ? metrics(models) : [MEASURED]),
  ];
}

/** @param {string} key @param {string} name @param {(value: string | number) => string} [write] @returns {Column} */
function fact(key, name, write = String) {
  const value = (/** @type {Model} */ model) =>
    ["string", "number"].includes(typeof model[key]) ? model[key] : undefined;
  return { key, name, value, text: (model) => (value(model) ? write(value(model)) : "–") };
}

/** @param {Model[]} models @returns {Column[]} */
function metrics(models) {
  const keys = new Set(models.flatMap((model) => metricsOf(model["measured"]).map(([key]) => key)));
  return [...keys].map((key) => {
    const value = (/** @type {Model} */ model) => Object.fromEntries(metricsOf(model["measured"]))[key];
    return { key, name: metricName(key), value, text: (model) => metricValue(key, value(model) ?? NaN) };
  });
}

/** @param {Model} model */
const told = (model) => metricsTold(model).slice(0, 2);

/** @type {Column} */
const MEASURED = {
  key: "measured",
  name: "measured",
  group: (model) => told(model)[0]?.[0],
  value: (model) => told(model)[0]?.[1],
  text: (model) =>
    told(model)
      .map((each) => metricText(...each))
      .join(" · ") || "–",
};
