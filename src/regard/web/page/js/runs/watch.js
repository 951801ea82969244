/** Look at the runs again and again: often where one grows or the first is waited for, seldom where nothing happens. */

import { aborted } from "../api.js";
import { h, replace } from "../dom.js";

/** @typedef {import("./history.js").History} History */

const OFTEN = 3000; // milliseconds between two looks at what is alive, or about to be
const SELDOM = 6; // looks at what is not, each so many times later

/** @param {History} history @param {{waits: () => boolean, refresh: () => Promise<unknown>, place: HTMLElement}} room `waits` for its first run; `place` is where it is said why there is none
 * @returns {() => void} ends it */
export function watch(history, { waits, refresh, place }) {
  let looks = 0;
  const look = async () => {
    try {
      await history.list();
      await refresh();
    } catch (error) {
      if (aborted(error)) return;
      const why = error instanceof Error ? error.message : String(error);
      replace(place, h("p", { class: "problem", role: "alert" }, why));
    }
  };
  const timer = setInterval(() => {
    looks += 1;
    const soon = waits() || history.runs.some(({ alive }) => alive) || looks % SELDOM === 0;
    if (soon && !document.hidden) void look();
  }, OFTEN);
  void look();
  return () => clearInterval(timer);
}
