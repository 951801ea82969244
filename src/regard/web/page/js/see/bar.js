/** What is chosen above the picture: the view, its way, the truth, another model; and what the models know. */

import { h, replace } from "../dom.js";
import { pick } from "../rooms/pick.js";
import { refill } from "../rooms/refill.js";
import { MOST, TASKS, VIEWS, WAYS, cautions, examples, scene } from "./wishes.js";

/** @typedef {import("./wishes.js").Wishes} Wishes */
/** @typedef {(patch: import("../state.js").Flat) => void} Set */

/** @param {HTMLElement} host @param {Wishes} wishes @param {import("../app.js").Context["models"]["open"]} open the sheet of models @param {Set} set */
export function show(host, wishes, open, set) {
  const names = wishes.models.map((each) => String(each["name"]));
  const { view, rolled } = wishes;
  const beside = () => open(TASKS, (name) => set({ m: [...names.filter((each) => each !== name), name].join(",") }));
  const ways = WAYS.map(({ id, title }) => /** @type {[string, string]} */ ([id, title]));
  refill(
    host,
    segments(
      "View",
      VIEWS.map(({ id, title }) => ({ title, on: view === id, run: () => set({ as: id, how: "" }) })),
    ),
    view === "attention" &&
      segments("How", [
        { title: "Heads", on: !rolled, run: () => set({ how: "" }) },
        { title: "Rollout", on: rolled, run: () => set({ how: "rollout" }) },
      ]),
    view === "decides" && pick("by", ways, wishes.way, (how) => set({ how }), "Which map"),
    view === "attention" && !rolled && toggle("who looks at it", "by", wishes.by, set),
    scene(wishes.picture) !== null && toggle("show the truth", "truth", wishes.truth, set),
    names.length < MOST &&
      h("button", { type: "button", class: "button see-add", onclick: beside }, "Another model beside"),
  );
}

/** What the link did not get, what to be careful with, what the first model knows, and pictures to try.
 * @param {HTMLElement} host @param {Wishes} wishes @param {string[]} replaced @param {(picture: string) => void} choose */
export function honest(host, { models, picture }, replaced, choose) {
  const [first = {}] = models;
  const warned = [...replaced, ...cautions(models, picture)];
  const others = examples(first).filter((each) => each !== picture);
  replace(
    host,
    warned.map((each) => h("span", { class: "warning" }, each)),
    first["knows"] ? `${first["name"]} knows ${first["knows"]}.` : "",
    others.length > 0 && " Try ",
    others
      .slice(0, 4)
      .map((each) => h("button", { type: "button", class: "chip example", onclick: () => choose(each) }, each)),
  );
}

/** @param {string} label @param {{title: string, on: boolean, run: () => void}[]} choices */
function segments(label, choices) {
  return h(
    "div",
    { class: "segments", role: "group", "aria-label": label },
    choices.map(({ title, on, run }) =>
      h("button", { type: "button", "aria-pressed": String(on), onclick: run }, title),
    ),
  );
}

/** @param {string} text @param {string} key @param {boolean} on @param {Set} set */
function toggle(text, key, on, set) {
  const box = h("input", { type: "checkbox", checked: on, onchange: () => set({ [key]: on ? "" : "1" }) });
  return h("label", { class: "check" }, box, text);
}
