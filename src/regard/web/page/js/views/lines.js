/** Words and the ribbons between them: the more a word looks at another, the broader and darker the ribbon. */

import { h, replace } from "../dom.js";
import { exported } from "./lines_export.js";
import { enlarged, inks, lettered, sheet } from "./paint.js";
import { LARGE, TYPE, placed, sized, trace, within } from "./ribbon.js";
import { Ribbons, shade, strength } from "./ribbons.js";
import { labels, number } from "./view.js";

/** @typedef {import("./view.js").View} View */
/** @typedef {import("./view.js").Mark} Mark */
/** @typedef {import("./ribbon.js").Layout} Layout */
/** @typedef {import("./ribbons.js").Ribbon} Ribbon */
/** @typedef {"rows" | "columns"} Side */
/**
 * @typedef {object} Options
 * @property {(mark: Mark | null) => void} [onpoint]
 * @property {(mark: Mark) => void} [onpick]
 * @property {boolean} [large] few words, to be seen from afar
 */

const SHADES = 12; // in a crowd, ribbons of one shade are painted in one go
const SHOWN = 640; // pixels of the upright layout that are seen at once
const STUB = 60; // pixels of a ribbon that leads out of sight
const BEYOND = 200; // pixels above and below them where words already stand
const SIDES = /** @type {Side[]} */ (["rows", "columns"]);

/** @param {HTMLElement} host @param {Options} [options] */
export function create(host, options = {}) {
  const made = new Lines(host, options);
  return {
    update: (/** @type {View} */ view) => made.update(view),
    exportSvg: async () => {
      await made.view?.weights.ready();
      return exported(made);
    },
    /** Isolate what is pointed at elsewhere. @param {Mark | null} mark */
    highlight(mark) {
      made.pointed = mark;
      made.shine();
    },
    /** Keep a word isolated. @param {Mark} mark */
    pick(mark) {
      made.picked = mark;
      made.shine();
    },
    destroy: () => made.destroy(),
  };
}

export class Lines {
  /** @param {HTMLElement} host @param {Options} options */
  constructor(host, options) {
    this.options = options;
    this.type = options.large ? LARGE : TYPE;
    /** @type {View | null} */
    this.view = null;
    /** @type {Record<Side, string[]>} */
    this.names = { rows: [], columns: [] };
    /** @type {Layout} */
    this.layout = { rows: [], columns: [], flat: true, width: 0, height: 0, type: this.type };
    /** @type {Mark} */
    this.picked = {};
    /** @type {Mark | null} */
    this.pointed = null;
    /** The words in sight. @type {Map<string, HTMLButtonElement>} */
    this.buttons = new Map();
    /** @type {Ribbons | null} */
    this.found = null;
    this.silent = () => {};
    this.family = "";
    this.build(host);
  }

  /** @param {HTMLElement} host */
  build(host) {
    this.canvas = h("canvas", { class: "lines-canvas", "aria-hidden": "true" });
    this.words = h("div", { class: "lines-words" });
    this.scroll = h("div", { class: "lines-scroll" }, h("div", { class: "lines-sky" }, this.canvas), this.words);
    this.edges = { up: this.edge("up"), down: this.edge("down") };
    this.readout = h("p", { class: "matrix-readout", "aria-live": "polite" });
    this.root = h(
      "div",
      { class: "lines" },
      h("p", { class: "lines-way from" }, "looks at"),
      h("div", { class: "lines-box" }, this.scroll, this.edges.up, this.edges.down),
      h("p", { class: "lines-way to" }, "is looked at"),
      this.readout,
    );
    host.append(this.root);
    this.page = sheet(this.canvas, (pen) => this.paint(pen));
    this.watcher = new ResizeObserver(() => this.arrange());
    this.watcher.observe(this.root);
    this.unlettered = lettered(() => this.arrange());
    this.scroll.addEventListener("scroll", () => {
      this.settle();
      this.lead();
      this.page?.repaint();
    });
  }

  /** Where ribbons lead out of sight, the way to follow them. @param {"up" | "down"} way */
  edge(way) {
    return h("button", { type: "button", class: `lines-edge ${way}`, hidden: true, tabindex: -1 });
  }

  /** @param {View} next */
  update(next) {
    this.silent();
    const same = this.view && next.rows === this.view.rows && next.columns === this.view.columns;
    if (!same) [this.picked, this.pointed] = [{}, null];
    this.view = next;
    this.names = { rows: labels(next.rows), columns: labels(next.columns) };
    this.found = new Ribbons(next, this.names.rows.length, this.names.columns.length);
    const arrived = () => {
      this.found?.forget();
      this.shine();
    };
    const heads = [next.weights, ...(next.layers ?? []).map(({ weights }) => weights)];
    const ends = heads.map((weights) => weights.listen(arrived));
    this.silent = () => ends.forEach((end) => end());
    if (same) this.shine();
    else this.arrange();
  }

  /** What is pointed at, or kept. */
  get mark() {
    return this.pointed ?? this.picked;
  }

  get alone() {
    return this.mark.row !== undefined || this.mark.column !== undefined;
  }

  /** Show it: in the words, in the ribbons, and in a sentence. */
  shine() {
    for (const [id, button] of this.buttons) this.dress(button, id);
    this.say();
    this.lead();
    this.page?.repaint();
  }

  /** Two rows of words if they fit, two columns if they do not. */
  arrange() {
    const { root, scroll, canvas, words, names } = this;
    if (!this.view || !root?.clientWidth || !scroll || !canvas || !words) return;
    this.family = getComputedStyle(words).fontFamily;
    const base = this.options.large ? LARGE : TYPE;
    const [grown, usual] = [sized(base, enlarged()), base].map((type) =>
      placed(names, root.clientWidth, type, this.family),
    );
    // Words that are too large to stand beside each other are better a little smaller than in two columns.
    this.layout = !grown.flat && usual.flat ? usual : grown;
    this.type = this.layout.type;
    root.style.setProperty("--tall", `${this.type.tall}px`);
    root.style.setProperty("--type", `${this.type.size}px`);
    root.classList.toggle("upright", !this.layout.flat);
    const tall = `${this.layout.flat ? this.layout.height : Math.min(SHOWN, this.layout.height)}px`;
    scroll.style.setProperty("height", tall);
    canvas.style.setProperty("height", tall);
    words.style.setProperty("height", `${this.layout.height}px`);
    replace(words);
    this.buttons.clear();
    this.settle();
    this.shine();
  }

  /** Have a button for each word in sight, and for no other but the one with the focus. */
  settle() {
    const { scroll, words, layout, buttons } = this;
    if (!scroll || !words) return;
    const [top, bottom] = [scroll.scrollTop - BEYOND, scroll.scrollTop + scroll.clientHeight + BEYOND];
    const { tall } = this.type;
    const [from, to] = layout.flat ? [0, Infinity] : [Math.floor(top / tall), Math.ceil(bottom / tall)];
    const away = new Set(buttons.keys());
    const fresh = document.createDocumentFragment();
    for (const side of SIDES) {
      for (let i = Math.max(0, from); i < Math.min(to, layout[side].length); i++) {
        const id = `${side}-${i}`;
        if (away.delete(id) || buttons.has(id)) continue;
        const button = fresh.appendChild(this.word(side, i));
        buttons.set(id, button);
        this.dress(button, id);
      }
    }
    for (const id of away) {
      const button = buttons.get(id);
      if (button === document.activeElement) continue;
      button?.remove();
      buttons.delete(id);
    }
    words.append(fresh);
  }

  /** A word knows how much it is looked at. @param {HTMLButtonElement} button @param {string} id */
  dress(button, id) {
    const [side, place] = /** @type {[Side, string]} */ (id.split("-"));
    const share = this.share(side, Number(place));
    const on = this.mark[one(side)] === Number(place);
    button.classList.toggle("on", on);
    button.classList.toggle("dim", share !== undefined && share < 0.02 && !on);
    button.setAttribute("aria-pressed", String(this.picked[one(side)] === Number(place)));
    button.style.setProperty("--share", share === undefined ? "0" : Math.sqrt(share).toFixed(1));
  }

  /** How much a word is looked at, or looks, while another one is isolated. @param {Side} side @param {number} i */
  share(side, i) {
    const { row, column } = this.mark;
    if (side === "columns" && row !== undefined) return this.view?.weights.at(row, i) ?? 0;
    if (side === "rows" && column !== undefined) return this.view?.weights.at(i, column) ?? 0;
    return undefined;
  }

  /** @param {Side} side @param {number} i */
  word(side, i) {
    /** @type {Mark} */
    const here = { [one(side)]: i };
    const place = this.layout[side][i];
    const name = this.names[side][i] ?? "";
    const point = (/** @type {Mark | null} */ next) => () => {
      this.pointed = next;
      this.options.onpoint?.(next);
      this.shine();
    };
    return h(
      "button",
      {
        type: "button",
        class: `word ${side}${this.view?.odd?.has(name) ? " odd" : ""}`,
        "data-id": `${side}-${i}`,
        tabindex: i === (this.picked[one(side)] ?? 0) ? 0 : -1,
        style: { left: `${place?.x}px`, top: `${place?.y}px`, width: `${place?.width}px` },
        onpointerenter: point(here),
        onpointerleave: point(null),
        onfocus: point(here),
        onblur: point(null),
        onkeydown: (/** @type {KeyboardEvent} */ event) => this.step(event, side, i),
        onclick: () => this.keep(this.picked.row === here.row && this.picked.column === here.column ? {} : here),
      },
      name,
    );
  }

  /** @param {Mark} mark */
  keep(mark) {
    this.picked = mark;
    this.options.onpick?.(mark);
    this.shine();
  }

  /** Arrow keys walk along the words and across. @param {KeyboardEvent} event @param {Side} side @param {number} i */
  step(event, side, i) {
    const { flat } = this.layout;
    const across = flat ? ["ArrowUp", "ArrowDown"] : ["ArrowLeft", "ArrowRight"];
    const along = flat ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
    if (event.key === "Escape") return this.keep({});
    let [to, at] = [side, i];
    if (along.includes(event.key))
      at = Math.max(0, Math.min(this.names[side].length - 1, i + (event.key === along[0] ? -1 : 1)));
    else if (across.includes(event.key)) {
      to = event.key === across[0] ? "rows" : "columns";
      at = Math.min(i, this.names[to].length - 1);
    } else return;
    event.preventDefault();
    this.reveal(to, at);
    this.buttons.get(`${to}-${at}`)?.focus();
  }

  /** Bring a word into sight. @param {Side} side @param {number} i */
  reveal(side, i) {
    const { scroll } = this;
    const place = this.layout[side][i];
    if (!scroll || !place || this.layout.flat) return;
    const low = Math.max(scroll.scrollTop, place.y + 100 - scroll.clientHeight);
    scroll.scrollTop = Math.max(0, Math.min(place.y - 100, low));
    this.settle();
  }

  say() {
    const { names, readout, view } = this;
    const { row, column } = this.mark;
    if (!readout) return;
    if (!view || (row === undefined && column === undefined)) {
      replace(readout, h("span", { class: "tip" }, "Point at a word to see it alone; click to keep it."));
      return;
    }
    const others = row !== undefined ? names.columns : names.rows;
    const most = others
      .map((name, i) => ({
        name,
        weight: (row !== undefined ? view.weights.at(row, i) : view.weights.at(i, column ?? 0)) ?? 0,
      }))
      .sort((a, b) => b.weight - a.weight)
      .slice(0, 3)
      .filter((each) => each.weight > 0.01);
    const list = most.flatMap(({ name, weight }, i) => [
      i ? ", " : "",
      h("b", null, name),
      " ",
      h("output", null, number(weight)),
    ]);
    const who = row !== undefined ? names.rows[row] : names.columns[column ?? 0];
    const how = row !== undefined ? " looks at " : " is looked at by ";
    replace(readout, h("b", null, who ?? ""), how, ...(list.length ? list : ["nothing in particular"]));
  }

  /** Above and below an upright picture: what the isolated word looks at out of sight. */
  lead() {
    const { scroll, layout, edges } = this;
    if (!scroll || !edges) return;
    const side = this.mark.row !== undefined ? "columns" : "rows";
    const out = layout.flat || !this.alone ? [] : this.ribbons();
    const place = (/** @type {Ribbon} */ ribbon) => layout[side][ribbon[one(side)]]?.y ?? 0;
    const above = out.filter((ribbon) => place(ribbon) < scroll.scrollTop - this.type.tall / 2);
    const below = out.filter((ribbon) => place(ribbon) > scroll.scrollTop + scroll.clientHeight - this.type.tall / 2);
    for (const [way, gone, sign] of /** @type {[HTMLButtonElement, Ribbon[], string][]} */ ([
      [edges.up, above, "↑"],
      [edges.down, below, "↓"],
    ])) {
      const best = gone.at(-1); // the strongest comes last
      way.hidden = !best;
      if (!best) continue;
      const more = new Set(gone.map((ribbon) => ribbon[one(side)])).size - 1;
      const at = best[one(side)];
      replace(way, `${sign} ${this.names[side][at]} ${number(best.weight)}${more ? ` and ${more} more` : ""}`);
      // The word under the pointer stays isolated while one follows it.
      way.onpointerenter = () => this.keepPointed();
      way.onclick = () => this.reveal(side, at);
    }
  }

  /** What is only pointed at is kept, so that the way to its ribbons does not vanish. */
  keepPointed() {
    if (this.pointed) this.keep(this.pointed);
  }

  /** The ribbons to draw, faint ones first: those of the isolated word, or all that are worth it. */
  ribbons() {
    const { found, scroll, layout, names } = this;
    if (!found || !scroll) return [];
    const { row, column } = this.mark;
    const rows = names.rows.length;
    if (row !== undefined) return found.between(row, row + 1, this.mark);
    if (column !== undefined || layout.flat) return found.between(0, rows, this.mark);
    const top = Math.floor(scroll.scrollTop / this.type.tall) - 2;
    const bottom = Math.min(rows, top + Math.ceil(scroll.clientHeight / this.type.tall) + 4);
    return found.between(Math.max(0, top), bottom, this.mark);
  }

  /** Is a word in sight? @param {Side} side @param {number} i */
  seen(side, i) {
    const place = this.layout[side][i];
    if (this.layout.flat || !place || !this.scroll) return Boolean(place);
    const { scrollTop, clientHeight } = this.scroll;
    return place.y > scrollTop - this.type.tall && place.y < scrollTop + clientHeight;
  }

  /** How much of a ribbon is drawn: all of it where both ends are in sight, else the beginning of it; none if the row is away.
   * @param {Ribbon} ribbon */
  part({ row, column }) {
    if (!this.seen("rows", row)) return 0;
    return this.seen("columns", column) ? 1 : within(this.layout, row, column, STUB);
  }

  /** @param {CanvasRenderingContext2D} pen */
  paint(pen) {
    const crowd = this.found?.crowd ?? false;
    pen.translate(0, this.layout.flat ? 0 : -(this.scroll?.scrollTop ?? 0));
    pen.beginPath();
    let before = "";
    for (const ribbon of this.ribbons()) {
      const part = this.part(ribbon);
      if (!part) continue;
      const strong = strength(ribbon, this.alone);
      const alpha = crowd ? Math.ceil(strong * SHADES) / SHADES : strong;
      const look = crowd ? `${alpha} ${ribbon.hue}` : "";
      if (!crowd || look !== before) {
        pen.fill();
        pen.beginPath();
        pen.globalAlpha = alpha;
        pen.fillStyle = shade(ribbon);
        before = look;
      }
      trace(pen, this.layout, ribbon.row, ribbon.column, this.found?.shape(ribbon, this.type.broad), part);
    }
    pen.fill();
    this.gilded(pen);
  }

  /** The true links. @param {CanvasRenderingContext2D} pen */
  gilded(pen) {
    pen.globalAlpha = 1;
    pen.strokeStyle = inks().lamp;
    pen.lineWidth = 2;
    pen.setLineDash([5, 4]);
    pen.beginPath();
    for (const [row, column] of this.gold()) trace(pen, this.layout, row, column);
    pen.stroke();
    pen.setLineDash([]);
  }

  /** Those of the isolated word, or all. */
  gold() {
    const { row, column } = this.mark;
    return (this.view?.gold ?? []).filter(([i, j]) => (row ?? i) === i && (column ?? j) === j);
  }

  destroy() {
    this.silent();
    this.unlettered?.();
    this.page?.stop();
    this.watcher?.disconnect();
    this.root?.remove();
  }
}

/** @param {Side} side */
const one = (side) => (side === "rows" ? "row" : "column");
