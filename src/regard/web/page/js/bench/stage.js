/** The view on stage: created when it is chosen, brought in line with the scene, and given away with its own numbers. */

import { h, replace } from "../dom.js";
import { labels } from "../views/view.js";
import { titled } from "./answer.js";
import { inward, outward, seen, switchedOff, where } from "./scene.js";
import { said } from "./selection.js";
import { fitting } from "./views.js";

/** @typedef {import("../views/view.js").Mark} Mark */
/** @typedef {import("./scene.js").Scene} Scene */
/** @typedef {import("./scene.js").Seen} Seen */
/** @typedef {import("./views.js").Entry} Entry */
/** @typedef {import("./views.js").Drawn} Drawn */
/** @typedef {import("../export.js").Figure} Figure */
/** @typedef {import("./panel.js").Patch} Patch */
/**
 * @typedef {object} Tools
 * @property {import("../app.js").Context} context
 * @property {Entry[]} views
 * @property {(patch: Patch) => void} change
 * @property {(mark: Mark | null) => void} pointed a row of the answer is pointed at
 */

export class Stage {
  /** @param {HTMLElement} host @param {Tools} tools */
  constructor(host, tools) {
    this.host = host;
    this.tools = tools;
    /** @type {{entry: Entry, made: Drawn} | null} */
    this.drawn = null;
    /** @type {Seen | null} */
    this.seen = null;
    /** @type {Scene | null} */
    this.scene = null;
  }

  /** @param {Scene} scene */
  show(scene) {
    this.scene = scene;
    this.seen = seen(scene);
    const entry = fitting(this.tools.views, scene.state.as, scene);
    if (!entry)
      return this.note(
        "This model has no attention.",
        "It reads the whole input into one vector and answers from memory, so there is nowhere to look.",
      );
    if (!entry.bare && switchedOff(scene)) return this.off(scene);
    this.put(entry);
    // A view that is bare takes the scene alone.
    this.drawn?.made.update(/** @type {Seen} */ (this.seen)?.view, scene);
    if (this.seen) this.drawn?.made.pick?.(inward(scene.state.at, this.seen));
  }

  /** A head that is switched off looks at nothing: say so instead of an empty figure. @param {Scene} scene */
  off(scene) {
    const { selection, edits } = scene;
    if (!selection) return;
    const one = selection.heads.length === 1;
    const rest = edits.filter(
      (edit) =>
        !selection.heads.some(({ name, head }) => edit.name === name && (edit.head === null || edit.head === head)),
    );
    this.note(
      `${one ? "This head is" : "These heads are"} switched off.`,
      `${where(scene)}: ${one ? "it looks" : "they look"} at nothing, so there is nothing to draw.`,
      h(
        "button",
        { type: "button", class: "button", onclick: () => this.tools.change({ edits: rest }) },
        one ? "Switch it on again" : "Switch them on again",
      ),
    );
  }

  /** @param {string} title @param {string} says @param {HTMLElement} [more] */
  note(title, says, more) {
    this.clear();
    replace(
      this.host,
      h("div", { class: "blind-note" }, h("p", null, title), h("p", { class: "quiet" }, says), more ?? null),
    );
  }

  clear() {
    this.drawn?.made.destroy();
    this.drawn = null;
    replace(this.host);
  }

  /** @param {Entry} entry */
  put(entry) {
    if (this.drawn?.entry === entry) return;
    this.clear();
    const out = (/** @type {Mark} */ mark) => (this.seen ? outward(mark, this.seen) : mark);
    const made = entry.create(this.host, {
      context: this.tools.context,
      change: this.tools.change,
      point: (mark) => this.tools.pointed(mark && out(mark)),
      pick: (mark) => this.pick(out(mark)),
    });
    this.drawn = { entry, made };
  }

  /** A second click on what is kept lets go of it. @param {Mark} mark */
  pick(mark) {
    const at = this.scene?.state.at;
    const again = at?.row !== undefined && at.row === mark.row && this.drawn?.entry.id === "matrix";
    const side =
      mark.row !== undefined ? { row: mark.row } : mark.column !== undefined ? { column: mark.column } : null;
    this.tools.change({ at: again ? null : side });
  }

  /** Show what is pointed at in the answer. @param {Mark | null} mark */
  highlight(mark) {
    if (!this.seen || !this.scene) return;
    const kept = this.drawn?.entry.id === "matrix" ? this.scene.state.at : null;
    this.drawn?.made.highlight?.(mark ? inward(mark, this.seen) : kept && inward(kept, this.seen));
  }

  /** What can be taken away: the view as it is seen, with numbers of its own or those of the weights. @returns {Figure[]} */
  figures() {
    const { scene, drawn } = this;
    if (!scene || !drawn) return [];
    const { made, entry } = drawn;
    const name = titled(scene.model) || scene.result.model;
    const svg = made.exportSvg;
    return [
      {
        title: [name, entry.title.toLowerCase()].filter(Boolean).join(", "),
        ...(svg ? { svg: () => svg() } : {}),
        ...(made.table ? { table: made.table } : this.seen ? { table: () => this.table() } : {}),
        ...(made.json ? { json: made.json } : this.seen ? { json: () => this.json() } : {}),
      },
    ];
  }

  /** The weights that are seen; of several heads in colours those of each. */
  async table() {
    const { view } = /** @type {Seen} */ (this.seen);
    const [rows, columns] = [labels(view.rows), labels(view.columns)];
    const layers = view.layers ?? [{ title: "", weights: view.weights }];
    const parts = await Promise.all(layers.map(async ({ title, weights }) => ({ title, all: await weights.all() })));
    const line = (/** @type {Float32Array} */ all, /** @type {number} */ i) => [
      ...all.subarray(i * columns.length, (i + 1) * columns.length),
    ];
    return {
      columns: [...(view.layers ? ["head"] : []), "", ...columns],
      rows: parts.flatMap(({ title, all }) =>
        rows.map((name, i) => [...(view.layers ? [title] : []), name, ...line(all, i)]),
      ),
    };
  }

  /** The same as a file that Your file opens. */
  async json() {
    const { view } = /** @type {Seen} */ (this.seen);
    const scene = /** @type {Scene} */ (this.scene);
    const layers = view.layers ?? [{ title: scene.selection ? said(scene.selection) : "", weights: view.weights }];
    const [tall, wide] = [view.weights.rows, view.weights.columns];
    const views = layers.map(async ({ title, weights }) => ({
      name: `${view.name}, ${title}`,
      kind: view.kind,
      layer: view.layer,
      rows: view.rows,
      columns: view.columns,
      model: titled(scene.model),
      caption: scene.result.caption,
      weights: { shape: [tall, wide], encoding: "f32", data: base64(await weights.all()) },
    }));
    return { format: "regard-views-1", title: titled(scene.model), views: await Promise.all(views) };
  }

  destroy() {
    this.drawn?.made.destroy();
  }
}

/** @param {Float32Array} values */
function base64(values) {
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  let text = "";
  for (let i = 0; i < bytes.length; i += 8192) text += String.fromCharCode(...bytes.subarray(i, i + 8192));
  return btoa(text);
}
