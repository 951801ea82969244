/** One model at the picture: what lies over it, who asks, and what the model says. */

import { h, replace } from "../dom.js";
import { refill } from "../rooms/refill.js";
import { bytes } from "./seen.js";
import * as answers from "./answer.js";
import { asker, over, question, rowOn } from "./maps.js";
import * as picture from "./picture.js";
import { peak, verdict } from "./truth.js";
import { brief, looking, own, place } from "./wishes.js";

/** @typedef {import("./maps.js").Seen} Seen */
/** @typedef {import("./maps.js").Over} Over */
/** @typedef {import("./wishes.js").Wishes} Wishes */
/** @typedef {import("./truth.js").Truth} Truth */
/** @typedef {{set: (patch: import("../state.js").Flat, undo?: boolean | string) => void, failed: (error: unknown) => void}} Tools */

export class Panel {
  /** @param {Tools} tools */
  constructor(tools) {
    this.tools = tools;
    /** @type {{seen: Seen, before: Seen | null, wishes: Wishes, truth: Truth | null} | null} */
    this.now = null;
    /** @type {Over | null} */
    this.shown = null;
    this.turn = 0;
    /** Who is pointed at, before it is chosen. */
    this.pointed = "";
    this.view = picture.create("The picture: point at a place, arrow keys move, click to keep it.", {
      point: (x, y) => this.point(this.nearest(x, y)),
      leave: () => this.point(""),
      pick: (x, y) => tools.set({ at: this.nearest(x, y) }, "at"),
      step: (right, down) => this.step(right, down),
    });
    this.tokens = h("div", { class: "see-tokens", role: "group", "aria-label": "Who looks" });
    this.readout = h("p", { class: "matrix-readout", "aria-live": "polite" });
    this.said = h("div", { class: "see-answer" });
    this.strip = h("div", { class: "see-strip", role: "group", "aria-label": "Layers" });
    const stage = h("div", { class: "see-stage" }, this.tokens, this.view.element, this.readout, this.strip);
    this.element = h("div", { class: "see-panel" }, stage, this.said);
  }

  /** The box under the pointer, or the place. @param {number} x @param {number} y */
  nearest(x, y) {
    const found = (this.now?.seen.answer.output.boxes ?? [])
      .filter(
        ({ box: [left = 0, top = 0, w = 0, tall = 0] }) => x >= left && x < left + w && y >= top && y < top + tall,
      )
      .sort((a, b) => (a.box[2] ?? 0) * (a.box[3] ?? 0) - (b.box[2] ?? 0) * (b.box[3] ?? 0))[0];
    return found && this.now?.wishes.view === "attention" ? `q${found.query}` : place(x, y);
  }

  /** @param {string} next */
  point(next) {
    if (next === this.pointed || !this.now || !["attention", "groups"].includes(this.now.wishes.view)) return;
    const grid = this.cells();
    const same =
      grid &&
      this.pointed &&
      next &&
      rowOn(grid, next) === rowOn(grid, this.pointed) &&
      !next.startsWith("q") &&
      !this.pointed.startsWith("q");
    this.pointed = next;
    if (!same) void this.refresh();
  }

  /** The cells that can be pointed at. @returns {{height: number, width: number} | null} */
  cells() {
    if (this.shown?.groups) return this.shown.groups;
    const grids = Object.values(this.now?.seen.answer.axes ?? {}).filter((axis) => axis.kind === "grid");
    const one = this.now?.seen.answer.attentions.find(({ name }) => name === this.now?.wishes.name);
    const own = one && this.now?.seen.answer.axes[one.rows];
    return own?.kind === "grid" ? own : (grids.sort((a, b) => b.height * b.width - a.height * a.width)[0] ?? null);
  }

  /** @param {number} right @param {number} down */
  step(right, down) {
    const grid = this.cells();
    if (!grid || !this.now) return;
    const [x = 50, y = 50] = /,/.test(this.now.wishes.at) ? this.now.wishes.at.split(",").map(Number) : [];
    const moved = (/** @type {number} */ share, /** @type {number} */ by, /** @type {number} */ count) =>
      (Math.max(0, Math.min(count - 1, Math.floor((share / 100) * count) + by)) + 0.5) / count;
    this.tools.set({ at: place(moved(x, right, grid.width), moved(y, down, grid.height)) }, "at");
  }

  /** @param {Seen} seen @param {Seen | null} before @param {Wishes} wishes @param {Truth | null} truth */
  show(seen, before, wishes, truth) {
    wishes = own(wishes, seen.answer.attentions);
    this.now = { seen, before, wishes, truth };
    this.pointed = "";
    const hands = {
      label: (/** @type {string} */ label) => this.tools.set({ label }),
      query: (/** @type {number} */ query) => this.tools.set({ at: `q${query}` }),
      hover: (/** @type {number | null} */ query) => this.point(query === null ? "" : `q${query}`),
    };
    answers.show(
      this.said,
      seen.answer,
      before?.answer ?? null,
      { label: wishes.label, at: asker(seen, wishes.at) },
      hands,
    );
    void this.layers();
    return this.refresh();
  }

  async refresh() {
    if (!this.now) return;
    const mine = ++this.turn;
    const { seen, wishes, truth } = this.now;
    const at = asker(seen, this.pointed || wishes.at);
    try {
      const found = await over(seen, wishes, at);
      if (mine !== this.turn) return;
      this.shown = found;
      this.draw(found, at, wishes, truth);
    } catch (error) {
      if (mine !== this.turn) return;
      this.shown = null;
      this.draw(null, at, wishes, truth);
      this.tools.failed(error);
      replace(this.readout, h("span", { class: "hint" }, error instanceof Error ? error.message : String(error)));
    }
  }

  /** @param {Over | null} found @param {string} at @param {Wishes} wishes @param {Truth | null} truth */
  draw(found, at, wishes, truth) {
    if (!this.now) return;
    const { seen } = this.now;
    const grid = this.cells();
    const asks = wishes.view === "attention" || wishes.view === "groups";
    const own = asks && grid && /,/.test(at) ? rowOn({ height: grid.height, width: grid.width }, at) : null;
    const known = Object.values(seen.answer.axes).find((axis) => axis.kind === "boxes");
    const boxes = (seen.answer.output.boxes ?? []).map(({ box, label, score, query }) => ({
      box,
      label: `${label} ${(100 * score).toFixed(0)} %`,
      strong: at === `q${query}` || (found?.boxes?.[query] ?? 0) > 0.2,
    }));
    if (/^q\d/.test(at) && known && !(seen.answer.output.boxes ?? []).some(({ query }) => at === `q${query}`))
      boxes.push({ box: known.boxes[Number(at.slice(1))] ?? [], label: `query ${at.slice(1)}`, strong: true });
    const top = found?.field && truth ? peak(found.field) : null;
    this.view.show({
      image: seen.image,
      over: found,
      mark: own === null || !grid ? null : { height: grid.height, width: grid.width, cell: own },
      boxes,
      truth: wishes.truth ? truth : null,
      peak: wishes.truth ? top : null,
    });
    this.chips(found, at, wishes);
    if (found) this.say(found, at, wishes, truth && top && wishes.truth ? verdict(truth, top) : null);
  }

  /** [CLS], registers and all places, each as bright as its share. @param {Over | null} found @param {string} at @param {Wishes} wishes */
  chips(found, at, wishes) {
    if (wishes.view !== "attention" || !this.now) return replace(this.tokens);
    const share = (/** @type {string} */ name) => found?.tokens?.find((each) => each.name === name)?.share;
    return refill(
      this.tokens,
      ["all", ...this.now.seen.leading].map((name) =>
        h(
          "button",
          {
            type: "button",
            class: "chip",
            "aria-pressed": String(at === name),
            style: { "--share": (share(name) ?? 0).toFixed(3) },
            onclick: () => this.tools.set({ at: name }),
          },
          name === "all" ? "all places" : name,
          share(name) !== undefined && h("output", null, ` ${(share(name) ?? 0).toFixed(2)}`),
        ),
      ),
    );
  }

  /** @param {Over} found @param {string} at @param {Wishes} wishes @param {ReturnType<typeof verdict> | null} judged */
  say(found, at, wishes, judged) {
    const looking = wishes.view === "attention";
    const nothing = looking && !found.field && !found.boxes;
    if (nothing && !this.now?.seen.answer.attentions.length)
      return replace(
        this.readout,
        h("span", { class: "hint" }, "This model has no attention; see what decides, or its features."),
      );
    return replace(
      this.readout,
      looking ? `${question(at, wishes.by)}: ` : "",
      h("b", null, nothing ? `nowhere; ${found.title} knows no such place` : found.title),
      looking && off(wishes) && ", which is switched off",
      judged && h("span", { class: judged.hit ? "hit" : "miss" }, judged.says),
    );
  }

  /** Small pictures of all layers, where one is chosen. */
  async layers() {
    if (!this.now || !["features", "groups"].includes(this.now.wishes.view)) return replace(this.strip);
    const { seen, wishes } = this.now;
    const groups = wishes.view === "groups";
    const found = await seen.see(groups ? "groups" : "pca").catch(() => null);
    if (seen !== this.now?.seen || wishes.view !== this.now.wishes.view || !found) return replace(this.strip);
    /** @type {Record<string, any>[]} */
    const all = groups ? found.attentions : found.maps;
    const chosen = groups ? wishes.name : wishes.block;
    const current = (all.find((each) => each["name"] === chosen) ?? (groups ? all[0] : all.at(-1)))?.["name"];
    const choose = (/** @type {string} */ name) =>
      this.tools.set(groups ? { look: looking(wishes, seen.answer.attentions, name, null) } : { block: name });
    return refill(
      this.strip,
      all.map((each) => {
        const small = groups
          ? picture.tiled(/** @type {any} */ (each))
          : picture.coloured(/** @type {any} */ ({ ...each, pixels: bytes(each["pixels"]) }));
        const name = String(each["name"]);
        return h(
          "button",
          {
            type: "button",
            title: name,
            "aria-label": name,
            "aria-pressed": String(name === current),
            onclick: () => choose(name),
          },
          small,
          h("span", null, brief(name)),
        );
      }),
    );
  }

  /** The numbers that are seen. */
  table() {
    const { width = 1, values = [] } = this.shown?.field ?? {};
    return {
      columns: ["row", "column", "value"],
      rows: [...values].map((value, k) => [Math.floor(k / width), k % width, value]),
    };
  }
}

/** Is what is looked at switched off? @param {Wishes} wishes */
const off = ({ edits, name, head }) =>
  edits.some((each) => each.kind === "off" && each.name === name && (each.head === null || each.head === head));
