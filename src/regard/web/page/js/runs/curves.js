/** Curves of the chosen runs: a chart for each metric, all runs in each. */

import { metricName, metricValue } from "../measured.js";
import { Chart } from "../views/chart.js";
import { plain } from "../views/chart_scale.js";

/** @typedef {import("./history.js").History} History */
/** @typedef {import("./history.js").Row} Row */
/** @typedef {import("./state.js").State} State */
/** @typedef {(row: Row, before: Row | undefined) => number | undefined} Value */
/** @typedef {{key: string, title: string, value: Value, format: (value: number) => string, log: boolean, smooth: number}} Metric */

const EVERY = new Set(["step", "loss", "lr", "grad_norm", "size", "seconds"]); // what every row has; the others are scores

export class Curves {
  /** @param {HTMLElement} place @param {History} history */
  constructor(place, history) {
    this.place = place;
    this.history = history;
    /** @type {Map<string, Chart>} */
    this.charts = new Map();
  }

  /** @param {State} now */
  show(now) {
    const wanted = this.metrics(now);
    for (const [key, chart] of this.charts)
      if (!wanted.some((metric) => metric.key === key)) {
        chart.destroy();
        this.charts.delete(key);
      }
    for (const metric of wanted) {
      const { key, log, smooth } = metric;
      const chart = this.charts.get(key) ?? new Chart(this.place, metric);
      this.charts.set(key, chart);
      this.place.append(chart.root); // in the order of the metrics, also where one is new
      const series = now.chosen.map((name) => ({
        name,
        hue: this.history.names.indexOf(name),
        points: points(this.history.rowsOf(name), metric, now.over),
      }));
      chart.update({ series, log, smooth, across: now.over === "minutes" ? "minute" : "step" });
    }
  }

  /** Loss first, then all scores, then how it went. @param {State} now @returns {Metric[]} */
  metrics({ chosen, log, smooth }) {
    const rows = chosen.flatMap((name) => this.history.rowsOf(name));
    const keys = new Set(rows.flatMap((row) => Object.keys(row).filter((key) => typeof row[key] === "number")));
    const scores = [...keys].filter((key) => !EVERY.has(key)).sort();
    const of = (/** @type {string} */ key) => (/** @type {Row} */ row) => row[key];
    const score = (/** @type {string} */ key) => (/** @type {number} */ value) => metricValue(key, value);
    return [
      { key: "loss", title: metricName("loss"), value: of("loss"), format: score("loss"), log, smooth },
      ...scores.map((key) => {
        return { key, title: metricName(key), value: of(key), format: score(key), log: false, smooth: 0 };
      }),
      { key: "lr", title: "Learning rate", value: of("lr"), format: plain, log, smooth: 0 },
      { key: "speed", title: "Speed, tokens or pictures a second", value: speed, format: plain, log: false, smooth },
    ].filter(({ key }) => !rows.length || keys.has(key === "speed" ? "size" : key)); // what a model kept has no rate
  }

  /** Each chart to take away, with the numbers of its curves. @param {State} now */
  figures(now) {
    return this.metrics(now).map(({ key, title, value }) => ({
      title,
      svg: () => /** @type {Chart} */ (this.charts.get(key)).exportSvg(),
      table: () => ({
        columns: ["run", "step", key],
        rows: now.chosen.flatMap((name) => {
          const known = points(this.history.rowsOf(name), { value }, "step");
          return known.map(([step, found]) => [name, step, found]);
        }),
      }),
    }));
  }

  destroy() {
    for (const chart of this.charts.values()) chart.destroy();
  }
}

/** @param {Row[]} rows @param {{value: Value}} metric @param {string} over @returns {[number, number][]} */
function points(rows, { value }, over) {
  return rows.flatMap((row, i) => {
    const found = value(row, rows[i - 1]);
    const across = over === "minutes" ? Number(row["seconds"] ?? NaN) / 60 : row.step;
    const known = typeof found === "number" && Number.isFinite(found) && Number.isFinite(across);
    return known ? [/** @type {[number, number]} */ ([across, found])] : [];
  });
}

/** Tokens a second since the row before; thinned rows lie several steps apart. @type {Value} */
function speed(row, before) {
  if (!before || typeof row["size"] !== "number") return undefined;
  const seconds = (row["seconds"] ?? 0) - (before["seconds"] ?? 0);
  return seconds > 0 ? (row["size"] * (row.step - before.step)) / seconds : undefined;
}
