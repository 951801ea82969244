/** Steps that have been solved, remembered on this machine. */

import { STEPS } from "./lesson.js";

const KEY = "regard.build.solved";

/** @returns {Set<string>} */
export function recall() {
  try {
    const kept = (localStorage.getItem(KEY) ?? "").split(",");
    return new Set(STEPS.map(({ id }) => id).filter((id) => kept.includes(id)));
  } catch {
    return new Set();
  }
}

/** @param {Set<string>} solved */
export function remember(solved) {
  try {
    localStorage.setItem(KEY, [...solved].join(","));
  } catch {
    // They are lost with the page.
  }
}
