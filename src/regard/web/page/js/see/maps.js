/** The numbers that lie over a picture: of heads, of rollout, of what decides, of features, of groups. */

import { bytes, numbers } from "./seen.js";
import { WAYS, brief, layered } from "./wishes.js";

/** @typedef {import("./seen.js").Seen} Seen */
/** @typedef {import("./wishes.js").Wishes} Wishes */
/** Row by row. @typedef {{height: number, width: number, values: Float32Array}} Field */
/** @typedef {{name: string, layer: number, heads: number, axis: Record<string, any>, row: number | null, weights: string | null}} Looked */
/**
 * @typedef {object} Over
 * @property {string} title
 * @property {Field} [field] how much of each place
 * @property {{name: string, share: number}[]} [tokens] and of those that have none
 * @property {number[]} [boxes] and of queries
 * @property {{height: number, width: number, pixels: Uint8Array}} [pixels] in place of the picture
 * @property {{height: number, width: number, groups: number[], says: string}} [groups]
 */

/** Who asks, if the link does not say it, or names somebody whom this model does not know. @param {Seen} seen @param {string} at */
export function asker(seen, at) {
  const { answer, leading } = seen;
  const [, query = ""] = at.match(/^q(\d+)$/) ?? [];
  const boxes = Object.values(answer.axes).find((axis) => axis.kind === "boxes");
  if (at === "all" || /^[\d.]+,[\d.]+$/.test(at) || leading.includes(at)) return at;
  if (query && boxes && Number(query) < boxes.boxes.length) return at;
  const best = [...(answer.output.boxes ?? [])].sort((a, b) => b.score - a.score)[0];
  return best ? `q${best.query}` : (leading[0] ?? "all");
}

/** Who asks, in words. @param {string} at @param {boolean} by */
export function question(at, by) {
  if (at === "all") return by ? "Who looks at places on average" : "Where places look on average";
  const who = at.startsWith("q") ? `query ${at.slice(1)}` : at.startsWith("[") ? at : "this patch";
  return by ? `Who looks at ${who}` : `Where ${who} looks`;
}

/** @param {Seen} seen @param {string} at @param {boolean} by @returns {Promise<Looked[]>} */
export async function looks(seen, at, by) {
  return (await seen.see("looks", { at: at === "all" ? "" : at, by })).attentions;
}

/** One head, the mean of its layer, or of all layers. @param {Looked[]} all @param {string} name @param {number | null} head @returns {Over} */
export function mixed(all, name, head) {
  const known = all.filter((each) => each.weights && (!name || each.name === name));
  const pictured = known.filter((each) => each.axis["kind"] === "grid");
  const title = !name
    ? "mean of all layers"
    : `${layered(name)}, ${head === null ? "mean of its heads" : `head ${head + 1}`}`;
  if (!pictured.length) {
    const [one] = known;
    return one ? { title, boxes: [...averaged(one, head)] } : { title };
  }
  const [height, width] = ["height", "width"].map((side) => Math.max(...pictured.map((each) => each.axis[side])));
  const field = { height: height ?? 1, width: width ?? 1, values: new Float32Array((height ?? 1) * (width ?? 1)) };
  /** @type {Map<string, number>} */
  const tokens = new Map();
  for (const each of pictured) {
    const values = averaged(each, head);
    const leading = /** @type {string[]} */ (each.axis["leading"] ?? []);
    leading.forEach((token, i) => tokens.set(token, (tokens.get(token) ?? 0) + (values[i] ?? 0) / pictured.length));
    spread(
      field,
      { height: each.axis["height"], width: each.axis["width"], values: values.subarray(leading.length) },
      pictured.length,
    );
  }
  return { title, field, tokens: [...tokens].map(([token, share]) => ({ name: token, share })) };
}

/** What one head took, or all of them on average. @param {Looked} one @param {number | null} head */
export function averaged(one, head) {
  const all = numbers(one.weights ?? "");
  const size = all.length / one.heads;
  if (head !== null) return all.subarray(head * size, (head + 1) * size);
  return Float32Array.from({ length: size }, (_, i) => {
    let sum = 0;
    for (let k = 0; k < one.heads; k++) sum += all[k * size + i] ?? 0;
    return sum / one.heads;
  });
}

/** Add a coarse map to a fine one: a cell of it stands for those that it covers. @param {Field} to @param {Field} from @param {number} share */
function spread(to, from, share) {
  const cover = (from.height * from.width) / (to.height * to.width);
  for (let k = 0; k < to.values.length; k++) {
    const row = Math.floor((Math.floor(k / to.width) * from.height) / to.height);
    const column = Math.floor(((k % to.width) * from.width) / to.width);
    to.values[k] = (to.values[k] ?? 0) + ((from.values[row * from.width + column] ?? 0) * cover) / share;
  }
}

/** The number of a place on an axis, or null for all. @param {Record<string, any>} axis @param {string} at */
export function rowOn({ height, width, leading = [] }, at) {
  const [x = NaN, y = NaN] = at.split(",").map((each) => Number(each) / 100);
  if (leading.includes(at)) return leading.indexOf(at);
  if (Number.isNaN(x) || Number.isNaN(y)) return null;
  const within = (/** @type {number} */ share, /** @type {number} */ count) =>
    Math.min(Math.floor(share * count), count - 1);
  return leading.length + within(y, height) * width + within(x, width);
}

/** @param {Seen} seen @param {string} at @returns {Promise<Over>} */
async function rollout(seen, at) {
  const { rows, columns, weights } = await seen.see("rollout");
  const [all, row, wide] = [
    numbers(weights),
    rowOn(rows, at),
    columns.height * columns.width + (columns.leading?.length ?? 0),
  ];
  const values = Float32Array.from({ length: wide }, (_, i) => {
    if (row !== null) return all[row * wide + i] ?? 0;
    let sum = 0;
    for (let k = i; k < all.length; k += wide) sum += all[k] ?? 0;
    return (sum * wide) / all.length;
  });
  const leading = /** @type {string[]} */ (columns.leading ?? []);
  const field = { height: columns.height, width: columns.width, values: values.subarray(leading.length) };
  return { title: "rollout of all layers", field, tokens: leading.map((name, i) => ({ name, share: values[i] ?? 0 })) };
}

/** What lies over the picture of one model. @param {Seen} seen @param {Wishes} wishes @param {string} at who asks @returns {Promise<Over>} */
export async function over(seen, wishes, at) {
  if (wishes.view === "decides") return decides(seen, wishes.way, wishes.label);
  if (wishes.view === "features") {
    const { maps } = await seen.see("pca");
    const one = maps.find((/** @type {any} */ each) => each.name === wishes.block) ?? maps.at(-1);
    return {
      title: `Features behind block ${brief(one.name)}: equal colours are alike`,
      pixels: { ...one, pixels: bytes(one.pixels) },
    };
  }
  if (wishes.view === "groups") {
    const { attentions } = await seen.see("groups");
    const one = attentions.find((/** @type {any} */ each) => each.name === wishes.name) ?? attentions[0];
    return { title: `${brief(one.name)}: ${one.says}`, groups: one };
  }
  if (wishes.rolled) return rollout(seen, at);
  const all = await looks(seen, at, wishes.by);
  return mixed(all, wishes.name, wishes.head);
}

/** @param {Seen} seen @param {string} way @param {string} label @returns {Promise<Over>} */
export async function decides(seen, way, label) {
  const labels = (seen.answer.output.labels ?? []).map(([name]) => name);
  const found = await seen.see(way, labels.includes(label) ? { label } : {});
  const one = WAYS.find(({ id }) => id === way);
  return {
    title: `${one?.title}: ${one?.says} “${found.label}”`,
    field: { height: found.height, width: found.width, values: numbers(found.weights) },
  };
}

/** The same way for a table of ways beside each other. @param {Seen} seen @param {string} way @param {Wishes} wishes @returns {Promise<Over>} */
export async function compared(seen, way, wishes) {
  if (way !== "attention" && way !== "rollout") return decides(seen, way, wishes.label);
  const at = asker(seen, wishes.at);
  return way === "rollout" ? rollout(seen, at) : mixed(await looks(seen, at, false), "", null);
}
