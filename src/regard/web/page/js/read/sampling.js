/** What temperature, top-k and top-p make of the next token. The server tells the likeliest 50, and how many others have which log probability. */

/** @typedef {{piece: string, text: string, log: number, ends: boolean}} Candidate */
/** @typedef {{top: Candidate[], rest: [log: number, count: number][]}} Last */
/** @typedef {{temperature: number, topP: number, topK: number, seed: number}} Dials */
/** `probability` after the temperature, `share` of what is left to draw from; 0 where it is cut off. @typedef {Candidate & {probability: number, share: number}} Drawn */

export const MOST = 50;
/** @type {Dials} */
export const PLAIN = { temperature: 1, topP: 1, topK: MOST, seed: 1 };

/** @param {import("../state.js").Flat} flat @returns {Dials} */
export function readDials(flat) {
  const number = (/** @type {string} */ key, /** @type {number} */ otherwise, low = 0, high = Infinity) => {
    const value = Number(flat[key]);
    return flat[key] === undefined || flat[key] === "" || !Number.isFinite(value)
      ? otherwise
      : Math.min(high, Math.max(low, value));
  };
  return {
    temperature: number("temp", PLAIN.temperature, 0, 2),
    topP: number("topp", PLAIN.topP, 0.01, 1),
    topK: Math.round(number("topk", PLAIN.topK, 1, MOST)),
    seed: Math.round(number("seed", PLAIN.seed, 0, 2 ** 31 - 1)),
  };
}

/** The same order as the server: temperature, then top-k, then top-p of what is left. @param {Last} last @param {Dials} dials @returns {Drawn[]} */
export function reshaped({ top, rest }, { temperature, topP, topK }) {
  const greedy = temperature < 0.01;
  const scaled = (/** @type {number} */ log) => (greedy ? (log === top[0]?.log ? 1 : 0) : Math.exp((log - (top[0]?.log ?? 0)) / temperature)); // prettier-ignore
  const weights = top.map(({ log }) => scaled(log));
  const total =
    weights.reduce((a, b) => a + b, 0) +
    (greedy ? 0 : rest.reduce((sum, [log, count]) => sum + count * scaled(log), 0));
  const kept = weights.slice(0, topK);
  const mass = kept.reduce((a, b) => a + b, 0);
  let [before, sum] = [0, 0];
  const inside = weights.map((weight, i) => {
    const on = i < topK && before < topP * mass && weight > 0;
    if (i < topK) before += weight;
    if (on) sum += weight;
    return on;
  });
  return top.map((each, i) => ({
    ...each,
    probability: (weights[i] ?? 0) / (total || 1),
    share: inside[i] ? (weights[i] ?? 0) / (sum || 1) : 0,
  }));
}

/** One of those that are left, by a number from 0 to 1. @param {Drawn[]} some @param {number} dice @returns {Drawn | undefined} */
export function drawn(some, dice) {
  let left = dice;
  for (const each of some) {
    left -= each.share;
    if (each.share > 0 && left <= 0) return each;
  }
  return some.findLast(({ share }) => share > 0);
}

/** How surprised the model was by the tokens that came. @param {(number | null)[]} chances */
export function perplexity(chances) {
  const known = chances.filter((each) => each !== null);
  if (!known.length) return null;
  return Math.exp(known.reduce((sum, each) => sum - Math.log(Math.max(each, 1e-9)), 0) / known.length);
}
