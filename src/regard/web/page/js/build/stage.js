/** What stands on the stage at each step: planes and matrices that follow the numbers. */

import { h } from "../dom.js";
import { symbol } from "./equation.js";
import { Grid, number } from "./grid.js";
import { additive, aside, beside, dot, look, multihead, product, sum, weigh } from "./math.js";
import { brief, projected, shown, widened } from "./numbers.js";
import { Plane } from "./plane.js";
import { Ribbons } from "./ribbons.js";

/** @typedef {import("./numbers.js").Numbers} Numbers */
/** @typedef {import("./math.js").Matrix} Matrix */
/** @typedef {import("../dom.js").Child} Child */
/**
 * How the stage changes the numbers.
 * @typedef {object} Hands
 * @property {(name: "x" | "v" | "z" | "q" | "w" | "wq" | "wk" | "wv" | "wo", i: number, j: number, value: number) => void} cell
 * @property {(name: "x" | "v" | "z" | "q", i: number, to: [number, number]) => void} vector
 * @property {(row: number, column?: number) => void} pick
 * @property {(d: number) => void} width
 * @property {(degrees: number) => void} turn
 * @property {(i: number, j: number) => void} hide
 * @property {(what: "future" | "nothing") => void} mask
 */
/** @typedef {{element: HTMLElement, update: (now: Numbers) => void, tables: (now: Numbers) => Table[]}} Stage */
/** @typedef {{name: string, rows: string[], columns: string[], values: Matrix, kind: "vector" | "score" | "weight"}} Table */

/** @param {...Child} children */
const line = (...children) => h("div", { class: "line" }, ...children);
/** @param {string} sign */
const operator = (sign) => h("span", { class: "operator", "aria-hidden": "true" }, sign);
/** @param {Child} left @param {...Child} right */
const paired = (left, ...right) => h("div", { class: "pair" }, left, h("div", { class: "stack" }, ...right));
/** Numbers of a vector are counted. @param {number} count */
const count = (count) => Array.from({ length: count }, (_, i) => String(i + 1));

/** @param {string} step @param {Numbers} now @param {Hands} hands @returns {Stage} */
export function stage(step, now, hands) {
  return (STAGES[step] ?? words)(now, hands);
}

/** @param {Numbers} now @param {Hands} hands @param {string} [letter] @param {boolean} [added] */
function vectors(now, hands, letter = "x", added = false) {
  return new Grid(now.words.length, 2, {
    name: letter === "x" ? "vectors" : "keys",
    title: symbol(letter, letter, letter === "k" ? "i" : undefined),
    rows: now.words,
    added,
    edit: (i, j, value) => hands.cell("x", i, j, value),
  });
}

/** The words as arrows. @param {Numbers} now @param {Hands} hands @param {string} role @param {number[]} [weights] */
function arrows(now, hands, role, weights) {
  return now.words.map((name, i) => ({
    name, role, to: now.x[i],
    weight: weights?.[i] ?? 0,
    chosen: i === now.row,
    move: (/** @type {[number, number]} */ to) => hands.vector("x", i, to),
  }));
}

/** The question as numbers, above the words. @param {Hands} hands @param {Numbers} now */
function question(hands, now) {
  return new Grid(1, 2, { name: "question", title: symbol("q", "q"), rows: ["asks"], edit: (_, j, value) => hands.cell("q", 0, j, value) });
}

/** @type {(now: Numbers, hands: Hands) => Stage} */
function words(now, hands) {
  const plane = new Plane("Words as arrows", (_, i) => hands.pick(i));
  const x = vectors(now, hands, "x", true);
  return {
    element: paired(plane.element, line(x.element)),
    update(now) {
      plane.update(arrows(now, hands, "x"));
      x.update(now.x, { row: now.row });
    },
    tables: (now) => [{ name: "x", rows: now.words, columns: count(2), values: now.x, kind: "vector" }],
  };
}

/** The first five steps share a plane with the question in it, and differ in the columns beside it.
 * @param {Numbers} now @param {Hands} hands @param {Column[]} columns @param {Child} [below] @param {boolean} [projections] */
function ledger(now, hands, columns, below, projections = false) {
  const plane = new Plane("Question and words as arrows", (_, i) => i < now.words.length && hands.pick(i));
  const asks = question(hands, now);
  const keys = vectors(now, hands, "k");
  const grids = columns.map((column) => new Grid(now.words.length, column.width ?? 1, { ...column, spoken: now.words, pick: column.kind === "vector" ? undefined : (i) => hands.pick(i) }));
  const totals = columns.map((column) => (column.total ? h("output", { class: "total" }) : null));
  const element = paired(
    plane.element,
    line(asks.element),
    line(
      keys.element,
      ...columns.flatMap((column, i) => [operator(column.sign ?? "→"), h("div", { class: "column" }, grids[i].element, totals[i])]),
    ),
    below,
  );
  /** @param {Numbers} now */
  const update = (now) => {
    const weights = columns.some((column) => column.kind === "weight") ? weigh(dot([now.q], now.x))[0] : undefined;
    plane.update(
      [...arrows(now, hands, "k", weights), { name: "q", role: "q", to: now.q, move: (to) => hands.vector("q", 0, to) }],
      projections ? [{ from: now.q.map((x) => -9 * x), to: now.q.map((x) => 9 * x) }, ...now.x.map((k) => ({ from: k, to: foot(k, now.q) }))] : [],
    );
    asks.update([now.q]);
    keys.update(now.x, { row: now.row });
    columns.forEach((column, i) => {
      const values = column.values(now);
      grids[i].update(values, { row: now.row, most: column.most?.(now) });
      const total = totals[i];
      if (total && column.total) total.textContent = column.total(values);
    });
  };
  return {
    element, update,
    tables: (/** @type {Numbers} */ now) => [
      { name: "q", rows: ["q"], columns: count(2), values: [now.q], kind: /** @type {const} */ ("vector") },
      { name: "k", rows: now.words, columns: count(2), values: now.x, kind: /** @type {const} */ ("vector") },
      ...columns.map((column) => ({ name: column.name, rows: now.words, columns: column.width ? count(column.width) : [column.name], values: column.values(now), kind: column.kind ?? /** @type {const} */ ("vector") })),
    ],
  };
}
/** @typedef {import("./grid.js").Options & {values: (now: Numbers) => Matrix, width?: number, sign?: string, total?: (values: Matrix) => string, most?: (now: Numbers) => number}} Column */

/** Where a key falls on the line of the question. @param {number[]} k @param {number[]} q */
function foot(k, q) {
  const long = sum(q.map((x) => x * x)) || 1;
  const share = sum(q.map((x, i) => x * k[i])) / long;
  return q.map((x) => x * share);
}

/** As one column. @param {number[]} row @returns {Matrix} */
const column = (row) => row.map((x) => [x]);

/** @type {(now: Numbers, hands: Hands) => Stage} */
function additiveStage(now, hands) {
  const network = h("div", { class: "stack" },
    h("div", { class: "knobs" }, h("span", null, symbol("w", "e"), " of the small network"), [0, 1, 2].map((j) => number(`network, number ${j + 1}`, (value) => hands.cell("w", 0, j, value)))),
    h("p", { class: "quiet" }, "Here U k = (k₁, k₂, −k₁ − k₂), W q = −U q and b = 1, so a word scores high where it lies close to q. A model learns all four."));
  const stage = ledger(now, hands, [
    { name: "tanh(Wq + Uk + b)", title: "tanh(…)", kind: "score", width: 3, added: true, values: (now) => projected(now).k.map((k) => beside(projected(now).q[0], k)), most: () => 1 },
    { name: "score", sign: "·w", title: symbol("e", "e", "i"), kind: "score", added: true, values: (now) => column(additive(projected(now).q, projected(now).k, now.w)[0]), most: () => 3 },
  ], network);
  stage.element.classList.add("small"); // three numbers a word need the room
  return {
    ...stage,
    update(now) {
      stage.update(now);
      network.querySelectorAll("input").forEach((input, j) => {
        if (document.activeElement !== input || !input.dataset.typing) input.value = brief(now.w[j]);
      });
    },
  };
}

/** @type {(now: Numbers, hands: Hands) => Stage} */
function dotStage(now, hands) {
  return ledger(now, hands, [
    { name: "q × k", sign: "×q", title: h("span", null, symbol("q", "q", "j"), symbol("k", "k", "ij")), kind: "score", width: 2, values: (now) => now.x.map((k) => k.map((x, j) => x * now.q[j])), most: () => 4 },
    { name: "score", sign: "+", title: symbol("e", "e", "i"), kind: "score", added: true, values: (now) => column(dot([now.q], now.x, 1)[0]), most: () => 5 },
  ], null, true);
}

/** @type {(now: Numbers, hands: Hands) => Stage} */
function scaledStage(now, hands) {
  const slider = h("input", { type: "range", id: "width", min: 1, max: 6, step: 1, oninput: () => hands.width(2 ** Number(slider.value)) });
  const told = h("output", { class: "big", for: "width" });
  const knobs = h("label", { class: "knobs slider", for: "width" }, h("span", null, "width ", symbol("d", "e")), slider, told);
  const n = now.words.length;
  const strip = new Grid(n + 1, 64, { name: "vectors", title: h("span", null, symbol("q", "q"), " and ", symbol("k", "k", "i")), note: "all their numbers", rows: ["q", ...now.words], kind: "score", bare: true });
  const [raw, small] = [false, true].map((root) => new Grid(n, 1, { name: root ? "scaled scores" : "scores", title: root ? h("span", null, symbol("e", "e", "i"), "/√", symbol("d", "e")) : symbol("e", "e", "i"), kind: "score", added: root, rows: root ? undefined : now.words, spoken: now.words, pick: (i) => hands.pick(i) }));
  const [peaked, soft] = [false, true].map((root) => new Grid(n, 1, { name: root ? "shares with the root" : "shares without", title: root ? "share with √d" : "share without", kind: "weight", barred: true, added: root, spoken: now.words, pick: (i) => hands.pick(i) }));
  /** @param {Numbers} now */
  const wide = (now) => ({ q: widened("?", now.q, now.width), k: now.words.map((word, i) => widened(word, now.x[i], now.width)) });
  return {
    element: h("div", { class: "stack" },
      knobs,
      line(strip.element),
      line(raw.element, operator("→"), peaked.element, h("span", { class: "versus" }, "but"), small.element, operator("→"), soft.element),
      h("p", { class: "quiet" }, "Shares are what the next step makes of scores; they add up to 1."),
    ),
    update(now) {
      const { q, k } = wide(now);
      const [bare, scaled] = [dot([q], k, 1)[0], dot([q], k)[0]];
      slider.value = String(Math.round(Math.log2(now.width)));
      told.textContent = String(now.width);
      strip.element.style.setProperty("--shown", String(now.width));
      strip.cells.forEach((cells) => cells.forEach((cell, j) => (cell.hidden = j >= now.width)));
      strip.update([q, ...k], { most: 2.2 });
      const most = Math.max(...bare.map(Math.abs));
      raw.update(column(bare), { row: now.row, most });
      small.update(column(scaled), { row: now.row, most });
      peaked.update(column(weigh([bare])[0]), { row: now.row });
      soft.update(column(weigh([scaled])[0]), { row: now.row });
    },
    tables(now) {
      const { q, k } = wide(now);
      const [bare, scaled] = [dot([q], k, 1)[0], dot([q], k)[0]];
      return [
        { name: "scores", rows: now.words, columns: ["q·k", "q·k/√d"], values: bare.map((x, i) => [x, scaled[i]]), kind: "score" },
        { name: "shares", rows: now.words, columns: ["without", "with"], values: bare.map((_, i) => [weigh([bare])[0][i], weigh([scaled])[0][i]]), kind: "weight" },
      ];
    },
  };
}

/** @type {(now: Numbers, hands: Hands) => Stage} */
function softmaxStage(now, hands) {
  /** @param {Numbers} now */
  const scores = (now) => dot([now.q], now.x)[0];
  return ledger(now, hands, [
    { name: "score", title: symbol("e", "e", "i"), kind: "score", values: (now) => column(scores(now)), most: () => 4 },
    { name: "exp", sign: "exp", title: h("span", null, "exp(", symbol("e", "e", "i"), ")"), values: (now) => column(scores(now).map(Math.exp)), total: (values) => `Σ = ${shown(sum(values.flat()))}`, kind: "vector" },
    { name: "share", sign: "÷ Σ", title: symbol("a", "e", "i"), kind: "weight", added: true, values: (now) => column(weigh([scores(now)])[0]), total: (values) => `Σ = ${shown(sum(values.flat()))}` },
  ]);
}

/** @type {(now: Numbers, hands: Hands) => Stage} */
function valuesStage(now, hands) {
  const n = now.words.length;
  const questions = new Plane("Question and keys", (_, i) => i < n && hands.pick(i));
  const values = new Plane("Values, and the answer they make", (_, i) => i < n && hands.pick(i));
  const a = new Grid(n, 1, { name: "shares", title: symbol("a", "e", "i"), kind: "weight", rows: now.words, pick: (i) => hands.pick(i) });
  const v = new Grid(n, 2, { name: "values", title: symbol("v", "v", "i"), added: true, spoken: now.words, edit: (i, j, value) => hands.cell("v", i, j, value) });
  const parts = new Grid(n, 2, { name: "taken", title: h("span", null, symbol("a", "e", "i"), symbol("v", "v", "i")), kind: "vector" });
  const y = new Grid(1, 2, { name: "answer", title: symbol("y", "y"), added: true });
  /** @param {Numbers} now */
  const inside = (now) => {
    const weights = weigh(dot([now.q], now.x))[0];
    return { weights, parts: now.v.map((row, i) => row.map((x) => x * weights[i])), y: product([weights], now.v) };
  };
  return {
    element: h("div", { class: "stack" },
      h("div", { class: "pair planes" },
        h("figure", { class: "framed" }, questions.element, h("figcaption", null, "find: ", symbol("q", "q"), " meets the keys ", symbol("k", "k", "i"))),
        h("figure", { class: "framed" }, values.element, h("figcaption", null, "take: the values ", symbol("v", "v", "i"), " make ", symbol("y", "y")))),
      line(a.element, operator("×"), v.element, operator("="), parts.element, operator("Σ →"), y.element),
    ),
    update(now) {
      const { weights, parts: taken, y: answer } = inside(now);
      questions.update([...arrows(now, hands, "k", weights), { name: "q", role: "q", to: now.q, move: (to) => hands.vector("q", 0, to) }]);
      // The shares of the values, laid tip to tail, end where the answer is.
      let at = [0, 0];
      const chain = taken.map((part) => {
        const from = at;
        at = at.map((x, j) => x + part[j]);
        return { from, to: at };
      });
      values.update([
        ...now.words.map((name, i) => ({ name, role: "v", to: now.v[i], weight: weights[i], chosen: i === now.row, move: (/** @type {[number, number]} */ to) => hands.vector("v", i, to) })),
        { name: "y", role: "y", to: answer[0] },
      ], chain);
      a.update(column(weights), { row: now.row });
      v.update(now.v, { row: now.row });
      parts.update(taken, { row: now.row });
      y.update(answer);
    },
    tables(now) {
      const { weights, y: answer } = inside(now);
      return [
        { name: "a", rows: now.words, columns: ["share"], values: column(weights), kind: "weight" },
        { name: "v", rows: now.words, columns: count(2), values: now.v, kind: "vector" },
        { name: "y", rows: ["y"], columns: count(2), values: answer, kind: "vector" },
      ];
    },
  };
}

/** A 2 × 2 matrix to change. @param {Hands} hands @param {"wq" | "wk" | "wv"} name @param {boolean} [added] */
function small(hands, name, added) {
  const role = name[1];
  return new Grid(2, 2, { name: `matrix W ${role}`, title: symbol("W", role, role), added, edit: (i, j, value) => hands.cell(name, i, j, value) });
}

/** What words that look at each other give away. @param {Numbers} now @param {{scores: Matrix, weights: Matrix, y: Matrix}} all @returns {Table[]} */
function squares(now, { scores, weights, y }) {
  return [
    { name: "scores", rows: now.words, columns: now.words, values: scores, kind: "score" },
    { name: "shares", rows: now.words, columns: now.words, values: weights, kind: "weight" },
    { name: "y", rows: now.words, columns: count(2), values: y, kind: "vector" },
  ];
}

/** @type {(now: Numbers, hands: Hands) => Stage} */
function selfStage(now, hands) {
  const n = now.words.length;
  const plane = new Plane("Words as arrows", (_, i) => hands.pick(i));
  const x = vectors(now, hands);
  const ways = /** @type {const} */ (["q", "k", "v"]).map((role) => ({
    role,
    by: small(hands, `w${role}`, true),
    is: new Grid(n, 2, { name: { q: "queries", k: "keys", v: "values" }[role], title: symbol(role.toUpperCase(), role) }),
  }));
  const scores = new Grid(n, n, { name: "scores", title: h("span", null, symbol("Q", "q"), symbol("K", "k"), "ᵀ/√d"), kind: "score", rows: now.words, columns: now.words, pick: hands.pick });
  const weights = new Grid(n, n, { name: "shares", title: symbol("A", "e"), note: "softmax", kind: "weight", rows: now.words, again: true, columns: now.words, pick: hands.pick });
  const y = new Grid(n, 2, { name: "answers", title: symbol("Y", "y") });
  /** @param {Numbers} now */
  const inside = (now) => look(now.x, now.x, now.heads[0]);
  return {
    element: h("div", { class: "stack" },
      h("div", { class: "pair small" }, plane.element, h("div", { class: "stack" },
        h("div", { class: "line" }, x.element, h("div", { class: "stack ways" }, h("div", { class: "line" }, operator("×"), ways.map(({ by }) => by.element)), h("div", { class: "line" }, operator("="), ways.map(({ is }) => is.element)))))),
      line(scores.element, operator("→"), weights.element, operator("× V ="), y.element),
    ),
    update(now) {
      const all = inside(now);
      plane.update(arrows(now, hands, "x", now.row < 0 ? undefined : all.weights[now.row]));
      x.update(now.x, { row: now.row });
      ways.forEach(({ role, by, is }) => {
        by.update(now.heads[0][role]);
        is.update(all[role], { row: now.row });
      });
      scores.update(all.scores, now);
      weights.update(all.weights, now);
      y.update(all.y, { row: now.row });
    },
    tables: (now) => squares(now, inside(now)),
  };
}

/** @type {(now: Numbers, hands: Hands) => Stage} */
function headsStage(now, hands) {
  const n = now.words.length;
  const plane = new Plane("Words as arrows", (_, i) => hands.pick(i));
  const slider = h("input", { type: "range", id: "turn", min: 0, max: 359, step: 5, oninput: () => hands.turn(Number(slider.value)) });
  const told = h("output", { class: "big", for: "turn" });
  const knob = h("label", { class: "knobs slider", for: "turn" }, h("span", null, "turn head 2"), slider, told);
  const looks = [0, 1].map((i) => new Grid(n, n, { name: `shares of head ${i + 1}`, title: h("span", null, symbol("A", "e", String(i + 1))), note: `head ${i + 1}`, kind: "weight", rows: now.words, again: i > 0 && n < 5, columns: now.words, added: true, pick: hands.pick }));
  const parts = new Grid(n, 4, { name: "answers of both heads", title: h("span", null, "[", symbol("Y", "y", "1"), " ", symbol("Y", "y", "2"), "]"), note: "side by side" });
  const out = new Grid(4, 2, { name: "matrix W o", title: symbol("W", "e", "o"), edit: (i, j, value) => hands.cell("wo", i, j, value) });
  const y = new Grid(n, 2, { name: "answers", title: symbol("Y", "y") });
  /** @param {Numbers} now */
  const inside = (now) => multihead(now.x, now.x, now.heads, now.out);
  return {
    element: h("div", { class: "stack" },
      h("div", { class: "pair small" }, plane.element, h("div", { class: "stack" }, knob, line(...looks.map((each) => each.element)))),
      line(parts.element, operator("×"), out.element, operator("="), y.element),
    ),
    update(now) {
      const all = inside(now);
      slider.value = String(now.turn);
      told.textContent = `${now.turn}°`;
      const row = Math.max(0, now.row);
      plane.update([
        ...arrows(now, hands, "x"),
        ...all.looks.map((each, i) => ({ name: `q${"₁₂"[i]}`, role: "q", to: each.q[row].map((value) => value * 0.7) })),
      ]);
      looks.forEach((grid, i) => grid.update(all.looks[i].weights, now));
      parts.update(aside(all.looks.map((each) => each.y)), { row: now.row });
      out.update(now.out);
      y.update(all.y, { row: now.row });
    },
    tables(now) {
      const all = inside(now);
      return [
        ...all.looks.map((each, i) => ({ name: `head ${i + 1}`, rows: now.words, columns: now.words, values: each.weights, kind: /** @type {const} */ ("weight") })),
        { name: "y", rows: now.words, columns: count(2), values: all.y, kind: "vector" },
      ];
    },
  };
}

/** @type {(now: Numbers, hands: Hands) => Stage} */
function maskStage(now, hands) {
  const n = now.words.length;
  const plane = new Plane("Words as arrows", (_, i) => hands.pick(i));
  const future = h("button", { class: "button", onclick: () => hands.mask("future") }, "Hide the future");
  const open = h("button", { class: "button", onclick: () => hands.mask("nothing") }, "Let all see all");
  const scores = new Grid(n, n, { name: "scores; press one to hide it", title: h("span", null, symbol("Q", "q"), symbol("K", "k"), "ᵀ/√d + ", symbol("M", "e")), note: "press to hide", kind: "score", rows: now.words, columns: now.words, added: true, pick: hands.hide });
  const weights = new Grid(n, n, { name: "shares", title: symbol("A", "e"), note: "softmax", kind: "weight", rows: now.words, columns: now.words, pick: hands.pick });
  const y = new Grid(n, 2, { name: "answers", title: symbol("Y", "y") });
  /** @param {Numbers} now */
  const inside = (now) => {
    const all = look(now.x, now.x, now.heads[0], now.visible);
    return { ...all, scores: all.scores.map((row, i) => row.map((x, j) => (now.visible[i][j] ? x : -Infinity))) };
  };
  return {
    element: h("div", { class: "stack" },
      h("div", { class: "pair small" }, plane.element, h("div", { class: "stack" }, h("div", { class: "knobs" }, future, open), line(scores.element))),
      line(weights.element, operator("× V ="), y.element),
    ),
    update(now) {
      const all = inside(now);
      const hidden = now.visible.flat().filter((may) => !may).length;
      future.setAttribute("aria-pressed", String(hidden === (n * (n - 1)) / 2 && now.visible.every((row, i) => row[i])));
      open.setAttribute("aria-pressed", String(hidden === 0));
      plane.update(arrows(now, hands, "x", now.row < 0 ? undefined : all.weights[now.row]));
      scores.update(all.scores, now);
      weights.update(all.weights, now);
      y.update(all.y, { row: now.row });
    },
    tables: (now) => squares(now, inside(now)),
  };
}

/** @type {(now: Numbers, hands: Hands) => Stage} */
function crossStage(now, hands) {
  const [n, m] = [now.words.length, now.others.length];
  const plane = new Plane("Words that ask and words that answer", (_, i) => i < m && hands.pick(i));
  const ribbons = new Ribbons(now.others, now.words, (i) => hands.pick(i));
  const z = new Grid(m, 2, { name: "vectors of those who ask", title: symbol("Z", "z"), rows: now.others, added: true, edit: (i, j, value) => hands.cell("z", i, j, value) });
  const weights = new Grid(m, n, { name: "shares", title: symbol("A", "e"), note: "who looks at whom", kind: "weight", rows: now.others, columns: now.words, pick: hands.pick });
  const y = new Grid(m, 2, { name: "answers", title: symbol("Y", "y") });
  /** @param {Numbers} now */
  const inside = (now) => look(now.z, now.x, now.heads[0]);
  return {
    element: h("div", { class: "stack" },
      h("div", { class: "pair small" }, plane.element, h("div", { class: "stack" }, ribbons.element)),
      line(z.element, operator("→"), weights.element, operator("× V ="), y.element),
    ),
    update(now) {
      const all = inside(now);
      const row = Math.min(now.row, m - 1);
      plane.update([
        ...now.others.map((name, i) => ({ name, role: "z", to: now.z[i], chosen: i === row, move: (/** @type {[number, number]} */ to) => hands.vector("z", i, to) })),
        ...now.words.map((name, i) => ({ name, role: "x", to: now.x[i], weight: row < 0 ? 0 : all.weights[row][i], move: (/** @type {[number, number]} */ to) => hands.vector("x", i, to) })),
      ]);
      ribbons.update(all.weights, row);
      z.update(now.z, { row });
      weights.update(all.weights, { row, column: now.column });
      y.update(all.y, { row });
    },
    tables(now) {
      const all = inside(now);
      return [
        { name: "shares", rows: now.others, columns: now.words, values: all.weights, kind: "weight" },
        { name: "y", rows: now.others, columns: count(2), values: all.y, kind: "vector" },
      ];
    },
  };
}

/** @type {Record<string, (now: Numbers, hands: Hands) => Stage>} */
const STAGES = {
  words, additive: additiveStage, dot: dotStage, scaled: scaledStage, softmax: softmaxStage,
  values: valuesStage, self: selfStage, heads: headsStage, mask: maskStage, cross: crossStage,
};
