/** What a model says of a picture: labels with probabilities, or boxes; and what an edit changed. */

import { hue } from "../color.js";
import { h } from "../dom.js";
import { refill } from "../rooms/refill.js";

/** @typedef {import("./seen.js").Answer} Answer */
/** @typedef {{label: (name: string) => void, query: (query: number) => void, hover: (query: number | null) => void}} Hands */

const SHOWN = 5;
/** @param {number} share */
const percent = (share) => `${(100 * share).toFixed(share < 0.0995 && share > 0 ? 1 : 0)} %`;

/** @param {HTMLElement} host @param {Answer} answer @param {Answer | null} before without edits @param {{label: string, at: string}} chosen @param {Hands} hands */
export function show(host, answer, before, chosen, hands) {
  const { output } = answer;
  const warned = (answer.warnings ?? []).map(({ text }) => h("p", { class: "warning" }, text));
  if (output.labels) refill(host, warned, labels(output.labels, before?.output.labels, chosen.label, hands));
  else if (output.boxes) refill(host, warned, boxes(output.boxes, before?.output.boxes, chosen.at, hands));
  else refill(host, warned, h("p", { class: "quiet" }, "It gives a vector of features and names nothing."));
}

/** @param {[string, number][]} found @param {[string, number][] | undefined} before @param {string} label @param {Hands} hands */
function labels(found, before, label, hands) {
  const sorted = [...found].sort((a, b) => b[1] - a[1]);
  const asked = sorted.find(([name]) => name === label);
  const shown = sorted.slice(0, SHOWN);
  if (asked && !shown.includes(asked)) shown.push(asked);
  const was = new Map(before ?? []);
  return h(
    "ol",
    { class: "see-labels" },
    shown.map(([name, share]) =>
      h(
        "li",
        null,
        h(
          "button",
          {
            type: "button",
            style: { "--share": share.toFixed(3) },
            "aria-pressed": String(name === label),
            title: "Ask what speaks for it",
            onclick: () => hands.label(name === label ? "" : name),
          },
          h("b", null, name),
          h("output", null, percent(share)),
          before && h("span", { class: "quiet" }, `was ${percent(was.get(name) ?? 0)}`),
        ),
      ),
    ),
  );
}

/** @param {import("./seen.js").Found[]} found @param {import("./seen.js").Found[] | undefined} before @param {string} at @param {Hands} hands */
function boxes(found, before, at, hands) {
  if (!found.length) return h("p", { class: "quiet" }, "It finds nothing that it is sure of.");
  const was = new Map((before ?? []).map((each) => [each.query, each]));
  return h(
    "ul",
    { class: "see-boxes" },
    found.map(({ label, score, query }, i) => {
      const old = was.get(query);
      return h(
        "li",
        null,
        h(
          "button",
          {
            type: "button",
            "aria-pressed": String(at === `q${query}`),
            title: `Query ${query}: see where it looks`,
            onclick: () => hands.query(query),
            onpointerenter: () => hands.hover(query),
            onpointerleave: () => hands.hover(null),
          },
          h("i", { class: "swatch", style: { "--hue": hue(i) } }),
          h("b", null, label),
          h("output", null, percent(score)),
          before && h("span", { class: "quiet" }, old ? `was ${old.label} ${percent(old.score)}` : "was not found"),
        ),
      );
    }),
    [...was.values()]
      .filter((old) => !found.some(({ query }) => query === old.query))
      .map((old) => h("li", { class: "quiet" }, `${old.label} is not found any more`)),
  );
}
