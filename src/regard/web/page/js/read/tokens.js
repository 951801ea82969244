/** A text token by token: under each, how likely the model found it; one is chosen. */

import { h } from "../dom.js";
import { refill } from "../rooms/refill.js";
import { percent, visible } from "./bars.js";

/** @typedef {{piece: string, probability: number | null, top: [string, number][]}} Step */
/** @typedef {{point: (i: number | null) => void, choose: (i: number) => void}} Hands */

/** From 0, a surprise, to 1, certain: a tenth of the probability is a step of a quarter. @param {number} chance */
export const known = (chance) => Math.max(0, Math.min(1, 1 + Math.log10(Math.max(chance, 1e-9)) / 4));

/** @param {HTMLElement} host @param {Hands} hands */
export function tokens(host, { point, choose }) {
  const root = h("div", { class: "output tokens", role: "group", "aria-label": "Tokens" });
  host.append(root);
  /** @type {Step[] | null} */
  let shown = null;
  const at = (/** @type {Event} */ event) => {
    const button = /** @type {HTMLElement} */ (event.target).closest("button");
    return button ? Number(button.dataset["at"]) : null;
  };
  root.addEventListener("pointerover", (event) => at(event) !== null && point(at(event)));
  root.addEventListener("pointerleave", () => point(null));
  root.addEventListener("focusin", (event) => at(event) !== null && point(at(event)));
  root.addEventListener("click", (event) => {
    const i = at(event);
    if (i !== null) choose(i);
  });
  return {
    /** @param {Step[]} steps @param {number} read how many of them were given @param {number} chosen */
    show(steps, read, chosen) {
      if (steps !== shown) refill(root, ...steps.map((step, i) => token(step, i, i >= read)));
      shown = steps;
      [...root.querySelectorAll("button")].forEach((each, i) =>
        each.setAttribute("aria-pressed", String(i === chosen)),
      );
    },
    /** @param {number | undefined} first @param {number} [last] */
    glow(first, last = first) {
      root
        .querySelectorAll("button")
        .forEach((each, i) => each.classList.toggle("glow", first !== undefined && i >= first && i <= (last ?? first)));
    },
  };
}

/** @param {Step} step @param {number} i @param {boolean} written */
function token({ piece, probability }, i, written) {
  const said = probability === null ? "the first token is given" : percent(probability);
  return h(
    "button",
    {
      type: "button",
      class: `said token${written ? " written" : ""}${probability === null ? " first" : ""}`,
      title: `${visible(piece)}: ${said}`,
      dataset: { at: i },
      style: { "--known": probability === null ? 1 : known(probability).toFixed(3) },
    },
    visible(piece),
  );
}
