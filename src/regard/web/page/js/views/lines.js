/** Words and the ribbons between them: the more a word looks at another, the broader and darker the ribbon. */

import { weight as colour } from "../color.js";
import { h, replace, svg } from "../dom.js";
import { drawing, inks, sheet } from "./paint.js";
import { LARGE, TYPE, placed, trace, traced, within } from "./ribbon.js";
import { labels, number } from "./view.js";

/** @typedef {import("./view.js").View} View */
/** @typedef {import("./view.js").Mark} Mark */
/** @typedef {import("./ribbon.js").Layout} Layout */
/** @typedef {{row: number, column: number, weight: number}} Ribbon */
/** @typedef {"rows" | "columns"} Side */
/**
 * @typedef {object} Options
 * @property {(mark: Mark | null) => void} [onpoint]
 * @property {(mark: Mark) => void} [onpick]
 * @property {boolean} [large] few words, to be seen from afar
 */

const CROWD = 60; // words
const STRONGEST = 8; // ribbons of a word in a crowd
const FAINTEST = 0.015; // ribbons below are left out
const SHADES = 12; // in a crowd, ribbons of one shade are painted in one go
const SHOWN = 640; // pixels of the upright layout that are seen at once
const STUB = 60; // pixels of a ribbon that leads out of sight
const BEYOND = 200; // pixels above and below them where words already stand

/** @param {HTMLElement} host @param {Options} [options] */
export function create(host, options = {}) {
  /** @type {View | null} */
  let view = null;
  /** @type {{rows: string[], columns: string[]}} */
  let names = { rows: [], columns: [] };
  /** @type {Layout} */
  let layout = { rows: [], columns: [], flat: true, width: 0, height: 0, type: TYPE };
  /** @type {Mark} */
  let picked = {};
  /** @type {Mark | null} */
  let pointed = null;
  let silent = () => {};
  /** The words in sight. @type {Map<string, HTMLButtonElement>} */
  const buttons = new Map();
  /** What stands out in a row, found once. @type {Map<number, Ribbon[]>} */
  const strongest = new Map();

  const canvas = h("canvas", { class: "lines-canvas", "aria-hidden": "true" });
  const words = h("div", { class: "lines-words" });
  const scroll = h("div", { class: "lines-scroll" }, h("div", { class: "lines-sky" }, canvas), words);
  const readout = h("p", { class: "matrix-readout", "aria-live": "polite" });
  const type = options.large ? LARGE : TYPE;
  const root = h("div", { class: "lines", style: { "--tall": `${type.tall}px`, "--type": `${type.size}px` } }, scroll, readout);
  host.append(root);
  const page = sheet(canvas, paint);
  const watcher = new ResizeObserver(() => arrange());
  watcher.observe(root);
  scroll.addEventListener("scroll", () => {
    settle();
    page.repaint();
  });

  /** @param {View} next */
  function update(next) {
    silent();
    const same = view && next.rows === view.rows && next.columns === view.columns;
    if (!same) [picked, pointed] = [{}, null];
    view = next;
    strongest.clear();
    silent = view.weights.listen(() => {
      strongest.clear();
      shine();
    });
    names = { rows: labels(view.rows), columns: labels(view.columns) };
    if (same) shine();
    else arrange();
  }

  /** Show what is pointed at, or kept: in the words, in the ribbons, and in a sentence. */
  function shine() {
    for (const [id, button] of buttons) dress(button, id);
    say();
    page.repaint();
  }

  /** Two rows of words if they fit, two columns if they do not. */
  function arrange() {
    if (!view || !root.clientWidth) return;
    layout = placed(names, root.clientWidth, type, getComputedStyle(words).fontFamily);
    root.classList.toggle("upright", !layout.flat);
    const tall = `${layout.flat ? layout.height : Math.min(SHOWN, layout.height)}px`;
    scroll.style.setProperty("height", tall);
    canvas.style.setProperty("height", tall);
    words.style.setProperty("height", `${layout.height}px`);
    replace(words);
    buttons.clear();
    settle();
    say();
    page.repaint();
  }

  const mark = () => pointed ?? picked;

  /** Have a button for each word in sight, and for no other but the one with the focus. */
  function settle() {
    const top = scroll.scrollTop - BEYOND;
    const bottom = scroll.scrollTop + scroll.clientHeight + BEYOND;
    const [from, to] = layout.flat ? [0, Infinity] : [Math.floor(top / type.tall), Math.ceil(bottom / type.tall)];
    const away = new Set(buttons.keys());
    const fresh = document.createDocumentFragment();
    for (const side of /** @type {Side[]} */ (["columns", "rows"])) {
      for (let i = Math.max(0, from); i < Math.min(to, layout[side].length); i++) {
        const id = `${side}-${i}`;
        if (away.delete(id) || buttons.has(id)) continue;
        const button = fresh.appendChild(word(side, i));
        buttons.set(id, button);
        dress(button, id);
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
  function dress(button, id) {
    const [side, place] = /** @type {[Side, string]} */ (id.split("-"));
    const share = shareOf(side, Number(place));
    const on = mark()[one(side)] === Number(place);
    button.classList.toggle("on", on);
    button.classList.toggle("dim", share !== undefined && share < 0.02 && !on);
    button.setAttribute("aria-pressed", String(picked[one(side)] === Number(place)));
    button.style.setProperty("--share", share === undefined ? "0" : Math.sqrt(share).toFixed(1));
  }

  /** How much a word is looked at, or looks, while another one is isolated. @param {Side} side @param {number} i */
  function shareOf(side, i) {
    const { row, column } = mark();
    if (side === "columns" && row !== undefined) return view?.weights.at(row, i) ?? 0;
    if (side === "rows" && column !== undefined) return view?.weights.at(i, column) ?? 0;
    return undefined;
  }

  /** @param {Side} side @param {number} i */
  function word(side, i) {
    /** @type {Mark} */
    const here = { [one(side)]: i };
    const place = layout[side][i];
    const point = (/** @type {Mark | null} */ next) => () => {
      pointed = next;
      options.onpoint?.(next);
      shine();
    };
    return h(
      "button",
      {
        type: "button",
        class: `word ${side}`,
        "data-id": `${side}-${i}`,
        tabindex: i === (picked[one(side)] ?? 0) ? 0 : -1,
        style: { left: `${place?.x}px`, top: `${place?.y}px`, width: `${place?.width}px` },
        onpointerenter: point(here),
        onpointerleave: point(null),
        onfocus: point(here),
        onblur: point(null),
        onkeydown: (/** @type {KeyboardEvent} */ event) => step(event, side, i),
        onclick: () => {
          picked = picked.row === here.row && picked.column === here.column ? {} : here;
          options.onpick?.(picked);
          shine();
        },
      },
      names[side][i] ?? "",
    );
  }

  /** Arrow keys walk along the words and across. @param {KeyboardEvent} event @param {Side} side @param {number} i */
  function step(event, side, i) {
    const across = layout.flat ? ["ArrowUp", "ArrowDown"] : ["ArrowLeft", "ArrowRight"];
    const along = layout.flat ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
    /** @type {"rows" | "columns"} */
    let to = side;
    let at = i;
    if (along.includes(event.key))
      at = Math.max(0, Math.min(names[side].length - 1, i + (event.key === along[0] ? -1 : 1)));
    else if (across.includes(event.key)) {
      to = event.key === across[0] ? "columns" : "rows";
      at = Math.min(i, names[to].length - 1);
    } else if (event.key === "Escape") {
      picked = {};
      options.onpick?.(picked);
      shine();
      return;
    } else return;
    event.preventDefault();
    const place = layout[to][at];
    if (!layout.flat && place)
      scroll.scrollTop = Math.max(
        0,
        Math.min(place.y - 100, Math.max(scroll.scrollTop, place.y + 100 - scroll.clientHeight)),
      );
    settle();
    buttons.get(`${to}-${at}`)?.focus();
  }

  function say() {
    const { row, column } = mark();
    if (!view || (row === undefined && column === undefined)) {
      replace(readout, h("span", { class: "hint" }, "Point at a word to see it alone; click to keep it."));
      return;
    }
    const others = row !== undefined ? names.columns : names.rows;
    const weights = others.map((name, i) => ({
      name,
      weight: (row !== undefined ? view?.weights.at(row, i) : view?.weights.at(i, column ?? 0)) ?? 0,
    }));
    const most = weights
      .sort((a, b) => b.weight - a.weight)
      .slice(0, 3)
      .filter((each) => each.weight > 0.01);
    const list = most.flatMap((each, i) => [
      i ? ", " : "",
      h("b", null, each.name),
      " ",
      h("output", null, number(each.weight)),
    ]);
    const who =
      row !== undefined
        ? [h("b", null, names.rows[row] ?? ""), " looks at "]
        : [h("b", null, names.columns[column ?? 0] ?? ""), " is looked at by "];
    replace(readout, ...who, ...(list.length ? list : ["nothing in particular"]));
  }

  /** The ribbons to draw, faint ones first: those of the isolated word, or all that are worth it. @param {boolean} [all] also out of sight */
  function ribbons(all = false) {
    const { row, column } = mark();
    const rows = names.rows.length;
    if (row !== undefined) return found(row, row + 1);
    if (column !== undefined || layout.flat || all) return found(0, rows);
    const top = Math.floor(scroll.scrollTop / type.tall) - 2;
    return found(Math.max(0, top), Math.min(rows, top + Math.ceil(scroll.clientHeight / type.tall) + 4));
  }

  /** @param {number} from @param {number} to rows */
  function found(from, to) {
    /** @type {Ribbon[]} */
    const out = [];
    const { row, column } = mark();
    const crowd = names.columns.length > CROWD;
    const least = crowd ? FAINTEST / 10 : FAINTEST;
    for (let i = from; i < to; i++) {
      if (crowd && row === undefined && column === undefined) {
        out.push(...standing(i));
        continue;
      }
      const [first, last] = column === undefined ? [0, names.columns.length] : [column, column + 1];
      for (let j = first; j < last; j++) {
        const weight = view?.weights.at(i, j) ?? 0;
        if (weight > least) out.push({ row: i, column: j, weight });
      }
    }
    return out.sort((a, b) => a.weight - b.weight);
  }

  /** Among many words each gets little: what stands out in its row is drawn. @param {number} row */
  function standing(row) {
    const known = strongest.get(row);
    if (known) return known;
    const weights = names.columns.map((_, j) => view?.weights.at(row, j) ?? 0);
    const least = Math.max(FAINTEST / 10, 0.4 * Math.max(...weights));
    const kept = weights
      .map((weight, column) => ({ row, column, weight }))
      .filter(({ weight }) => weight > least)
      .sort((a, b) => b.weight - a.weight)
      .slice(0, STRONGEST);
    strongest.set(row, kept);
    return kept;
  }

  /** @param {CanvasRenderingContext2D} pen */
  function paint(pen) {
    const colours = inks();
    const alone = mark().row !== undefined || mark().column !== undefined;
    const crowd = names.columns.length > CROWD;
    pen.translate(0, layout.flat ? 0 : -scroll.scrollTop);
    pen.fillStyle = colours.accent;
    const [top, bottom] = [scroll.scrollTop - type.tall, scroll.scrollTop + scroll.clientHeight];
    const seen = (/** @type {import("./ribbon.js").Place | undefined} */ place) =>
      layout.flat || (place !== undefined && place.y > top && place.y < bottom);
    let shade = 0;
    for (const { row, column, weight } of ribbons()) {
      if (!seen(layout.rows[row])) continue;
      const next = crowd ? Math.ceil(strength(weight, alone) * SHADES) / SHADES : strength(weight, alone);
      if (!crowd || next !== shade) {
        if (shade) pen.fill();
        pen.beginPath();
        pen.globalAlpha = shade = next;
      }
      trace(pen, layout, row, column, weight, seen(layout.columns[column]) ? 1 : within(layout, row, column, STUB));
    }
    if (shade) pen.fill();
    pen.globalAlpha = 1;
    pen.strokeStyle = colours.lamp;
    pen.lineWidth = 2;
    pen.setLineDash([5, 4]);
    pen.beginPath();
    for (const [row, column] of view?.gold ?? []) {
      if ((mark().row ?? row) !== row || (mark().column ?? column) !== column) continue;
      trace(pen, layout, row, column);
    }
    pen.stroke();
    pen.setLineDash([]);
  }

  /** @returns {Promise<SVGSVGElement>} */
  async function exportSvg() {
    if (!view) return svg("svg", null);
    const colours = inks();
    await view.weights.ready();
    const { width, height } = layout;
    const alone = mark().row !== undefined || mark().column !== undefined;
    const out = drawing(width, height, type.size);
    for (const { row, column, weight } of ribbons(true)) {
      const d = traced(layout, row, column, weight);
      out.append(svg("path", { d, fill: colours.accent, "fill-opacity": strength(weight, alone).toFixed(3) }));
    }
    for (const [row, column] of view.gold ?? []) {
      out.append(
        svg("path", {
          d: traced(layout, row, column),
          fill: "none",
          stroke: colours.lamp,
          "stroke-width": 2,
          "stroke-dasharray": "5 4",
        }),
      );
    }
    for (const side of /** @type {const} */ (["columns", "rows"])) {
      layout[side].forEach((place, i) => {
        const share = shareOf(side, i);
        if (share)
          out.append(
            svg("rect", {
              x: place.x,
              y: place.y + 3,
              width: place.width,
              height: type.tall - 6,
              rx: 6,
              fill: colour(share),
              "fill-opacity": 0.35,
            }),
          );
        const anchor = layout.flat ? "middle" : side === "columns" ? "end" : "start";
        const at = layout.flat
          ? place.x + place.width / 2
          : side === "columns"
            ? place.x + place.width - 8
            : place.x + 8;
        out.append(
          svg(
            "text",
            { x: at, y: place.y + type.tall / 2 + type.size / 3, "text-anchor": anchor, fill: colours.ink },
            names[side][i] ?? "",
          ),
        );
      });
    }
    return out;
  }

  return {
    update,
    exportSvg,
    /** Isolate what is pointed at elsewhere. @param {Mark | null} elsewhere */
    highlight(elsewhere) {
      pointed = elsewhere;
      shine();
    },
    /** Keep a word isolated. @param {Mark} mark */
    pick(mark) {
      picked = mark;
      shine();
    },
    destroy() {
      silent();
      page.stop();
      watcher.disconnect();
      root.remove();
    },
  };
}

/** @param {number} weight @param {boolean} alone */
const strength = (weight, alone) => Math.min(1, (alone ? 0.12 : 0.06) + weight * (alone ? 0.88 : 0.78));
/** @param {Side} side */
const one = (side) => (side === "rows" ? "row" : "column");
