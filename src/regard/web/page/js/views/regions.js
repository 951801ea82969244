/** Words and a picture: every word lights its region, and a place of the picture tells which words looked there. */

import { whole } from "../bench/whole.js";
import { h, replace, svg } from "../dom.js";
import { roving } from "../roving.js";
import * as pictures from "../see/picture.js";
import { peak, verdict } from "../see/truth.js";
import { drawing, inks, themed } from "./paint.js";
import { labels, number } from "./view.js";

/** @typedef {import("./view.js").View} View */
/** @typedef {import("./view.js").Mark} Mark */
/** @typedef {import("./view.js").Grid} Grid */
/** @typedef {import("./view.js").Words} Words */
/** @typedef {import("../bench/scene.js").Scene} Scene */
/** @typedef {import("../see/maps.js").Field} Field */
/** @typedef {import("../see/truth.js").Truth} Truth */
/** Where both sides lie in the weights. @typedef {{words: Words, grid: Grid, across: boolean, lead: number}} Sides */

const TILE = 96; // pixels of a small map
const FIGURE = 420; // of the picture in an exported figure
const BEST = 3; // that are named below it

/** Words on one side, a picture on the other. @param {View} view @returns {Sides | null} */
export function sides({ rows, columns }) {
  const across = rows.kind === "grid";
  const [words, grid] = across ? [columns, rows] : [rows, columns];
  if (words.kind !== "words" || grid.kind !== "grid") return null;
  return { words, grid, across, lead: grid.leading?.length ?? 0 };
}

/** How much each place has to do with a word. @param {Sides} sides @param {Float32Array} all @param {number} wide columns of the weights @param {number} word @returns {Field} */
export function fieldOf({ grid: { height, width }, across, lead }, all, wide, word) {
  const at = (/** @type {number} */ k) => (across ? (lead + k) * wide + word : word * wide + lead + k);
  return { height, width, values: Float32Array.from({ length: height * width }, (_, k) => all[at(k)] ?? 0) };
}

/** A word with its small map. @param {string} name @param {number} word @param {{point: (word: number | null) => void, pick: () => void}} hands */
export function tile(name, word, { point, pick }) {
  return h(
    "button",
    {
      type: "button",
      "data-word": word,
      onpointerenter: () => point(word),
      onpointerleave: () => point(null),
      onclick: pick,
    },
    h("canvas", { width: TILE, height: TILE, "aria-hidden": "true" }),
    h("span", null, name),
  );
}

/** Draw the small map of a word. @param {Element} button @param {Field | null} field @param {HTMLImageElement} below */
export function draw(button, field, below) {
  const pen = button.querySelector("canvas")?.getContext("2d");
  if (pen && field) pictures.paint(pen, TILE, TILE, { image: below.src, over: { title: "", field } }, below);
}

/** @param {HTMLElement} host @param {{onpoint: (mark: Mark | null) => void, onpick: (mark: Mark) => void, truth?: (scene: Scene) => Promise<Truth | null>}} hands */
export function create(host, hands) {
  return new Regions(host, hands);
}

class Regions {
  /** @param {HTMLElement} host @param {Parameters<typeof create>[1]} hands */
  constructor(host, hands) {
    this.hands = hands;
    /** @type {View | null} */
    this.view = null;
    /** @type {Sides | null} */
    this.sides = null;
    /** @type {Float32Array | null} */
    this.all = null;
    /** @type {Truth | null} */
    this.known = null;
    /** @type {Mark} */
    this.picked = {};
    /** @type {Mark | null} */
    this.pointed = null;
    this.below = new Image();
    this.below.addEventListener("load", () => this.tiles());
    this.main = pictures.create("The picture: point at a place to see which words looked there, click to keep it; arrow keys move.", {
      point: (x, y) => this.point({ place: this.cell(x, y) }),
      leave: () => this.point(null),
      pick: (x, y) => this.pick({ place: this.cell(x, y) }),
      step: (right, down) => this.step(right, down),
    }); // prettier-ignore
    this.strip = h("div", { class: "regions-words", role: "group", "aria-label": "Where each word looks" });
    this.readout = h("p", { class: "matrix-readout", "aria-live": "polite" });
    const stage = h("div", { class: "regions-stage" }, this.main.element, this.readout);
    this.root = h("div", { class: "regions" }, stage, this.strip);
    this.rove = roving(this.strip);
    this.unwatch = themed(() => this.tiles());
    host.append(this.root);
  }

  /** @param {View} view @param {Scene} scene */
  update(view, scene) {
    const both = sides(view);
    if (!both) return;
    const same = this.sides?.words === both.words && this.sides.grid === both.grid;
    this.view = view;
    this.sides = both;
    if (!same) this.build();
    void this.fetch(view);
    void this.check(scene);
  }

  /** @param {View} view */
  async fetch(view) {
    const all = await whole(view.weights).catch(() => null);
    if (this.view !== view || !all) return;
    this.all = all;
    this.tiles();
    this.draw();
  }

  /** The truth, where it is known and wished for. @param {Scene} scene */
  async check(scene) {
    const { view } = this;
    const known = scene.state.flat["truth"] ? ((await this.hands.truth?.(scene).catch(() => null)) ?? null) : null;
    if (this.view !== view) return;
    this.known = known;
    this.draw();
  }

  /** One small map a word; starts and stops are no words. */
  build() {
    const both = /** @type {Sides} */ (this.sides);
    [this.all, this.pointed] = [null, null];
    this.below.src = both.grid.image ?? "";
    const names = labels(both.words);
    const words = names.map((name, word) =>
      tile(name, word, {
        point: (at) => this.point(at === null ? null : { word: at }),
        pick: () => this.pick({ word }),
      }),
    );
    replace(
      this.strip,
      words.filter((_, i) => !both.words.special?.[i]),
    );
    this.rove();
  }

  /** The word and the place that are meant. @param {Mark | null} mark */
  read(mark) {
    const across = this.sides?.across;
    return { word: across ? mark?.column : mark?.row, place: across ? mark?.row : mark?.column };
  }

  /** @param {{word?: number, place?: number}} what @returns {Mark} */
  mark({ word, place }) {
    const [row, column] = this.sides?.across ? [place, word] : [word, place];
    return { ...(row === undefined ? {} : { row }), ...(column === undefined ? {} : { column }) };
  }

  /** The place under a pointer. @param {number} x @param {number} y shares of the picture */
  cell(x, y) {
    const { grid, lead } = /** @type {Sides} */ (this.sides);
    return lead + Math.floor(y * grid.height) * grid.width + Math.floor(x * grid.width);
  }

  /** @param {{word?: number, place?: number} | null} what */
  point(what) {
    this.highlight(what && this.mark(what));
    this.hands.onpoint(this.pointed);
  }

  /** What is chosen again is let go. @param {{word?: number, place?: number}} what */
  pick(what) {
    const now = this.read(this.picked);
    const again = what.word === now.word && what.place === now.place;
    this.pointed = null;
    this.hands.onpick(again ? {} : this.mark(what));
  }

  /** @param {number} right @param {number} down */
  step(right, down) {
    const { grid, lead } = /** @type {Sides} */ (this.sides);
    const { place } = this.read(this.picked);
    const middle = Math.floor(grid.height / 2) * grid.width + Math.floor(grid.width / 2);
    const now = place === undefined ? middle : place - lead;
    const within = (/** @type {number} */ at, /** @type {number} */ many) => Math.max(0, Math.min(many - 1, at));
    const [row, column] = [Math.floor(now / grid.width) + down, (now % grid.width) + right];
    const next = lead + within(row, grid.height) * grid.width + within(column, grid.width);
    if (next !== place) this.hands.onpick(this.mark({ place: next }));
  }

  /** @param {Mark | null} mark */
  highlight(mark) {
    this.pointed = mark?.row === undefined && mark?.column === undefined ? null : mark;
    this.draw();
  }

  /** @param {Mark} mark */
  choose(mark) {
    this.picked = mark;
    this.draw();
  }

  /** @param {number} word */
  field(word) {
    const { view, sides: both, all } = this;
    return view && both && all ? fieldOf(both, all, view.weights.columns, word) : null;
  }

  /** Words that are words. */
  said() {
    const { words } = /** @type {Sides} */ (this.sides);
    return labels(words).flatMap((name, word) => (words.special?.[word] ? [] : [{ name, word }]));
  }

  /** All words on average. @returns {Field | null} */
  average() {
    const some = this.said().map(({ word }) => this.field(word));
    const [first] = some;
    if (!first) return null;
    return { ...first, values: first.values.map((_, k) => some.reduce((sum, each) => sum + (each?.values[k] ?? 0), 0) / some.length) }; // prettier-ignore
  }

  draw() {
    const both = this.sides;
    if (!both) return;
    const { word, place } = this.read(this.pointed ?? this.picked);
    const kept = this.read(this.picked);
    const field = place !== undefined ? null : word === undefined ? this.average() : this.field(word);
    const top = field && word !== undefined && this.known ? peak(field) : null;
    const { height, width } = both.grid;
    this.main.show({
      image: both.grid.image ?? "",
      over: field ? { title: "", field } : null,
      mark: place === undefined ? null : { height, width, cell: place - both.lead },
      truth: this.known,
      peak: top,
    });
    const shares = place === undefined ? [] : this.shares(place);
    const most = Math.max(...shares.map(({ share }) => share), 1e-9);
    this.strip.classList.toggle("shared", place !== undefined);
    this.strip.querySelectorAll("button").forEach((button) => {
      const own = Number(button.dataset["word"]);
      button.style.setProperty("--share", String((shares.find((each) => each.word === own)?.share ?? 0) / most));
      button.classList.toggle("glow", own === word);
      button.setAttribute("aria-pressed", String(own === kept.word));
    });
    this.say(word, place, field, top);
  }

  /** How much each word has to do with a place. @param {number} place */
  shares(place) {
    const both = /** @type {Sides} */ (this.sides);
    return this.said().map(({ name, word }) => ({
      name,
      word,
      share: this.field(word)?.values[place - both.lead] ?? 0,
    }));
  }

  /** @param {number | undefined} word @param {number | undefined} place @param {Field | null} field @param {{x: number, y: number} | null} top */
  say(word, place, field, top) {
    const both = /** @type {Sides} */ (this.sides);
    if (place !== undefined) {
      const best = this.shares(place).sort((a, b) => b.share - a.share).slice(0, BEST); // prettier-ignore
      const told = best.flatMap(({ name, share }, i) => [i ? ", " : "", h("b", null, name), " ", h("output", null, number(share))]); // prettier-ignore
      return replace(this.readout, both.across ? "This place looked at " : "This place was looked at by ", ...told);
    }
    if (word === undefined || !field)
      return replace(
        this.readout,
        h("span", { class: "hint" }, "All words on average. Point at a word to see its region, or at a place to see which words looked there; click to keep it."), // prettier-ignore
      );
    const most = field.values.reduce((so, each) => Math.max(so, each), 0);
    const even = both.across ? null : most * field.values.length;
    const judged = top && this.known ? verdict(this.known, top) : null;
    return replace(
      this.readout,
      h("b", null, labels(both.words)[word] ?? ""),
      both.across ? " was looked at most with " : " looks most with ",
      h("output", null, number(most)),
      even === null ? "" : `, ${even.toFixed(1)} times an even share`,
      judged && h("span", { class: judged.hit ? "hit" : "miss" }, judged.says),
    );
  }

  /** The small maps. */
  tiles() {
    for (const button of this.strip.querySelectorAll("button"))
      draw(button, this.field(Number(button.dataset["word"])), this.below);
  }

  /** The picture, and all words as small maps. */
  async exportSvg() {
    const colours = inks();
    const each = [...this.strip.querySelectorAll("button")];
    const across = 4;
    const [step, tall] = [TILE + 14, TILE + 34];
    const out = drawing(FIGURE + 30 + across * step, Math.max(FIGURE, Math.ceil(each.length / across) * tall), 15);
    out.append(svg("image", { width: FIGURE, height: FIGURE, href: this.main.element.toDataURL() }));
    each.forEach((button, i) => {
      const [x, y] = [FIGURE + 30 + (i % across) * step, Math.floor(i / across) * tall];
      const href = button.querySelector("canvas")?.toDataURL() ?? "";
      out.append(svg("image", { x, y, width: TILE, height: TILE, href }));
      out.append(svg("text", { x, y: y + TILE + 17, fill: colours.ink }, button.textContent ?? ""));
    });
    return out;
  }

  destroy() {
    this.main.stop();
    this.unwatch();
    this.root.remove();
  }
}

/** As a view of the bench. @param {{title?: string, truth?: (scene: Scene) => Promise<Truth | null>}} [options] @returns {import("../bench/views.js").Entry} */
export function entry({ title = "Regions", truth } = {}) {
  return {
    id: "regions",
    title,
    key: "v",
    leads: true,
    fits: ({ selection, result }) => {
      const both = [selection?.attention.rows, selection?.attention.columns].map((name) => result.axes[name ?? ""]?.kind);
      return both.includes("grid") && both.includes("words");
    }, // prettier-ignore
    create: (host, { point, pick }) => {
      const made = create(host, { onpoint: point, onpick: pick, ...(truth ? { truth } : {}) });
      return {
        update: (view, scene) => made.update(view, scene),
        highlight: (mark) => made.highlight(mark),
        pick: (mark) => made.choose(mark),
        exportSvg: () => made.exportSvg(),
        destroy: () => made.destroy(),
      };
    },
  };
}
