/** A sentence of the little world, which comes with its true alignment: which languages, and which one. */

import { h } from "../dom.js";
import { pick } from "./pick.js";

/** @typedef {import("../state.js").Flat} Flat */
/** @typedef {import("../bench/answer.js").Model} Model */
/** A sentence of the little world. @typedef {{source: string, target: string, index: number}} Pair */
/** @typedef {{text: string, reference: string}} Said */

/** @type {Record<string, string>} */
export const LANGUAGES = { en: "English", de: "German", it: "Italian", cs: "Czech", fr: "French" };
const FOUR = Object.entries(LANGUAGES).slice(0, 4);

/** A model that was trained on the world has a truth to be compared with; to others its sentences are strange. @param {Model} model */
export const knowsWorld = (model) => model["data"] === "world";

/** `w:it-en-7` @param {string} input @returns {Pair | null} */
export function readPair(input) {
  const [, source, target, index] = input.match(/^w:([a-z]{2})-([a-z]{2})-(\d{1,9})$/) ?? [];
  return source && target ? { source, target, index: Number(index) } : null;
}

/** @param {Pair} pair */
export const writtenPair = ({ source, target, index }) => `w:${source}-${target}-${index}`;

/** Where a model of the world begins. @param {Model} model @returns {Pair} */
export function firstPair(model) {
  const known = (/** @type {unknown} */ code, /** @type {string} */ otherwise) =>
    FOUR.some(([each]) => each === code) ? String(code) : otherwise;
  return { source: known(model["source"], "it"), target: known(model["target"], "en"), index: 7 };
}

/** What pairs say, each asked once; `told` gives those that were answered. @param {typeof import("../api.js")} api */
export function sayings(api) {
  /** @type {Map<string, Promise<Said>>} */
  const asked = new Map();
  /** @type {Map<string, Said>} */
  const known = new Map();
  /** @param {Pair} pair */
  const ask = (pair) => {
    const key = writtenPair(pair);
    const found = asked.get(key) ?? api.get("/api/world/pair", { params: { ...pair, split: "test" } }).then(sentence);
    asked.set(key, found);
    found.then(
      (said) => known.set(key, said),
      () => asked.delete(key),
    );
    return found;
  };
  return { ask, told: (/** @type {Pair} */ pair) => known.get(writtenPair(pair)) };
}

/** @param {any} found @returns {Said} */
function sentence(found) {
  const said = (/** @type {unknown} */ words) =>
    Array.isArray(words) ? words.join(" ").replace(/ ([.,;:!?])/g, "$1") : String(words);
  return { text: found.text ?? said(found.source), reference: found.reference ?? said(found.target) };
}

/** @param {Pair | null} shown @param {Model} model @param {(patch: Flat, undo?: boolean | string) => void} set @param {() => void} leave */
export function pairing(shown, model, set, leave) {
  const pair = shown ?? firstPair(model);
  const go = (/** @type {Partial<Pair>} */ patch) => {
    const next = { ...pair, ...patch };
    if (next.source === next.target) next.target = next.source === "en" ? "de" : "en";
    set({ in: writtenPair(next), at: "" }, "pair");
  };
  if (!shown) return h("button", { type: "button", class: "button", onclick: () => go({}) }, "A sentence of the world");
  const index = h("input", {
    type: "number",
    min: 0,
    value: pair.index,
    "aria-label": "Number of the sentence",
    onchange: () => go({ index: Math.max(0, Math.floor(Number(index.value) || 0)) }),
  });
  const button = (
    /** @type {string} */ name,
    /** @type {string} */ sign,
    /** @type {() => void} */ onclick,
    disabled = false,
  ) => h("button", { type: "button", class: "icon small", "aria-label": name, title: name, disabled, onclick }, sign);
  const fixed = !model["multilingual"];
  return h(
    "div",
    { class: "world-pair", role: "group", "aria-label": "Sentence of the world" },
    h("span", { class: "quiet" }, "World"),
    !fixed && pick("from", FOUR, pair.source, (source) => go({ source })),
    !fixed && pick("to", FOUR, pair.target, (target) => go({ target })),
    button("Sentence before", "‹", () => go({ index: Math.max(0, pair.index - 1) }), pair.index === 0),
    index,
    button("Next sentence", "›", () => go({ index: pair.index + 1 })),
    button("Any sentence", "↻", () => go({ index: Math.floor(Math.random() * 10000) })),
    button("Leave the world", "×", leave),
  );
}
