/**
 * The bench of every Look room: Input | Answer | Overview | View. A room brings an input, an answer and a question:
 *
 *     const made = bench.create(host, {context, title, tasks, models, input, answer, ask, views, empty, opening});
 *     return {restore: made.restore, unmount: made.unmount};
 *
 * - `models` of the room, the one to begin with first; `tasks` for the sheet from which another is chosen.
 * - `input(host, hands)` makes `{show(state), focus(), destroy()}`; it calls `hands.set({in: "t:…"})`.
 * - `answer(host, hands)` makes `{show(scene), mark(mark), destroy()}`; it draws `scene.result.output`, calls
 *   `hands.point({row})` for what is pointed at and `hands.change({at: {row}})` for what is chosen. Rows are places on
 *   the axis `scene.selection.attention.rows`, counted in `state.merge`. `null` where there is nothing to draw.
 * - `ask(model, state)` gives the request for /api/ask without edits, `null` where there is nothing to ask, or throws
 *   an Error whose sentence stands under the input. It may be a promise.
 * - `views` beside the common ones, see views.js; a view is given `update(view, scene)`.
 * - `opening(model)` is the state of a room that is opened without an input, `{in: "t:…"}`.
 * - `reply(request, how)` gives a Look where the answer does not come from /api/ask.
 *
 * `scene` (scene.js) has `result` (the answer), `plain` (the same without edits), `look` (weights, see look.js),
 * `model`, `state` (address.js), `selection` (heads), `edits`, `small`. The bench owns models, progress and cancel,
 * warnings, what a model knows, overview, heads, edits, views, compare, the address and what can be exported.
 */

import { h, replace } from "../dom.js";
import { refill } from "../rooms/refill.js";
import { MOST, read, replaced, swapped, writtenEdits, writtenLooks, writtenMark, writtenModels } from "./address.js";
import { Answers } from "./answers.js";
import { extras } from "./extras.js";
import { honest } from "./honest.js";
import { Served } from "./look.js";
import { Panel } from "./panel.js";
import { heading } from "./top.js";
import { COMMON, fitting } from "./views.js";

/** @typedef {import("../app.js").Context} Context */
/** @typedef {import("../state.js").Flat} Flat */
/** @typedef {import("../views/view.js").Mark} Mark */
/** @typedef {import("./address.js").State} State */
/** @typedef {import("./answer.js").Model} Model */
/** @typedef {import("./panel.js").Patch} Patch */
/** @typedef {{context: Context, options: HTMLElement, set: (patch: Flat, undo?: boolean | string) => void}} InputHands `options`: room for what else can be set, beside the tabs */
/** @typedef {{context: Context, set: (patch: Flat, undo?: boolean | string) => void, change: (patch: Patch, undo?: boolean | string) => void, point: (mark: Mark | null) => void}} AnswerHands */
/** @typedef {{show: (state: State) => void, focus?: () => void, destroy?: () => void}} InputWidget */
/**
 * @typedef {object} Wish
 * @property {Context} context
 * @property {string} title
 * @property {string[]} [tasks]
 * @property {Model[]} models
 * @property {(host: HTMLElement, hands: InputHands) => InputWidget} input
 * @property {((host: HTMLElement, hands: AnswerHands) => import("./panel.js").AnswerWidget) | null} answer
 * @property {(model: Model, state: State) => Record<string, unknown> | null | Promise<Record<string, unknown> | null>} ask
 * @property {import("./views.js").Entry[]} [views]
 * @property {{title: string, says: string}} [empty] where nothing is asked
 * @property {(model: Model) => Flat} [opening]
 * @property {(example: string, model: Model) => Flat} [example] what a chip of the card sets
 * @property {(example: string) => string} [called] what such a chip says; the example itself, unless it says otherwise
 * @property {(state: State, from: Model, to: Model) => boolean} [keeps] does the input make sense to another model, too?
 * @property {(request: Record<string, unknown>, how: import("./answers.js").How) => Promise<import("./look.js").Look>} [reply]
 * @property {boolean} [edits] can heads be switched off? Yes, unless it says no
 * @property {(model: Model, state: State) => import("../app.js").Code} [code] the same in Python and on the command line
 */

/** @param {HTMLElement} host @param {Wish} wish */
export function create(host, wish) {
  const made = new Bench(host, wish);
  void made.refresh();
  return {
    restore: () => made.restored(),
    unmount: () => made.destroy(),
    refresh: () => void made.refresh(),
    state: () => made.state(),
  };
}

class Bench {
  /** @param {HTMLElement} host @param {Wish} wish */
  constructor(host, wish) {
    this.wish = wish;
    this.context = wish.context;
    const own = wish.views ?? [];
    this.views = [...own.filter(({ leads }) => leads), ...COMMON, ...own.filter(({ leads }) => !leads)];
    this.answers = new Answers(wish.context.api);
    /** @type {Panel[]} */
    this.panels = [];
    this.turn = 0;
    const input = h("div", { class: "bench-input" });
    const says = h("div", { class: "bench-says" });
    this.tabs = h("div", { class: "segments tabs", role: "tablist", "aria-label": "View" });
    this.extras = h("div", { class: "view-extras" });
    const setting = h("div", { class: "bench-own" });
    this.options = h("div", { class: "bench-options" });
    this.stage = h("div", { class: "looks" });
    host.classList.add("bench");
    replace(
      host,
      h("h1", { class: "unseen" }, wish.title),
      input,
      says,
      h("div", { class: "view-bar" }, this.tabs, this.extras, setting, this.options),
      this.stage,
    );
    this.input = wish.input(input, {
      context: wish.context,
      options: setting,
      set: (patch, undo) => this.set(patch, undo),
    });
    const take = (/** @type {string} */ example, /** @type {Model} */ model) =>
      this.set(wish.example?.(example, model) ?? { in: `t:${example}`, at: "" });
    this.honest = honest(says, take, wish.called);
    this.register();
  }

  state() {
    return read(this.context.state.get(), this.wish.models);
  }

  /** @param {Flat} patch @param {boolean | string} [undo] */
  set(patch, undo = true) {
    this.context.state.set(patch, { undo });
    void this.refresh();
  }

  /** Somebody went back, forward or to a link. */
  restored() {
    this.honest.notice([]);
    void this.refresh();
  }

  /** A link says all there is: also the model and the input that it was opened without. */
  complete() {
    const { wish, context } = this;
    const flat = context.state.get();
    const said = replaced(flat, wish.models);
    if (said.length) this.honest.notice(said);
    const { models } = this.state();
    const [first] = models;
    const opening = first && !("in" in flat) ? (wish.opening?.(first) ?? {}) : {};
    context.state.set({ ...(wish.models.length ? { m: writtenModels(models) } : {}), ...opening });
  }

  /** Bring everything in line with the state. */
  async refresh() {
    const turn = ++this.turn;
    this.complete();
    const now = this.state();
    this.input.show(now);
    this.honest.about(now.models, now.input.replace(/^[a-z]:/, ""));
    this.around();
    try {
      const requests = await Promise.all(now.models.map((model) => this.wish.ask(model, now)));
      if (turn !== this.turn) return;
      this.honest.refuse("");
      this.ask(now, requests);
    } catch (error) {
      if (turn !== this.turn) return;
      this.honest.refuse(error instanceof Error ? error.message : String(error));
      for (const panel of this.panels) panel.old(true);
    }
  }

  /** @param {State} now @param {(Record<string, unknown> | null)[]} requests */
  ask(now, requests) {
    const { stage, wish } = this;
    const none = requests.every((request) => request === null);
    const wanted = none ? 0 : now.models.length;
    while (this.panels.length > wanted) this.panels.pop()?.destroy();
    stage.querySelector(".empty")?.remove();
    if (none && wish.empty)
      stage.append(h("section", { class: "empty" }, h("h2", null, wish.empty.title), h("p", null, wish.empty.says)));
    while (this.panels.length < wanted) this.panels.push(this.panel(this.panels.length));
    stage.style.setProperty("--panels", String(Math.max(1, wanted)));
    requests.forEach((request, index) => {
      const [panel, model] = [this.panels[index], now.models[index]];
      if (panel && model && request) void panel.show({ model, request, state: now, index });
    });
    this.around();
  }

  /** @param {number} index */
  panel(index) {
    const { wish, context } = this;
    return new Panel(this.stage, {
      context,
      views: this.views,
      answer: wish.answer,
      edits: wish.edits ?? true,
      reply: wish.reply ?? ((request, how) => this.reply(request, how)),
      set: (patch, undo) => this.set(patch, undo),
      change: (patch, undo) => this.change(index, patch, undo),
      done: () => this.around(),
    });
  }

  /** @param {Record<string, unknown>} request @param {import("./answers.js").How} how */
  async reply(request, how) {
    const answer = await this.answers.find(request, how);
    return new Served(this.context.api, answer, () => this.answers.find(request, { signal: how.signal, fresh: true }));
  }

  /** @param {number} i @param {Patch} patch @param {boolean | string} [undo] */
  change(i, patch, undo) {
    const now = this.state();
    /** @type {Flat} */
    const next = {};
    if (patch.look !== undefined) next["look"] = writtenLooks(swapped(now.looks, i, patch.look));
    if (patch.at !== undefined) next["at"] = writtenMark(patch.at);
    if (patch.edits !== undefined) next["edits"] = writtenEdits(swapped(now.edits, i, patch.edits));
    if (patch.mix !== undefined) next["mix"] = patch.mix;
    if (patch.as !== undefined) next["as"] = patch.as;
    this.set(next, undo);
  }

  /** Everything around the panels: tabs, what can be set, which models, warnings and the caption. */
  around() {
    const now = this.state();
    const scenes = this.panels.flatMap(({ scene }) => scene ?? []);
    const as = this.shown(now.as, scenes);
    this.choices(as, scenes);
    extras(this.extras, now, scenes, as, (patch, undo) => this.set(patch, undo));
    const { models, tasks } = this.wish;
    const more = h(
      "button",
      { type: "button", class: "button", onclick: () => this.compare() },
      now.models.length > 1 ? "Add a model" : "Compare models",
    );
    refill(this.options, models.length > 1 && now.models.length < MOST && more);
    this.panels.forEach(({ top, scene }, index) => {
      top.hidden = !tasks;
      const seconds = scene?.result.seconds ?? 0;
      if (tasks)
        heading(top, {
          models: now.models,
          index,
          seconds,
          open: () => this.choose(index),
          away: () => this.away(index),
        });
    });
    this.honest.warn(scenes.map(({ result }) => result));
    this.context.caption(this.panels.map((panel) => panel.caption()).filter(Boolean).join(" ")); // prettier-ignore
  }

  /** The view that is on: of models that cannot all show the same, the one that comes first. @param {string} wanted @param {import("./scene.js").Scene[]} scenes */
  shown(wanted, scenes) {
    // A model without attention has no view; beside others it does not decide which one is on.
    const telling = scenes.filter(({ selection }) => selection);
    const some = (telling.length ? telling : scenes).map((scene) => fitting(this.views, wanted, scene)?.id);
    if (!scenes.length) return wanted || "lines";
    return some.includes(wanted) ? wanted : (this.views.find(({ id }) => some.includes(id))?.id ?? wanted);
  }

  /** @param {string} as @param {import("./scene.js").Scene[]} scenes */
  choices(as, scenes) {
    const fits = this.views.filter((view) =>
      scenes.length
        ? scenes.some((scene) => (view.bare || scene.selection) && (view.fits?.(scene) ?? true))
        : !view.fits,
    );
    const tab = (/** @type {import("./views.js").Entry} */ { id, title, key }) =>
      h(
        "button",
        {
          type: "button",
          role: "tab",
          "aria-selected": String(id === as),
          title: key ? `${title} (${key})` : title,
          onclick: () => this.set({ as: id }),
        },
        title,
      );
    refill(this.tabs, fits.map(tab));
    this.tabs.hidden = !fits.length || !this.panels.length;
  }

  /** Another model for a panel. @param {number} index */
  choose(index) {
    this.context.models.open(this.wish.tasks, (name) => {
      const model = this.wish.models.find((each) => each["name"] === name);
      if (model) this.put(index, model);
    });
  }

  /** @param {number} index @param {Model} model */
  put(index, model) {
    const now = this.state();
    const { keeps, opening } = this.wish;
    const before = now.models[index] ?? {};
    const kept = keeps?.(now, before, model) ?? true;
    this.honest.notice([]);
    this.set({
      ...(kept ? {} : (opening?.(model) ?? {})),
      m: writtenModels(swapped(now.models, index, model)),
      look: writtenLooks(swapped(now.looks, index, "")),
      edits: writtenEdits(swapped(now.edits, index, [])),
      at: "",
    });
  }

  /** Another kind of model tells most: without attention, with it, and nothing but it. */
  compare() {
    const now = this.state();
    const kinds = new Set(now.models.map(kind));
    const [first] = now.models;
    const free = this.wish.models.filter((each) => !now.models.includes(each));
    const same = (/** @type {Model} */ each) =>
      each["source"] === first?.["source"] && each["data"] === first?.["data"];
    const other = (/** @type {Model} */ each) => !kinds.has(kind(each));
    const next =
      free.find((each) => other(each) && same(each)) ?? free.find(same) ?? free.find(other) ?? free[0] ?? first;
    this.set({ m: writtenModels([...now.models, next]), at: "" });
  }

  /** @param {number} index */
  away(index) {
    const now = this.state();
    const rest = (/** @type {any[]} */ some) => some.filter((_, i) => i !== index);
    this.set({
      m: writtenModels(rest(now.models)),
      look: writtenLooks(rest(now.looks)),
      edits: writtenEdits(rest(now.edits)),
      at: "",
    });
  }

  register() {
    const { context, wish } = this;
    const views = this.views.flatMap(({ id, title, key }) =>
      key ? [{ key, does: title, run: () => this.set({ as: id }) }] : [],
    );
    const code = wish.code;
    context.register({
      figures: () => this.panels.flatMap((panel) => panel.figures()),
      ...(code ? { code: () => code(this.state().models[0] ?? {}, this.state()) } : {}),
      shortcuts: [
        ...views,
        { key: "/", does: "To the input", run: () => this.input.focus?.() },
        { key: "[", does: "The head before", run: () => this.panels[0]?.turn(-1) },
        { key: "]", does: "The next head", run: () => this.panels[0]?.turn(1) },
        {
          key: "a",
          does: "Several heads: colours or mean",
          run: () => this.set({ mix: this.state().mean ? "" : "mean" }),
        },
        {
          key: "w",
          does: "Words or pieces",
          run: () => this.set({ merge: this.state().merge === "words" ? "pieces" : "", at: "" }),
        },
        ...(wish.edits === false ? [] : [{ key: "r", does: "Reset all heads", run: () => this.set({ edits: "" }) }]),
        { key: "m", does: "On a thumbnail or a number: switch off, or make uniform" },
      ],
    });
  }

  destroy() {
    this.turn += 1;
    for (const panel of this.panels) panel.destroy();
    this.input.destroy?.();
  }
}

/** @param {Model | undefined} model */
const kind = (model) => `${model?.["family"]} ${model?.["cross_attentions"]}`;
