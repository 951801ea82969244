/** A picture on its way out of noise, step by step, and where each word was looked at from. */

import { isSpecial, spoken, tight, titled } from "../bench/answer.js";
import { h, replace, svg } from "../dom.js";
import { refill } from "../rooms/refill.js";
import { roving } from "../roving.js";
import * as pictures from "../see/picture.js";
import { numbers } from "../see/seen.js";
import { drawing, inks, themed } from "../views/paint.js";
import { draw as drawTile, tile } from "../views/regions.js";

/** @typedef {import("../bench/scene.js").Scene} Scene */
/** @typedef {import("../bench/bench.js").AnswerHands} Hands */
/** @typedef {import("../views/view.js").Mark} Mark */
/** @typedef {{time: number, noised: string, clean: string}} Moment */
/** @typedef {{height: number, width: number, words: number, weights: string}} Maps */
/** @typedef {{image: string, moments: Moment[], maps: Maps | null, written: boolean}} Output */

const [PACE, SHOWN, SIDE] = [140, 8, 120]; // milliseconds a step; moments of an exported figure, and their pixels

/** Films that are on stage, one a panel, for shortcuts and export. @type {Set<Film>} */
export const onStage = new Set();

/** @param {HTMLElement} host @param {Hands} hands */
export const film = (host, hands) => new Film(host, hands);

class Film {
  /** @param {HTMLElement} host @param {Hands} hands */
  constructor(host, hands) {
    this.hands = hands;
    /** @type {Scene | null} */
    this.scene = null;
    /** @type {Float32Array | null} */
    this.weights = null;
    this.id = "";
    this.timer = 0;
    this.step = 0;
    /** The word that is pointed at. @type {number | null} */
    this.pointed = null;
    this.taken = h("figcaption");
    this.words = h("div", { class: "output", role: "group", "aria-label": "Words" });
    this.noised = pictures.create("The picture with its noise");
    this.clean = pictures.create("What the model takes the picture to be");
    this.told = h("output", { class: "film-told" });
    this.slider = h("input", { type: "range", min: 0, max: 0, "aria-label": "Step", oninput: () => this.turn(Number(this.slider.value), true) });
    this.button = h("button", { type: "button", class: "button small", onclick: () => this.play() }, "▶ Out of noise");
    this.bar = h("div", { class: "film-bar" }, this.button, this.slider, this.told);
    const noise = h("figure", null, this.noised.element, h("figcaption", null, "with its noise"));
    this.noise = noise;
    this.pair = h("div", { class: "film-pair" }, noise, h("figure", null, this.clean.element, this.taken));
    this.below = new Image();
    this.below.addEventListener("load", () => this.tiles());
    this.maps = h("div", { class: "film-maps regions-words", role: "group", "aria-label": "Where each word is looked at from, in this step" });
    this.rove = roving(this.maps);
    this.unwatch = themed(() => this.tiles());
    this.root = h("div", { class: "film", hidden: true }, this.words, h("div", { class: "film-floor" }, this.pair, this.maps), this.bar);
    host.append(this.root);
    onStage.add(this);
  } // prettier-ignore

  /** @returns {Output} */
  get output() {
    return /** @type {Scene} */ (this.scene).result.output;
  }

  /** @param {Scene} scene */
  show(scene) {
    const fresh = scene.result.id !== this.id;
    this.scene = scene;
    this.root.hidden = false;
    this.id = scene.result.id;
    const { moments, maps, written } = this.output;
    if (fresh) this.weights = maps && numbers(maps.weights);
    this.bar.hidden = this.noise.hidden = written;
    replace(this.taken, written ? "as it was painted" : "what the model takes it to be");
    this.slider.max = String(moments.length - 1);
    this.said();
    const wished = scene.state.flat["step"];
    const last = moments.length - 1;
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (wished !== undefined && wished !== "") this.turn(Math.min(last, Math.max(0, Number(wished) || 0)));
    else if (fresh && !still && last > 0) this.play();
    else if (!this.timer) this.turn(last);
  }

  /** The words, each of which can be looked at. */
  said() {
    const { result, state, selection } = /** @type {Scene} */ (this.scene);
    const across = selection?.attention.columns === "words" && selection.attention.rows === "picture";
    const words = spoken(result.axes["words"]).flatMap((word, i) => (isSpecial(word) ? [] : [{ word, i }]));
    const choose = (/** @type {number} */ i) => () => this.hands.change({ at: state.at.column === i ? null : { column: i } });
    const point = (/** @type {number | null} */ i) => this.point(i);
    const chosen = (/** @type {number} */ i) => String(across && state.at.column === i);
    refill(
      this.words,
      words.map(({ word, i }) =>
        h("button", {
          type: "button",
          class: `said${tight(word) ? " tight" : ""}`,
          "data-word": i,
          disabled: !this.weights,
          "aria-pressed": chosen(i),
          onpointerenter: () => point(i),
          onpointerleave: () => point(null),
          onclick: choose(i),
        }, word),
      ),
    );
    const maps = words.map(({ word, i }) => tile(word, i, { point, pick: choose(i) }));
    maps.forEach((each, k) => each.setAttribute("aria-pressed", chosen(words[k]?.i ?? 0)));
    refill(this.maps, this.weights ? maps : []);
    this.rove();
  } // prettier-ignore

  /** @param {number | null} word */
  point(word) {
    this.pointed = word;
    this.hands.point(word === null ? null : { column: word });
    this.draw();
  }

  /** Show which word is pointed at elsewhere. @param {Mark | null} mark */
  mark(mark) {
    this.pointed = mark?.column ?? null;
    this.words.querySelectorAll("button").forEach((button) => button.classList.toggle("glow", Number(button.dataset["word"]) === this.pointed)); // prettier-ignore
    this.draw();
  }

  /** To another step; by hand, the link remembers it. @param {number} step @param {boolean} [hand] */
  turn(step, hand = false) {
    this.step = step;
    if (hand) {
      this.stop();
      this.hands.context.state.set({ step: step === this.output.moments.length - 1 ? "" : String(step) }, { undo: "step" });
    }
    this.draw();
  } // prettier-ignore

  /** Some steps on, or back. @param {number} by */
  walk(by) {
    if (this.scene) this.turn(Math.max(0, Math.min(this.output.moments.length - 1, this.step + by)), true);
  }

  /** From noise to the picture. */
  play() {
    if (!this.scene) return;
    this.stop();
    this.hands.context.state.set({ step: "" });
    const next = (/** @type {number} */ step) => {
      this.turn(step);
      this.timer = step < this.output.moments.length - 1 ? window.setTimeout(() => next(step + 1), PACE) : 0;
    };
    next(0);
  }

  stop() {
    clearTimeout(this.timer);
    this.timer = 0;
  }

  /** Where a word was looked at from in a step. @param {number} step @param {number} word */
  field(step, word) {
    const { maps } = this.output;
    if (!maps || !this.weights) return null;
    const { height, width, words } = maps;
    const from = (step * words + word) * height * width;
    return { height, width, values: this.weights.subarray(from, from + height * width) };
  }

  draw() {
    if (!this.scene) return;
    const { moments } = this.output;
    const moment = moments[this.step];
    if (!moment) return;
    const word = this.pointed ?? this.scene.state.at.column;
    const field = word === undefined ? null : this.field(this.step, word);
    this.noised.show({ image: moment.noised, over: null });
    this.clean.show({ image: moment.clean, over: field && { title: "", field } });
    this.slider.value = String(this.step);
    replace(this.told, `step ${this.step + 1} of ${moments.length}, time ${moment.time.toFixed(2)}`);
    if (this.below.src !== moment.clean) this.below.src = moment.clean;
    else this.tiles();
  }

  /** The small maps of all words. */
  tiles() {
    if (!this.scene) return;
    for (const each of this.maps.querySelectorAll("button"))
      drawTile(each, this.field(this.step, Number(each.dataset["word"])), this.below);
  }

  /** What can be taken away: some moments, with the map of the word that is chosen. @returns {import("../export.js").Figure[]} */
  figures() {
    if (!this.scene) return [];
    const name = titled(this.scene.model);
    const { moments } = this.output;
    return [
      { title: `${name}, out of noise`, svg: () => this.sheet(), table: () => this.table(), json: () => ({ moments: moments.map(({ time }) => time), maps: this.output.maps }) },
    ]; // prettier-ignore
  }

  sheet() {
    const { moments } = this.output;
    const count = Math.min(SHOWN, moments.length);
    const some = Array.from({ length: count }, (_, i) => Math.round((i * (moments.length - 1)) / Math.max(1, count - 1)));
    const out = drawing(count * (SIDE + 8), 2 * (SIDE + 8) + 20);
    some.forEach((step, i) => {
      const [x, moment] = [i * (SIDE + 8), /** @type {Moment} */ (moments[step])];
      out.append(svg("image", { x, y: 0, width: SIDE, height: SIDE, href: moment.noised }));
      out.append(svg("image", { x, y: SIDE + 8, width: SIDE, height: SIDE, href: moment.clean }));
      out.append(svg("text", { x, y: 2 * (SIDE + 8) + 12, fill: inks().ink }, `step ${step + 1}`));
    });
    return out;
  } // prettier-ignore

  /** Where each word was looked at from, in the step that is seen. */
  table() {
    const scene = /** @type {Scene} */ (this.scene);
    const rows = spoken(scene.result.axes["words"]).flatMap((word, i) => {
      const field = this.field(this.step, i);
      return [...(field?.values ?? [])].map((value, k) => [word, Math.floor(k / (field?.width ?? 1)), k % (field?.width ?? 1), value]);
    });
    return { columns: ["word", "row", "column", "weight"], rows };
  } // prettier-ignore

  destroy() {
    this.stop();
    this.noised.stop();
    this.clean.stop();
    this.unwatch();
    onStage.delete(this);
  }
}
