/** All heads in one drawing, with their numbers and what was done to them. */

import { table } from "../color.js";
import { svg } from "../dom.js";
import { SANS, drawing, inks, measure, picture } from "./paint.js";

/** @typedef {import("./overview.js").Thumbnails} Thumbnails */
/** @typedef {import("./overview.js").Group} Group */

const [CELL, GAP, LEFT, TOP] = [48, 5, 46, 58];

/** @param {Thumbnails | null} shown @returns {SVGSVGElement} */
export function exported(shown) {
  const groups = shown?.groups ?? [];
  const heads = Math.max(1, ...groups.flatMap((group) => group.lines.map((line) => line.heads)));
  const titles = groups.map((group) => measure(group.title, `600 13px ${SANS}`));
  const width = Math.max(220, LEFT + heads * (CELL + GAP), ...titles.map((wide) => LEFT + 1.2 * wide + 8));
  const height = groups.reduce((sum, group) => sum + TOP + group.lines.length * (CELL + GAP), 36);
  const out = drawing(width, height);
  out.setAttribute("fill", inks().ink);
  let top = 0;
  for (const group of groups) {
    if (shown) out.append(...drawn(shown, group, top));
    top += TOP + group.lines.length * (CELL + GAP);
  }
  const note = { x: 0, fill: inks().muted, "font-size": 11 };
  out.append(
    svg("text", { ...note, y: height - 20 }, "rows: layers, columns: heads"),
    svg("text", { ...note, y: height - 5 }, "inside, a row looks at columns"),
  );
  return out;
}

/** @param {Thumbnails} shown @param {Group} group @param {number} top */
function drawn(shown, group, top) {
  const { muted } = inks();
  const heads = Math.max(...group.lines.map((line) => line.heads));
  const x = (/** @type {number} */ head) => LEFT + head * (CELL + GAP);
  const y = (/** @type {number} */ i) => top + TOP - 8 + i * (CELL + GAP);
  /** @type {SVGElement[]} */
  const out = [svg("text", { x: LEFT, y: top + 20, "font-weight": 600 }, group.title)];
  for (let head = 0; head < heads; head++)
    out.push(
      svg(
        "text",
        { x: x(head) + CELL / 2, y: top + 42, "text-anchor": "middle", fill: muted, "font-size": 11 },
        head + 1,
      ),
    );
  for (const [i, line] of group.lines.entries()) {
    out.push(
      svg(
        "text",
        { x: LEFT - 8, y: y(i) + CELL / 2 + 4, "text-anchor": "end", fill: muted, "font-size": 11 },
        line.short,
      ),
    );
    for (let head = 0; head < line.heads; head++) out.push(...thumb(shown, line.name, head, x(head), y(i)));
  }
  return out;
}

/** @param {Thumbnails} shown @param {string} name @param {number} head @param {number} x @param {number} y */
function thumb(shown, name, head, x, y) {
  const pixels = shown.pixels.get(name)?.[head];
  const mark = shown.marks.get(`${name}:${head}`);
  const box = { x, y, width: CELL, height: CELL };
  const look = { ...box, preserveAspectRatio: "none", style: { "image-rendering": "pixelated" } };
  const crossed = { d: `M${x} ${y + CELL}L${x + CELL} ${y}`, stroke: "#a3261d", "stroke-width": 3 };
  return [
    ...(pixels ? [svg("image", { ...look, href: picture(pixels, shown.size, 255, table()).toDataURL() })] : []),
    ...(mark === "off" ? [svg("path", crossed)] : []),
    ...(mark
      ? [svg("rect", { ...box, fill: "none", stroke: mark === "off" ? "#a3261d" : "#8a5a00", "stroke-width": 2 })]
      : []),
  ];
}
