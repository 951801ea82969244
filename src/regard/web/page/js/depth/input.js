/** What a model of depth is given: a picture. */

import { h } from "../dom.js";
import * as picker from "../see/picker.js";

/** @typedef {import("../bench/address.js").State} State */
/** @typedef {import("../bench/bench.js").InputHands} Hands */

/** What belongs to one picture alone. */
export const FRESH = { px: "" };

/** @param {State} state */
export const pictureOf = ({ input }) => input.replace(/^p:/, "");

/** @param {HTMLElement} host @param {Hands} hands @param {HTMLElement} room */
export function input(host, { set, context }, room) {
  const control = new AbortController();
  const place = h("div", { class: "picked-picture", role: "group", "aria-label": "Picture" });
  host.append(place);
  const choose = picker.create(place, {
    choose: (picture, undo) => set({ in: `p:${picture}`, ...FRESH }, undo ?? true),
    toast: context.toast,
  });
  choose.listen(room, control.signal);
  return {
    /** @param {State} state */
    show: (state) => choose.update(pictureOf(state)),
    focus: () => place.querySelector("input")?.focus(),
    destroy: () => control.abort(),
  };
}
