/** What the link of Translate says: models, sentence, view, head, word and edits, in full whatever it leaves out. */

/** @typedef {import("../state.js").Flat} Flat */
/** @typedef {import("./answer.js").Edit} Edit */
/** A sentence of the little world. @typedef {{source: string, target: string, index: number}} Pair */
/** @typedef {ReturnType<typeof read>} Wishes */

export const MOST = 3; // models side by side
export const VIEWS = [
  { id: "lines", title: "Lines", key: "l" },
  { id: "matrix", title: "Matrix", key: "x" },
  { id: "neuron", title: "Neurons", key: "n" },
  { id: "beam", title: "Beam", key: "b" },
];
/** @type {Record<string, string>} */
const FIRST = {
  de: "Zwei Kinder spielen mit einem roten Ball im Garten.",
  en: "Two children are playing with a red ball in the garden.",
  it: "Due bambini giocano con una palla rossa in giardino.",
  cs: "Dvě děti si hrají na zahradě s červeným míčem.",
};

/** The state in full, whatever the link left out. @param {Flat} flat @param {Record<string, any>[]} models the one to begin with first */
export function read(flat, models) {
  const text = (/** @type {string} */ key) => String(flat[key] ?? "");
  const wanted = text("model")
    .split(",")
    .map((name) => models.find((each) => each["name"] === name))
    .filter((each) => each !== undefined);
  const chosen = wanted.length ? wanted.slice(0, MOST) : [models[0] ?? {}];
  const asked = text("pair") || ("text" in flat ? "" : opening(chosen[0] ?? {}));
  const [source, target, index] = asked.split("-");
  /** @type {Pair | null} */
  const pair = source && target ? { source, target, index: Number(index) || 0 } : null;
  const view = text("view");
  return {
    models: chosen,
    text: pair ? "" : "text" in flat ? text("text") : (FIRST[known(chosen[0]?.["source"], "en")] ?? FIRST["en"] ?? ""),
    to: text("to") || null,
    beam: Number(text("beam")) || 5,
    view: VIEWS.some(({ id }) => id === view) ? view : "lines",
    looks: text("look").split(","),
    word: text("word") === "" ? null : Number(text("word")),
    merge: text("merge") === "pieces" ? /** @type {const} */ ("pieces") : /** @type {const} */ ("words"),
    pair,
    force: text("force") === "1",
    edits: edits(text("edits"), chosen.length),
  };
}

/** What a model that only knows the little world is shown first. @param {Record<string, any>} model */
function opening(model) {
  if (model["data"] !== "world") return "";
  return `${model["multilingual"] ? "it" : known(model["source"], "it")}-${model["multilingual"] ? "en" : known(model["target"], "en")}-7`;
}

/** The edits of each panel: `0@decoder.blocks.1.cross:2:off`. @param {string} text @param {number} panels */
function edits(text, panels) {
  const found = Array.from({ length: panels }, () => /** @type {Edit[]} */ ([]));
  for (const each of text.split(",")) {
    const [, panel = "0", name = "", head = "0", kind = ""] = each.match(/^(\d)@(.+):(\d+):(off|uniform)$/) ?? [];
    if (name) found[Number(panel)]?.push({ name, head: Number(head), kind });
  }
  return found;
}

/** The same as the link has them. @param {(Edit[] | undefined)[]} edits of each panel */
export const writtenEdits = (edits) =>
  edits.flatMap((some, k) => (some ?? []).map(({ name, head, kind }) => `${k}@${name}:${head}:${kind}`)).join(",");
/** @param {Pair | null} pair */
export const writtenPair = (pair) => (pair ? `${pair.source}-${pair.target}-${pair.index}` : "");
/** @param {unknown} code @param {string} otherwise */
export const known = (code, otherwise) => (typeof code === "string" && code in FIRST ? code : otherwise);
