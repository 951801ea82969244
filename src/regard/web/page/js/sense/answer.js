/** The answer of a Perceiver: labels with what is true and what was done to the input; or words, flow or a film. */

import { titled } from "../bench/answer.js";
import { h } from "../dom.js";
import { bars, compared } from "../read/bars.js";
import { refill } from "../rooms/refill.js";

/** @typedef {import("../bench/scene.js").Scene} Scene */
/** @typedef {import("../export.js").Figure} Figure */

const SHOWN = 10; // labels
/** @type {Record<string, string>} */
const SHOWS = {
  flow: "Where pixels go: red to the right, green down, cyan to the left, violet up; pale ones move less.",
  film: "The film again, frame by frame, from the latents alone.",
};

/** Answers that are on stage, one a panel, for export. @type {Set<{figures: () => Figure[]}>} */
export const onStage = new Set();

/** @param {HTMLElement} host */
export function answer(host) {
  const root = h("div", { class: "plain-answer" });
  host.append(root);
  /** @type {Scene | null} */
  let shown = null;
  const widget = {
    /** @param {Scene} scene */
    show(scene) {
      shown = scene;
      refill(root, ...(scene.result.output.kind === "labels" ? labels(scene) : words(scene)));
    },
    /** @returns {Figure[]} */
    figures: () =>
      shown ? [{ title: `${titled(shown.model)}, answer`, table: () => table(shown?.result.output) }] : [],
    destroy: () => void onStage.delete(widget),
  };
  onStage.add(widget);
  return widget;
}

/** @param {Scene} scene */
function labels({ result, model, plain: before }) {
  const { labels: all, truth, notes } = result.output;
  const right = all[0]?.[0] === truth;
  return [
    model["hears"] && h("p", { class: "quiet" }, "It hears the sound as a picture: time to the right, high sounds above."),
    h("h3", null, "Labels"),
    bars(compared(all, before?.output.labels, SHOWN), "Labels"),
    truth && h("p", { class: `sense-truth ${right ? "hit" : "miss"}` }, "True label: ", h("b", null, truth), right ? ", as said." : "."),
    notes.length > 0 && h("p", { class: "quiet" }, `What was done to it: ${notes.join(", ")}.`),
  ]; // prettier-ignore
}

/** @param {Scene} scene */
function words({ result, plain: before }) {
  const { text, picture, shows } = result.output;
  const was = before?.output.text;
  const says = SHOWS[shows] ?? "";
  return [
    h("p", { class: "answer-value" }, h("b", null, text)),
    was !== undefined && was !== text && h("p", { class: "verdict" }, `without the edits ${was}`),
    picture && h("figure", { class: `sense-picture ${shows}` }, h("img", { src: picture, alt: shows }), h("figcaption", { class: "quiet" }, says)),
  ]; // prettier-ignore
}

/** @param {any} output @returns {import("../export.js").Table} */
function table(output) {
  if (output?.kind === "labels") return { columns: ["label", "probability"], rows: output.labels };
  return { columns: ["answer"], rows: [[output?.text ?? ""]] };
}
