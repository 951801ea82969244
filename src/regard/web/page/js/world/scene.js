/** A scene from the server, or from the files of a site: what is in it, what is said of it, and its pictures. */

import { load } from "../views/pixels.js";

/** @typedef {import("../views/pixels.js").Picture} Picture */
/** @typedef {{id: number, name: string, depth?: number, box: number[]}} Thing */
/** @typedef {{text: string, before?: string, things?: number[]}} Word */
/** @typedef {{index: number, things: Thing[], captions: Record<string, {text: string, words: Word[]}>, images: Record<string, string>, facts: Record<string, any>}} Scene */
/**
 * A scene ready to be painted. `right` says which thing the right eye sees in each pixel, as the masks do for the left.
 * @typedef {{scene: Scene, pictures: Record<string, Picture>, right: Uint8Array, painted: Map<string, HTMLCanvasElement>}} Loaded
 */

const PICTURES = ["rgb", "depth", "masks", "left", "right"];
const SHIFT = 0.0625 * 1.5; // how far a thing at one metre moves between the eyes, in sides of the picture

/** @param {typeof import("../api.js")} api @param {{index: number, split: string, style: string}} wanted
 * @param {AbortSignal} signal @returns {Promise<Loaded>} */
export async function fetchScene(api, { index, split, style }, signal) {
  const scene = /** @type {Scene} */ (await api.get("/api/world/scene", { params: { index, split, style }, signal }));
  const found = await Promise.all(PICTURES.map(async (name) => [name, await load(scene.images[name] ?? "")]));
  const pictures = /** @type {Record<string, Picture>} */ (Object.fromEntries(found));
  const masks = pictures["masks"];
  return { scene, pictures, right: masks ? seenRight(masks, scene.things) : new Uint8Array(), painted: new Map() };
}

/** Things stand further left for the right eye, near ones more; far ones first, so that near ones cover them.
 * @param {Picture} masks @param {Thing[]} things */
function seenRight({ size, grey }, things) {
  const found = new Uint8Array(size * size);
  for (const { id, depth = 1 } of [...things].sort((a, b) => (b.depth ?? 1) - (a.depth ?? 1))) {
    const shift = Math.round((SHIFT / depth) * size);
    grey.forEach((value, k) => {
      if (value === id + 1 && k % size >= shift) found[k - shift] = value;
    });
  }
  return found;
}

/** The thing at a place of a picture, both from 0 to 1, or null. @param {Loaded} loaded @param {number} x @param {number} y @param {boolean} right */
export function thingAt({ pictures, right: shifted }, x, y, right) {
  const masks = pictures["masks"];
  if (!masks || x < 0 || x >= 1 || y < 0 || y >= 1) return null;
  const pixel = Math.floor(y * masks.size) * masks.size + Math.floor(x * masks.size);
  const id = (right ? shifted : masks.grey)[pixel] ?? 0;
  return id ? id - 1 : null;
}
