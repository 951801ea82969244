/** Angles between random directions, pair by pair; and what must be, what surely can be. */

/** @typedef {{counts: number[], smallest: number, done: number, within: number}} Angles */

/** The angles of all pairs so far, told again and again until all were compared.
 * @param {number} count @param {number} dimensions @param {number} seed @returns {Generator<Angles>} */
export function* angles(count, dimensions, seed) {
  const table = directions(count, dimensions, dice(seed));
  const counts = new Array(180).fill(0);
  let [top, pairs, compared, told] = [0, (count * (count - 1)) / 2, 0, 0];
  for (let i = 0; i < count; i++) {
    for (let j = i + 1; j < count; j++) {
      let cosine = 0;
      for (let a = i * dimensions, b = j * dimensions, end = a + dimensions; a < end; a++, b++) {
        cosine += /** @type {number} */ (table[a]) * /** @type {number} */ (table[b]);
      }
      cosine = Math.max(-1, Math.min(1, cosine));
      top = Math.max(top, Math.abs(cosine));
      counts[Math.min(179, Math.floor((Math.acos(cosine) * 180) / Math.PI))] += 1;
    }
    compared += count - 1 - i;
    if ((compared - told) * dimensions > 6e7) {
      told = compared;
      yield summary(counts, top, compared / pairs);
    }
  }
  yield summary(counts, top, 1);
}

/** @param {number[]} counts @param {number} top @param {number} done @returns {Angles} */
function summary(counts, top, done) {
  const all = counts.reduce((a, b) => a + b, 0) || 1;
  const near = counts.slice(85, 95).reduce((a, b) => a + b, 0);
  return { counts: [...counts], smallest: degrees(top), done, within: near / all };
}

/** @param {number} count @param {number} dimensions @param {() => number} random */
function directions(count, dimensions, random) {
  const table = new Float32Array(count * dimensions);
  for (let from = 0; from < table.length; from += dimensions) {
    let square = 0;
    for (let j = from; j < from + dimensions; j++) {
      const value = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
      table[j] = value;
      square += value * value;
    }
    for (let j = from; j < from + dimensions; j++) table[j] = /** @type {number} */ (table[j]) / Math.sqrt(square);
  }
  return table;
}

/** Numbers from 0 to 1 that are the same for the same seed (mulberry32). @param {number} seed */
function dice(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** @param {number} cosine */
export const degrees = (cosine) => (Math.acos(Math.max(-1, Math.min(1, cosine))) * 180) / Math.PI;

/** The |cosine| that some pair must reach, however directions are chosen (Welch 1974): the largest bound of all powers.
 * @param {number} count @param {number} dimensions */
export function welch(count, dimensions) {
  let [largest, room] = [0, dimensions];
  for (let power = 1; room < count; power++) {
    largest = Math.max(largest, ((count / room - 1) / (count - 1)) ** (1 / (2 * power)));
    room = (room * (dimensions + power)) / (power + 1);
  }
  return largest;
}

/** The |cosine| that so many directions surely need not exceed, since random ones may do (Johnson and Lindenstrauss 1984).
 * @param {number} count @param {number} dimensions */
export const lemma = (count, dimensions) => Math.min(1, Math.sqrt((4 * Math.log(count)) / dimensions));
