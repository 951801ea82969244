/** How the curves are drawn: over steps or minutes, on which scale, how smooth. */

import { h } from "../dom.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {(patch: import("../state.js").Flat, undo?: boolean | string) => void} Set */

export class Bar {
  /** @param {Set} set */
  constructor(set) {
    this.log = h("input", { type: "checkbox", onchange: () => set({ log: this.log.checked ? 1 : "" }) });
    this.smooth = h("input", {
      type: "range",
      min: 0,
      max: 0.99,
      step: 0.01,
      oninput: () => set({ smooth: this.smooth.value }, "smooth"),
    });
    /** @type {[string, string][]} */
    const ways = [
      ["step", "steps"],
      ["minutes", "minutes"],
    ];
    this.over = h(
      "div",
      { class: "segments", role: "group", "aria-label": "Across" },
      ways.map(([value, name]) =>
        h("button", { type: "button", value, onclick: () => set({ over: value === "step" ? "" : value }) }, name),
      ),
    );
    this.root = h(
      "div",
      { class: "run-bar" },
      this.over,
      h("label", { class: "check" }, this.log, "logarithmic"),
      h("label", { class: "pick smoothing" }, "smoothing", this.smooth),
    );
  }

  /** @param {State} now */
  show({ log, smooth, over }) {
    this.log.checked = log;
    if (document.activeElement !== this.smooth) this.smooth.value = String(smooth);
    for (const button of this.over.querySelectorAll("button"))
      button.setAttribute("aria-pressed", String(button.value === over));
  }
}
