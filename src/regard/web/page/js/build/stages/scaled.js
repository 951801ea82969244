/** The root of d: what width does to scores and shares. */

import { h } from "../../dom.js";
import { symbol } from "../equation.js";
import { Grid } from "../grid.js";
import { dot, weigh } from "../math.js";
import { widened } from "../numbers.js";
import { column, line, slider, stacked } from "./parts.js";

/** @typedef {import("./parts.js").Numbers} Numbers */

/** Question and keys with as many numbers as the slider says. @param {Numbers} now */
const wide = (now) => ({
  q: widened("?", now.q, now.width),
  k: now.words.map((word, i) => widened(word, now.x[i], now.width)),
});

/** @type {(now: Numbers, hands: import("./parts.js").Hands) => import("./parts.js").Stage} */
export function scaledStep(now, hands) {
  const n = now.words.length;
  const knob = slider("width", h("span", null, "width ", symbol("d", "e")), { min: 1, max: 6, step: 1 }, (power) =>
    hands.change({ d: 2 ** power }, "d"),
  );
  const strip = new Grid(n + 1, 64, {
    name: "vectors",
    title: h("span", null, symbol("q", "q"), " and ", symbol("k", "k", "i")),
    note: "all their numbers",
    rows: ["q", ...now.words],
    kind: "score",
    bare: true,
  });
  const scores = [false, true].map((root) => score(now, hands, root));
  const shares = [false, true].map((root) => share(now, hands, root));
  return {
    element: stacked(
      knob.element,
      strip.element,
      h(
        "div",
        { class: "versus" },
        line(scores[0], "→", shares[0]),
        h("span", null, "but"),
        line(scores[1], "→", shares[1]),
      ),
      h("p", { class: "quiet" }, "Shares are what the next step makes of scores; they add up to 1."),
    ),
    update(now) {
      const { q, k } = wide(now);
      const both = [dot([q], k, 1)[0], dot([q], k)[0]];
      knob.update(Math.round(Math.log2(now.width)), String(now.width));
      strip.element.style.setProperty("--shown", String(now.width));
      strip.cells.forEach((row) => row.forEach((cell, j) => (cell.hidden = j >= now.width)));
      strip.update([q, ...k], { most: 2.2 });
      const most = Math.max(...both[0].map(Math.abs));
      both.forEach((row, i) => {
        scores[i].update(column(row), { row: now.row, most });
        shares[i].update(column(weigh([row])[0]), { row: now.row });
      });
    },
    tables(now) {
      const { q, k } = wide(now);
      const [bare, scaled] = [dot([q], k, 1)[0], dot([q], k)[0]];
      return [
        {
          name: "scores",
          rows: now.words,
          columns: ["q·k", "q·k/√d"],
          values: bare.map((e, i) => [e, scaled[i]]),
          kind: "score",
        },
        {
          name: "shares",
          rows: now.words,
          columns: ["without", "with"],
          values: bare.map((_, i) => [weigh([bare])[0][i], weigh([scaled])[0][i]]),
          kind: "weight",
        },
      ];
    },
  };
}

/** @param {Numbers} now @param {import("./parts.js").Hands} hands @param {boolean} root */
function score(now, hands, root) {
  return new Grid(now.words.length, 1, {
    name: root ? "scaled scores" : "scores",
    title: root ? h("span", null, symbol("e", "e", "i"), "/√", symbol("d", "e")) : symbol("e", "e", "i"),
    kind: "score",
    added: root,
    rows: now.words,
    pick: (i) => hands.pick(i),
  });
}

/** @param {Numbers} now @param {import("./parts.js").Hands} hands @param {boolean} root */
function share(now, hands, root) {
  return new Grid(now.words.length, 1, {
    name: root ? "shares with the root" : "shares without",
    title: root ? "share with √d" : "share without",
    kind: "weight",
    barred: true,
    added: root,
    spoken: now.words,
    pick: (i) => hands.pick(i),
  });
}
