/** What a panel shows at one moment, and the view that follows from it: heads, words or pieces, what is hidden. */

import { count, labels, only, part } from "../views/view.js";
import { isPunctuation, isSpecial } from "./answer.js";
import { said } from "./selection.js";

/** @typedef {import("../views/view.js").Axis} Axis */
/** @typedef {import("../views/view.js").Mark} Mark */
/** @typedef {import("../views/view.js").View} View */
/** @typedef {import("../views/view.js").Part} Part */
/** @typedef {import("./address.js").State} State */
/** @typedef {import("./answer.js").Answer} Answer */
/** @typedef {import("./answer.js").Edit} Edit */
/** @typedef {import("./look.js").Look} Look */
/** @typedef {import("./selection.js").Selection} Selection */
/**
 * @typedef {object} Scene
 * @property {Answer} result
 * @property {Answer | null} plain without the edits, to compare with
 * @property {Look} look
 * @property {import("./answer.js").Model} model
 * @property {State} state
 * @property {Selection | null} selection null where the model has no attention
 * @property {Edit[]} edits
 * @property {boolean} small beside others
 */
/** The view, and which places of its axes are left. @typedef {{view: View, rows: Part | null, columns: Part | null}} Seen */

/** @type {WeakMap<Look, Map<string, {rows: Part, columns: Part} | null>>} */
const parts = new WeakMap();

/** @param {Scene} scene @returns {Seen | null} */
export function seen(scene) {
  const { look, selection, state, result } = scene;
  if (!selection) return null;
  const { attention, heads, mean } = selection;
  const { merge } = state;
  const links =
    merge === "words" && attention.kind === "cross" && result.output?.gold?.matches ? result.output.gold.links : null;
  const several = new Set(heads.map(({ name }) => name)).size > 1;
  const layerOf = (/** @type {string} */ name) =>
    (result.attentions.find((each) => each.name === name)?.layer ?? 0) + 1;
  const title = (/** @type {import("./selection.js").Head} */ { name, head }) =>
    `${several ? `layer ${layerOf(name)}, ` : ""}head ${head + 1}`;
  /** @type {View} */
  const view = {
    name: attention.name,
    kind: attention.kind,
    layer: attention.layer,
    head: heads.length === 1 ? (heads[0]?.head ?? null) : null,
    rows: look.axis(attention.rows, merge),
    columns: look.axis(attention.columns, merge),
    weights: look.weights(heads, merge),
    least: state.least,
    odd: new Set(result.warnings?.flatMap(({ words }) => words ?? []) ?? []),
    ...(heads.length > 1 && !mean
      ? { layers: heads.map((each) => ({ title: title(each), hue: each.head, weights: look.weights([each], merge) })) }
      : {}),
    ...(links
      ? { gold: links.map((/** @type {[number, number]} */ [i, j]) => /** @type {[number, number]} */ ([j, i])) }
      : {}),
  };
  const left = kept(scene, view);
  return left ? { view: only(view, left.rows, left.columns), ...left } : { view, rows: null, columns: null };
}

/** What is left of both axes, found once, so that a view can tell that its axes are the same. @param {Scene} scene @param {View} view */
function kept({ look, state, selection }, view) {
  const { hide, pairs, merge } = state;
  if (!selection || (!hide.size && !pairs)) return null;
  const known = parts.get(look) ?? new Map();
  parts.set(look, known);
  const { rows, columns } = selection.attention;
  const key = `${rows} ${columns} ${merge} ${[...hide].join()} ${pairs}`;
  if (!known.has(key)) {
    const both = { rows: places(view.rows, hide, pairs[0]), columns: places(view.columns, hide, pairs[1]) };
    const whole = both.rows.length === count(view.rows) && both.columns.length === count(view.columns);
    const none = !both.rows.length || !both.columns.length;
    known.set(
      key,
      whole || none ? null : { rows: part(view.rows, both.rows), columns: part(view.columns, both.columns) },
    );
  }
  return known.get(key) ?? null;
}

/** @param {Axis} axis @param {Set<string>} hide @param {string | undefined} side `a` or `b` of a pair @returns {number[]} */
function places(axis, hide, side) {
  const names = labels(axis);
  const segments = segmentsOf(axis);
  const wanted = side === "a" ? 0 : side === "b" ? 1 : null;
  return names.flatMap((name, i) => {
    if (hide.has("special") && special(axis, i, name)) return [];
    if (hide.has("punctuation") && isPunctuation(name)) return [];
    return wanted === null || !segments || segments[i] === wanted ? [i] : [];
  });
}

/** @param {Axis} axis @param {number} i @param {string} name */
function special(axis, i, name) {
  if (axis.kind === "grid") return i < (axis.leading?.length ?? 0);
  return axis.kind === "words" && (axis.special ? axis.special[i] === true : isSpecial(name));
}

/** Which sentence of a pair each word belongs to; where nobody says so, a separator between them does. @param {Axis} axis @returns {number[] | null} */
export function segmentsOf(axis) {
  if (axis.kind !== "words") return null;
  if (axis.segments) return new Set(axis.segments).size > 1 ? axis.segments : null;
  const names = labels(axis);
  const ends = names.flatMap((name, i) => (/^(\[SEP\]|<\/s>|\[SEPARATOR\])$/i.test(name) ? [i] : []));
  const [first] = ends;
  return first !== undefined && ends.length > 1 && first < names.length - 2
    ? names.map((_, i) => (i <= first ? 0 : 1))
    : null;
}

/** What can be chosen about a view: only what makes a difference is offered. @param {Scene} scene */
export function offers(scene) {
  const { selection, look, state, result } = scene;
  const axes = selection
    ? [selection.attention.rows, selection.attention.columns].map((name) => look.axis(name, state.merge))
    : [];
  const whole = selection
    ? [selection.attention.rows, selection.attention.columns].map((name) => result.axes[name])
    : [];
  const any = (/** @type {(axis: Axis, i: number, name: string) => boolean} */ test) =>
    axes.some(
      (axis) => (axis.kind === "words" || axis.kind === "grid") && labels(axis).some((name, i) => test(axis, i, name)),
    );
  return {
    pieces: whole.some(
      (axis) => axis?.kind === "words" && (axis.words?.length ?? axis.labels.length) < axis.labels.length,
    ),
    special: any(special),
    punctuation: any((axis, _, name) => axis.kind === "words" && isPunctuation(name)),
    pairs: axes.length === 2 && axes.every(segmentsOf),
    gold: Boolean(seen(scene)?.view.gold?.length),
  };
}

/** From places of the whole axes to those that are left. @param {Mark | null} mark @param {Seen} seen @returns {Mark} */
export function inward(mark, { rows, columns }) {
  const to = (/** @type {number | undefined} */ place, /** @type {Part | null} */ some) => {
    const at = place === undefined || !some ? place : some.places.indexOf(place);
    return at === -1 ? undefined : at;
  };
  return { row: to(mark?.row, rows), column: to(mark?.column, columns) };
}

/** And back. @param {Mark} mark @param {Seen} seen @returns {Mark} */
export function outward(mark, { rows, columns }) {
  const from = (/** @type {number | undefined} */ at, /** @type {Part | null} */ some) =>
    at === undefined || !some ? at : some.places[at];
  return { row: from(mark.row, rows), column: from(mark.column, columns) };
}

/** Are all the heads that are looked at switched off? @param {Scene} scene */
export function switchedOff({ selection, edits }) {
  const off = edits.filter(({ kind }) => kind === "off");
  return Boolean(
    selection?.heads.every(({ name, head }) =>
      off.some((each) => each.name === name && (each.head === null || each.head === head)),
    ),
  );
}

/** Where one looks, in words. @param {Scene} scene */
export function where({ selection }) {
  return selection ? `${selection.attention.name}, ${said(selection)}` : "";
}
