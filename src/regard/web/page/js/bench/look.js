/** What can be read of an answer: weights of any heads, thumbnails, why one word looked. The server has it, or a file. */

import { ApiError } from "../api.js";
import { Weights, count as length, joined, mean, merged, unpack } from "../views/view.js";

/** @typedef {import("../views/view.js").Axis} Axis */
/** @typedef {import("./answer.js").Answer} Answer */
/** @typedef {import("./answer.js").Attention} Attention */
/** @typedef {import("./selection.js").Head} Head */
/** @typedef {{size: number, pixels: Map<string, Uint8Array[]>}} Pictures */
/** @typedef {"words" | "pieces"} Merge */

/** Weights of some heads of one attention. @typedef {(attention: Attention, heads: number[], merge: Merge) => Weights} Source */

export class Look {
  /** @param {Answer} answer @param {Source} source */
  constructor(answer, source) {
    this.answer = answer;
    this.source = source;
    /** @type {Map<string, Axis>} */
    this.axes = new Map();
    /** @type {Map<string, Weights>} */
    this.known = new Map();
  }

  /** An axis, the same object each time. @param {string} name @param {Merge} merge @returns {Axis} */
  axis(name, merge) {
    const key = `${name}:${merge}`;
    const whole = this.answer.axes[name] ?? { kind: "latents", count: 0 };
    const found = this.axes.get(key) ?? (merge === "words" ? joined(whole) : whole);
    this.axes.set(key, found);
    return found;
  }

  /** Of one head, or the mean of several, also of several attentions. @param {Head[]} heads @param {Merge} merge @returns {Weights} */
  weights(heads, merge) {
    const key = `${merge} ${heads.map(({ name, head }) => `${name}:${head}`).join(" ")}`;
    const known = this.known.get(key);
    if (known) return known;
    const names = [...new Set(heads.map(({ name }) => name))];
    const parts = names.flatMap((name) => {
      const attention = this.answer.attentions.find((each) => each.name === name);
      const some = heads.filter((each) => each.name === name).map(({ head }) => head);
      return attention ? [{ weights: this.source(attention, some, merge), times: some.length }] : [];
    });
    const made = mean(parts);
    this.known.set(key, made);
    return made;
  }

  /** @param {AbortSignal} _signal @returns {Promise<Pictures>} */
  async thumbnails(_signal) {
    return { size: 1, pixels: new Map() };
  }

  /** Query times key, where the model runs. @type {((name: string, head: number, row: number, signal: AbortSignal) => Promise<any>) | null} */
  neuron = null;

  stop() {
    for (const each of this.known.values()) each.stop();
  }
}

/** What the server looked at. */
export class Served extends Look {
  /** @param {typeof import("../api.js")} api @param {Answer} answer @param {() => Promise<Answer>} again the same question, where its look has been forgotten */
  constructor(api, answer, again) {
    super(answer, (attention, heads, merge) => this.fetched(attention, heads, merge));
    this.api = api;
    this.again = again;
  }

  /** A question about the look; one that has been forgotten is silently looked again. @template T @param {(id: string) => Promise<T>} run @returns {Promise<T>} */
  async asking(run) {
    const before = this.answer.id;
    try {
      return await run(before);
    } catch (error) {
      if (!(error instanceof ApiError && error.expired)) throw error;
      if (this.answer.id === before) this.answer.id = (await this.again()).id;
      return run(this.answer.id);
    }
  }

  /** @param {Attention} attention @param {number[]} heads @param {Merge} merge */
  fetched(attention, heads, merge) {
    const head = heads.length === attention.heads && heads.length > 1 ? "mean" : heads.join(",");
    /** @param {"f16" | "f32"} encoding @returns {import("../views/view.js").Ask} */
    const part = (encoding) => async (a, b, c, d, signal) => {
      const params = { name: attention.name, head, rows: `${a}:${b}`, columns: `${c}:${d}`, encoding, merge };
      const { data } = await this.asking((id) => this.api.bytes(`/api/looks/${id}/weights`, { params, signal }));
      return unpack(data, encoding);
    };
    const long = (/** @type {string} */ name) => length(this.axis(name, merge));
    return new Weights(long(attention.rows), long(attention.columns), part("f16"), part("f32"));
  }

  /** @param {AbortSignal} signal @returns {Promise<Pictures>} */
  async thumbnails(signal) {
    const { data, headers } = await this.asking((id) =>
      this.api.bytes(`/api/looks/${id}/overview`, { params: { size: 32 }, signal }),
    );
    const plan = JSON.parse(headers.get("X-Regard-Layout") ?? "{}");
    const cells = plan.size * plan.size;
    const pixels = new Map();
    let place = 0;
    for (const { name, heads } of plan.attentions) {
      pixels.set(
        name,
        Array.from({ length: heads }, (_, i) => new Uint8Array(data, place + i * cells, cells)),
      );
      place += heads * cells;
    }
    return { size: plan.size, pixels };
  }

  /** @type {Look["neuron"]} */
  neuron = (name, head, row, signal) =>
    this.asking((id) => this.api.get(`/api/looks/${id}/neuron`, { params: { name, head, row }, signal }));
}

const THUMB = 32;

/** What a file holds: the weights of each head, by name. */
export class Held extends Look {
  /** @param {Answer} answer @param {Map<string, Float32Array[]>} values */
  constructor(answer, values) {
    super(answer, (attention, heads, merge) => {
      const [rows, columns] = [answer.axes[attention.rows], answer.axes[attention.columns]];
      if (!rows || !columns) return Weights.of(0, 0, new Float32Array());
      const some = heads.map((head) => values.get(attention.name)?.[head] ?? new Float32Array());
      const whole = mean(some.map((each) => ({ weights: Weights.of(length(rows), length(columns), each), times: 1 })));
      return merge === "words" ? merged(whole, rows, columns) : whole;
    });
    this.values = values;
  }

  /** @returns {Promise<Pictures>} */
  async thumbnails() {
    const pixels = new Map();
    for (const { name, rows, columns } of this.answer.attentions) {
      const [tall, wide] = [rows, columns].map((axis) => length(/** @type {Axis} */ (this.answer.axes[axis])));
      pixels.set(name, this.values.get(name)?.map((each) => small(each, tall ?? 0, wide ?? 0)) ?? []);
    }
    return { size: THUMB, pixels };
  }
}

/** At the size of a thumbnail: each cell is the mean of what it covers. @param {Float32Array} values @param {number} rows @param {number} columns */
function small(values, rows, columns) {
  const sums = new Float64Array(THUMB * THUMB);
  const span = (/** @type {number} */ i, /** @type {number} */ many) => {
    const from = Math.floor((i * many) / THUMB);
    return [from, Math.max(from + 1, Math.floor(((i + 1) * many) / THUMB))];
  };
  for (let k = 0; k < sums.length; k++) {
    const [[a = 0, b = 0], [c = 0, d = 0]] = [span(Math.floor(k / THUMB), rows), span(k % THUMB, columns)];
    let sum = 0;
    for (let row = a; row < b; row++)
      for (let column = c; column < d; column++) sum += values[row * columns + column] ?? 0;
    sums[k] = sum / ((b - a) * (d - c));
  }
  const most = sums.reduce((so, each) => Math.max(so, each), 1e-12);
  return Uint8Array.from(sums, (sum) => Math.round((255 * sum) / most));
}
