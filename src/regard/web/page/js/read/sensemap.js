/** The map of one word: a point for each sentence, in the colour of its sense; a sentence and its point light up together. */

import { hue } from "../color.js";
import { h, replace, set, svg } from "../dom.js";

/** @typedef {import("./senses.js").Found} Found */
/** @typedef {import("./senses.js").Layer} Layer */

const [WIDE, TALL, EDGE] = [560, 420, 34];
/** @param {[number, number]} point */
const at = ([x, y]) => ({ x: WIDE / 2 + x * (WIDE / 2 - EDGE), y: TALL / 2 - y * (TALL / 2 - EDGE) });
/** Shapes beside colours, for those who cannot tell colours apart. @param {number} sense */
const shape = (sense) =>
  sense % 3 === 0
    ? svg("circle", { r: 8 })
    : sense % 3 === 1
      ? svg("rect", { x: -7.5, y: -7.5, width: 15, height: 15, rx: 2 })
      : svg("path", { d: "M0 -10 L9 7 L-9 7 Z" });

/** @param {HTMLElement} plane @param {HTMLElement} list */
export function map(plane, list) {
  const figure = svg("svg", { viewBox: `0 0 ${WIDE} ${TALL}`, role: "img", class: "sensemap" });
  replace(plane, figure);
  /** @type {Found | null} */
  let shown = null;
  /** @type {SVGGElement[]} */
  let points = [];
  const light = (/** @type {number | null} */ i) => {
    points.forEach((each, k) => each.classList.toggle("on", k === i));
    [...list.children].forEach((each, k) => each.classList.toggle("on", k === i));
  };
  /** @param {Found} found */
  const fill = (found) => {
    points = found.words.map(({ sense, sentence }, i) => {
      const point = svg(
        "g",
        { class: "sense-point", style: { color: `var(--sense-${sense % 4})` } },
        shape(sense),
        svg("title", null, sentence),
      );
      point.addEventListener("pointerenter", () => light(i));
      point.addEventListener("pointerleave", () => light(null));
      return point;
    });
    replace(
      figure,
      svg("path", { class: "sense-axes", d: `M${EDGE} ${TALL / 2}H${WIDE - EDGE}M${WIDE / 2} ${EDGE}V${TALL - EDGE}` }),
      ...points,
    );
    replace(list, ...found.words.map((word, i) => line(word, () => light(i), () => light(null)))); // prettier-ignore
  };
  return {
    /** @param {Found} found @param {Layer} layer */
    show(found, layer) {
      if (found !== shown) fill(found);
      shown = found;
      set(figure, { "aria-label": `${found.words.length} vectors of “${found.word}”, ${layer.name}` });
      layer.points.forEach((point, i) => {
        const { x, y } = at(point);
        points[i]?.style.setProperty("transform", `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`);
      });
    },
  };
}

/** @param {Found["words"][number]} word @param {() => void} on @param {() => void} off */
function line({ sentence, first, last, sense }, on, off) {
  const sign = svg(
    "svg",
    {
      viewBox: "-11 -11 22 22",
      class: "sense-sign",
      "aria-hidden": "true",
      style: { color: `var(--sense-${sense % 4})` },
    },
    shape(sense),
  );
  const item = h(
    "li",
    { tabindex: 0 },
    sign,
    h("span", null, sentence.slice(0, first), h("b", null, sentence.slice(first, last)), sentence.slice(last)),
  );
  for (const type of ["pointerenter", "focus"]) item.addEventListener(type, on);
  for (const type of ["pointerleave", "blur"]) item.addEventListener(type, off);
  return item;
}

/** The map as a figure that stands alone. @param {Found | null} found @param {Layer | undefined} layer */
export function drawing(found, layer) {
  const figure = svg("svg", {
    viewBox: `0 0 ${WIDE} ${TALL}`,
    width: WIDE,
    height: TALL,
    xmlns: "http://www.w3.org/2000/svg",
  });
  if (!found || !layer) return figure;
  const text = (/** @type {string} */ said, /** @type {number} */ x, /** @type {number} */ y) =>
    svg("text", { x, y, "font-size": 13, "font-family": "sans-serif", fill: "#555b66", "text-anchor": "middle" }, said);
  figure.append(
    svg("path", {
      d: `M${EDGE} ${TALL / 2}H${WIDE - EDGE}M${WIDE / 2} ${EDGE}V${TALL - EDGE}`,
      stroke: "#c8ccd4",
      fill: "none",
    }),
    text(`“${found.word}”: ${found.model}, ${layer.name}`, WIDE / 2, 18),
    text(`first principal axis, ${Math.round(100 * (layer.shares[0] ?? 0))} % of the variance`, WIDE / 2, TALL - 10),
    ...layer.points.map((point, i) => {
      const { x, y } = at(point);
      const sense = found.words[i]?.sense ?? 0;
      return svg(
        "g",
        { transform: `translate(${x} ${y})`, fill: hue(sense) },
        shape(sense),
        svg("title", null, found.words[i]?.sentence ?? ""),
      );
    }),
  );
  return figure;
}
