/** Sums of words, typed or drawn; arrows that are alike; and which of several words does not belong. */

import { h, replace } from "../dom.js";
import { odd, parallel, solve } from "./algebra.js";
import { chip } from "./near_panel.js";
import { pairsFigure } from "./plane.js";

/** @typedef {import("./desk.js").Desk} Desk */
/** @typedef {import("./desk.js").Panel} Panel */
/** @typedef {import("./state.js").State} State */
/** @typedef {import("./map.js").Marks} Marks */
/** @typedef {import("./map.js").Tint} Tint */
/** @typedef {import("./algebra.js").Answer} Answer */
/** @typedef {[number, number][]} Pairs */

const EXAMPLES = ["king - man + woman", "paris - france + germany", "walking - walked + ran", "worse - bad + good"];
/** @type {Record<string, string[]>} */
export const ARROWS = {
  "male – female": [
    "man woman",
    "king queen",
    "uncle aunt",
    "brother sister",
    "father mother",
    "son daughter",
    "actor actress",
    "prince princess",
  ],
  "verb tense": [
    "walking walked",
    "playing played",
    "making made",
    "going went",
    "writing wrote",
    "taking took",
    "saying said",
  ],
  "country – capital": [
    "france paris",
    "germany berlin",
    "italy rome",
    "japan tokyo",
    "russia moscow",
    "spain madrid",
    "england london",
    "greece athens",
  ],
};
const ODD = ["breakfast cereal dinner lunch", "red green blue london", "piano violin guitar car"];

/** @param {Desk} desk @returns {Panel} */
export function panel(desk) {
  const input = field("A sum of words", "king - man + woman", (value) => desk.set({ sum: value, arrows: "" }));
  const words = field("Words of which one is odd", "breakfast cereal dinner lunch", (value) =>
    desk.set({ odd: value }),
  );
  const [answer, arrows, strange] = [h("div", { class: "answer" }), h("div"), h("div")];
  const drawing = h("button", { type: "button", class: "button", onclick: () => draw(desk) }, "Draw it on the map");
  const element = h(
    "section",
    null,
    h("h2", null, "Sum"),
    input,
    h(
      "div",
      { class: "chips" },
      EXAMPLES.map((each) => link(each, () => desk.set({ sum: each, arrows: "" }))),
    ),
    drawing,
    answer,
    h("h2", null, "Arrows"),
    h(
      "div",
      { class: "chips" },
      Object.keys(ARROWS).map((each) => link(each, () => desk.set({ arrows: each, sum: "" }))),
    ),
    arrows,
    h("h2", null, "Odd one out"),
    words,
    h(
      "div",
      { class: "chips" },
      ODD.map((each) => link(each, () => desk.set({ odd: each }))),
    ),
    strange,
  );
  return {
    element,
    refresh: (state) => {
      if (document.activeElement !== input) input.value = state.sum;
      if (document.activeElement !== words) words.value = state.odd;
      drawing.setAttribute("aria-pressed", String(desk.drawing !== null));
      guarded(strange, () => state.odd && showOdd(desk, strange, state.odd));
      const drawn = guarded(arrows, () => showArrows(desk, arrows, state.arrows));
      const summed = guarded(answer, () => showSum(desk, answer, state));
      return desk.drawing?.length ? halfDrawn(desk) : { ...drawn, ...summed };
    },
  };
}

/** @param {string} label @param {string} example @param {(value: string) => void} run */
function field(label, example, run) {
  const input = h("input", {
    type: "text",
    "aria-label": label,
    placeholder: example,
    spellcheck: "false",
    maxlength: 300,
    onchange: () => run(input.value.trim()),
  });
  return input;
}

/** @param {string} text @param {() => void} run */
const link = (text, run) => h("button", { type: "button", class: "chip", onclick: run }, text);

/** What goes wrong is said where it would have stood. @template T @param {HTMLElement} host @param {() => T} run @returns {T | undefined} */
function guarded(host, run) {
  replace(host);
  try {
    return run();
  } catch (error) {
    replace(host, h("p", { class: "problem" }, error instanceof Error ? error.message : String(error)));
    return undefined;
  }
}

/** @param {Desk} desk */
function draw(desk) {
  desk.drawing = desk.drawing ? null : [];
  void desk.refresh();
}

/** @param {Desk} desk @returns {Partial<Marks>} */
function halfDrawn(desk) {
  const [from = -1, to = -1] = desk.drawing ?? [];
  /** @type {Map<number, Tint>} */
  const rings = new Map([
    [from, "lamp"],
    [to, "lamp"],
  ]);
  return { rings, lines: to < 0 ? [] : [{ from, to, tint: "lamp", arrow: true }], first: [from, to] };
}

/** @param {Desk} desk @param {HTMLElement} host @param {State} state @returns {Partial<Marks> | undefined} */
function showSum(desk, host, state) {
  if (desk.drawing) {
    const steps = [
      "Click the word where the step begins.",
      "Now the word where it ends.",
      "Now the word from which the same step is taken.",
    ];
    replace(host, h("p", { class: "hint", role: "status" }, steps[desk.drawing.length] ?? ""));
    return undefined;
  }
  if (!state.sum) return undefined;
  const answer = solve(desk.vectors, state.sum);
  const names = [...new Set(answer.terms.map(({ row }) => desk.vectors.words[row] ?? ""))];
  const [best, all] = [answer.without[0], answer.with[0]];
  const inside = answer.terms.some(({ row }) => row === all?.row);
  replace(
    host,
    h(
      "p",
      { class: "sum-told" },
      `${state.sum} ≈ `,
      h("strong", null, desk.vectors.words[best?.row ?? -1] ?? "nothing"),
      inside
        ? `, if ${names.join(", ")} may not be the answer. If they may, it is ${desk.vectors.words[all?.row ?? -1]}.`
        : ", by both rules.",
    ),
    h(
      "div",
      { class: "near-lists" },
      ranked(desk, `Without ${names.join(", ")}`, "the customary rule", answer.without, new Set()),
      ranked(desk, "With all words", "no rule", answer.with, new Set(answer.terms.map(({ row }) => row))),
    ),
  );
  return sumMarks(answer);
}

/** @param {Desk} desk @param {string} title @param {string} rule @param {import("./vectors.js").Near[]} found @param {Set<number>} inputs */
function ranked(desk, title, rule, found, inputs) {
  return h(
    "div",
    null,
    h("h3", null, title),
    h("p", { class: "quiet" }, rule),
    h(
      "ol",
      { class: "near-list" },
      found.map(({ row, score }) =>
        h(
          "li",
          { class: inputs.has(row) ? "wrong" : "" },
          chip(desk, desk.vectors.words[row] ?? ""),
          h("span", { class: "number" }, score.toFixed(2)),
          inputs.has(row) && h("small", null, "of the question"),
        ),
      ),
    ),
  );
}

/** Plus and minus as rings; b - a + c as two arrows that should be alike. @param {Answer} answer @returns {Partial<Marks>} */
function sumMarks({ terms, without }) {
  /** @type {Map<number, Tint>} */
  const rings = new Map();
  for (const { row, weight } of terms) rings.set(row, weight > 0 ? "y" : "muted");
  const best = without[0]?.row ?? -1;
  rings.set(best, "lamp");
  const [minus, plus] = [terms.filter(({ weight }) => weight < 0), terms.filter(({ weight }) => weight > 0)];
  /** @type {import("./map.js").Line[]} */
  const lines = [];
  const [a, b, c] = [minus[0]?.row, plus[0]?.row, plus[1]?.row];
  if (terms.length === 3 && a !== undefined && b !== undefined && c !== undefined) {
    lines.push({ from: a, to: b, tint: "y", arrow: true }, { from: c, to: best, tint: "lamp", arrow: true });
  }
  return { rings, lines, first: [best, ...terms.map(({ row }) => row)] };
}

/** @param {Desk} desk @param {HTMLElement} host @param {string} name @returns {Partial<Marks> | undefined} */
function showArrows(desk, host, name) {
  const pairs = pairsOf(desk, name);
  if (!pairs.length) return undefined;
  const alike = parallel(desk.vectors, pairs);
  replace(
    host,
    pairsFigure(desk.vectors, pairs),
    h(
      "p",
      { class: "quiet" },
      `PCA of these ${2 * pairs.length} words alone. In all ${desk.vectors.width} numbers the mean cosine between two of the arrows is ${alike.toFixed(2)}; 1 would be parallel. The large map bends them: it keeps neighbours, and no directions.`,
    ),
  );
  /** @type {Map<number, Tint>} */
  const rings = new Map(
    pairs.flatMap(
      ([from, to]) =>
        /** @type {[number, Tint][]} */ ([
          [from, "y"],
          [to, "lamp"],
        ]),
    ),
  );
  const lines = pairs.map(([from, to]) => ({ from, to, tint: /** @type {Tint} */ ("y"), arrow: true }));
  return { rings, lines, first: pairs.flat() };
}

/** Those whose two words are known. @param {Desk} desk @param {string} name @returns {Pairs} */
function pairsOf(desk, name) {
  const all = (ARROWS[name] ?? []).map((pair) => pair.split(" ").map((word) => desk.vectors.row(word)));
  return /** @type {Pairs} */ (all.filter(([from = -1, to = -1]) => from >= 0 && to >= 0));
}

/** @param {Desk} desk @param {HTMLElement} host @param {string} text */
function showOdd(desk, host, text) {
  const found = odd(
    desk.vectors,
    text
      .split(/[\s,]+/)
      .filter(Boolean)
      .slice(0, 40),
  );
  const last = found.at(-1);
  replace(
    host,
    h(
      "p",
      null,
      h("strong", null, desk.vectors.words[last?.row ?? -1] ?? ""),
      " does not belong: it is farthest from the mean of them all.",
    ),
    h(
      "ol",
      { class: "near-list odd-list" },
      found.map((each) =>
        h(
          "li",
          { class: each === last ? "wrong" : "kept" },
          chip(desk, desk.vectors.words[each.row] ?? ""),
          h("span", { class: "number" }, each.score.toFixed(2)),
        ),
      ),
    ),
  );
}
