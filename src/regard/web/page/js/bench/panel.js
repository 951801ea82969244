/** One model on the bench: what it is asked, how far it is, its answer, all its heads, and the view of some of them. */

import { aborted } from "../api.js";
import { h, replace } from "../dom.js";
import { refill } from "../rooms/refill.js";
import { titled } from "./answer.js";
import { controls } from "./controls.js";
import { saidEdit } from "./edits.js";
import { Heads } from "./heads.js";
import { Progress } from "./progress.js";
import { where } from "./scene.js";
import { chosen, writtenHeads } from "./selection.js";
import { Stage } from "./stage.js";

/** @typedef {import("../views/view.js").Mark} Mark */
/** @typedef {import("./address.js").State} State */
/** @typedef {import("./answer.js").Edit} Edit */
/** @typedef {import("./answer.js").Model} Model */
/** @typedef {import("./look.js").Look} Look */
/** @typedef {import("./scene.js").Scene} Scene */
/** What changes for one panel. @typedef {{look?: string, at?: Mark | null, edits?: Edit[], mix?: string, as?: string}} Patch */
/** What it is asked to show. @typedef {{model: Model, request: Record<string, unknown>, state: State, index: number}} Wish */
/** @typedef {{show: (scene: Scene) => void, mark?: (mark: Mark | null) => void, destroy?: () => void}} AnswerWidget */
/**
 * @typedef {object} Tools
 * @property {import("../app.js").Context} context
 * @property {import("./views.js").Entry[]} views
 * @property {((host: HTMLElement, hands: import("./bench.js").AnswerHands) => AnswerWidget) | null} answer
 * @property {(patch: Patch, undo?: boolean | string) => void} change
 * @property {(patch: import("../state.js").Flat, undo?: boolean | string) => void} set
 * @property {(request: Record<string, unknown>, how: import("./answers.js").How) => Promise<Look>} reply
 * @property {boolean} edits can heads be switched off?
 * @property {() => void} done the panel shows something new
 */

export class Panel {
  /** @param {HTMLElement} host @param {Tools} tools */
  constructor(host, tools) {
    this.tools = tools;
    /** @type {Wish | null} */
    this.wish = null;
    /** @type {Look | null} */
    this.look = null;
    /** @type {Look | null} */
    this.plain = null; // without the edits, to compare with
    /** @type {Scene | null} */
    this.scene = null;
    this.asked = "";
    this.control = new AbortController();
    this.top = h("header", { class: "look-top" });
    this.problem = h("p", { class: "problem", role: "alert", hidden: true });
    const said = h("div", { class: "look-answer" });
    this.done = h("div", { class: "look-done" });
    this.bar = h("div", { class: "look-bar" });
    this.aside = h("div", { class: "look-heads" });
    const stage = h("div", { class: "look-stage" });
    this.name = h("code", { class: "quiet look-name" });
    const main = h("div", { class: "look-main" }, this.bar, stage, this.name);
    this.body = h("div", { class: "look-body" }, this.aside, main);
    this.root = h("article", { class: "look-box look" }, this.top);
    this.progress = new Progress(this.root, () => this.cancel());
    this.root.append(this.problem, said, this.done, this.body);
    host.append(this.root);
    this.widget = tools.answer?.(said, { ...tools, point: (mark) => this.stage.highlight(mark) }) ?? null;
    this.heads = new Heads(this.aside, tools);
    this.stage = new Stage(stage, { ...tools, pointed: (mark) => this.widget?.mark?.(mark) });
  }

  /** @param {Wish} next */
  async show(next) {
    this.wish = next;
    this.root.classList.toggle("small", next.state.models.length > 1);
    const { edits = [], ...request } = /** @type {any} */ (next.request);
    const done = next.state.edits[next.index] ?? edits;
    const key = JSON.stringify({ ...request, edits: done });
    if (key === this.asked) return this.look && !this.waiting ? this.draw() : undefined; // what is on its way will be drawn as is wished then
    this.asked = key;
    this.control.abort();
    const { signal } = (this.control = new AbortController());
    this.wait(true);
    const progress = (/** @type {import("./ask.js").Told} */ told) => void (signal.aborted || this.progress.tell(told));
    const { reply } = this.tools;
    try {
      const [found, before] = await Promise.all([
        reply({ ...request, edits: done }, { signal, progress }),
        done.length ? reply({ ...request, edits: [] }, { signal }) : null,
      ]);
      if (signal.aborted) return;
      this.look?.stop();
      this.plain?.stop();
      [this.look, this.plain] = [found, before];
      this.wait(false);
      this.draw();
    } catch (error) {
      if (aborted(error) || signal.aborted) return;
      this.asked = "";
      this.wait(false);
      this.fail(error instanceof Error ? error.message : String(error));
    }
  }

  get waiting() {
    return this.root.hasAttribute("aria-busy");
  }

  /** The answer before stays, dimmed, while the next one is under way. @param {boolean} on */
  wait(on) {
    this.root.toggleAttribute("aria-busy", on);
    if (on) this.progress.start();
    else this.progress.stop();
    this.old(on);
    this.problem.hidden = true;
  }

  /** What is shown is not what was asked. @param {boolean} on */
  old(on) {
    this.root.classList.toggle("old", on);
  }

  cancel() {
    const { seconds } = this.progress;
    this.control.abort();
    this.asked = "";
    this.wait(false);
    this.fail(`Stopped after ${seconds.toFixed(1)} s.`, "Ask again");
  }

  /** @param {string} message @param {string} [again] */
  fail(message, again) {
    const retry = () => this.wish && void this.show(this.wish);
    refill(
      this.problem,
      message,
      again ? " " : null,
      again ? h("button", { type: "button", class: "button small", onclick: retry }, again) : null,
    );
    this.problem.hidden = false;
    if (this.look) this.old(true);
    else this.body.hidden = true;
    this.tools.done();
  }

  draw() {
    const { wish, look } = this;
    if (!wish || !look) return;
    const { state, index, model } = wish;
    this.body.hidden = false;
    this.problem.hidden = true;
    this.old(false);
    const selection = chosen(look.answer, state.looks[index] ?? "", state.mean);
    const small = state.models.length > 1;
    /** @type {Scene} */
    const scene = {
      result: look.answer,
      plain: this.plain?.answer ?? null,
      look,
      model,
      state,
      selection,
      edits: state.edits[index] ?? [],
      small,
    };
    this.scene = scene;
    this.widget?.show(scene);
    this.edited(scene);
    const bare = this.tools.views.find(({ id }) => id === state.as)?.bare ?? false;
    // A file with one picture needs no overview; a model with one head does, since it can be switched off there.
    const heads = look.answer.attentions.map((each) => each.heads);
    this.body.style.setProperty("--overview", `${Math.max(12, 2.5 + 3.5 * Math.max(1, ...heads))}rem`);
    this.aside.hidden = !selection || bare || (!this.tools.edits && heads.length === 1 && heads[0] === 1);
    this.bar.hidden = this.name.hidden = !selection || bare;
    this.name.textContent = selection?.attention.name ?? "";
    this.body.classList.toggle("alone", this.aside.hidden);
    this.body.classList.toggle("blind", !selection);
    if (selection) {
      controls(this.bar, scene, this.tools.change);
      this.heads.show(scene, this.control.signal);
    }
    this.stage.show(scene);
    this.tools.done();
  }

  /** What was done to the model, each to be taken back. @param {Scene} scene */
  edited({ edits, result }) {
    const { change } = this.tools;
    refill(
      this.done,
      edits.length > 0 &&
        h(
          "span",
          { class: "chips" },
          edits.map((edit) =>
            h(
              "button",
              {
                type: "button",
                class: "chip",
                title: "Take this back",
                onclick: () => change({ edits: edits.filter((each) => each !== edit) }),
              },
              `${saidEdit(result, edit)} ×`,
            ),
          ),
          h("button", { type: "button", class: "chip strong", onclick: () => change({ edits: [] }) }, "Reset"),
        ),
    );
  }

  /** What can be taken away. @returns {import("../export.js").Figure[]} */
  figures() {
    const { scene } = this;
    if (!scene || this.waiting) return [];
    const name = titled(scene.model) || scene.result.model;
    const all = { title: [name, "all heads"].filter(Boolean).join(", "), svg: () => this.heads.exportSvg() };
    return [...this.stage.figures(), ...(this.aside.hidden ? [] : [all])];
  }

  /** What is seen, in words. */
  caption() {
    const { scene } = this;
    if (!scene) return "";
    const bare = !this.stage.drawn || Boolean(this.stage.drawn.entry.bare);
    const edits = scene.edits.map((edit) => `${saidEdit(scene.result, edit)}`).join("; ");
    const least = scene.state.least && !bare ? `Weights from ${scene.state.least} on.` : "";
    const said = scene.result.caption;
    const parts = [
      [titled(scene.model), said].filter(Boolean).join(": "),
      bare ? "" : where(scene),
      edits && `Edited: ${edits}`,
      least,
    ];
    return parts
      .filter(Boolean)
      .map((part) => (/[.!?…”]$/.test(part) ? part : `${part}.`))
      .join(" ");
  }

  /** The next head or the one before. @param {number} step */
  turn(step) {
    const selection = this.scene?.selection;
    if (!selection || !this.scene) return;
    const { attention, heads } = selection;
    const order = [-1, ...Array.from({ length: attention.heads }, (_, i) => i)]; // the mean comes first
    const now = heads.length === 1 ? order.indexOf(heads[0]?.head ?? 0) : 0;
    const next = order[(now + step + order.length) % order.length] ?? 0;
    const some = next < 0 ? order.slice(1) : [next];
    this.tools.change({
      look: writtenHeads(
        some.map((head) => ({ name: attention.name, head })),
        this.scene.result,
        next < 0,
      ),
      mix: "",
    });
  }

  destroy() {
    this.control.abort();
    this.progress.stop();
    this.look?.stop();
    this.plain?.stop();
    this.stage.destroy();
    this.heads.destroy();
    this.widget?.destroy?.();
    replace(this.root);
    this.root.remove();
  }
}
