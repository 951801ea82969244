/** Temperature, top-p and top-k, which move the bars at once; the dice, and writing on. */

import { h, replace } from "../dom.js";
import { refill } from "../rooms/refill.js";
import { pick } from "../rooms/pick.js";
import { MOST, PLAIN, readDials } from "./sampling.js";

/** @typedef {import("../app.js").Context} Context */
/** @typedef {{moved: () => void, take: () => void, write: (count: number) => void, keep: () => void, again: () => void, drop: () => void}} Hands */

/** @type {{key: "temp" | "topp" | "topk", of: "temperature" | "topP" | "topK", title: string, low: number, high: number, step: number, says: string}[]} */
const DIALS = [
  { key: "temp", of: "temperature", title: "temperature", low: 0, high: 2, step: 0.05, says: "Below 1 the likely gets likelier; 0 always takes the first" },
  { key: "topp", of: "topP", title: "top-p", low: 0.05, high: 1, step: 0.01, says: "Only the fewest tokens that hold this much probability" },
  { key: "topk", of: "topK", title: "top-k", low: 1, high: MOST, step: 1, says: "Only so many of the likeliest tokens" },
]; // prettier-ignore

/** @param {HTMLElement} host @param {Context} context @param {Hands} hands */
export function sampler(host, context, hands) {
  const dials = DIALS.map((dial) => slider(dial, context, hands.moved));
  const actions = h("div", { class: "sampler-actions" });
  const seed = h("input", {
    type: "number",
    min: 0,
    max: 2 ** 31 - 1,
    "aria-label": "Seed",
    onchange: () => context.state.set({ seed: Math.max(0, Math.floor(Number(seed.value) || 0)) }, { undo: true }),
  });
  let count = 20;
  const button = (/** @type {string} */ text, /** @type {() => void} */ run, /** @type {string} */ title, more = "") =>
    h("button", { type: "button", class: `button ${more}`, title, onclick: run }, text);
  host.append(...dials.map(({ root }) => root), actions);
  return {
    /** @param {boolean} written @param {boolean} ended */
    show(written, ended) {
      const now = readDials(context.state.get());
      for (const each of dials) each.show(now);
      if (document.activeElement !== seed) seed.value = String(now.seed);
      refill(
        actions,
        button("Take one", hands.take, "Throw the dice once, and append the token (d)", "primary"),
        !written && button("Write on", () => hands.write(count), "Let the model write; words come as it goes"),
        !written && pick("tokens", [10, 20, 40, 100, 200].map((each) => [String(each), String(each)]), String(count), (to) => (count = Number(to)), "How many tokens"), // prettier-ignore
        written && button("Keep it", hands.keep, "What was written becomes part of the text"),
        written && button("Another", hands.again, "Write again with the next seed"),
        written && button("Throw it away", hands.drop, "Back to the text as it was given"),
        h("label", { class: "pick" }, "seed", seed),
        ended && h("span", { class: "quiet" }, "The model ended its text here."),
      );
    },
  };
}

/** @param {typeof DIALS[number]} dial @param {Context} context @param {() => void} moved */
function slider({ key, of, title, low, high, step, says }, context, moved) {
  const told = h("output", null);
  const said = (/** @type {number} */ value) =>
    of === "topK" ? String(value) : of === "topP" && value === 1 ? "all" : value.toFixed(2);
  const input = h("input", {
    type: "range",
    min: low,
    max: high,
    step,
    "aria-label": title,
    oninput: () => {
      const value = Number(input.value);
      replace(told, said(value));
      context.state.set({ [key]: value === PLAIN[of] ? "" : input.value }, { undo: key });
      moved();
    },
  });
  return {
    root: h("label", { class: "dial", title: says }, h("span", null, title), input, told),
    /** @param {import("./sampling.js").Dials} dials */
    show(dials) {
      input.value = String(dials[of]);
      replace(told, said(dials[of]));
    },
  };
}
