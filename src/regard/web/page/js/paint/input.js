/** What is to be painted, and how: words, steps, guidance, chance. */

import { textField } from "../bench/text.js";
import { h } from "../dom.js";
import { refill } from "../rooms/refill.js";
import { slide } from "../rooms/slide.js";

/** @typedef {import("../bench/address.js").State} State */
/** @typedef {import("../bench/answer.js").Model} Model */
/** @typedef {import("../bench/bench.js").InputHands} Hands */

export const [STEPS, GUIDANCE, WARMTH] = [30, 3, 1];
const SEEDS = 1_000_000;

/** Does it write tokens instead of taking noise out? @param {Model | undefined} model */
export const writes = (model) => model?.["family"] === "dalle";
/** @param {State["flat"]} flat @param {string} key @param {number} usual */
export const numberOf = (flat, key, usual) => (flat[key] === undefined || flat[key] === "" ? usual : Number(flat[key]));
/** @param {State} state */
export const textOf = ({ input }) => input.replace(/^t:/, "");

/** @param {HTMLElement} host @param {Hands} hands */
export function input(host, { set, options }) {
  const field = textField(host, {
    label: "What to paint",
    placeholder: "a red disc left of a blue star",
    set: (text) => set({ in: `t:${text}`, at: "", step: "" }, "typing"),
  });
  return {
    /** @param {State} state */
    show(state) {
      field.show(textOf(state));
      const { flat, models } = state;
      const put = (/** @type {string} */ key) => (/** @type {string} */ value) => set({ [key]: value, step: "" });
      refill(
        options,
        !models.every(writes) && slide("steps", { now: numberOf(flat, "steps", STEPS), least: 1, most: 60, spoken: "Steps" }, put("steps")),
        !models.every(writes) && slide("guidance", { now: numberOf(flat, "guide", GUIDANCE), least: 1, most: 10, step: 0.5, spoken: "Guidance" }, put("guide")),
        models.some(writes) && slide("temperature", { now: numberOf(flat, "temp", WARMTH), least: 0.1, most: 2, step: 0.1, spoken: "Temperature" }, put("temp")),
        seed(numberOf(flat, "seed", 0), put("seed")),
      ); // prettier-ignore
    },
    focus: field.focus,
    destroy: field.destroy,
  };
}

/** @param {number} now @param {(value: string) => void} put */
function seed(now, put) {
  const box = h("input", {
    type: "number",
    min: 0,
    max: SEEDS,
    value: now,
    "aria-label": "Seed",
    onchange: () => put(String(Math.max(0, Math.min(SEEDS, Math.round(Number(box.value) || 0))))),
  });
  return h("span", { class: "paint-seed" }, h("label", { class: "pick" }, "seed", box),
    h("button", { type: "button", class: "button small", onclick: () => put(String((now + 1) % SEEDS)) }, "Another"),
  ); // prettier-ignore
}
