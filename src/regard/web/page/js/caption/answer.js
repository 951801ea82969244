/** The caption, word by word: each lights its region while it appears; a place of the picture shades its words. */

import { clip, percent, spoken, unit } from "../bench/answer.js";
import { seen } from "../bench/scene.js";
import { whole } from "../bench/whole.js";
import { h } from "../dom.js";
import { output } from "../rooms/output.js";
import { refill } from "../rooms/refill.js";

/** @typedef {import("../bench/scene.js").Scene} Scene */
/** @typedef {import("../bench/bench.js").AnswerHands} Hands */
/** @typedef {import("../views/view.js").Mark} Mark */

const PACE = 450; // milliseconds a word

/** Captions that are on stage, one a panel, for shortcuts and export. @type {Set<Caption>} */
export const onStage = new Set();

/** @param {HTMLElement} host @param {Hands} hands */
export const answer = (host, hands) => new Caption(host, hands);

class Caption {
  /** @param {HTMLElement} host @param {Hands} hands */
  constructor(host, hands) {
    this.host = host;
    this.hands = hands;
    this.sentence = output(host, hands, "Caption");
    this.bar = h("div", { class: "others caption-bar" });
    host.append(this.bar);
    /** @type {Scene | null} */
    this.scene = null;
    this.played = "";
    this.timer = 0;
    this.at = -1; // the word that appears; -1 where all are there
    host.addEventListener("pointerover", ({ target }) => {
      if (target instanceof Element && target.closest(".said")) this.stop();
    });
    onStage.add(this);
  }

  /** @param {Scene} scene */
  show(scene) {
    this.scene = scene;
    this.sentence.show(scene);
    this.tell();
    const { id } = scene.result;
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const chosen = scene.state.at.row !== undefined || scene.state.at.column !== undefined;
    if (chosen) this.stop();
    else if (id !== this.played && !still) this.play();
    else if (this.timer) this.cover();
    this.played = id;
    if (!this.timer) void this.shade(scene.state.at);
  }

  words() {
    return [...this.host.querySelectorAll("button.said")];
  }

  /** Let the words come, one after another. */
  play() {
    this.stop();
    this.at = -1;
    this.next();
  }

  next() {
    const { scene } = this;
    this.at += 1;
    if (!scene || this.at >= this.words().length) return this.stop();
    this.timer = window.setTimeout(() => this.next(), PACE);
    this.cover();
    const row = unit(scene.state.merge, scene.result.axes["target"], this.at);
    if (scene.selection?.attention.rows === "target") this.hands.point({ row });
  }

  /** Words that are still to come are not seen. */
  cover() {
    this.words().forEach((word, i) => {
      word.classList.toggle("unsaid", i > this.at);
      word.classList.toggle("glow", i === this.at);
    });
  }

  stop() {
    if (!this.timer) return;
    clearTimeout(this.timer);
    [this.timer, this.at] = [0, -1];
    for (const word of this.words()) word.classList.remove("unsaid", "glow");
    this.hands.point(null);
  }

  /** How sure it is, and of what least. */
  tell() {
    const scene = /** @type {Scene} */ (this.scene);
    const { output: said } = scene.result;
    const words = this.sure();
    const least = words.toSorted((a, b) => a.chance - b.chance)[0];
    refill(
      this.bar,
      h("button", { type: "button", class: "button small", onclick: () => this.play() }, "▶ Word by word"),
      words.length > 0 &&
        h("span", { class: "note" }, "Least sure of ", h("b", null, clip(least?.word ?? "")), ` ${percent(least?.chance)}`),
      said.forced && h("span", { class: "note" }, "It was made to say this."),
    ); // prettier-ignore
  }

  /** Each word with its probability, that of all its pieces together. */
  sure() {
    const { result } = /** @type {Scene} */ (this.scene);
    const axis = result.axes["target"];
    const chances = /** @type {number[]} */ (result.output.chances);
    const spans = axis?.kind === "words" ? (axis.words ?? []) : [];
    return spoken(axis).slice(0, this.words().length).map((word, i) => {
      const [a, b] = spans[i] ?? [i, i];
      return { word, chance: chances.slice(a, b + 1).reduce((product, each) => product * each, 1) };
    }); // prettier-ignore
  }

  /** @param {Mark | null} mark */
  mark(mark) {
    if (mark) this.stop();
    this.sentence.mark(mark);
    void this.shade(mark ?? this.scene?.state.at ?? {});
  }

  /** Words as bright as they looked at a place. @param {Mark} mark */
  async shade({ column }) {
    const { scene } = this;
    const view = scene && scene.selection?.attention.rows === "target" ? seen(scene)?.view : null;
    const places = view?.columns.kind === "grid" && column !== undefined;
    const all = places ? await whole(view.weights).catch(() => null) : null;
    if (scene !== this.scene) return;
    const axis = scene?.result.axes["target"];
    const share = (/** @type {number} */ word) =>
      all && view && scene ? (all[unit(scene.state.merge, axis, word) * view.weights.columns + (column ?? 0)] ?? 0) : 0;
    const words = this.words();
    const most = Math.max(...words.map((_, i) => share(i)), 1e-9);
    words.forEach((word, i) => {
      word.classList.toggle("shaded", all !== null);
      if (word instanceof HTMLElement) word.style.setProperty("--share", (share(i) / most).toFixed(3));
    });
  }

  table() {
    return { columns: ["word", "probability"], rows: this.sure().map(({ word, chance }) => [word, chance]) };
  }

  destroy() {
    this.stop();
    onStage.delete(this);
  }
}
