/** One pair of axes with lines or bars, and what lies under the pointer. */

import { svg } from "../dom.js";
import { across, upward, written } from "./scale.js";

/** @typedef {import("./scale.js").Axes} Axes */
/** @typedef {import("./scale.js").Mark} Mark */
/** @typedef {import("./scale.js").Scale} Scale */
/** What can be pointed at: where it lies, what it is called and the numbers there.
 * @typedef {{x: number, name: string, values: {label: string, colour: number, value: number | null, low?: number | undefined, high?: number | undefined}[]}} Stop */
/** @typedef {{picture: SVGSVGElement, stops: Stop[], span: [number, number]}} Drawn */
/** @typedef {{left: number, right: number, top: number, bottom: number}} Frame */

const LETTER = 6.4; // of a tick, in pixels
const LINE = 15;

/** @param {Axes} panel @param {string[]} labels of the whole figure, in the order of their colours @param {number} width @returns {Drawn} */
export function drawAxes(panel, labels, width) {
  const bars = panel.marks.some((mark) => !mark.x);
  const trial = upward(panel, 0, 1);
  const left = 16 + LETTER * Math.max(...trial.ticks.map((tick) => written(tick).length));
  const slot = (width - left - 12) / Math.max(1, panel.names.length);
  const tilted =
    bars && panel.names.some((name) => Math.max(...lines(name).map((line) => line.length)) * LETTER > slot);
  const deep = bars
    ? tilted
      ? slant(panel.names)
      : LINE * Math.max(1, ...panel.names.map((name) => lines(name).length))
    : LINE;
  const top = (panel.title ? 22 : 0) + (panel.y ? LINE * fitted(panel.y, width).length + 8 : 8);
  const frame = { left, right: width - 12, top, bottom: top + 250 };
  const height = frame.bottom + 10 + deep + (panel.x ? 20 : 4);
  const picture = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, class: "panel-picture" });
  const y = upward(panel, frame.bottom, frame.top);
  heading(picture, panel, width);
  gridded(picture, panel, y, frame);
  const stops = bars
    ? drawBars(picture, panel, labels, y, frame, tilted)
    : drawLines(picture, panel, labels, y, across(panel, frame.left, frame.right), frame);
  // Its name stands before the curves, which would else run through it.
  if (panel.rule) picture.append(text(frame.right - 2, y.at(panel.rule[0]) - 5, panel.rule[1], "tick end rule-name"));
  if (panel.x) picture.append(text((frame.left + frame.right) / 2, height - 6, panel.x, "note middle"));
  return { picture, stops, span: [frame.top, frame.bottom] };
}

/** @param {SVGSVGElement} picture @param {{title: string, y: string}} panel @param {number} width */
export function heading(picture, panel, width) {
  if (panel.title) picture.append(text(0, 15, panel.title, "panel-title"));
  const from = panel.title ? 33 : 12;
  fitted(panel.y, width).forEach((line, i) => picture.append(text(0, from + i * LINE, line, "note")));
}

/** @param {SVGSVGElement} picture @param {Axes} panel @param {Scale} y @param {Frame} frame */
function gridded(picture, panel, y, { left, right }) {
  for (const tick of y.ticks) {
    picture.append(
      svg("path", { class: "grid", d: `M${left} ${y.at(tick).toFixed(1)}H${right}` }),
      text(left - 7, y.at(tick) + 4, written(tick), "tick end"),
    );
  }
  if (panel.rule) {
    const level = y.at(panel.rule[0]);
    picture.append(svg("path", { class: "rule", d: `M${left} ${level.toFixed(1)}H${right}` }));
  }
  const zero = y.at(Math.max(y.least, 0));
  picture.append(svg("path", { class: "axis", d: `M${left} ${zero.toFixed(1)}H${right}` }));
}

/** @param {SVGSVGElement} picture @param {Axes} panel @param {string[]} labels @param {Scale} y @param {Scale} x @param {Frame} frame @returns {Stop[]} */
function drawLines(picture, panel, labels, y, x, { bottom }) {
  for (const tick of x.ticks) picture.append(text(x.at(tick), bottom + 18, written(tick), "tick middle"));
  const log = panel.log.includes("y");
  for (const mark of panel.marks) {
    const colour = labels.indexOf(mark.label) % 8;
    const kept = (mark.x ?? []).flatMap((at, i) => {
      const value = mark.y[i];
      return value === null || value === undefined || (log && value <= 0) ? [] : [{ at, i, value }];
    });
    const path = (/** @type {{at: number, value: number}[]} */ points) =>
      points.map(({ at, value }) => `${x.at(at).toFixed(1)} ${y.at(value).toFixed(1)}`).join("L");
    if (mark.low.length && mark.high.length) {
      const high = kept.map(({ at, i, value }) => ({ at, value: mark.high[i] ?? value }));
      const low = kept.map(({ at, i, value }) => ({ at, value: mark.low[i] ?? value })).reverse();
      picture.append(svg("path", { class: `band c${colour}`, d: `M${path([...high, ...low])}Z` }));
    }
    picture.append(svg("path", { class: `line c${colour}${mark.dashed ? " dashed" : ""}`, d: `M${path(kept)}` }));
    for (const { at, value } of kept) picture.append(marker(colour, x.at(at), y.at(value)));
  }
  const places = [...new Set(panel.marks.flatMap((mark) => mark.x ?? []))].sort((a, b) => a - b);
  return places.map((place) => ({
    x: x.at(place),
    name: `${panel.x}: ${written(place)}`,
    values: panel.marks.flatMap((mark) => {
      const i = (mark.x ?? []).indexOf(place);
      return i < 0 ? [] : [pointed(mark, i, labels)];
    }),
  }));
}

/** @param {SVGSVGElement} picture @param {Axes} panel @param {string[]} labels @param {Scale} y @param {Frame} frame @param {boolean} tilted @returns {Stop[]} */
function drawBars(picture, panel, labels, y, { left, right, bottom }, tilted) {
  const count = panel.marks[0]?.y.length ?? 0;
  const slot = (right - left) / Math.max(1, count);
  const wide = Math.min((slot * 0.76) / panel.marks.length, 64);
  const floor = y.at(Math.max(y.least, 0));
  return Array.from({ length: count }, (_, i) => {
    const middle = left + (i + 0.5) * slot;
    panel.marks.forEach((mark, j) => {
      const value = mark.y[i];
      if (value === null || value === undefined) return;
      const [at, to] = [middle + (j - panel.marks.length / 2) * wide, y.at(value)];
      const gap = Math.min(1.5, wide / 6);
      picture.append(
        svg("rect", {
          class: `bar c${labels.indexOf(mark.label) % 8}`,
          x: (at + gap).toFixed(1),
          y: Math.min(to, floor).toFixed(1),
          width: Math.max(1, wide - 2 * gap).toFixed(1),
          height: Math.abs(floor - to).toFixed(1),
        }),
      );
      if (mark.low.length && mark.high.length)
        picture.append(whisker(at + wide / 2, y.at(mark.low[i] ?? value), y.at(mark.high[i] ?? value)));
    });
    named(picture, panel.names[i] ?? "", middle, bottom + 18, tilted);
    return {
      x: middle,
      name: (panel.names[i] ?? "").replace("\n", " "),
      values: panel.marks.map((mark) => pointed(mark, i, labels)),
    };
  });
}

/** @param {SVGSVGElement} picture @param {string} name @param {number} x @param {number} y @param {boolean} tilted */
function named(picture, name, x, y, tilted) {
  if (tilted) {
    const label = text(x + 4, y - 6, name.replace("\n", " "), "tick end");
    label.setAttribute("transform", `rotate(-34 ${x + 4} ${y - 6})`);
    picture.append(label);
  } else lines(name).forEach((line, i) => picture.append(text(x, y + i * LINE, line, "tick middle")));
}

/** @param {number} x @param {number} low @param {number} high */
function whisker(x, low, high) {
  const [at, from, to] = [x.toFixed(1), low.toFixed(1), high.toFixed(1)];
  return svg("path", { class: "whisker", d: `M${at} ${from}V${to}M${x - 4} ${from}h8M${x - 4} ${to}h8` });
}

/** @param {Mark} mark @param {number} i @param {string[]} labels */
function pointed(mark, i, labels) {
  return {
    label: mark.label,
    colour: labels.indexOf(mark.label) % 8,
    value: mark.y[i] ?? null,
    low: mark.low[i],
    high: mark.high[i],
  };
}

/** A shape for each colour, since colour alone does not reach everybody. @param {number} colour @param {number} x @param {number} y */
export function marker(colour, x, y) {
  const shapes = [
    "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0Z",
    "m-3.6 -3.6h7.2v7.2h-7.2Z",
    "m0 -5l4.8 8.4h-9.6Z",
    "m0 -5.4l5.4 5.4l-5.4 5.4l-5.4 -5.4Z",
  ];
  return svg("path", { class: `dot c${colour}`, d: `M${x.toFixed(1)} ${y.toFixed(1)}${shapes[colour % 4]}` });
}

/** @param {number} x @param {number} y @param {string} words @param {string} style */
export function text(x, y, words, style) {
  return svg("text", { x: x.toFixed(1), y: y.toFixed(1), class: style }, words);
}

/** @param {string} name */
const lines = (name) => name.split("\n");
/** How deep tilted names reach. @param {string[]} names */
const slant = (names) => Math.max(...names.map((name) => name.length)) * LETTER * Math.sin(0.6) + 8;

/** Words in lines that fit. @param {string} words @param {number} width @returns {string[]} */
export function fitted(words, width) {
  const most = Math.max(12, Math.floor(width / 6.3));
  /** @type {string[]} */
  const found = [];
  for (const word of words.split(/\s+/).filter(Boolean)) {
    const last = found.at(-1);
    if (last !== undefined && last.length + word.length < most) found[found.length - 1] = `${last} ${word}`;
    else found.push(word);
  }
  return found;
}
