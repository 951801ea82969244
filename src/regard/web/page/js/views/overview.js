/** Every head of a model at once: a thumbnail for each layer and head, which opens on a click. */

import { table } from "../color.js";
import { h, replace, svg } from "../dom.js";
import { drawing, inks, picture, sheet } from "./paint.js";

/** @typedef {{name: string, layer: number, heads: number}} Line one attention: a row of thumbnails */
/** @typedef {{title: string, lines: Line[]}} Group */
/** @typedef {{name: string, head: number}} Head */
/**
 * @typedef {object} Thumbnails
 * @property {number} size pixels along a side
 * @property {Map<string, Uint8Array[]>} pixels by name, then head
 * @property {Group[]} groups
 * @property {{name: string, head: number | "mean"} | null} chosen
 * @property {Map<string, string>} marks what was done to a head: "off" or "uniform", by `name:head`
 * @property {Map<string, string>} [notes] a word on a head, by `name:head`
 */
/** @typedef {{label: string, run: () => void, checked?: boolean}} Action */
/**
 * @typedef {object} Options
 * @property {(head: Head) => void} [onopen]
 * @property {(head: Head) => Action[]} [actions] what the menu of a head offers
 */

const GAP = 6;
const NAMES = 22; // pixels for the numbers of layers and heads

/** @param {HTMLElement} host @param {Options} [options] */
export function create(host, options = {}) {
  /** @type {Thumbnails | null} */
  let shown = null;
  /** @type {{stop: () => void}[]} */
  let sheets = [];
  let menu = h("div", null);
  const root = h("div", { class: "overview" });
  host.append(root);

  /** @param {Thumbnails} next */
  function update(next) {
    const again = shown && JSON.stringify(shown.groups) === JSON.stringify(next.groups);
    shown = next;
    if (!again) build();
    for (const each of sheets) /** @type {any} */ (each).repaint();
    for (const button of root.querySelectorAll("button.thumb")) dress(/** @type {HTMLButtonElement} */ (button));
  }

  function build() {
    for (const each of sheets) each.stop();
    sheets = [];
    replace(root, (shown?.groups ?? []).map(section));
    root.querySelector("button.thumb")?.setAttribute("tabindex", "0");
  }

  /** @param {Group} group */
  function section(group) {
    const heads = Math.max(...group.lines.map((line) => line.heads));
    const canvas = h("canvas", { "aria-hidden": "true" });
    const grid = h(
      "div",
      {
        class: "overview-grid",
        role: "grid",
        "aria-label": group.title,
        style: { "--heads": String(heads), "--layers": String(group.lines.length) },
      },
      canvas,
      group.lines.map((line, i) =>
        h(
          "div",
          { role: "row", class: "overview-row" },
          Array.from({ length: line.heads }, (_, head) =>
            h(
              "div",
              { role: "gridcell", style: { "grid-row": String(i + 1), "grid-column": String(head + 1) } },
              thumb(group, line, head),
            ),
          ),
        ),
      ),
    );
    sheets.push(sheet(canvas, (pen, size) => paint(pen, size, group, heads)));
    return h(
      "section",
      null,
      h("h3", null, group.title, h("span", { class: "quiet" }, ` ${group.lines.length} × ${heads}`)),
      h("div", { class: "overview-frame" }, grid),
    );
  }

  /** @param {Group} group @param {Line} line @param {number} head */
  function thumb(group, line, head) {
    const here = { name: line.name, head };
    const open = (/** @type {Event} */ event) => {
      event.preventDefault();
      openMenu(here, /** @type {HTMLElement} */ (event.currentTarget));
    };
    return h("button", {
      type: "button",
      class: "thumb",
      tabindex: -1,
      "data-name": line.name,
      "data-head": head,
      "data-said": `${group.title}, layer ${line.layer + 1}, head ${head + 1}`,
      onclick: () => {
        // The first click opens a head; a click on the open one offers what can be done to it.
        const open = shown?.chosen?.name === here.name && shown.chosen.head === head;
        if (open && options.actions) openMenu(here, find(here));
        else options.onopen?.(here);
      },
      oncontextmenu: open,
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key === "m") open(event);
        else step(event, group, line, head);
      },
    });
  }

  /** @param {Head} head */
  const find = (head) =>
    /** @type {HTMLElement} */ (root.querySelector(`[data-name="${head.name}"][data-head="${head.head}"]`));

  /** @param {HTMLButtonElement} button */
  function dress(button) {
    const { name = "", head = "", said = "" } = button.dataset;
    const mark = shown?.marks.get(`${name}:${head}`);
    const note = shown?.notes?.get(`${name}:${head}`);
    const label = [said, mark === "off" ? "switched off" : mark && `made ${mark}`, note].filter(Boolean).join(", ");
    const current =
      shown?.chosen?.name === name && (shown.chosen.head === "mean" || String(shown.chosen.head) === head);
    button.setAttribute("aria-label", label);
    button.title = options.actions ? `${label}. Click to open, right-click or m to switch it off.` : label;
    button.classList.toggle("current", Boolean(current));
    button.dataset["mark"] = mark ?? "";
  }

  /** @param {KeyboardEvent} event @param {Group} group @param {Line} line @param {number} head */
  function step(event, group, line, head) {
    /** @type {Record<string, [number, number]>} */
    const ways = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    const way = ways[event.key];
    if (!way || !shown) return;
    event.preventDefault();
    let place = shown.groups.indexOf(group);
    let at = group.lines.indexOf(line) + way[0];
    // Groups follow each other, so the arrows reach all of them.
    if (at < 0) at = (shown.groups[--place]?.lines.length ?? 0) - 1;
    else if (at >= group.lines.length) [place, at] = [place + 1, 0];
    const next = shown.groups[place]?.lines[at];
    if (!next) return;
    const to = Math.max(0, Math.min(next.heads - 1, head + way[1]));
    const button = find({ name: next.name, head: to });
    for (const other of root.querySelectorAll("button.thumb[tabindex='0']")) other.setAttribute("tabindex", "-1");
    button.tabIndex = 0;
    button.focus();
  }

  /** @param {Head} head @param {HTMLElement} anchor */
  function openMenu(head, anchor) {
    const actions = options.actions?.(head) ?? [];
    if (!actions.length) return;
    menu.remove();
    const close = () => {
      menu.remove();
      removeEventListener("pointerdown", outside, true);
      find(head)?.focus();
    };
    const outside = (/** @type {Event} */ event) => {
      if (!menu.contains(/** @type {Node} */ (event.target))) close();
    };
    const button = (/** @type {Action} */ { label, run, checked }, /** @type {number} */ i) =>
      h(
        "button",
        {
          type: "button",
          role: checked === undefined ? "menuitem" : "menuitemradio",
          "aria-checked": checked === undefined ? null : String(checked),
          onclick: () => {
            close();
            run();
          },
          onkeydown: (/** @type {KeyboardEvent} */ event) => {
            const items = [...menu.querySelectorAll("button")];
            if (event.key === "ArrowDown") items[(i + 1) % items.length]?.focus();
            else if (event.key === "ArrowUp") items[(i + items.length - 1) % items.length]?.focus();
            else if (event.key === "Escape") close();
            else return;
            event.preventDefault();
            event.stopPropagation();
          },
        },
        label,
      );
    menu = h(
      "div",
      { class: "menu", role: "menu", "aria-label": anchor.dataset["said"] ?? "" },
      h("p", { class: "quiet" }, anchor.dataset["said"] ?? ""),
      actions.map(button),
    );
    document.body.append(menu);
    const box = anchor.getBoundingClientRect();
    menu.style.setProperty("left", `${Math.max(8, Math.min(box.left, innerWidth - menu.offsetWidth - 8))}px`);
    menu.style.setProperty("top", `${Math.min(box.bottom + 4, innerHeight - menu.offsetHeight - 8)}px`);
    menu.querySelector("button")?.focus();
    addEventListener("pointerdown", outside, true);
  }

  /** @param {CanvasRenderingContext2D} pen @param {{width: number, height: number}} size @param {Group} group @param {number} heads */
  function paint(pen, { width, height }, group, heads) {
    if (!shown) return;
    const [wide, tall] = [(width + GAP) / heads - GAP, (height + GAP) / group.lines.length - GAP];
    const theme = table();
    pen.imageSmoothingEnabled = shown.size > wide * (devicePixelRatio || 1);
    for (const [i, line] of group.lines.entries()) {
      for (let head = 0; head < line.heads; head++) {
        const pixels = shown.pixels.get(line.name)?.[head];
        if (pixels)
          pen.drawImage(picture(pixels, shown.size, 255, theme), head * (wide + GAP), i * (tall + GAP), wide, tall);
      }
    }
  }

  /** All thumbnails in one drawing. @returns {Promise<SVGSVGElement>} */
  async function exportSvg() {
    const colours = inks();
    const cell = 48;
    const groups = shown?.groups ?? [];
    const heads = Math.max(1, ...groups.flatMap((group) => group.lines.map((line) => line.heads)));
    const width = NAMES + heads * (cell + GAP);
    const height = groups.reduce((sum, group) => sum + 34 + group.lines.length * (cell + GAP), 0);
    const out = drawing(width, height);
    out.setAttribute("fill", colours.ink);
    let top = 0;
    for (const group of groups) {
      out.append(svg("text", { x: NAMES, y: top + 20, "font-weight": 600 }, group.title));
      top += 30;
      for (const line of group.lines) {
        out.append(
          svg(
            "text",
            { x: NAMES - 8, y: top + cell / 2 + 4, "text-anchor": "end", fill: colours.muted },
            line.layer + 1,
          ),
        );
        for (let head = 0; head < line.heads; head++) {
          const pixels = shown?.pixels.get(line.name)?.[head];
          if (!pixels || !shown) continue;
          const image = {
            x: NAMES + head * (cell + GAP),
            y: top,
            width: cell,
            height: cell,
            preserveAspectRatio: "none",
            style: { "image-rendering": "pixelated" },
          };
          out.append(svg("image", { ...image, href: picture(pixels, shown.size, 255, table()).toDataURL() }));
        }
        top += cell + GAP;
      }
      top += 4;
    }
    return out;
  }

  return {
    update,
    exportSvg,
    destroy() {
      for (const each of sheets) each.stop();
      menu.remove();
      root.remove();
    },
  };
}
