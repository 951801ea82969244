/** Above the view: which attention, layer and heads, in colours or as their mean. */

import { h } from "../dom.js";
import { pick } from "../rooms/pick.js";
import { refill } from "../rooms/refill.js";
import { headHue } from "../views/paint.js";
import { grouped, layerNames } from "./answer.js";
import { COLOURS, every, toggled, writtenHeads } from "./selection.js";

/** @typedef {import("./scene.js").Scene} Scene */
/** @typedef {import("./answer.js").Attention} Attention */
/** @typedef {import("./selection.js").Head} Head */
/** @typedef {(patch: import("./panel.js").Patch, undo?: boolean | string) => void} Change */

/** @param {HTMLElement} bar @param {Scene} scene @param {Change} change */
export function controls(bar, scene, change) {
  const { selection } = scene;
  if (!selection) return refill(bar);
  refill(
    bar,
    groups(scene, selection.attention, change),
    layers(scene, selection.attention, change),
    headPick(scene, change),
    chips(scene, change),
    mixing(scene, change),
  );
}

/** Open an attention with as many of the heads as it has. @param {Scene} scene @param {Attention | undefined} to @param {Change} change */
function open(scene, to, change) {
  const { selection, result, state } = scene;
  if (!to || !selection) return;
  const before = selection.heads.filter(({ name }) => name === selection.attention.name);
  const all = before.length === selection.attention.heads;
  const heads = all
    ? every(to)
    : before.filter(({ head }) => head < to.heads).map(({ head }) => ({ name: to.name, head }));
  const next = heads.length ? heads : every(to);
  change({
    look: writtenHeads(next, result, selection.mean || all || state.mean),
    ...(to.rows === selection.attention.rows ? {} : { at: null }),
  });
}

/** @param {Scene} scene @param {Attention} attention @param {Change} change */
function groups(scene, attention, change) {
  const all = grouped(scene.result.attentions);
  if (all.length < 2) return null;
  const short = (/** @type {string} */ title) => title.split(":")[0] ?? title;
  const here = all.find(({ lines }) => lines.includes(attention));
  const go = (/** @type {string} */ title) => {
    const lines = all.find((each) => each.title === title)?.lines;
    open(scene, lines?.find(({ layer }) => layer === attention.layer) ?? lines?.[0], change);
  };
  if (scene.small || all.length > 3)
    return pick("", all.map(({ title }) => [title, short(title)]), here?.title ?? "", go, "Which attention"); // prettier-ignore
  return h(
    "div",
    { class: "segments", role: "group", "aria-label": "Which attention" },
    all.map(({ title }) =>
      h(
        "button",
        { type: "button", "aria-pressed": String(title === here?.title), title, onclick: () => go(title) },
        short(title),
      ),
    ),
  );
}

/** @param {Scene} scene @param {Attention} attention @param {Change} change */
function layers(scene, attention, change) {
  const peers = grouped(scene.result.attentions).find(({ lines }) => lines.includes(attention))?.lines ?? [];
  if (peers.length < 2) return null;
  // Where two share a number, as in a file of any names, their names tell them apart.
  const names = layerNames(peers);
  const plain = names.every((each) => each.plain);
  const choices = peers.map(
    ({ name }, i) =>
      /** @type {[string, string]} */ ([name, plain ? (names[i]?.title.replace(/^Layer /, "") ?? "") : name]),
  );
  return pick(plain ? "layer" : "view", choices, attention.name, (name) => open(scene, peers.find((each) => each.name === name), change)); // prettier-ignore
}

/** @param {Scene} scene @param {Change} change */
function headPick({ selection, result }, change) {
  const attention = selection?.attention;
  if (!selection || !attention || attention.heads < 2) return null;
  const { heads } = selection;
  const whole =
    heads.length === attention.heads && heads.every(({ name }) => name === attention.name) && selection.mean;
  const value = whole ? "mean" : heads.length === 1 ? String(heads[0]?.head) : "several";
  /** @type {[string, string][]} */
  const choices = [
    ["mean", "mean of all"],
    ["all", "all, in colours"],
    ...Array.from({ length: attention.heads }, (_, i) => /** @type {[string, string]} */ ([String(i), String(i + 1)])),
    ...(value === "several" ? [/** @type {[string, string]} */ (["several", `${heads.length} heads`])] : []),
  ];
  return pick("head", choices, value, (to) => {
    if (to === "several") return;
    const some = to === "mean" || to === "all" ? every(attention) : [{ name: attention.name, head: Number(to) }];
    change({ look: writtenHeads(some, result, to === "mean"), mix: "" });
  });
}

/** A square for each head in its colour: a click adds it or takes it away, a double click leaves it alone. @param {Scene} scene @param {Change} change */
function chips({ selection, result, state, small }, change) {
  if (!selection || small || selection.attention.heads < 2) return null;
  const { attention, heads, mean } = selection;
  const several = new Set(heads.map(({ name }) => name)).size > 1;
  const all = several ? heads : every(attention);
  const on = (/** @type {Head} */ one) => heads.some((each) => each.name === one.name && each.head === one.head);
  const put = (/** @type {Head[]} */ next) =>
    change(
      {
        look: writtenHeads(next, result, mean),
        mix: mean && next.length < all.length ? "mean" : state.mean ? "mean" : "",
      },
      "heads",
    );
  return h(
    "span",
    { class: "head-chips", role: "group", "aria-label": "Heads: click adds or takes away, double click leaves one" },
    all.slice(0, 32).map((one) =>
      h(
        "button",
        {
          type: "button",
          class: "head-chip",
          "aria-pressed": String(on(one)),
          "aria-label": `Head ${one.head + 1}`,
          title: `Head ${one.head + 1}: click to add or take away, double click for this one alone`,
          style: { "--hue": mean ? "var(--accent)" : headHue(one.head) },
          onclick: () => put(toggled(heads, [one])),
          ondblclick: () => put([one]),
        },
        one.head + 1,
      ),
    ),
  );
}

/** Several heads as they are, or as one. @param {Scene} scene @param {Change} change */
function mixing({ selection, result }, change) {
  if (!selection || selection.heads.length < 2) return null;
  const many = selection.heads.length > COLOURS;
  const put = (/** @type {boolean} */ mean) => () =>
    change({ look: writtenHeads(selection.heads, result, mean), mix: mean ? "mean" : "" });
  const button = (/** @type {string} */ text, /** @type {boolean} */ mean) =>
    h(
      "button",
      { type: "button", "aria-pressed": String(selection.mean === mean), disabled: many && !mean, onclick: put(mean) },
      text,
    );
  return h(
    "div",
    { class: "segments", role: "group", "aria-label": "Several heads" },
    button("colours", false),
    button("mean", true),
  );
}
