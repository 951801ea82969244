/** An answer about a picture, and what can be seen of it, fetched once each. */

import { get } from "../api.js";
import { unpack } from "../views/view.js";

/** @typedef {{kind: string, labels?: [string, number][], boxes?: Found[]} & Record<string, any>} Output */
/** @typedef {{box: number[], label: string, score: number, query: number}} Found */
/** @typedef {{id: string, model: string, task: string, seconds?: number, axes: Record<string, any>, output: Output, warnings?: {text: string}[], attentions: {name: string, heads: number, rows: string, columns: string}[]}} Answer */

/** An answer, and all that was seen of it so far. */
export class Seen {
  /** @param {Answer} answer */
  constructor(answer) {
    this.answer = answer;
    /** @type {Map<string, Promise<any>>} */
    this.kept = new Map();
    const grids = Object.values(answer.axes).filter((axis) => axis.kind === "grid");
    /** What the model saw. @type {string} */
    this.image = grids.find((axis) => axis.image)?.image ?? "";
    /** @type {string[]} tokens without a place */
    this.leading = grids.find((axis) => axis.leading?.length)?.leading ?? [];
  }

  /** @param {string} how @param {Record<string, unknown>} [params] @returns {Promise<any>} */
  see(how, params = {}) {
    const key = `${how} ${JSON.stringify(params)}`;
    const found =
      this.kept.get(key) ??
      get(`/api/looks/${this.answer.id}/seen`, { params: { how, ...params } }).catch((error) => {
        this.kept.delete(key);
        throw error;
      });
    this.kept.set(key, found);
    return found;
  }
}

/** Packed numbers. @param {string} text */
export const numbers = (text) => unpack(bytes(text).buffer, "f32");
/** @param {string} text */
export const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
