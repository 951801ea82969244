/** Meters of collapse: how sure one answer is, how varied all of them are, and how far the student is from its teacher. */

import { hue } from "../color.js";
import { h, replace } from "../dom.js";
import { rounded } from "../measured.js";
import { Chart } from "../views/chart.js";

/** @typedef {import("../runs/history.js").Row} Row */
/** @typedef {{entropy: number, spread: number, divergence: number}} Meters */

const SURE = 0.1; // of the most there can be: below, one class takes nearly all
const EVEN = 0.9; // above, an answer says nearly the same of all classes
/** @type {{key: keyof Meters, title: string, says: string}[]} */
const METERS = [
  { key: "entropy", title: "Entropy", says: "of one answer of the teacher: low is sure" },
  { key: "spread", title: "Spread", says: "the entropy of all its answers together: high is varied" },
  { key: "divergence", title: "Divergence", says: "of the student from the teacher: 0 where nothing is left to learn" },
];

export class MeterPanel {
  constructor() {
    this.says = h("p", { class: "health", role: "status" });
    this.gauges = h("div", { class: "gauges" });
    const charts = h("div", { class: "charts" });
    this.root = h("section", { class: "meters" }, h("h2", null, "Collapse"), this.says, this.gauges, charts);
    this.collapse = new Chart(charts, { title: "Meters, in nats", format: nats });
    this.knn = new Chart(charts, { title: "Nearest neighbours named right, %" });
  }

  /** @param {Row[]} rows @param {number} count of classes */
  show(rows, count) {
    const most = Math.log(count);
    const now = last(rows);
    replace(
      this.says,
      now ? reading(now, most) : "Nothing is measured yet; the first score comes with the first evaluation.",
    );
    replace(this.gauges, now && METERS.map((meter, i) => gauge(meter, now[meter.key], most, i)));
    const series = METERS.map(({ key, title }, i) => ({ name: title, hue: i, points: points(rows, key) }));
    this.collapse.update({ series });
    this.knn.update({ series: [{ name: "k-NN", hue: 4, points: points(rows, "knn") }] });
  }

  /** The charts to take away, with their numbers. @param {Row[]} rows */
  figures(rows) {
    const keys = METERS.map(({ key }) => key);
    return [
      { title: "Meters of collapse", svg: () => this.collapse.exportSvg(), table: () => table(rows, keys) },
      { title: "Nearest neighbours", svg: () => this.knn.exportSvg(), table: () => table(rows, ["knn"]) },
    ];
  }

  destroy() {
    for (const chart of [this.collapse, this.knn]) chart.destroy();
  }
}

/** What the meters mean. @param {Meters} now @param {number} most the logarithm of the number of classes */
export function reading({ entropy, spread }, most) {
  if (spread < SURE * most) return "Collapsed: one class takes all pictures. That happens without centring.";
  if (entropy > EVEN * most)
    return "Every answer is nearly the same for all classes: it has not begun, or collapsed, as without sharpening.";
  return "No collapse: each answer is surer than all of them together, so that pictures are told apart.";
}

/** The newest measurement. @param {Row[]} rows @returns {Meters | undefined} */
function last(rows) {
  const row = rows.findLast((each) => METERS.every(({ key }) => Number.isFinite(each[key])));
  return /** @type {Meters | undefined} */ (/** @type {unknown} */ (row));
}

/** In the colour of its curve. @param {(typeof METERS)[number]} meter @param {number} value @param {number} most @param {number} place */
function gauge({ title, says }, value, most, place) {
  const told = `${nats(value)} of ${nats(most)}`;
  const share = `${100 * Math.min(1, value / most)}%`;
  return h(
    "div",
    { class: "gauge", style: { "--hue": hue(place), "--share": share } },
    h("b", null, title),
    h("div", { class: "answer-bar", role: "img", "aria-label": `${told} nats` }, h("i")),
    h("span", { class: "count" }, told),
    h("span", { class: "quiet" }, says),
  );
}

/** @param {number} value */
const nats = (value) => (Number.isFinite(value) ? rounded(value, 2) : "–");

/** @param {Row[]} rows @param {string} key @returns {[number, number][]} */
function points(rows, key) {
  return rows.flatMap((row) => {
    const value = row[key];
    return typeof value === "number" && Number.isFinite(value)
      ? [/** @type {[number, number]} */ ([row.step, value])]
      : [];
  });
}

/** @param {Row[]} rows @param {string[]} keys */
function table(rows, keys) {
  const known = rows.filter((row) => keys.some((key) => Number.isFinite(row[key])));
  return { columns: ["step", ...keys], rows: known.map((row) => [row.step, ...keys.map((key) => row[key] ?? "")]) };
}
