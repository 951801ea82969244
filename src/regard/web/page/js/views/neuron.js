/** One question in slow motion: query times key by dimension, summed to a score, and scores turned to weights. */

import { hue, signed, weight as colour } from "../color.js";
import { h, replace, svg } from "../dom.js";
import { SANS, inks, themed } from "./paint.js";
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

/** @param {HTMLElement} host @param {Options} [options] */
export function create(host, options = {}) {
  /** @type {Neuron | null} */
  let look = null;
  let [key, all] = [0, false];
  const root = h("div", { class: "neuron" });
  host.append(root);
  const unwatch = themed(() => draw());

  /** @param {Neuron} next */
  function update(next) {
    look = next;
    key = largest(next.weights);
    draw();
  }

  function draw() {
    if (!look) return;
    const order = look.weights.map((_, i) => i).sort((a, b) => (look?.weights[b] ?? 0) - (look?.weights[a] ?? 0));
    const some = (all ? order : order.slice(0, SHOWN)).sort((a, b) => a - b);
    replace(
      root,
      h("div", { class: "neuron-sum" }, figure(look, key)),
      h(
        "table",
        { class: "neuron-keys" },
        h(
          "thead",
          null,
          h(
            "tr",
            null,
            ["key", "q × k, by dimension", "score", "weight"].map((name) => h("th", { scope: "col" }, name)),
          ),
        ),
        h(
          "tbody",
          null,
          some.map((i) => row(/** @type {Neuron} */ (look), i)),
        ),
      ),
      look.weights.length > SHOWN &&
        h(
          "button",
          { type: "button", class: "button", onclick: () => ((all = !all), draw()) },
          all ? `Only the ${SHOWN} most looked at` : `All ${look.weights.length} keys`,
        ),
    );
  }

  /** @param {Neuron} now @param {number} i */
  function row(now, i) {
    const most = Math.max(...now.products.flat().map(Math.abs), 1e-9);
    const [low, high] = [
      Math.min(...now.scores.filter(Number.isFinite)),
      Math.max(...now.scores.filter(Number.isFinite)),
    ];
    const score = now.scores[i] ?? 0;
    const weight = now.weights[i] ?? 0;
    return h(
      "tr",
      { class: i === key ? "on" : "", onpointerenter: () => point(i), "data-key": i },
      h(
        "th",
        { scope: "row" },
        h(
          "button",
          {
            type: "button",
            class: "key",
            "aria-pressed": String(i === key),
            onclick: () => point(i),
            onfocus: () => point(i),
          },
          now.names[i] ?? "",
        ),
      ),
      h("td", null, strip(now.products[i] ?? [], most)),
      h(
        "td",
        { class: "figure" },
        h(
          "span",
          { class: "track" },
          h("span", { class: "bar score", style: { width: `${(100 * (score - low)) / Math.max(1e-9, high - low)}%` } }),
        ),
        number3(score),
      ),
      h(
        "td",
        { class: "figure" },
        h(
          "span",
          { class: "track" },
          h("span", { class: "bar", style: { width: `${100 * weight}%`, background: colour(Math.max(0.25, weight)) } }),
        ),
        number(weight),
      ),
    );
  }

  /** @param {number} i */
  function point(i) {
    if (i === key || !look) return;
    key = i;
    options.onpoint?.({ column: i });
    replace(/** @type {HTMLElement} */ (root.querySelector(".neuron-sum")), figure(look, key));
    for (const each of root.querySelectorAll("tr[data-key]")) {
      const on = /** @type {HTMLElement} */ (each).dataset["key"] === String(i);
      each.classList.toggle("on", on);
      each.querySelector("button")?.setAttribute("aria-pressed", String(on));
    }
  }

  return {
    update,
    /** @returns {Promise<SVGSVGElement>} */
    exportSvg: async () => (look ? figure(look, key) : svg("svg", null)),
    destroy() {
      unwatch();
      root.remove();
    },
  };
}

/** Three rows of bars that stand above each other by dimension, and what they come to.
 * @param {Neuron} look @param {number} key @returns {SVGSVGElement} */
function figure(look, key) {
  const colours = inks();
  const wide = look.q.length;
  const step = Math.max(5, Math.min(18, 640 / wide));
  const [left, tall, gap] = [92, 58, 18];
  const [width, height] = [left + wide * step + 250, 3 * tall + 2 * gap + 30];
  const product = look.products[key] ?? [];
  const rows = [
    { name: "query", word: look.asks, values: look.q, fill: colours.q },
    { name: "key", word: look.names[key] ?? "", values: look.keys[key] ?? [], fill: colours.k },
    { name: "product", word: "q × k", values: product, fill: "" },
  ];
  const out = svg("svg", {
    xmlns: "http://www.w3.org/2000/svg",
    class: "neuron-figure",
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    role: "img",
    "aria-label": `${look.asks} asks, ${look.names[key]} answers: score ${number3(look.scores[key] ?? 0)}, weight ${number(look.weights[key])}`,
    "font-family": SANS,
    "font-size": 13,
  });
  rows.forEach(({ name, word, values, fill }, i) => {
    const [top, most] = [i * (tall + gap), Math.max(...values.map(Math.abs), 1e-9)];
    const middle = top + tall / 2;
    out.append(
      svg("text", { x: 0, y: middle - 3, fill: colours.muted, "font-size": 12 }, name),
      svg(
        "text",
        { x: 0, y: middle + 14, fill: fill || colours.ink, "font-weight": 600 },
        word.length > 11 ? `${word.slice(0, 10)}…` : word,
      ),
      svg("line", { x1: left, x2: left + wide * step, y1: middle, y2: middle, stroke: colours.line }),
      ...values.map((value, d) => {
        const size = (Math.abs(value) / most) * (tall / 2);
        return svg("rect", {
          x: left + d * step + 0.5,
          y: value < 0 ? middle : middle - size,
          width: Math.max(1, step - 1.5),
          height: Math.max(0.5, size),
          rx: 1,
          fill: fill || hue(value < 0 ? 1 : 0),
        });
      }),
    );
  });
  const [x, base] = [left + wide * step + 24, 2 * (tall + gap) + tall / 2];
  const sum = product.reduce((total, value) => total + value, 0);
  const told = (/** @type {number} */ y, /** @type {string} */ name, /** @type {string} */ value, strong = false) => [
    svg("text", { x, y, fill: colours.muted, "font-size": 12 }, name),
    svg(
      "text",
      {
        x: x + 214,
        y,
        "text-anchor": "end",
        fill: strong ? colours.accent : colours.ink,
        "font-weight": strong ? 700 : 500,
      },
      value,
    ),
  ];
  out.append(
    ...told(base - 74, "sum over dimensions", number3(sum)),
    ...told(base - 46, "score (scaled)", number3(look.scores[key] ?? 0)),
    ...told(base - 18, "weight after softmax", number(look.weights[key]), true),
    svg("rect", { x, y: base - 6, width: 214, height: 12, rx: 3, fill: colours.line }),
    svg("rect", { x, y: base - 6, width: 214 * (look.weights[key] ?? 0), height: 12, rx: 3, fill: colours.accent }),
  );
  return out;
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
/** @param {number} value */
const number3 = (value) => (Number.isFinite(value) ? value.toFixed(2).replace("-", "−") : "−∞");
