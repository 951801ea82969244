/** The controls above the map: search, which map, how vectors are taken, colours, selection and bookmarks. */

import { h, replace } from "../dom.js";
import { pick } from "../rooms/pick.js";
import { refill } from "../rooms/refill.js";
import { near } from "./hand.js";

/** @typedef {import("./desk.js").Desk} Desk */
/** @typedef {import("./state.js").State} State */

const WAYS = /** @type {[string, string][]} */ ([
  ["unit", "length 1"],
  ["raw", "as they are"],
  ["sphere", "spherised: centred, length 1"],
]);
/** @type {Record<string, string>} */
const MAPS = { tsne: "t-SNE", pca: "PCA", given: "As given", live: "Live" };
/** What a bookmark keeps. */
const KEPT = ["how", "dim", "w", "sel", "only", "cam", "vec", "colour"];

/** @param {Desk} desk */
export function bar(desk) {
  const input = h("input", {
    type: "search",
    class: "words-find",
    placeholder: "Find: king or /ing$/",
    "aria-label": "Find words by their beginning, or by a /pattern/",
    maxlength: 120,
    spellcheck: "false",
    autocomplete: "off",
    oninput: () => desk.set({ q: input.value.trim() }, "find"),
    onkeydown: (/** @type {KeyboardEvent} */ event) => event.key === "Enter" && first(desk),
  });
  const found = h("span", { class: "words-found", role: "status" });
  const choices = h("div", { class: "words-choices" });
  const marks = h("div", { class: "words-marks" });
  const element = h("div", { class: "words-bar" }, h("div", { class: "words-search" }, input, found, marks), choices);
  return {
    element,
    focus: () => input.focus(),
    /** @param {State} state */
    refresh: (state) => {
      if (input.value.trim() !== state.find) input.value = state.find;
      replace(found, ...results(desk, state));
      refill(choices, ...choose(desk, state), ...selection(desk, state));
      refill(marks, ...bookmarks(desk, state));
    },
  };
}

/** @param {string} label @param {() => void} run @param {Record<string, unknown>} [more] */
const button = (label, run, more) => h("button", { type: "button", class: "button", onclick: run, ...more }, label);

/** Enter chooses the first of what was found. @param {Desk} desk */
function first(desk) {
  const row = [...(desk.hits ?? [])][0];
  if (row !== undefined) desk.set({ w: desk.vectors.words[row] ?? "" });
}

/** @param {Desk} desk @param {State} state */
function results(desk, state) {
  if (desk.problem) return [h("span", { class: "problem" }, desk.problem)];
  if (!desk.hits) return [];
  const count = desk.hits.size.toLocaleString("en");
  const pattern = state.find.startsWith("/") ? state.find : `/^${state.find.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")}/`;
  return [
    h("span", { class: "quiet" }, `${count} found`),
    desk.hits.size > 0 && button("Select them", () => desk.set({ sel: pattern })),
  ];
}

/** @param {Desk} desk @param {State} state */
function choose(desk, state) {
  const { vectors } = desk;
  const able = [...desk.maps, ...(desk.live ? ["live"] : [])];
  const now = desk.how(state);
  const segment = (/** @type {string} */ name, /** @type {boolean} */ on, /** @type {() => void} */ run) =>
    h("button", { type: "button", "aria-pressed": String(on), onclick: run }, name);
  return [
    ...sets(desk),
    h(
      "div",
      { class: "segments", role: "group", "aria-label": "Map" },
      able.map((how) => segment(MAPS[how] ?? how, how === now, () => desk.set({ how, cam: "" }))),
    ),
    h(
      "div",
      { class: "segments", role: "group", "aria-label": "Dimensions" },
      [2, 3].map((dim) => segment(`${dim}-D`, dim === state.dim, () => desk.set({ dim, cam: "" }))),
    ),
    pick("vectors", WAYS, state.vec, (vec) => desk.set({ vec: vec === "unit" ? "" : vec }), "How vectors are taken"),
    pick(
      "colour",
      [["", "none"], ...vectors.columns.map(({ name }) => /** @type {[string, string]} */ ([name, name]))],
      state.colour,
      (colour) => desk.set({ colour }),
      "Colour by",
    ),
  ];
}

/** Which words, where the explorer was started with some of the reader's own. @param {Desk} desk */
function sets(desk) {
  const { own, name } = desk.vectors;
  const known = desk.about.sets ?? [];
  if (known.length < 2) return [];
  const choices = known.map((each) => /** @type {[string, string]} */ ([each.bundled ? "" : each.name, each.name]));
  if (own) choices.unshift(["/", name]); // no model is called so
  return [pick("words", choices, own ? "/" : desk.served, (model) => desk.choose(model), "Which vectors")];
}

/** @param {Desk} desk @param {State} state */
function selection(desk, state) {
  const count = desk.selected.length;
  if (!count) return [];
  return [
    h("span", { class: "quiet" }, `${count.toLocaleString("en")} selected`),
    button("Isolate", () => desk.set({ only: state.only ? "" : 1, cam: "" }), { "aria-pressed": String(state.only) }),
    button("Clear", () => desk.set({ sel: "", only: "", cam: state.only ? "" : state.cam })),
  ];
}

/** What lies on a corner of the map. @param {Desk} desk */
export const zoom = (desk) =>
  h(
    "div",
    { class: "map-tools" },
    button("+", () => near(desk.map, 1.4), { "aria-label": "Zoom in" }),
    button("−", () => near(desk.map, 0.7), { "aria-label": "Zoom out" }),
    button("All", () => desk.set({ cam: "" }), { "aria-label": "Whole map" }),
  );

/** @param {Desk} desk @param {State} state */
function bookmarks(desk, state) {
  const kept = state.marks.split("|").filter(Boolean);
  const here = new URLSearchParams(
    Object.entries(desk.context.state.get())
      .filter(([key, value]) => KEPT.includes(key) && value !== "")
      .map(([key, value]) => [key, String(value)]),
  );
  const keep = () =>
    desk.set({
      marks: [...kept, `${state.word.replace(/[;|]/g, " ") || `view ${kept.length + 1}`};${here}`].slice(-12).join("|"),
    });
  return [
    ...kept.map((mark, i) => {
      const [name = "", query = ""] = mark.split(/;(.*)/s);
      const open = () =>
        desk.set({
          ...Object.fromEntries(KEPT.map((key) => [key, ""])),
          ...Object.fromEntries(new URLSearchParams(query)),
        });
      const drop = () => desk.set({ marks: kept.filter((_, k) => k !== i).join("|") });
      return h(
        "span",
        { class: "words-mark" },
        button(name, open, { title: "Go back to this view" }),
        button("×", drop, { "aria-label": `Forget ${name}` }),
      );
    }),
    button("Keep this view", keep, { title: "A bookmark, kept in the address" }),
  ];
}
