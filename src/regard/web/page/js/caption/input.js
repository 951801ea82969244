/** What a captioner is given: a picture, and words of your own that it is made to say. */

import { textField } from "../bench/text.js";
import { h } from "../dom.js";
import { refill } from "../rooms/refill.js";
import { slide } from "../rooms/slide.js";
import * as picker from "../see/picker.js";
import { scene } from "../see/wishes.js";

/** @typedef {import("../bench/address.js").State} State */
/** @typedef {import("../bench/bench.js").InputHands} Hands */

export const BEAM = 3;
/** What belongs to one picture alone. */
export const FRESH = { at: "" };

/** @param {State} state */
export const pictureOf = ({ input }) => input.replace(/^p:/, "");

/** @param {HTMLElement} host @param {Hands} hands @param {{room: HTMLElement, most: number}} setting */
export function input(host, { set, options, context }, { room, most }) {
  const control = new AbortController();
  const place = h("div", { class: "picked-picture", role: "group", "aria-label": "Picture" });
  const own = h("details", { class: "own-words" }, h("summary", null, "Make it say something else"));
  host.append(place, own);
  const choose = picker.create(place, {
    choose: (picture, undo) => set({ in: `p:${picture}`, ...FRESH }, undo ?? true),
    toast: context.toast,
  });
  choose.listen(room, control.signal);
  const field = textField(own, {
    label: "Words that the model is made to say",
    placeholder: "There is a red disc …",
    set: (say) => set({ say: say.trim(), ...FRESH }, "typing"),
  });
  return {
    /** @param {State} state */
    show(state) {
      const { flat } = state;
      choose.update(pictureOf(state));
      if (flat["say"]) own.open = true;
      field.show(String(flat["say"] ?? ""));
      refill(
        options,
        scene(pictureOf(state)) !== null && truth(Boolean(flat["truth"]), set),
        !flat["say"] &&
          slide("beam", { now: Number(flat["beam"]) || BEAM, least: 1, most, spoken: "Beam" }, (beam) => set({ beam })),
      );
    },
    focus: () => place.querySelector("input")?.focus(),
    destroy() {
      control.abort();
      field.destroy();
    },
  };
}

/** @param {boolean} on @param {Hands["set"]} set */
function truth(on, set) {
  const box = h("input", { type: "checkbox", checked: on, onchange: () => set({ truth: on ? "" : "1" }) });
  return h("label", { class: "check" }, box, "show the truth");
}
