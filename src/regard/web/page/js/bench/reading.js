/** Views from a file of any program; what does not fit is said with its place and the way out. */

import { count, unpack } from "../views/view.js";
import { Held } from "./look.js";

/** @typedef {import("../views/view.js").Axis} Axis */
/** @typedef {"self" | "causal" | "cross"} Kind */
/** One head. @typedef {{name: string, kind: Kind, layer: number, head: number, rows: Axis, columns: Axis, values: Float32Array, model: string, caption: string}} One */
/** @typedef {{title: string, views: One[]}} Opened */

export const FORMAT = "regard-views-1";

/** A file of views; what does not fit is named with its place. @param {string} text @returns {Opened} */
export function read(text) {
  /** @type {any} */
  let found;
  try {
    found = JSON.parse(text);
  } catch (error) {
    throw new Error(`This is no JSON (${error instanceof Error ? error.message : error}); drop a regard-views file.`);
  }
  if (typeof found !== "object" || found === null || Array.isArray(found))
    throw new Error(
      `The file holds ${Array.isArray(found) ? "a list" : typeof found}, not an object with format, title and views.`,
    );
  if (found.format !== FORMAT)
    throw new Error(
      `The format is ${JSON.stringify(found.format ?? null)}, but this page reads "${FORMAT}"; write "format": "${FORMAT}" at the top.`,
    );
  if (!Array.isArray(found.views) || !found.views.length)
    throw new Error("The file has no views; give a list of at least one under “views”.");
  return {
    title: String(found.title ?? ""),
    views: found.views.flatMap((/** @type {any} */ view, /** @type {number} */ i) => opened(view, `views[${i}]`)),
  };
}

/** @param {any} view @param {string} place @returns {One[]} */
function opened(view, place) {
  if (typeof view !== "object" || view === null)
    throw new Error(`${place} is ${JSON.stringify(view)}, not an object; give it name, rows, columns and weights.`);
  if (typeof view.name !== "string") throw new Error(`${place} has no name; give it one such as "encoder.layer.3".`);
  const kind = view.kind ?? "self";
  if (!["self", "causal", "cross"].includes(kind))
    throw new Error(`${place}.kind is ${JSON.stringify(kind)}; choose self, causal or cross.`);
  const [rows, columns] = [axis(view.rows, `${place}.rows`), axis(view.columns, `${place}.columns`)];
  const [n, m] = [count(rows), count(columns)];
  const { shape, values } = numbers(view.weights, `${place}.weights`);
  const [r, c] = shape.slice(-2);
  if (r !== n || c !== m)
    throw new Error(
      `${place}.weights are ${shape.join(" × ")}, but there are ${n} rows and ${m} columns; make them agree.`,
    );
  const bad = values.findIndex((value) => !Number.isFinite(value) || value < 0);
  if (bad >= 0)
    throw new Error(
      `${place}.weights hold ${values[bad]} at row ${Math.floor((bad % (n * m)) / m)}, column ${bad % m}; weights are 0 or more.`,
    );
  const heads = shape.length === 3 ? (shape[0] ?? 1) : 1;
  return Array.from({ length: heads }, (_, head) => {
    const part = values.subarray(head * n * m, (head + 1) * n * m);
    return {
      name: view.name,
      kind,
      layer: Number.isInteger(view.layer) ? view.layer : Number(view.name.match(/\d+/)?.[0] ?? 0),
      head: shape.length === 3 ? head : Number(view.head) || 0,
      rows,
      columns,
      values: part,
      model: String(view.model ?? ""),
      caption: String(view.caption ?? ""),
    };
  });
}

/** @param {any} found @param {string} place @returns {Axis} */
function axis(found, place) {
  if (typeof found !== "object" || found === null)
    throw new Error(`${place} is missing; give an axis such as {"kind": "words", "labels": ["a", "b"]}.`);
  if (found.kind === "words" && Array.isArray(found.labels) && found.labels.length) {
    const labels = found.labels.map(String);
    if (
      found.words &&
      !found.words.every(
        (/** @type {any} */ span) =>
          Array.isArray(span) && span.length === 2 && 0 <= span[0] && span[0] <= span[1] && span[1] < labels.length,
      )
    ) {
      throw new Error(
        `${place}.words has a word outside of its ${labels.length} pieces; give first and last piece of each.`,
      );
    }
    return { kind: "words", labels, ...marks(found, labels.length, place) };
  }
  if (found.kind === "grid" && found.height > 0 && found.width > 0) {
    if (
      found.leading &&
      !(Array.isArray(found.leading) && found.leading.every((/** @type {any} */ each) => typeof each === "string"))
    )
      throw new Error(
        `${place}.leading is ${JSON.stringify(found.leading)}; give the names of the tokens before the first place, such as ["[CLS]"].`,
      );
    if (found.image && !/^data:image\//.test(found.image))
      throw new Error(
        `${place}.image is ${JSON.stringify(String(found.image).slice(0, 60))}; a file must carry its picture itself, as data:image/png;base64,…`,
      );
    return found;
  }
  if (found.kind === "latents" && found.count > 0) return found;
  if (found.kind === "boxes" && Array.isArray(found.boxes)) {
    const odd = found.boxes.findIndex(
      (/** @type {any} */ box) => !Array.isArray(box) || box.length !== 4 || !box.every(Number.isFinite),
    );
    if (odd >= 0)
      throw new Error(
        `${place}.boxes[${odd}] is ${JSON.stringify(found.boxes[odd])}; give left, top, width and height as shares of the picture.`,
      );
    const many = found.boxes.length;
    const cloud = (/** @type {any} */ point) =>
      Array.isArray(point) && point.length === 3 && point.every(Number.isFinite);
    if (found.points && !(Array.isArray(found.points) && found.points.length === many && found.points.every(cloud)))
      throw new Error(`${place}.points are not x, y and z for each of ${many} boxes; give three numbers for each.`);
    return found;
  }
  throw new Error(
    `${place} is no axis: its kind is ${JSON.stringify(found.kind ?? null)}; choose words with labels, grid with height and width, latents with count, or boxes.`,
  );
}

/** What is said of each piece, where it is said of all of them. @param {any} found @param {number} many @param {string} place */
function marks(found, many, place) {
  for (const name of ["special", "segments"])
    if (found[name] && !(Array.isArray(found[name]) && found[name].length === many))
      throw new Error(`${place}.${name} must have one entry for each of the ${many} labels.`);
  const { words, special, segments } = found;
  const names = Array.isArray(found.names) && found.names.length === words?.length ? found.names.map(String) : null;
  return {
    ...(words ? { words } : {}),
    ...(names ? { names } : {}),
    ...(special ? { special: special.map(Boolean) } : {}),
    ...(segments ? { segments: segments.map(Number) } : {}),
  };
}

const GROUPS = { self: "Self-attention", causal: "Causal attention", cross: "Cross-attention" };

/** The same as an answer whose weights are here: heads of one name and of the same axes are one attention. @param {Opened} opened @returns {Held} */
export function held({ title, views }) {
  /** @type {Map<string, string>} */
  const ids = new Map();
  /** @type {Record<string, Axis>} */
  const axes = {};
  const named = (/** @type {Axis} */ axis) => {
    const key = JSON.stringify(axis);
    const id = ids.get(key) ?? `axis ${ids.size}`;
    ids.set(key, id);
    axes[id] ??= axis;
    return id;
  };
  const all = views.map((view) => ({ ...view, along: named(view.rows), across: named(view.columns) }));
  /** @type {Map<string, typeof all>} */
  const groups = new Map();
  for (const each of all) {
    const key = `${each.name} ${each.along} ${each.across}`;
    groups.set(key, [...(groups.get(key) ?? []), each]);
  }
  /** @type {Map<string, Float32Array[]>} */
  const values = new Map();
  const attentions = [...groups.values()].map((some) => {
    const heads = some.sort((a, b) => a.head - b.head);
    const { kind, layer, along, across, name: own } = /** @type {typeof all[number]} */ (heads[0]);
    const name = free(own, values);
    values.set(
      name,
      heads.map((head) => head.values),
    );
    return { name, kind, layer, heads: heads.length, rows: along, columns: across, group: GROUPS[kind] };
  });
  const [first] = views;
  const caption = first?.caption || [title, first?.model].filter(Boolean).join(", ");
  const facts = { id: "", model: first?.model ?? "", task: "file", seconds: 0, output: null, warnings: [], caption };
  return new Held({ ...facts, axes, attentions }, values);
}

/** A name that is not taken; commas, colons and semicolons separate heads in a link. @param {string} own @param {Map<string, unknown>} taken */
function free(own, taken) {
  const plain = own.replace(/[,:;]/g, " ");
  let name = plain;
  for (let again = 2; taken.has(name); again++) name = `${plain} (${again})`;
  return name;
}

/** @param {any} found @param {string} place @returns {{shape: number[], values: Float32Array}} */
function numbers(found, place) {
  if (Array.isArray(found)) {
    /** @type {number[]} */
    const shape = [];
    for (let level = found; Array.isArray(level); level = level[0]) shape.push(level.length);
    const flat = found.flat(2);
    if (shape.length < 2 || shape.length > 3)
      throw new Error(`${place} is a list of depth ${shape.length}; give rows of numbers, or heads of rows.`);
    if (flat.length !== shape.reduce((a, b) => a * b, 1))
      throw new Error(`${place} has rows of different lengths; each needs ${shape.at(-1)} numbers.`);
    const odd = flat.find((value) => typeof value !== "number");
    if (odd !== undefined) throw new Error(`${place} holds ${JSON.stringify(odd)}, which is no number.`);
    return { shape, values: Float32Array.from(flat) };
  }
  if (found?.href)
    throw new Error(`${place} points to ${JSON.stringify(found.href)}; a file must carry its weights itself.`);
  if (!found || !Array.isArray(found.shape) || typeof found.data !== "string")
    throw new Error(`${place} is missing; give rows of numbers, or shape, encoding and base64 data.`);
  if (!["u8", "f16", "f32"].includes(found.encoding))
    throw new Error(`${place}.encoding is ${JSON.stringify(found.encoding ?? null)}; choose u8, f16 or f32.`);
  const wanted =
    found.shape.reduce((/** @type {number} */ a, /** @type {number} */ b) => a * b, 1) *
    { u8: 1, f16: 2, f32: 4 }[/** @type {"u8"} */ (found.encoding)];
  /** @type {Uint8Array} */
  let bytes;
  try {
    bytes = Uint8Array.from(atob(found.data), (letter) => letter.charCodeAt(0));
  } catch {
    throw new Error(`${place}.data is no base64.`);
  }
  if (bytes.length !== wanted)
    throw new Error(
      `${place}.data has ${bytes.length} bytes, but ${found.shape.join(" × ")} numbers in ${found.encoding} take ${wanted}.`,
    );
  return { shape: found.shape, values: unpack(/** @type {ArrayBuffer} */ (bytes.buffer), found.encoding) };
}
