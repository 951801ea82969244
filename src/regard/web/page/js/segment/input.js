/** What a segmenter is given: a picture, and what a click on it means. */

import { h } from "../dom.js";
import { refill } from "../rooms/refill.js";
import * as picker from "../see/picker.js";
import { scene } from "../see/wishes.js";
import { read, written } from "./prompts.js";

/** @typedef {import("../bench/address.js").State} State */
/** @typedef {import("../bench/bench.js").InputHands} Hands */

/** What belongs to one picture alone. */
export const FRESH = { at: "", pt: "", mask: "", tok: "" };
/** What the next click does. */
export const TOOLS = [
  { id: "", title: "Add", says: "A click is in what you mean; drag for a box" },
  { id: "out", title: "Take away", says: "A click is beside what you mean (or hold Alt)" },
  { id: "box", title: "Box", says: "Drag a box around what you mean, also by finger" },
];

/** @param {State} state */
export const pictureOf = ({ input }) => input.replace(/^p:/, "");
/** @param {State} state */
export const promptsOf = ({ flat }) => read(String(flat["pt"] ?? ""));

/** @param {HTMLElement} host @param {Hands} hands @param {HTMLElement} room */
export function input(host, { set, options, context }, room) {
  const control = new AbortController();
  const place = h("div", { class: "picked-picture", role: "group", "aria-label": "Picture" });
  const tools = h("div", { class: "segment-tools" });
  host.append(place, tools);
  const choose = picker.create(place, {
    choose: (picture, undo) => set({ in: `p:${picture}`, ...FRESH }, undo ?? true),
    toast: context.toast,
  });
  choose.listen(room, control.signal);
  return {
    /** @param {State} state */
    show(state) {
      const { flat } = state;
      const prompts = promptsOf(state);
      const tool = String(flat["tool"] ?? "");
      choose.update(pictureOf(state));
      refill(
        tools,
        h("div", { class: "segments", role: "group", "aria-label": "What a click does" },
          TOOLS.map(({ id, title, says }) =>
            h("button", { type: "button", title: says, "aria-pressed": String(id === tool), onclick: () => set({ tool: id }, false) }, title),
          ),
        ),
        h("button", { type: "button", class: "button", disabled: !prompts.length, onclick: () => set({ ...FRESH, pt: written(prompts.slice(0, -1)) }) }, "Undo last"),
        h("button", { type: "button", class: "button", disabled: !prompts.length, onclick: () => set(FRESH) }, "Clear"),
      ); // prettier-ignore
      refill(options, scene(pictureOf(state)) !== null && truth(Boolean(flat["truth"]), set));
    },
    focus: () => place.querySelector("input")?.focus(),
    destroy: () => control.abort(),
  };
}

/** @param {boolean} on @param {Hands["set"]} set */
function truth(on, set) {
  const box = h("input", { type: "checkbox", checked: on, onchange: () => set({ truth: on ? "" : "1" }) });
  return h("label", { class: "check" }, box, "show the truth");
}
