/** The ways from a scene to the models: those that know the world and can be asked on this machine. */

import { h, replace } from "../dom.js";

/** @typedef {Record<string, any>} Model what its card says */
/** @typedef {import("./state.js").State} State */

const PICTURES = 1000; // pictures of the world that See knows

/**
 * Links for a scene. Models of pictures number them as this room its scenes; translators have read sentences about
 * other things, so they get one of these.
 * @param {Model[]} models @param {State} now
 */
export function links(models, { index, split }) {
  const known = models.filter((model) => model["data"] === "world");
  const seers = ["detect", "recognize", "features"].map((task) => known.find((model) => model["task"] === task));
  const sees = seers.find(Boolean);
  const writers = known.filter((model) => model["task"] === "translate");
  const writes = writers.find((model) => model["multilingual"]) ?? writers[0];
  const [from, to] = writes?.["multilingual"] ? ["it", "en"] : [writes?.["source"], writes?.["target"]];
  return [
    sees &&
      split === "test" &&
      index < PICTURES &&
      link(`#/see?m=${encodeURIComponent(sees["name"])}&in=p:world:${index}`, "Show this scene to a model"),
    writes &&
      from &&
      to &&
      link(
        `#/translate?m=${encodeURIComponent(writes["name"])}&in=w:${from}-${to}-${index}`,
        "Translate a sentence of the world",
      ),
  ];
}

/** @param {string} href @param {string} text */
const link = (href, text) => h("a", { class: "button", href }, text);

/** @param {HTMLElement} place @param {Model[]} models @param {State} now */
export function showLinks(place, models, now) {
  replace(place, links(models, now));
  place.hidden = !place.childElementCount;
}
