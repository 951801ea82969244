/** A training that a link can repeat: from the rates of its steps follow the weights, always the same ones. */

import { begin, descend, loss } from "./train.js";

/** @typedef {import("./train.js").Weights} Weights */
/** @typedef {import("./numbers.js").Run} Run */

/** What was computed last: most often it only has to go on. @type {{rates: number[], weights: Weights, losses: number[]}} */
let kept = fresh();

function fresh() {
  const weights = begin();
  return { rates: [], weights, losses: [loss(weights)] };
}

/** Weights after a training, and the loss before it and after each step. @param {Run[]} run @returns {{weights: Weights, losses: number[]}} */
export function trained(run) {
  const rates = run.flatMap(({ steps, rate }) => Array.from({ length: steps }, () => rate));
  const goes = kept.rates.length <= rates.length && kept.rates.every((rate, t) => rate === rates[t]);
  if (!goes) kept = fresh();
  for (const rate of rates.slice(kept.rates.length)) {
    kept.weights = descend(kept.weights, rate);
    kept.losses.push(loss(kept.weights));
    kept.rates.push(rate);
  }
  return { weights: kept.weights, losses: kept.losses };
}

/** Some steps more. @param {Run[]} run @param {number} steps @param {number} rate @returns {Run[]} */
export function further(run, steps, rate) {
  const last = run[run.length - 1];
  if (last?.rate !== rate) return [...run, { steps, rate }];
  return [...run.slice(0, -1), { steps: last.steps + steps, rate }];
}

/** @param {Run[]} run */
export const length = (run) => run.reduce((total, { steps }) => total + steps, 0);

/** What is taken where nobody has trained far enough. @type {Run[]} */
export const ENOUGH = [{ steps: 400, rate: 0.2 }];

/** @type {Weights | undefined} */
let ours;

/** The weights of the reader's own training if it has learned the task, otherwise of ours. @param {Run[]} run */
export function learned(run) {
  ours ??= trained(ENOUGH).weights;
  const { weights, losses } = trained(run);
  return losses[losses.length - 1] < 0.2 ? weights : ours;
}
