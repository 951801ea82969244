/** Where words stand, in two rows or in two columns, and the shape of a ribbon from one to another. */

import { measure } from "./paint.js";

/** A word's place. @typedef {{x: number, y: number, width: number}} Place */
/** @typedef {{rows: Place[], columns: Place[], flat: boolean, width: number, height: number, type: Type}} Layout */
/** What can be drawn with: a canvas, a path, or a text that becomes one. @typedef {Pick<CanvasPath, "moveTo" | "lineTo" | "bezierCurveTo" | "closePath">} Pen */

/** Pixels of a word and of its letters, between words at most, and half of a ribbon that has all the weight.
 * @typedef {{tall: number, size: number, far: number, broad: number}} Type */
export const TYPE = { tall: 34, size: 17, far: 34, broad: 7 };
export const LARGE = { tall: 54, size: 30, far: 70, broad: 16 };
const NEAR = 4; // pixels between words, at least
const MANY = 200; // words that never fit beside each other
const apart = () => Math.max(150, Math.min(400, innerHeight * 0.34)); // pixels between the two rows of words

/** Two rows of words if they fit, two columns if they do not.
 * @param {{rows: string[], columns: string[]}} names @param {number} width @param {Type} type @param {string} family the letters they are set in @returns {Layout} */
export function placed(names, width, type, family) {
  const { tall, size, far } = type;
  const font = `${size}px ${family}`;
  const measured = (/** @type {string[]} */ some) => some.slice(0, MANY).map((name) => Math.ceil(measure(name, font)));
  const widths = { rows: measured(names.rows), columns: measured(names.columns) };
  const room = (/** @type {number[]} */ some) => some.reduce((sum, each) => sum + each + 16, NEAR * (some.length - 1));
  const flat =
    Math.max(names.rows.length, names.columns.length) < MANY &&
    Math.max(room(widths.rows), room(widths.columns)) <= width;
  if (flat) {
    const line = (/** @type {number[]} */ some, /** @type {number} */ y) => {
      // Words spread over the width as far as is pleasant, so that ribbons have room.
      const gaps = Math.max(1, some.length - 1);
      const gap = Math.min(far, NEAR + (width - room(some)) / gaps);
      let x = Math.max(0, (width - room(some) - (gap - NEAR) * (some.length - 1)) / 2);
      return some.map((each) => {
        const place = { x, y, width: each + 16 };
        x += place.width + gap;
        return place;
      });
    };
    const below = tall + apart();
    return { rows: line(widths.rows, below), columns: line(widths.columns, 0), flat, width, height: below + tall, type };
  }
  const wide = Math.min(width * 0.4, Math.max(...widths.rows, ...widths.columns) + 20);
  const side = (/** @type {string[]} */ some, /** @type {number} */ x) =>
    some.map((_, i) => ({ x, y: i * tall, width: wide }));
  const from = Math.max(0, (width - 2 * wide - 360) / 2);
  return {
    rows: side(names.rows, width - from - wide),
    columns: side(names.columns, from),
    flat,
    width,
    height: tall * Math.max(names.rows.length, names.columns.length, 1),
    type,
  };
}

/** A ribbon as broad as its weight; without one, the thread in its middle. With `part` below 1 it is only begun, at the row.
 * @param {Pen} pen @param {Layout} layout @param {number} row @param {number} column @param {number} [weight] @param {number} [part] */
export function trace(pen, layout, row, column, weight, part = 1) {
  const [to, from] = [layout.columns[column], layout.rows[row]];
  if (!to || !from) return;
  const { tall, broad } = layout.type;
  const half = weight === undefined ? 0 : Math.max(0.6, broad * weight);
  const [dx, dy] = layout.flat ? [half, 0] : [0, half]; // across the ribbon
  const [a, d] = layout.flat
    ? [at(from.x + from.width / 2, from.y + 2), at(to.x + to.width / 2, to.y + tall - 2)]
    : [at(from.x, from.y + tall / 2), at(to.x + to.width, to.y + tall / 2)];
  const [x, y] = [(a.x + d.x) / 2, (a.y + d.y) / 2];
  const curve = [a, layout.flat ? at(a.x, y) : at(x, a.y), layout.flat ? at(d.x, y) : at(x, d.y), d];
  const [, b, c, e] = part < 1 ? begun(curve, part) : curve;
  if (!b || !c || !e) return;
  pen.moveTo(a.x - dx, a.y - dy);
  pen.bezierCurveTo(b.x - dx, b.y - dy, c.x - dx, c.y - dy, e.x - dx, e.y - dy);
  if (!half) return;
  pen.lineTo(e.x + dx, e.y + dy);
  pen.bezierCurveTo(c.x + dx, c.y + dy, b.x + dx, b.y + dy, a.x + dx, a.y + dy);
  pen.closePath();
}

/** How much of a ribbon of an upright layout there is `reach` pixels above or below its row. @param {Layout} layout @param {number} row @param {number} column @param {number} reach */
export function within(layout, row, column, reach) {
  const away = Math.abs((layout.columns[column]?.y ?? 0) - (layout.rows[row]?.y ?? 0));
  return away <= reach ? 1 : Math.sqrt(reach / (3 * away)); // near its end, a curve of height h is at 3·h·part²
}

/** The first part of a curve, by de Casteljau. @param {Point[]} curve @param {number} part @returns {Point[]} */
function begun(curve, part) {
  const [first] = curve;
  if (!first) return [];
  const between = (/** @type {Point} */ p, /** @type {Point} */ q) => at(p.x + (q.x - p.x) * part, p.y + (q.y - p.y) * part);
  return [first, ...begun(curve.slice(1).map((next, i) => between(curve[i] ?? next, next)), part)];
}

/** @typedef {{x: number, y: number}} Point */
/** @param {number} x @param {number} y @returns {Point} */
const at = (x, y) => ({ x, y });

/** The same as the text of a path. @param {Layout} layout @param {number} row @param {number} column @param {number} [weight] */
export function traced(layout, row, column, weight) {
  let text = "";
  const write = (/** @type {string} */ letter) => (/** @type {number[]} */ ...numbers) =>
    void (text += letter + numbers.map((each) => +each.toFixed(2)).join(" "));
  const pen = { moveTo: write("M"), lineTo: write("L"), bezierCurveTo: write("C"), closePath: write("Z") };
  trace(pen, layout, row, column, weight);
  return text;
}
