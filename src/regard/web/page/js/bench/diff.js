/** What changed between two sentences, word by word. */

/** @typedef {{text: string, change: "same" | "new" | "gone"}} Change */

/** The longest words in common stay; the rest came or went. @param {string[]} before @param {string[]} after @returns {Change[]} */
export function diff(before, after) {
  const wide = after.length + 1;
  const common = new Uint16Array((before.length + 1) * wide);
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      const both = before[i] === after[j];
      common[i * wide + j] = both
        ? 1 + at(common, (i + 1) * wide + j + 1)
        : Math.max(at(common, (i + 1) * wide + j), at(common, i * wide + j + 1));
    }
  }
  /** @type {Change[]} */
  const changes = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) {
      changes.push({ text: after[j] ?? "", change: "same" });
      [i, j] = [i + 1, j + 1];
    } else if (
      i < before.length &&
      (j === after.length || at(common, (i + 1) * wide + j) >= at(common, i * wide + j + 1))
    ) {
      changes.push({ text: before[i] ?? "", change: "gone" });
      i += 1;
    } else {
      changes.push({ text: after[j] ?? "", change: "new" });
      j += 1;
    }
  }
  return changes;
}

/** @param {Uint16Array} table @param {number} place */
const at = (table, place) => table[place] ?? 0;
