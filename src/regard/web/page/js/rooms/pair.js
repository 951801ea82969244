/** A sentence of the little world, which comes with its true alignment: which languages, and which one. */

import { h } from "../dom.js";
import { pick } from "./pick.js";
import { known, writtenPair } from "./url.js";

/** @typedef {import("../state.js").Flat} Flat */
/** @typedef {import("./url.js").Pair} Pair */

/** @type {Record<string, string>} */
export const LANGUAGES = { en: "English", de: "German", it: "Italian", cs: "Czech" };

/** @param {Pair | null} shown @param {Record<string, any>} model @param {(patch: Flat, undo?: boolean | string) => void} set @param {() => void} leave */
export function pairing(shown, model, set, leave) {
  const start = {
    source: model["multilingual"] ? "it" : known(model["source"], "de"),
    target: model["multilingual"] ? "en" : known(model["target"], "en"),
    index: 0,
  };
  const pair = shown ?? start;
  const go = (/** @type {Partial<Pair>} */ patch) => {
    const next = { ...pair, ...patch };
    if (next.source === next.target) next.target = next.source === "en" ? "de" : "en";
    set({ pair: writtenPair(next), word: "" }, "pair");
  };
  if (!shown)
    return h("button", { type: "button", class: "button", onclick: () => go({}) }, "A sentence of the world");
  const index = h("input", {
    type: "number",
    min: 0,
    value: pair.index,
    "aria-label": "Number of the sentence",
    onchange: () => go({ index: Math.max(0, Math.floor(Number(index.value) || 0)) }),
  });
  const four = Object.entries(LANGUAGES);
  return h(
    "div",
    { class: "world-pair", role: "group", "aria-label": "Sentence of the world" },
    h("span", { class: "quiet" }, "World"),
    pick("from", four, pair.source, (source) => go({ source })),
    pick("to", four, pair.target, (target) => go({ target })),
    h(
      "button",
      {
        type: "button",
        class: "icon small",
        "aria-label": "Sentence before",
        disabled: pair.index === 0,
        onclick: () => go({ index: Math.max(0, pair.index - 1) }),
      },
      "‹",
    ),
    index,
    h(
      "button",
      {
        type: "button",
        class: "icon small",
        "aria-label": "Next sentence",
        onclick: () => go({ index: pair.index + 1 }),
      },
      "›",
    ),
    h(
      "button",
      {
        type: "button",
        class: "icon small",
        "aria-label": "Any sentence",
        title: "Any sentence",
        onclick: () => go({ index: Math.floor(Math.random() * 10000) }),
      },
      "⚄",
    ),
    h(
      "button",
      {
        type: "button",
        class: "icon small",
        "aria-label": "Leave the world",
        title: "Write your own",
        onclick: leave,
      },
      "✕",
    ),
  );
}
