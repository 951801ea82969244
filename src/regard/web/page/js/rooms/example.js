/** Files to begin with: four heads over a sentence, and words that look into a picture. */

import { load } from "../views/pixels.js";
import { FORMAT } from "../bench/reading.js";

/** @typedef {import("../views/pixels.js").Picture} Picture */

const CELLS = 14; // along a side of the picture, as in a ViT/16
const ALIKE = 0.002; // how fast attention falls with the distance of two colours

export const SAMPLE = `{"format": "${FORMAT}", "title": "My model",
 "views": [{"name": "layer.0", "kind": "cross",
            "rows": {"kind": "words", "labels": ["the", "cat"]},
            "columns": {"kind": "words", "labels": ["le", "chat"]},
            "weights": [[0.9, 0.1], [0.2, 0.8]]}]}`;

/** Four heads that look in four ways. */
export function example() {
  const labels = ["the", "cat", "sat", "on", "the", "mat", "and", "pur", "red"];
  const words = [...labels.slice(0, -2).map((_, i) => [i, i]), [7, 8]];
  const rows = { kind: "words", labels, words };
  const ways = [
    (/** @type {number} */ i, /** @type {number} */ j) => -((i - j - 1) ** 2),
    (/** @type {number} */ i, /** @type {number} */ j) => -Math.abs(i - j),
    (/** @type {number} */ i, /** @type {number} */ j) => (labels[j] === "cat" ? 3 : -0.2 * j),
    (/** @type {number} */ i, /** @type {number} */ j) => 2 * Math.sin(i * 3 + j * 5),
  ];
  const weights = ways.map((way) => labels.map((_, i) => shared(labels.map((__, j) => Math.exp(way(i, j))))));
  return {
    format: FORMAT,
    title: "An example: four ways to look",
    views: [{ name: "layer.0.attention", kind: "self", heads: 4, rows, columns: rows, weights, model: "made up" }],
  };
}

/** A scene of the world, seen by the words that tell it, by its things, and by each of its own places.
 * @param {typeof import("../api.js")} api */
export async function pictureExample(api) {
  const params = { index: 7, split: "test", style: "whole" };
  const scene = /** @type {import("./world.js").Scene} */ (await api.get("/api/world/scene", { params }));
  const [rgb, masks] = await Promise.all([load(scene.images["rgb"] ?? ""), load(scene.images["masks"] ?? "")]);
  const where = finder(masks);
  const columns = { kind: "grid", height: CELLS, width: CELLS, image: rgb.whole.toDataURL() };
  const said = scene.captions["en"]?.words ?? [];
  const words = { kind: "words", labels: said.map((word) => word.text) };
  const [places, names] = [scene.things.map((thing) => thing.box), scene.things.map((thing) => thing.name)];
  const boxes = { kind: "boxes", boxes: places, labels: names };
  const [truth, colours] = ["made from the true masks", "made from the colours"];
  const told = said.map((word) => where(word.things ?? []));
  const found = scene.things.map((thing) => where([thing.id]));
  return {
    format: FORMAT,
    title: "An example: looking into a picture",
    views: [
      { name: "words find their things", kind: "cross", layer: 0, rows: words, columns, weights: told, model: truth },
      {
        name: "places of one colour",
        kind: "self",
        layer: 1,
        rows: columns,
        columns,
        weights: alike(rgb),
        model: colours,
      },
      { name: "things in their boxes", kind: "cross", layer: 2, rows: boxes, columns, weights: found, model: truth },
    ],
  };
}

const PLACES = Array.from({ length: CELLS * CELLS }, (_, i) => i);

/** The cell that a pixel lies in. @param {number} pixel @param {number} size */
const cellOf = (pixel, size) =>
  Math.floor((Math.floor(pixel / size) * CELLS) / size) * CELLS + Math.floor(((pixel % size) * CELLS) / size);

/** Where things are; a word about nothing that can be seen looks everywhere. @param {Picture} masks @returns {(things: number[]) => number[]} */
function finder({ grey, size }) {
  return (things) => {
    const found = PLACES.map(() => Number(!things.length));
    grey.forEach((id, pixel) => {
      const cell = cellOf(pixel, size);
      if (things.includes(id - 1)) found[cell] = (found[cell] ?? 0) + 1;
    });
    return shared(found);
  };
}

/** Each place looks at those of its colour. @param {Picture} picture */
function alike({ data, size }) {
  const colours = PLACES.map(() => [0, 0, 0]);
  const many = (size / CELLS) ** 2;
  for (let pixel = 0; pixel < size ** 2; pixel++) {
    const own = colours[cellOf(pixel, size)] ?? [];
    for (const channel of [0, 1, 2]) own[channel] = (own[channel] ?? 0) + (data[4 * pixel + channel] ?? 0) / many;
  }
  const unlike = (/** @type {number[]} */ a, /** @type {number[]} */ b) =>
    a.reduce((sum, x, i) => sum + (x - (b[i] ?? 0)) ** 2, 0);
  return colours.map((a) => shared(colours.map((b) => Math.exp(-ALIKE * unlike(a, b)))));
}

/** Numbers that add up to 1. @param {number[]} values */
function shared(values) {
  const sum = values.reduce((a, b) => a + b, 0);
  return values.map((value) => value / sum);
}
