/** Depth and masks in the colours of the page, and the shade that leaves only the lit things bright. */

import { dark, hue, table } from "../color.js";
import { inks, picture } from "../views/paint.js";

/** @typedef {import("./scene.js").Loaded} Loaded */

const NEAR = [1, 2, -1, -2]; // steps along a row or a column that make the rim

/** Depth, or a colour for each thing. @param {Loaded} loaded @param {"depth" | "masks"} kind */
export function coloured({ scene, pictures, painted }, kind) {
  return once(painted, `${kind} ${dark()}`, () => {
    const { size = 1, grey = new Uint8Array(1) } = pictures[kind] ?? {};
    if (kind === "depth") return picture(grey, size, 255, table(true));
    const colours = [inks().sunken, ...scene.things.map((_, i) => hue(i))].map(rgb);
    const opaque = palette((i) => [...(colours[i] ?? [0, 0, 0]), 255]);
    return picture(grey, size, 255, opaque);
  });
}

/** Everything but the lit things in shade, and a rim around them. @param {Loaded} loaded @param {Set<number>} lit @param {boolean} right */
export function shade({ pictures, painted, right: shifted }, lit, right) {
  return once(painted, `shade ${right} ${[...lit]} ${dark()}`, () => {
    const { size = 1, grey = new Uint8Array(1) } = pictures["masks"] ?? {};
    const rim = rgb(inks().raised);
    const colours = palette((i) => (i === 1 ? [...rim, 255] : i === 2 ? [12, 15, 24, 165] : [0, 0, 0, 0]));
    return picture(shades(right ? shifted : grey, size, lit), size, 255, colours);
  });
}

/** 0 on the lit things, 1 on the rim around them, 2 elsewhere. @param {Uint8Array} ids @param {number} size @param {Set<number>} lit */
function shades(ids, size, lit) {
  const found = new Uint8Array(size * size).fill(2);
  ids.forEach((id, k) => {
    if (!id || !lit.has(id - 1)) return;
    found[k] = 0;
    for (const step of [...NEAR, ...NEAR.map((each) => each * size)]) {
      const [next, beyond] = [k + step, Math.abs(((k + step) % size) - (k % size)) > 2];
      if (!beyond && found[next] === 2 && !lit.has((ids[next] ?? 0) - 1)) found[next] = 1;
    }
  });
  return found;
}

/** @param {Map<string, HTMLCanvasElement>} painted @param {string} key @param {() => HTMLCanvasElement} paint */
function once(painted, key, paint) {
  const found = painted.get(key) ?? paint();
  painted.set(key, found);
  return found;
}

/** A table of 256 colours. @param {(i: number) => number[]} colour */
function palette(colour) {
  const found = new Uint8ClampedArray(1024);
  for (let i = 0; i < 256; i++) found.set(colour(i), i * 4);
  return found;
}

/** @param {string} colour @returns {[number, number, number]} */
function rgb(colour) {
  const hex = colour.match(/^#(..)(..)(..)$/)?.slice(1);
  const [r = 0, g = 0, b = 0] = hex ? hex.map((part) => parseInt(part, 16)) : (colour.match(/\d+/g) ?? []).map(Number);
  return [r, g, b];
}
