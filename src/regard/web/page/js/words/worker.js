/** What would make the page stutter is done here: maps, angles, and patterns that may never end. */

import { angles } from "./angles.js";
import { pca } from "./pca.js";
import { kept } from "./quality.js";
import { frames } from "./tsne.js";

/** @type {Record<string, (given: any, tell: (part: unknown) => void) => unknown>} */
const JOBS = {
  pca({ table, width, dimensions }, tell) {
    const found = pca(table, width, dimensions, tell);
    return { ...found, kept: kept(table, width, found.places, dimensions) };
  },
  tsne({ table, width, wish }, tell) {
    let last = null;
    for (last of frames(table, width, wish)) tell(last);
    return { kept: last && kept(table, width, last.places, wish.dimensions) };
  },
  angles({ count, dimensions, seed }, tell) {
    for (const found of angles(count, dimensions, seed)) tell(found);
  },
  match({ words, pattern }) {
    const asked = new RegExp(pattern, "iu");
    return words.flatMap((/** @type {string} */ word, /** @type {number} */ row) => (asked.test(word) ? [row] : []));
  },
};

self.addEventListener("message", ({ data: { job, given } }) => {
  try {
    const found = JOBS[job]?.(given, (part) => self.postMessage({ part }));
    self.postMessage({ found });
  } catch (error) {
    self.postMessage({ error: error instanceof Error ? error.message : String(error) });
  }
});
