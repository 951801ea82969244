/** The table of pictures and texts, the choice of one picture as bars, or the pictures that a sentence found. */

import { titled } from "../bench/answer.js";
import { h } from "../dom.js";
import { bars, compared } from "../read/bars.js";
import { refill } from "../rooms/refill.js";
import { roving } from "../roving.js";
import { called } from "../see/wishes.js";
import { figure } from "./figure.js";
import { read, written } from "./wishes.js";

/** @typedef {import("../bench/scene.js").Scene} Scene */
/** @typedef {import("../bench/bench.js").AnswerHands} Hands */
/** @typedef {{kind: "match", images: string[], cosines: number[][], chances: number[][], alone: boolean, scale: number, pair: [number, number], read: string}} Output */
/** @typedef {{kind: "found", hits: {picture: string, cosine: number, image: string}[], among: number, broken: number}} Found */

/** Tables that are on stage, one a panel, for export. @type {Set<Table>} */
export const onStage = new Set();

/** @param {HTMLElement} host @param {Hands} hands */
export const answer = (host, hands) => new Table(host, hands);

class Table {
  /** @param {HTMLElement} host @param {Hands} hands */
  constructor(host, hands) {
    this.hands = hands;
    this.root = h("div", { class: "match-answer" });
    host.append(this.root);
    /** @type {Scene | null} */
    this.scene = null;
    this.rove = roving(this.root, () => this.columns);
    this.columns = 1;
    onStage.add(this);
  }

  /** @param {Scene} scene */
  show(scene) {
    this.scene = scene;
    const output = /** @type {Output | Found} */ (scene.result.output);
    const wishes = read(scene.state);
    // Pictures and texts of the question that was answered; the link may be ahead of it.
    if (output.kind === "found") this.found(output, wishes.pictures);
    else if (output.images.length === wishes.pictures.length && output.cosines[0]?.length === wishes.texts.length)
      this.compare(output, wishes);
  }

  /** @param {Output} output @param {ReturnType<typeof read>} wishes */
  compare(output, wishes) {
    const { texts } = wishes;
    this.columns = texts.length + Number(wishes.pictures.length > 1); // with the one that takes a picture away
    const numbers = told(output, wishes.numbers);
    const [picture, text] = output.pair;
    refill(
      this.root,
      h(
        "div",
        { class: "match-scroll", tabindex: -1 },
        h(
          "table",
          { class: "match-table" },
          h("thead", null, h("tr", null, h("td"), texts.map((each, j) => h("th", { scope: "col", class: j === text ? "on" : "" }, each)))),
          h("tbody", null, wishes.pictures.map((name, i) => this.row(output, wishes, numbers, i, name))),
        ),
      ),
      h(
        "div",
        { class: "match-choice" },
        h("h3", null, `${called(wishes.pictures[picture] ?? "")}: `, h("span", { class: "quiet" }, output.alone ? "each text by itself" : `one of ${texts.length} texts`)),
        h("div", { class: "match-bars" }, h("img", { src: output.images[picture] ?? "", alt: "" }), this.bars(output, texts, picture)),
        h("p", { class: "quiet" }, "Below: both towers look at this picture and at “", h("b", null, output.read), "”."),
      ),
    ); // prettier-ignore
    this.rove();
  }

  /** @param {Output} output @param {ReturnType<typeof read>} wishes @param {number[][]} numbers @param {number} i @param {string} name */
  row(output, { pictures, texts, numbers: how }, numbers, i, name) {
    const { set } = this.hands;
    const flat = numbers.flat();
    const [least, most] = how === "cosine" ? [Math.min(...flat), Math.max(...flat)] : [0, 1];
    const best = (/** @type {number} */ j) =>
      how === "text"
        ? numbers.every((row) => (row[j] ?? 0) <= (numbers[i]?.[j] ?? 0))
        : (numbers[i] ?? []).every((each) => each <= (numbers[i]?.[j] ?? 0));
    const away = () =>
      set({ in: written(pictures.filter((_, k) => k !== i)), pair: `${Math.max(0, output.pair[0] - Number(i <= output.pair[0]))}.${output.pair[1]}` }); // prettier-ignore
    return h(
      "tr",
      { class: i === output.pair[0] ? "on" : "" },
      h(
        "th",
        { scope: "row" },
        h("img", { src: output.images[i] ?? "", alt: "" }),
        h("span", null, called(name)),
        pictures.length > 1 && h("button", { type: "button", class: "icon small", "aria-label": `Take ${called(name)} away`, onclick: away }, "×"),
      ),
      texts.map((text, j) => {
        const value = numbers[i]?.[j] ?? 0;
        return h("td", null, h("button", {
          type: "button",
          class: best(j) ? "best" : "",
          style: { "--share": ((value - least) / Math.max(1e-9, most - least)).toFixed(3) },
          "aria-label": `${called(name)}, ${text}: ${value.toFixed(2)}`,
          "aria-pressed": String(i === output.pair[0] && j === output.pair[1]),
          onclick: () => set({ pair: `${i}.${j}`, at: "" }),
        }, value.toFixed(2)));
      }),
    ); // prettier-ignore
  }

  /** The choice of one picture, and what an edit changed of it. @param {Output} output @param {string[]} texts @param {number} picture */
  bars(output, texts, picture) {
    const named = (/** @type {Output | undefined} */ from) =>
      from?.chances?.[picture]?.map((chance, j) => /** @type {[string, number]} */ ([texts[j] ?? "", chance]));
    const now = named(output) ?? [];
    const before = this.scene?.plain ? named(this.scene.plain.output) : undefined;
    return bars(compared(now.toSorted((a, b) => b[1] - a[1]), before, texts.length), "Probability of each text"); // prettier-ignore
  }

  /** @param {Found} output @param {string[]} pictures */
  found({ hits, among, broken }, pictures) {
    const { set } = this.hands;
    this.columns = 1;
    const left = broken ? ` ${broken} more cannot be read.` : "";
    refill(
      this.root,
      h("p", { class: "quiet" }, `The nearest of ${among} pictures; take one into the table.${left}`),
      h(
        "ol",
        { class: "match-hits" },
        hits.map(({ picture, cosine, image }) =>
          h("li", null, h("button", {
            type: "button",
            "aria-label": `${called(picture)}, cosine ${cosine.toFixed(2)}: take it into the table`,
            onclick: () => set({ in: written([...pictures, picture]), find: "" }),
          }, h("img", { src: image, alt: "" }), h("span", null, called(picture)), h("output", null, cosine.toFixed(2)))),
        ),
      ),
    ); // prettier-ignore
    this.rove();
  }

  /** What can be taken away. @returns {import("../export.js").Figure[]} */
  figures() {
    const { scene } = this;
    const output = /** @type {Output | Found | undefined} */ (scene?.result.output);
    if (!scene || !output) return [];
    const wishes = read(scene.state);
    const title = titled(scene.model);
    if (output.kind === "found") {
      const rows = output.hits.map(({ picture, cosine }) => [picture, cosine]);
      return [{ title: `${title}, found`, table: () => ({ columns: ["picture", "cosine"], rows }), json: () => output }];
    } // prettier-ignore
    const numbers = told(output, wishes.numbers);
    return [
      {
        title: `${title}, pictures × texts`,
        svg: () => figure(output.images, wishes.pictures.map(called), wishes.texts, numbers),
        table: () => ({ columns: ["picture", ...wishes.texts], rows: numbers.map((row, i) => [wishes.pictures[i] ?? "", ...row]) }),
        json: () => ({ pictures: wishes.pictures, texts: wishes.texts, templates: wishes.templates, cosines: output.cosines, chances: output.chances }),
      },
    ]; // prettier-ignore
  }

  destroy() {
    onStage.delete(this);
  }
}

/** The numbers of the table: of texts for each picture, of pictures for each text, or cosines. @param {Output} output @param {string} how @returns {number[][]} */
export function told({ cosines, chances, scale, alone }, how) {
  if (how === "cosine") return cosines;
  if (how !== "text" || alone) return chances;
  const sums = cosines[0]?.map((_, j) => cosines.reduce((sum, row) => sum + Math.exp(scale * ((row[j] ?? 0) - 1)), 0)) ?? []; // prettier-ignore
  return cosines.map((row) => row.map((each, j) => Math.exp(scale * (each - 1)) / (sums[j] ?? 1)));
}
