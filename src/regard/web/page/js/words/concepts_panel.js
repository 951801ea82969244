/** Room for concepts: how many directions fit into n dimensions if they need not be quite orthogonal. */

import { h, replace } from "../dom.js";
import { degrees, lemma, welch } from "./angles.js";
import { countsFigure, histogram } from "./charts.js";
import { work } from "./work.js";

/** @typedef {import("./desk.js").Desk} Desk */
/** @typedef {import("./desk.js").Panel} Panel */
/** @typedef {import("./angles.js").Angles} Angles */
/** @typedef {import("./state.js").State} State */

const PRESETS = /** @type {[number, number][]} */ ([
  [3, 12],
  [24, 384],
  [48, 768],
  [100, 1000],
  [100, 10000],
]);

/** @param {Desk} desk @returns {Panel} */
export function panel(desk) {
  let control = new AbortController();
  let key = "";
  /** @type {Angles | null} */
  let found = null;
  const dimensions = slider("dimensions", 2, 512, (n) => desk.set({ n }, "n"));
  const count = slider("directions", 2, 10000, (value) => desk.set({ count: value }, "count"));
  const [told, charts] = [h("p", { class: "concepts-told", role: "status" }), h("div", { class: "concepts-charts" })];
  const presets = PRESETS.map(([n, many]) =>
    h(
      "button",
      { type: "button", class: "chip", onclick: () => desk.set({ n, count: many }) },
      `${many.toLocaleString("en")} in ${n}`,
    ),
  );
  const element = h(
    "section",
    { class: "concepts" },
    h(
      "p",
      null,
      "In n dimensions n directions are orthogonal. If angles may differ from 90° a little, many more fit: one for each concept.",
    ),
    dimensions.label,
    count.label,
    h("div", { class: "chips" }, presets),
    told,
    charts,
  );
  const draw = (/** @type {State} */ { n, count: many }) => {
    told.textContent = sentence(desk, n, many, found);
    replace(
      charts,
      found && histogram(found, n, many, bestOf(desk, n, many)),
      countsFigure(n, many, found, desk.about.room.optimised),
    );
  };
  const ask = (/** @type {State} */ state) => {
    control.abort();
    control = new AbortController();
    found = null;
    const given = { count: state.count, dimensions: state.n, seed: 0 };
    const tell = (/** @type {Angles} */ part) => {
      found = part;
      draw(state);
    };
    work("angles", given, { signal: control.signal, tell }).catch(() => {});
  };
  desk.context.register({
    figures: () => (element.isConnected ? figures(desk, charts, () => found) : []),
  });
  return {
    element,
    stop: () => control.abort(),
    refresh: (state) => {
      dimensions.show(state.n);
      count.show(state.count);
      const next = `${state.n},${state.count}`;
      if (next !== key) ask(state);
      key = next;
      draw(state);
    },
  };
}

/** The smallest angle that claim room found by turning directions, if it tried this many. @param {Desk} desk @param {number} n @param {number} count */
function bestOf(desk, n, count) {
  return desk.about.room.optimised.find(([each, many]) => each === n && many === count)?.[2] ?? null;
}

/** @param {Desk} desk @param {number} n @param {number} count @param {Angles | null} found */
function sentence(desk, n, count, found) {
  const [floor, ceiling, best] = [degrees(lemma(count, n)), degrees(welch(count, n)), bestOf(desk, n, count)];
  const many = count.toLocaleString("en");
  const random = found
    ? `Of ${many} random directions in ${n} dimensions the nearest two are ${found.smallest.toFixed(1)}° apart, and ${(100 * found.within).toFixed(0)} % of the pairs lie within 5° of a right angle${found.done < 1 ? ` (${(100 * found.done).toFixed(0)} % of the pairs compared)` : ""}. `
    : "";
  const turned = best === null ? "" : ` Turned apart on purpose, they reach ${best.toFixed(1)}° (claim “room”).`;
  const sure =
    lemma(count, n) < 1
      ? `The Johnson–Lindenstrauss argument promises ${floor.toFixed(1)}°`
      : "The Johnson–Lindenstrauss argument promises nothing here";
  return `${random}${sure}; Welch's bound allows no more than ${ceiling.toFixed(1)}°.${turned}`;
}

/** @param {Desk} desk @param {HTMLElement} charts @param {() => Angles | null} found @returns {import("../export.js").Figure[]} */
function figures(desk, charts, found) {
  const [first, second] = charts.querySelectorAll("svg");
  return [
    ...(first
      ? [
          {
            title: "angles",
            svg: () => first,
            table: () => ({
              columns: ["from", "to", "pairs"],
              rows: (found()?.counts ?? []).map((pairs, i) => [i, i + 1, pairs]),
            }),
          },
        ]
      : []),
    ...(second
      ? [
          {
            title: "room",
            svg: () => second,
            table: () => ({ columns: ["dimensions", "directions", "smallest angle"], rows: desk.about.room.optimised }),
          },
        ]
      : []),
  ];
}

/** On a logarithmic scale. @param {string} name @param {number} low @param {number} high @param {(value: number) => void} run */
function slider(name, low, high, run) {
  const [from, to] = [Math.log(low), Math.log(high)];
  const range = h("input", {
    type: "range",
    min: 0,
    max: 200,
    "aria-label": `Number of ${name}`,
    oninput: () => run(Math.round(Math.exp(from + ((to - from) * Number(range.value)) / 200))),
  });
  const box = h("input", {
    type: "number",
    min: low,
    max: high,
    "aria-label": `${name}, exactly`,
    onchange: () => run(Number(box.value) || low),
  });
  return {
    label: h("div", { class: "concepts-slider" }, h("span", null, name), range, box),
    /** @param {number} value */
    show: (value) => {
      if (document.activeElement !== range)
        range.value = String(Math.round((200 * (Math.log(value) - from)) / (to - from)));
      range.setAttribute("aria-valuetext", String(value));
      if (document.activeElement !== box) box.value = String(value);
    },
  };
}
