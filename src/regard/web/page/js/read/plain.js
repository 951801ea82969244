/** Answers that are drawn simply: labels, tags under words, a span that is marked, vectors, numbers, a parse. */

import { h } from "../dom.js";
import { signed } from "../color.js";
import { output as written } from "../rooms/output.js";
import { refill } from "../rooms/refill.js";
import { textOf } from "./asking.js";
import { bars, compared, moved, percent } from "./bars.js";

/** @typedef {import("../bench/scene.js").Scene} Scene */
/** @typedef {import("../bench/bench.js").AnswerHands} Hands */
/** @typedef {{text: string, start: number, end: number, tag: string, score: number}} Tagged */

/** @param {HTMLElement} host @param {Hands} hands */
export function plain(host, hands) {
  const root = h("div", { class: "plain-answer" });
  host.append(root);
  /** @type {ReturnType<typeof written> | null} */
  let sentence = null;
  /** @type {Scene | null} */
  let shown = null;
  return {
    /** @param {Scene} scene */
    show(scene) {
      shown = scene;
      const { kind } = scene.result.output;
      if (kind === "written") return (sentence ??= written(root, hands)).show(scene);
      refill(root, ...(kind === "labels" ? labels(scene) : kind === "vectors" ? vectors(scene) : value(scene)));
    },
    /** @param {import("../views/view.js").Mark | null} mark */
    mark: (mark) => sentence?.mark(mark),
    table: () => numbers(shown),
  };
}

/** @param {Scene} scene */
function labels({ result, plain: before }) {
  const all = compared(result.output.labels, before?.output.labels, 12);
  return [h("h3", null, "Labels"), bars(all, "Labels")];
}

/** @param {Scene} scene */
function value(scene) {
  const { value: found } = scene.result.output;
  if (Array.isArray(found?.words)) return tags(found.words);
  if (typeof found?.start === "number") return span(scene);
  const said = typeof found === "object" ? JSON.stringify(found) : String(found);
  const before = scene.plain?.output.value;
  const changed = scene.plain && JSON.stringify(before) !== JSON.stringify(found);
  return [
    h("p", { class: "answer-value" }, scene.result.task === "recall" ? "The value is " : "", h("b", null, said)),
    changed ? h("p", { class: "verdict" }, `without the edits ${JSON.stringify(before)}`) : null,
  ];
}

/** @param {Tagged[]} words */
function tags(words) {
  return [
    h(
      "div",
      { class: "tags", role: "list", "aria-label": "Tags" },
      words.map(({ text, tag, score }) =>
        h(
          "span",
          { class: `tagged${tag === "O" ? " none" : ""}`, role: "listitem", title: `${tag}: ${percent(score)}` },
          h("span", null, text),
          h("small", null, tag),
        ),
      ),
    ),
  ];
}

/** @param {Scene} scene */
function span({ result, plain: before, state }) {
  const { start, end, score, none } = result.output.value;
  const text = textOf(state).split("\t")[1] ?? "";
  const was = before?.output.value;
  return [
    h("p", { class: "answer-span" }, text.slice(0, start), h("mark", null, text.slice(start, end)), text.slice(end)),
    h(
      "p",
      { class: "quiet" },
      `This part: ${percent(score)}. That there is no answer: ${percent(none)}. `,
      was ? moved(score, was.score) : null,
      was && was.text !== result.output.value.text ? ` Without the edits: “${was.text}”.` : null,
    ),
  ];
}

/** @param {Scene} scene */
function vectors({ result, plain: before, state }) {
  const { vectors: all, cosine } = /** @type {{vectors: number[][], cosine: number | null}} */ (result.output);
  const texts = textOf(state).split("\t");
  const most = Math.max(...all.flat().map(Math.abs), 1e-9);
  return [
    cosine === null
      ? h("p", null, "One vector of ", h("b", null, String(all[0]?.length ?? 0)), " numbers. Give a second text to compare.")
      : h("p", null, "Cosine of the two texts ", h("b", null, cosine.toFixed(3)), before && typeof before.output.cosine === "number" ? `, without the edits ${before.output.cosine.toFixed(3)}` : null), // prettier-ignore
    ...all.map((row, i) => h("figure", { class: "vector" }, h("figcaption", { class: "quiet" }, texts[i] ?? ""), strip(row, most))), // prettier-ignore
    cosine === null ? null : h("p", { class: "quiet" }, "The picture below shows the first text."),
  ];
}

/** @param {number[]} row @param {number} most */
function strip(row, most) {
  const canvas = h("canvas", {
    class: "vector-strip",
    width: row.length,
    height: 1,
    role: "img",
    "aria-label": `${row.length} numbers`,
  });
  const pen = canvas.getContext("2d");
  row.forEach((each, i) => {
    if (!pen) return;
    pen.fillStyle = signed(each, most);
    pen.fillRect(i, 0, 1, 1);
  });
  return canvas;
}

/** @param {Scene | null} scene @returns {import("../export.js").Table} */
function numbers(scene) {
  const output = scene?.result.output ?? {};
  if (output.kind === "labels") return { columns: ["label", "probability"], rows: output.labels };
  if (output.kind === "vectors")
    return {
      columns: output.vectors[0].map((/** @type {number} */ _, /** @type {number} */ i) => `x${i}`),
      rows: output.vectors,
    };
  const words = /** @type {Tagged[]} */ (output.value?.words ?? []);
  if (words.length)
    return { columns: ["word", "tag", "score"], rows: words.map(({ text, tag, score }) => [text, tag, score]) };
  return { columns: ["answer"], rows: [[JSON.stringify(output.value ?? "")]] };
}
