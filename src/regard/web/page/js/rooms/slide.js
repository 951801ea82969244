/** A number to slide, with its name and its value beside it; it is asked when the hand lets go. */

import { h, replace } from "../dom.js";

/** @param {string} label @param {{now: number, least: number, most: number, step?: number, spoken?: string}} range @param {(value: string) => void} run */
export function slide(label, { now, least, most, step = 1, spoken = label }, run) {
  const told = h("output", null, now);
  const slider = h("input", {
    type: "range",
    min: least,
    max: most,
    step,
    value: now,
    "aria-label": spoken,
    onchange: () => run(slider.value),
    oninput: () => replace(told, slider.value),
  });
  return h("label", { class: "pick slide" }, label, slider, told);
}
