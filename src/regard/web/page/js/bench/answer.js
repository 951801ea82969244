/** The server's answer to any question, and how to speak of it: attentions, heads, words and pieces. */

/** @typedef {import("../views/view.js").Axis} Axis */
/** @typedef {import("../views/view.js").Words} Words */
/** @typedef {{name: string, kind: "self" | "causal" | "cross", layer: number, heads: number, rows: string, columns: string, group?: string}} Attention */
/** @typedef {{kind: string, text: string, words?: string[]}} Warning */
/**
 * What the server answers; a file of one's own says the same. `output` is of the task's kind.
 * @typedef {object} Answer
 * @property {string} id
 * @property {string} model
 * @property {string} task
 * @property {number} seconds
 * @property {Record<string, Axis>} axes
 * @property {Attention[]} attentions
 * @property {any} output
 * @property {Warning[]} warnings
 * @property {string} caption
 */
/** What was done to a head, or to all of an attention. @typedef {{name: string, head: number | null, kind: "off" | "uniform"}} Edit */
/** @typedef {Record<string, any>} Model as its card says */

export const KINDS = { self: "Encoder", causal: "Decoder", cross: "Cross" };
const SAYS = {
  cross: "Cross: output looks at input",
  causal: "Decoder: output looks back at itself",
  self: "Encoder: input looks at itself",
};

/** What stands over attentions that belong together. @param {Attention} attention @param {Attention[]} all */
export function groupTitle(attention, all) {
  if (attention.group) return attention.group;
  const alone = all.every((each) => each.kind === attention.kind);
  if (alone && attention.kind === "causal") return "Causal: every token looks back";
  if (alone && attention.kind === "self") return "Self-attention: the input looks at itself";
  return SAYS[attention.kind];
}

/** @param {Attention[]} attentions */
export function grouped(attentions) {
  /** @type {Map<string, Attention[]>} */
  const groups = new Map();
  const order = { cross: 0, causal: 1, self: 2 };
  for (const each of [...attentions].sort((a, b) => order[a.kind] - order[b.kind])) {
    const title = groupTitle(each, attentions);
    groups.set(title, [...(groups.get(title) ?? []), each]);
  }
  return [...groups].map(([title, lines]) => ({ title, lines }));
}

/** What the attentions of a group are called: layers have numbers; where two share one, what else their names say tells them apart.
 * @param {{name: string, layer: number}[]} lines @returns {{short: string, title: string, plain: boolean}[]} `plain`: it needs no name of its own */
export function layerNames(lines) {
  const numbered = (/** @type {string} */ name) => /\d/.test(name);
  return lines.map(({ name, layer }) => {
    const number = String(layer + 1);
    const others = lines.filter((each) => each.layer === layer && each.name !== name).map((each) => each.name);
    const [, what, which] = name.match(/ of (\w+) (\d+)$/) ?? [];
    if (others.length && which)
      return { short: `${number}.${which}`, title: `Layer ${number}, ${what} ${which}`, plain: true };
    // Beside layers with numbers, one without goes by its name, as the last look of a SAM.
    if (others.length && !numbered(name) && others.every(numbered)) return { short: name, title: name, plain: true };
    if (numbered(name) ? others.some(numbered) : others.length > 0) return { short: number, title: name, plain: false };
    return { short: number, title: `Layer ${number}`, plain: true };
  });
}

/** What each word of an axis says. @param {Axis | undefined} axis @returns {string[]} */
export function spoken(axis) {
  if (axis?.kind !== "words") return [];
  const { words, names, labels } = axis;
  if (!words) return labels.map((label) => label.trim());
  return words.map(([a, b], i) => (names?.[i] ?? labels.slice(a, b + 1).join("")).trim());
}

/** The word that a piece is part of. @param {Axis | undefined} axis @param {number | undefined} piece */
export function wordAt(axis, piece) {
  if (piece === undefined || axis?.kind !== "words" || !axis.words) return piece;
  const found = axis.words.findIndex(([first, last]) => first <= piece && piece <= last);
  return found < 0 ? undefined : found;
}

/** A word as the views count: in words or in pieces. @param {"words" | "pieces"} merge @param {Axis | undefined} axis @param {number} word */
export function unit(merge, axis, word) {
  return merge === "words" || axis?.kind !== "words" ? word : (axis.words?.[word]?.[0] ?? word);
}

/** Start, stop and tags are no words. @param {string} label */
export const isSpecial = (label) => /^[⟨<[].*[⟩>\]]$/.test(label);
/** @param {string} label */
export const isPunctuation = (label) => /^[\p{P}\p{S}]+$/u.test(label) && !isSpecial(label);
/** No space before it. @param {string} label */
export const tight = (label) => /^[.,;:!?)»”…]+$/.test(label);
/** @param {number | undefined} share */
export const percent = (share) => `${Math.round(100 * (share ?? 0))} %`;
/** @param {string} text */
export const clip = (text) => (text.length > 120 ? `${text.slice(0, 119)}…` : text);
/** @param {Model | undefined} model */
export const titled = (model) => String(model?.["title"] ?? model?.["name"] ?? "");
/** @param {number} seconds */
export const spent = (seconds) => (seconds < 0.95 ? `${Math.round(seconds * 1000)} ms` : `${seconds.toFixed(1)} s`);

/** @param {{attentions: Attention[]}} now @param {string} name */
export function short(now, name) {
  const found = now.attentions.find((each) => each.name === name);
  const several = new Set(now.attentions.map((each) => each.kind)).size > 1;
  return found ? `${several ? `${KINDS[found.kind].toLowerCase()} ` : ""}layer ${found.layer + 1}` : name;
}
