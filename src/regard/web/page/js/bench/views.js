/**
 * The views that every room has. A view is `{id, title, key, bare, fits(scene), create(host, hands)}`; what it creates
 * has `update(view, scene)`, `destroy()` and, as far as it can, `exportSvg()`, `table()`, `json()`, `highlight(mark)`
 * and `pick(mark)`. One that is `bare` needs no attention.
 */

import * as gaze from "../views/image_attention.js";
import * as lines from "../views/lines.js";
import * as matrix from "../views/matrix.js";
import { neurons } from "./neurons.js";
import { seen } from "./scene.js";

/** @typedef {import("../views/view.js").View} View */
/** @typedef {import("../views/view.js").Mark} Mark */
/** @typedef {import("../export.js").Table} Table */
/** @typedef {import("./scene.js").Scene} Scene */
/**
 * @typedef {object} Drawn
 * @property {(view: View, scene: Scene) => void} update `view` is missing where the model has no attention
 * @property {() => void} destroy
 * @property {() => Promise<SVGSVGElement>} [exportSvg]
 * @property {() => Table | Promise<Table>} [table] numbers of its own; without, those of the weights
 * @property {() => unknown} [json]
 * @property {(mark: Mark | null) => void} [highlight]
 * @property {(mark: Mark) => void} [pick]
 */
/** @typedef {{point: (mark: Mark | null) => void, pick: (mark: Mark) => void, change: (patch: import("./panel.js").Patch) => void, context: import("../app.js").Context}} Hands */
/**
 * @typedef {object} Entry
 * @property {string} id
 * @property {string} title
 * @property {string} [key]
 * @property {boolean} [bare]
 * @property {boolean} [leads] comes before those that every room has
 * @property {(scene: Scene) => boolean} [fits]
 * @property {(host: HTMLElement, hands: Hands) => Drawn} create
 */

/** @param {Scene} scene */
const pictured = (scene) => {
  const found = seen(scene);
  return found !== null && gaze.pictured(found.view);
};

/** @type {Entry[]} */
export const COMMON = [
  {
    id: "picture",
    title: "Picture",
    key: "i",
    fits: pictured,
    create: (host, { pick }) => gaze.create(host, { onpick: pick }),
  },
  {
    id: "lines",
    title: "Lines",
    key: "l",
    create: (host, { point, pick }) => lines.create(host, { onpoint: point, onpick: pick }),
  },
  {
    id: "matrix",
    title: "Matrix",
    key: "x",
    create: (host, { point, pick }) => matrix.create(host, { onpoint: point, onpick: pick }),
  },
  { id: "neuron", title: "Neurons", key: "n", fits: ({ look }) => look.neuron !== null, create: neurons },
];

/** The view that is wished for, or the first that fits. @param {Entry[]} all @param {string} wanted @param {Scene} scene @returns {Entry | null} */
export function fitting(all, wanted, scene) {
  const some = all.filter((each) => (each.bare || scene.selection) && (each.fits?.(scene) ?? true));
  return some.find(({ id }) => id === wanted) ?? some.find(({ bare }) => !bare) ?? null;
}
