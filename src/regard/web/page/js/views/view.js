/** What every view draws: who looks (rows), at what (columns), and how much (weights). No view knows a model. */

/** @typedef {{kind: "words", labels: string[], words?: [number, number][]}} Words `words`: first and last piece of each */
/** @typedef {{kind: "grid", height: number, width: number, image?: string, leading?: string[]}} Grid */
/** @typedef {{kind: "latents", count: number}} Latents */
/** @typedef {{kind: "boxes", boxes: number[][], labels?: string[]}} Boxes */
/** @typedef {Words | Grid | Latents | Boxes} Axis */
/**
 * @typedef {object} View
 * @property {string} name
 * @property {"self" | "causal" | "cross"} kind
 * @property {number} layer
 * @property {number | string | null} head a number, or null for the mean of all
 * @property {Axis} rows
 * @property {Axis} columns
 * @property {Weights} weights
 * @property {[number, number][]} [gold] the cells that should be looked at, row and column
 * @property {string} [model]
 * @property {string} [caption]
 */
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

/** Words instead of pieces: a column gets the sum of what its pieces got, a row looks as its pieces did on average.
 * @param {View} view @returns {View} */
export function merged(view) {
  const rows = groups(view.rows);
  const columns = groups(view.columns);
  const whole = view.weights.all();
  const width = view.weights.columns;
  const values = whole.then((all) => {
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
  });
  const weights = new Weights(rows.length, columns.length, async (a, b, c, d, signal) =>
    Weights.of(rows.length, columns.length, await values).ask(a, b, c, d, signal),
  );
  return { ...view, rows: joined(view.rows), columns: joined(view.columns), weights };
}

/** @param {Axis} axis @returns {Axis} */
function joined(axis) {
  if (axis.kind !== "words" || !axis.words) return axis;
  return {
    kind: "words",
    labels: axis.words.map(([a, b]) =>
      axis.labels
        .slice(a, b + 1)
        .join("")
        .trim(),
    ),
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
