/** The prompt and its answer, pictures between words: each word lights what it sees; and how far the gates are open. */

import { isSpecial, spoken, tight, titled, unit, wordAt } from "../bench/answer.js";
import { h } from "../dom.js";
import { refill } from "../rooms/refill.js";
import * as pictures from "../see/picture.js";
import { numbers } from "../see/seen.js";

/** @typedef {import("../bench/scene.js").Scene} Scene */
/** @typedef {import("../bench/bench.js").AnswerHands} Hands */
/** @typedef {import("../views/view.js").Mark} Mark */
/** @typedef {{text: string, log_prob: number, finished: boolean, read: number, shown: number[], gates: [number, number][], maps: {height: number, width: number, words: number, weights: string} | null}} Output */

/** Transcripts that are on stage, one a panel, for export. @type {Set<Transcript>} */
export const onStage = new Set();

/** @param {HTMLElement} host @param {Hands} hands */
export const answer = (host, hands) => new Transcript(host, hands);

class Transcript {
  /** @param {HTMLElement} host @param {Hands} hands */
  constructor(host, hands) {
    this.hands = hands;
    /** @type {Scene | null} */
    this.scene = null;
    this.id = "";
    /** @type {Float32Array | null} */
    this.weights = null;
    /** @type {ReturnType<typeof pictures.create>[]} */
    this.seen = [];
    /** The word that is pointed at. @type {number | null} */
    this.pointed = null;
    this.talk = h("div", { class: "output transcript", role: "group", "aria-label": "Prompt and answer" });
    this.said = h("p", { class: "quiet", "aria-live": "polite" });
    this.gates = h("div", { class: "gates" });
    host.append(h("div", { class: "told" }, h("div", null, this.talk, this.said), this.gates));
    onStage.add(this);
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
    if (fresh) {
      this.weights = this.output.maps && numbers(this.output.maps.weights);
      for (const each of this.seen) each.stop();
      this.seen = this.output.shown.map((_, i) => pictures.create(`Picture ${i + 1}`));
    }
    this.words();
    this.open();
    this.light();
  }

  /** The word that is kept. */
  kept() {
    const { state, result, selection } = /** @type {Scene} */ (this.scene);
    if (selection?.attention.rows !== "words") return undefined;
    return state.merge === "words" ? state.at.row : wordAt(result.axes["words"], state.at.row);
  }

  /** Words, and pictures where they stand. */
  words() {
    const { result, state, selection } = /** @type {Scene} */ (this.scene);
    const axis = result.axes["words"];
    const { shown, read } = this.output;
    const [starts, first] = [shown.map((piece) => wordAt(axis, piece)), wordAt(axis, read) ?? Infinity];
    const changed = this.scene?.plain && this.scene.plain.output.text !== this.output.text;
    const chosen = this.kept();
    const parts = spoken(axis).flatMap((word, i) => {
      const picture = starts.flatMap((at, k) => (at === i ? [h("figure", { class: "told-picture" }, this.seen[k]?.element)] : []));
      const row = unit(state.merge, axis, i);
      const button = h("button", {
        type: "button",
        class: `said${tight(word) ? " tight" : ""}${i >= first ? " new" : ""}`,
        "data-word": i,
        "aria-pressed": String(chosen === i),
        onpointerenter: () => this.point(i, row),
        onpointerleave: () => this.point(null, 0),
        onclick: () => this.hands.change({ at: chosen === i ? null : { row }, ...(selection?.attention.rows === "words" ? {} : { look: "" }) }),
      }, word);
      return isSpecial(word) ? picture : [...picture, button];
    });
    refill(this.talk, parts, changed && h("span", { class: "verdict" }, `was “${this.scene?.plain?.output.text}”`));
  } // prettier-ignore

  /** @param {number | null} word @param {number} row */
  point(word, row) {
    this.pointed = word;
    const rows = this.scene?.selection?.attention.rows;
    if (rows === "words") this.hands.point(word === null ? null : { row });
    this.light();
  }

  /** Show which word is pointed at elsewhere. @param {Mark | null} mark */
  mark(mark) {
    const { scene } = this;
    if (scene?.selection?.attention.rows !== "words") return;
    const word = scene.state.merge === "words" ? mark?.row : wordAt(scene.result.axes["words"], mark?.row);
    this.pointed = word ?? null;
    this.talk.querySelectorAll("button").forEach((each) => each.classList.toggle("glow", Number(each.dataset["word"]) === word));
    this.light();
  } // prettier-ignore

  /** What a word sees of a picture, through its latents. @param {number} picture @param {number} word */
  field(picture, word) {
    const { maps } = this.output;
    if (!maps || !this.weights) return null;
    const { height, width, words } = maps;
    const from = (picture * words + word) * height * width;
    return { height, width, values: this.weights.subarray(from, from + height * width) };
  }

  /** Light the pictures as a word sees them; one that it does not see is covered. */
  light() {
    const { axes } = /** @type {Scene} */ (this.scene).result;
    const word = this.pointed ?? this.kept();
    const fields = this.seen.map((_, i) => (word === undefined ? null : this.field(i, word)));
    const sums = fields.map((each) => each?.values.reduce((sum, value) => sum + value, 0) ?? 0);
    this.seen.forEach((picture, i) => {
      const axis = axes[`picture ${i + 1}`];
      const field = (sums[i] ?? 0) < 1e-6 ? null : (fields[i] ?? null);
      picture.show({ image: axis?.kind === "grid" ? (axis.image ?? "") : "", over: field && { title: "", field } });
      picture.element.classList.toggle("unseen-by", word !== undefined && (sums[i] ?? 0) < 1e-6);
    });
    const name = word === undefined ? "" : (spoken(axes["words"])[word] ?? "");
    const which = sums.flatMap((sum, i) => (sum >= 1e-6 ? [i + 1] : []));
    refill(
      this.said,
      !name
        ? "Point at a word to see what it sees of the pictures, through the latents of the resampler."
        : which.length
          ? `“${name}” sees picture ${which.join(", ")}, through its latents: the mean of all gated blocks and heads.`
          : `“${name}” stands before every picture and sees none.`,
    );
  }

  /** How far the gates are open. */
  open() {
    const track = (/** @type {number} */ gate, /** @type {string} */ label) =>
      h("td", null, h("span", { class: "track", "aria-hidden": "true" }, h("i", { class: "bar", style: { width: `${100 * Math.abs(gate)}%` } })), h("output", { "aria-label": label }, gate.toFixed(2).replace("-", "−")));
    refill(
      this.gates,
      h(
        "table",
        null,
        h("caption", null, "Gates: how much each block lets in, tanh α"),
        h("thead", null, h("tr", null, h("th", { scope: "col" }, "block"), h("th", { scope: "col" }, "look"), h("th", { scope: "col" }, "MLP"))),
        h("tbody", null, this.output.gates.map(([look, mlp], i) => h("tr", null, h("th", { scope: "row" }, i + 1), track(look, `look of block ${i + 1}`), track(mlp, `MLP of block ${i + 1}`)))),
      ),
    );
  } // prettier-ignore

  /** What can be taken away. @returns {import("../export.js").Figure[]} */
  figures() {
    if (!this.scene) return [];
    const { gates, text, log_prob, maps } = this.output;
    const rows = gates.map(([look, mlp], i) => [i + 1, look, mlp]);
    return [
      { title: `${titled(this.scene.model)}, gates`, table: () => ({ columns: ["block", "look", "mlp"], rows }), json: () => ({ answer: text, log_prob, gates, maps }) },
    ]; // prettier-ignore
  }

  destroy() {
    for (const each of this.seen) each.stop();
    onStage.delete(this);
  }
}
