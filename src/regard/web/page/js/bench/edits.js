/** What is done to heads: switched off or made uniform, one by one, by layer or by column. */

import { short } from "./answer.js";

/** @typedef {import("./answer.js").Answer} Answer */
/** @typedef {import("./answer.js").Edit} Edit */
/** @typedef {import("./selection.js").Head} Head */

/** What was done to each head, by `name:head`. @param {Edit[]} edits @param {Answer} now @returns {Map<string, Edit["kind"]>} */
export function marksOf(edits, now) {
  const marks = new Map();
  for (const { name, head, kind } of edits) {
    const many = now.attentions.find((each) => each.name === name)?.heads ?? 0;
    const heads = head === null ? Array.from({ length: many }, (_, i) => i) : [head];
    for (const each of heads) marks.set(`${name}:${each}`, kind);
  }
  return marks;
}

/** The edits after something is done to some heads; a whole layer is said as one. @param {Edit[]} edits @param {Answer} now @param {Head[]} heads @param {Edit["kind"] | ""} kind @returns {Edit[]} */
export function edited(edits, now, heads, kind) {
  const marks = marksOf(edits, now);
  for (const { name, head } of heads) {
    if (kind) marks.set(`${name}:${head}`, kind);
    else marks.delete(`${name}:${head}`);
  }
  /** @param {import("./answer.js").Attention} attention @returns {Edit[]} */
  const of = ({ name, heads: many }) => {
    const kinds = Array.from({ length: many }, (_, head) => marks.get(`${name}:${head}`));
    const [first] = kinds;
    if (first && many > 1 && kinds.every((each) => each === first)) return [{ name, head: null, kind: first }];
    return kinds.flatMap((each, head) => (each ? [{ name, head, kind: each }] : []));
  };
  return now.attentions.flatMap(of);
}

/** @param {Answer} now @param {Edit} edit */
export const saidEdit = (now, { name, head, kind }) =>
  `${short(now, name)}, ${head === null ? "all heads" : `head ${head + 1}`} ${kind}`;
