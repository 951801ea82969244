/** What a run last wrote of some held-out things, its best scores and the flags it was started with. */

import { hue } from "../color.js";
import { h } from "../dom.js";
import { metricText, metricsOf } from "../measured.js";
import { refill } from "../rooms/refill.js";

/** @typedef {import("./history.js").History} History */
/** @typedef {import("./history.js").Run} Run */

/** @param {HTMLElement} place @param {History} history @param {string[]} chosen */
export function showSamples(place, history, chosen) {
  const open = new Set([...place.querySelectorAll("details[open]")].map((each) => each.getAttribute("data-name")));
  refill(
    place,
    chosen.map((name) => {
      const run = history.run(name);
      return run && card(run, hue(history.names.indexOf(name)), open.has(name));
    }),
  );
}

/** @param {Run} run @param {string} colour @param {boolean} open */
function card({ name, best, samples, fields }, colour, open) {
  return h(
    "details",
    { class: "panel card", open, "data-name": name },
    h(
      "summary",
      null,
      h("i", { class: "swatch", style: { "--hue": colour } }),
      h("b", null, name),
      metricsOf(best).map(([key, value]) => h("span", { class: "quiet" }, `best ${metricText(key, value)}`)),
    ),
    samples.length > 0 && [h("h3", null, "Samples"), list("samples", samples.flatMap(Object.entries))],
    h("h3", null, "Flags"),
    list("fields", Object.entries(fields)),
  );
}

/** @param {string} name @param {[string, unknown][]} pairs */
function list(name, pairs) {
  return h(
    "dl",
    { class: name },
    pairs.flatMap(([key, value]) => [h("dt", null, key), h("dd", null, picture(value) ?? written(value))]),
  );
}

/** @param {unknown} value @returns {string} */
const written = (value) =>
  Array.isArray(value) ? value.join(", ") : typeof value === "object" ? JSON.stringify(value) : String(value);

/** A sample that is a picture. @param {unknown} value */
const picture = (value) =>
  typeof value === "string" && /^data:image\/(jpeg|png|webp);/.test(value) ? h("img", { src: value, alt: "" }) : null;
