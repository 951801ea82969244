/** Probabilities as bars, of 100 %: each with its name, its number, and where it was without the edits. */

import { h } from "../dom.js";

/** `before` is the probability without edits, null where it is too small to be told, `cut` one that cannot be drawn, `came` the token that really came.
 * @typedef {{name: string, probability: number, before?: number | null | undefined, cut?: boolean, came?: boolean, run?: (() => void) | undefined, title?: string}} Bar */

/** @param {number} share */
export function percent(share) {
  const many = 100 * share;
  if (many > 99.95 || many === 0) return `${Math.round(many)} %`;
  if (many < 0.01) return "< 0.01 %";
  return `${many.toFixed(many < 0.1 ? 2 : 1)} %`;
}

/** Spaces and line ends that can be seen. @param {string} piece */
export const visible = (piece) => piece.replace(/\n/g, "↵").replace(/\t/g, "⇥").replace(/^ +$/g, (all) => "␣".repeat(all.length)) || "∅"; // prettier-ignore

/** By how many points something moved. @param {number} now @param {number | null} before */
export function moved(now, before) {
  if (before === null)
    return h("span", { class: "move up", title: "not among the likeliest without the edits" }, "new");
  const points = 100 * (now - before);
  if (Math.abs(points) < 0.05) return h("span", { class: "move" }, "±0");
  const up = points > 0;
  return h(
    "span",
    { class: `move ${up ? "up" : "down"}`, title: `without the edits ${percent(before)}` },
    `${up ? "▲" : "▼"} ${Math.abs(points).toFixed(1)}`,
  );
}

/** @param {Bar[]} all @param {string} label @returns {HTMLElement} */
export function bars(all, label) {
  return h(
    "ol",
    { class: `bars${all.some(({ before }) => before !== undefined) ? " moving" : ""}`, "aria-label": label },
    all.map((bar) => h("li", null, row(bar))),
  );
}

/** @param {Bar} bar */
function row({ name, probability, before, cut, came, run, title }) {
  const width = (/** @type {number} */ share) => `${(100 * share).toFixed(2)}%`;
  const parts = [
    h("span", { class: "bar-name" }, visible(name)),
    h(
      "span",
      { class: "bar-track", "aria-hidden": "true" },
      h("i", { class: "bar-fill", style: { width: width(probability) } }),
      typeof before !== "number" ? null : h("i", { class: "bar-before", style: { left: width(before) } }),
    ),
    h("span", { class: "bar-number" }, percent(probability)),
    before === undefined ? null : moved(probability, before),
  ];
  const about = { class: `bar-row${cut ? " cut" : ""}${came ? " came" : ""}`, title: title ?? null };
  return run ? h("button", { ...about, type: "button", onclick: run }, ...parts) : h("span", about, ...parts);
}

/** Bars with those of before beside them. @param {[string, number][]} now @param {[string, number][] | undefined} before @param {number} count @returns {Bar[]} */
export function compared(now, before, count) {
  const known = before && new Map(before);
  return now.slice(0, count).map(([name, probability]) => ({
    name,
    probability,
    before: known ? (known.get(name) ?? null) : undefined,
  }));
}
