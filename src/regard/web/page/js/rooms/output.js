/** The translation, a button for each word; below it the truth if there is one, and how else it could be said. */

import { diff } from "../bench/diff.js";
import { isSpecial, percent, short, spoken, tight, unit, wordAt } from "../bench/answer.js";
import { bestHead } from "../bench/selection.js";
import { h } from "../dom.js";
import { refill } from "./refill.js";

/** @typedef {import("../bench/scene.js").Scene} Scene */
/** @typedef {import("../bench/bench.js").AnswerHands} Hands */

/** @param {HTMLElement} host @param {Hands} hands @param {string} [label] */
export function output(host, hands, label = "Translation") {
  const words = h("div", { class: "output", role: "group", "aria-label": label });
  const notes = h("div", { class: "others" });
  host.append(words, notes);
  /** @type {Scene | null} */
  let shown = null;
  return {
    /** @param {Scene} scene */
    show(scene) {
      shown = scene;
      refill(words, ...written(scene, hands));
      const open = notes.querySelector("details")?.open ?? false;
      refill(notes, ...truth(scene, hands), others(scene, open));
    },
    /** Show which word is pointed at elsewhere. @param {import("../views/view.js").Mark | null} mark */
    mark(mark) {
      const target = shown?.selection?.attention.rows === "target";
      const row = target ? mark?.row : undefined;
      const word = shown?.state.merge === "words" ? row : wordAt(shown?.result.axes["target"], row);
      words.querySelectorAll("button.said").forEach((button, i) => button.classList.toggle("glow", i === word));
    },
  };
}

/** What an edit changed stands out against the answer without it. @param {Scene} scene @param {Hands} hands */
function written(scene, hands) {
  const labels = said(scene.result);
  const before = scene.edits.length && scene.plain ? said(scene.plain) : null;
  if (!labels.length && !before?.length) return [h("span", { class: "quiet" }, "The model wrote nothing.")];
  if (!before) return joined(labels.map((label, i) => word(scene, hands, label, i)));
  let i = 0;
  const changes = diff(before, labels);
  const same = changes.every(({ change }) => change === "same");
  return [
    ...joined(
      changes.map(({ change, text }) =>
        change === "gone" ? h("del", null, text) : word(scene, hands, text, i++, change === "new"),
      ),
    ),
    h("span", { class: "verdict" }, same ? "unchanged" : "changed"),
  ];
}

/** Punctuation stays on the line of the word before it. @param {HTMLElement[]} words */
function joined(words) {
  /** @type {HTMLElement[][]} */
  const lines = [];
  for (const each of words) {
    if (each.classList.contains("tight") && lines.length) lines.at(-1)?.push(each);
    else lines.push([each]);
  }
  return lines.map((some) => (some.length > 1 ? h("span", { class: "said-together" }, some) : some[0]));
}

/** Without the stop behind it. @param {import("../bench/answer.js").Answer} result */
function said({ axes }) {
  const labels = spoken(axes["target"]);
  return isSpecial(labels.at(-1) ?? "") ? labels.slice(0, -1) : labels;
}

/** @param {Scene} scene @param {Hands} hands @param {string} label @param {number} i @param {boolean} [fresh] */
function word({ state, result, selection }, { change, point }, label, i, fresh = false) {
  const axis = result.axes["target"];
  const selectable = selection?.attention.rows === "target";
  const at = state.merge === "words" ? state.at.row : wordAt(axis, state.at.row);
  const row = unit(state.merge, axis, i);
  return h(
    "button",
    {
      type: "button",
      class: `said${fresh ? " fresh" : ""}${tight(label) ? " tight" : ""}`,
      "aria-pressed": String(selectable && at === i),
      disabled: !selectable,
      onpointerenter: () => selectable && point({ row }),
      onpointerleave: () => point(null),
      onclick: () => change({ at: at === i ? null : { row } }),
    },
    label,
  );
}

/** How far heads look past the true alignment. @param {Scene} scene @param {Hands} hands */
function truth({ result, selection }, { change }) {
  const { gold } = result.output;
  if (!gold) return [];
  const errors = gold.error[selection?.attention.name ?? ""];
  const one = selection?.heads.length === 1 ? selection.heads[0] : undefined;
  const best = bestHead(result);
  const source = result.axes["source"];
  const tag = source?.kind === "words" && source.special?.[0] ? spoken(source)[0] : "";
  return [
    errors &&
      one &&
      h("span", { class: "note" }, "Alignment error of this head ", h("b", null, percent(errors[one.head]))),
    tag &&
      errors &&
      h(
        "span",
        { class: "note" },
        "A word that looks most at the language tag ",
        h("b", null, tag),
        " counts as an error.",
      ),
    best &&
      h(
        "button",
        { type: "button", class: "chip", onclick: () => change({ look: `${best.name}:${best.head}` }) },
        `best head: ${short(result, best.name)}, head ${best.head + 1}, ${percent(best.error)}`,
      ),
    !gold.matches && h("span", { class: "note" }, "The reference says “", h("b", null, gold.text), "”"),
  ];
}

/** @param {Scene} scene @param {boolean} open */
function others({ result, small }, open) {
  const more = /** @type {{text: string, score: number}[]} */ (result.output.outputs.slice(1));
  if (!more.length || small) return null;
  const items = more.map(({ text, score }) =>
    h("li", null, text, h("span", { class: "quiet" }, ` ${score.toFixed(2).replace("-", "−")}`)),
  );
  const title = `${more.length} other ${more.length > 1 ? "ways" : "way"} to say it`;
  return h("details", { class: "nbest", open }, h("summary", null, title), h("ol", { start: 2 }, items));
}
