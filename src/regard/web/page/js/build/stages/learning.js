/** A tiny attention that trains before one's eyes: queries, keys and values move while the loss falls. */

import { h } from "../../dom.js";
import { Curve } from "../curve.js";
import { symbol } from "../equation.js";
import { Grid } from "../grid.js";
import { product } from "../math.js";
import { LONGEST, RATES, shown, writeRun } from "../numbers.js";
import { Plane } from "../plane.js";
import { ASKERS, INPUTS, OUTPUTS, SENTENCES, guess } from "../train.js";
import { further, length, trained } from "../trainer.js";
import { column, count, line, slider, stacked } from "./parts.js";
import { framed } from "./values.js";

/** @typedef {import("./parts.js").Numbers} Numbers */
/** @typedef {import("./parts.js").Hands} Hands */
/** @typedef {import("../train.js").Weights} Weights */

const CONTENT = INPUTS.length - ASKERS.length; // words that are looked at
const CALM = { steps: 20, wait: 400 }; // for those who want no motion

/** @type {(now: Numbers, hands: Hands) => import("./parts.js").Stage} */
export function learningStep(now, hands) {
  let latest = now;
  const player = new Player((steps) => {
    const room = LONGEST - length(latest.run);
    if (room <= 0) return false;
    hands.change({ run: writeRun(further(latest.run, Math.min(steps, room), latest.rate)) }, "run");
    return true;
  });
  const find = new Plane("Queries and keys");
  const take = new Plane("Values, and the words that may come next");
  const curve = new Curve();
  const told = h("output", { class: "big" });
  const rate = slider("rate", "learning rate", { min: 0, max: RATES.length - 1, step: 1 }, (i) =>
    hands.change({ rate: RATES[i] }, "rate"),
  );
  const restart = h(
    "button",
    { class: "button", onclick: () => (player.stop(), hands.change({ run: "" }, true)) },
    "From the start",
  );
  const chosen = choice((asked) => hands.change({ asked }, true));
  const { shares, chances } = grids(now);
  return {
    element: stacked(
      h("div", { class: "knobs training" }, player.buttons, restart, h("span", { class: "loss-now" }, "loss ", told)),
      h(
        "div",
        { class: "planes three" },
        framed(find, "find: ", symbol("q", "q"), " and ", symbol("k", "k")),
        framed(take, "take: ", symbol("v", "v"), " and what comes next"),
        stacked(curve.element, rate.element),
      ),
      h("label", { class: "knobs" }, h("span", null, "it reads"), chosen),
      line(shares, "→", chances),
    ),
    update(now) {
      latest = now;
      const { weights, losses } = trained(now.run);
      const sentence = SENTENCES[now.asked];
      const one = guess(weights, sentence);
      told.textContent = shown(losses[losses.length - 1]);
      rate.update(RATES.indexOf(now.rate), String(now.rate));
      chosen.value = String(now.asked);
      curve.update(losses);
      const [q, k, v] = [product(weights.x, weights.q), product(weights.x, weights.k), product(weights.x, weights.v)];
      /** @param {number} i */
      const share = (i) => one.a[sentence.words.indexOf(INPUTS[i])] ?? 0;
      find.update(
        [...words("k", k, share), ...ASKERS.map((name, i) => ({ name, role: "q", to: q[CONTENT + i] }))],
        [],
        spread(q, k),
      );
      take.update(
        [
          ...words("v", v, share),
          ...OUTPUTS.map((name, i) => ({ name, role: "e", to: weights.u[i] })),
          { name: "y", role: "y", to: one.y },
        ],
        [],
        spread(v, weights.u),
      );
      shares.name(sentence.words);
      shares.update(column(one.a));
      chances.update(column(one.p), { row: one.target });
      player.update(length(now.run) >= LONGEST);
    },
    tables(now) {
      const { weights, losses } = trained(now.run);
      const one = guess(weights, SENTENCES[now.asked]);
      const all = /** @type {const} */ (["q", "k", "v"]).map((role) => ({
        name: role,
        rows: INPUTS,
        columns: count(2),
        values: product(weights.x, weights[role]),
        kind: /** @type {const} */ ("vector"),
      }));
      return [
        { name: "shares", rows: SENTENCES[now.asked].words, columns: ["share"], values: column(one.a), kind: "weight" },
        { name: "next", rows: OUTPUTS, columns: ["chance"], values: column(one.p), kind: "weight" },
        ...all,
        {
          name: "loss",
          rows: losses.map((_, t) => String(t)),
          columns: ["loss"],
          values: column(losses),
          kind: "vector",
        },
      ];
    },
    stop: () => player.stop(),
  };
}

/** Play, pause and step; it goes on until it is told to stop or there is nothing left to do. */
class Player {
  /** @param {(steps: number) => boolean} go */
  constructor(go) {
    this.go = go;
    /** @type {(() => void) | null} */
    this.cancel = null;
    this.play = h(
      "button",
      { class: "button primary", onclick: () => (this.cancel ? this.stop() : this.start()) },
      "Play",
    );
    this.step = h("button", { class: "button", onclick: () => (this.stop(), void this.go(1)) }, "One step");
    this.buttons = [this.play, this.step];
  }

  start() {
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const turn = () => {
      this.cancel = calm ? later(turn, CALM.wait) : framewise(turn);
      if (!this.go(calm ? CALM.steps : 1)) this.stop();
    };
    turn();
    if (this.cancel) this.play.textContent = "Pause";
  }

  stop() {
    this.cancel?.();
    this.cancel = null;
    this.play.textContent = "Play";
  }

  /** @param {boolean} over */
  update(over) {
    for (const button of this.buttons) button.toggleAttribute("disabled", over);
    if (over) this.stop();
  }
}

/** @param {() => void} run @param {number} wait */
function later(run, wait) {
  const timer = setTimeout(run, wait);
  return () => clearTimeout(timer);
}

/** @param {() => void} run */
function framewise(run) {
  const frame = requestAnimationFrame(run);
  return () => cancelAnimationFrame(frame);
}

/** The sentences of the training to choose from. @param {(index: number) => void} change */
function choice(change) {
  const select = h(
    "select",
    { class: "choice", "aria-label": "Sentence of the training", onchange: () => change(Number(select.value)) },
    SENTENCES.map(({ words, next }, i) => h("option", { value: i }, `${words.join(" ")} → ${next}`)),
  );
  return select;
}

/** @param {Numbers} now */
function grids(now) {
  return {
    shares: new Grid(3, 1, {
      name: "shares",
      title: symbol("a", "e", "i"),
      kind: "weight",
      rows: SENTENCES[now.asked].words,
    }),
    chances: new Grid(OUTPUTS.length, 1, {
      name: "next word",
      title: "next word",
      kind: "weight",
      barred: true,
      added: true,
      rows: OUTPUTS,
    }),
  };
}

/** @param {string} role @param {number[][]} rows @param {(i: number) => number} share */
function words(role, rows, share) {
  return INPUTS.slice(0, CONTENT).map((name, i) => ({ name, role, to: rows[i], weight: share(i) }));
}

/** How far the plane must reach to show them all. @param {...number[][]} all */
function spread(...all) {
  return Math.min(12, Math.max(1.6, 1.15 * Math.max(...all.flat(2).map(Math.abs))));
}
