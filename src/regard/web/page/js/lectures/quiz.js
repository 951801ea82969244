/** A question of the lecture: choose an answer, then see which one is right, and why. */

import { h, replace } from "../dom.js";
import { answer, answers } from "./memory.js";

/** @typedef {{asks: string, choices: string[], right: number, because: string}} Quiz */

const LETTERS = "ABCDE";
const SHOWN = -1; // revealed without a guess

/** @param {Quiz} quiz @param {string} place its name in the browser's memory @param {() => void} changed */
export function asked(quiz, place, changed) {
  const root = h("div", { class: "quiz" });
  /** @param {number | null} choice */
  const keep = (choice) => {
    answer(place, choice);
    draw();
    changed();
    const next = root.querySelector(choice === null ? ".quiz-choice" : ".quiz-again");
    if (next instanceof HTMLElement) next.focus();
  };
  const draw = () => {
    const chosen = answers()[place];
    const open = chosen !== undefined;
    replace(
      root,
      h("p", { class: "quiz-asks" }, quiz.asks),
      h(
        "div",
        { class: "quiz-choices", role: "group", "aria-label": quiz.asks },
        quiz.choices.map((text, i) => choice(text, i, open ? judged(quiz, i, chosen) : null, () => keep(i))),
      ),
      open ? reason(quiz, chosen, () => keep(null)) : link("Show the answer", "quiz-show", () => keep(SHOWN)),
    );
  };
  draw();
  return root;
}

/** @param {Quiz} quiz @param {number} i @param {number} chosen @returns {"right" | "wrong" | "other"} */
const judged = (quiz, i, chosen) => (i === quiz.right ? "right" : i === chosen ? "wrong" : "other");

/** @param {string} text @param {number} i @param {"right" | "wrong" | "other" | null} state @param {() => void} run */
function choice(text, i, state, run) {
  const told = { right: " (right)", wrong: " (your answer)", other: "" };
  return h(
    "button",
    { type: "button", class: `quiz-choice ${state ?? ""}`, disabled: state !== null, onclick: run },
    h(
      "span",
      { class: "quiz-letter", "aria-hidden": "true" },
      state === "right" ? "✓" : state === "wrong" ? "×" : LETTERS[i],
    ),
    h("span", null, text, state && h("span", { class: "unseen" }, told[state])),
  );
}

/** @param {Quiz} quiz @param {number} chosen @param {() => void} again */
function reason(quiz, chosen, again) {
  const said = chosen === SHOWN ? "" : chosen === quiz.right ? "Right. " : "Not quite. ";
  return h(
    "p",
    { class: "quiz-because", role: "status" },
    said && h("b", null, said),
    `${quiz.because} `,
    link("Ask again", "quiz-again", again),
  );
}

/** @param {string} text @param {string} name @param {() => void} run */
const link = (text, name, run) => h("button", { type: "button", class: `link ${name}`, onclick: run }, text);
