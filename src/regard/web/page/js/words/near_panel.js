/** The neighbours of a word, twice: in the full space and on the map. */

import { h, replace } from "../dom.js";
import { known } from "./algebra.js";
import { COUNT, compare } from "./near.js";

/** @typedef {import("./desk.js").Desk} Desk */
/** @typedef {import("./desk.js").Panel} Panel */
/** @typedef {import("./near.js").Neighbour} Neighbour */
/** @typedef {import("./map.js").Tint} Tint */
/** @typedef {import("./map.js").Line} Line */

const EXAMPLES = ["king", "bank", "paris", "blue", "seven", "music"];

/** @param {Desk} desk @returns {Panel} */
export function panel(desk) {
  const input = h("input", {
    type: "text",
    "aria-label": "A word",
    placeholder: "a word",
    spellcheck: "false",
    onchange: () => desk.set({ w: input.value.trim() }),
  });
  const chips = h("div", { class: "chips" });
  const body = h("div", { class: "near-body" });
  const element = h("section", null, h("label", { class: "pick" }, "word", input), chips, body);
  return {
    element,
    refresh: (state) => {
      if (document.activeElement !== input) input.value = state.word;
      replace(
        chips,
        examples(desk.vectors).map((word) => chip(desk, word)),
      );
      if (!state.word)
        return void replace(body, h("p", null, "Click a point or type a word: its neighbours appear here."));
      try {
        return show(desk, body, known(desk.vectors, state.word));
      } catch (error) {
        replace(body, h("p", { class: "problem" }, error instanceof Error ? error.message : String(error)));
      }
    },
  };
}

/** Words to begin with; vectors that know none of ours begin with their own. @param {import("./vectors.js").Vectors} vectors */
function examples(vectors) {
  const known = EXAMPLES.filter((word) => vectors.places.has(word));
  return known.length ? known : vectors.words.slice(0, EXAMPLES.length);
}

/** @param {Desk} desk @param {string} word */
export const chip = (desk, word) =>
  h("button", { type: "button", class: "chip", onclick: () => desk.set({ w: word }) }, word);

/** @param {Desk} desk @param {HTMLElement} body @param {number} row */
function show(desk, body, row) {
  const { vectors, map } = desk;
  const [word, slot] = [vectors.words[row] ?? "", map.slot(row)];
  if (slot < 0) {
    replace(body, h("p", null, `${word} is not on this map: show all words, or choose one that is here.`));
    return { chosen: -1 };
  }
  const { real, shown, kept } = compare(vectors, map.scene, row, slot);
  const total = real.length;
  replace(
    body,
    h(
      "p",
      { class: "near-told" },
      `The map keeps ${kept} of the ${total} nearest neighbours of `,
      h("strong", null, word),
      ".",
    ),
    h(
      "div",
      { class: "near-lists" },
      side(desk, `In all ${vectors.width} numbers`, "cosine", real, (each) =>
        each.kept ? "also near on the map" : `on the map the ${nth(each.rank)}`,
      ),
      side(desk, "On the map", "cosine in the full space", shown, (each) =>
        each.kept ? "truly near" : `truly the ${nth(each.rank)}`,
      ),
    ),
    h(
      "p",
      { class: "quiet" },
      "Lines lead to the true neighbours: solid where the map keeps them, dashed where it tore them away. Rings without a line are neighbours only on the map.",
    ),
  );
  return marks(row, real, shown);
}

/** @param {Desk} desk @param {string} title @param {string} measure @param {Neighbour[]} found @param {(each: Neighbour) => string} tell */
function side(desk, title, measure, found, tell) {
  return h(
    "div",
    null,
    h("h3", null, title),
    h(
      "ol",
      { class: "near-list" },
      found
        .slice(0, COUNT)
        .map((each) =>
          h(
            "li",
            { class: each.kept ? "kept" : "wrong" },
            chip(desk, desk.vectors.words[each.row] ?? ""),
            h("span", { class: "number", title: measure }, each.score.toFixed(2)),
            h("small", null, tell(each)),
          ),
        ),
    ),
  );
}

/** @param {number} rank */
function nth(rank) {
  const number = Math.max(1, rank);
  const ending = number % 100 > 10 && number % 100 < 14 ? "th" : (["th", "st", "nd", "rd"][number % 10] ?? "th");
  return `${number.toLocaleString("en")}${ending}`;
}

/** @param {number} row @param {Neighbour[]} real @param {Neighbour[]} shown */
function marks(row, real, shown) {
  /** @type {Map<number, Tint>} */
  const rings = new Map([[row, "accent"]]);
  for (const each of shown) rings.set(each.row, each.kept ? "accent" : "y");
  for (const each of real) rings.set(each.row, each.kept ? "accent" : "lamp");
  /** @type {Line[]} */
  const lines = real.map((each) => ({
    from: row,
    to: each.row,
    tint: each.kept ? "accent" : "lamp",
    dashed: !each.kept,
  }));
  return { chosen: row, rings, lines, first: [...real, ...shown].map((each) => each.row) };
}
