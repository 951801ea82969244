/** What a text model is given: a text, a second one beside it, examples in front, and the lectures' sentences. */

import { textField } from "../bench/text.js";
import { h } from "../dom.js";
import { refill } from "../rooms/refill.js";
import { pairOf, textOf } from "./asking.js";
import { lectures } from "./lectures.js";
import { editor } from "./shots.js";

/** @typedef {import("../bench/address.js").State} State */
/** @typedef {import("../bench/bench.js").InputHands} Hands */

/** What belongs to one text alone. */
export const FRESH = { at: "", tok: "", mask: "", w: "" };

/** @param {HTMLElement} host @param {Hands} hands */
export function input(host, { set }) {
  const [first, second, more, examples, said] = ["read-first", "read-second", "read-more", "read-shots", "from-lectures"].map((name) => h("div", { class: name })); // prettier-ignore
  host.append(h("div", { class: "read-texts" }, first, second), more, examples, said);
  const put = () => {
    const [a, b] = [one, two].map(({ field }) => field.value.replace(/\t/g, " "));
    set({ in: `t:${a}${second.hidden ? "" : `\t${b}`}`, ...FRESH }, "typing");
  };
  const one = textField(first, { label: "Text", placeholder: "Type a text …", set: put });
  const two = textField(second, { label: "Second text", placeholder: "… and a second one", set: put });
  const few = editor(examples, set);
  let open = false;
  return {
    /** @param {State} state */
    show(state) {
      const [model] = state.models;
      const pair = pairOf(model);
      const [a = "", b] = pair ? textOf(state).split("\t") : [textOf(state)];
      const must = ["answer", "similar"].includes(String(model?.["task"]));
      open = pair !== null && (open || b !== undefined || must);
      second.hidden = !open;
      one.field.setAttribute("aria-label", pair?.[0] ?? "Text");
      two.field.setAttribute("aria-label", pair?.[1] ?? "Second text");
      one.show(a);
      two.show(b ?? "");
      const toggle = (/** @type {boolean} */ on) => () => {
        open = on;
        set({ in: `t:${a}${on ? `\t${b ?? ""}` : ""}`, ...FRESH, pairs: "" });
        if (on) two.focus();
      };
      refill(
        more,
        pair && !must && h("button", { type: "button", class: "button small", onclick: toggle(!open) }, open ? "One sentence alone" : "Add a second sentence"), // prettier-ignore
      );
      examples.hidden = model?.["task"] !== "generate";
      few.show(state.flat, model ?? {});
      said.hidden = ["recall", "parse"].includes(String(model?.["task"]));
      lectures(said, a, (text) => set({ in: `t:${text}`, ...FRESH, pairs: "", shots: "" }));
    },
    focus: one.focus,
    destroy() {
      one.destroy();
      two.destroy();
      few.destroy();
    },
  };
}
