/** The runs of this machine and what was measured in them, as far as it is known here. */

import { aborted } from "../api.js";

/** @typedef {Record<string, number> & {step: number}} Row */
/** @typedef {{name: string, recipe: string, fields: Record<string, any>, steps: number | null, step: number, best: Record<string, number>, minutes: number, alive: boolean, problem: string | null, samples: Record<string, string>[], model?: string | null}} Run `model` is the one that kept this curve of its training; a run that is here has none */

export class History {
  /** @param {typeof import("../api.js")} api @param {AbortSignal} signal */
  constructor(api, signal) {
    this.api = api;
    this.signal = signal;
    /** @type {Run[]} */
    this.runs = [];
    /** @type {Map<string, Row[]>} */
    this.rows = new Map();
    /** Why a run cannot be shown. @type {Map<string, string>} */
    this.failed = new Map();
  }

  /** Look which runs there are. */
  async list() {
    this.runs = await this.api.get("/api/runs", { signal: this.signal });
  }

  get names() {
    return this.runs.map(({ name }) => name);
  }

  /** Those that were trained here. */
  get own() {
    return this.runs.filter(({ model }) => !model);
  }

  /** @param {string} name */
  run(name) {
    return this.runs.find((run) => run.name === name);
  }

  /** @param {string} name */
  rowsOf(name) {
    return this.rows.get(name) ?? [];
  }

  /** What was measured since the last look; what one run refuses does not touch the others. @param {string} name */
  async more(name) {
    const last = this.rowsOf(name).at(-1)?.step ?? -1;
    if (last >= 0 && (this.run(name)?.step ?? 0) <= last) return;
    const path = `/api/runs/${encodeURIComponent(name)}/metrics`;
    try {
      const found = await this.api.get(path, { params: { after: last }, signal: this.signal });
      // A look that was begun before another one ended must not add the same rows again.
      const end = this.rowsOf(name).at(-1)?.step ?? -1;
      const fresh = /** @type {Row[]} */ (found.rows).filter((row) => row.step > end);
      this.rows.set(name, [...this.rowsOf(name), ...fresh]);
      this.failed.delete(name);
    } catch (error) {
      if (!aborted(error)) this.failed.set(name, error instanceof Error ? error.message : String(error));
    }
  }
}
