/** That something is under way: what, since when, and how to give up. */

import { h, replace } from "../dom.js";

/** @typedef {import("./ask.js").Told} Told */

const LATE = 180; // milliseconds, before which there is nothing to tell

export class Progress {
  /** @param {HTMLElement} host @param {() => void} cancel */
  constructor(host, cancel) {
    this.text = h("span", { role: "status" });
    this.clock = h("span", { class: "quiet clock", "aria-hidden": "true" });
    this.bar = h("span", { class: "wait", role: "progressbar", "aria-label": "Under way" });
    this.words = h("p", { class: "streaming", "aria-live": "off" });
    const give = h("button", { type: "button", class: "button small", onclick: cancel }, "Cancel");
    this.root = h(
      "div",
      { class: "progress", hidden: true },
      this.bar,
      h("p", { class: "progress-line" }, this.text, this.clock, give),
      this.words,
    );
    host.append(this.root);
    this.began = 0;
    this.timer = 0;
  }

  start() {
    this.stop();
    this.began = performance.now();
    replace(this.text, "Asking …");
    replace(this.words);
    replace(this.clock);
    this.timer = window.setInterval(() => this.tick(), 100);
  }

  tick() {
    const gone = performance.now() - this.began;
    if (gone < LATE) return;
    this.root.hidden = false;
    replace(this.clock, `${(gone / 1000).toFixed(1)} s`);
  }

  /** @param {Told} told */
  tell(told) {
    if (told.event === "queued")
      replace(
        this.text,
        told.before
          ? `Waiting: ${told.before} ${told.before > 1 ? "questions" : "question"} before this one`
          : "Asking …",
      );
    else if (told.event === "loading") replace(this.text, `Opening ${told.model} …`);
    else {
      const of = told.of ? ` of ${told.of}` : "";
      replace(this.text, `${told.what ?? "Word piece"} ${told.done}${of}`);
      if (told.of) this.bar.style.setProperty("--done", `${Math.round((100 * told.done) / told.of)}%`);
      if (told.text) replace(this.words, told.text);
      else if (told.image) replace(this.words, h("img", { src: told.image, alt: "" }));
    }
    if (told.event === "step" && (told.text || told.image) && performance.now() - this.began >= LATE)
      this.root.hidden = false;
  }

  stop() {
    clearInterval(this.timer);
    this.root.hidden = true;
  }

  /** Seconds since the start. */
  get seconds() {
    return (performance.now() - this.began) / 1000;
  }
}
