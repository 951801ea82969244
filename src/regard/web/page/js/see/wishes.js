/** What the link of See says, in full whatever it leaves out: models, picture, view, head, place, edits. */

import { wanted } from "../bench/address.js";

/** @typedef {import("../state.js").Flat} Flat */
/** @typedef {Record<string, any>} Model what its card says */
/** @typedef {{name: string, head: number | null, kind: "off" | "uniform"}} Edit */
/** @typedef {ReturnType<typeof read>} Wishes */

export const TASKS = ["recognize", "detect", "features"];
export const MOST = 4; // models side by side
export const VIEWS = [
  { id: "attention", title: "Attention", key: "1" },
  { id: "decides", title: "What decides", key: "2" },
  { id: "features", title: "Features", key: "3" },
  { id: "groups", title: "Groups", key: "4" },
  { id: "compare", title: "Compare", key: "5" },
];
export const WAYS = [
  { id: "gradcam", title: "Grad-CAM", says: "where the features of the last map speak for" },
  { id: "gradients", title: "Gradients", says: "how much each pixel changes the score of" },
  { id: "integrated", title: "Integrated", says: "what each pixel adds, on the way from grey, to" },
  { id: "occlusion", title: "Occlusion", says: "where a covered square costs the probability of" },
];

/** @param {Flat} flat @param {Model[]} models those of this room, the one to begin with first */
export function read(flat, models) {
  const text = (/** @type {string} */ key) => String(flat[key] ?? "");
  const chosen = wanted(flat, models, MOST);
  const view = VIEWS.find(({ id }) => id === text("as"))?.id ?? "attention";
  const how = text("how");
  return {
    models: chosen,
    picture: text("in").replace(/^p:/, "") || opening(chosen[0]),
    view,
    way: WAYS.find(({ id }) => id === how)?.id ?? "gradcam",
    rolled: how === "rollout",
    looks: text("look")
      .split(",")
      .filter(Boolean)
      .map((each) => {
        const [name = "", head = ""] = each.split(/:(?=\d+$)/);
        return { name, head: head === "" ? null : Number(head) };
      }),
    name: "", // of the attention that is looked at; none is all of them
    head: /** @type {number | null} */ (null), // none is all of them
    at: text("at"),
    by: text("by") === "1",
    label: text("label"),
    block: text("block"),
    truth: text("truth") === "1",
    edits: edits(text("edits")),
  };
}

/** The same for one of the models: of what is looked at, that which it has. @param {Wishes} wishes @param {{name: string}[]} attentions @returns {Wishes} */
export function own(wishes, attentions) {
  const found = wishes.looks.find(({ name }) => attentions.some((each) => each.name === name));
  return { ...wishes, name: found?.name ?? "", head: found?.head ?? null };
}

/** What is looked at, once one model looks at something else. @param {Wishes} wishes @param {{name: string}[]} attentions of the model @param {string} name @param {number | null} head */
export function looking(wishes, attentions, name, head) {
  const others = wishes.looks.filter((each) => !attentions.some((one) => one.name === each.name));
  const all = [...(name ? [{ name, head }] : []), ...others];
  return all.map((each) => (each.head === null ? each.name : `${each.name}:${each.head}`)).join(",");
}

/** What a model is shown first: what it knows. @param {Model | undefined} model */
export const opening = (model) => examples(model)[0] ?? (model?.["data"] === "world" ? "world:7" : "photo:cat");
/** Pictures of its card that can be shown here: those of a set that lies elsewhere, as cifar10:0, are for the command line. @param {Model | undefined} model */
export const examples = (model) => /** @type {unknown[]} */ (model?.["examples"] ?? []).map(String).filter(openable);
/** @param {string} picture */
const openable = (picture) => scene(picture) !== null || /^photo:\w+$/.test(picture);

/** @param {string} text `blocks.1.attn:2:off`, or `blocks.1.attn:all:off` */
function edits(text) {
  return text.split(",").flatMap((each) => {
    const [, name = "", head = "", kind = ""] = each.match(/^(.+):(\d+|all):(off|uniform)$/) ?? [];
    return name ? [/** @type {Edit} */ ({ name, head: head === "all" ? null : Number(head), kind })] : [];
  });
}

/** Whether a model, by its number, is shown as it was edited, in words; nothing where nothing is edited. @param {Wishes} wishes @param {number} i */
export function editedSays({ edits: some, models }, i) {
  if (!some.length || (i > 0 && models.length < 2)) return "";
  return i > 0 ? "unedited" : some.length > 1 ? `with ${some.length} edits` : "with an edit";
}
/** @param {Edit[]} some */
export const writtenEdits = (some) => some.map(({ name, head, kind }) => `${name}:${head ?? "all"}:${kind}`).join(",");
/** A place in percent of the picture. @param {number} x @param {number} y from 0 to 1 */
export const place = (x, y) => [x, y].map((each) => String(Math.round(each * 1000) / 10)).join(",");
/** A picture by a word or two. @param {string} picture */
export function called(picture) {
  const [, index, shift] = picture.match(/^world:(\d+)(?:\/(\w+))?$/) ?? [];
  if (picture.startsWith("folder:")) return decodeURIComponent(picture.slice(7)).split("/").at(-1) ?? "";
  return index ? (shift ?? `scene ${index}`) : picture.startsWith("photo:") ? picture.slice(6) : "yours";
}
/** The number of a scene, or null. @param {string} picture */
export const scene = (picture) => (/^world:\d{1,3}$/.test(picture) ? Number(picture.slice(6)) : null);
/** A layer by its place, counted from 1 as in every room; a long name by its parts that matter. @param {string} name */
export const brief = (name) =>
  name
    .replace(/(\.attn)+$/, "")
    .replace(/\b(blocks|stages|layers|layer|branches|attend\.attn)\./g, "")
    .replace(/(?<=^|\.)\d+(?=\.|$)/g, (place) => String(Number(place) + 1));
/** The same in a sentence. @param {string} name */
export const layered = (name) => (/^\d/.test(brief(name)) ? `layer ${brief(name)}` : brief(name));
/** What to be careful with: models that know the world alone, or nothing of it; one sentence for all of a kind. @param {Model[]} models @param {string} picture */
export function cautions(models, picture) {
  const drawn = scene(picture) !== null;
  const names = (/** @type {Model[]} */ some) => some.map((each) => each["name"]).join(", ");
  const confined = drawn ? [] : models.filter((each) => each["data"] === "world");
  const strange = drawn ? models.filter((each) => each["data"] && each["data"] !== "world") : [];
  const sets = [...new Set(strange.map((each) => each["data"]))].join(", ");
  return [
    confined.length > 0 &&
      `This is no picture of the little world, and ${names(confined)} ${confined.length > 1 ? "know" : "knows"} no other.`,
    strange.length > 0 && `${names(strange)} learnt from ${sets} and never saw the little world.`,
  ].flatMap((said) => said || []);
}
