/** The masks that a prompt may mean, each with the IoU that the model expects; and in the world, what is true. */

import { percent, titled } from "../bench/answer.js";
import { hue } from "../color.js";
import { h, replace, svg } from "../dom.js";
import { refill } from "../rooms/refill.js";
import { drawing, inks, themed } from "../views/paint.js";
import * as pointed from "./canvas.js";
import { FRESH, promptsOf } from "./input.js";
import { added, written } from "./prompts.js";

/** @typedef {import("../bench/scene.js").Scene} Scene */
/** @typedef {import("../bench/bench.js").AnswerHands} Hands */
/** @typedef {{mask: string, score: number, stability: number, share: number}} Mask */
/** @typedef {{name: string, says: string, mask: string, iou: number[]}} Meaning */
/** @typedef {{width: number, height: number, inside: [number, number], masks: Mask[], clear: boolean, truth: Meaning[] | null}} Output */

const [TILE, FIGURE] = [120, 480]; // pixels of a small picture, and of the large one in a figure

/** Answers that are on stage, one a panel, for export. @type {Set<Masks>} */
export const onStage = new Set();

/** What a mask is called. @param {number} i */
export const called = (i) => (i ? `Mask ${i}` : "Single mask");

/** The mask that is shown: the one that is chosen, else what the model would give. @param {Output} output @param {unknown} wished */
export function chosen({ masks, clear }, wished) {
  const own = Number(wished);
  if (wished !== undefined && wished !== "" && masks[own]) return own;
  const several = masks.map(({ score }, i) => ({ score, i })).slice(1);
  return clear ? 0 : (several.sort((a, b) => b.score - a.score)[0]?.i ?? 0);
}

/** @param {HTMLElement} host @param {Hands} hands */
export const answer = (host, hands) => new Masks(host, hands);

class Masks {
  /** @param {HTMLElement} host @param {Hands} hands */
  constructor(host, hands) {
    this.hands = hands;
    /** @type {Scene | null} */
    this.scene = null;
    this.below = new Image();
    this.below.addEventListener("load", () => this.draw());
    /** @type {HTMLImageElement[]} */
    this.masks = [];
    /** @type {HTMLImageElement[]} */
    this.truths = [];
    this.canvas = pointed.create({ add: (prompt) => this.add(prompt), back: () => this.back() });
    this.cards = h("div", { class: "segment-cards", role: "group", "aria-label": "Masks" });
    this.says = h("p", { class: "segment-says", "aria-live": "polite" });
    this.root = h("div", { class: "segment-answer" }, this.canvas.element, h("div", null, this.cards, this.says));
    this.unwatch = themed(() => this.draw());
    host.append(this.root);
    onStage.add(this);
  }

  /** @returns {Output} */
  get output() {
    return /** @type {Scene} */ (this.scene).result.output;
  }

  /** @param {Scene} scene */
  show(scene) {
    const fresh = scene.result !== this.scene?.result;
    this.scene = scene;
    if (fresh) {
      const { masks, truth } = this.output;
      this.masks = masks.map(({ mask }) => this.loaded(mask));
      this.truths = (truth ?? []).map(({ mask }) => this.loaded(mask));
      const grid = Object.values(scene.result.axes).find(({ kind }) => kind === "grid");
      const image = grid?.kind === "grid" ? (grid.image ?? "") : "";
      if (this.below.src !== image) this.below.src = image;
    }
    this.fill();
    this.draw();
  }

  /** @param {string} source */
  loaded(source) {
    const image = new Image();
    image.addEventListener("load", () => this.draw());
    image.src = source;
    return image;
  }

  /** One more click, or a box. @param {import("./prompts.js").Prompt} prompt */
  add(prompt) {
    if (this.scene) this.hands.set({ ...FRESH, pt: written(added(promptsOf(this.scene.state), prompt)) });
  }

  /** The last one is taken back. */
  back() {
    if (this.scene) this.hands.set({ ...FRESH, pt: written(promptsOf(this.scene.state).slice(0, -1)) });
  }

  get place() {
    return chosen(this.output, this.scene?.state.flat["mask"]);
  }

  /** The meaning that the shown mask fits best, where the truth is known and wished for. */
  get meant() {
    const { truth } = this.output;
    if (!truth || !this.scene?.state.flat["truth"]) return -1;
    const alike = truth.map(({ iou }) => iou[this.place] ?? 0);
    return alike.indexOf(Math.max(...alike));
  }

  /** A card a mask, the single one last, and what can be said of them. */
  fill() {
    const { masks, clear } = this.output;
    const { place } = this;
    const own = chosen(this.output, "");
    const order = masks.length ? [...masks.keys()].slice(1).concat(0) : [];
    refill(
      this.cards,
      order.map((i) =>
        h("button", { type: "button", "data-mask": i, "aria-pressed": String(i === place), onclick: () => this.hands.set({ mask: i === own ? "" : String(i) }, "mask") },
          h("canvas", { width: TILE, height: Math.round(TILE / this.aspect), "aria-hidden": "true" }),
          h("b", null, called(i)),
          h("span", null, "expects IoU ", h("output", null, percent(masks[i]?.score))),
          i === own && h("span", { class: "quiet" }, clear ? "given: the prompt is clear" : "given: the surest"),
        ),
      ),
    ); // prettier-ignore
    this.tell();
  }

  get aspect() {
    return Math.min(2, Math.max(0.5, this.output.width / Math.max(1, this.output.height)));
  }

  tell() {
    const { masks, truth, clear } = this.output;
    const { flat } = /** @type {Scene} */ (this.scene).state;
    const one = masks[this.place];
    if (!one)
      return replace(this.says, "Click on what you mean, or drag a box around it. With Alt, a click is on what you do not mean."); // prettier-ignore
    const said = [`${called(this.place)}: ${percent(one.share)} of the picture, stable to ${percent(one.stability)}. `];
    said.push(clear ? "" : "One click may mean a part or a whole, so that there are three. ");
    if (!flat["truth"]) return replace(this.says, ...said);
    if (!truth) return replace(this.says, ...said, "No thing lies where you pointed, so that nothing is true of it.");
    const rows = truth.map(
      ({ name, says, iou }, i) =>
      h("span", { class: i === this.meant ? "hit" : "" }, `${name}${says ? ` (${says})` : ""} `, h("output", null, percent(iou[this.place]))), // prettier-ignore
    );
    return replace(this.says, ...said, h("br"), "IoU with the truth: ", ...rows.flatMap((row, i) => (i ? [", ", row] : [row])), "."); // prettier-ignore
  }

  draw() {
    const { scene } = this;
    if (!scene) return;
    this.canvas.show(this.shown());
    for (const card of this.cards.querySelectorAll("button")) {
      const i = Number(card.dataset["mask"]);
      const [tile, mask] = [card.querySelector("canvas"), this.masks[i]];
      const pen = tile?.getContext("2d");
      if (!pen || !tile) continue;
      pointed.picture(pen, tile.width, tile.height, { below: this.below, inside: this.output.inside });
      if (mask) pointed.covered(pen, tile.width, tile.height, mask, hue(i));
    }
  }

  /** @returns {import("./canvas.js").Shown} */
  shown() {
    const { state } = /** @type {Scene} */ (this.scene);
    const { width, height, inside } = this.output;
    return {
      below: this.below,
      inside,
      width,
      height,
      mask: this.masks[this.place] ?? null,
      truth: this.truths[this.meant] ?? null,
      colour: hue(this.place),
      prompts: promptsOf(state),
      tool: String(state.flat["tool"] ?? ""),
    };
  }

  /** What can be taken away. @returns {import("../export.js").Figure[]} */
  figures() {
    if (!this.scene?.result.output.masks.length) return [];
    return [{ title: `${titled(this.scene.model)}, masks`, svg: () => this.sheet(), table: () => this.table() }];
  }

  /** The picture with its mask, and all masks small. */
  async sheet() {
    const { masks } = this.output;
    const tall = Math.round(FIGURE / this.aspect);
    const large = h("canvas", { width: FIGURE, height: tall });
    const pen = large.getContext("2d");
    if (pen) pointed.paint(pen, FIGURE, tall, this.shown());
    const small = [...this.cards.querySelectorAll("button")];
    const out = drawing(FIGURE + 30 + TILE, Math.max(tall, small.length * (TILE / this.aspect + 34)), 15);
    out.append(svg("image", { width: FIGURE, height: tall, href: large.toDataURL() }));
    small.forEach((card, i) => {
      const [place, y] = [Number(card.dataset["mask"]), i * (TILE / this.aspect + 34)];
      const href = card.querySelector("canvas")?.toDataURL() ?? "";
      out.append(svg("image", { x: FIGURE + 30, y, width: TILE, height: TILE / this.aspect, href }));
      const said = `${called(place)}, ${percent(masks[place]?.score)}`;
      out.append(svg("text", { x: FIGURE + 30, y: y + TILE / this.aspect + 17, fill: inks().ink }, said));
    });
    return out;
  }

  table() {
    const { masks, truth } = this.output;
    return {
      columns: ["mask", "expected IoU", "stability", "share of the picture", ...(truth ?? []).map(({ name }) => `IoU with the ${name}`)],
      rows: masks.map(({ score, stability, share }, i) => [called(i), score, stability, share, ...(truth ?? []).map(({ iou }) => iou[i] ?? 0)]),
    }; // prettier-ignore
  }

  destroy() {
    this.canvas.stop();
    this.unwatch();
    onStage.delete(this);
  }
}
