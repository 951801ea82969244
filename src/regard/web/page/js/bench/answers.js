/** Answers that are known, so that undo is instant and two panels that ask the same ask once. */

import { ApiError, aborted } from "../api.js";
import { ask } from "./ask.js";

/** @typedef {import("./answer.js").Answer} Answer */
/** @typedef {import("./ask.js").Told} Told */
/** @typedef {{signal: AbortSignal, progress?: (told: Told) => void, fresh?: boolean}} How */

const KEPT = 16;

export class Answers {
  /** @param {typeof import("../api.js")} api */
  constructor(api) {
    this.api = api;
    /** @type {Map<string, Promise<Answer>>} */
    this.known = new Map();
  }

  /** Ask, or remember. @param {Record<string, unknown>} request @param {How} how @returns {Promise<Answer>} */
  async find(request, how) {
    try {
      return await this.shared(request, how);
    } catch (error) {
      // Somebody else asked the same and gave up.
      if (aborted(error) && !how.signal.aborted) return this.find(request, how);
      throw error;
    }
  }

  /** @param {Record<string, unknown>} request @param {How} how */
  shared(request, { signal, progress, fresh = false }) {
    const key = JSON.stringify(request);
    const known = this.known.get(key);
    if (known && !fresh) return known;
    const found = patient(() => ask(this.api, request, { signal, ...(progress ? { progress } : {}) }), signal);
    this.known.set(key, found);
    found.catch(() => this.known.get(key) === found && this.known.delete(key));
    for (const old of [...this.known.keys()].slice(0, Math.max(0, this.known.size - KEPT))) this.known.delete(old);
    return found;
  }
}

/** A full queue is asked again after a moment. @template T @param {() => Promise<T>} run @param {AbortSignal} signal @returns {Promise<T>} */
async function patient(run, signal) {
  for (let pause = 300; ; pause *= 2) {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof ApiError && error.busy) || pause > 3000 || signal.aborted) throw error;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}
