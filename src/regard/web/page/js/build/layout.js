/** The parts of the room, before a step fills them: the way along the top, the lesson, the stage. */

import { h } from "../dom.js";
import { symbol } from "./equation.js";
import { ROLES, STEPS } from "./lesson.js";

/** @typedef {import("./lesson.js").Step} Step */
/**
 * @typedef {object} Acts
 * @property {(id: string) => void} walk
 * @property {(by: number) => void} hop
 * @property {(name: "words" | "other", text: string) => void} rewrite
 * @property {() => void} shuffle
 * @property {() => void} reset
 */
/** @typedef {ReturnType<typeof layout>} Layout */

/** @param {Acts} acts */
export function layout(acts) {
  const links = STEPS.map((step, i) => link(step, i, acts));
  const parts = {
    links,
    title: h("h1", { tabindex: -1 }),
    count: h("p", { class: "count" }),
    says: h("p", { class: "says" }),
    roles: h("dl", { class: "roles" }),
    formula: h("div", { class: "formula" }),
    worked: h("p", { class: "worked", "aria-live": "off" }),
    trying: h("div", { class: "trying" }),
    code: h("div", { class: "code" }),
    back: h("button", { class: "button", onclick: () => acts.hop(-1) }, "← Back"),
    next: h("button", { class: "button primary", onclick: () => acts.hop(1) }, "Next →"),
    sentence: field("The sentence", (text) => acts.rewrite("words", text)),
    other: field("The sentence that asks", (text) => acts.rewrite("other", text)),
    otherLine: h("label", { class: "sentence-line" }, h("span", null, "asks")),
    note: h("p", { class: "quiet note", role: "status" }),
    sentences: h("div", { class: "sentences" }),
    floor: h("div", { class: "floor" }),
  };
  parts.otherLine.append(parts.other);
  parts.sentences.append(
    parts.otherLine,
    h(
      "div",
      { class: "sentence-line" },
      h("label", null, h("span", null, "reads"), parts.sentence),
      h("button", { class: "button", onclick: acts.shuffle, title: "Change the order of the words (s)" }, "Shuffle"),
      h("button", { class: "button", onclick: acts.reset, title: "The numbers of the lecture again (r)" }, "Reset"),
    ),
    parts.note,
  );
  return parts;
}

/** @param {Layout} parts */
export function assembled(parts) {
  return [
    h("nav", { class: "steps", "aria-label": "Steps" }, h("ol", null, parts.links)),
    h(
      "div",
      { class: "lesson" },
      h(
        "section",
        { class: "words", "aria-label": "Explanation" },
        parts.count,
        parts.title,
        parts.says,
        parts.roles,
        h("div", { class: "card" }, parts.formula, parts.worked),
        parts.trying,
        h("div", { class: "walk" }, parts.back, parts.next),
      ),
      h("section", { class: "stage", "aria-label": "Live numbers" }, parts.sentences, parts.floor, parts.code),
    ),
  ];
}

/** What query, key and value are for, in their colours. @param {Step} step */
export function roles(step) {
  return (step.roles ?? []).flatMap((role) => [
    h("dt", { class: role }, ROLES[role].name, " ", symbol(role, role)),
    h("dd", null, `${ROLES[role].is}.`),
  ]);
}

/** @param {Step} step @param {number} i @param {Acts} acts */
function link(step, i, acts) {
  return h(
    "li",
    null,
    h(
      "button",
      { onclick: () => acts.walk(step.id) },
      h("span", { class: "dot" }, i + 1),
      h("span", { class: "step-name" }, step.name),
    ),
  );
}

/** @param {string} name @param {(text: string) => void} write */
function field(name, write) {
  const input = h("input", {
    class: "sentence",
    "aria-label": name,
    maxlength: 80,
    spellcheck: "false",
    autocomplete: "off",
    oninput: () => write(input.value),
  });
  return input;
}
