/** Attention as a picture: each row is somebody who looks, each column something to look at, darker is more. */

import { ink as readable, table, weight as colour } from "../color.js";
import { h, replace } from "../dom.js";
import { GOLD, WAYS, digits, exported } from "./matrix_export.js";
import { hands } from "./matrix_hands.js";
import { MONO, SANS, enlarged, fitted, inks, lettered, measure, picture, sheet } from "./paint.js";
import { TILE, labels, number } from "./view.js";

/** @typedef {import("./view.js").View} View */
/** @typedef {import("./view.js").Mark} Mark */
/** The cells in sight. @typedef {{first: {row: number, column: number}, last: {row: number, column: number}}} Sight */
/**
 * @typedef {object} Options
 * @property {(mark: Mark | null) => void} [onpoint] a cell is pointed at, or none
 * @property {(mark: Mark) => void} [onpick] a cell is chosen
 * @property {number} [tallest] pixels
 */

const LONG = 48; // columns, from which on colours are relative
const LARGEST = 56; // pixels of a cell, however few there are
const READABLE = 14; // pixels of a row, below which it is not pressed
const FIT = { left: 132, top: 104 }; // room for names, at most

/** @param {HTMLElement} host @param {Options} [options] */
export function create(host, options = {}) {
  const made = new Matrix(host, options);
  return {
    update: (/** @type {View} */ view) => made.update(view),
    exportSvg: () => exported(made),
    /** Show what is pointed at elsewhere. @param {Mark | null} elsewhere */
    highlight(elsewhere) {
      made.linked = elsewhere ?? {};
      made.page.repaint();
    },
    /** Keep a row marked. @param {Mark} mark */
    pick(mark) {
      made.linked = mark;
      made.page.repaint();
    },
    destroy: () => made.destroy(),
  };
}

export class Matrix {
  /** @param {HTMLElement} host @param {Options} options */
  constructor(host, options) {
    this.options = options;
    /** @type {View | null} */
    this.view = null;
    /** @type {string[]} */
    this.rows = [];
    /** @type {string[]} */
    this.columns = [];
    this.wide = 20; // of a cell
    this.tall = 20;
    this.x = 0; // how far the picture is moved
    this.y = 0;
    this.margin = { left: 80, top: 60 };
    /** @type {Mark} */
    this.mark = {};
    /** @type {Mark} */
    this.linked = {};
    this.fitting = true;
    /** @type {Map<string, {values: Float32Array, most: number, theme: Uint8ClampedArray, made: HTMLCanvasElement}>} */
    this.pictures = new Map();
    this.theme = table();
    this.most = 1; // the weight that has the darkest colour
    this.silent = () => {};
    this.canvas = h("canvas", {
      class: "matrix-canvas",
      tabindex: 0,
      role: "application",
      "aria-roledescription": "attention matrix",
    });
    this.readout = h("p", { class: "matrix-readout", "aria-live": "polite" });
    this.key = h("span", { class: "matrix-key" });
    this.root = h(
      "div",
      { class: "matrix" },
      h("div", { class: "matrix-stage" }, this.canvas),
      h("div", { class: "matrix-foot" }, this.readout, h("span", { class: "matrix-tools" }, this.key, this.tools())),
    );
    host.append(this.root);
    this.page = sheet(this.canvas, (pen, size) => this.paint(pen, size));
    const refit = () => void (this.fitting && this.fit());
    this.watcher = new ResizeObserver(refit);
    this.watcher.observe(this.root);
    this.unlettered = lettered(refit);
    hands(this);
  }

  tools() {
    const zoomed = (/** @type {number} */ factor) => () => this.zoom(factor);
    return h(
      "div",
      { class: "matrix-zoom", role: "group", "aria-label": "Zoom" },
      h("button", { type: "button", "aria-label": "Zoom out", title: "Zoom out (−)", onclick: zoomed(1 / 1.5) }, "−"),
      h("button", { type: "button", "aria-label": "Fit", title: "Fit (0)", onclick: () => this.fit() }, "◻"),
      h("button", { type: "button", "aria-label": "Zoom in", title: "Zoom in (+)", onclick: zoomed(1.5) }, "+"),
    );
  }

  /** @param {View} next */
  update(next) {
    const same = this.view && next.rows === this.view.rows && next.columns === this.view.columns;
    this.silent();
    this.view = next;
    [this.rows, this.columns] = [labels(next.rows), labels(next.columns)];
    this.pictures.clear();
    this.silent = next.weights.listen(() => this.arrived());
    this.arrived();
    if (!same) [this.mark, this.linked, this.fitting] = [{}, {}, true];
    this.canvas.setAttribute(
      "aria-label",
      `${this.rows.length} rows look at ${this.columns.length} columns. Arrow keys move from cell to cell.`,
    );
    this.say();
    if (this.fitting) this.fit();
    this.page.repaint();
  }

  /** Among many columns each gets little, so that colours are spread over what there is; the key says how far. */
  arrived() {
    const largest = this.columns.length > LONG ? (this.view?.weights.largest() ?? 0) : 1;
    this.most = largest || 1;
    replace(this.key, "0", h("i", { "aria-hidden": "true" }), this.most < 1 ? number(this.most) : "1");
    this.page.repaint();
  }

  /** Use the width there is; rows are pressed together as far as they can be read, and the rest is scrolled to. */
  fit() {
    if (!this.view) return;
    this.fitting = true;
    const { rows, columns } = this;
    const font = `600 ${16 * enlarged()}px ${SANS}`;
    const longest = (/** @type {string[]} */ names) =>
      Math.max(56, ...names.slice(0, 200).map((name) => measure(name, font)));
    const margin = {
      left: Math.min(FIT.left * enlarged(), longest(rows) + 14),
      top: Math.min(FIT.top * enlarged(), longest(columns) * 0.72 + 20),
    };
    const width = this.root.clientWidth - margin.left - 40; // the last name leans out
    const height = (this.options.tallest ?? Math.max(360, innerHeight * 0.6)) - margin.top - 8;
    this.wide = Math.max(0.5, Math.min(LARGEST * enlarged(), width / columns.length));
    this.tall = Math.min(this.wide, Math.max(height / rows.length, Math.min(this.wide, READABLE)));
    // A few rows more than fit are no reason to scroll.
    const shown =
      rows.length < 40 ? rows.length * this.tall : Math.min(rows.length * this.tall, Math.max(height, 0.8 * width));
    margin.left += Math.max(0, (width - columns.length * this.wide) / 2); // in the middle
    this.margin = margin;
    [this.x, this.y] = [0, 0];
    this.canvas.style.setProperty("height", `${Math.ceil(margin.top + Math.max(shown, 40) + 8)}px`);
    this.page.repaint();
  }

  /** @param {number} factor @param {number} [px] the place that stays where it is @param {number} [py] */
  zoom(factor, px = this.canvas.clientWidth / 2, py = this.canvas.clientHeight / 2) {
    const { margin } = this;
    const by = Math.max(0.5, Math.min(64, this.wide * factor)) / this.wide;
    const [u, v] = [(px - margin.left + this.x) / this.wide, (py - margin.top + this.y) / this.tall];
    [this.wide, this.tall, this.fitting] = [this.wide * by, this.tall * by, false];
    this.move(u * this.wide - (px - margin.left) - this.x, v * this.tall - (py - margin.top) - this.y);
  }

  /** @param {number} dx @param {number} dy @returns {boolean} did it move? */
  move(dx, dy) {
    const { canvas, margin } = this;
    const most = {
      x: Math.max(0, this.columns.length * this.wide + 30 - (canvas.clientWidth - margin.left)),
      y: Math.max(0, this.rows.length * this.tall + 8 - (canvas.clientHeight - margin.top)),
    };
    const [from, to] = [this.x, this.y];
    this.x = Math.max(0, Math.min(most.x, from + dx));
    this.y = Math.max(0, Math.min(most.y, to + dy));
    this.page.repaint();
    return Math.abs(this.x - from) > 0.5 || Math.abs(this.y - to) > 0.5;
  }

  /** @returns {Sight} */
  sight(width = this.canvas.clientWidth, height = this.canvas.clientHeight) {
    const { margin, wide, tall, x, y } = this;
    return {
      first: { row: Math.floor(y / tall), column: Math.floor(x / wide) },
      last: {
        row: Math.min(this.rows.length, Math.ceil((y + height - margin.top) / tall)),
        column: Math.min(this.columns.length, Math.ceil((x + width - margin.left) / wide)),
      },
    };
  }

  /** @param {CanvasRenderingContext2D} pen @param {{width: number, height: number}} size */
  paint(pen, { width, height }) {
    if (!this.view) return;
    const { margin, wide, tall } = this;
    this.theme = table();
    const sight = this.sight(width, height);
    pen.save();
    pen.beginPath();
    pen.rect(margin.left, margin.top, width - margin.left, height - margin.top);
    pen.clip();
    pen.translate(margin.left - this.x, margin.top - this.y);
    pen.imageSmoothingEnabled = Math.min(wide, tall) < 1;
    this.tiles(pen, sight);
    if (Math.min(wide, tall) >= 12) this.lattice(pen, sight);
    if (wide >= 34 && tall >= 20) this.figures(pen, sight);
    this.gilded(pen);
    this.outlined(pen);
    pen.restore();
    this.named(pen, sight);
  }

  /** @param {CanvasRenderingContext2D} pen @param {Sight} sight */
  tiles(pen, { first, last }) {
    const { wide, tall } = this;
    for (let i = Math.floor(first.row / TILE); i * TILE < last.row; i++) {
      for (let j = Math.floor(first.column / TILE); j * TILE < last.column; j++) {
        const tile = this.tile(i, j);
        if (tile) pen.drawImage(tile, j * TILE * wide, i * TILE * tall, tile.width * wide, tile.height * tall);
      }
    }
  }

  /** A tile in colours, painted once. @param {number} i @param {number} j */
  tile(i, j) {
    const values = this.view?.weights.tile(i, j);
    if (!values) return null;
    const { most, theme } = this;
    const known = this.pictures.get(`${i},${j}`);
    if (known && known.values === values && known.most === most && known.theme[1020] === theme[1020]) return known.made;
    const made = picture(values, Math.min(TILE, this.columns.length - j * TILE), most, theme);
    this.pictures.set(`${i},${j}`, { values, most, theme, made });
    return made;
  }

  /** @param {CanvasRenderingContext2D} pen @param {Sight} sight */
  lattice(pen, { first, last }) {
    const { wide, tall } = this;
    pen.strokeStyle = inks().raised;
    pen.lineWidth = wide > 24 ? 2 : 1;
    pen.beginPath();
    for (let i = first.row; i <= last.row; i++) {
      pen.moveTo(first.column * wide, i * tall);
      pen.lineTo(last.column * wide, i * tall);
    }
    for (let j = first.column; j <= last.column; j++) {
      pen.moveTo(j * wide, first.row * tall);
      pen.lineTo(j * wide, last.row * tall);
    }
    pen.stroke();
  }

  /** @param {CanvasRenderingContext2D} pen @param {Sight} sight */
  figures(pen, { first, last }) {
    const { wide, tall } = this;
    pen.font = `${Math.min(15 * enlarged(), wide * 0.3)}px ${MONO}`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    for (let i = first.row; i < last.row; i++) {
      for (let j = first.column; j < last.column; j++) {
        const value = this.view?.weights.at(i, j);
        if (value === undefined || value < 0.005) continue;
        pen.fillStyle = readable(colour(value / this.most));
        pen.fillText(digits(value), (j + 0.5) * wide, (i + 0.5) * tall);
      }
    }
  }

  /** Gold on a pale rim, to be seen on any weight. @param {CanvasRenderingContext2D} pen */
  gilded(pen) {
    const { wide, tall } = this;
    const line = Math.max(1.5, Math.min(2.5, tall / 12));
    for (const [stroke, broad] of /** @type {[string, number][]} */ ([
      [inks().raised, line + 2],
      [GOLD, line],
    ])) {
      pen.strokeStyle = stroke;
      pen.lineWidth = broad;
      for (const [row, column] of this.view?.gold ?? [])
        pen.strokeRect(column * wide + line, row * tall + line, wide - 2 * line, tall - 2 * line);
    }
  }

  get pointed() {
    return { row: this.mark.row ?? this.linked.row, column: this.mark.column ?? this.linked.column };
  }

  /** @param {CanvasRenderingContext2D} pen */
  outlined(pen) {
    const { wide, tall, pointed } = this;
    pen.strokeStyle = inks().accent;
    pen.lineWidth = 1.5;
    if (pointed.row !== undefined) pen.strokeRect(0, pointed.row * tall, this.columns.length * wide, tall);
    if (pointed.column !== undefined) pen.strokeRect(pointed.column * wide, 0, wide, this.rows.length * tall);
  }

  /** Names along both edges, and in the corner who looks at whom. @param {CanvasRenderingContext2D} pen @param {Sight} sight */
  named(pen, { first, last }) {
    const { margin, pointed } = this;
    const colours = inks();
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    for (let i = first.row; i < last.row; i++) {
      const top = margin.top - this.y + (i + 0.5) * this.tall;
      if (top < margin.top - 2 || !tells(i, this.tall, pointed.row)) continue;
      pen.font = font(this.tall, i === pointed.row);
      pen.fillStyle = i === pointed.row ? colours.accent : colours.muted;
      pen.fillText(
        fitted(this.rows[i] ?? "", pen.font, Math.min(FIT.left * enlarged(), margin.left) - 12),
        margin.left - 8,
        top,
      );
    }
    pen.textAlign = "left";
    for (let j = first.column; j < last.column; j++) {
      const left = margin.left - this.x + (j + 0.5) * this.wide;
      if (left < margin.left - 2 || !tells(j, this.wide, pointed.column)) continue;
      pen.font = font(this.wide, j === pointed.column);
      pen.fillStyle = j === pointed.column ? colours.accent : colours.muted;
      pen.save();
      pen.translate(left, margin.top - 7);
      pen.rotate(-Math.PI / 4);
      pen.fillText(fitted(this.columns[j] ?? "", pen.font, (margin.top - 12) * 1.41), 0, 0);
      pen.restore();
    }
    pen.font = `italic 12px ${SANS}`;
    pen.fillStyle = colours.muted;
    pen.textAlign = "right";
    pen.fillText(WAYS.columns, margin.left - 8, margin.top - 26);
    pen.fillText(WAYS.rows, margin.left - 8, margin.top - 10);
  }

  /** The cell under a point. @param {{offsetX: number, offsetY: number}} event @returns {Mark | null} */
  under({ offsetX, offsetY }) {
    const { margin } = this;
    const row = Math.floor((offsetY - margin.top + this.y) / this.tall);
    const column = Math.floor((offsetX - margin.left + this.x) / this.wide);
    if (row >= this.rows.length || column >= this.columns.length) return null;
    if (offsetX < margin.left && offsetY < margin.top) return null;
    if (offsetX < margin.left) return row < 0 ? null : { row };
    if (offsetY < margin.top) return column < 0 ? null : { column };
    return row < 0 || column < 0 ? null : { row, column };
  }

  /** @param {Mark | null} next */
  point(next) {
    if (next?.row === this.mark.row && next?.column === this.mark.column) return;
    this.mark = next ?? {};
    this.say();
    this.options.onpoint?.(next);
    this.page.repaint();
  }

  /** Tell what is pointed at, in full precision as soon as it is here. */
  say() {
    const { view, mark } = this;
    const { row, column } = mark;
    if (row === undefined || column === undefined || !view) {
      replace(
        this.readout,
        h("span", { class: "tip" }, "A row looks at the columns. Point at a cell, or press the arrow keys here."),
      );
      return;
    }
    const told = (/** @type {string} */ value) =>
      void replace(
        this.readout,
        h("b", null, this.rows[row] ?? ""),
        " looks at ",
        h("b", null, this.columns[column] ?? ""),
        " with ",
        h("output", null, value),
      );
    told(number(view.weights.at(row, column)));
    view.weights.row(row).then(
      (line) => {
        const value = line[column];
        if (this.view === view && this.mark === mark && value !== undefined) told(String(+value.toPrecision(6)));
      },
      () => {},
    );
  }

  /** Bring a cell into sight. @param {number} row @param {number} column */
  reveal(row, column) {
    const { canvas, margin, wide, tall } = this;
    const away = (
      /** @type {number} */ at,
      /** @type {number} */ size,
      /** @type {number} */ from,
      /** @type {number} */ span,
    ) => (at * size < from ? at * size - from : (at + 1) * size > from + span ? (at + 1) * size - from - span : 0);
    this.move(
      away(column, wide, this.x, canvas.clientWidth - margin.left - 30),
      away(row, tall, this.y, canvas.clientHeight - margin.top - 8),
    );
  }

  destroy() {
    this.silent();
    this.unlettered();
    this.page.stop();
    this.watcher.disconnect();
    this.root.remove();
  }
}

/** Is there room for a name? The one that is pointed at has it. @param {number} i @param {number} size @param {number | undefined} chosen */
function tells(i, size, chosen) {
  const step = Math.max(1, Math.ceil(13 / size));
  return i === chosen || (i % step === 0 && (chosen === undefined || step === 1 || Math.abs(i - chosen) >= step));
}
/** @param {number} size @param {boolean} strong */
function font(size, strong) {
  const letters = Math.max(10, Math.min(16 * enlarged(), size * 0.75));
  return `${strong ? "600 " : ""}${strong ? Math.max(12, letters) : letters}px ${SANS}`;
}
