/** Every head of a model at once: a thumbnail for each layer and head, with numbers on both edges; several are chosen by dragging. */

import { table } from "../color.js";
import { h, replace } from "../dom.js";
import { closeMenu, openMenu } from "./menu.js";
import { exported } from "./overview_export.js";
import { enlarged, headHue, picture, sheet } from "./paint.js";

/** One attention: a row of thumbnails; `short` stands at its edge, `called` names it. @typedef {{name: string, layer: number, heads: number, short: string, called: string}} Line */
/** @typedef {{title: string, lines: Line[]}} Group */
/** @typedef {{name: string, head: number}} Head */
/**
 * @typedef {object} Thumbnails
 * @property {number} size pixels along a side
 * @property {Map<string, Uint8Array[]>} pixels by name, then head
 * @property {Group[]} groups
 * @property {Set<string>} chosen heads that are looked at, as `name:head`
 * @property {boolean} [coloured] each in a colour of its own
 * @property {Map<string, string>} marks what was done to a head: "off" or "uniform", by `name:head`
 * @property {Map<string, string>} [notes] a word on a head, by `name:head`
 */
/**
 * @typedef {object} Options
 * @property {(heads: Head[], how: "only" | "toggle") => void} [onselect]
 * @property {(heads: Head[]) => import("./menu.js").Action[]} [actions] what the menu of some heads offers
 */
/** A cell of a group: −1 is an edge, with its numbers. @typedef {{group: number, line: number, head: number}} Cell */

const EDGE = 26; // pixels for the numbers of layers
const [SMALLEST, LARGEST] = [13, 56]; // pixels of a thumbnail
const HEADING = 56; // pixels of a group that are no thumbnails

/** @param {HTMLElement} host @param {Options} [options] */
export function create(host, options = {}) {
  const made = new Overview(host, options);
  return {
    update: (/** @type {Thumbnails} */ next) => made.update(next),
    exportSvg: async () => exported(made.shown),
    destroy: () => made.destroy(),
  };
}

/** @param {Head} head */
export const keyOf = ({ name, head }) => `${name}:${head}`;

class Overview {
  /** @param {HTMLElement} host @param {Options} options */
  constructor(host, options) {
    this.options = options;
    /** @type {Thumbnails | null} */
    this.shown = null;
    /** @type {import("./paint.js").Sheet[]} */
    this.sheets = [];
    /** @type {Map<string, HTMLButtonElement>} */
    this.buttons = new Map();
    /** @type {Cell | null} */
    this.begun = null; // where a drag began
    /** @type {Cell | null} */
    this.reached = null;
    this.dragged = false;
    this.several = false; // taps add, as Ctrl does
    this.root = h("div", { class: "overview" });
    host.append(this.root);
    this.watcher = new ResizeObserver(() => this.measure());
    this.watcher.observe(this.root);
    this.drags();
  }

  /** @param {Thumbnails} next */
  update(next) {
    const again = this.shown && JSON.stringify(this.shown.groups) === JSON.stringify(next.groups);
    this.shown = next;
    if (!again) this.build();
    for (const each of this.sheets) each.repaint();
    for (const button of this.buttons.values()) this.dress(button);
  }

  build() {
    for (const each of this.sheets) each.stop();
    this.sheets = [];
    this.buttons.clear();
    replace(
      this.root,
      (this.shown?.groups ?? []).map((group, i) => this.section(group, i)),
    );
    this.root.querySelector("button.thumb")?.setAttribute("tabindex", "0");
    this.measure();
  }

  /** As large as the width and the window allow, for all layers of all groups. */
  measure() {
    const groups = this.shown?.groups ?? [];
    const layers = groups.reduce((sum, group) => sum + group.lines.length, 0);
    const heads = Math.max(1, ...groups.map(wideness));
    const across = Math.max(
      1,
      Math.min(groups.length, Math.floor(this.root.clientWidth / (EDGE + (30 * heads + 60) * enlarged()))),
    );
    const wide = (this.root.clientWidth / across - EDGE - 16) / heads;
    const room = Math.max(420, innerHeight * 0.8) - HEADING * Math.ceil(groups.length / across);
    const tall = (room * across) / Math.max(1, layers);
    const cell = Math.max(Math.min(SMALLEST, wide), Math.min(LARGEST * enlarged(), wide, tall));
    this.root.style.setProperty("--across", String(across));
    this.root.style.setProperty("--cell", `${cell.toFixed(2)}px`);
    this.root.style.setProperty("--between", `${cell > 30 ? 4 : cell > 18 ? 2 : 1}px`);
  }

  /** @param {Group} group @param {number} place */
  section(group, place) {
    const heads = wideness(group);
    const canvas = h("canvas", { "aria-hidden": "true" });
    const grid = h(
      "div",
      {
        class: "overview-grid",
        role: "grid",
        "aria-label": group.title,
        style: { "--heads": String(heads), "--layers": String(group.lines.length) },
      },
      h(
        "div",
        { role: "row", class: "overview-row" },
        h("span", { class: "overview-corner", role: "columnheader" }, "head"),
        Array.from({ length: heads }, (_, head) =>
          this.edge({ group: place, line: -1, head }, `Head ${head + 1} of all layers`),
        ),
      ),
      canvas,
      group.lines.map((line, i) =>
        h(
          "div",
          { role: "row", class: "overview-row" },
          this.edge({ group: place, line: i, head: -1 }, `${line.called}, all heads`, line.short),
          Array.from({ length: line.heads }, (_, head) => this.thumb({ group: place, line: i, head })),
        ),
      ),
    );
    this.sheets.push(sheet(canvas, (pen, size) => this.paint(pen, size, group)));
    return h("section", null, this.heading(group, place, heads), grid);
  }

  /** @param {Group} group @param {number} place @param {number} heads */
  heading(group, place, heads) {
    const count =
      heads > 1 ? `${group.lines.length} × ${heads}` : group.lines.length > 1 ? `${group.lines.length} layers` : "";
    const several = h("button", {
      type: "button",
      class: "chip overview-several",
      "aria-pressed": String(this.several),
      title: "Add to what is chosen (as Ctrl and a click do), or drag over several",
      onclick: () => this.adding(!this.several),
    }, "several"); // prettier-ignore
    const more = h("button", {
      type: "button",
      class: "icon small overview-more",
      "aria-label": `Switch heads off: ${group.title}`,
      title: "Switch off or make uniform what is chosen",
      onclick: () => this.menu(more, this.chosenIn(place)),
    }, "⋯"); // prettier-ignore
    return h(
      "header",
      null,
      h("h2", null, group.title, h("span", { class: "quiet" }, ` ${count}`)),
      heads * group.lines.length > 1 && several,
      this.options.actions && more,
    );
  }

  /** @param {boolean} on */
  adding(on) {
    this.several = on;
    this.root.classList.toggle("several", on);
    for (const button of this.root.querySelectorAll(".overview-several"))
      button.setAttribute("aria-pressed", String(on));
  }

  /** The chosen heads of a group; all of them if none is. @param {number} place */
  chosenIn(place) {
    const all = this.area({ group: place, line: 0, head: 0 }, { group: place, line: 1e6, head: 1e6 });
    const some = all.filter((head) => this.shown?.chosen.has(keyOf(head)));
    return some.length ? some : all;
  }

  /** The number of a layer or of a head, which stands for all of them. @param {Cell} cell @param {string} title @param {string} [text] */
  edge(cell, title, text = String(cell.head + 1)) {
    const some = () =>
      this.area(
        { ...cell, line: Math.max(0, cell.line), head: Math.max(0, cell.head) },
        { ...cell, line: cell.line < 0 ? 1e6 : cell.line, head: cell.head < 0 ? 1e6 : cell.head },
      );
    const button = h(
      "button",
      {
        type: "button",
        class: "edge",
        tabindex: -1,
        "aria-label": title,
        title: this.options.actions ? `${title}. Click to choose, right-click or m to switch off.` : title,
        style: place(cell),
        onclick: (/** @type {MouseEvent} */ event) => this.select(some(), event),
        oncontextmenu: (/** @type {Event} */ event) => {
          event.preventDefault();
          this.menu(button, some());
        },
        onkeydown: (/** @type {KeyboardEvent} */ event) => this.pressed(event, cell, button, some),
      },
      text,
    );
    this.buttons.set(idOf(cell), button);
    return h("div", { role: cell.line < 0 ? "columnheader" : "rowheader", class: "overview-cell" }, button);
  }

  /** @param {Cell} cell */
  thumb(cell) {
    const head = this.at(cell);
    const some = () => [head];
    const button = h("button", {
      type: "button",
      class: "thumb",
      tabindex: -1,
      "data-name": head.name,
      "data-head": head.head,
      "data-cell": idOf(cell),
      onclick: (/** @type {MouseEvent} */ event) => this.dragged || this.select([head], event),
      oncontextmenu: (/** @type {Event} */ event) => {
        event.preventDefault();
        this.menu(button, some());
      },
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.pressed(event, cell, button, some),
    });
    this.buttons.set(idOf(cell), button);
    return h("div", { role: "gridcell", class: "overview-cell", style: place(cell) }, button);
  }

  /** @param {Head[]} heads @param {MouseEvent | KeyboardEvent | PointerEvent} event */
  select(heads, event) {
    const adding = this.several || event.ctrlKey || event.metaKey || event.shiftKey;
    this.options.onselect?.(heads, adding ? "toggle" : "only");
  }

  /** @param {HTMLElement} anchor @param {Head[]} heads */
  menu(anchor, heads) {
    const actions = this.options.actions?.(heads) ?? [];
    const [one] = heads;
    if (actions.length && one) openMenu(anchor, heads.length > 1 ? `${heads.length} heads` : this.said(one), actions);
  }

  /** @param {Head} head */
  said({ name, head }) {
    const group = this.shown?.groups.find(({ lines }) => lines.some((line) => line.name === name));
    const line = group?.lines.find((each) => each.name === name);
    return `${group?.title ?? ""}, ${line?.called.replace("Layer", "layer") ?? ""}, head ${head + 1}`;
  }

  /** @param {Cell} cell @returns {Head} */
  at({ group, line, head }) {
    return { name: this.shown?.groups[group]?.lines[line]?.name ?? "", head };
  }

  /** The heads between two cells of a group. @param {Cell} from @param {Cell} to @returns {Head[]} */
  area(from, to) {
    const lines = this.shown?.groups[from.group]?.lines ?? [];
    const [top, bottom] = [Math.min(from.line, to.line), Math.max(from.line, to.line)];
    const [left, right] = [Math.min(from.head, to.head), Math.max(from.head, to.head)];
    return lines
      .slice(top, bottom + 1)
      .flatMap(({ name, heads }) => Array.from({ length: heads }, (_, head) => ({ name, head })))
      .filter(({ head }) => head >= left && head <= right);
  }

  /** Drag from one thumbnail to another to choose all between. */
  drags() {
    const under = (/** @type {PointerEvent} */ event) => {
      const found = document.elementFromPoint(event.clientX, event.clientY)?.closest("button.thumb");
      return found instanceof HTMLElement && this.root.contains(found) ? cellOf(found.dataset["cell"] ?? "") : null;
    };
    this.root.addEventListener("pointerdown", (event) => {
      this.dragged = false;
      this.begun = event.button === 0 && (event.pointerType !== "touch" || this.several) ? under(event) : null;
      if (this.begun) /** @type {Element} */ (event.target).releasePointerCapture?.(event.pointerId);
    });
    this.root.addEventListener("pointermove", (event) => {
      if (!this.begun || !event.buttons) return;
      const to = under(event);
      if (!to || to.group !== this.begun.group || (!this.dragged && idOf(to) === idOf(this.begun))) return;
      [this.dragged, this.reached] = [true, to];
      const over = new Set(this.area(this.begun, to).map(keyOf));
      for (const button of this.buttons.values())
        button.classList.toggle("dragged", over.has(`${button.dataset["name"]}:${button.dataset["head"]}`));
    });
    this.ended = (/** @type {PointerEvent} */ event) => {
      if (this.begun && this.dragged && this.reached) {
        this.select(this.area(this.begun, this.reached), event);
        setTimeout(() => (this.dragged = false)); // the click that follows is none
      }
      this.begun = this.reached = null;
      for (const button of this.buttons.values()) button.classList.remove("dragged");
    };
    addEventListener("pointerup", this.ended);
  }

  /** @param {HTMLButtonElement} button */
  dress(button) {
    const { name, head } = button.dataset;
    if (name === undefined || head === undefined) return;
    const key = `${name}:${head}`;
    const mark = this.shown?.marks.get(key);
    const done = mark === "off" ? "switched off" : mark && `made ${mark}`;
    const label = [this.said({ name, head: Number(head) }), done, this.shown?.notes?.get(key)]
      .filter(Boolean)
      .join(", ");
    const current = this.shown?.chosen.has(key) ?? false;
    button.setAttribute("aria-label", label);
    button.setAttribute("aria-pressed", String(current));
    button.title = this.options.actions
      ? `${label}. Click to open, drag to choose several, right-click or m to switch off.`
      : label;
    button.classList.toggle("current", current);
    button.dataset["mark"] = mark ?? "";
    button.style.setProperty("--hue", current && this.shown?.coloured ? headHue(Number(head)) : "var(--accent)");
  }

  /** @param {KeyboardEvent} event @param {Cell} cell @param {HTMLElement} button @param {() => Head[]} some */
  pressed(event, cell, button, some) {
    /** @type {Record<string, [number, number]>} */
    const ways = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    const way = ways[event.key];
    if (event.key === "m") this.menu(button, some());
    else if (way) this.step(cell, way);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Arrow keys reach the numbers on the edges and the groups that follow. @param {Cell} cell @param {[number, number]} way */
  step({ group, line, head }, [down, right]) {
    const groups = this.shown?.groups ?? [];
    let [to, at] = [group, line + down];
    if (at >= (groups[to]?.lines.length ?? 0)) [to, at] = [to + 1, 0];
    else if (at < -1 || (at === -1 && head === -1)) [to, at] = [to - 1, (groups[to - 1]?.lines.length ?? 0) - 1];
    const many = at < 0 ? wideness(/** @type {Group} */ (groups[to])) : groups[to]?.lines[at]?.heads;
    if (many === undefined) return;
    const beside = Math.max(at < 0 ? 0 : -1, Math.min(many - 1, head + right));
    const button = this.buttons.get(idOf({ group: to, line: at, head: beside }));
    for (const other of this.root.querySelectorAll("button[tabindex='0']:is(.thumb, .edge)"))
      other.setAttribute("tabindex", "-1");
    button?.setAttribute("tabindex", "0");
    button?.focus();
  }

  /** @param {CanvasRenderingContext2D} pen @param {{width: number, height: number}} size @param {Group} group */
  paint(pen, { width, height }, group) {
    const { shown } = this;
    if (!shown) return;
    const gap = parseFloat(this.root.style.getPropertyValue("--between")) || 1;
    const [wide, tall] = [width / wideness(group), height / group.lines.length];
    const theme = table();
    pen.imageSmoothingEnabled = shown.size > wide * (devicePixelRatio || 1);
    for (const [i, line] of group.lines.entries()) {
      for (let head = 0; head < line.heads; head++) {
        const pixels = shown.pixels.get(line.name)?.[head];
        if (pixels)
          pen.drawImage(picture(pixels, shown.size, 255, theme), head * wide, i * tall, wide - gap, tall - gap);
      }
    }
  }

  destroy() {
    if (this.ended) removeEventListener("pointerup", this.ended);
    closeMenu();
    this.watcher.disconnect();
    for (const each of this.sheets) each.stop();
    this.root.remove();
  }
}

/** @param {Group} group */
export const wideness = (group) => Math.max(1, ...group.lines.map((line) => line.heads));
/** @param {Cell} cell */
const idOf = ({ group, line, head }) => `${group}/${line}/${head}`;
/** @param {string} id @returns {Cell} */
const cellOf = (id) => {
  const [group = 0, line = 0, head = 0] = id.split("/").map(Number);
  return { group, line, head };
};
/** @param {Cell} cell */
const place = ({ line, head }) => ({ "grid-row": String(line + 2), "grid-column": String(head + 2) });
