/** What stands on the stage at each step: planes and matrices that follow the numbers. */

import { blockStep } from "./stages/block.js";
import { crossStep } from "./stages/cross.js";
import { headsStep } from "./stages/heads.js";
import { learningStep } from "./stages/learning.js";
import { maskStep } from "./stages/mask.js";
import { nextStep } from "./stages/next.js";
import { orderStep } from "./stages/order.js";
import { additiveStep, dotStep, softmaxStep, words } from "./stages/question.js";
import { scaledStep } from "./stages/scaled.js";
import { selfStep } from "./stages/self.js";
import { valuesStep } from "./stages/values.js";

/** @typedef {import("./numbers.js").Numbers} Numbers */
/** @typedef {import("./stages/parts.js").Hands} Hands */
/** @typedef {import("./stages/parts.js").Stage} Stage */
/** @typedef {import("./stages/parts.js").Table} Table */

/** @type {Record<string, (now: Numbers, hands: Hands) => Stage>} */
const STAGES = {
  words,
  additive: additiveStep,
  dot: dotStep,
  scaled: scaledStep,
  softmax: softmaxStep,
  values: valuesStep,
  self: selfStep,
  order: orderStep,
  heads: headsStep,
  mask: maskStep,
  cross: crossStep,
  block: blockStep,
  learning: learningStep,
  next: nextStep,
};

/** @param {string} step @param {Numbers} now @param {Hands} hands @returns {Stage} */
export function stage(step, now, hands) {
  return (STAGES[step] ?? words)(now, hands);
}
