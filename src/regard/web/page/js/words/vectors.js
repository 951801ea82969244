/** Words and their vectors: what is near, by the cosine of all of them. */

/** @typedef {"unit" | "raw" | "sphere"} Way how vectors are taken: with length 1, as they are, or centred and then with length 1 */
/** @typedef {{name: string, values: (string | number)[]}} Column what else is known of every word */
/** @typedef {{row: number, score: number}} Near */
/** @typedef {{name: string, words: string[], raw: Float32Array, width: number, columns?: Column[], own?: boolean}} Given */

export class Vectors {
  /** @param {Given} given */
  constructor({ name, words, raw, width, columns = [], own = false }) {
    this.name = name;
    this.words = words;
    this.raw = raw;
    this.width = width;
    this.own = own;
    this.count = words.length;
    /** @type {Map<string, number>} */
    this.places = new Map();
    words.forEach((word, row) => this.places.has(word) || this.places.set(word, row));
    const lengths = Array.from({ length: this.count }, (_, row) => norm(raw, row * width, width));
    /** @type {Column[]} */
    this.columns = [
      ...columns,
      { name: own ? "line" : "rank by frequency", values: words.map((_, row) => row + 1) },
      { name: "length of the vector", values: lengths },
      { name: "letters", values: words.map((word) => word.length) },
    ];
    /** @type {Way} */
    this.way = "unit";
    this.unit = directions(raw, width);
  }

  /** @param {Way} way */
  take(way) {
    if (this.way === way) return;
    this.way = way;
    this.unit = directions(way === "sphere" ? centred(this.raw, this.width) : this.raw, this.width);
  }

  /** What maps are made of. */
  get table() {
    return this.way === "raw" ? this.raw : this.unit;
  }

  /** The row of a word, or -1. @param {string} word */
  row(word) {
    return this.places.get(word) ?? this.places.get(word.toLowerCase()) ?? -1;
  }

  /** @param {number} row */
  direction(row) {
    return this.unit.subarray(row * this.width, (row + 1) * this.width);
  }

  /** The cosine of every word with a direction. @param {ArrayLike<number>} target */
  cosines(target) {
    const { unit, width, count } = this;
    const aim = Float32Array.from(target);
    const length = norm(aim, 0, width) || 1;
    const found = new Float32Array(count);
    for (let row = 0, at = 0; row < count; row++) {
      let sum = 0;
      for (let j = 0; j < width; j++, at++) sum += /** @type {number} */ (unit[at]) * /** @type {number} */ (aim[j]);
      found[row] = sum / length;
    }
    return found;
  }

  /** A spelling that is known, for one that is not. @param {string} word */
  hint(word) {
    const start = word.toLowerCase().slice(0, 3);
    const like = this.words.find((each) => each.startsWith(word.toLowerCase()) && each.length <= word.length + 3);
    return like ?? this.words.find((each) => start.length === 3 && each.startsWith(start));
  }
}

/** The most of some numbers, the largest first; of two that are equal, the earlier. Rows in `without` are left out.
 * @param {ArrayLike<number>} scores @param {number} count @param {Set<number>} [without] @returns {Near[]} */
export function most(scores, count, without = new Set()) {
  /** @type {Near[]} */
  const best = [];
  let least = -Infinity;
  for (let row = 0; row < scores.length; row++) {
    const score = scores[row] ?? 0;
    if ((best.length >= count && !(score > least)) || without.has(row)) continue;
    let at = best.length;
    while (at > 0 && (best[at - 1]?.score ?? 0) < score) at -= 1;
    best.splice(at, 0, { row, score });
    if (best.length > count) best.pop();
    least = best.at(-1)?.score ?? least;
  }
  return best;
}

/** How many numbers are larger than that of a row. @param {ArrayLike<number>} scores @param {number} row */
export function rank(scores, row) {
  const own = scores[row] ?? 0;
  let larger = 0;
  for (let i = 0; i < scores.length; i++) if ((scores[i] ?? 0) > own) larger += 1;
  return larger;
}

/** @param {Float32Array} values @param {number} from @param {number} width */
function norm(values, from, width) {
  let sum = 0;
  for (let j = from; j < from + width; j++) sum += /** @type {number} */ (values[j]) ** 2;
  return Math.sqrt(sum);
}

/** Rows with length 1; one that is zero stays so. @param {Float32Array} raw @param {number} width */
function directions(raw, width) {
  const found = new Float32Array(raw.length);
  for (let from = 0; from < raw.length; from += width) {
    const length = norm(raw, from, width) || 1;
    for (let j = from; j < from + width; j++) found[j] = /** @type {number} */ (raw[j]) / length;
  }
  return found;
}

/** @param {Float32Array} raw @param {number} width */
function centred(raw, width) {
  const mean = new Float64Array(width);
  const rows = raw.length / width;
  for (let i = 0; i < raw.length; i++) mean[i % width] = (mean[i % width] ?? 0) + (raw[i] ?? 0) / rows;
  return raw.map((value, i) => value - (mean[i % width] ?? 0));
}
