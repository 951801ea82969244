/** The runs, and the curves that models kept of theirs, each with a box that shows and hides it; and how to start the first one. */

import { command } from "../claims/command.js";
import { hue } from "../color.js";
import { h, replace } from "../dom.js";
import { refill } from "../rooms/refill.js";
import { plain } from "../views/chart_scale.js";

/** @typedef {import("./history.js").Run} Run */
/** @typedef {import("./history.js").History} History */

const FIRST = "regard train translate --steps 300";

/** @param {HTMLElement} place @param {History} history @param {string[]} chosen @param {(names: string[]) => void} choose */
export function showList(place, history, chosen, choose) {
  const shown = (/** @type {Run} */ run) => {
    const on = chosen.includes(run.name);
    const toggle = () => choose(history.names.filter((name) => (name === run.name ? !on : chosen.includes(name))));
    const colour = hue(history.runs.indexOf(run));
    return entry(run, { on, colour, problem: history.failed.get(run.name) ?? run.problem, toggle });
  };
  const kept = history.runs.filter(({ model }) => model);
  refill(
    place,
    history.own.length > 0 && [h("h2", null, "Trainings"), ...history.own.map(shown)],
    kept.length > 0 && [h("h2", null, "How models were trained"), ...kept.map(shown)],
  );
}

/** @param {Run} run @param {{on: boolean, colour: string, problem: string | null, toggle: () => void}} look */
function entry({ name, alive, recipe, step, steps, minutes }, { on, colour, problem, toggle }) {
  const length = typeof steps === "number" && steps > 0 ? steps : null;
  const facts = [
    recipe,
    `step ${plain(step)}${length ? ` of ${plain(length)}` : ""}`,
    Number.isFinite(minutes) && `${minutes} min`,
  ];
  return h(
    "label",
    { class: `run${on ? " on" : ""}`, style: { "--hue": colour } },
    h("input", { type: "checkbox", checked: on, onchange: toggle }),
    h("i", { class: "swatch", style: { "--hue": on ? colour : "var(--line)" } }),
    h("span", { class: "run-name" }, name, alive && h("span", { class: "alive" }, "live")),
    h("span", { class: "quiet" }, facts.filter(Boolean).join(" · ")),
    problem && h("span", { class: "problem" }, problem),
    length && h("progress", { max: length, value: Math.min(step, length), "aria-label": `${name}: progress` }),
  );
}

/** @param {HTMLElement} place @param {(message: string, kind?: "note" | "error") => void} toast */
export function showStart(place, toast) {
  if (place.querySelector(".first-run")) return; // it stays as it is, with what is marked in it
  replace(
    place,
    h(
      "section",
      { class: "first-run" },
      h("h2", null, "No runs of your own yet"),
      h(
        "p",
        null,
        "Start a training in a terminal, in the folder where this explorer was started. Its curves grow here while it learns.",
      ),
      command(FIRST, toast),
      h(
        "p",
        { class: "quiet" },
        "A run is a folder in runs; ",
        h("code", null, "regard explore --runs FOLDER"),
        " shows those of another folder.",
      ),
    ),
  );
}
