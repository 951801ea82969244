/** Where the answer goes: it is compared with every word that might come next. */

import { h } from "../../dom.js";
import { symbol } from "../equation.js";
import { Grid } from "../grid.js";
import { product, transpose, weigh } from "../math.js";
import { shown } from "../numbers.js";
import { Plane } from "../plane.js";
import { OUTPUTS, SENTENCES, guess } from "../train.js";
import { learned } from "../trainer.js";
import { column, count, line, paired, slider, stacked } from "./parts.js";

/** @typedef {import("./parts.js").Numbers} Numbers */
/** @typedef {import("./parts.js").Hands} Hands */

const HALF = 2.6; // numbers from the middle of the plane to its edge

/** The answer, the words it is compared with, and what comes of it. Drawn in the plane's own scale. @param {Numbers} now */
export function compared(now) {
  const weights = learned(now.run);
  const own = guess(weights, SENTENCES[now.asked]).y;
  const scale = HALF / 1.25 / Math.max(...[...weights.u, own].flat().map(Math.abs));
  const u = weights.u.map((row) => row.map((x) => x * scale));
  const y = now.y ?? own.map((x) => x * scale);
  // Both were made smaller, so that the scores are as the model has them.
  const scores = product([y], transpose(u))[0].map((score) => score / scale ** 2);
  return { u, y, scores, shares: weigh([scores.map((score) => score / now.heat)])[0] };
}

/** @type {(now: Numbers, hands: Hands) => import("./parts.js").Stage} */
export function nextStep(now, hands) {
  const plane = new Plane("The answer y, and the words that may come next");
  const scores = new Grid(OUTPUTS.length, 1, {
    name: "score",
    title: symbol("e", "e", "i"),
    kind: "score",
    rows: OUTPUTS,
  });
  const shares = new Grid(OUTPUTS.length, 1, {
    name: "chance",
    title: "probability",
    kind: "weight",
    barred: true,
    added: true,
    spoken: OUTPUTS,
  });
  const heat = slider("heat", "temperature", { min: 1, max: 30, step: 1 }, (tenths) =>
    hands.change({ heat: tenths / 10 }, "heat"),
  );
  const written = h("p", { class: "written", role: "status" });
  const another = h(
    "button",
    { class: "button", onclick: () => hands.change({ asked: (latest.asked + 7) % SENTENCES.length, y: "" }, true) },
    "Another sentence",
  );
  let latest = now;
  return {
    element: stacked(
      paired(plane.element, h("div", { class: "knobs" }, another), written, line(scores, "→", shares), heat.element),
    ),
    update(now) {
      latest = now;
      const all = compared(now);
      plane.update([
        ...OUTPUTS.map((name, i) => ({ name, role: "e", to: all.u[i], weight: all.shares[i] })),
        { name: "y", role: "y", to: all.y, move: (/** @type {[number, number]} */ to) => hands.vector("y", 0, to) },
      ]);
      scores.update(column(all.scores));
      shares.update(column(all.shares));
      heat.update(Math.round(now.heat * 10), shown(now.heat, 1));
      const best = OUTPUTS[all.shares.indexOf(Math.max(...all.shares))];
      written.replaceChildren(`${SENTENCES[now.asked].words.join(" ")} `, h("strong", null, best));
    },
    tables(now) {
      const all = compared(now);
      return [
        { name: "y", rows: ["y"], columns: count(2), values: [all.y], kind: "vector" },
        { name: "score", rows: OUTPUTS, columns: ["score"], values: column(all.scores), kind: "score" },
        { name: "chance", rows: OUTPUTS, columns: ["chance"], values: column(all.shares), kind: "weight" },
      ];
    },
  };
}
