/** Query, key and their product as bars that stand above each other by dimension, and what they come to. */

import { hue } from "../color.js";
import { svg } from "../dom.js";
import { SANS, inks } from "./paint.js";
import { number } from "./view.js";

/** @typedef {import("./neuron.js").Neuron} Neuron */

const [LEFT, TALL, GAP] = [92, 58, 18];

/** @param {Neuron} look @param {number} key @returns {SVGSVGElement} */
export function figure(look, key) {
  const colours = inks();
  const wide = look.q.length;
  const step = Math.max(5, Math.min(18, 640 / wide));
  const [width, height] = [LEFT + wide * step + 250, 3 * TALL + 2 * GAP + 30];
  const rows = [
    { name: "query", word: look.asks, values: look.q, fill: colours.q },
    { name: "key", word: look.names[key] ?? "", values: look.keys[key] ?? [], fill: colours.k },
    { name: "product", word: "q × k", values: look.products[key] ?? [], fill: "" },
  ];
  const out = svg("svg", {
    xmlns: "http://www.w3.org/2000/svg",
    class: "neuron-figure",
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    role: "img",
    "aria-label": `${look.asks} asks, ${look.names[key]} answers: score ${three(look.scores[key] ?? 0)}, weight ${number(look.weights[key])}`,
    "font-family": SANS,
    "font-size": 13,
  });
  out.append(...rows.flatMap((row, i) => bars(row, i, step)), ...sums(look, key, LEFT + wide * step + 24));
  return out;
}

/** @param {{name: string, word: string, values: number[], fill: string}} row @param {number} i @param {number} step */
function bars({ name, word, values, fill }, i, step) {
  const colours = inks();
  const most = values.reduce((so, value) => Math.max(so, Math.abs(value)), 1e-9);
  const middle = i * (TALL + GAP) + TALL / 2;
  const said = word.length > 11 ? `${word.slice(0, 10)}…` : word;
  return [
    svg("text", { x: 0, y: middle - 3, fill: colours.muted, "font-size": 12 }, name),
    svg("text", { x: 0, y: middle + 14, fill: fill || colours.ink, "font-weight": 600 }, said),
    svg("line", { x1: LEFT, x2: LEFT + values.length * step, y1: middle, y2: middle, stroke: colours.line }),
    ...values.map((value, d) => {
      const size = (Math.abs(value) / most) * (TALL / 2);
      const place = { x: LEFT + d * step + 0.5, y: value < 0 ? middle : middle - size };
      const box = { width: Math.max(1, step - 1.5), height: Math.max(0.5, size), rx: 1 };
      return svg("rect", { ...place, ...box, fill: fill || hue(value < 0 ? 1 : 0) });
    }),
  ];
}

/** @param {Neuron} look @param {number} key @param {number} x */
function sums(look, key, x) {
  const colours = inks();
  const base = 2 * (TALL + GAP) + TALL / 2;
  const sum = (look.products[key] ?? []).reduce((total, value) => total + value, 0);
  const weight = look.weights[key] ?? 0;
  const told = (/** @type {number} */ y, /** @type {string} */ name, /** @type {string} */ value, strong = false) => {
    const look = strong ? { fill: colours.accent, "font-weight": 700 } : { fill: colours.ink, "font-weight": 500 };
    return [
      svg("text", { x, y, fill: colours.muted, "font-size": 12 }, name),
      svg("text", { x: x + 214, y, "text-anchor": "end", ...look }, value),
    ];
  };
  const track = { x, y: base - 6, height: 12, rx: 3 };
  return [
    ...told(base - 74, "sum over dimensions", three(sum)),
    ...told(base - 46, "score (scaled)", three(look.scores[key] ?? 0)),
    ...told(base - 18, "weight after softmax", number(weight), true),
    svg("rect", { ...track, width: 214, fill: colours.line }),
    svg("rect", { ...track, width: 214 * weight, fill: colours.accent }),
  ];
}

/** @param {number} value */
export const three = (value) => (Number.isFinite(value) ? value.toFixed(2).replace("-", "−") : "−∞");
