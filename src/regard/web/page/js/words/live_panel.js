/** t-SNE while it runs: the first axes of PCA, then step after step, which can be walked through afterwards. */

import { h, replace } from "../dom.js";
import { lower } from "./tsne.js";
import { work } from "./work.js";

/** @typedef {import("./desk.js").Desk} Desk */
/** @typedef {import("./desk.js").Panel} Panel */
/** @typedef {import("./state.js").State} State */
/** @typedef {{count: number, perplexity: number, steps: number, dimensions: 2 | 3}} Wish */

const MOST = 1000; // words
const EVERY = 10; // steps between two that are kept

/** @param {Desk} desk @returns {Panel} */
export function panel(desk) {
  const run = new Run(desk);
  return { element: run.element, refresh: (state) => run.refresh(state), stop: () => run.control.abort() };
}

class Run {
  /** @param {Desk} desk */
  constructor(desk) {
    this.desk = desk;
    this.control = new AbortController();
    this.running = false;
    this.key = "";
    this.lowered = "";
    /** @type {ReturnType<typeof setInterval> | undefined} */
    this.playing = undefined;
    this.count = number("words", 10, MOST, 300);
    this.perplexity = number("perplexity", 2, 100, 30);
    this.steps = number("steps", 50, 2000, 500);
    this.start = h("button", { type: "button", class: "button primary", onclick: () => this.ask() }, "Start");
    this.bar = h("progress", { max: 1, value: 0, "aria-label": "Steps done", hidden: true });
    this.said = h("p", { class: "quiet", role: "status" });
    this.walk = h("div", { class: "live-walk" });
    this.slider = h("input", {
      type: "range",
      min: 0,
      "aria-label": "Step",
      oninput: () => this.scrub(Number(this.slider.value)),
    });
    this.chart = h("canvas", { class: "live-kl", role: "img", "aria-label": "KL by step" });
    this.element = h(
      "section",
      null,
      h(
        "p",
        null,
        "t-SNE of the first words, or of your selection. It starts from PCA. Every pair is computed, in this browser.",
      ),
      h("div", { class: "live-wishes" }, this.count.label, this.perplexity.label, this.steps.label),
      this.start,
      this.bar,
      this.said,
      this.walk,
    );
  }

  /** What an address asks for. @param {State} state @returns {Wish} */
  wish(state) {
    const [count = 300, perplexity = 30, steps = 500] = state.live.split(",").map((each) => Number(each) || undefined);
    return {
      count: Math.max(10, Math.min(MOST, Math.round(count))),
      perplexity: Math.max(2, Math.min(100, perplexity)),
      steps: Math.max(50, Math.min(2000, Math.round(steps))),
      dimensions: state.dim,
    };
  }

  /** The address asks, so that a link computes the same map anew. */
  ask() {
    if (this.running) return this.cancel();
    this.key = "";
    const live = [this.count, this.perplexity, this.steps].map(({ input }) => input.value).join();
    this.desk.set({ how: "live", live, step: "", cam: "", only: "" });
  }

  cancel() {
    this.control.abort();
    this.running = false;
    this.start.textContent = "Start";
    this.said.textContent = "Stopped; the steps so far can be looked at.";
  }

  /** @param {State} state */
  refresh(state) {
    const wish = this.wish(state);
    const key = [state.live, state.dim, state.vec, state.sel, this.desk.vectors.name].join("|");
    if (state.how === "live" && state.live && key !== this.key) {
      this.key = key;
      for (const name of /** @type {const} */ (["count", "perplexity", "steps"]))
        this[name].input.value = String(wish[name]);
      void this.compute(wish, key);
    }
    this.draw(state);
    const chosen = this.desk.vectors.row(state.word);
    return chosen >= 0 ? { chosen, rings: new Map([[chosen, /** @type {const} */ ("accent")]]), first: [chosen] } : {};
  }

  /** @param {Wish} wish @param {string} key */
  async compute(wish, key) {
    const { desk } = this;
    const { vectors } = desk;
    this.control.abort();
    this.control = new AbortController();
    const rows =
      desk.selected.length >= 10
        ? desk.selected.slice(0, MOST)
        : Array.from({ length: Math.min(wish.count, vectors.count) }, (_, i) => i);
    const table = new Float32Array(rows.length * vectors.width);
    rows.forEach((row, i) =>
      table.set(vectors.table.subarray(row * vectors.width, (row + 1) * vectors.width), i * vectors.width),
    );
    const used = lower(wish.perplexity, rows.length);
    desk.live = {
      rows: Int32Array.from(rows),
      frames: [],
      dimensions: wish.dimensions,
      facts: { perplexity: used },
      key,
    };
    this.lowered =
      used < wish.perplexity
        ? ` Perplexity ${wish.perplexity} is too large for ${rows.length} words and was lowered to ${used.toFixed(1)}.`
        : "";
    this.begin();
    try {
      const given = { table, width: vectors.width, wish: { ...wish, every: EVERY } };
      const { kept } = await work("tsne", given, {
        signal: this.control.signal,
        tell: (frame) => this.step(frame, wish),
      });
      desk.live = { ...desk.live, facts: { ...desk.live.facts, ...kept } };
      this.end();
    } catch (error) {
      if (!(error instanceof DOMException))
        this.said.textContent = error instanceof Error ? error.message : String(error);
    }
  }

  begin() {
    this.running = true;
    this.bar.hidden = false;
    this.start.textContent = "Stop";
    this.said.textContent = "Finding who picks whom …";
  }

  /** @param {import("./tsne.js").Frame} frame @param {Wish} wish */
  step(frame, wish) {
    const { desk } = this;
    desk.live?.frames.push(frame);
    this.bar.value = frame.step / wish.steps;
    this.said.textContent = `Step ${frame.step} of ${wish.steps}, KL ${frame.kl.toFixed(3)}.${this.lowered}`;
    if (desk.how(desk.state) === "live") void desk.refresh();
  }

  end() {
    this.running = false;
    this.start.textContent = "Start";
    void this.desk.refresh();
  }

  /** @param {number} place of the frame */
  scrub(place) {
    const frame = this.desk.live?.frames[place];
    if (frame) this.desk.set({ how: "live", step: frame.step }, "step");
  }

  /** @param {State} state */
  draw(state) {
    const frames = this.desk.live?.frames ?? [];
    if (frames.length < 2) return void replace(this.walk);
    const place = frames.findIndex((frame) => frame.step === state.step);
    this.slider.max = String(frames.length - 1);
    if (document.activeElement !== this.slider || this.playing)
      this.slider.value = String(place < 0 ? frames.length - 1 : place);
    if (!this.walk.childElementCount) {
      const play = h("button", { type: "button", class: "button", onclick: () => this.play() }, "Play");
      replace(this.walk, play, h("label", { class: "pick" }, "step", this.slider), this.chart);
    }
    curve(this.chart, frames, place < 0 ? frames.length - 1 : place);
  }

  play() {
    clearInterval(this.playing);
    let place = 0;
    this.playing = setInterval(() => {
      if (place >= (this.desk.live?.frames.length ?? 0) || !this.element.isConnected) {
        clearInterval(this.playing);
        this.playing = undefined;
      } else this.scrub(place++);
    }, 60);
  }
}

/** @param {string} name @param {number} min @param {number} max @param {number} value */
function number(name, min, max, value) {
  const input = h("input", { type: "number", min, max, value });
  return { input, label: h("label", { class: "pick" }, name, input) };
}

/** KL by step, and the step that is shown. @param {HTMLCanvasElement} canvas @param {import("./tsne.js").Frame[]} frames @param {number} place */
function curve(canvas, frames, place) {
  const [width, height] = [canvas.clientWidth || 300, canvas.clientHeight || 60];
  const ratio = devicePixelRatio || 1;
  [canvas.width, canvas.height] = [width * ratio, height * ratio];
  const pen = canvas.getContext("2d");
  if (!pen) return;
  pen.scale(ratio, ratio);
  const top = Math.max(...frames.map(({ kl }) => kl)) || 1;
  const at = (/** @type {number} */ i) => [
    4 + (i / (frames.length - 1)) * (width - 8),
    height - 4 - ((frames[i]?.kl ?? 0) / top) * (height - 8),
  ];
  pen.strokeStyle = pen.fillStyle = getComputedStyle(canvas).color;
  pen.lineWidth = 1.5;
  pen.beginPath();
  frames.forEach((_, i) => pen.lineTo(at(i)[0] ?? 0, at(i)[1] ?? 0));
  pen.stroke();
  pen.beginPath();
  pen.arc(at(place)[0] ?? 0, at(place)[1] ?? 0, 4, 0, 2 * Math.PI);
  pen.fill();
}
