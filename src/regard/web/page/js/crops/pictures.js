/** Crops with the answers of student and teacher below them; a class has one colour all over a picture. */

import { hue } from "../color.js";
import { h } from "../dom.js";

/** @typedef {import("./read.js").Picture} Picture */
/** @typedef {import("./read.js").Crop} Crop */
/** @typedef {import("./read.js").Part} Part */

const COLOURS = 6; // classes of a picture that have one; all others are grey

/** @param {Picture} picture */
export function showPicture({ name, crops }) {
  const colours = colouring(crops);
  const taught = crops.filter(({ teacher }) => teacher);
  return h(
    "section",
    { class: "panel crops" },
    h("h3", null, `Picture ${name}`),
    row("Teacher", "sees the large crops", taught, (crop) => crop.teacher ?? [], colours),
    row("Student", "sees all of them, and should say the same", crops, (crop) => crop.student, colours),
  );
}

/** Which colour each class has: the teacher's likeliest come first. @param {Crop[]} crops @returns {Map<number, number>} */
export function colouring(crops) {
  /** @type {Map<number, number>} */
  const weight = new Map();
  for (const { teacher, student } of crops)
    for (const [parts, counts] of /** @type {[Part[], number][]} */ ([
      [teacher ?? [], 100],
      [student, 1],
    ]))
      for (const part of parts) weight.set(part.class, (weight.get(part.class) ?? 0) + counts * part.share);
  const order = [...weight].sort((a, b) => b[1] - a[1]).slice(0, COLOURS);
  return new Map(order.map(([number], i) => [number, i]));
}

/** @param {string} who @param {string} says @param {Crop[]} crops @param {(crop: Crop) => Part[]} answer @param {Map<number, number>} colours */
function row(who, says, crops, answer, colours) {
  return h(
    "div",
    { class: "crop-row" },
    h("h4", null, who, " ", h("span", { class: "quiet" }, says)),
    h(
      "ul",
      null,
      crops.map((crop) => {
        const parts = answer(crop);
        return h(
          "li",
          { class: crop.name.startsWith("small") ? "small" : "large" },
          h("img", { src: crop.seen, alt: `${crop.name} crop` }),
          bar(parts, colours),
          h("span", { class: "quiet" }, likeliest(parts)),
        );
      }),
    ),
  );
}

/** An answer as a bar whose parts are its classes; what is left is all the others. @param {Part[]} parts @param {Map<number, number>} colours */
function bar(parts, colours) {
  const told = parts.map((part) => `class ${part.class} ${Math.round(100 * part.share)} %`).join(", ");
  return h(
    "div",
    { class: "answer-bar", role: "img", "aria-label": told, title: told },
    parts.map((part) => {
      const place = colours.get(part.class);
      const colour = place === undefined ? "var(--muted)" : hue(place);
      return h("i", { style: { "--hue": colour, "--share": `${100 * part.share}%` } });
    }),
  );
}

/** @param {Part[]} parts */
const likeliest = ([first]) =>
  first && first.share >= 0.01 ? `class ${first.class}, ${Math.round(100 * first.share)} %` : "unsure";
