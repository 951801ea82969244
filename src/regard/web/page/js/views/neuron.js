/** One question in slow motion: query times key by dimension, summed to a score, and scores turned to weights. */

import { signed, weight as colour } from "../color.js";
import { h, replace, svg } from "../dom.js";
import { figure, three } from "./neuron_figure.js";
import { themed } from "./paint.js";
import { number } from "./view.js";

/**
 * @typedef {object} Neuron
 * @property {string} asks the word that looks
 * @property {string[]} names of the keys
 * @property {number[]} q
 * @property {number[][]} keys
 * @property {number[][]} products q times k, by dimension
 * @property {number[]} scores
 * @property {number[]} weights
 */
/** @typedef {{onpoint?: (mark: {column: number} | null) => void}} Options */

const SHOWN = 24; // keys at first; the rest on demand
const HEADS = ["key", "q × k, by dimension", "score", "weight"];

/** @param {HTMLElement} host @param {Options} [options] */
export function create(host, options = {}) {
  const made = new Neurons(host, options);
  return {
    update: (/** @type {Neuron} */ next) => made.update(next),
    /** @returns {Promise<SVGSVGElement>} */
    exportSvg: async () => (made.look ? figure(made.look, made.key) : svg("svg", null)),
    table: () => made.table(),
    json: () => made.look,
    destroy: () => made.destroy(),
  };
}

class Neurons {
  /** @param {HTMLElement} host @param {Options} options */
  constructor(host, options) {
    this.options = options;
    /** @type {Neuron | null} */
    this.look = null;
    this.key = 0;
    this.all = false;
    this.root = h("div", { class: "neuron" });
    host.append(this.root);
    this.unwatch = themed(() => this.draw());
  }

  /** @param {Neuron} next */
  update(next) {
    this.look = next;
    this.key = largest(next.weights);
    this.draw();
  }

  draw() {
    const { look, all, key } = this;
    if (!look) return;
    const order = look.weights.map((_, i) => i).sort((a, b) => (look.weights[b] ?? 0) - (look.weights[a] ?? 0));
    const some = (all ? order : order.slice(0, SHOWN)).sort((a, b) => a - b);
    const head = HEADS.map((name) => h("th", { scope: "col" }, name));
    const body = some.map((i) => this.row(look, i));
    const more = () => {
      this.all = !all;
      this.draw();
    };
    replace(
      this.root,
      h("div", { class: "neuron-sum" }, figure(look, key)),
      h("table", { class: "neuron-keys" }, h("thead", null, h("tr", null, head)), h("tbody", null, body)),
      look.weights.length > SHOWN &&
        h(
          "button",
          { type: "button", class: "button", onclick: more },
          all ? `Only the ${SHOWN} most looked at` : `All ${look.weights.length} keys`,
        ),
    );
  }

  /** @param {Neuron} now @param {number} i */
  row(now, i) {
    const most = now.products.flat().reduce((so, value) => Math.max(so, Math.abs(value)), 1e-9);
    const finite = now.scores.filter(Number.isFinite);
    const [low, high] = [Math.min(...finite), Math.max(...finite)];
    const [score, weight] = [now.scores[i] ?? 0, now.weights[i] ?? 0];
    const point = () => this.point(i);
    const press = { "aria-pressed": String(i === this.key), onclick: point, onfocus: point };
    const name = h("button", { type: "button", class: "key", ...press }, now.names[i] ?? "");
    const bar = (/** @type {string} */ kind, /** @type {Record<string, string>} */ style, /** @type {string} */ said) =>
      h("td", { class: "figure" }, h("span", { class: "track" }, h("span", { class: `bar ${kind}`, style })), said);
    return h(
      "tr",
      { class: i === this.key ? "on" : "", onpointerenter: point, "data-key": i },
      h("th", { scope: "row" }, name),
      h("td", null, strip(now.products[i] ?? [], most)),
      bar("score", { width: `${(100 * (score - low)) / Math.max(1e-9, high - low)}%` }, three(score)),
      bar("", { width: `${100 * weight}%`, background: colour(Math.max(0.25, weight)) }, number(weight)),
    );
  }

  /** @param {number} i */
  point(i) {
    if (i === this.key || !this.look) return;
    this.key = i;
    this.options.onpoint?.({ column: i });
    replace(/** @type {HTMLElement} */ (this.root.querySelector(".neuron-sum")), figure(this.look, i));
    for (const each of this.root.querySelectorAll("tr[data-key]")) {
      const on = /** @type {HTMLElement} */ (each).dataset["key"] === String(i);
      each.classList.toggle("on", on);
      each.querySelector("button")?.setAttribute("aria-pressed", String(on));
    }
  }

  /** What each key came to, and its share of each dimension. */
  table() {
    const { q = [], names = [], scores = [], weights = [], products = [] } = this.look ?? {};
    return {
      columns: ["key", "score", "weight", ...q.map((_, d) => `q × k ${d + 1}`)],
      rows: names.map((name, i) => [name, scores[i] ?? 0, weights[i] ?? 0, ...(products[i] ?? [])]),
    };
  }

  destroy() {
    this.unwatch();
    this.root.remove();
  }
}

/** @param {number[]} values @param {number} most */
function strip(values, most) {
  const wide = 480 / values.length;
  return svg(
    "svg",
    { class: "strip", viewBox: "0 0 480 18", preserveAspectRatio: "none", "aria-hidden": "true" },
    values.map((value, i) => svg("rect", { x: i * wide, width: wide - 0.5, height: 18, fill: signed(value, most) })),
  );
}

/** @param {number[]} values */
const largest = (values) => values.reduce((best, value, i) => (value > (values[best] ?? 0) ? i : best), 0);
