/** Under the input: what the models know, sentences to begin with, what the link did not get, and what to be careful with. */

import { h, replace } from "../dom.js";

/** @typedef {import("./answer.js").Answer} Answer */
/** @typedef {import("./answer.js").Model} Model */
/** @typedef {import("./answer.js").Warning} Warning */

/** @param {HTMLElement} host @param {(example: string, model: Model) => void} take @param {(example: string) => string} [called] what a chip says */
export function honest(host, take, called = (example) => example) {
  const knows = h("p", { class: "knows" });
  const notices = h("div", { class: "notices", role: "status" });
  const warnings = h("div", { class: "warnings", role: "status" });
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  host.append(notices, problem, warnings, knows);
  return {
    /** @param {Model[]} models @param {string} now what is asked, which needs no chip */
    about(models, now) {
      const [first] = models;
      const said = [...new Set(models.map(knowing).filter(Boolean))];
      const examples = /** @type {unknown[]} */ (first?.["examples"] ?? []).map(String).filter((each) => each !== now);
      replace(
        knows,
        said.join(" "),
        examples.length > 0 && " Try ",
        examples
          .slice(0, 4)
          .map((each) =>
            h(
              "button",
              { type: "button", class: "chip example", onclick: () => take(each, first ?? {}) },
              called(each),
            ),
          ),
      );
      knows.hidden = !said.length && !examples.length;
    },
    /** What the link asked for and did not get. @param {string[]} said */
    notice(said) {
      const close = h(
        "button",
        { type: "button", class: "icon small", "aria-label": "Close", onclick: () => replace(notices) },
        "×",
      );
      replace(
        notices,
        said.length > 0 &&
          h(
            "div",
            { class: "notice" },
            said.map((each) => h("p", null, each)),
            close,
          ),
      );
    },
    /** @param {Answer[]} answers */
    warn(answers) {
      /** @type {Map<string, Warning>} */
      const all = new Map(answers.flatMap(({ warnings: some }) => some ?? []).map((each) => [each.text, each]));
      const key = [...all.keys()].join();
      if (warnings.dataset["said"] === key) return; // it is said once
      warnings.dataset["said"] = key;
      replace(
        warnings,
        [...all.values()].map(({ text, words }) => h("p", { class: "warning" }, text, marked(text, words))),
      );
    },
    /** Why nothing was asked. @param {string} why */
    refuse(why) {
      problem.hidden = !why;
      replace(problem, why);
    },
  };
}

/** Words that the sentence does not name itself. @param {string} text @param {string[] | undefined} words */
function marked(text, words) {
  const rest = (words ?? []).filter((word) => !text.includes(word));
  return rest.flatMap((word, i) => [i ? ", " : " ", h("mark", null, word)]);
}

/** @param {Model} model */
function knowing(model) {
  const { knows, takes, gives } = model;
  const parts = [knows && `Knows ${knows}`, takes && `takes ${takes}`, gives && `gives ${gives}`].filter(Boolean);
  return parts.length ? `${parts.join("; ")}.` : "";
}
