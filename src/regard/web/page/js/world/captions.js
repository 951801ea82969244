/** A scene in words: what four languages say of it, and the list of its things. */

import { hue } from "../color.js";
import { h } from "../dom.js";
import { roving } from "../roving.js";
import { LANGUAGES } from "./state.js";

/** @typedef {import("./scene.js").Scene} Scene */
/** @typedef {import("./scene.js").Word} Word */
/** @typedef {import("./scene.js").Thing} Thing */
/** Light things, light only those that were taken, or take one. @typedef {{light: (things: number[]) => void, rest: () => void, take: (thing: number | null) => void}} Hands */

/** @param {Scene} scene @param {Hands} hands */
export function captions(scene, hands) {
  return Object.entries(LANGUAGES).flatMap(([lang, name]) => {
    const said = scene.captions[lang];
    if (!said) return [];
    const text = h(
      "p",
      null,
      said.words.flatMap((word) => [word.before ?? "", spoken(word, hands)]),
    );
    roving(text);
    return [h("section", { class: "caption", lang }, h("h2", null, name), text)];
  });
}

/** @param {Word} word @param {Hands} hands */
function spoken({ text, things = [] }, hands) {
  return things.length ? h("button", { class: "named", ...touched(things, hands) }, text) : h("span", null, text);
}

/** @param {Scene} scene @param {Hands} hands */
export function thingList(scene, hands) {
  const list = h(
    "ul",
    { class: "things" },
    scene.things.map((thing) => h("li", null, entry(thing, hands))),
  );
  roving(list);
  return list;
}

/** @param {Thing} thing @param {Hands} hands */
function entry({ id, name, depth }, hands) {
  return h(
    "button",
    { "aria-pressed": "false", ...touched([id], hands) },
    h("i", { class: "swatch", style: { "--hue": hue(id) } }),
    name,
    depth !== undefined && h("span", { class: "quiet" }, `${depth.toFixed(2)} m`),
  );
}

/** What all buttons do that name things. @param {number[]} things @param {Hands} hands */
function touched(things, hands) {
  const light = () => hands.light(things);
  return {
    type: "button",
    "data-things": things.join(" "),
    onpointerenter: light,
    onfocus: light,
    onpointerleave: hands.rest,
    onblur: hands.rest,
    onclick: () => hands.take(things[0] ?? null),
  };
}

/** Mark the words and entries whose things are lit, and the entry that was taken.
 * @param {HTMLElement} host @param {Set<number>} lit @param {number | null} taken */
export function mark(host, lit, taken) {
  for (const element of host.querySelectorAll("[data-things]")) {
    const own = (element.getAttribute("data-things") ?? "").split(" ").map(Number);
    element.classList.toggle(
      "lit",
      own.some((each) => lit.has(each)),
    );
    if (element.hasAttribute("aria-pressed")) element.setAttribute("aria-pressed", String(own[0] === taken));
  }
}
