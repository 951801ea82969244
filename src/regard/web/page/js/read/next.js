/** What a GPT answers: how likely each token was, what may come after any of them, and dice to go on with. */

import { wordAt } from "../bench/answer.js";
import { h, replace } from "../dom.js";
import { refill } from "../rooms/refill.js";
import { readWriting, textOf } from "./asking.js";
import { bars, compared, percent, visible } from "./bars.js";
import { drawn, perplexity, readDials, reshaped } from "./sampling.js";
import { sampler } from "./sampler.js";
import { readShots } from "./shots.js";
import { table } from "./shown.js";
import { tokens } from "./tokens.js";

/** @typedef {import("../bench/scene.js").Scene} Scene */
/** @typedef {import("../bench/bench.js").AnswerHands} Hands */
/** @typedef {import("./bars.js").Bar} Bar */

const SHOWN = 10;

/** @param {HTMLElement} host @param {Hands} hands @param {Record<string, number>} limits */
export function next(host, hands, limits) {
  const [line, facts, after, panel] = ["", "others facts-line", "next-after", "sampler"].map((name) => h("div", { class: name })); // prettier-ignore
  host.append(line, facts, h("div", { class: "next" }, after, panel));
  const few = table(host, hands, limits);
  return new Next(hands, { line, facts, after, panel }, few);
}

class Next {
  /** @param {Hands} hands @param {Record<"line" | "facts" | "after" | "panel", HTMLElement>} parts @param {ReturnType<typeof table>} few */
  constructor(hands, parts, few) {
    this.hands = hands;
    this.parts = parts;
    this.few = few;
    /** @type {Scene | null} */
    this.scene = null;
    /** @type {number | null} */
    this.hovered = null;
    this.tokens = tokens(parts.line, { point: (i) => this.point(i), choose: (i) => this.choose(i) });
    this.sampler = sampler(parts.panel, hands.context, {
      moved: () => this.draw(),
      take: () => this.take(),
      write: (count) => this.write(count),
      keep: () => hands.set({ in: `t:${this.text()}`, w: "", at: "", tok: "" }),
      again: () => this.write(readWriting(this.flat()["w"])?.most ?? 20, 1),
      drop: () => hands.set({ w: "", at: "", tok: "" }),
    });
  }

  flat() {
    return this.hands.context.state.get();
  }

  /** The text with what was written behind it. */
  text() {
    const { scene } = this;
    if (!scene) return "";
    return textOf(scene.state) + (readWriting(scene.state.flat["w"]) ? String(scene.result.output.text) : "");
  }

  /** @param {Scene} scene */
  show(scene) {
    this.scene = scene;
    const { output } = scene.result;
    this.tokens.show(output.steps, output.read, this.chosen());
    this.sampler.show(Boolean(readWriting(scene.state.flat["w"])), false);
    this.parts.panel.hidden = scene.small;
    this.summary(scene);
    this.draw();
    this.few.show(scene);
  }

  /** What the model says without the edits, as long as it reads the same. @param {Scene} scene @param {number} [i] after which token */
  before({ result, plain }, i = Infinity) {
    if (!plain) return null;
    return plain.output.text === result.output.text || i < result.output.read ? plain.output : null;
  }

  /** @param {Scene} scene */
  summary(scene) {
    const { result, plain, small } = scene;
    const of = (/** @type {any} */ { steps }) => perplexity(steps.map((/** @type {any} */ { probability }) => probability)); // prettier-ignore
    const same = this.before(scene);
    const [now, before] = [of(result.output), same && of(same)];
    const number = (/** @type {number} */ value) =>
      value < 1000 ? value.toFixed(1) : Number(value.toPrecision(2)).toLocaleString("en");
    refill(
      this.parts.facts,
      h("span", { class: "known-key" }, "surprising", h("i", { "aria-hidden": "true" }), "expected"),
      now !== null && h("span", { class: "note" }, "Perplexity of this text ", h("b", null, number(now))),
      before !== null && h("span", { class: "note" }, "without the edits ", h("b", null, number(before))),
      plain &&
        !same &&
        h("span", { class: "note" }, "Without the edits it wrote “", h("b", null, plain.output.text), "”"),
      !small && h("span", { class: "quiet" }, "Point at a token to see what could have come after it."),
    );
  }

  /** The token that is looked behind. */
  chosen() {
    const { scene } = this;
    if (!scene) return 0;
    const { result, state } = scene;
    const last = result.output.steps.length - 1;
    const { row } = state.at;
    if (row === undefined) return last;
    if (state.merge === "pieces") return Math.min(row, last);
    const axis = result.axes["words"];
    const [first, final] = (axis?.kind === "words" && axis.words?.[row]) || [last, last];
    const wished = Number(state.flat["tok"]);
    return state.flat["tok"] !== undefined && wished >= first && wished <= final ? wished : final;
  }

  /** @param {number} i */
  row(i) {
    const { scene } = this;
    return scene?.state.merge === "words" ? wordAt(scene.result.axes["words"], i) : i;
  }

  /** @param {number | null} i */
  point(i) {
    if (i === this.hovered) return;
    this.hovered = i;
    this.hands.point(i === null ? null : { row: this.row(i) });
    this.draw();
  }

  /** @param {number} i */
  choose(i) {
    const again = this.scene?.state.at.row !== undefined && this.chosen() === i;
    this.hands.set(again ? { at: "", tok: "" } : { at: String(this.row(i) ?? ""), tok: String(i) });
  }

  /** @param {import("../views/view.js").Mark | null} mark */
  mark(mark) {
    const axis = this.scene?.result.axes["words"];
    const row = mark?.row;
    const span = row !== undefined && this.scene?.state.merge === "words" && axis?.kind === "words" ? axis.words?.[row] : undefined; // prettier-ignore
    this.tokens.glow(span ? span[0] : row, span ? span[1] : row);
  }

  draw() {
    const { scene } = this;
    if (!scene) return;
    const { steps } = scene.result.output;
    const i = Math.min(this.hovered ?? this.chosen(), steps.length - 1);
    const last = i === steps.length - 1;
    const piece = visible(steps[i]?.piece ?? "");
    replace(
      this.parts.after,
      h("h3", null, last ? `Next token, after “${piece}”` : `After “${piece}”`),
      ...(last ? this.last(scene) : this.between(scene, i)),
    );
  }

  /** Before the end of a text it is known what came. @param {Scene} scene @param {number} i */
  between(scene, i) {
    const { result } = scene;
    const { top } = result.output.steps[i];
    const plain = this.before(scene, i);
    const came = result.output.steps[i + 1];
    const all = compared(top, plain?.steps[i]?.top, SHOWN).map((bar) => ({
      ...bar,
      came: bar.name === came.piece && Math.abs(bar.probability - came.probability) < 2e-6,
    }));
    const told = all.some((bar) => bar.came);
    const before = this.before(scene, i + 1)?.steps[i + 1]?.probability;
    const rest = { name: came.piece, probability: came.probability, before: before ?? undefined, came: true };
    return [
      bars(told ? all : [...all, rest], "What may come next"),
      h("p", { class: "quiet" }, "“", visible(came.piece), `” really came: ${percent(came.probability)}.`),
    ];
  }

  /** At its end everything is open. @param {Scene} scene */
  last(scene) {
    const { result } = scene;
    const plain = this.before(scene);
    const dials = readDials(this.flat());
    const all = reshaped(result.output.last, dials);
    const before = plain && new Map(reshaped(plain.last, dials).map((each) => [each.text + each.piece, each.share])); // prettier-ignore
    const left = all.filter(({ share }) => share > 0).length;
    const rows = all.slice(0, SHOWN).map((each) => ({
      name: each.ends ? "end of text" : each.piece,
      probability: each.share || each.probability,
      before: before ? (before.get(each.text + each.piece) ?? null) : undefined,
      cut: !each.share,
      run: () => this.append(each),
      title: `${percent(each.probability)} after the temperature${each.share ? `, ${percent(each.share)} of what is left` : ", cut off"}; click to take it`,
    }));
    const told = left === 1 ? "One token is left to draw from." : `${left} tokens are left to draw from.`;
    return [bars(rows, "What may come next"), h("p", { class: "quiet" }, told, " Click one to take it.")];
  }

  /** The page's own dice. */
  take() {
    const { scene } = this;
    const one = scene && drawn(reshaped(scene.result.output.last, readDials(this.flat())), Math.random());
    if (one) this.append(one);
  }

  /** @param {import("./sampling.js").Candidate} one */
  append(one) {
    if (one.ends || !one.text) this.hands.context.toast("The model ends its text here; nothing is appended.");
    else this.hands.set({ in: `t:${this.text()}${one.text}`, w: "", at: "", tok: "" });
  }

  /** @param {number} count @param {number} [on] seeds further */
  write(count, on = 0) {
    const { temperature, topP, topK, seed } = readDials(this.flat());
    const next = seed + on;
    this.hands.set({ w: [count, temperature, topP, topK, next].join(","), seed: next, at: "", tok: "" });
  }

  /** What is seen, as numbers. */
  table() {
    const steps = /** @type {import("./tokens.js").Step[]} */ (this.scene?.result.output.steps ?? []);
    return {
      columns: ["token", "probability", ...Array.from({ length: SHOWN }, (_, i) => [`next ${i + 1}`, `probability ${i + 1}`]).flat()], // prettier-ignore
      rows: steps.map(({ piece, probability, top }) => [piece, probability ?? "", ...top.flat()]),
    };
  }

  destroy() {
    this.few.destroy();
  }
}

/** @param {Scene} scene */
export const fewShot = ({ state }) => readShots(state.flat).shots.length > 0;
