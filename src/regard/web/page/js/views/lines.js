/** Words and the ribbons between them: the more a word looks at another, the broader and darker the ribbon. */

import { weight as colour } from "../color.js";
import { h, replace, svg } from "../dom.js";
import { SANS, inks, measure, sheet } from "./paint.js";
import { labels, number } from "./view.js";

/** @typedef {import("./view.js").View} View */
/** @typedef {import("./view.js").Mark} Mark */
/** A word's place. @typedef {{x: number, y: number, width: number}} Place */
/**
 * @typedef {object} Options
 * @property {(mark: Mark | null) => void} [onpoint]
 * @property {(mark: Mark) => void} [onpick]
 */

const TALL = 34; // pixels of a word, and of a line in the upright layout
const SIZE = 17; // pixels of type
const CROWD = 60; // words
const STRONGEST = 8; // ribbons of a word in a crowd
const FAINTEST = 0.015; // ribbons below are left out
const SHOWN = 640; // pixels of the upright layout that are seen at once
const apart = () => Math.max(150, Math.min(320, innerHeight * 0.3)); // pixels between the two rows of words

/** @param {HTMLElement} host @param {Options} [options] */
export function create(host, options = {}) {
  /** @type {View | null} */
  let view = null;
  /** @type {{rows: string[], columns: string[]}} */
  let names = { rows: [], columns: [] };
  /** @type {{rows: Place[], columns: Place[], flat: boolean, width: number, height: number}} */
  let layout = { rows: [], columns: [], flat: true, width: 0, height: 0 };
  /** @type {Mark} */
  let picked = {};
  /** @type {Mark | null} */
  let pointed = null;
  let silent = () => {};
  /** The words in sight. @type {Map<string, HTMLButtonElement>} */
  const buttons = new Map();

  const canvas = h("canvas", { class: "lines-canvas", "aria-hidden": "true" });
  const words = h("div", { class: "lines-words" });
  const scroll = h("div", { class: "lines-scroll" }, h("div", { class: "lines-sky" }, canvas), words);
  const readout = h("p", { class: "matrix-readout", "aria-live": "polite" });
  const root = h("div", { class: "lines" }, scroll, readout);
  host.append(root);
  const page = sheet(canvas, paint);
  const watcher = new ResizeObserver(() => arrange());
  watcher.observe(root);
  scroll.addEventListener("scroll", () => {
    dress();
    page.repaint();
  });

  /** @param {View} next */
  function update(next) {
    silent();
    const same = view && next.rows === view.rows && next.columns === view.columns;
    if (!same) [picked, pointed] = [{}, null];
    view = next;
    silent = view.weights.listen(() => {
      dress();
      say();
      page.repaint();
    });
    names = { rows: labels(view.rows), columns: labels(view.columns) };
    if (!same) return arrange();
    dress();
    say();
    page.repaint();
  }

  /** Two rows of words if they fit, two columns if they do not. */
  function arrange() {
    if (!view || !root.clientWidth) return;
    layout = placed(names, root.clientWidth);
    root.classList.toggle("upright", !layout.flat);
    const tall = `${layout.flat ? layout.height : Math.min(SHOWN, layout.height)}px`;
    scroll.style.setProperty("height", tall);
    canvas.style.setProperty("height", tall);
    words.style.setProperty("height", `${layout.height}px`);
    replace(words);
    buttons.clear();
    dress();
    say();
    page.repaint();
  }

  const mark = () => pointed ?? picked;

  /** The words in sight, as buttons; each knows how much it is looked at. */
  function dress() {
    if (!view) return;
    const [from, to] = layout.flat ? [-1, 1e9] : [scroll.scrollTop - 200, scroll.scrollTop + scroll.clientHeight + 200];
    const keep = new Set();
    for (const side of /** @type {const} */ (["columns", "rows"])) {
      layout[side].forEach((place, i) => {
        if (place.y < from || place.y > to) return;
        const id = `${side}-${i}`;
        keep.add(id);
        const button = known(id) ?? words.appendChild(word(side, i, place));
        buttons.set(id, button);
        const share = shareOf(side, i);
        const on = mark()[side === "rows" ? "row" : "column"] === i;
        button.classList.toggle("on", on);
        button.setAttribute("aria-pressed", String(picked[side === "rows" ? "row" : "column"] === i));
        button.style.setProperty("--share", share === undefined ? "0" : String(Math.sqrt(share)));
        button.classList.toggle("dim", share !== undefined && share < 0.02 && !on);
      });
    }
    for (const [id, button] of buttons) if (!keep.has(id)) (button.remove(), buttons.delete(id));
  }

  /** @param {string} id @returns {HTMLButtonElement | null} */
  const known = (id) => buttons.get(id) ?? null;

  /** How much a word is looked at, or looks, while another one is isolated. @param {"rows" | "columns"} side @param {number} i */
  function shareOf(side, i) {
    const { row, column } = mark();
    if (side === "columns" && row !== undefined) return view?.weights.at(row, i) ?? 0;
    if (side === "rows" && column !== undefined) return view?.weights.at(i, column) ?? 0;
    return undefined;
  }

  /** @param {"rows" | "columns"} side @param {number} i @param {Place} place */
  function word(side, i, place) {
    const here = side === "rows" ? { row: i } : { column: i };
    const point = (/** @type {Mark | null} */ next) => () => {
      pointed = next;
      options.onpoint?.(next);
      dress();
      say();
      page.repaint();
    };
    return h(
      "button",
      {
        type: "button",
        class: `word ${side}`,
        "data-id": `${side}-${i}`,
        tabindex: i === (picked[side === "rows" ? "row" : "column"] ?? 0) ? 0 : -1,
        style: { left: `${place.x}px`, top: `${place.y}px`, width: `${place.width}px` },
        onpointerenter: point(here),
        onpointerleave: point(null),
        onfocus: point(here),
        onblur: point(null),
        onkeydown: (/** @type {KeyboardEvent} */ event) => step(event, side, i),
        onclick: () => {
          picked = picked.row === here.row && picked.column === here.column ? {} : here;
          options.onpick?.(picked);
          dress();
          say();
          page.repaint();
        },
      },
      names[side][i] ?? "",
    );
  }

  /** Arrow keys walk along the words and across. @param {KeyboardEvent} event @param {"rows" | "columns"} side @param {number} i */
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
      dress();
      say();
      page.repaint();
      return;
    } else return;
    event.preventDefault();
    const place = layout[to][at];
    if (!layout.flat && place)
      scroll.scrollTop = Math.max(
        0,
        Math.min(place.y - 100, Math.max(scroll.scrollTop, place.y + 100 - scroll.clientHeight)),
      );
    dress();
    known(`${to}-${at}`)?.focus();
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

  /** The ribbons to draw: those of the isolated word, or all that are worth it. */
  function ribbons() {
    /** @type {{row: number, column: number, weight: number}[]} */
    const found = [];
    if (!view) return found;
    const { row, column } = mark();
    const [from, to] = layout.flat ? [-1e9, 1e9] : [scroll.scrollTop - 60, scroll.scrollTop + scroll.clientHeight + 60];
    const alone = row !== undefined || column !== undefined;
    const crowd = names.columns.length > CROWD;
    layout.rows.forEach((place, i) => {
      if (row !== undefined && i !== row) return;
      if (row === undefined && (place.y < from || place.y > to)) return;
      /** @type {{row: number, column: number, weight: number}[]} */
      const own = [];
      let most = 0;
      for (let j = 0; j < names.columns.length; j++) {
        if (column !== undefined && j !== column) continue;
        const weight = view?.weights.at(i, j) ?? 0;
        most = Math.max(most, weight);
        if (weight > (crowd ? FAINTEST / 10 : FAINTEST)) own.push({ row: i, column: j, weight });
      }
      // Among many words each gets little: what stands out in its row is drawn.
      const kept =
        crowd && !alone
          ? own
              .filter((each) => each.weight > 0.4 * most)
              .sort((a, b) => b.weight - a.weight)
              .slice(0, STRONGEST)
          : own;
      found.push(...kept);
    });
    return found.sort((a, b) => a.weight - b.weight);
  }

  /** @param {CanvasRenderingContext2D} pen */
  function paint(pen) {
    const colours = inks();
    const up = layout.flat ? 0 : scroll.scrollTop;
    const alone = mark().row !== undefined || mark().column !== undefined;
    pen.translate(0, -up);
    pen.lineCap = "round";
    for (const each of ribbons()) {
      pen.globalAlpha = strength(each.weight, alone);
      pen.fillStyle = colours.accent;
      pen.fill(new Path2D(path(each)));
    }
    pen.globalAlpha = 1;
    pen.strokeStyle = colours.lamp;
    pen.lineWidth = 1.5;
    pen.setLineDash([5, 4]);
    for (const [row, column] of view?.gold ?? []) {
      if ((mark().row ?? row) !== row || (mark().column ?? column) !== column) continue;
      pen.stroke(new Path2D(thread(row, column)));
    }
    pen.setLineDash([]);
  }

  /** @param {number} row @param {number} column @returns {[Place, Place]} */
  function ends(row, column) {
    const none = { x: 0, y: 0, width: 0 };
    return [layout.columns[column] ?? none, layout.rows[row] ?? none];
  }

  /** A ribbon's outline, as wide at both ends as the weight is. @param {{row: number, column: number, weight: number}} ribbon */
  function path({ row, column, weight }) {
    const [a, b] = ends(row, column);
    const half = Math.max(0.6, 7 * weight);
    if (layout.flat) {
      const [x0, x1, y0, y1] = [a.x + a.width / 2, b.x + b.width / 2, a.y + TALL - 2, b.y + 2];
      const middle = (y0 + y1) / 2;
      return `M${x0 - half} ${y0}C${x0 - half} ${middle} ${x1 - half} ${middle} ${x1 - half} ${y1}H${x1 + half}C${x1 + half} ${middle} ${x0 + half} ${middle} ${x0 + half} ${y0}Z`;
    }
    const [x0, x1, y0, y1] = [a.x + a.width, b.x, a.y + TALL / 2, b.y + TALL / 2];
    const middle = (x0 + x1) / 2;
    return `M${x0} ${y0 - half}C${middle} ${y0 - half} ${middle} ${y1 - half} ${x1} ${y1 - half}V${y1 + half}C${middle} ${y1 + half} ${middle} ${y0 + half} ${x0} ${y0 + half}Z`;
  }

  /** A thin line between two words. @param {number} row @param {number} column */
  function thread(row, column) {
    const [a, b] = ends(row, column);
    if (layout.flat) {
      const [x0, x1, y0, y1] = [a.x + a.width / 2, b.x + b.width / 2, a.y + TALL - 2, b.y + 2];
      return `M${x0} ${y0}C${x0} ${(y0 + y1) / 2} ${x1} ${(y0 + y1) / 2} ${x1} ${y1}`;
    }
    const [x0, x1, y0, y1] = [a.x + a.width, b.x, a.y + TALL / 2, b.y + TALL / 2];
    return `M${x0} ${y0}C${(x0 + x1) / 2} ${y0} ${(x0 + x1) / 2} ${y1} ${x1} ${y1}`;
  }

  /** @returns {Promise<SVGSVGElement>} */
  async function exportSvg() {
    if (!view) return svg("svg", null);
    const colours = inks();
    await view.weights.ready();
    const { width, height } = layout;
    const alone = mark().row !== undefined || mark().column !== undefined;
    const out = svg("svg", {
      xmlns: "http://www.w3.org/2000/svg",
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      "font-family": SANS,
      "font-size": SIZE,
    });
    for (const each of ribbons())
      out.append(
        svg("path", { d: path(each), fill: colours.accent, "fill-opacity": strength(each.weight, alone).toFixed(3) }),
      );
    for (const [row, column] of view.gold ?? []) {
      out.append(
        svg("path", {
          d: thread(row, column),
          fill: "none",
          stroke: colours.lamp,
          "stroke-width": 1.5,
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
              height: TALL - 6,
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
            { x: at, y: place.y + TALL / 2 + SIZE / 3, "text-anchor": anchor, fill: colours.ink },
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
      dress();
      say();
      page.repaint();
    },
    /** Keep a word isolated. @param {Mark} mark */
    pick(mark) {
      picked = mark;
      dress();
      say();
      page.repaint();
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

/** @param {{rows: string[], columns: string[]}} names @param {number} width */
function placed(names, width) {
  const font = `${SIZE}px ${SANS}`;
  const widths = { rows: [0], columns: [0] };
  for (const side of /** @type {const} */ (["rows", "columns"])) {
    widths[side] =
      names[side].length > 200 ? names[side].map(() => 1e4) : names[side].map((name) => measure(name, font) + 16);
  }
  const total = (/** @type {number[]} */ some) => some.reduce((sum, each) => sum + each, 0) + 4 * (some.length - 1);
  const flat = Math.max(total(widths.rows), total(widths.columns)) <= width;
  if (flat) {
    const line = (/** @type {number[]} */ some, /** @type {number} */ y) => {
      // Words spread over the width as far as is pleasant, so that ribbons have room.
      const gap =
        some.length > 1
          ? Math.min(34, Math.max(4, (width - total(some) + 4 * (some.length - 1)) / (some.length - 1)))
          : 0;
      let x = Math.max(0, (width - total(some) - (gap - 4) * (some.length - 1)) / 2);
      return some.map((each) => {
        const place = { x, y, width: each };
        x += each + gap;
        return place;
      });
    };
    const height = 2 * TALL + apart();
    return { rows: line(widths.rows, TALL + apart()), columns: line(widths.columns, 0), flat, width, height };
  }
  const longest = Math.max(
    ...names.rows.slice(0, 300).map((name) => measure(name, font)),
    ...names.columns.slice(0, 300).map((name) => measure(name, font)),
  );
  const wide = Math.min(width * 0.4, longest + 20);
  const side = (/** @type {string[]} */ some, /** @type {number} */ x) =>
    some.map((_, i) => ({ x, y: i * TALL, width: wide }));
  const from = Math.max(0, (width - 2 * wide - 360) / 2);
  return {
    rows: side(names.rows, width - from - wide),
    columns: side(names.columns, from),
    flat,
    width,
    height: TALL * Math.max(names.rows.length, names.columns.length, 1),
  };
}
