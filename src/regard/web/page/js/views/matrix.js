/** Attention as a picture: each row is somebody who looks, each column something to look at, darker is more. */

import { ink as readable, table, weight as colour } from "../color.js";
import { h, replace, svg } from "../dom.js";
import { MONO, SANS, drawing, fitted, inks, measure, picture, sheet } from "./paint.js";
import { TILE, labels, number } from "./view.js";

/** @typedef {import("./view.js").View} View */
/** @typedef {import("./view.js").Mark} Mark */
/**
 * @typedef {object} Options
 * @property {(mark: Mark | null) => void} [onpoint] a cell is pointed at, or none
 * @property {(mark: Mark) => void} [onpick] a cell is chosen
 * @property {number} [tallest] pixels
 */

const GOLD = "#e0a21b";
const LONG = 48; // columns, from which on colours are relative
const LARGEST = 56; // pixels of a cell, however few there are
const FIT = { left: 132, top: 104 }; // room for names, at most

/** @param {HTMLElement} host @param {Options} [options] */
export function create(host, options = {}) {
  /** @type {View | null} */
  let view = null;
  /** @type {string[]} */
  let rows = [];
  /** @type {string[]} */
  let columns = [];
  let cell = 20;
  let [x, y] = [0, 0]; // how far the picture is moved
  let margin = { left: 80, top: 60 };
  /** @type {Mark} */
  let mark = {};
  /** @type {Mark} */
  let linked = {};
  let fitting = true;
  /** @type {Map<string, {values: Float32Array, most: number, theme: Uint8ClampedArray, made: HTMLCanvasElement}>} */
  const pictures = new Map();
  let theme = table();
  let most = 1; // the weight that has the darkest colour
  let silent = () => {};

  const canvas = h("canvas", {
    class: "matrix-canvas",
    tabindex: 0,
    role: "application",
    "aria-roledescription": "attention matrix",
  });
  const readout = h("p", { class: "matrix-readout", "aria-live": "polite" });
  const zoomed = (/** @type {number} */ factor) => () => zoom(factor);
  const tools = h(
    "div",
    { class: "matrix-zoom", role: "group", "aria-label": "Zoom" },
    h("button", { type: "button", "aria-label": "Zoom out", title: "Zoom out (−)", onclick: zoomed(1 / 1.5) }, "−"),
    h("button", { type: "button", "aria-label": "Fit", title: "Fit (0)", onclick: () => fit() }, "◻"),
    h("button", { type: "button", "aria-label": "Zoom in", title: "Zoom in (+)", onclick: zoomed(1.5) }, "+"),
  );
  const key = h("span", { class: "matrix-key" });
  const root = h(
    "div",
    { class: "matrix" },
    h("div", { class: "matrix-stage" }, canvas, tools),
    h("div", { class: "matrix-foot" }, readout, key),
  );
  host.append(root);
  const page = sheet(canvas, paint);
  const watcher = new ResizeObserver(() => fitting && fit());
  watcher.observe(root);

  /** @param {View} next */
  function update(next) {
    const same = view && next.rows === view.rows && next.columns === view.columns;
    silent();
    view = next;
    rows = labels(view.rows);
    columns = labels(view.columns);
    pictures.clear();
    silent = view.weights.listen(arrived);
    arrived();
    if (!same) {
      mark = {};
      linked = {};
      fitting = true;
    }
    canvas.setAttribute(
      "aria-label",
      `${rows.length} rows look at ${columns.length} columns. Arrow keys move from cell to cell.`,
    );
    say();
    if (fitting) fit();
    page.repaint();
  }

  /** Among many columns each gets little, so that colours are spread over what there is; the key says how far. */
  function arrived() {
    const largest = columns.length > LONG ? (view?.weights.largest() ?? 0) : 1;
    most = largest || 1;
    replace(key, most < 1 ? ["0", h("i", { "aria-hidden": "true" }), number(most)] : null);
    page.repaint();
  }

  /** Make everything fit, as large as is pleasant. */
  function fit() {
    if (!view) return;
    fitting = true;
    const font = `600 16px ${SANS}`;
    const sample = (/** @type {string[]} */ names) =>
      Math.max(20, ...names.slice(0, 200).map((name) => measure(name, font)));
    margin = { left: Math.min(FIT.left, sample(rows) + 14), top: Math.min(FIT.top, sample(columns) * 0.72 + 20) };
    const width = root.clientWidth - margin.left - 40; // the last name leans out
    const height = (options.tallest ?? Math.max(360, innerHeight * 0.6)) - margin.top - 8;
    cell = Math.max(
      0.5,
      Math.min(LARGEST, width / columns.length, Math.max(height / rows.length, rows.length < 40 ? 15 : 0)),
    );
    margin.left += Math.max(0, (width - columns.length * cell) / 2); // in the middle
    [x, y] = [0, 0];
    canvas.style.setProperty("height", `${Math.ceil(margin.top + Math.max(rows.length * cell, 40) + 8)}px`);
    page.repaint();
  }

  /** @param {number} factor @param {number} [px] the place that stays where it is @param {number} [py] */
  function zoom(factor, px = canvas.clientWidth / 2, py = canvas.clientHeight / 2) {
    const next = Math.max(0.5, Math.min(64, cell * factor));
    const [u, v] = [(px - margin.left + x) / cell, (py - margin.top + y) / cell];
    cell = next;
    fitting = false;
    move(u * cell - (px - margin.left) - x, v * cell - (py - margin.top) - y);
  }

  /** @param {number} dx @param {number} dy @returns {boolean} did it move? */
  function move(dx, dy) {
    const room = (/** @type {number} */ all, /** @type {number} */ shown) => Math.max(0, all - shown);
    const most = {
      x: room(columns.length * cell + 30, canvas.clientWidth - margin.left),
      y: room(rows.length * cell + 8, canvas.clientHeight - margin.top),
    };
    const [from, to] = [x, y];
    x = Math.max(0, Math.min(most.x, x + dx));
    y = Math.max(0, Math.min(most.y, y + dy));
    page.repaint();
    return Math.abs(x - from) > 0.5 || Math.abs(y - to) > 0.5;
  }

  /** @param {CanvasRenderingContext2D} pen @param {{width: number, height: number}} size */
  function paint(pen, { width, height }) {
    if (!view) return;
    const colours = inks();
    theme = table();
    const first = { row: Math.floor(y / cell), column: Math.floor(x / cell) };
    const last = {
      row: Math.min(rows.length, Math.ceil((y + height - margin.top) / cell)),
      column: Math.min(columns.length, Math.ceil((x + width - margin.left) / cell)),
    };
    pen.save();
    pen.beginPath();
    pen.rect(margin.left, margin.top, width - margin.left, height - margin.top);
    pen.clip();
    pen.translate(margin.left - x, margin.top - y);
    pen.imageSmoothingEnabled = cell < 1;
    for (let i = Math.floor(first.row / TILE); i * TILE < last.row; i++) {
      for (let j = Math.floor(first.column / TILE); j * TILE < last.column; j++) {
        const tile = drawn(i, j);
        if (tile) pen.drawImage(tile, j * TILE * cell, i * TILE * cell, tile.width * cell, tile.height * cell);
      }
    }
    if (cell >= 12) lattice(pen, first, last, colours.raised);
    if (cell >= 34) figures(pen, first, last);
    if (view.gold) {
      // Gold on a pale rim, to be seen on any weight.
      const wide = Math.max(1.5, Math.min(2.5, cell / 12));
      for (const [stroke, width] of /** @type {[string, number][]} */ ([
        [colours.raised, wide + 2],
        [GOLD, wide],
      ])) {
        pen.strokeStyle = stroke;
        pen.lineWidth = width;
        for (const [row, column] of view.gold)
          pen.strokeRect(column * cell + wide, row * cell + wide, cell - 2 * wide, cell - 2 * wide);
      }
    }
    const pointed = { row: mark.row ?? linked.row, column: mark.column ?? linked.column };
    pen.strokeStyle = colours.accent;
    pen.lineWidth = 1.5;
    if (pointed.row !== undefined) pen.strokeRect(0, pointed.row * cell, columns.length * cell, cell);
    if (pointed.column !== undefined) pen.strokeRect(pointed.column * cell, 0, cell, rows.length * cell);
    pen.restore();
    names(pen, first, last, colours, pointed);
  }

  /** A tile in colours, painted once. @param {number} i @param {number} j */
  function drawn(i, j) {
    const values = view?.weights.tile(i, j);
    if (!view || !values) return null;
    const known = pictures.get(`${i},${j}`);
    if (known && known.values === values && known.most === most && known.theme[1020] === theme[1020]) return known.made;
    const made = picture(values, Math.min(TILE, columns.length - j * TILE), most, theme);
    pictures.set(`${i},${j}`, { values, most, theme, made });
    return made;
  }

  /** @param {CanvasRenderingContext2D} pen @param {{row: number, column: number}} first @param {{row: number, column: number}} last @param {string} paper */
  function lattice(pen, first, last, paper) {
    pen.strokeStyle = paper;
    pen.lineWidth = cell > 24 ? 2 : 1;
    pen.beginPath();
    for (let i = first.row; i <= last.row; i++) {
      pen.moveTo(first.column * cell, i * cell);
      pen.lineTo(last.column * cell, i * cell);
    }
    for (let j = first.column; j <= last.column; j++) {
      pen.moveTo(j * cell, first.row * cell);
      pen.lineTo(j * cell, last.row * cell);
    }
    pen.stroke();
  }

  /** @param {CanvasRenderingContext2D} pen @param {{row: number, column: number}} first @param {{row: number, column: number}} last*/
  function figures(pen, first, last) {
    pen.font = `${Math.min(15, cell * 0.3)}px ${MONO}`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    for (let i = first.row; i < last.row; i++) {
      for (let j = first.column; j < last.column; j++) {
        const value = view?.weights.at(i, j);
        if (value === undefined || value < 0.005) continue;
        pen.fillStyle = readable(colour(value / most));
        pen.fillText(value.toFixed(2).replace(/^0/, ""), (j + 0.5) * cell, (i + 0.5) * cell);
      }
    }
  }

  /** @param {CanvasRenderingContext2D} pen @param {{row: number, column: number}} first @param {{row: number, column: number}} last
   * @param {ReturnType<typeof inks>} colours @param {Mark} pointed */
  function names(pen, first, last, colours, pointed) {
    const step = Math.max(1, Math.ceil(13 / cell));
    const size = Math.max(10, Math.min(16, cell * 0.75));
    const font = (/** @type {boolean} */ strong) =>
      `${strong ? "600 " : ""}${strong ? Math.max(12, size) : size}px ${SANS}`;
    const tell = (/** @type {number} */ i, /** @type {number | undefined} */ chosen) =>
      i === chosen || (i % step === 0 && (chosen === undefined || step === 1 || Math.abs(i - chosen) >= step));
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    for (let i = first.row; i < last.row; i++) {
      if (!tell(i, pointed.row)) continue;
      const strong = i === pointed.row;
      pen.font = font(strong);
      pen.fillStyle = strong ? colours.accent : colours.muted;
      const top = margin.top - y + (i + 0.5) * cell;
      if (top > margin.top - 2) pen.fillText(fitted(rows[i] ?? "", pen.font, Math.min(FIT.left, margin.left) - 12), margin.left - 8, top);
    }
    pen.textAlign = "left";
    for (let j = first.column; j < last.column; j++) {
      if (!tell(j, pointed.column)) continue;
      const strong = j === pointed.column;
      pen.font = font(strong);
      pen.fillStyle = strong ? colours.accent : colours.muted;
      const left = margin.left - x + (j + 0.5) * cell;
      if (left < margin.left - 2) continue;
      pen.save();
      pen.translate(left, margin.top - 7);
      pen.rotate(-Math.PI / 4);
      pen.fillText(fitted(columns[j] ?? "", pen.font, (margin.top - 12) * 1.41), 0, 0);
      pen.restore();
    }
  }

  /** The cell under a point. @param {{offsetX: number, offsetY: number}} event @returns {Mark | null} */
  function under({ offsetX, offsetY }) {
    const [row, column] = [
      Math.floor((offsetY - margin.top + y) / cell),
      Math.floor((offsetX - margin.left + x) / cell),
    ];
    if (row >= rows.length || column >= columns.length) return null;
    if (offsetX < margin.left && offsetY < margin.top) return null;
    if (offsetX < margin.left) return row < 0 ? null : { row };
    if (offsetY < margin.top) return column < 0 ? null : { column };
    return row < 0 || column < 0 ? null : { row, column };
  }

  /** @param {Mark | null} next */
  function point(next) {
    if (next?.row === mark.row && next?.column === mark.column) return;
    mark = next ?? {};
    say();
    options.onpoint?.(next);
    page.repaint();
  }

  /** Tell what is pointed at, in full precision as soon as it is here. */
  function say() {
    const { row, column } = mark;
    if (row === undefined || column === undefined || !view) {
      replace(readout, h("span", { class: "hint" }, "Point at a cell, or press the arrow keys here."));
      return;
    }
    const told = (/** @type {number | undefined} */ value, /** @type {boolean} */ exact) => {
      const words = [h("b", null, rows[row] ?? ""), " looks at ", h("b", null, columns[column] ?? ""), " with "];
      replace(
        readout,
        ...words,
        h("output", null, exact && value !== undefined ? String(+value.toPrecision(6)) : number(value)),
      );
    };
    told(view.weights.at(row, column), false);
    const asked = view;
    asked.weights.row(row).then(
      (line) => view === asked && mark.row === row && mark.column === column && told(line[column], true),
      () => {},
    );
  }

  /** Bring a cell into sight. @param {number} row @param {number} column */
  function reveal(row, column) {
    const [wide, tall] = [canvas.clientWidth - margin.left - 30, canvas.clientHeight - margin.top - 8];
    const away = (/** @type {number} */ at, /** @type {number} */ from, /** @type {number} */ span) =>
      at * cell < from ? at * cell - from : (at + 1) * cell > from + span ? (at + 1) * cell - from - span : 0;
    move(away(column, x, wide), away(row, y, tall));
  }

  canvas.addEventListener("keydown", (event) => {
    const leap = event.shiftKey ? 10 : 1;
    /** @type {Record<string, [number, number]>} */
    const ways = { ArrowUp: [-leap, 0], ArrowDown: [leap, 0], ArrowLeft: [0, -leap], ArrowRight: [0, leap] };
    const way = ways[event.key];
    const { row = -1, column = -1 } = mark;
    if (way) {
      const next = {
        row: Math.max(0, Math.min(rows.length - 1, row < 0 ? 0 : row + way[0])),
        column: Math.max(0, Math.min(columns.length - 1, column < 0 ? 0 : column + way[1])),
      };
      reveal(next.row, next.column);
      point(next);
    } else if (event.key === "Home" || event.key === "End") {
      const next = { row: Math.max(0, row), column: event.key === "Home" ? 0 : columns.length - 1 };
      reveal(next.row, next.column);
      point(next);
    } else if (event.key === "+" || event.key === "=") zoom(1.5);
    else if (event.key === "-") zoom(1 / 1.5);
    else if (event.key === "0") fit();
    else if (event.key === "Enter" || event.key === " ") options.onpick?.(mark);
    else if (event.key === "Escape") point(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  canvas.addEventListener(
    "wheel",
    (event) => {
      const zooming = event.ctrlKey || event.metaKey;
      if (zooming) zoom(Math.exp(-event.deltaY / 300), event.offsetX, event.offsetY);
      if (zooming || move(event.shiftKey ? event.deltaY : event.deltaX, event.shiftKey ? 0 : event.deltaY))
        event.preventDefault();
    },
    { passive: false },
  );
  /** @type {Map<number, {x: number, y: number}>} */
  const fingers = new Map();
  let dragged = 0;
  canvas.addEventListener("pointerdown", (event) => {
    fingers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    dragged = 0;
  });
  canvas.addEventListener("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    if (!before) {
      point(under(event));
      return;
    }
    const here = { x: event.offsetX, y: event.offsetY };
    dragged += Math.abs(here.x - before.x) + Math.abs(here.y - before.y);
    const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1];
    if (other) {
      const span = (/** @type {{x: number, y: number}} */ a) => Math.hypot(a.x - other.x, a.y - other.y);
      zoom(span(here) / Math.max(1, span(before)), other.x, other.y);
    } else if (dragged > 4) move(before.x - here.x, before.y - here.y);
    fingers.set(event.pointerId, here);
  });
  const lift = (/** @type {PointerEvent} */ event) => fingers.delete(event.pointerId);
  canvas.addEventListener("pointerup", (event) => {
    const found = under(event);
    if (fingers.has(event.pointerId) && dragged <= 4 && found) {
      point(found);
      options.onpick?.(found);
    }
    lift(event);
  });
  canvas.addEventListener("pointercancel", lift);
  canvas.addEventListener("pointerleave", (event) => {
    lift(event);
    point(null);
  });

  /** @returns {Promise<SVGSVGElement>} */
  async function exportSvg() {
    if (!view) return svg("svg", null);
    const shown = view;
    const all = await shown.weights.all();
    const colours = inks();
    const size = rows.length * columns.length > 6400 ? Math.max(1, Math.floor(1200 / columns.length)) : 26;
    const font = `13px ${SANS}`;
    const longest = (/** @type {string[]} */ some) => Math.max(10, ...some.map((name) => measure(name, font)));
    const named = size > 8;
    const left = named ? longest(rows) + 16 : 10;
    const top = named ? longest(columns) * 0.72 + 22 : 10;
    const [width, height] = [left + columns.length * size + 40, top + rows.length * size + 10];
    const out = drawing(width, height);
    for (let i = 0; i < rows.length; i++) {
      // Neighbours of one colour are one rectangle, so that a long input does not make a huge file.
      for (let j = 0; j < columns.length;) {
        const fill = colour((all[i * columns.length + j] ?? 0) / most);
        let end = j + 1;
        while (!named && end < columns.length && colour((all[i * columns.length + end] ?? 0) / most) === fill) end += 1;
        const rect = {
          x: left + j * size,
          y: top + i * size,
          width: (end - j) * size - (named ? 1 : 0),
          height: size - (named ? 1 : 0),
          fill,
        };
        const cellNode = svg("rect", rect);
        if (named)
          cellNode.append(svg("title", null, `${rows[i]} → ${columns[j]}: ${number(all[i * columns.length + j])}`));
        out.append(cellNode);
        j = end;
      }
    }
    for (const [row, column] of shown.gold ?? []) {
      out.append(
        svg("rect", {
          x: left + column * size + 1,
          y: top + row * size + 1,
          width: size - 3,
          height: size - 3,
          fill: "none",
          stroke: GOLD,
          "stroke-width": 2,
        }),
      );
    }
    if (named) {
      rows.forEach((name, i) =>
        out.append(
          svg("text", { x: left - 8, y: top + (i + 0.66) * size, "text-anchor": "end", fill: colours.ink }, name),
        ),
      );
      columns.forEach((name, j) => {
        const [a, b] = [left + (j + 0.5) * size, top - 8];
        out.append(svg("text", { x: a, y: b, transform: `rotate(-45 ${a} ${b})`, fill: colours.ink }, name));
      });
    }
    return out;
  }

  return {
    update,
    exportSvg,
    /** Show what is pointed at elsewhere. @param {Mark | null} elsewhere */
    highlight(elsewhere) {
      linked = elsewhere ?? {};
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
