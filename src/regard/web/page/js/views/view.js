/** What every view draws: who looks (rows), at what (columns), and how much (weights). No view knows a model. */

/**
 * Pieces of a text: `words` are the first and the last piece of each word and `names` what they say, `special` says
 * which pieces are no text ([CLS], a language tag), `segments` which sentence of a pair each belongs to.
 * @typedef {{kind: "words", labels: string[], words?: [number, number][], names?: string[], special?: boolean[], segments?: number[]}} Words
 */
/** @typedef {{kind: "grid", height: number, width: number, image?: string, leading?: string[]}} Grid */
/** @typedef {{kind: "latents", count: number}} Latents */
/** Of a cloud, `points` are x, y and z of each, z up. @typedef {{kind: "boxes", boxes: number[][], labels?: string[], points?: number[][]}} Boxes */
/** @typedef {Words | Grid | Latents | Boxes} Axis */
/**
 * @typedef {object} View
 * @property {string} name
 * @property {"self" | "causal" | "cross"} kind
 * @property {number} layer
 * @property {number | string | null} head a number, or null for the mean of several
 * @property {Axis} rows
 * @property {Axis} columns
 * @property {Weights} weights
 * @property {Layer[]} [layers] several heads over each other, a colour each; `weights` is their mean
 * @property {number} [least] weights below are not drawn
 * @property {Set<string>} [odd] names that the model does not know
 * @property {[number, number][]} [gold] the cells that should be looked at, row and column
 * @property {string} [model]
 * @property {string} [caption]
 */
/** One of several heads. @typedef {{title: string, hue: number, weights: Weights}} Layer */
/** A place that is pointed at. @typedef {{row?: number | undefined, column?: number | undefined}} Mark */
/** Rows a to b, columns c to d. @typedef {(a: number, b: number, c: number, d: number, signal: AbortSignal) => Promise<Float32Array>} Ask */

export const TILE = 128;
const MANY = 65536; // more tiles than any row has

/** Weights of any size, fetched a tile at a time as somebody looks at them. */
export class Weights {
  /**
   * @param {number} rows
   * @param {number} columns
   * @param {Ask} ask
   * @param {Ask} [exact] where tiles are rounded: the numbers themselves
   */
  constructor(rows, columns, ask, exact) {
    this.rows = rows;
    this.columns = columns;
    this.ask = ask;
    this.exact = exact ?? ask;
    /** @type {Map<number, Float32Array | Promise<void>>} */
    this.tiles = new Map();
    /** @type {Map<number, Float32Array>} */
    this.lines = new Map();
    /** @type {Set<() => void>} */
    this.listeners = new Set();
    this.control = new AbortController();
    /** @type {unknown} */
    this.failed = null;
  }

  /** All of them, already here. @param {number} rows @param {number} columns @param {Float32Array} values */
  static of(rows, columns, values) {
    return new Weights(rows, columns, async (a, b, c, d) => {
      const out = new Float32Array((b - a) * (d - c));
      for (let i = a; i < b; i++) out.set(values.subarray(i * columns + c, i * columns + d), (i - a) * (d - c));
      return out;
    });
  }

  /** A tile if it is here; if not, it is sent for and the listeners are told when it comes.
   * @param {number} i @param {number} j @returns {Float32Array | null} */
  tile(i, j) {
    const key = i * MANY + j;
    const found = this.tiles.get(key);
    if (found instanceof Float32Array) return found;
    if (!found) this.tiles.set(key, this._fetch(key, i, j));
    return null;
  }

  /** A block, from the tile that it is if it is one. @type {Ask} */
  async block(a, b, c, d, signal) {
    const [i, j] = [a / TILE, c / TILE];
    const whole = b === Math.min(a + TILE, this.rows) && d === Math.min(c + TILE, this.columns);
    if (!whole || !Number.isInteger(i) || !Number.isInteger(j)) return this.ask(a, b, c, d, signal);
    const waiting = this.tile(i, j) ? null : this.tiles.get(i * MANY + j);
    await waiting;
    return this.tile(i, j) ?? this.ask(a, b, c, d, signal);
  }

  /** One weight if its tile is here. @param {number} row @param {number} column */
  at(row, column) {
    const tile = this.tile(Math.floor(row / TILE), Math.floor(column / TILE));
    const width = Math.min(TILE, this.columns - Math.floor(column / TILE) * TILE);
    return tile ? tile[(row % TILE) * width + (column % TILE)] : undefined;
  }

  /** The largest weight that is here. */
  largest() {
    let most = 0;
    for (const tile of this.tiles.values())
      if (tile instanceof Float32Array) for (const weight of tile) if (weight > most) most = weight;
    return most;
  }

  /** A row in full precision. @param {number} row */
  async row(row) {
    const known = this.lines.get(row);
    if (known) return known;
    const values = await this.exact(row, row + 1, 0, this.columns, this.control.signal);
    this.lines.set(row, values);
    return values;
  }

  /** Everything, in full precision. */
  all() {
    return this.exact(0, this.rows, 0, this.columns, this.control.signal);
  }

  /** Wait for every tile of these rows. @param {number} [from] @param {number} [to] */
  async ready(from = 0, to = this.rows) {
    for (let i = Math.floor(from / TILE); i * TILE < to; i++) {
      for (let j = 0; j * TILE < this.columns; j++) {
        this.tile(i, j);
        await this.tiles.get(i * MANY + j);
      }
    }
  }

  /** @param {() => void} listener @returns {() => void} stop listening */
  listen(listener) {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  stop() {
    this.control.abort();
  }

  /** @param {number} key @param {number} i @param {number} j */
  async _fetch(key, i, j) {
    const [a, c] = [i * TILE, j * TILE];
    try {
      const [b, d] = [Math.min(a + TILE, this.rows), Math.min(c + TILE, this.columns)];
      this.tiles.set(key, await this.ask(a, b, c, d, this.control.signal));
    } catch (error) {
      if (this.control.signal.aborted) return;
      this.failed = error;
    }
    for (const listener of this.listeners) listener();
  }
}

/** How many there are on an axis. @param {Axis} axis */
export function count(axis) {
  if (axis.kind === "words") return axis.labels.length;
  if (axis.kind === "grid") return (axis.leading?.length ?? 0) + axis.height * axis.width;
  return axis.kind === "latents" ? axis.count : axis.boxes.length;
}

/** What each place of an axis is called. @param {Axis} axis @returns {string[]} */
export function labels(axis) {
  if (axis.kind === "words") return axis.labels.map((label) => label.trim() || "␣");
  if (axis.kind === "boxes" && axis.labels) return axis.labels;
  const leading = axis.kind === "grid" ? (axis.leading ?? []) : [];
  const name = (/** @type {number} */ i) =>
    axis.kind === "grid" ? `${Math.floor(i / axis.width) + 1}·${(i % axis.width) + 1}` : String(i + 1);
  return [...leading, ...Array.from({ length: count(axis) - leading.length }, (_, i) => name(i))];
}

/** The mean of several, each counted as often as it has heads. @param {{weights: Weights, times: number}[]} some @returns {Weights} */
export function mean(some) {
  const [first] = some;
  if (!first) return Weights.of(0, 0, new Float32Array());
  if (some.length === 1) return first.weights;
  const total = some.reduce((sum, { times }) => sum + times, 0);
  /** @param {"block" | "exact"} way @returns {Ask} */
  const mixed =
    (way) =>
    async (...where) => {
      const parts = await Promise.all(some.map(({ weights }) => weights[way](...where)));
      return (
        parts[0]?.map(
          (_, k) => parts.reduce((sum, part, i) => sum + (part[k] ?? 0) * (some[i]?.times ?? 0), 0) / total,
        ) ?? new Float32Array()
      );
    };
  return new Weights(first.weights.rows, first.weights.columns, mixed("block"), mixed("exact"));
}

/** Only some rows and columns of weights. @param {Weights} whole @param {number[]} rows @param {number[]} columns @returns {Weights} */
function gathered(whole, rows, columns) {
  /** @param {"block" | "exact"} way @returns {Ask} */
  const part = (way) => async (a, b, c, d, signal) => {
    const [some, few] = [rows.slice(a, b), columns.slice(c, d)];
    const [top, left] = [some[0] ?? 0, few[0] ?? 0];
    const [bottom, right] = [(some.at(-1) ?? 0) + 1, (few.at(-1) ?? 0) + 1];
    const values = await whole[way](top, bottom, left, right, signal);
    const wide = right - left;
    return Float32Array.from({ length: some.length * few.length }, (_, k) => {
      const [row, column] = [some[Math.floor(k / few.length)] ?? 0, few[k % few.length] ?? 0];
      return values[(row - top) * wide + column - left] ?? 0;
    });
  };
  return new Weights(rows.length, columns.length, part("block"), part("exact"));
}

/** Some places of an axis, and the axis that they make. @typedef {{places: number[], axis: Axis}} Part */

/** A view of some of its rows and columns, in their order. @param {View} view @param {Part} rows @param {Part} columns @returns {View} */
export function only(view, rows, columns) {
  const place = (/** @type {Part} */ { places }) => new Map(places.map((at, i) => [at, i]));
  const [row, column] = [place(rows), place(columns)];
  const gold = view.gold?.flatMap(([i, j]) => {
    const [to, at] = [row.get(i), column.get(j)];
    return to === undefined || at === undefined ? [] : [/** @type {[number, number]} */ ([to, at])];
  });
  const some = (/** @type {Weights} */ weights) => gathered(weights, rows.places, columns.places);
  const layers = view.layers?.map((layer) => ({ ...layer, weights: some(layer.weights) }));
  return {
    ...view,
    rows: rows.axis,
    columns: columns.axis,
    weights: some(view.weights),
    ...(layers ? { layers } : {}),
    ...(gold ? { gold } : {}),
  };
}

/** @param {Axis} axis @param {number[]} places @returns {Part} */
export function part(axis, places) {
  if (places.length === count(axis)) return { places, axis }; // a picture stays one
  const names = labels(axis);
  return { places, axis: { kind: "words", labels: places.map((i) => names[i] ?? "") } };
}

/** Words instead of pieces: a column gets the sum of what its pieces got, a row looks as its pieces did on average.
 * @param {Weights} whole @param {Axis} along @param {Axis} across @returns {Weights} */
export function merged(whole, along, across) {
  const [rows, columns, width] = [groups(along), groups(across), whole.columns];
  /** @type {Promise<Float32Array> | null} */
  let values = null;
  const sums = async () => {
    const all = await whole.all();
    const out = new Float32Array(rows.length * columns.length);
    rows.forEach(([a, b], i) =>
      columns.forEach(([c, d], j) => {
        let sum = 0;
        for (let row = a; row <= b; row++)
          for (let column = c; column <= d; column++) sum += all[row * width + column] ?? 0;
        out[i * columns.length + j] = sum / (b - a + 1);
      }),
    );
    return out;
  };
  return new Weights(rows.length, columns.length, async (a, b, c, d, signal) => {
    values ??= sums();
    return Weights.of(rows.length, columns.length, await values).ask(a, b, c, d, signal);
  });
}

/** An axis of whole words; what is special about a word is so about all of its pieces. @param {Axis} axis @returns {Axis} */
export function joined(axis) {
  if (axis.kind !== "words" || !axis.words) return axis;
  const { labels: pieces, words, names, special, segments } = axis;
  const whole = (/** @type {[number, number]} */ [a, b]) =>
    pieces
      .slice(a, b + 1)
      .join("")
      .trim();
  return {
    kind: "words",
    labels: words.map((span, i) => names?.[i] ?? whole(span)),
    ...(special ? { special: words.map(([a, b]) => special.slice(a, b + 1).every(Boolean)) } : {}),
    ...(segments ? { segments: words.map(([a]) => segments[a] ?? 0) } : {}),
  };
}

/** @param {Axis} axis @returns {[number, number][]} */
function groups(axis) {
  if (axis.kind === "words" && axis.words) return axis.words;
  return Array.from({ length: count(axis) }, (_, i) => /** @type {[number, number]} */ ([i, i]));
}

/** Numbers as they were packed. @param {ArrayBuffer} data @param {"u8" | "f16" | "f32"} encoding @returns {Float32Array} */
export function unpack(data, encoding) {
  if (encoding === "f32") return new Float32Array(data);
  if (encoding === "u8") return Float32Array.from(new Uint8Array(data), (byte) => byte / 255);
  const table = halves();
  return Float32Array.from(new Uint16Array(data), (bits) => table[bits] ?? 0);
}

/** @type {Float32Array | null} */
let known = null;

/** What each pattern of 16 bits stands for (IEEE 754 binary16). */
function halves() {
  if (known) return known;
  known = new Float32Array(65536);
  for (let bits = 0; bits < 65536; bits++) {
    const [exponent, part] = [(bits >> 10) & 31, (bits & 1023) / 1024];
    const size =
      exponent === 31 ? (part ? NaN : Infinity) : exponent ? 2 ** (exponent - 15) * (1 + part) : 2 ** -14 * part;
    known[bits] = bits >> 15 ? -size : size;
  }
  return known;
}

/** A weight to be read: three digits that matter. @param {number | undefined} weight */
export function number(weight) {
  if (weight === undefined || Number.isNaN(weight)) return "…";
  if (weight === 0) return "0";
  return Math.abs(weight) < 0.001
    ? weight
        .toExponential(1)
        .replace("e-", "·10⁻")
        .replace(/⁻(\d+)$/, (_, n) => `⁻${raised(n)}`)
    : weight.toFixed(3);
}

/** @param {string} digits */
const raised = (digits) => [...digits].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(digit)]).join("");
