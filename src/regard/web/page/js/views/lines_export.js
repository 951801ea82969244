/** The lines as a drawing to take away: exactly what is in sight, with its direction, colours and scale. */

import { weight as colour } from "../color.js";
import { svg } from "../dom.js";
import { SANS, drawing, fitted, headHue, inks, measure } from "./paint.js";
import { traced } from "./ribbon.js";
import { shade, strength } from "./ribbons.js";

/** @typedef {import("./lines.js").Lines} Lines */

const HEAD = 26; // pixels for the direction
const FOOT = 30; // pixels for the scale

/** @param {Lines} lines @returns {SVGSVGElement} */
export function exported(lines) {
  const { layout, scroll, type } = lines;
  const colours = inks();
  const [top, tall] = layout.flat
    ? [0, layout.height]
    : [scroll?.scrollTop ?? 0, scroll?.clientHeight ?? layout.height];
  const legend = lines.view?.layers ?? [];
  const wide = Math.max(0, ...legend.map(({ title }) => measure(title, `12px ${SANS}`))) + 40; // of a key to a colour
  const beside = Math.max(1, Math.min(4, Math.floor(layout.width / wide)));
  const keyed = legend.length > 1 ? Math.ceil(legend.length / beside) * 20 : 0;
  const out = drawing(layout.width, HEAD + tall + HEAD + FOOT + keyed, type.size);
  out.setAttribute("fill", colours.ink);
  const picture = svg("svg", {
    x: 0,
    y: HEAD,
    width: layout.width,
    height: tall,
    viewBox: `0 ${top} ${layout.width} ${tall}`,
  });
  picture.append(...ribbons(lines), ...words(lines));
  out.append(picture, ...directions(lines, tall), ...scale(layout.width, HEAD + tall + HEAD + 4));
  if (keyed) out.append(...legends(legend, { wide, beside, top: HEAD + tall + HEAD + FOOT }));
  return out;
}

/** @param {Lines} lines */
function ribbons(lines) {
  const { layout } = lines;
  const drawn = lines.ribbons().flatMap((ribbon) => {
    const part = lines.part(ribbon);
    if (!part) return [];
    const d = traced(layout, ribbon.row, ribbon.column, lines.found?.shape(ribbon, lines.type.broad), part);
    return [svg("path", { d, fill: shade(ribbon), "fill-opacity": strength(ribbon, lines.alone).toFixed(3) })];
  });
  const gold = lines.gold().map(([row, column]) => {
    const look = { fill: "none", stroke: inks().lamp, "stroke-width": 2, "stroke-dasharray": "5 4" };
    return svg("path", { d: traced(layout, row, column), ...look });
  });
  return [...drawn, ...gold];
}

/** @param {Lines} lines */
function words(lines) {
  const { layout, type, names } = lines;
  const colours = inks();
  const letters = lines.family || SANS;
  return /** @type {("rows" | "columns")[]} */ (["rows", "columns"]).flatMap((side) =>
    layout[side].flatMap((place, i) => {
      if (!lines.seen(side, i)) return [];
      const share = lines.share(side, i);
      const ground = { x: place.x, y: place.y + 3, width: place.width, height: type.tall - 6, rx: 6 };
      const anchor = layout.flat ? "middle" : side === "rows" ? "end" : "start";
      const x = place.x + { middle: place.width / 2, end: place.width - 8, start: 8 }[anchor];
      const y = place.y + type.tall / 2 + type.size / 3;
      const name = names[side][i] ?? "";
      // As on the page, a word that is longer than its place ends in dots; a pointer on it is told all of it.
      const short = layout.flat ? name : fitted(name, `${type.size}px ${letters}`, place.width - 16);
      return [
        ...(share ? [svg("rect", { ...ground, fill: colour(share), "fill-opacity": 0.35 })] : []),
        svg(
          "text",
          { x, y, "text-anchor": anchor, fill: colours.ink, "font-family": letters },
          short,
          short !== name && svg("title", null, name),
        ),
      ];
    }),
  );
}

/** Who looks and who is looked at, in words. @param {Lines} lines @param {number} tall */
function directions({ layout }, tall) {
  const look = { fill: inks().muted, "font-size": 13 };
  const [from, to] = [layout.rows[0]?.x ?? 0, layout.columns[0]?.x ?? 0];
  if (layout.flat)
    return [
      svg("text", { x: layout.width / 2, y: 16, "text-anchor": "middle", ...look }, "looks at ↓"),
      svg("text", { x: layout.width / 2, y: HEAD + tall + 18, "text-anchor": "middle", ...look }, "is looked at"),
    ];
  const end = from + (layout.rows[0]?.width ?? 0) - 8;
  return [
    svg("text", { x: end, y: 16, "text-anchor": "end", ...look }, "looks at →"),
    svg("text", { x: to + 8, y: 16, ...look }, "is looked at"),
  ];
}

/** What the breadth of a ribbon stands for. @param {number} width @param {number} top */
function scale(width, top) {
  const { accent, muted } = inks();
  const shares = [0.1, 0.5, 1];
  const left = Math.max(8 + measure("weight", `12px ${SANS}`), width / 2 - 130);
  return [
    svg("text", { x: left - 8, y: top + 14, "text-anchor": "end", fill: muted, "font-size": 12 }, "weight"),
    ...shares.flatMap((share, i) => {
      const [x, half] = [left + i * 92, Math.max(0.6, 7 * share)];
      const bar = { x, y: top + 10 - half, width: 48, height: 2 * half, fill: accent };
      return [
        svg("rect", { ...bar, "fill-opacity": strength({ weight: share, hue: -1 }, false) }),
        svg("text", { x: x + 54, y: top + 14, fill: muted, "font-size": 12 }, String(share)),
      ];
    }),
  ];
}

/** Which colour is which head. @param {{title: string, hue: number}[]} heads @param {{wide: number, beside: number, top: number}} place */
function legends(heads, { wide, beside, top }) {
  return heads.flatMap(({ title, hue }, i) => {
    const [x, y] = [(i % beside) * wide, top + Math.floor(i / beside) * 20];
    return [
      svg("rect", { x, y, width: 14, height: 14, rx: 3, fill: headHue(hue) }),
      svg("text", { x: x + 20, y: y + 11, fill: inks().ink, "font-size": 12 }, title),
    ];
  });
}
