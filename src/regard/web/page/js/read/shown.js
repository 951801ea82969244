/** What the examples of a few-shot prompt change: the labels' shares without them, with them, and with labels shuffled. */

import { aborted } from "../api.js";
import { ask } from "../bench/ask.js";
import { h, replace } from "../dom.js";
import { generating } from "./asking.js";
import { percent } from "./bars.js";
import { readShots } from "./shots.js";

/** @typedef {import("../bench/scene.js").Scene} Scene */
/** @typedef {[label: string, log: number][]} Choices */
/** @typedef {{on: boolean, mixed: boolean}} How */

const WAYS = /** @type {{title: string, how: How}[]} */ ([
  { title: "no examples", how: { on: false, mixed: false } },
  { title: "with examples", how: { on: true, mixed: false } },
  { title: "labels shuffled", how: { on: true, mixed: true } },
]);

/** @param {HTMLElement} host @param {import("../bench/bench.js").AnswerHands} hands @param {Record<string, number>} limits */
export function table(host, { context }, limits) {
  const root = h("section", { class: "shown", hidden: true, "aria-label": "What the examples change" });
  host.append(root);
  /** @type {Map<string, Choices>} */
  const known = new Map();
  let control = new AbortController();
  let under = ""; // what is asked or shown

  /** @param {Scene} scene @param {How} how @param {AbortSignal} signal @returns {Promise<Choices>} */
  async function weighed({ model, state, edits, result }, how, signal) {
    const now = readShots(state.flat);
    if (how.on === now.on && (!how.on || how.mixed === now.mixed)) return result.output.choices;
    const asked = { ...generating(model, state, limits, how), edits };
    const key = JSON.stringify(asked);
    const found = known.get(key) ?? (await ask(context.api, asked, { signal })).output.choices;
    known.set(key, found);
    return found;
  }

  return {
    /** @param {Scene} scene */
    show(scene) {
      const { shots } = readShots(scene.state.flat);
      root.hidden = !shots.length || scene.small || !scene.result.output.choices;
      const asked = root.hidden ? "" : scene.result.id;
      if (asked === under) return;
      under = asked;
      control.abort();
      control = new AbortController();
      const { signal } = control;
      if (root.hidden) return;
      Promise.all(WAYS.map(({ how }) => weighed(scene, how, signal))).then(
        (found) => signal.aborted || draw(root, found),
        (error) => {
          if (aborted(error) || signal.aborted) return;
          under = "";
          replace(root, h("p", { class: "problem" }, String(error.message)));
        },
      );
    },
    destroy: () => control.abort(),
  };
}

/** @param {HTMLElement} root @param {Choices[]} found */
function draw(root, found) {
  const labels = found[0]?.map(([label]) => label) ?? [];
  const parts = found.map((some) => {
    const most = Math.max(...some.map(([, log]) => log));
    const weights = some.map(([, log]) => Math.exp(log - most));
    const sum = weights.reduce((a, b) => a + b, 0);
    return weights.map((weight) => weight / sum);
  });
  replace(
    root,
    h("h3", null, "Which label comes next"),
    h(
      "table",
      { class: "shown-table" },
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          h("th", null, "label"),
          WAYS.map(({ title }) => h("th", { scope: "col" }, title)),
        ),
      ),
      h(
        "tbody",
        null,
        labels.map((label, i) =>
          h(
            "tr",
            null,
            h("th", { scope: "row" }, label.trim()),
            parts.map((shares) =>
              h(
                "td",
                null,
                h(
                  "span",
                  { class: "bar-track", "aria-hidden": "true" },
                  h("i", { class: "bar-fill", style: { width: `${(100 * (shares[i] ?? 0)).toFixed(1)}%` } }),
                ),
                h("span", { class: "bar-number" }, percent(shares[i] ?? 0)),
              ),
            ),
          ),
        ),
      ),
    ),
    h(
      "p",
      { class: "quiet" },
      "Shares among the labels. If the examples only showed the form, shuffled labels would help as much.",
    ),
  );
}
