/** Predict first: a verdict, and the number on a slider. */

import { h, replace } from "../dom.js";
import { VERDICTS } from "./list.js";
import { guessed, remember } from "./memory.js";
import { written } from "../plot/scale.js";

/** @typedef {import("./detail.js").Claim} Claim */
/** @typedef {{least: number, most: number, kind: "even" | "log"}} Range */

const STEPS = 400;
const MEANS = {
  supported: "the numbers say what the sentence says",
  "not at this scale": "this experiment cannot tell",
  refuted: "the numbers say the opposite",
};

/** The value at a share of the way. @param {Range} range @param {number} share */
export const valueAt = ({ least, most, kind }, share) =>
  kind === "log" ? least * (most / least) ** share : least + (most - least) * share;
/** The share of the way to a value. @param {Range} range @param {number} value */
export const shareOf = ({ least, most, kind }, value) =>
  Math.min(
    1,
    Math.max(0, kind === "log" ? Math.log(value / least) / Math.log(most / least) : (value - least) / (most - least)),
  );

/** @param {Claim} claim @param {() => void} reveal */
export function asking(claim, reveal) {
  const known = guessed(claim.name);
  let { verdict } = known;
  const buttons = VERDICTS.map((each) =>
    h(
      "button",
      {
        type: "button",
        class: "choice",
        "aria-pressed": String(each === verdict),
        onclick: () => {
          verdict = each;
          remember(claim.name, { verdict });
          for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset["verdict"] === each));
          replace(open, "Show the result");
        },
        dataset: { verdict: each },
      },
      h("b", null, each),
      h("span", null, MEANS[/** @type {keyof typeof MEANS} */ (each)]),
    ),
  );
  const open = h(
    "button",
    { type: "button", class: "button primary", onclick: () => (remember(claim.name, { seen: true }), reveal()) },
    verdict ? "Show the result" : "Show without a guess",
  );
  return h(
    "section",
    { class: "guess", "aria-labelledby": "guess-title" },
    h("h2", { id: "guess-title" }, "Predict first"),
    h("p", null, "By the criterion above, what do the numbers say?"),
    h("div", { class: "choices", role: "group", "aria-label": "Verdict" }, buttons),
    slider(claim, known.number),
    open,
  );
}

/** @param {Claim} claim @param {number | undefined} number */
function slider(claim, number) {
  const range = claim.scale;
  const start = number === undefined ? 0.5 : shareOf(range, number);
  const output = h("output", null, number === undefined ? "…" : written(number, 2));
  const field = h("input", {
    type: "range",
    min: 0,
    max: STEPS,
    value: Math.round(start * STEPS),
    "aria-label": `Your number: ${claim.measures}`,
    oninput: () => {
      const value = +valueAt(range, Number(field.value) / STEPS).toPrecision(2);
      remember(claim.name, { number: value });
      replace(output, written(value, 2));
      field.setAttribute("aria-valuetext", written(value, 2));
    },
  });
  return h(
    "div",
    { class: "guess-number" },
    h("p", null, "And the number? ", output, ` ${claim.measures}.`),
    h(
      "div",
      { class: "guess-slider" },
      h("span", { class: "quiet" }, written(range.least)),
      field,
      h("span", { class: "quiet" }, written(range.most)),
    ),
  );
}
