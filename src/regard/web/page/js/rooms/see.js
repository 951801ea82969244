/** See: models of pictures. Click a patch and see what it looks at, what decides, how features lie, who shares a group. */

import { ApiError, aborted } from "../api.js";
import { replaced, writtenModels } from "../bench/address.js";
import { ask } from "../bench/ask.js";
import { Progress } from "../bench/progress.js";
import { h, replace, svg } from "../dom.js";
import * as bar from "../see/bar.js";
import * as compare from "../see/compare.js";
import * as distance from "../see/distance.js";
import * as heads from "../see/heads.js";
import { asker, looks } from "../see/maps.js";
import { Panel } from "../see/panel.js";
import * as picker from "../see/picker.js";
import { Seen } from "../see/seen.js";
import { truth } from "../see/truth.js";
import { MOST, TASKS, VIEWS, editedSays, looking, own, read, scene, writtenEdits } from "../see/wishes.js";
import { terminal } from "../terminal.js";
import { drawing } from "../views/paint.js";
import { refill } from "./refill.js";

/** @typedef {import("../app.js").Context} Context */
/** @typedef {import("../see/wishes.js").Wishes} Wishes */
/** @typedef {import("../state.js").Flat} Flat */

export const room = { id: "see", title: "See", mount };

/** @param {HTMLElement} host @param {Context} context */
async function mount(host, context) {
  const models = (await context.api.about()).models.filter((each) => TASKS.includes(String(each["task"])));
  if (!models.length) {
    replace(
      host,
      h("p", { class: "empty" }, "No model of pictures is here; start with regard explore --model FOLDER."),
    );
    return { restore() {}, unmount() {} };
  }
  const see = new See(host, context, models);
  void see.refresh();
  return { restore: () => see.restored(), unmount: () => see.stop() };
}

/** The room while it is open. */
class See {
  /** @param {HTMLElement} host @param {Context} context @param {Record<string, any>[]} models */
  constructor(host, context, models) {
    this.context = context;
    this.models = models;
    this.control = new AbortController();
    this.turn = 0;
    /** Answers by their question. @type {Map<string, Seen>} */
    this.kept = new Map();
    /** Questions under way. @type {Map<string, {answer: Promise<Seen>, control: AbortController}>} */
    this.asked = new Map();
    /** @type {Panel[]} */
    this.panels = [];
    /** What the link asked for and did not get. @type {string[]} */
    this.replaced = [];
    /** What had the focus before its panel was asked anew. @type {Element | null} */
    this.stood = null;
    /** The answer whose heads are shown. @type {Seen | null} */
    this.first = null;
    /** @type {SVGSVGElement | null} */
    this.far = null;
    this.bar = h("div", { class: "see-bar" });
    this.preview = h("img", { class: "see-preview", alt: "The picture as it was given" });
    this.input = h("section", { class: "panel see-input", "aria-label": "Picture" }, this.preview);
    this.knows = h("p", { class: "quiet see-knows" });
    this.status = h("p", { class: "see-status", role: "status" });
    this.progress = new Progress(h("div"), () => this.cancel());
    this.floor = h("div", { class: "see-panels" });
    this.table = h("div", { class: "see-compare" });
    this.chart = h("div", { class: "see-chart" });
    const all = h("div");
    this.side = h(
      "section",
      { class: "panel see-side", "aria-label": "Heads" },
      h("h2", null, "All heads"),
      all,
      this.chart,
    );
    /** @type {HTMLElement} */
    const middle = h("div", { class: "see-middle" }, this.progress.root, this.status, this.floor, this.table);
    replace(
      host,
      h("h1", { class: "unseen" }, "See"),
      this.bar,
      h("div", { class: "see-floor" }, this.input, middle, this.side),
    );
    this.heads = heads.create(all, {
      open: (name, head) => this.open(name, head),
      edit: (edits) => this.set({ edits: writtenEdits(edits) }),
    });
    this.compare = compare.create(this.table);
    this.picker = picker.create(this.input, {
      choose: (picture, undo) => this.set({ in: `p:${picture}`, label: "" }, undo ?? true),
      toast: context.toast,
    });
    this.input.append(this.knows);
    this.picker.listen(host, this.control.signal);
    this.register();
  }

  wishes() {
    return read(this.context.state.get(), this.models);
  }

  /** @param {Flat} patch @param {boolean | string} [undo] */
  set(patch, undo = true) {
    if ("m" in patch) this.replaced = [];
    this.context.state.set(patch, { undo });
    void this.refresh();
  }

  /** Somebody went back, forward or to a link. */
  restored() {
    this.replaced = [];
    void this.refresh();
  }

  /** Look at a head of the first model, or at a layer. @param {string} name @param {number | null} head */
  open(name, head) {
    const wishes = this.wishes();
    const look = looking(wishes, this.first?.answer.attentions ?? [], name, head);
    this.set({ look, ...(wishes.view === "groups" ? {} : { as: "attention", how: "" }) });
  }

  /** Ask what the link asks, and draw it. @param {boolean} [again] */
  async refresh(again = false) {
    const turn = ++this.turn;
    const current = () => turn === this.turn && !this.control.signal.aborted;
    const wishes = this.wishes();
    const said = replaced(this.context.state.get(), this.models, MOST);
    if (said.length) this.replaced = said;
    // A link names its model and its picture, so that it opens the same elsewhere.
    this.context.state.set({ m: writtenModels(wishes.models), in: `p:${wishes.picture}` });
    bar.show(this.bar, wishes, this.context.models.open, (patch) => this.set(patch));
    bar.honest(this.knows, wishes, this.replaced, (picture) => this.set({ in: `p:${picture}`, label: "" }));
    this.picker.update(wishes.picture);
    try {
      const { found, bare, truths } = await this.answers(wishes);
      if (!current()) return;
      this.wait(false);
      replace(this.status);
      await this.draw(found, bare, truths, wishes, current);
    } catch (error) {
      if (!current() || aborted(error)) return;
      if (error instanceof ApiError && error.expired && !again) return this.forget();
      this.failed(error);
    }
  }

  /** Everything that the link needs; what it does not need any more is given up. @param {Wishes} wishes */
  async answers(wishes) {
    const questions = wishes.models.map((model, i) => question(model, wishes, i === 0));
    const plain = wishes.edits.length ? question(wishes.models[0] ?? {}, wishes, false) : null;
    const wanted = new Set([...questions, plain].map((each) => JSON.stringify(each)));
    for (const key of this.asked.keys()) if (!wanted.has(key)) this.giveUp(key);
    const truths = Promise.all(wishes.models.map((model) => truth(wishes.picture, String(model["task"]))));
    const found = await Promise.all(questions.map((each) => this.seen(each)));
    return { found, bare: plain && (await this.seen(plain)), truths: await truths };
  }

  /** The answer to a question, kept while the room is open. @param {ReturnType<typeof question>} asked @returns {Promise<Seen>} */
  async seen(asked) {
    const key = JSON.stringify(asked);
    const under = this.kept.get(key) ?? this.asked.get(key)?.answer;
    if (under) return under;
    const control = new AbortController();
    const answer = ask(this.context.api, asked, {
      signal: control.signal,
      progress: (told) => this.progress.tell(told),
    }).then((found) => new Seen(found));
    if (!this.asked.size) this.progress.start();
    this.asked.set(key, { answer, control });
    this.wait(true);
    try {
      const found = await answer;
      if (this.kept.size > 40) this.kept.clear();
      this.kept.set(key, found);
      return found;
    } finally {
      if (this.asked.get(key)?.control === control) this.asked.delete(key);
      if (!this.asked.size) this.progress.stop();
    }
  }

  /** What is asked anew is pale and out of reach meanwhile; who stood in it stands there again afterwards. @param {boolean} on */
  wait(on) {
    const stood = document.activeElement;
    if (on && this.panels.some(({ element }) => element.contains(stood))) this.stood = stood;
    this.floor.classList.toggle("waiting", on);
    for (const { element } of this.panels) element.inert = on;
    if (on || !(this.stood instanceof HTMLElement)) return;
    if (stood === document.body) this.stood.focus();
    this.stood = null;
  }

  /** What was given up is forgotten at once: who asks the same again in the next moment must not get its end. @param {string} key */
  giveUp(key) {
    this.asked.get(key)?.control.abort();
    this.asked.delete(key);
  }

  /** Give up what is under way. */
  cancel() {
    for (const key of this.asked.keys()) this.giveUp(key);
    this.failed(new Error("Given up."));
  }

  /** The server forgot what was looked at: ask again, once. */
  forget() {
    this.kept.clear();
    void this.refresh(true);
  }

  /** @param {Seen[]} found @param {Seen | null} bare @param {(import("../see/truth.js").Truth | null)[]} truths @param {Wishes} wishes @param {() => boolean} current */
  async draw(found, bare, truths, wishes, current) {
    const [first] = found;
    const table = wishes.view === "compare";
    [this.floor.hidden, this.table.hidden] = [table, !table];
    this.preview.src = picker.shown(wishes.picture, truths[0]?.image ?? "");
    this.context.caption(`${wishes.models.map((each) => each["name"]).join(", ")} at ${wishes.picture}`);
    // Heads are read, and need not wait for maps that are computed.
    await Promise.all([
      table ? this.compare.show(found, wishes, truths, current) : this.panelled(found, bare, truths, wishes),
      first && this.beside(first, wishes, current),
    ]);
  }

  /** @param {Seen[]} found @param {Seen | null} bare @param {(import("../see/truth.js").Truth | null)[]} truths @param {Wishes} wishes */
  async panelled(found, bare, truths, wishes) {
    if (this.panels.length !== found.length) {
      for (const each of this.panels) each.view.stop();
      this.panels = found.map(
        () =>
          new Panel({
            set: (patch, undo) => this.set(patch, undo),
            failed: (error) => error instanceof ApiError && error.expired && this.forget(),
          }),
      );
      replace(
        this.floor,
        this.panels.map(({ element }) => h("section", { class: "panel see-box" }, h("header"), element)),
      );
      this.floor.style.setProperty("--panels", String(found.length));
      this.floor.classList.toggle("many", found.length > 2);
    }
    this.floor.querySelectorAll("header").forEach((header, i) => this.headed(header, wishes, i));
    await Promise.all(
      this.panels.map((each, i) => found[i] && each.show(found[i], i === 0 ? bare : null, wishes, truths[i] ?? null)),
    );
  }

  /** The name of a panel's model, and what can be done with it. @param {Element} header @param {Wishes} wishes @param {number} i */
  headed(header, wishes, i) {
    const names = wishes.models.map((each) => String(each["name"]));
    const put = (/** @type {string[]} */ next) => this.set({ m: next.join(","), look: "", edits: "" });
    const model = wishes.models[i] ?? {};
    refill(
      header,
      h(
        "button",
        {
          type: "button",
          class: "chip strong",
          title: String(model["title"] ?? ""),
          "aria-label": `Model ${names[i]}; choose another`,
          onclick: () =>
            this.context.models.open(TASKS, (name) => put(names.map((each, k) => (k === i ? name : each)))),
        },
        names[i] ?? "",
      ),
      editedSays(wishes, i) && h("span", { class: "quiet see-edited" }, editedSays(wishes, i)),
      i > 0 &&
        h(
          "button",
          { type: "button", class: "chip", onclick: () => put([names[i] ?? "", ...names.filter((_, k) => k !== i)]) },
          "heads",
        ),
      names.length > 1 &&
        h(
          "button",
          {
            type: "button",
            class: "icon small",
            "aria-label": `Without ${names[i]}`,
            onclick: () => put(names.filter((_, k) => k !== i)),
          },
          "×",
        ),
    );
  }

  /** All heads and their distances. @param {Seen} first @param {Wishes} wishes @param {() => boolean} current */
  async beside(first, wishes, current) {
    this.first = first;
    wishes = own(wishes, first.answer.attentions);
    this.side.hidden = !first.answer.attentions.length;
    if (this.side.hidden) return;
    const all = await looks(first, asker(first, wishes.at), wishes.by);
    if (!current()) return;
    this.heads.show(all, wishes);
    const found = await first.see("distance").catch(() => null);
    if (!current()) return;
    this.far = found
      ? distance.show(this.chart, found.attentions, (name, head) => this.open(name, head), wishes)
      : null;
    if (!found) replace(this.chart);
  }

  /** @param {unknown} error */
  failed(error) {
    const said = error instanceof Error ? error.message : String(error);
    replace(
      this.status,
      h("span", { class: "problem", role: "alert" }, said),
      " ",
      h("button", { type: "button", class: "chip", onclick: () => void this.refresh() }, "Try again"),
    );
  }

  register() {
    const shot = (/** @type {HTMLCanvasElement[]} */ all) => {
      const [size, gap] = [320, 12];
      const out = drawing(
        Math.max(1, all.length) * (size + gap) - gap,
        Math.max(...all.map((each) => (size * each.clientHeight) / Math.max(1, each.clientWidth)), 1),
      );
      all.forEach((each, i) =>
        out.append(
          svg("image", {
            x: i * (size + gap),
            width: size,
            height: (size * each.clientHeight) / Math.max(1, each.clientWidth),
            href: each.toDataURL(),
          }),
        ),
      );
      return out;
    };
    this.context.register({
      figures: () => [
        this.wishes().view === "compare"
          ? { title: "all maps", svg: () => shot(this.compare.canvases()), table: () => this.compare.table() }
          : {
              title: "picture",
              svg: () => shot(this.panels.map(({ view }) => view.element)),
              table: () => this.panels[0]?.table() ?? { columns: [], rows: [] },
            },
        ...(this.side.hidden ? [] : [{ title: "all heads", svg: () => this.heads.exportSvg() }]),
        ...(this.far
          ? [{ title: "attention distance", svg: () => /** @type {SVGSVGElement} */ (this.far?.cloneNode(true)) }]
          : []),
      ],
      shortcuts: [
        ...VIEWS.map(({ id, title, key }) => ({ key, does: title, run: () => this.set({ as: id, how: "" }) })),
        { key: "[", does: "Scene before", run: () => this.walk(-1) },
        { key: "]", does: "Next scene", run: () => this.walk(1) },
      ],
      code: () => {
        const [
          {
            models: [first],
            picture,
            view,
            way,
            rolled,
          },
        ] = [this.wishes()];
        const how = view === "decides" ? way : view === "features" ? "pca" : rolled ? "rollout" : "attention";
        const name = String(first?.["name"]);
        const given = picture.startsWith("world:") ? picture : "photo.jpg";
        const quoted = [name, given].map((each) => JSON.stringify(each));
        return {
          python: `import regard\n\nregard.show(regard.load(${quoted[0]}).attend(${quoted[1]}))`,
          command: terminal("look", [name, given], { how }),
        };
      },
    });
  }

  /** @param {number} by */
  walk(by) {
    const index = scene(this.wishes().picture);
    this.set({ in: `p:world:${index === null ? 7 : (index + by + 1000) % 1000}`, label: "" }, "scene");
  }

  stop() {
    this.control.abort();
    for (const { control } of this.asked.values()) control.abort();
    this.progress.stop();
    this.compare.stop();
    for (const each of this.panels) each.view.stop();
  }
}

/** @param {Record<string, any>} model @param {Wishes} wishes @param {boolean} edited */
const question = (model, wishes, edited) => ({
  model: String(model["name"]),
  input: { picture: wishes.picture },
  edits: edited ? wishes.edits : [],
});
