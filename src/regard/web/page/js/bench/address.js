/**
 * What a link of a Look room says: `m` models, `in` input, `as` view, `look` heads, `at` the row, `edits`; of several
 * models `look` and `edits` are separated by `;`. Besides `merge=pieces`, `mix=mean`, `min` (least weight drawn),
 * `hide=special,punctuation` and `pairs=ab` (from the first sentence to the second). A room may have keys of its own.
 */

import { titled } from "./answer.js";

/** @typedef {import("../state.js").Flat} Flat */
/** @typedef {import("../views/view.js").Mark} Mark */
/** @typedef {import("./answer.js").Edit} Edit */
/** @typedef {import("./answer.js").Model} Model */
/**
 * The state in full, whatever the link left out.
 * @typedef {object} State
 * @property {Model[]} models
 * @property {string} input as it stands in the link: `t:…`, `w:…`, `p:…`, `f:…`
 * @property {string} as
 * @property {string[]} looks of each panel
 * @property {Mark} at
 * @property {Edit[][]} edits of each panel
 * @property {"words" | "pieces"} merge
 * @property {boolean} mean several heads as their mean instead of in colours
 * @property {number} least
 * @property {Set<string>} hide
 * @property {string} pairs
 * @property {Flat} flat everything, also the keys of the room
 */

export const MOST = 3; // models side by side

/** @param {Flat} flat @param {Model[]} models the one to begin with first @returns {State} */
export function read(flat, models) {
  const text = (/** @type {string} */ key) => String(flat[key] ?? "");
  const chosen = wanted(flat, models);
  return {
    models: chosen,
    input: text("in"),
    as: text("as"),
    looks: text("look").split(";"),
    at: mark(text("at")),
    edits: chosen.map((_, i) => edits(text("edits").split(";")[i] ?? "")),
    merge: text("merge") === "pieces" ? "pieces" : "words",
    mean: text("mix") === "mean",
    least: Math.max(0, Math.min(1, Number(text("min")) || 0)),
    hide: new Set(text("hide").split(",").filter(Boolean)),
    pairs: text("pairs"),
    flat,
  };
}

/** The models of a link, the first of all in place of those that are not here. @param {Flat} flat @param {Model[]} models @param {number} [most] side by side @returns {Model[]} */
export function wanted(flat, models, most = MOST) {
  const found = names(String(flat["m"] ?? "")).map(
    ({ name }) => models.find((each) => each["name"] === name) ?? models[0] ?? {},
  );
  return found.length ? found.slice(0, most) : [models[0] ?? {}];
}

/** @param {string} text @returns {{name: string, revision: string}[]} */
function names(text) {
  return text
    .split(",")
    .filter(Boolean)
    .map((each) => ({ name: each.split("@")[0] ?? "", revision: each.split("@")[1] ?? "" }));
}

/** How a link names a model, so that another server opens the same or says that it cannot. @param {Model} model */
export const named = (model) => `${model["name"]}${model["revision"] ? `@${model["revision"]}` : ""}`;
/** @param {(Model | undefined)[]} models */
export const writtenModels = (models) => models.flatMap((model) => (model ? [named(model)] : [])).join(",");

/** What a link asked for and did not get. @param {Flat} flat @param {Model[]} models @param {number} [most] side by side @returns {string[]} */
export function replaced(flat, models, most = MOST) {
  const asked = names(String(flat["m"] ?? ""));
  const left = asked.slice(most).map(({ name }) => name);
  const many = `The link asks for ${asked.length} models, and at most ${most} stand side by side; ${left.join(", ")} is left out.`;
  const others = asked.slice(0, most).flatMap(({ name, revision }) => {
    const found = models.find((each) => each["name"] === name);
    if (!found)
      return [
        `The link asks for the model “${name}”, which this server does not have; ${titled(models[0])} is shown instead.`,
      ];
    const has = String(found["revision"] ?? "");
    return revision && has && revision !== has
      ? [
          `The link was made with revision ${revision} of ${titled(found)}; this server has ${has}, so that numbers may differ.`,
        ]
      : [];
  });
  return left.length ? [...others, many] : others;
}

/** `7` is a row, `c4` a column. @param {string} text @returns {Mark} */
function mark(text) {
  const [, side, place] = text.match(/^([rc]?)(\d{1,6})$/) ?? [];
  if (place === undefined) return {};
  return side === "c" ? { column: Number(place) } : { row: Number(place) };
}

/** @param {Mark | null} at */
export const writtenMark = (at) =>
  at?.row !== undefined ? String(at.row) : at?.column !== undefined ? `c${at.column}` : "";

/** `decoder.blocks.1.cross:2:off`, or `…:*:off` for all of its heads. @param {string} text @returns {Edit[]} */
function edits(text) {
  return text.split(",").flatMap((each) => {
    const [, name, head, kind] = each.match(/^(.+):(\d+|\*):(off|uniform)$/) ?? [];
    return name ? [{ name, head: head === "*" ? null : Number(head), kind: /** @type {Edit["kind"]} */ (kind) }] : [];
  });
}

/** @param {(Edit[] | undefined)[]} all of each panel */
export const writtenEdits = (all) =>
  trimmed(all.map((some) => (some ?? []).map(({ name, head, kind }) => `${name}:${head ?? "*"}:${kind}`).join(",")));
/** @param {(string | undefined)[]} all of each panel */
export const writtenLooks = (all) => trimmed(all.map((look) => look ?? ""));
/** @param {string[]} parts */
const trimmed = (parts) => parts.join(";").replace(/;+$/, "");

/** @template T @param {T[]} some @param {number} i @param {T} value @returns {(T | undefined)[]} */
export function swapped(some, i, value) {
  const next = /** @type {(T | undefined)[]} */ ([...some]);
  next[i] = value;
  return Array.from(next);
}
