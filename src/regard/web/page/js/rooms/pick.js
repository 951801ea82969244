/** A choice among a few, with its name beside it. */

import { h } from "../dom.js";

/** @param {string} label @param {[value: string, name: string][]} choices @param {string} value @param {(value: string) => void} run
 * @param {string} [spoken] where the label alone does not say it */
export function pick(label, choices, value, run, spoken) {
  const box = h(
    "select",
    { onchange: () => run(box.value), ...(spoken ? { "aria-label": spoken } : {}) },
    choices.map(([each, name]) => h("option", { value: each, selected: each === value }, name)),
  );
  return h("label", { class: "pick" }, label, box);
}
