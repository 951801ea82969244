/** The equation once more, with the numbers of the chosen word in it. */

import { additive, dot, look, sinusoid, sum, weigh } from "./math.js";
import { brief, projected, shown, widened } from "./numbers.js";
import { passed } from "./stages/block.js";
import { compared } from "./stages/next.js";
import { OUTPUTS, SENTENCES, guess } from "./train.js";
import { length, trained } from "./trainer.js";

/** @typedef {import("./numbers.js").Numbers} Numbers */

/** In brackets where it would follow a sign. @param {number} value */
const n = (value) => (value < 0 ? `(${brief(value)})` : brief(value));
/** @param {number[]} a @param {number[]} b */
const products = (a, b) => a.map((x, i) => `${n(x)} × ${n(b[i])}`).join(" + ");

/** @param {string} step @param {Numbers} now @returns {string} */
export function worked(step, now) {
  const { words, x, q, w, v, row, column } = now;
  const [word, k] = [words[row], x[row]];
  const score = dot([q], x)[0][row];
  const weights = weigh(dot([q], x))[0];
  const other = words[column];
  switch (step) {
    case "words":
      return `“${word}” = (${k.map(brief).join(", ")})`;
    case "additive": {
      const { q: asks, k: answers } = projected(now);
      return `“${word}”: ${w.map((each, i) => `${n(each)} × tanh(${brief(asks[0][i])} + ${n(answers[row][i])})`).join(" + ")} = ${shown(additive(asks, answers, w)[0][row])}`;
    }
    case "dot":
      return `“${word}”: ${products(q, k)} = ${shown(dot([q], x, 1)[0][row])}`;
    case "scaled": {
      const bare = dot([widened("?", q, now.width)], [widened(word, k, now.width)], 1)[0][0];
      return `“${word}”: ${shown(bare)} / √${now.width} = ${shown(bare / Math.sqrt(now.width))}`;
    }
    case "softmax":
      return `“${word}”: exp(${shown(score)}) / ${shown(sum(dot([q], x)[0].map(Math.exp)))} = ${shown(weights[row])}`;
    case "values":
      return `y = ${weights.map((each, i) => `${shown(each)} × (${v[i].map(brief).join(", ")})`).join(" + ")}`;
    case "heads": {
      const shares = now.heads.map((head) => look(x, x, head).weights[row][column]);
      return `“${word}” looks at “${other}”: ${shares.map((share, i) => `head ${i + 1} ${shown(share)}`).join(", ")}`;
    }
    case "self":
    case "mask":
    case "cross": {
      const asking = step === "cross" ? now.z : x;
      const at = Math.min(row, asking.length - 1);
      const all = look(asking, x, now.heads[0], step === "mask" ? now.visible : undefined);
      const who = step === "cross" ? now.others[at] : word;
      if (step === "mask" && !now.visible[at][column]) return `“${who}” may not see “${other}”: exp(−∞) = 0`;
      return `“${who}” asks “${other}”: (${products(all.q[at], all.k[column])}) / √2 = ${shown(all.scores[at][column])}, a share of ${shown(all.weights[at][column])}`;
    }
    case "order":
      return `“${word}” at ${row}: (${k.map(brief).join(", ")}) + (${sinusoid(row, 2)
        .map((each) => shown(each))
        .join(", ")})`;
    case "block": {
      const { x: before, y } = passed(now);
      return `“${word}”: from (${before[row].map((each) => shown(each)).join(", ")}) to (${y[row].map((each) => shown(each)).join(", ")})`;
    }
    case "learning": {
      const { p, target } = guess(trained(now.run).weights, SENTENCES[now.asked]);
      return `after ${length(now.run)} ${length(now.run) === 1 ? "step" : "steps"} p(${OUTPUTS[target]}) = ${shown(p[target])}, and −log of that is ${shown(-Math.log(Math.max(p[target], 1e-9)))}`;
    }
    case "next": {
      const { scores, shares } = compared(now);
      return OUTPUTS.map((each, i) => `${each}: ${shown(scores[i])} → ${shown(shares[i])}`).join(", ");
    }
    default:
      return "";
  }
}
