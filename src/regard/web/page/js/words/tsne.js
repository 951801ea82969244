/** t-SNE, exact, step by step as regard.analysis.maps does it: Gaussians of one perplexity, Student's q, early exaggeration. */

import { pca } from "./pca.js";

/** @typedef {{step: number, places: Float32Array, kl: number}} Frame */
/** @typedef {{perplexity: number, dimensions: number, steps: number, every: number}} Wish */

const [EXAGGERATION, EARLY] = [12, 250];
const VARIANCE = 1e-3; // of the places before the first step
const [ROUNDS, NEAR] = [60, 1e-6];

/** The perplexity that so many points allow: three times as many others. @param {number} perplexity @param {number} points */
export const lower = (perplexity, points) => Math.min(perplexity, Math.max(1, (points - 1) / 3));

/** The places while they move: the first axes of PCA, every so many steps, and after the last.
 * @param {Float32Array} table @param {number} width @param {Wish} wish @returns {Generator<Frame>} */
export function* frames(table, width, { perplexity, dimensions, steps, every }) {
  const count = table.length / width;
  const p = joint(distances(table, width), count, lower(perplexity, count));
  const places = begin(table, width, dimensions);
  const lr = Math.max(count / EXAGGERATION / 4, 50);
  const [update, gains] = [new Float64Array(places.length), new Float64Array(places.length).fill(1)];
  yield frame(0, p, places, dimensions);
  for (let step = 1; step <= steps; step++) {
    const early = step <= EARLY;
    const gradient = slope(p, places, dimensions, early ? EXAGGERATION : 1);
    descend(places, gradient, update, gains, lr, early ? 0.5 : 0.8);
    recentre(places, dimensions);
    if (step % every === 0 || step === steps) yield frame(step, p, places, dimensions);
  }
}

/** @param {ArrayLike<number>} array @param {number} i */
const num = (array, i) => /** @type {number} */ (array[i]);

/** Squared distances of all pairs. @param {Float32Array} table @param {number} width */
export function distances(table, width) {
  const count = table.length / width;
  const found = new Float64Array(count * count);
  for (let i = 0; i < count; i++) {
    for (let j = i + 1; j < count; j++) {
      let sum = 0;
      for (let k = 0; k < width; k++) sum += (num(table, i * width + k) - num(table, j * width + k)) ** 2;
      found[i * count + j] = found[j * count + i] = sum;
    }
  }
  return found;
}

/** p of the pairs above the diagonal, row by row; all pairs, in both directions, add up to 1.
 * @param {Float64Array} squares @param {number} count @param {number} perplexity */
function joint(squares, count, perplexity) {
  const all = new Float64Array(count * count);
  for (let i = 0; i < count; i++)
    all.set(conditional(squares.subarray(i * count, (i + 1) * count), i, perplexity), i * count);
  const found = new Float64Array((count * (count - 1)) / 2);
  for (let i = 0, at = 0; i < count; i++) {
    for (let j = i + 1; j < count; j++, at++)
      found[at] = (num(all, i * count + j) + num(all, j * count + i)) / (2 * count);
  }
  return found;
}

/** How likely a point picks each other: exp(-β d), with that β whose entropy is the logarithm of the perplexity.
 * @param {Float64Array} row squared distances @param {number} self @param {number} perplexity */
export function conditional(row, self, perplexity) {
  const wanted = Math.log(perplexity);
  let [least, mean] = [Infinity, 0];
  row.forEach((value, j) => void (j !== self && (least = Math.min(least, value))));
  row.forEach((value, j) => void (j !== self && (mean += (value - least) / row.length)));
  const away = row.map((value) => value - least);
  let log = -Math.log(mean > 0 ? mean : 1);
  let [low, high] = [log - 60, log + 60];
  const p = new Float64Array(row.length);
  for (let round = 0; round < ROUNDS; round++) {
    const beta = Math.exp(log);
    let [total, first, second] = [0, 0, 0];
    for (let j = 0; j < row.length; j++) {
      const d = num(away, j);
      const value = j === self ? 0 : Math.exp(-beta * d);
      p[j] = value;
      total += value;
      first += value * d;
      second += value * d * d;
    }
    first /= total;
    second /= total;
    for (let j = 0; j < p.length; j++) p[j] = num(p, j) / total;
    const over = Math.log(total) + beta * first - wanted;
    if (Math.abs(over) < NEAR) break;
    if (over > 0) low = log;
    else high = log;
    const next = log + Math.max(-4, Math.min(4, over / Math.max(1e-12, beta ** 2 * (second - first ** 2))));
    log = next > low && next < high ? next : (low + high) / 2;
  }
  return p;
}

/** @param {Float32Array} table @param {number} width @param {number} dimensions */
function begin(table, width, dimensions) {
  const places = Float64Array.from(pca(table, width, dimensions).places);
  const count = places.length / dimensions;
  let [mean, square] = [0, 0];
  for (let i = 0; i < count; i++) mean += num(places, i * dimensions) / count;
  for (let i = 0; i < count; i++) square += (num(places, i * dimensions) - mean) ** 2 / Math.max(1, count - 1);
  const scale = Math.sqrt(VARIANCE / (square || 1));
  return places.map((value) => value * scale);
}

/** 4 Σ_j (p_ij - q_ij) (1 + |y_i - y_j|²)⁻¹ (y_i - y_j). @param {Float64Array} p @param {Float64Array} y @param {number} k @param {number} exaggeration */
function slope(p, y, k, exaggeration) {
  const count = y.length / k;
  const axes = [0, 1, 2].map((axis) =>
    Float64Array.from({ length: count }, (_, i) => (axis < k ? num(y, i * k + axis) : 0)),
  );
  const [xs, ys, zs] = /** @type {[Float64Array, Float64Array, Float64Array]} */ (axes);
  const [pull, push] = [new Float64Array(3 * count), new Float64Array(3 * count)];
  const total = forces(p, xs, ys, zs, pull, push);
  const found = new Float64Array(y.length);
  for (let i = 0; i < count; i++) {
    for (let axis = 0; axis < k; axis++) {
      const at = axis * count + i;
      found[i * k + axis] = 4 * (exaggeration * num(pull, at) - num(push, at) / total);
    }
  }
  return found;
}

/** What attracts and what repels, by axis and point; and the sum of all q before they are divided by it.
 * @param {Float64Array} p @param {Float64Array} xs @param {Float64Array} ys @param {Float64Array} zs @param {Float64Array} pull @param {Float64Array} push */
function forces(p, xs, ys, zs, pull, push) {
  const [n, m] = [xs.length, 2 * xs.length];
  let total = 0;
  for (let i = 0, at = 0; i < n; i++) {
    const [x, y, z] = [num(xs, i), num(ys, i), num(zs, i)];
    let [ax, ay, az, bx, by, bz] = [0, 0, 0, 0, 0, 0];
    for (let j = i + 1; j < n; j++, at++) {
      const dx = x - num(xs, j);
      const dy = y - num(ys, j);
      const dz = z - num(zs, j);
      const near = 1 / (1 + dx * dx + dy * dy + dz * dz);
      const strong = num(p, at) * near;
      const square = near * near;
      total += near;
      ax += strong * dx;
      ay += strong * dy;
      az += strong * dz;
      bx += square * dx;
      by += square * dy;
      bz += square * dz;
      pull[j] = num(pull, j) - strong * dx;
      pull[n + j] = num(pull, n + j) - strong * dy;
      pull[m + j] = num(pull, m + j) - strong * dz;
      push[j] = num(push, j) - square * dx;
      push[n + j] = num(push, n + j) - square * dy;
      push[m + j] = num(push, m + j) - square * dz;
    }
    [ax, ay, az].forEach((value, axis) => (pull[axis * n + i] = num(pull, axis * n + i) + value));
    [bx, by, bz].forEach((value, axis) => (push[axis * n + i] = num(push, axis * n + i) + value));
  }
  return 2 * total;
}

/** Momentum, and a gain for each number that grows while its direction stays.
 * @param {Float64Array} y @param {Float64Array} gradient @param {Float64Array} update @param {Float64Array} gains @param {number} lr @param {number} momentum */
function descend(y, gradient, update, gains, lr, momentum) {
  for (let i = 0; i < y.length; i++) {
    const against = num(gradient, i) * num(update, i) < 0;
    gains[i] = Math.max(0.01, against ? num(gains, i) + 0.2 : num(gains, i) * 0.8);
    update[i] = momentum * num(update, i) - lr * num(gains, i) * num(gradient, i);
    y[i] = num(y, i) + num(update, i);
  }
}

/** @param {Float64Array} y @param {number} k */
function recentre(y, k) {
  const count = y.length / k;
  for (let axis = 0; axis < k; axis++) {
    let mean = 0;
    for (let i = axis; i < y.length; i += k) mean += num(y, i) / count;
    for (let i = axis; i < y.length; i += k) y[i] = num(y, i) - mean;
  }
}

/** Places and KL(P ‖ Q), in nats. @param {number} step @param {Float64Array} p @param {Float64Array} y @param {number} k @returns {Frame} */
function frame(step, p, y, k) {
  const count = y.length / k;
  let [total, cost] = [0, 0];
  for (let i = 0, at = 0; i < count; i++) {
    for (let j = i + 1; j < count; j++, at++) {
      let away = 1;
      for (let axis = 0; axis < k; axis++) away += (num(y, i * k + axis) - num(y, j * k + axis)) ** 2;
      total += 2 / away;
      const chance = num(p, at);
      if (chance > 0) cost += 2 * chance * (Math.log(chance) + Math.log(away));
    }
  }
  return { step, places: Float32Array.from(y), kl: Math.max(0, cost + Math.log(total || 1)) };
}
