/** A few pairs of words on the plane of their own two principal axes, with an arrow for each pair. */

import { svg } from "../dom.js";
import { measure, SANS } from "../views/paint.js";
import { Board } from "./labels.js";
import { pca } from "./pca.js";

/** @typedef {import("./vectors.js").Vectors} Vectors */

const [WIDTH, HEIGHT, EDGE, LETTER] = [420, 300, 34, 12.5];

/** @param {Vectors} vectors @param {[number, number][]} pairs @returns {SVGSVGElement} */
export function pairsFigure(vectors, pairs) {
  const rows = pairs.flat();
  const table = new Float32Array(rows.length * vectors.width);
  rows.forEach((row, i) => table.set(vectors.direction(row), i * vectors.width));
  const { places } = pca(table, vectors.width, 2);
  const at = fitted(places);
  return svg(
    "svg",
    {
      class: "plane",
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      role: "img",
      "aria-label": "The pairs on their own two principal axes",
    },
    svg(
      "defs",
      null,
      svg(
        "marker",
        { id: "tip", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" },
        svg("path", { class: "tip", d: "M0 0L8 4L0 8z" }),
      ),
    ),
    pairs.map((_, i) => {
      const [[x1, y1], [x2, y2]] = [at(2 * i), at(2 * i + 1)];
      return svg("line", { class: "pair", x1, y1, x2, y2, "marker-end": "url(#tip)" });
    }),
    names(
      rows.map((row) => vectors.words[row] ?? ""),
      at,
    ),
  );
}

/** Words beside their points, none over another. @param {string[]} words @param {(i: number) => [number, number]} at */
function names(words, at) {
  const board = new Board(WIDTH, HEIGHT);
  for (let i = 0; i < words.length; i += 2) shun(board, at(i), at(i + 1));
  return words.map((word, i) => {
    const wide = measure(word, `${LETTER}px ${SANS}`);
    const near = (/** @type {number} */ gap) => board.put(...at(i), wide, LETTER * 1.1, gap);
    const box = near(5) ?? near(11) ?? near(18);
    return box && svg("text", { class: "pair-word", x: box.left, y: box.bottom - 3 }, word);
  });
}

/** No word lies on an arrow. @param {Board} board @param {[number, number]} from @param {[number, number]} to */
function shun(board, from, to) {
  const steps = Math.ceil(Math.hypot(to[0] - from[0], to[1] - from[1]) / 6);
  for (let i = 0; i <= steps; i++) {
    const [x, y] = [from[0] + ((to[0] - from[0]) * i) / steps, from[1] + ((to[1] - from[1]) * i) / steps];
    board.take({ left: x - 2, top: y - 2, right: x + 2, bottom: y + 2 });
  }
}

/** @param {Float32Array} places @returns {(i: number) => [number, number]} */
function fitted(places) {
  const across = [...places].filter((_, i) => i % 2 === 0);
  const down = [...places].filter((_, i) => i % 2 === 1);
  const scale = (/** @type {number[]} */ all, /** @type {number} */ room) => {
    const [low, high] = [Math.min(...all), Math.max(...all)];
    return (/** @type {number} */ value) => ((value - low) / (high - low || 1)) * room;
  };
  const [x, y] = [scale(across, WIDTH - 2 * EDGE), scale(down, HEIGHT - 2 * EDGE)];
  return (i) => [EDGE + x(across[i] ?? 0), HEIGHT - EDGE - y(down[i] ?? 0)];
}
