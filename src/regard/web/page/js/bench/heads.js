/** All heads of a model beside the view: a thumbnail each, which opens it, joins it to others, switches it off or makes it uniform. */

import { aborted } from "../api.js";
import * as overview from "../views/overview.js";
import { grouped, layerNames, percent } from "./answer.js";
import { edited, marksOf } from "./edits.js";
import { every, toggled, writtenHeads } from "./selection.js";

/** @typedef {import("./scene.js").Scene} Scene */
/** @typedef {import("./selection.js").Head} Head */
/** @typedef {import("./answer.js").Edit} Edit */
/** @typedef {{context: import("../app.js").Context, change: (patch: import("./panel.js").Patch) => void, edits: boolean}} Tools */

export class Heads {
  /** @param {HTMLElement} host @param {Tools} tools */
  constructor(host, tools) {
    this.tools = tools;
    /** @type {Scene | null} */
    this.scene = null;
    /** @type {{look: import("./look.js").Look, pictures: import("./look.js").Pictures} | null} */
    this.known = null;
    this.view = overview.create(host, {
      onselect: (heads, how) => this.select(heads, how),
      ...(tools.edits ? { actions: (/** @type {Head[]} */ heads) => this.actions(heads) } : {}),
    });
  }

  /** @param {Scene} scene @param {AbortSignal} signal */
  show(scene, signal) {
    this.scene = scene;
    this.draw();
    if (this.known?.look === scene.look) return;
    scene.look.thumbnails(signal).then(
      (pictures) => {
        if (this.scene?.look !== scene.look) return;
        this.known = { look: scene.look, pictures };
        this.draw();
      },
      (error) =>
        aborted(error) || this.tools.context.toast(error instanceof Error ? error.message : String(error), "error"),
    );
  }

  draw() {
    const { scene, known } = this;
    if (!scene) return;
    const { result, selection, edits } = scene;
    const errors = /** @type {Record<string, number[]>} */ (result.output?.gold?.error ?? {});
    const notes = Object.entries(errors).flatMap(([name, some]) =>
      some.map((error, i) => /** @type {[string, string]} */ ([`${name}:${i}`, `alignment error ${percent(error)}`])),
    );
    this.view.update({
      size: known?.pictures.size ?? 1,
      pixels: known?.pictures.pixels ?? new Map(),
      groups: grouped(result.attentions).map(({ title, lines }) => ({
        title,
        lines: layerNames(lines).map(({ short, title: called }, i) => {
          const { name, layer, heads } = /** @type {import("./answer.js").Attention} */ (lines[i]);
          return { name, layer, heads, short, called };
        }),
      })),
      chosen: new Set(selection?.heads.map(overview.keyOf)),
      coloured: Boolean(selection && selection.heads.length > 1 && !selection.mean),
      marks: marksOf(edits, result),
      notes: new Map(notes),
    });
  }

  /** @param {Head[]} heads @param {"only" | "toggle"} how */
  select(heads, how) {
    const { scene } = this;
    if (!scene) return;
    const next = how === "only" ? heads : toggled(scene.selection?.heads ?? [], heads);
    const [to, from] = [next[0], scene.selection?.attention].map((each) =>
      scene.result.attentions.find(({ name }) => name === each?.name),
    );
    const mean = scene.state.mean;
    this.tools.change({
      look: writtenHeads(next, scene.result, mean),
      ...(to?.rows === from?.rows ? {} : { at: null }),
    });
  }

  /** What the menu of some heads offers; of one head also what it is chosen with, and its whole layer. @param {Head[]} heads @returns {import("../views/menu.js").Action[]} */
  actions(heads) {
    const { scene } = this;
    const [first] = heads;
    if (!scene || !first) return [];
    const layer = scene.result.attentions.find(({ name }) => name === first.name);
    const chosen = scene.selection?.heads ?? [];
    const among = chosen.length > 1 && chosen.some((each) => each.name === first.name && each.head === first.head);
    const all = chosen.length === layer?.heads && chosen.every(({ name }) => name === first.name);
    const own = this.kinds(heads, heads.length > 1 ? "them" : "it");
    if (heads.length > 1 || !layer) return own;
    return [
      ...own,
      ...(among && !all ? [{ label: `The ${chosen.length} chosen heads` }, ...this.kinds(chosen, "them")] : []),
      ...(layer.heads > 1
        ? [{ label: `Layer ${layer.layer + 1}, all ${layer.heads} heads` }, ...this.kinds(every(layer), "the layer")]
        : []),
    ];
  }

  /** @param {Head[]} heads @param {string} it @returns {import("../views/menu.js").Action[]} */
  kinds(heads, it) {
    const scene = /** @type {Scene} */ (this.scene);
    const marks = marksOf(scene.edits, scene.result);
    const now = new Set(heads.map((head) => marks.get(overview.keyOf(head)) ?? ""));
    const option = (/** @type {string} */ label, /** @type {Edit["kind"] | ""} */ kind) => ({
      label,
      checked: now.size === 1 && now.has(kind),
      run: () => this.tools.change({ edits: edited(scene.edits, scene.result, heads, kind) }),
    });
    const as = it === "it" ? "As it is" : it === "them" ? "As they are" : "The layer as it is";
    return [option(as, ""), option(`Switch ${it} off`, "off"), option(`Make ${it} uniform`, "uniform")];
  }

  exportSvg() {
    return this.view.exportSvg();
  }

  destroy() {
    this.view.destroy();
  }
}
