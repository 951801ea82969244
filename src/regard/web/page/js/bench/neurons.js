/** Why one word looked as it did: query times key for one head and one row, which the server computes. */

import { aborted } from "../api.js";
import { h, replace } from "../dom.js";
import { refill } from "../rooms/refill.js";
import * as neuron from "../views/neuron.js";
import { labels } from "../views/view.js";
import { wordAt } from "./answer.js";

/** @typedef {import("./scene.js").Scene} Scene */
/** @typedef {import("./views.js").Drawn} Drawn */
/** @typedef {import("./views.js").Hands} Hands */

/** @param {HTMLElement} host @param {Hands} hands @returns {Drawn} */
export function neurons(host, hands) {
  const made = new Asked(host, hands);
  return {
    update: (_, scene) => made.update(scene),
    exportSvg: async () => made.drawn?.exportSvg() ?? document.createElementNS("http://www.w3.org/2000/svg", "svg"),
    table: () => made.drawn?.table() ?? { columns: [], rows: [] },
    json: () => made.drawn?.json(),
    destroy: () => made.destroy(),
  };
}

class Asked {
  /** @param {HTMLElement} host @param {Hands} hands */
  constructor(host, { change }) {
    this.change = change;
    this.askers = h("div", { class: "askers", role: "group", "aria-label": "Who asks" });
    this.note = h("p", { class: "quiet" });
    this.stage = h("div", null);
    host.append(this.askers, this.note, this.stage);
    /** @type {ReturnType<typeof neuron.create> | null} */
    this.drawn = null;
    this.control = new AbortController();
  }

  /** @param {Scene} scene */
  update(scene) {
    const { heads = [], attention } = scene.selection ?? {};
    const [head] = heads;
    const axis = scene.result.axes[attention?.rows ?? ""];
    if (!head || !axis) return;
    const { at, merge } = scene.state;
    const last = axis.kind === "words" && merge === "words" ? axis.words?.[at.row ?? 0]?.[1] : undefined;
    const row = at.row === undefined ? 0 : (last ?? at.row);
    this.note.hidden = heads.length < 2;
    replace(this.note, `A query belongs to one head: this is head ${head.head + 1}.`);
    const word = (/** @type {number} */ i) => (merge === "words" ? (wordAt(axis, i) ?? i) : i);
    const asker = (/** @type {string} */ name, /** @type {number} */ i) =>
      h(
        "button",
        { type: "button", "aria-pressed": String(i === row), onclick: () => this.change({ at: { row: word(i) } }) },
        name,
      );
    refill(this.askers, h("span", { class: "quiet" }, "Who asks?"), labels(axis).map(asker));
    void this.ask(scene, row, head);
  }

  /** @param {Scene} scene @param {number} row @param {{name: string, head: number}} head */
  async ask({ look, result, selection }, row, head) {
    const [rows, columns] = [selection?.attention.rows, selection?.attention.columns].map(
      (name) => result.axes[name ?? ""],
    );
    this.control.abort();
    const { signal } = (this.control = new AbortController());
    try {
      const found = await look.neuron?.(head.name, head.head, row, signal);
      if (signal.aborted || !rows || !columns) return;
      if (!this.drawn) replace(this.stage);
      this.drawn ??= neuron.create(this.stage);
      this.drawn.update({ ...found, asks: labels(rows)[row] ?? "", names: labels(columns) });
    } catch (error) {
      if (aborted(error) || signal.aborted) return;
      this.drawn?.destroy();
      this.drawn = null;
      const why = error instanceof Error ? error.message : String(error);
      replace(this.stage, h("div", { class: "blind-note" }, h("p", { role: "alert" }, why)));
    }
  }

  destroy() {
    this.control.abort();
    this.drawn?.destroy();
    for (const part of [this.askers, this.note, this.stage]) part.remove();
  }
}
