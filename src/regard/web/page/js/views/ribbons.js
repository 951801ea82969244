/** Which ribbons are worth drawing, and how strong: of one head, or of several in their colours. */

import { headHue, inks } from "./paint.js";

/** @typedef {import("./view.js").View} View */
/** @typedef {import("./view.js").Mark} Mark */
/** @typedef {import("./view.js").Weights} Weights */
/** @typedef {{row: number, column: number, weight: number, hue: number, lane: number}} Ribbon `hue` −1: one head, in the page's own colour */

const CROWD = 60; // words
const STRONGEST = 8; // ribbons of a word in a crowd
const FAINTEST = 0.015; // ribbons below are left out

/** What stands out, found once for each row. */
export class Ribbons {
  /** @param {View} view @param {number} rows @param {number} columns */
  constructor(view, rows, columns) {
    this.view = view;
    this.rows = rows;
    this.columns = columns;
    this.crowd = columns > CROWD;
    const several = view.layers && view.layers.length > 1 ? view.layers : null;
    this.lane = several ? Math.min(6, 18 / several.length) : 0; // pixels for each of several heads
    /** @type {{hue: number, weights: Weights}[]} */
    this.heads = several ?? [{ hue: -1, weights: view.weights }];
    this.least = view.least || (this.crowd ? FAINTEST / 10 : FAINTEST);
    /** @type {Map<number, Ribbon[]>} */
    this.strongest = new Map();
  }

  /** Weights have come. */
  forget() {
    this.strongest.clear();
  }

  /** Of these rows, faint ones first. @param {number} from @param {number} to @param {Mark} mark what is isolated */
  between(from, to, { row, column }) {
    /** @type {Ribbon[]} */
    const out = [];
    for (let i = from; i < to; i++) {
      if (this.crowd && row === undefined && column === undefined) out.push(...this.standing(i));
      else out.push(...this.all(i, column));
    }
    return out.sort((a, b) => a.weight - b.weight);
  }

  /** @param {number} row @param {number | undefined} column */
  all(row, column) {
    const [first, last] = column === undefined ? [0, this.columns] : [column, column + 1];
    /** @type {Ribbon[]} */
    const out = [];
    for (const [lane, { hue, weights }] of this.heads.entries()) {
      for (let j = first; j < last; j++) {
        const weight = weights.at(row, j) ?? 0;
        if (weight >= this.least) out.push({ row, column: j, weight, hue, lane });
      }
    }
    return out;
  }

  /** As broad as its weight; several heads run side by side. @param {Ribbon} ribbon @param {number} broad half of one that has all the weight @returns {import("./ribbon.js").Shape} */
  shape({ weight, lane }, broad) {
    if (!this.lane) return { half: Math.max(0.6, broad * weight), shift: 0 };
    return { half: Math.max(0.5, (this.lane / 2) * weight), shift: (lane - (this.heads.length - 1) / 2) * this.lane };
  }

  /** Among many words each gets little: what stands out in its row is drawn. @param {number} row */
  standing(row) {
    const known = this.strongest.get(row);
    if (known) return known;
    const every = this.all(row, undefined);
    const most = every.reduce((so, { weight }) => Math.max(so, weight), 0);
    const least = this.view.least || 0.4 * most;
    const kept = every
      .filter(({ weight }) => weight >= least)
      .sort((a, b) => b.weight - a.weight)
      .slice(0, STRONGEST);
    this.strongest.set(row, kept);
    return kept;
  }
}

/** How opaque a ribbon is; a colour needs more ink to be seen. @param {{weight: number, hue: number}} ribbon @param {boolean} alone */
export const strength = ({ weight, hue }, alone) =>
  Math.min(1, (alone || hue >= 0 ? 0.12 : 0.06) + weight * (alone ? 0.88 : 0.78));

/** @param {Ribbon} ribbon */
export const shade = ({ hue }) => (hue < 0 ? inks().accent : headHue(hue));
