/** The server's answer to a sentence, and how to speak of it: words, pieces, attentions and heads. */

/** @typedef {{pieces: string[], words: [number, number][], labels?: string[]}} Said */
/** @typedef {{name: string, kind: "self" | "causal" | "cross", layer: number, heads: number, rows: string, columns: string}} Attention */
/** @typedef {{text: string, score: number, log_prob: number}} Output */
/**
 * The server's answer.
 * @typedef {object} Result
 * @property {string} id
 * @property {Record<string, Said>} axes
 * @property {Output[]} outputs
 * @property {{nodes: import("../views/tree.js").Node[]}} beam
 * @property {Attention[]} attentions
 * @property {{text: string, links: [number, number][], matches: boolean, error: Record<string, number[]>} | null} [gold]
 * @property {number} seconds
 */
/** @typedef {{name: string, head: number, kind: string}} Edit */

export const KINDS = { self: "Encoder", causal: "Decoder", cross: "Cross" };

/** The attention that is wished for, or a good one to begin with. @param {Result} now @param {string} look */
export function chosen(now, look) {
  const [name, head] = look.split(":");
  const found = now.attentions.find((each) => each.name === name);
  if (found)
    return {
      attention: found,
      head: head === "mean" || !(Number(head) < found.heads) ? /** @type {const} */ ("mean") : Number(head),
    };
  const best = bestHead(now);
  const attention = best
    ? now.attentions.find((each) => each.name === best.name)
    : now.attentions.filter((each) => each.kind === "cross").at(-1);
  const first = attention ?? now.attentions.at(-1);
  return first ? { attention: first, head: best ? best.head : /** @type {const} */ ("mean") } : null;
}

/** The head that errs least on this sentence. @param {Result} now */
export function bestHead(now) {
  /** @type {{name: string, head: number, error: number} | null} */
  let best = null;
  for (const [name, errors] of Object.entries(now.gold?.error ?? {})) {
    errors.forEach((error, head) => {
      if (!best || error < best.error) best = { name, head, error };
    });
  }
  return /** @type {{name: string, head: number, error: number} | null} */ (best);
}

/** @param {Said} said @param {number} i */
export const spoken = (said, i) =>
  (said.labels?.[i] ?? said.pieces.slice(said.words[i]?.[0] ?? 0, (said.words[i]?.[1] ?? -1) + 1).join("")).trim();
/** The word that a piece is part of. @param {Said | undefined} said @param {number} piece */
export const wordAt = (said, piece) => said?.words.findIndex(([first, last]) => first <= piece && piece <= last) ?? null;
/** @param {Said | undefined} said @param {number | null} piece */
export const wordOf = (said, piece) => (piece === null ? null : wordAt(said, piece));
/** A word of an axis as the views count: in words or in pieces. @param {"words" | "pieces"} merge @param {Said | undefined} said @param {number} i */
export const unit = (merge, said, i) => (merge === "words" ? i : (said?.words[i]?.[0] ?? null));
/** Start, stop and tags are no words. @param {string} label */
export const isSpecial = (label) => /^[⟨<[].*[⟩>\]]$/.test(label);
/** No space before it. @param {string} label */
export const tight = (label) => /^[.,;:!?)»”…]+$/.test(label);
/** @param {number | undefined} share */
export const percent = (share) => `${Math.round(100 * (share ?? 0))} %`;
/** @param {string} text */
export const clip = (text) => (text.length > 120 ? `${text.slice(0, 119)}…` : text);
/** @param {Result} now @param {string} name */
export function short(now, name) {
  const found = now.attentions.find((each) => each.name === name);
  return found ? `${KINDS[found.kind].toLowerCase()} layer ${found.layer + 1}` : name;
}
