/** A picture and its depth in colours: point at a pixel to read it, move the eye, and see what is true of a scene. */

import { percent, titled } from "../bench/answer.js";
import { weight } from "../color.js";
import { h, replace, svg } from "../dom.js";
import { numbers } from "../see/seen.js";
import { drawing, inks, themed } from "../views/paint.js";
import { load } from "../views/pixels.js";
import { coloured, distance, range, seenFrom, strength } from "./field.js";

/** @typedef {import("../bench/scene.js").Scene} Scene */
/** @typedef {import("../bench/bench.js").AnswerHands} Hands */
/** @typedef {import("./field.js").Field} Field */
/** @typedef {{row: number, column: number}} Pixel */
/** @typedef {{disparity: string, error: number, constant: number}} Truth */
/** @typedef {{image: string, height: number, width: number, disparity: string, metres: number | null, truth: Truth | null}} Output */

const SIDE = 220; // pixels of a picture in an exported figure
const STOPS = 24; // colours of the scale

/** Depths that are on stage, one a panel, for export. @type {Set<Depth>} */
export const onStage = new Set();

/** @param {HTMLElement} host @param {Hands} hands */
export const answer = (host, hands) => new Depth(host, hands);

class Depth {
  /** @param {HTMLElement} host @param {Hands} hands */
  constructor(host, hands) {
    this.hands = hands;
    /** @type {Scene | null} */
    this.scene = null;
    /** @type {Field | null} */
    this.said = null;
    /** @type {Field | null} */
    this.real = null;
    /** @type {Uint8ClampedArray} */
    this.pixels = new Uint8ClampedArray();
    this.ends = { near: 1, far: 0 };
    /** The pixel that is pointed at. @type {Pixel | null} */
    this.pointed = null;
    /** The one that was chosen, which the link remembers. @type {Pixel | null} */
    this.chosen = null;
    this.id = "";
    this.eye = this.canvas("The picture, from where the eye is");
    this.depth = this.canvas("Depth: point at a pixel, or go there by the arrow keys", true);
    this.truth = this.canvas("True depth", true);
    this.slider = h("input", { type: "range", min: -1, max: 1, step: 0.05, "aria-label": "Where the eye is", oninput: () => this.move(Number(this.slider.value)) });
    this.told = h("output", { class: "film-told" });
    this.readout = h("p", { class: "matrix-readout depth-readout", "aria-live": "polite" });
    this.scale = h("div", { class: "depth-scale", role: "img" });
    this.true = h("figure", null, this.truth, h("figcaption", null, "how far it truly is"));
    this.maps = h(
      "div",
      { class: "depth-maps" },
      h("figure", null, this.eye, h("figcaption", null, "what the eye sees")),
      h("figure", null, this.depth, h("figcaption", null, "how far away it is")),
      this.true,
    );
    const bar = h("div", { class: "film-bar" }, h("label", { class: "pick" }, "eye", this.slider), this.told);
    this.root = h("div", { class: "film depth", hidden: true }, this.maps, this.scale, this.readout, bar);
    host.append(this.root);
    this.unwatch = themed(() => this.draw());
    onStage.add(this);
  } // prettier-ignore

  /** @param {string} label @param {boolean} [pointed] can a pixel be chosen? */
  canvas(label, pointed = false) {
    const hands = {
      tabindex: 0,
      role: "application",
      "aria-roledescription": "picture",
      onpointermove: (/** @type {PointerEvent} */ event) => event.pointerType !== "touch" && this.point(this.at(event)),
      onpointerleave: () => this.point(null),
      onclick: (/** @type {PointerEvent} */ event) => this.pick(this.at(event)),
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.step(event),
    };
    return h("canvas", { class: "see-canvas", "aria-label": label, ...(pointed ? hands : { role: "img" }) });
  }

  /** @returns {Output} */
  get output() {
    return /** @type {Scene} */ (this.scene).result.output;
  }

  /** @param {Scene} scene */
  show(scene) {
    const fresh = scene.result.id !== this.id;
    this.scene = scene;
    this.id = scene.result.id;
    this.root.hidden = false;
    const { height, width, disparity, truth, image } = this.output;
    if (fresh) {
      this.said = { height, width, values: numbers(disparity) };
      this.real = truth && { height, width, values: numbers(truth.disparity) };
      this.ends = range([this.said, this.real]);
      this.pixels = new Uint8ClampedArray();
      void load(image).then(({ data }) => {
        if (this.scene !== scene) return;
        this.pixels = data;
        this.draw();
      });
    }
    this.true.hidden = !truth;
    this.maps.classList.toggle("three", Boolean(truth));
    this.chosen = this.named(scene.state.flat["px"]);
    this.slider.value = String(scene.state.flat["eye"] ?? 0);
    this.draw();
  }

  /** @param {PointerEvent} event */
  at({ offsetX, offsetY, target }) {
    const { height, width } = this.output;
    const canvas = /** @type {HTMLCanvasElement} */ (target);
    const cell = (/** @type {number} */ share, /** @type {number} */ count) =>
      Math.min(count - 1, Math.max(0, Math.floor(share * count)));
    return { row: cell(offsetY / canvas.clientHeight, height), column: cell(offsetX / canvas.clientWidth, width) };
  }

  /** The pixel that the link names. @param {unknown} text @returns {Pixel | null} */
  named(text) {
    const [column = NaN, row = NaN] = /^\d+,\d+$/.test(String(text)) ? String(text).split(",").map(Number) : [];
    return row < this.output.height && column < this.output.width ? { row, column } : null;
  }

  /** @param {Pixel | null} pixel */
  point(pixel) {
    this.pointed = pixel;
    this.draw();
  }

  /** @param {Pixel} pixel */
  pick({ row, column }) {
    const again = this.chosen?.row === row && this.chosen.column === column;
    this.chosen = again ? null : { row, column };
    this.hands.context.state.set({ px: again ? "" : `${column},${row}` }, { undo: "px" });
    this.draw();
  }

  /** @param {KeyboardEvent} event */
  step(event) {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!way || !this.scene) return;
    event.preventDefault();
    event.stopPropagation();
    const { height, width } = this.output;
    const { row, column } = this.chosen ?? { row: Math.floor(height / 2), column: Math.floor(width / 2) };
    const next = { row: row + (way[1] ?? 0), column: column + (way[0] ?? 0) };
    this.pointed = null;
    if (next.row >= 0 && next.row < height && next.column >= 0 && next.column < width) this.pick(next);
  }

  /** The eye goes elsewhere, and the link remembers it. @param {number} moved */
  move(moved) {
    this.hands.context.state.set({ eye: moved ? String(moved) : "" }, { undo: "eye" });
    this.draw();
  }

  draw() {
    const { said, real, ends } = this;
    if (!this.scene || !said) return;
    const moved = Number(this.slider.value);
    const pixel = this.pointed ?? this.chosen;
    if (this.pixels.length) paint(this.eye, moved ? seenFrom(this.pixels, said, moved) : new ImageData(this.pixels.slice(), said.width), moved ? null : pixel);
    paint(this.depth, coloured(said, ends), pixel);
    if (real) paint(this.truth, coloured(real, ends), pixel);
    const { metres } = this.output;
    const where = moved ? `moved ${Math.abs(moved).toFixed(2)} of the distance between two eyes to the ${moved > 0 ? "right" : "left"}` : "where the picture was taken";
    replace(this.told, where);
    this.legend(metres);
    replace(this.readout, ...this.reads(pixel));
  } // prettier-ignore

  /** The colours, from near to far. @param {number | null} metres */
  legend(metres) {
    const { near, far } = this.ends;
    const share = (/** @type {number} */ part) => near + (far - near) * part;
    const says = [0, 0.5, 1].map((part) => distance(share(part), metres));
    const stops = Array.from({ length: STOPS }, (_, i) => weight(strength(share(i / (STOPS - 1)), this.ends)));
    const bar = h("div", { class: "depth-bar" });
    bar.style.setProperty("background", `linear-gradient(to right, ${stops.join(", ")})`);
    this.scale.setAttribute("aria-label", `Colours from ${says[0]} to ${says[2]}`);
    const unit = metres === null ? "of an unknown unit" : "";
    replace(this.scale, bar, h("div", null, ...says.map((each) => h("span", null, each))), unit && h("small", null, unit));
  } // prettier-ignore

  /** What is said of a pixel, or of all. @param {Pixel | null} pixel */
  reads(pixel) {
    const { metres, truth, width } = this.output;
    if (!pixel) {
      if (!truth) return ["Point at a pixel to read its depth."];
      const { error, constant } = truth;
      return ["Off by ", h("b", null, percent(error)), ` of the true depth in the mean; the best one depth for all would be off by ${percent(constant)}.`];
    }
    const place = pixel.row * width + pixel.column;
    const [mine = 0, real = 0] = [this.said?.values[place], this.real?.values[place]];
    const off = Math.abs(real / Math.max(mine, 1e-6) - 1);
    return [
      h("b", null, distance(mine, metres)),
      ` at column ${pixel.column + 1} of row ${pixel.row + 1}; the other eye sees it ${(mine * 100).toFixed(1)} % of the width further left.`,
      this.real ? ` It truly is at ${distance(real, metres)}: off by ${percent(off)}.` : "",
    ];
  } // prettier-ignore

  mark() {}

  /** What can be taken away. @returns {import("../export.js").Figure[]} */
  figures() {
    if (!this.scene) return [];
    const { metres } = this.output;
    const json = () => ({ metres, disparity: [...(this.said?.values ?? [])], truth: this.real && [...this.real.values] });
    return [{ title: `${titled(this.scene.model)}, depth`, svg: () => this.sheet(), table: () => this.table(), json }];
  } // prettier-ignore

  sheet() {
    const { height, width } = this.output;
    const [high, all] = [Math.round((SIDE * height) / width), [this.eye, this.depth, ...(this.real ? [this.truth] : [])]];
    const out = drawing(all.length * (SIDE + 10), high + 26);
    all.forEach((canvas, i) => {
      out.append(svg("image", { x: i * (SIDE + 10), y: 0, width: SIDE, height: high, href: canvas.toDataURL() }));
      out.append(svg("text", { x: i * (SIDE + 10), y: high + 18, fill: inks().ink }, ["picture", "depth", "true depth"][i] ?? ""));
    });
    return out;
  } // prettier-ignore

  /** Every pixel with its depth. */
  table() {
    const { width, metres } = this.output;
    const depth = (/** @type {number | undefined} */ share) => (metres ?? 1) / Math.max(share ?? 0, 1e-6);
    const rows = [...(this.said?.values ?? [])].map((share, i) => [
      Math.floor(i / width),
      i % width,
      depth(share),
      ...(this.real ? [depth(this.real.values[i])] : []),
    ]);
    return { columns: ["row", "column", "depth", ...(this.real ? ["true depth"] : [])], rows };
  }

  destroy() {
    this.unwatch();
    onStage.delete(this);
  }
}

/** Pixels as they are, however large the canvas is shown, and a frame around one of them. @param {HTMLCanvasElement} canvas @param {ImageData} picture @param {Pixel | null} pixel */
function paint(canvas, picture, pixel) {
  const times = Math.max(1, Math.ceil(640 / picture.width));
  const small = document.createElement("canvas");
  [small.width, small.height] = [picture.width, picture.height];
  small.getContext("2d")?.putImageData(picture, 0, 0);
  [canvas.width, canvas.height] = [picture.width * times, picture.height * times];
  canvas.style.setProperty("--aspect", String(picture.width / picture.height));
  const pen = canvas.getContext("2d");
  if (!pen) return;
  pen.imageSmoothingEnabled = false;
  pen.drawImage(small, 0, 0, canvas.width, canvas.height);
  if (!pixel) return;
  pen.lineWidth = 2;
  for (const [colour, out] of /** @type {[string, number][]} */ ([["#000000", 2], ["#ffffff", 0]])) {
    pen.strokeStyle = colour;
    pen.strokeRect(pixel.column * times - 2 - out, pixel.row * times - 2 - out, times + 4 + 2 * out, times + 4 + 2 * out);
  }
} // prettier-ignore
