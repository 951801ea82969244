/** Where words stand, in two rows or in two columns, and the shape of a ribbon from one to another. Who looks stands above, or left. */

import { measure } from "./paint.js";

/** A word's place. @typedef {{x: number, y: number, width: number}} Place */
/** @typedef {{rows: Place[], columns: Place[], flat: boolean, width: number, height: number, type: Type}} Layout */
/** What can be drawn with: a canvas, a path, or a text that becomes one. @typedef {Pick<CanvasPath, "moveTo" | "lineTo" | "bezierCurveTo" | "closePath">} Pen */
/** @typedef {{x: number, y: number}} Point */

/** Pixels of a word and of its letters, between words at most, and half of a ribbon that has all the weight.
 * @typedef {{tall: number, size: number, far: number, broad: number}} Type */
export const TYPE = { tall: 34, size: 17, far: 34, broad: 7 };
export const LARGE = { tall: 54, size: 30, far: 70, broad: 16 };
/** A type, so many times as large. @param {Type} type @param {number} by @returns {Type} */
export const sized = ({ tall, size, far, broad }, by) => ({
  tall: Math.round(tall * by),
  size: Math.round(size * by),
  far: Math.round(far * by),
  broad: broad * by,
});
const NEAR = 4; // pixels between words, at least
const MANY = 200; // words that never fit beside each other
const apart = () => Math.max(150, Math.min(400, innerHeight * 0.27)); // pixels between the two rows of words, which are to be seen together

/** Two rows of words if they fit, two columns if they do not.
 * @param {{rows: string[], columns: string[]}} names @param {number} width @param {Type} type @param {string} family the letters they are set in @returns {Layout} */
export function placed(names, width, type, family) {
  const font = `${type.size}px ${family}`;
  const measured = (/** @type {string[]} */ some) => some.slice(0, MANY).map((name) => Math.ceil(measure(name, font)));
  const widths = { rows: measured(names.rows), columns: measured(names.columns) };
  const few = Math.max(names.rows.length, names.columns.length) < MANY;
  const flat = few && Math.max(room(widths.rows), room(widths.columns)) <= width;
  return flat ? above(widths, width, type) : beside(names, widths, width, type);
}

/** What words take if they stand close. @param {number[]} some */
const room = (some) => some.reduce((sum, each) => sum + each + 16, NEAR * (some.length - 1));

/** @param {{rows: number[], columns: number[]}} widths @param {number} width @param {Type} type @returns {Layout} */
function above(widths, width, type) {
  const line = (/** @type {number[]} */ some, /** @type {number} */ y) => {
    // Words spread over the width as far as is pleasant, so that ribbons have room.
    const gaps = Math.max(1, some.length - 1);
    const gap = Math.min(type.far, NEAR + (width - room(some)) / gaps);
    let x = Math.max(0, (width - room(some) - (gap - NEAR) * (some.length - 1)) / 2);
    return some.map((each) => {
      const place = { x, y, width: each + 16 };
      x += place.width + gap;
      return place;
    });
  };
  const below = type.tall + apart();
  return {
    rows: line(widths.rows, 0),
    columns: line(widths.columns, below),
    flat: true,
    width,
    height: below + type.tall,
    type,
  };
}

/** @param {{rows: string[], columns: string[]}} names @param {{rows: number[], columns: number[]}} widths @param {number} width @param {Type} type @returns {Layout} */
function beside(names, widths, width, type) {
  const wide = Math.min(width * 0.4, Math.max(...widths.rows, ...widths.columns) + 20);
  const from = Math.max(0, (width - 2 * wide - 360) / 2);
  const side = (/** @type {string[]} */ some, /** @type {number} */ x) =>
    some.map((_, i) => ({ x, y: i * type.tall, width: wide }));
  const height = type.tall * Math.max(names.rows.length, names.columns.length, 1);
  return {
    rows: side(names.rows, from),
    columns: side(names.columns, width - from - wide),
    flat: false,
    width,
    height,
    type,
  };
}

/** The middle of a ribbon, from the word that looks to the one that is looked at.
 * @param {Layout} layout @param {number} row @param {number} column @returns {Point[]} */
export function curve(layout, row, column) {
  const [from, to] = [layout.rows[row], layout.columns[column]];
  if (!to || !from) return [];
  const { tall } = layout.type;
  const [a, d] = layout.flat
    ? [at(from.x + from.width / 2, from.y + tall - 2), at(to.x + to.width / 2, to.y + 2)]
    : [at(from.x + from.width, from.y + tall / 2), at(to.x, to.y + tall / 2)];
  const [x, y] = [(a.x + d.x) / 2, (a.y + d.y) / 2];
  return [a, layout.flat ? at(a.x, y) : at(x, a.y), layout.flat ? at(d.x, y) : at(x, d.y), d];
}

/** A ribbon: half of its breadth, and how far it runs beside the middle, where those of several heads lie side by side. @typedef {{half: number, shift: number}} Shape */

/** A ribbon of a shape; without one, the thread in its middle. With `part` below 1 it is only begun, at the row.
 * @param {Pen} pen @param {Layout} layout @param {number} row @param {number} column @param {Shape} [shape] @param {number} [part] */
export function trace(pen, layout, row, column, { half, shift } = { half: 0, shift: 0 }, part = 1) {
  const across = (/** @type {Point} */ { x, y }, /** @type {number} */ by) =>
    layout.flat ? at(x + by, y) : at(x, y + by);
  const whole = curve(layout, row, column).map((point) => across(point, shift));
  const [a, b, c, e] = part < 1 ? begun(whole, part) : whole;
  if (!a || !b || !c || !e) return;
  const bend = (/** @type {Point[]} */ [p, q, r], /** @type {number} */ by) => {
    const [f, g, k] = [across(p ?? a, by), across(q ?? a, by), across(r ?? a, by)];
    pen.bezierCurveTo(f.x, f.y, g.x, g.y, k.x, k.y);
  };
  const [start, back] = [across(a, -half), across(e, half)];
  pen.moveTo(start.x, start.y);
  bend([b, c, e], -half);
  if (!half) return;
  pen.lineTo(back.x, back.y);
  bend([c, b, a], half);
  pen.closePath();
  if (part < 1) arrow(pen, c, e, Math.max(4, half + 2));
}

/** A head at the end of a ribbon that leads out of sight. @param {Pen} pen @param {Point} before @param {Point} end @param {number} size */
function arrow(pen, before, end, size) {
  const far = Math.hypot(end.x - before.x, end.y - before.y) || 1;
  const [x, y] = [((end.x - before.x) / far) * size, ((end.y - before.y) / far) * size];
  pen.moveTo(end.x - y, end.y + x);
  pen.lineTo(end.x + 1.8 * x, end.y + 1.8 * y);
  pen.lineTo(end.x + y, end.y - x);
  pen.closePath();
}

/** How much of a ribbon of an upright layout there is `reach` pixels above or below its row. @param {Layout} layout @param {number} row @param {number} column @param {number} reach */
export function within(layout, row, column, reach) {
  const away = Math.abs((layout.columns[column]?.y ?? 0) - (layout.rows[row]?.y ?? 0));
  return away <= reach ? 1 : Math.sqrt(reach / (3 * away)); // near its end, a curve of height h is at 3·h·part²
}

/** The first part of a curve, by de Casteljau. @param {Point[]} whole @param {number} part @returns {Point[]} */
function begun(whole, part) {
  const [first] = whole;
  if (!first) return [];
  const between = (/** @type {Point} */ p, /** @type {Point} */ q) =>
    at(p.x + (q.x - p.x) * part, p.y + (q.y - p.y) * part);
  const inner = whole.slice(1).map((next, i) => between(whole[i] ?? next, next));
  return [first, ...begun(inner, part)];
}

/** @param {number} x @param {number} y @returns {Point} */
const at = (x, y) => ({ x, y });

/** The same as the text of a path. @param {Layout} layout @param {number} row @param {number} column @param {Shape} [shape] @param {number} [part] */
export function traced(layout, row, column, shape, part = 1) {
  let text = "";
  const write =
    (/** @type {string} */ letter) =>
    (/** @type {number[]} */ ...numbers) =>
      void (text += letter + numbers.map((each) => +each.toFixed(2)).join(" "));
  const pen = { moveTo: write("M"), lineTo: write("L"), bezierCurveTo: write("C"), closePath: write("Z") };
  trace(pen, layout, row, column, shape, part);
  return text;
}
