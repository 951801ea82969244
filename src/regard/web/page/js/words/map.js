/** The map: points below, and above them words that do not cover each other, lines and rings. */

import { h } from "../dom.js";
import { inks, lettered, themed } from "../views/paint.js";
import { Camera } from "./camera.js";
import { hold } from "./hand.js";
import { Board } from "./labels.js";
import { LETTER, Lettering } from "./lettering.js";
import { points } from "./points.js";

/** @typedef {{rows: Int32Array, places: Float32Array, flat: boolean, words: string[]}} Scene which words are shown, and where */
/** @typedef {"accent" | "lamp" | "y" | "v" | "muted"} Tint */
/** @typedef {{from: number, to: number, tint: Tint, dashed?: boolean, arrow?: boolean}} Line between two words */
/** @typedef {{chosen: number, rings: Map<number, Tint>, lines: Line[], first: number[]}} Marks words to name first, by their rows */
/** @typedef {{pick: (row: number, add: boolean) => void, hover: (row: number) => void, box: (rows: number[]) => void, moved: () => void, tint: (rows: Int32Array) => Uint8Array}} Events */
/** @typedef {{x: number, y: number, text: string, bold: boolean, wide: number, slot: number}} Label */

const NAMED = 160; // words at most
const TRIED = 2500; // words that are tried for a place in each frame
/** @type {Marks} */
const PLAIN = { chosen: -1, rings: new Map(), lines: [], first: [] };

export class WordMap {
  /** @param {Events} events */
  constructor(events) {
    this.events = events;
    this.camera = new Camera();
    this.over = h("canvas", { class: "map-words" });
    this.points = points(h("canvas", { class: "map-points" }), this.over);
    this.element = h(
      "div",
      {
        class: "word-map",
        tabindex: 0,
        role: "application",
        "aria-label": "Map of words. Arrow keys move or turn it, plus and minus zoom, 0 shows all.",
        dataset: { by: this.points.kind },
      },
      this.layers,
    );
    /** @type {Scene} */
    this.scene = { rows: new Int32Array(0), places: new Float32Array(0), flat: true, words: [] };
    this.marks = PLAIN;
    this.seen = new Float32Array(0);
    this.slots = new Int32Array(0);
    this.lettering = new Lettering();
    /** What was named in the last frame. @type {Label[]} */
    this.labels = [];
    this.hovered = -1;
    /** @type {{left: number, top: number, right: number, bottom: number} | null} */
    this.box = null;
    this.frame = 0;
    this.pen = this.over.getContext("2d");
    this.release = [hold(this), themed(() => this.recolour()), lettered(() => this.recolour())];
    const watcher = new ResizeObserver(() => this.resize());
    watcher.observe(this.element);
    this.release.push(() => watcher.disconnect());
  }

  /** The canvases from the lowest on; points and words may share one. */
  get layers() {
    return [...new Set([this.points.canvas, this.over])];
  }

  stop() {
    cancelAnimationFrame(this.frame);
    this.lettering.forget();
    this.release.forEach((each) => each());
    const gl = this.points.kind === "webgl" ? this.points.canvas.getContext("webgl") : null;
    gl?.getExtension("WEBGL_lose_context")?.loseContext(); // browsers allow few of them
  }

  /** @param {Scene} scene */
  show(scene) {
    const most = scene.rows.reduce((large, row) => Math.max(large, row), 0);
    this.scene = scene;
    this.camera.flat = scene.flat;
    this.seen = new Float32Array(scene.places.length);
    this.slots = new Int32Array(most + 1).fill(-1);
    scene.rows.forEach((row, slot) => (this.slots[row] = slot));
    this.hovered = -1;
    this.points.place(scene.places);
    this.tint();
  }

  /** The same words elsewhere. @param {Float32Array} places */
  move(places) {
    this.scene = { ...this.scene, places };
    this.points.place(places);
    this.repaint();
  }

  tint() {
    this.points.colour(this.events.tint(this.scene.rows));
    this.repaint();
  }

  /** The page has other colours or letters now. */
  recolour() {
    this.lettering.forget();
    this.tint();
  }

  /** @param {Marks} marks */
  mark(marks) {
    this.marks = marks;
    this.repaint();
  }

  /** Where a word is shown among the others, or -1. @param {number} row */
  slot(row) {
    return row < 0 ? -1 : (this.slots[row] ?? -1);
  }

  /** Where a word is on the screen. @param {number} row @returns {[number, number] | null} */
  place(row) {
    const slot = this.slot(row);
    return slot < 0 ? null : [this.seen[3 * slot] ?? 0, this.seen[3 * slot + 1] ?? 0];
  }

  /** The word nearest to a pixel. @param {number} x @param {number} y @param {number} reach */
  at(x, y, reach) {
    let [found, least] = [-1, reach ** 2];
    for (let at = 0; at < this.seen.length; at += 3) {
      const away = /** @type {number} */ (this.seen[at] - x) ** 2 + /** @type {number} */ (this.seen[at + 1] - y) ** 2;
      if (away < least) [found, least] = [at / 3, away];
    }
    return found < 0 ? -1 : (this.scene.rows[found] ?? -1);
  }

  /** Bring a word to the middle, unless it is in good sight. @param {number} row */
  centre(row) {
    const slot = this.slot(row);
    if (slot < 0) return;
    this.camera.project(this.scene.places, this.seen);
    const [x, y] = this.place(row) ?? [0, 0];
    const { width, height } = this.camera;
    if (Math.abs(x - width / 2) < 0.38 * width && Math.abs(y - height / 2) < 0.38 * height) return;
    const [px = 0, py = 0, pz = 0] = this.scene.places.subarray(3 * slot, 3 * slot + 3);
    Object.assign(this.camera, { x: px, y: py, z: pz });
    this.repaint();
    this.events.moved();
  }

  resize() {
    const ratio = devicePixelRatio || 1;
    const { clientWidth: width, clientHeight: height } = this.element;
    if (!width || !height) return;
    Object.assign(this.camera, { width, height });
    for (const canvas of this.layers) {
      [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    }
    this.repaint();
  }

  repaint() {
    this.frame ||= requestAnimationFrame(() => this.paint());
  }

  paint() {
    this.frame = 0;
    if (!this.pen || this.camera.width < 2) return;
    const ratio = devicePixelRatio || 1;
    this.camera.project(this.scene.places, this.seen);
    this.points.draw(this.camera, this.seen, this.size);
    this.pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (this.points.canvas !== this.over) this.pen.clearRect(0, 0, this.camera.width, this.camera.height);
    this.drawLines(this.pen);
    this.drawRings(this.pen);
    this.drawBox(this.pen);
    this.labels = this.name();
    this.pen.setTransform(1, 0, 0, 1, 0, 0);
    for (const { text, x, y, bold } of this.labels) this.lettering.write(this.pen, text, bold, x, y, ratio);
  }

  /** Pixels across a point: larger when few are shown, the eye is near or there is room. */
  get size() {
    const many = Math.max(1, this.scene.rows.length);
    const wide = (4.2 - Math.log10(many) * 0.45) * this.camera.zoom ** 0.25 + (many < 1500 ? 3 : 0);
    const room = Math.min(1, Math.sqrt(Math.min(this.camera.width, this.camera.height) / 600));
    return Math.min(9, Math.max(1.5, wide * room));
  }

  /** @param {CanvasRenderingContext2D} pen */
  drawLines(pen) {
    const ink = inks();
    for (const { from, to, tint, dashed, arrow } of this.marks.lines) {
      const [a, b] = [this.place(from), this.place(to)];
      if (!a || !b) continue;
      pen.strokeStyle = pen.fillStyle = ink[tint];
      pen.lineWidth = arrow ? 2 : 1.25;
      pen.setLineDash(dashed ? [3, 4] : []);
      pen.beginPath();
      pen.moveTo(...a);
      pen.lineTo(...b);
      pen.stroke();
      if (arrow) head(pen, a, b);
    }
    pen.setLineDash([]);
  }

  /** @param {CanvasRenderingContext2D} pen */
  drawRings(pen) {
    const ink = inks();
    const radius = this.size / 2 + 2;
    for (const [row, tint] of this.marks.rings) {
      const at = this.place(row);
      if (!at) continue;
      pen.strokeStyle = ink[tint];
      pen.lineWidth = row === this.marks.chosen ? 3 : 1.75;
      pen.beginPath();
      pen.arc(at[0], at[1], row === this.marks.chosen ? radius + 2 : radius, 0, 2 * Math.PI);
      pen.stroke();
    }
  }

  /** Which words are written, and where: those that are marked first, then the most frequent. @returns {Label[]} */
  name() {
    const { width, height } = this.camera;
    const { seen, scene } = this;
    const board = new Board(width, height);
    /** @type {Label[]} */
    const found = [];
    const done = new Set();
    const gap = this.size / 2 + 3;
    const put = (/** @type {number} */ slot, /** @type {boolean} */ bold) => {
      const [x, y] = [/** @type {number} */ (seen[3 * slot]), /** @type {number} */ (seen[3 * slot + 1])];
      if (x < 0 || y < 0 || x > width || y > height || done.has(slot)) return false;
      done.add(slot);
      const text = short(scene.words[scene.rows[slot] ?? 0] ?? "");
      const wide = this.lettering.wide(text, bold);
      const box = board.put(x, y, wide, LETTER * 1.2, gap);
      if (box) found.push({ x: box.left, y: box.top + LETTER, text, bold, wide, slot });
      return true;
    };
    for (const row of [this.hovered, this.marks.chosen, ...this.marks.first]) {
      const slot = this.slot(row);
      if (slot >= 0) put(slot, true);
    }
    for (let slot = 0, tried = 0; slot < scene.rows.length && tried < TRIED && found.length < NAMED; slot++) {
      if (put(slot, false)) tried += 1;
    }
    return found;
  }

  /** @param {CanvasRenderingContext2D} pen */
  drawBox(pen) {
    if (!this.box) return;
    const { left, top, right, bottom } = this.box;
    pen.strokeStyle = inks().accent;
    pen.lineWidth = 1.5;
    pen.setLineDash([5, 4]);
    pen.strokeRect(left, top, right - left, bottom - top);
    pen.setLineDash([]);
  }
}

/** @param {string} text */
const short = (text) => (text.length > 28 ? `${text.slice(0, 27)}…` : text);

/** @param {CanvasRenderingContext2D} pen @param {[number, number]} from @param {[number, number]} to */
function head(pen, from, to) {
  const turn = Math.atan2(to[1] - from[1], to[0] - from[0]);
  pen.beginPath();
  pen.moveTo(...to);
  for (const side of [2.7, -2.7]) pen.lineTo(to[0] + 10 * Math.cos(turn + side), to[1] + 10 * Math.sin(turn + side));
  pen.fill();
}
