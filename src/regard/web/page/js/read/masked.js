/** What a BERT answers: click a word to hide it, and see what is guessed, how likely the word itself is, and what edits change. */

import { h } from "../dom.js";
import { refill } from "../rooms/refill.js";
import { hiddenOf, textOf, wordsOf } from "./asking.js";
import { bars, compared, moved, percent } from "./bars.js";

/** @typedef {import("../bench/scene.js").Scene} Scene */
/** @typedef {import("../bench/bench.js").AnswerHands} Hands */
/** @typedef {import("./asking.js").Word} Word */
/** @typedef {{place: number, guesses: [string, number][], own: [word: string, chance: number, rank: number] | null}} Blank */
/** A hidden word and the pieces that it hides. @typedef {{word: Word, index: number, blanks: Blank[], before: (Blank | undefined)[]}} Hidden */

/** @param {HTMLElement} host @param {Hands} hands */
export function masked(host, hands) {
  const words = h("div", { class: "output masked", role: "group", "aria-label": "Words: click one to hide it" });
  const blanks = h("div", { class: "blanks" });
  const hint = h("p", { class: "quiet" });
  host.append(words, hint, blanks);
  /** @type {Hidden[]} */
  let shown = [];
  return {
    /** @param {Scene} scene */
    show(scene) {
      shown = gathered(scene);
      refill(words, ...line(scene, shown, hands));
      refill(hint, said(shown));
      refill(blanks, ...shown.map((each) => guesses(each, scene, hands)));
    },
    table: () => ({
      columns: ["hidden word", "guess", "probability"],
      rows: shown.flatMap(({ word, blanks: some }) =>
        some.flatMap((blank) => blank.guesses.map(([guess, chance]) => [word.text, guess, chance])),
      ),
    }),
  };
}

/** @param {Hidden[]} shown */
function said(shown) {
  if (!shown.length) return "Click a word to hide it: the model guesses it from all the others.";
  return "While a word can be seen there is nothing to guess; hidden, its own probability says how much the rest gives it away.";
}

/** Which blanks belong to which word of the text. @param {Scene} scene @returns {Hidden[]} */
function gathered({ result, plain, state, edits }) {
  const hidden = hiddenOf(state);
  const all = /** @type {Blank[]} */ (result.output.blanks ?? []);
  const before = edits.length ? /** @type {Blank[]} */ (plain?.output.blanks ?? []) : [];
  let place = 0;
  return wordsOf(textOf(state)).flatMap((word, index) => {
    if (!word.typed && !hidden.has(index)) return [];
    const from = place++;
    // A word of several pieces hides several places, until its letters are full.
    let letters = all[from]?.own?.[0].replace("##", "").trim().length ?? word.text.length;
    while (!word.typed && letters < word.text.length && all[place]?.own)
      letters += (all[place++]?.own?.[0] ?? "").replace("##", "").trim().length;
    return [{ word, index, blanks: all.slice(from, place), before: before.slice(from, place) }];
  });
}

/** @param {Scene} scene @param {Hidden[]} shown @param {Hands} hands */
function line({ state }, shown, { set }) {
  const text = textOf(state);
  const hidden = hiddenOf(state);
  let end = 0;
  return wordsOf(text).flatMap((word, index) => {
    const gap = text.slice(end, word.from);
    end = word.to;
    const one = shown.find((each) => each.index === index);
    const toggle = () => {
      const next = new Set(hidden);
      if (!next.delete(index)) next.add(index);
      set({ mask: [...next].sort((a, b) => a - b).join(","), at: "" }, "mask");
    };
    const button = h(
      "button",
      {
        type: "button",
        class: `said${one ? " hidden-word" : ""}${gap || !index ? "" : " tight"}`,
        "aria-pressed": String(Boolean(one)),
        disabled: word.typed,
        title: word.typed ? "A hidden word that the text itself has" : one ? "Show it again" : "Hide it",
        onclick: toggle,
      },
      one ? h("span", { class: "mask-sign" }, "[MASK]") : word.text,
      one && !word.typed ? h("s", null, word.text) : null,
    );
    return gap.includes("\t") ? [h("span", { class: "between", title: "second sentence" }, "‖"), button] : [button];
  });
}

/** @param {Hidden} one @param {Scene} scene @param {Hands} hands */
function guesses({ word, index, blanks, before }, { state, edits }, { set }) {
  const text = textOf(state);
  const put = (/** @type {string} */ guess) => () => {
    const rest = [...hiddenOf(state)].filter((each) => each !== index);
    set({ in: `t:${text.slice(0, word.from)}${guess}${text.slice(word.to)}`, mask: rest.join(","), at: "" });
  };
  const title = word.typed ? "Guesses" : `Instead of “${word.text}”`;
  return h(
    "section",
    { class: "blank", "aria-label": title },
    h("h3", null, title),
    blanks
      .map(({ guesses: some, own }, i) => {
        const known = edits.length ? before[i] : undefined;
        const all = compared(some, known?.guesses, 8);
        const single = blanks.length === 1;
        return [
          own && itself(own, known?.own ?? null),
          bars(
            all.map((bar) => ({
              ...bar,
              came: own?.[0] === bar.name,
              run: single && !bar.name.startsWith("##") ? put(bar.name) : undefined,
              title: single ? "Put it into the text" : "",
            })),
            title,
          ),
        ];
      })
      .flat(),
  );
}

/** @param {[string, number, number]} own @param {[string, number, number] | null} before */
function itself([word, chance, rank], before) {
  return h(
    "p",
    { class: "own-word" },
    "“",
    h("b", null, word),
    `” itself: ${percent(chance)}, `,
    rank === 0 ? "the first guess" : `${rank} ${rank === 1 ? "is" : "are"} likelier`,
    before ? " " : null,
    before ? moved(chance, before[1]) : null,
  );
}
