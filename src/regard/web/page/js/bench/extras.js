/** What can be set about any view: words or pieces, the least weight, what is hidden, from which sentence to which. */

import { h, replace } from "../dom.js";
import { pick } from "../rooms/pick.js";
import { refill } from "../rooms/refill.js";
import { offers } from "./scene.js";

/** @typedef {import("./scene.js").Scene} Scene */
/** @typedef {import("./address.js").State} State */
/** @typedef {(patch: import("../state.js").Flat, undo?: boolean | string) => void} Set */

const SIDES = /** @type {[string, string][]} */ ([
  ["", "all"],
  ["aa", "A → A"],
  ["ab", "A → B"],
  ["ba", "B → A"],
  ["bb", "B → B"],
]);

/** @param {HTMLElement} host @param {State} state @param {Scene[]} scenes @param {string} as the view on stage @param {Set} set */
export function extras(host, state, scenes, as, set) {
  const found = scenes.map(offers);
  const any = (/** @type {keyof ReturnType<typeof offers>} */ what) => found.some((each) => each[what]);
  const weighed = as === "lines" || as === "matrix";
  const hidden = (/** @type {string} */ what) => () => {
    const next = new Set(state.hide);
    if (!next.delete(what)) next.add(what);
    set({ hide: [...next].sort().join(","), at: "" });
  };
  refill(
    host,
    weighed &&
      any("pieces") &&
      check("pieces merged to words", state.merge === "words", () =>
        set({ merge: state.merge === "words" ? "pieces" : "", at: "" }),
      ),
    weighed && any("special") && check("hide special tokens", state.hide.has("special"), hidden("special")),
    weighed && any("punctuation") && check("hide punctuation", state.hide.has("punctuation"), hidden("punctuation")),
    weighed && any("pairs") && pick("sentences", SIDES, state.pairs, (pairs) => set({ pairs, at: "" })),
    as === "lines" && scenes.some(({ selection }) => selection) && threshold(state, set),
    weighed &&
      any("gold") &&
      h("span", { class: "check key-gold" }, h("i", { "aria-hidden": "true" }), "gold alignment"),
  );
}

/** @param {string} label @param {boolean} checked @param {() => void} run */
const check = (label, checked, run) =>
  h("label", { class: "check" }, h("input", { type: "checkbox", checked, onchange: run }), label);

/** Weights below are not drawn. @param {State} state @param {Set} set */
function threshold(state, set) {
  const told = h("output", null, shown(state.least));
  const slider = h("input", {
    type: "range",
    min: 0,
    max: 0.9,
    step: 0.01,
    value: state.least,
    "aria-label": "Draw weights from",
    oninput: () => {
      replace(told, shown(Number(slider.value)));
      set({ min: Number(slider.value) ? slider.value : "" }, "threshold");
    },
  });
  return h("label", { class: "pick threshold" }, "weights from", slider, told);
}

/** @param {number} least */
const shown = (least) => (least ? least.toFixed(2) : "all");
