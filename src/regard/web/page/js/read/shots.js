/** Few-shot prompts: examples in front of the question, as lines `input → label`; on or off, with labels shuffled. */

import { h } from "../dom.js";
import { pick } from "../rooms/pick.js";
import { refill } from "../rooms/refill.js";

/** @typedef {import("../state.js").Flat} Flat */
/** @typedef {{input: string, label: string}} Shot */
/** How a shot is written, and what stands between two. @typedef {{id: string, title: string, ask: (input: string) => string, gap: string, lead: string}} Form */
/** @typedef {{shots: Shot[], on: boolean, mixed: boolean, form: Form, text: string}} Shots */

/** @type {Form[]} */
const FORMS = [
  { id: "plain", title: "input label", ask: (input) => input, gap: " ", lead: " " },
  { id: "arrow", title: "input → label, a line each", ask: (input) => `${input} →`, gap: "\n", lead: " " },
  { id: "named", title: "Input: … Output: …", ask: (input) => `Input: ${input}\nOutput:`, gap: "\n\n", lead: " " },
];
/** Something that can be asked of any model, and of one that knows only the little world. */
const EXAMPLES = {
  any: {
    shots: "a wonderful film → good\na waste of time → bad\nI loved every minute → good\ndull and far too long → bad",
    form: "arrow",
    in: "t:what a lovely story",
  },
  world: {
    shots:
      "A dax is a red star. A wug is a blue ring. Which kind is a dax? → star\n" +
      "A kiv is a big square. A mox is a green disc. Which kind is a mox? → disc\n" +
      "A zup is a small square. A gorp is a red ring. Which kind is a zup? → square",
    form: "plain",
    in: "t:A lorp is a plain star. A blick is a blue square. Which kind is a blick?",
  },
};

/** @param {Flat} flat @returns {Shots} */
export function readShots(flat) {
  const text = String(flat["shots"] ?? "");
  const shots = text.split("\n").flatMap((line) => {
    const [input, label] = line.split(/\s*(?:→|->|=>)\s*/);
    return input?.trim() && label?.trim() ? [{ input: input.trim(), label: label.trim() }] : [];
  });
  const form = FORMS.find(({ id }) => id === flat["form"]) ?? /** @type {Form} */ (FORMS[1]);
  return { shots, on: flat["use"] !== "off", mixed: flat["mixed"] === "1", form, text };
}

/** Each example with the label of the next one that has another. @param {Shot[]} shots @returns {Shot[]} */
export function shuffled(shots) {
  return shots.map((shot, i) => {
    const others = [...shots.slice(i + 1), ...shots.slice(0, i)];
    return { ...shot, label: (others.find(({ label }) => label !== shot.label) ?? shot).label };
  });
}

/** @param {Shots} all @param {string} question @param {{on: boolean, mixed: boolean}} [how] */
export function prompt({ shots, form, ...now }, question, how = now) {
  const shown = !how.on ? [] : how.mixed ? shuffled(shots) : shots;
  return [...shown.map(({ input, label }) => form.ask(input) + form.lead + label), form.ask(question)].join(form.gap);
}

/** The labels as they would follow the question. @param {Shots} all */
export const choices = ({ shots, form }) => [...new Set(shots.map(({ label }) => form.lead + label))].slice(0, 8);

/** The editor. @param {HTMLElement} host @param {(patch: Flat, undo?: boolean | string) => void} set */
export function editor(host, set) {
  let timer = 0;
  const field = h("textarea", {
    class: "shots-lines",
    rows: 4,
    spellcheck: "false",
    "aria-label": "Examples, one a line: input → label",
    placeholder: "a wonderful film → good",
    oninput: () => {
      clearTimeout(timer);
      timer = window.setTimeout(() => set({ shots: field.value, at: "" }, "shots"), 400);
    },
  });
  const options = h("div", { class: "shots-options" });
  const root = h(
    "details",
    { class: "shots" },
    h("summary", null, "Few-shot prompt: examples in front of the text"),
    field,
    options,
  );
  host.append(root);
  return {
    /** @param {Flat} flat @param {import("../bench/answer.js").Model} model */
    show(flat, model) {
      const now = readShots(flat);
      if (now.text) root.open = true;
      if (document.activeElement !== field && field.value !== now.text) field.value = now.text;
      const example = model["data"] === "world" ? EXAMPLES.world : EXAMPLES.any;
      const button = (/** @type {string} */ text, /** @type {Flat} */ patch) =>
        h(
          "button",
          { type: "button", class: "button small", onclick: () => set({ at: "", tok: "", w: "", ...patch }) },
          text,
        );
      refill(
        options,
        !now.text && button("Fill in examples", { ...example, use: "", mixed: "" }),
        now.text && check("examples on", now.on, (on) => set({ use: on ? "" : "off", at: "", tok: "", w: "" })),
        now.text && check("labels shuffled", now.mixed, (on) => set({ mixed: on ? "1" : "", at: "", tok: "", w: "" })),
        now.text && pick("written as", FORMS.map(({ id, title }) => [id, title]), now.form.id, (form) => set({ form, at: "", tok: "", w: "" })), // prettier-ignore
        now.text && button("Leave the examples", { shots: "", use: "", mixed: "", form: "" }),
      );
    },
    destroy: () => clearTimeout(timer),
    root,
  };
}

/** @param {string} label @param {boolean} checked @param {(on: boolean) => void} run */
function check(label, checked, run) {
  const box = h("input", { type: "checkbox", checked, onchange: () => run(box.checked) });
  return h("label", { class: "check" }, box, label);
}
