/** One claim: its sentence, how it was put to the test, a guess, and what was found. */

import { h, replace } from "../dom.js";
import { command } from "./command.js";
import * as figure from "../plot/figure.js";
import { asking, shareOf } from "./guess.js";
import { badge, named } from "./list.js";
import { guessed } from "./memory.js";
import { written } from "../plot/scale.js";

/**
 * A claim as the server tells it.
 * @typedef {object} Claim
 * @property {string} name
 * @property {string} deck
 * @property {string[]} decks
 * @property {string} sentence
 * @property {string} experiment
 * @property {string} control
 * @property {string} criterion
 * @property {string} measures
 * @property {string} command
 * @property {import("./guess.js").Range} scale
 * @property {string | null} verdict
 * @property {number | null} number
 * @property {[number, number] | null} interval
 * @property {string | null} summary
 * @property {string | null} text
 * @property {string | null} conditions
 * @property {import("../plot/figure.js").Facts | null} [figure]
 * @property {unknown} [numbers]
 */
/** @typedef {import("../app.js").Context} Context */

/** @param {HTMLElement} host @param {Claim} claim @param {{open: boolean, reveal: () => void, back: string, toast: Context["toast"]}} setting */
export function show(host, claim, { open, reveal, back, toast }) {
  const result = h("div", { class: "claim-result" });
  replace(
    host,
    h("a", { class: "claims-back", href: back }, "← All claims"),
    h("p", { class: "quiet" }, claim.deck),
    h("h1", { tabindex: -1 }, named(claim.name)),
    h("blockquote", null, claim.sentence),
    h(
      "dl",
      { class: "claim-test" },
      [
        ["Experiment", claim.experiment],
        ["Control", claim.control],
        ["Criterion", claim.criterion],
      ].flatMap(([name, text]) => [h("dt", null, name), h("dd", null, text)]),
    ),
    open ? null : asking(claim, reveal),
    result,
  );
  const drawn = open ? found(result, claim, toast) : null;
  return { figure: drawn, destroy: () => drawn?.destroy() };
}

/** @param {HTMLElement} host @param {Claim} claim @param {Context["toast"]} toast */
function found(host, claim, toast) {
  const picture = h("div");
  replace(
    host,
    h(
      "section",
      { class: "finding", "aria-labelledby": "finding-title" },
      h(
        "h2",
        { id: "finding-title" },
        badge(claim.verdict),
        claim.summary && h("span", { class: "finding-number" }, claim.summary.replaceAll("-", "−")),
        claim.summary && h("span", { class: "finding-measures" }, claim.measures),
      ),
      !claim.verdict &&
        h("p", null, "Nobody has run this experiment here yet. The command below runs it, and keeps what it finds."),
      claim.verdict && compared(claim),
      claim.verdict && strip(claim),
      claim.text && h("p", { class: "finding-text" }, claim.text),
    ),
    picture,
    claim.conditions && h("p", { class: "quiet" }, claim.conditions),
    command(claim.command, toast),
  );
  return claim.figure ? figure.create(picture, claim.figure) : null;
}

/** What was guessed beside what was found. @param {Claim} claim */
function compared(claim) {
  const { verdict, number } = guessed(claim.name);
  if (!verdict && number === undefined) return null;
  const said = [verdict, number === undefined ? "" : written(number, 2)].filter(Boolean).join(", ");
  const inside =
    number !== undefined && claim.interval && number >= claim.interval[0] && number <= claim.interval[1]
      ? " Your number lies within the interval."
      : "";
  return h(
    "p",
    { class: "compared" },
    `You said: ${said}. `,
    verdict && (verdict === claim.verdict ? "The verdict is right." : `The verdict is another: ${claim.verdict}.`),
    inside,
  );
}

/** The number with its interval on a line, and the guess above it. @param {Claim} claim */
function strip(claim) {
  const { number } = guessed(claim.name);
  const range = claim.scale;
  const at = (/** @type {number} */ value) => `${(100 * shareOf(range, value)).toFixed(2)}%`;
  const [low, high] = claim.interval ?? [0, 0];
  const zero = range.kind === "log" ? 1 : 0;
  const rule = zero > range.least && zero < range.most;
  return h(
    "div",
    {
      class: "guess-strip",
      role: "img",
      "aria-label": `${written(claim.number)}, interval ${written(low)} to ${written(high)}`,
    },
    h("div", {
      class: "strip-interval",
      style: { left: at(low), width: `calc(${at(high)} - ${at(low)})` },
    }),
    rule && h("div", { class: "strip-zero", style: { left: at(zero) } }, h("span", null, String(zero))),
    h("div", { class: "strip-number", style: { left: at(claim.number ?? 0) } }),
    number !== undefined && h("div", { class: "strip-guess", style: { left: at(number) } }, h("span", null, "you")),
    h("span", { class: "strip-end" }, written(range.least)),
    h("span", { class: "strip-end last" }, written(range.most)),
  );
}
