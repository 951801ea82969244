/** Senses: the vectors of one word in many sentences, on a map after each layer. */

import { aborted } from "../api.js";
import { titled } from "../bench/answer.js";
import { h, replace } from "../dom.js";
import { refill } from "../rooms/refill.js";
import { pick } from "../rooms/pick.js";
import { drawing, map } from "./sensemap.js";

/** @typedef {import("../bench/scene.js").Scene} Scene */
/** @typedef {import("../state.js").Flat} Flat */
/** @typedef {{name: string, points: [number, number][], shares: number[], apart: number | null}} Layer */
/** @typedef {{model: string, word: string, words: {sentence: string, first: number, last: number, sense: number}[], layers: Layer[]}} Found */
/** @typedef {{word: string, senses: string}} Asked */

/** Sentences of one frame, so that places tell nothing: only what a word stands for differs. @param {string} frame @param {string} words */
const framed = (frame, words) => words.split(" ").map((each) => frame.replace("…", each)).join("\n"); // prettier-ignore
const IT = "Paul saw a …. The neighbours found it in the house.";
/** @type {Record<"world" | "any", Asked>} */
const FIRST = {
  world: {
    word: "it",
    senses: `${framed(IT, "dog horse cat bear rabbit duck")}\n\n${framed(IT, "cup hat lamp ball box toy")}`,
  },
  any: {
    word: "bank",
    senses:
      "The bank was muddy after the rain.\nShe sat on the bank and watched the river.\nThe boat drifted to the bank of the stream.\nTrees grew along the bank of the lake.\nThey fished from the grassy bank all day.\nThe river burst its bank in spring.\n\n" +
      "The bank was closed on Sunday.\nShe worked at the bank and counted the money.\nThe man went to the bank for a loan.\nThieves broke into the bank at night.\nThey borrowed from the local bank last year.\nThe company asked its bank for credit.",
  },
};
const READS = ["fill", "classify", "tag", "answer", "embed", "similar", "generate"];

/** @type {import("../bench/views.js").Entry} */
export const view = {
  id: "senses",
  title: "Senses",
  key: "s",
  bare: true,
  fits: ({ result }) => READS.includes(result.task),
  create: (host, hands) => new Senses(host, hands.context),
};

class Senses {
  /** @param {HTMLElement} host @param {import("../app.js").Context} context */
  constructor(host, context) {
    this.context = context;
    this.host = host;
    this.control = new AbortController();
    /** @type {Map<string, Found>} */
    this.known = new Map();
    this.key = ""; // what is asked or shown
    /** @type {Scene | null} */
    this.scene = null;
    /** @type {Found | null} */
    this.found = null;
    this.bar = h("div", { class: "senses-bar" });
    this.told = h("p", { class: "senses-told", role: "status" });
    const [plane, list] = [h("div", { class: "senses-map" }), h("ul", { class: "senses-list" })];
    this.map = map(plane, list);
    this.own = this.editor();
    host.append(this.bar, this.told, h("div", { class: "senses" }, plane, list), this.own.root);
  }

  /** @param {Flat} patch @param {boolean | string} [undo] */
  set(patch, undo = true) {
    this.context.state.set(patch, { undo });
    if (this.scene) this.update(undefined, this.scene);
  }

  /** @returns {Asked} */
  asked() {
    const flat = this.context.state.get();
    const first = this.scene?.model["data"] === "world" ? FIRST.world : FIRST.any;
    return { word: String(flat["word"] ?? "") || first.word, senses: String(flat["senses"] ?? "") || first.senses };
  }

  recorded() {
    return this.context.state.get()["of"] === "minilm";
  }

  /** @param {unknown} _ @param {Scene} scene */
  update(_, scene) {
    this.scene = scene;
    this.own.show(this.asked(), this.recorded());
    const key = this.recorded() ? "recorded" : JSON.stringify([scene.model["name"], this.asked()]);
    const known = this.known.get(key);
    if (known || key !== this.key) this.control.abort();
    else return; // it is on its way
    this.key = key;
    if (known) return this.draw(known);
    this.control = new AbortController();
    const { signal } = this.control;
    this.host.classList.toggle("old", this.found !== null);
    this.ask(scene, signal).then(
      (all) => {
        this.known.set(key, all);
        if (!signal.aborted) this.draw(all);
      },
      (error) => {
        if (aborted(error) || signal.aborted) return;
        this.key = "";
        this.controls(null);
        replace(this.told, h("span", { class: "problem" }, error instanceof Error ? error.message : String(error)));
      },
    );
  }

  /** @param {Scene} scene @param {AbortSignal} signal @returns {Promise<Found>} */
  async ask({ model }, signal) {
    if (this.recorded()) return (await this.context.api.get("/api/senses", { signal }))[0];
    const { word, senses } = this.asked();
    const lines = senses.split(/\n\s*\n/).map((some) => some.split("\n").map((each) => each.trim()).filter(Boolean)); // prettier-ignore
    const body = { model: model["name"], word, senses: lines.filter((some) => some.length) };
    return this.context.api.post("/api/senses", body, { signal });
  }

  /** @param {Found} found */
  layer(found) {
    const wished = this.context.state.get()["layer"];
    const last = found.layers.length - 1;
    return wished === undefined || wished === "" ? last : Math.min(last, Math.max(0, Number(wished) || 0));
  }

  /** @param {Found} found */
  draw(found) {
    this.found = found;
    this.host.classList.remove("old");
    const at = this.layer(found);
    const layer = found.layers[at];
    if (!layer) return;
    this.controls(found);
    this.map.show(found, layer);
    const share = Math.round(100 * layer.shares.reduce((a, b) => a + b, 0));
    const where = at === 0 ? "Before the first layer" : `After layer ${at} of ${found.layers.length - 1}`;
    const apart =
      layer.apart === null
        ? "all vectors of one sense are the same, so nothing tells the senses apart"
        : `two vectors of different senses are ${layer.apart.toFixed(2)} times as far apart as two of the same sense`;
    replace(this.told, `${where} ${apart}. The map shows ${share} % of how the vectors differ.`);
  }

  /** @param {Found | null} found */
  controls(found) {
    const last = (found?.layers.length ?? 1) - 1;
    const at = found ? this.layer(found) : 0;
    const told = h("output", null, at === 0 ? "input" : at);
    const slider = h("input", {
      type: "range",
      min: 0,
      max: last,
      value: at,
      "aria-label": "Layer",
      oninput: () => {
        this.context.state.set({ layer: slider.value }, { undo: "layer" });
        replace(told, slider.value === "0" ? "input" : slider.value);
        if (this.found) this.draw(this.found);
      },
    });
    const of = this.recorded() ? "minilm" : "";
    const models = /** @type {[string, string][]} */ ([
      ["", titled(this.scene?.model)],
      ["minilm", "all-MiniLM-L6-v2, recorded: “bank”"],
    ]);
    refill(
      this.bar,
      pick("vectors of", models, of, (to) => this.set({ of: to, layer: "" })),
      found && h("label", { class: "dial" }, h("span", null, "layer"), slider, told),
    );
  }

  /** A word and sentences of one's own. */
  editor() {
    let timer = 0;
    const later = () => {
      clearTimeout(timer);
      timer = window.setTimeout(() => this.set({ word: word.value, senses: lines.value, layer: "" }, "senses"), 600);
    };
    const word = h("input", {
      type: "text",
      maxlength: 60,
      "aria-label": "Word",
      oninput: later,
    });
    const lines = h("textarea", {
      rows: 6,
      spellcheck: "false",
      "aria-label": "Sentences, one a line; an empty line between senses",
      oninput: later,
    });
    const root = h(
      "details",
      { class: "senses-own" },
      h("summary", null, "Your own word and sentences"),
      h("label", { class: "pick" }, "word", word),
      h("p", { class: "quiet" }, "A sentence a line; an empty line between two senses."),
      lines,
    );
    /** @param {Asked} asked @param {boolean} recorded */
    const show = (asked, recorded) => {
      root.hidden = recorded;
      if (document.activeElement !== word) word.value = asked.word;
      if (document.activeElement !== lines) lines.value = asked.senses;
    };
    return { root, show, stop: () => clearTimeout(timer) };
  }

  exportSvg = async () => drawing(this.found, this.found ? this.found.layers[this.layer(this.found)] : undefined);

  table = () => ({
    columns: ["layer", "sentence", "sense", "x", "y"],
    rows: (this.found?.layers ?? []).flatMap(({ name, points }) =>
      points.map(([x, y], i) => [
        name,
        this.found?.words[i]?.sentence ?? "",
        (this.found?.words[i]?.sense ?? 0) + 1,
        x,
        y,
      ]),
    ),
  });

  json = () => this.found;

  destroy() {
    this.control.abort();
    this.own.stop();
    replace(this.host);
    this.host.classList.remove("old");
  }
}
