/** The two charts of the room for concepts. */

import { svg } from "../dom.js";
import { degrees, lemma, welch } from "./angles.js";

/** @typedef {import("./angles.js").Angles} Angles */

const [WIDTH, HEIGHT] = [560, 260];
const PAD = { left: 46, right: 26, top: 26, bottom: 38 };
const MIN = 2; // directions, at the left of the second chart

/** @param {string} label @param {...(import("../dom.js").Child | import("../dom.js").Child[])} children */
const chart = (label, ...children) =>
  svg("svg", { class: "chart", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label }, ...children);
/** @param {number} x @param {number} y @param {string} text @param {string} [anchor] @param {string} [kind] */
const word = (x, y, text, anchor = "middle", kind = "tick") =>
  svg("text", { class: kind, x, y, "text-anchor": anchor }, text);

/** @param {number} share */
const across = (share) => PAD.left + share * (WIDTH - PAD.left - PAD.right);
/** @param {number} share */
const down = (share) => HEIGHT - PAD.bottom - share * (HEIGHT - PAD.top - PAD.bottom);

/** How many pairs have each angle. @param {Angles} found @param {number} n @param {number} count @param {number | null} best */
export function histogram(found, n, count, best) {
  const total = found.counts.reduce((a, b) => a + b, 0) || 1;
  const top = Math.max(...found.counts) / total;
  const bars = found.counts.map((pairs, i) => {
    const high = (HEIGHT - PAD.top - PAD.bottom) * (pairs / total / top);
    return pairs
      ? svg("rect", {
          class: "bar",
          x: across(i / 180),
          y: HEIGHT - PAD.bottom - high,
          width: across(1 / 180) - across(0),
          height: high,
        })
      : null;
  });
  const lines = [
    rule(found.smallest, "random", "v", 0),
    rule(degrees(welch(count, n)), "Welch", "bad", 1),
    lemma(count, n) < 1 ? rule(degrees(lemma(count, n)), "J–L", "x", 2) : null,
    best === null ? null : rule(best, "optimised", "k", 3),
  ];
  return chart(
    `Angles between ${count} random directions in ${n} dimensions`,
    axis(),
    bars,
    lines,
    word(across(0.5), HEIGHT - 4, "angle between two directions, degrees", "middle", "name"),
    word(4, PAD.top - 12, `pairs, ${(100 * top).toFixed(1)} % at the top`, "start", "name"),
  );
}

/** @param {number} angle @param {string} name @param {string} tint @param {number} level */
function rule(angle, name, tint, level) {
  const x = across(angle / 180);
  const y = PAD.top + 14 + 15 * level;
  return svg(
    "g",
    { class: `rule rule-${tint}` },
    svg("line", { x1: x, x2: x, y1: PAD.top, y2: HEIGHT - PAD.bottom }),
    word(x - 4, y, `${name} ${angle.toFixed(1)}°`, "end", "rule-name"),
  );
}

function axis() {
  return [0, 30, 60, 90, 120, 150, 180].flatMap((angle) => [
    svg("line", {
      class: "grid",
      x1: across(angle / 180),
      x2: across(angle / 180),
      y1: PAD.top,
      y2: HEIGHT - PAD.bottom,
    }),
    word(across(angle / 180), HEIGHT - PAD.bottom + 15, `${angle}°`),
  ]);
}

/** The smallest angle by the number of directions: what is promised, what was found, what cannot be passed.
 * @param {number} n @param {number} count @param {Angles | null} found @param {[number, number, number][]} optimised */
export function countsFigure(n, count, found, optimised) {
  const x = (/** @type {number} */ many) => across(Math.log(many / MIN) / Math.log(10000 / MIN));
  const y = (/** @type {number} */ angle) => down(angle / 90);
  const steps = Array.from({ length: 120 }, (_, i) => MIN * (10000 / MIN) ** (i / 119));
  const path = (/** @type {(count: number, n: number) => number} */ bound) =>
    steps.map((many, i) => `${i ? "L" : "M"}${x(many).toFixed(1)} ${y(degrees(bound(many, n))).toFixed(1)}`).join("");
  const near = optimised.reduce(
    (best, [each]) => (Math.abs(Math.log(each / n)) < Math.abs(Math.log(best / n)) ? each : best),
    6,
  );
  const dots = optimised.filter(([each]) => each === near);
  return chart(
    `The smallest angle by the number of directions in ${n} dimensions`,
    [0, 30, 60, 90].flatMap((angle) => [
      svg("line", { class: "grid", x1: across(0), x2: across(1), y1: y(angle), y2: y(angle) }),
      word(PAD.left - 6, y(angle) + 4, `${angle}°`, "end"),
    ]),
    [10, 100, 1000, 10000].map((many) => word(x(many), HEIGHT - PAD.bottom + 15, many.toLocaleString("en"))),
    svg("path", { class: "bound bound-bad", d: path(welch) }),
    svg("path", { class: "bound bound-x", d: path(lemma) }),
    dots.map(([, many, angle]) => svg("circle", { class: "dot dot-k", cx: x(many), cy: y(angle), r: 4 })),
    found && svg("circle", { class: "dot dot-v", cx: x(count), cy: y(found.smallest), r: 6 }),
    key(near, n),
    word(across(0.5), HEIGHT - 4, "number of directions", "middle", "name"),
    word(4, PAD.top - 12, "smallest angle", "start", "name"),
  );
}

/** @param {number} near @param {number} n */
function key(near, n) {
  const rows = /** @type {[string, string][]} */ ([
    ["bad", "Welch's bound: no choice lies above"],
    ["k", `optimised, in ${near} dimensions${near === n ? "" : " (the nearest that was tried)"}`],
    ["v", "these random directions"],
    ["x", "promised by the lemma"],
  ]);
  return rows.map(([tint, text], i) =>
    svg(
      "g",
      null,
      svg("circle", { class: `dot dot-${tint}`, cx: PAD.left + 12, cy: HEIGHT - PAD.bottom - 62 + 16 * i, r: 4 }),
      word(PAD.left + 22, HEIGHT - PAD.bottom - 58 + 16 * i, text, "start", "name"),
    ),
  );
}
