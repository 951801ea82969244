/** What the link of Match says: pictures, texts, templates, the pair that is looked into, or a text to find pictures by. */

import { terminal } from "../terminal.js";

/** @typedef {import("../bench/address.js").State} State */
/** @typedef {import("../bench/answer.js").Model} Model */

export const [PICTURES, TEXTS, LONG, TEMPLATES] = [12, 12, 300, 8];
/** How numbers are told. @type {[string, string][]} */
export const NUMBERS = [
  ["", "which text?"],
  ["text", "which picture?"],
  ["cosine", "cosines"],
];
const WORLD = {
  pictures: ["world:1", "world:26", "world:27", "world:29", "world:32"],
  texts: ["orange ring", "purple cross", "yellow ring", "red star", "green triangle"],
  template: "There is {a}.",
};
const PHOTOS = {
  pictures: ["photo:cat", "photo:astronaut", "photo:coffee", "photo:rocket"],
  texts: ["cat", "astronaut", "cup of coffee", "rocket at night"],
  template: "a photo of {a}.",
};

/** @param {Pick<State, "input" | "flat">} state */
export function read({ input, flat }) {
  const lines = (/** @type {string} */ key) =>
    String(flat[key] ?? "").split("\n").map((each) => each.trim()).filter(Boolean); // prettier-ignore
  const [picture = 0, text = 0] = String(flat["pair"] ?? "").split(".").map(Number); // prettier-ignore
  return {
    pictures: input.replace(/^p:/, "").split(",").filter(Boolean),
    texts: lines("says"),
    templates: lines("tpl"),
    find: String(flat["find"] ?? "").trim(),
    among: flat["among"] === "folder" ? "folder" : "",
    pair: { picture: picture || 0, text: text || 0 },
    numbers: NUMBERS.find(([id]) => id === String(flat["num"] ?? ""))?.[0] ?? "",
  };
}

/** What a model is shown first: what it knows. @param {Model} model */
export function opening({ data }) {
  const { pictures, texts, template } = data === "world" ? WORLD : PHOTOS;
  return { in: written(pictures), says: texts.join("\n"), tpl: template, ...FRESH };
}

/** What belongs to one table alone. */
export const FRESH = { pair: "", at: "", find: "" };
/** @param {string[]} pictures */
export const written = (pictures) => `p:${[...new Set(pictures)].slice(0, PICTURES).join(",")}`;

/** The question, or why there is none. @param {Model} model @param {State} state */
export function ask(model, state) {
  const { pictures, texts, templates, find, among, pair } = read(state);
  const long = [...texts, ...templates, find].find((each) => each.length > LONG);
  if (long) throw new Error(`“${long.slice(0, 40)}…” has ${long.length} characters, and at most ${LONG} are read: shorten it.`); // prettier-ignore
  if (find && among) return { model: model["name"], input: { match: { find, among } } };
  if (find) return { model: model["name"], input: { match: { pictures, texts: [], find } } };
  if (texts.length > TEXTS) throw new Error(`There are ${texts.length} texts, and at most ${TEXTS} are compared: leave some out.`); // prettier-ignore
  if (templates.length > TEMPLATES) throw new Error(`There are ${templates.length} templates; at most ${TEMPLATES} are read.`); // prettier-ignore
  const blank = templates.find((each) => !/\{a?\}/.test(each));
  if (blank) throw new Error(`The template “${blank}” has no place for a class: write {} or {a} where it belongs.`);
  if (!pictures.length || !texts.length) return null;
  const options = { pair: [pair.picture, pair.text], ...(templates.length ? { templates } : {}) };
  return { model: model["name"], input: { match: { pictures, texts } }, options };
}

/** The same on the command line and in Python. @param {Model} model @param {State} state */
export function code(model, state) {
  const { pictures, texts, templates, find, pair } = read(state);
  const name = String(model["name"]);
  const plain = (/** @type {string} */ picture) => (/^world:\d+$/.test(picture) ? picture : "photo.jpg");
  const quoted = texts.map((each) => JSON.stringify(each));
  const some = JSON.stringify(pictures.map(plain));
  const python = `import regard\n\nmatch = regard.load(${JSON.stringify(name)})\n`;
  if (find)
    return {
      command: terminal("search", ["FOLDER", find], { model: name }),
      python: `${python}match.images(${some}) @ match.texts([${JSON.stringify(find)}])[0]`,
    };
  const one = plain(pictures[pair.picture] ?? "");
  const classes = templates.length ? { classes: [], templates } : {};
  const asked = templates.length
    ? `match.classify(${some}, [${quoted.join(", ")}], templates=${JSON.stringify(templates)})`
    : `match.images(${some}) @ match.texts([${quoted.join(", ")}]).T`;
  return {
    python: python + asked,
    command: terminal("match", [one, ...texts], { ...classes, model: name }),
  };
}
