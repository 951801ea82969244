/** The translation, a button for each word; below it what was done to the model and how else it could be said. */

import { h, replace } from "../dom.js";
import { bestHead, chosen, isSpecial, percent, short, spoken, tight, unit, wordOf } from "./answer.js";
import { diff } from "./diff.js";
import { refill } from "./refill.js";

/** @typedef {import("./answer.js").Attention} Attention */
/** @typedef {import("./answer.js").Edit} Edit */
/** @typedef {import("./answer.js").Result} Result */
/** @typedef {import("./look.js").Wish} Wish */
/**
 * @typedef {object} Hands
 * @property {(patch: {look?: string, word?: number | null, edits?: Edit[]}) => void} change
 * @property {(mark: {row: number} | null) => void} point at a word of the output
 */

/** @param {HTMLElement} host @param {Hands} hands */
export function create(host, { change, point }) {
  const output = h("div", { class: "output", role: "group", "aria-label": "Translation" });
  const others = h("div", { class: "others" });
  host.append(output, others);

  /** What an edit changed stands out against the answer without it.
   * @param {Wish} wish @param {Result} now @param {Result | null} plain @param {Attention | null} attention */
  function write(wish, now, plain, attention) {
    const said = now.axes["target"];
    const labels = said ? said.words.map((_, i) => spoken(said, i)) : [];
    const end = labels.length && isSpecial(labels.at(-1) ?? "") ? labels.length - 1 : labels.length;
    const row = wish.merge === "words" ? wish.word : wordOf(said, wish.word);
    const selectable = attention?.rows === "target";
    const word = (/** @type {number} */ i, fresh = false) =>
      h(
        "button",
        {
          type: "button",
          class: `said${fresh ? " fresh" : ""}${tight(labels[i] ?? "") ? " tight" : ""}`,
          "aria-pressed": String(selectable && row === i),
          disabled: !selectable,
          onpointerenter: () => selectable && point({ row: i }),
          onpointerleave: () => point(null),
          onclick: () => change({ word: row === i ? null : unit(wish.merge, said, i) }),
        },
        labels[i] ?? "",
      );
    const before = plain?.axes["target"];
    if (wish.edits.length && before) {
      const old = before.words.map((_, i) => spoken(before, i)).filter((each) => !isSpecial(each));
      let i = 0;
      const changes = diff(old, labels.slice(0, end));
      const same = changes.every((each) => each.change === "same");
      refill(
        output,
        changes.map((each) => (each.change === "gone" ? h("del", null, each.text) : word(i++, each.change === "new"))),
        h("span", { class: "verdict" }, same ? "unchanged" : "changed"),
      );
    } else if (!end) replace(output, h("span", { class: "quiet" }, "The model wrote nothing."));
    else
      refill(
        output,
        Array.from({ length: end }, (_, i) => word(i)),
      );
    notes(wish, now, attention);
  }

  /** @param {Wish} wish @param {Result} now @param {Attention | null} attention */
  function notes(wish, now, attention) {
    const more = now.outputs.slice(1);
    const best = bestHead(now);
    const errors = attention && now.gold?.error[attention.name];
    const head = attention && chosen(now, wish.look)?.head;
    const open = others.querySelector("details")?.open ?? false;
    refill(
      others,
      wish.edits.length > 0 &&
        h(
          "span",
          { class: "chips" },
          wish.edits.map((edit) =>
            h(
              "button",
              {
                type: "button",
                class: "chip",
                title: "Take this back",
                onclick: () => change({ edits: wish.edits.filter((each) => each !== edit) }),
              },
              `${short(now, edit.name)}, head ${edit.head + 1} ${edit.kind} ✕`,
            ),
          ),
          h("button", { type: "button", class: "chip strong", onclick: () => change({ edits: [] }) }, "Reset"),
        ),
      now.gold &&
        errors &&
        typeof head === "number" &&
        h("span", { class: "note" }, "Alignment error of this head ", h("b", null, percent(errors[head]))),
      best &&
        now.gold &&
        h(
          "button",
          { type: "button", class: "chip", onclick: () => change({ look: `${best.name}:${best.head}` }) },
          `best head: ${short(now, best.name)}, head ${best.head + 1}, ${percent(best.error)}`,
        ),
      now.gold &&
        !now.gold.matches &&
        h("span", { class: "note" }, "The reference says “", h("b", null, now.gold.text), "”"),
      more.length > 0 &&
        !wish.small &&
        h(
          "details",
          { class: "nbest", open },
          h("summary", null, `${more.length} other ${more.length > 1 ? "ways" : "way"} to say it`),
          h(
            "ol",
            { start: 2 },
            more.map((each) =>
              h("li", null, each.text, h("span", { class: "quiet" }, ` ${each.score.toFixed(2).replace("-", "−")}`)),
            ),
          ),
        ),
      h(
        "span",
        { class: "quiet seconds" },
        `${now.seconds < 0.95 ? `${Math.round(now.seconds * 1000)} ms` : `${now.seconds.toFixed(1)} s`}`,
      ),
    );
  }

  /** Show which word is pointed at elsewhere. @param {number | undefined} mark */
  function glow(mark) {
    output.querySelectorAll("button.said").forEach((button, i) => button.classList.toggle("glow", i === mark));
  }

  /** @param {unknown} error */
  function fail(error) {
    replace(others);
    replace(output, h("p", { class: "problem", role: "alert" }, error instanceof Error ? error.message : String(error)));
  }

  return { write, glow, fail };
}
