/** What can be chosen in World: the scene, which scenes, how they are told, and how two eyes are shown. */

import { h, replace } from "../dom.js";
import { pick } from "../rooms/pick.js";
import { refill } from "../rooms/refill.js";
import { roving } from "../roving.js";
import { EYES, SPLITS, STYLES, any, last, within } from "./state.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./state.js").Bounds} Bounds */
/** @typedef {{go: (index: number) => void, set: (patch: import("../state.js").Flat) => void}} Hands */

export class Controls {
  /** @param {Bounds} bounds @param {Hands} hands */
  constructor(bounds, hands) {
    this.bounds = bounds;
    this.hands = hands;
    this.bar = h("div", { class: "scene-bar" });
    this.facts = h("span", { class: "quiet facts" });
    this.eyes = h("div", { class: "segments eyes", role: "group", "aria-label": "How to show two eyes" });
    this.rest = roving(this.eyes);
  }

  /** @param {string} text */
  tell(text) {
    replace(this.facts, text);
  }

  /** @param {State} now */
  show(now) {
    const { set } = this.hands;
    const { scenes } = this.bounds;
    refill(
      this.bar,
      this.numbers(now),
      scenes === null && pick("things", Object.entries(SPLITS), now.split, (split) => set({ split, thing: "" })),
      pick("tell", Object.entries(STYLES), now.style, (style) => set({ style })),
      scenes !== null && h("p", { class: "quiet bounds" }, reason(scenes)),
      this.facts,
    );
    refill(this.eyes, this.ways(now));
    this.rest();
  }

  /** Which scene. @param {State} now */
  numbers({ index }) {
    const { scenes } = this.bounds;
    const { go } = this.hands;
    const end = last(scenes);
    const field = h("input", {
      type: "number",
      min: 0,
      max: end,
      value: index,
      "aria-label": "Number of the scene",
      onchange: () => {
        const wanted = within(Number(field.value), scenes);
        field.value = String(wanted); // also where the number was too large, and nothing changes
        go(wanted);
      },
    });
    return [
      button("‹", () => go(index - 1), { "aria-label": "Scene before", disabled: index === 0 }),
      h("label", { class: "pick" }, "scene", field),
      button("›", () => go(index + 1), { "aria-label": "Next scene", disabled: index === end }),
      button("Any scene", () => go(any(scenes))),
    ];
  }

  /** How two eyes are shown. @param {State} now */
  ways({ stereo }) {
    return Object.entries(EYES)
      .filter(([id]) => id !== "wiggle" || !this.bounds.still())
      .map(([id, label]) =>
        h(
          "button",
          { type: "button", "aria-pressed": String(stereo === id), onclick: () => this.hands.set({ stereo: id }) },
          label,
        ),
      );
  }
}

/** Why there is an end. @param {number} scenes */
const reason = (scenes) => `This site holds ${scenes} scenes; regard explore has no end of them.`;

/** @param {string} text @param {() => void} run @param {import("../dom.js").Props} [props] */
const button = (text, run, props) => h("button", { type: "button", class: "button", onclick: run, ...props }, text);
