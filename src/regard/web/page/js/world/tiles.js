/** The four pictures of a scene: as it is, its depth, its things, and what two eyes see. */

import { h, svg } from "../dom.js";
import { drawing, inks, sheet } from "../views/paint.js";
import { coloured, shade } from "./colours.js";
import { thingAt } from "./scene.js";

/** @typedef {import("./scene.js").Loaded} Loaded */
/** What happens when the reader points at a thing, or takes it. @typedef {{point: (thing: number | null) => void, take: (thing: number | null) => void}} Hands */

const TITLES = { rgb: "Picture", depth: "Depth, near is bright", masks: "Things", stereo: "Two eyes" };
const WIGGLE = 420; // milliseconds an eye

export class Tiles {
  /** @param {Hands} hands */
  constructor(hands) {
    this.hands = hands;
    /** @type {Loaded | null} */
    this.loaded = null;
    /** @type {Set<number>} */
    this.lit = new Set();
    this.stereo = "both"; // how two eyes are shown
    this.eye = "left";
    this.tiles = Object.entries(TITLES).map(([kind, title]) => this.tile(kind, title));
    this.sheets = this.tiles.map(({ canvas, kind }) => sheet(canvas, (pen, { width }) => this.paint(pen, width, kind)));
    this.root = h(
      "div",
      { class: "scene-tiles" },
      this.tiles.map(({ figure }) => figure),
    );
    this.timer = setInterval(() => this.wiggle(), WIGGLE);
  }

  /** @param {string} kind @param {string} title */
  tile(kind, title) {
    const found = (/** @type {PointerEvent} */ event) => this.thingUnder(event, canvas, kind === "stereo");
    const point = (/** @type {PointerEvent} */ event) => this.hands.point(found(event));
    const canvas = h("canvas", {
      role: "img",
      "aria-label": title,
      onpointermove: point,
      onpointerdown: point,
      onpointerleave: () => this.hands.point(null),
      onclick: (/** @type {PointerEvent} */ event) => this.hands.take(found(event)),
    });
    return { kind, title, canvas, figure: h("figure", { class: "tile" }, canvas, h("figcaption", null, title)) };
  }

  /** Where controls of the two eyes go. */
  get last() {
    return /** @type {HTMLElement} */ (this.root.lastElementChild);
  }

  /** @param {PointerEvent} event @param {HTMLCanvasElement} canvas @param {boolean} eyes */
  thingUnder(event, canvas, eyes) {
    if (!this.loaded) return null;
    const both = eyes && this.stereo === "both";
    const wide = both ? canvas.clientWidth / 2 : canvas.clientWidth;
    const right = both ? event.offsetX > wide : eyes && this.eye === "right";
    const y = both ? (event.offsetY - canvas.clientHeight / 4) / wide : event.offsetY / canvas.clientHeight;
    return thingAt(this.loaded, (event.offsetX % wide) / wide, y, right);
  }

  /** @param {Loaded} loaded */
  show(loaded) {
    this.loaded = loaded;
    this.repaint();
  }

  /** @param {string} stereo */
  showEyes(stereo) {
    this.stereo = stereo;
    this.eye = stereo === "right" ? "right" : "left";
    this.repaint();
  }

  /** @param {Set<number>} things */
  light(things) {
    this.lit = things;
    this.repaint();
  }

  repaint() {
    for (const each of this.sheets) each.repaint();
  }

  wiggle() {
    if (this.stereo !== "wiggle" || document.hidden || !this.loaded) return;
    this.eye = this.eye === "left" ? "right" : "left";
    this.sheets.at(-1)?.repaint();
  }

  /** @param {CanvasRenderingContext2D} pen @param {number} width @param {string} kind */
  paint(pen, width, kind) {
    if (kind !== "stereo") return this.draw(pen, kind, 0, 0, width);
    if (this.stereo !== "both") return this.draw(pen, this.eye, 0, 0, width);
    this.draw(pen, "left", 0, width / 4, width / 2 - 2);
    this.draw(pen, "right", width / 2 + 2, width / 4, width / 2 - 2);
  }

  /** @param {CanvasRenderingContext2D} pen @param {string} kind @param {number} x @param {number} y @param {number} size */
  draw(pen, kind, x, y, size) {
    const found = this.loaded?.pictures[kind];
    if (!this.loaded || !found) return;
    const plain = kind !== "depth" && kind !== "masks";
    pen.imageSmoothingEnabled = kind !== "masks";
    pen.drawImage(plain ? found.whole : coloured(this.loaded, kind), x, y, size, size);
    if (this.lit.size) pen.drawImage(shade(this.loaded, this.lit, kind === "right"), x, y, size, size);
  }

  /** The four pictures side by side, as they are seen now. */
  exportSvg() {
    const [size, gap, below] = [256, 12, 24];
    const out = drawing(4 * size + 3 * gap, size + below);
    this.tiles.forEach(({ canvas, title }, i) => {
      const x = i * (size + gap);
      out.append(
        svg("image", { x, width: size, height: size, href: canvas.toDataURL() }),
        svg("text", { x, y: size + below - 6, fill: inks().muted }, title),
      );
    });
    return out;
  }

  stop() {
    clearInterval(this.timer);
    for (const each of this.sheets) each.stop();
  }
}
