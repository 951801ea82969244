/** Tables that are sorted by a click on a heading. */

import { h } from "../dom.js";

/** @typedef {{by: string, down: boolean}} Sort */
/**
 * A column: what is compared, only within a group where there are several, and what is written.
 * @template T
 * @typedef {{key: string, name: string, group?: (row: T) => string | undefined, value: (row: T) => string | number | undefined, text: (row: T) => string}} Column
 */

/** @template T @param {Column<T>} column @param {Sort} sort @param {() => void} turn */
export function heading({ key, name }, { by, down }, turn) {
  const sorted = by === key ? (down ? "descending" : "ascending") : "none";
  const arrow = by === key ? (down ? " ↓" : " ↑") : "";
  return h(
    "th",
    { scope: "col", class: `is-${key}`, "aria-sort": sorted },
    h("button", { type: "button", onclick: turn }, name, h("span", { "aria-hidden": "true" }, arrow)),
  );
}

/** What is not known comes last, whichever way the table is sorted. @template T @param {Column<T>} column @param {boolean} down
 * @returns {(a: T, b: T) => number} */
export function comparing({ value, group = () => "" }, down) {
  return (one, other) => {
    const [a, b] = [value(one), value(other)];
    if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
    const [left, right] = [group(one) ?? "", group(other) ?? ""];
    if (left !== right) return left < right ? -1 : 1;
    const order = typeof a === "string" ? a.localeCompare(String(b), "en", { sensitivity: "base" }) : a - Number(b);
    return down ? -order : order;
  };
}
