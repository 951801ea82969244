/** A small matrix on the page: words beside it, a symbol above, and cells that can be read, picked or changed. */

import { ink, signed, weight } from "../color.js";
import { h, set } from "../dom.js";
import { bounded, brief, round, shown } from "./numbers.js";

/** @typedef {import("./math.js").Matrix} Matrix */
/** @typedef {import("../dom.js").Child} Child */
/**
 * @typedef {object} Options
 * @property {string} name read aloud: "scores"
 * @property {Child} title the symbol above
 * @property {string} [note] a word or two below the symbol
 * @property {string[]} [rows] words at the left
 * @property {string[]} [spoken] words of the rows that are read aloud only, since they stand in the same line already
 * @property {string[]} [columns] words above
 * @property {"vector" | "score" | "weight"} [kind]
 * @property {(i: number, j: number, value: number) => void} [edit] numbers may be changed
 * @property {(i: number, j: number) => void} [pick] a cell may be chosen
 * @property {boolean} [added] this step adds it
 * @property {boolean} [again] the words stand already at the matrix before
 * @property {boolean} [bare] no numbers: colour says it
 * @property {boolean} [barred] a weight fills its cell from the left
 * @property {boolean} [mirrored] the words stand at the right
 * @property {boolean} [summed] a line below tells the sum
 */

const STEP = 0.1;

export class Grid {
  /** @param {number} height @param {number} width @param {Options} options */
  constructor(height, width, options) {
    this.options = options;
    this.width = width;
    const { rows, columns, title, note, name, added } = options;
    /** @type {HTMLElement[][]} */
    this.cells = Array.from({ length: height }, (_, i) => Array.from({ length: width }, (_, j) => this._cell(i, j)));
    this.labels = (rows ?? []).map((row) => h("span", { class: "grid-row" }, row));
    const body = this.cells.flatMap((cells, i) => {
      const label = rows ? (this.labels[i] ?? null) : null;
      return options.mirrored ? [...cells, label] : [label, ...cells];
    });
    const kinds = /** @type {const} */ (["added", "bare", "barred", "again", "mirrored"]).filter(
      (kind) => options[kind],
    );
    this.total = options.summed ? h("output", { class: "total" }) : null;
    this.element = h(
      "figure",
      { class: `grid ${kinds.join(" ")} ${height === 1 && !rows ? "single" : ""}`, style: { "--columns": width } },
      h("figcaption", null, h("span", { class: "grid-title" }, title, note && h("span", { class: "grid-note" }, note))),
      h(
        "div",
        { class: "grid-cells", role: "group", "aria-label": name },
        columns && rows && h("span", { class: "grid-row" }),
        columns?.map((column) => h("span", { class: "grid-column" }, h("span", null, column))),
        body,
      ),
      this.total,
    );
    if (rows) this.element.classList.add("labelled");
  }

  /** Other words at the same rows. @param {string[]} rows */
  name(rows) {
    this.options.rows = rows;
    this.labels.forEach((label, i) => (label.textContent = rows[i] ?? ""));
  }

  /** @param {Matrix} values @param {{row?: number, column?: number, most?: number, total?: string}} [chosen] */
  update(values, { row = -1, column, most, total } = {}) {
    if (this.total) this.total.textContent = total ?? "";
    const { kind = "vector", bare, barred } = this.options;
    const peak = most ?? Math.max(1e-9, ...values.flat().filter(Number.isFinite).map(Math.abs));
    this.cells.forEach((cells, i) =>
      cells.forEach((cell, j) => {
        const value = values[i]?.[j] ?? 0;
        const colour = kind === "weight" ? weight(value) : kind === "score" ? signed(value, peak) : null;
        const on = barred && value < 0.8 ? "var(--ink)" : colour && ink(colour);
        if (colour) set(cell, { style: { "--fill": colour, "--on": on, "--share": `${value * 100}%` } });
        cell.classList.toggle("chosen", i === row && j === column);
        cell.classList.toggle("along", i === row && column === undefined);
        cell.classList.toggle("hidden", value === -Infinity);
        if (cell instanceof HTMLInputElement) {
          if (document.activeElement !== cell || !cell.dataset.typing) cell.value = brief(value);
        } else if (!bare) cell.textContent = shown(value);
        if (this.options.pick || bare) cell.setAttribute("aria-label", `${this._where(i, j)}: ${shown(value)}`);
      }),
    );
    this.labels.forEach((label, i) => label.classList.toggle("chosen", i === row));
  }

  /** @param {number} i @param {number} j */
  _where(i, j) {
    const { rows, spoken, columns, name } = this.options;
    return [name, (rows ?? spoken)?.[i], columns?.[j] ?? (this.width > 1 ? `number ${j + 1}` : null)]
      .filter(Boolean)
      .join(", ");
  }

  /** @param {number} i @param {number} j @returns {HTMLElement} */
  _cell(i, j) {
    const { edit, pick, bare, kind = "vector" } = this.options;
    if (edit) return number(this._where(i, j), (value) => edit(i, j, value));
    if (!pick) return h("span", { class: `cell ${kind}`, role: bare ? "img" : null });
    return h("button", {
      class: `cell ${kind}`,
      onclick: () => pick(i, j),
      onkeydown: (/** @type {KeyboardEvent} */ event) => this._walk(event, i, j),
    });
  }

  /** @param {KeyboardEvent} event @param {number} i @param {number} j */
  _walk(event, i, j) {
    const [down, right] = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[
      event.key
    ] ?? [0, 0];
    const next = this.cells[i + down]?.[j + right];
    if (down === 0 && right === 0) return;
    event.preventDefault();
    next?.focus();
  }
}

/**
 * A number to type, to step with the arrow keys, or to drag up and down.
 * @param {string} name @param {(value: number) => void} change
 */
export function number(name, change) {
  /** @type {{y: number, value: number, moved: boolean} | null} */
  let drag = null;
  let kept = ""; // the last number that was one
  const input = h("input", {
    class: "cell vector",
    inputmode: "decimal",
    autocomplete: "off",
    "aria-label": name,
    title: "type, arrow keys, or drag up and down",
    dataset: { undo: "" },
    onfocus: () => (kept = input.value),
    oninput: () => {
      input.dataset.typing = "yes";
      const value = parse(input.value);
      input.toggleAttribute("aria-invalid", value === null);
      if (value === null) return;
      kept = brief(bounded(value));
      change(bounded(value));
    },
    onblur: () => {
      delete input.dataset.typing;
      input.removeAttribute("aria-invalid");
      input.value = parse(input.value) === null ? kept : brief(bounded(parse(input.value) ?? 0));
    },
    onkeydown: (/** @type {KeyboardEvent} */ event) => {
      const way = { ArrowUp: 1, ArrowDown: -1 }[event.key];
      if (event.key === "Enter" || event.key === "Escape") input.blur();
      if (!way) return;
      event.preventDefault();
      delete input.dataset.typing;
      change(bounded(round((parse(input.value) ?? parse(kept) ?? 0) + way * STEP * (event.shiftKey ? 5 : 1))));
      input.removeAttribute("aria-invalid");
      kept = input.value;
    },
    onpointerdown: (/** @type {PointerEvent} */ event) => {
      drag = { y: event.clientY, value: parse(input.value) ?? 0, moved: false };
      input.setPointerCapture(event.pointerId);
    },
    onpointermove: (/** @type {PointerEvent} */ event) => {
      if (!drag) return;
      const up = drag.y - event.clientY;
      if (Math.abs(up) > 4) drag.moved = true;
      if (!drag.moved) return;
      delete input.dataset.typing;
      change(bounded(round(drag.value + Math.round(up / 6) * STEP)));
    },
    onpointerup: () => {
      if (drag && !drag.moved) input.select();
      drag = null;
    },
    onpointercancel: () => (drag = null),
  });
  return input;
}

/** @param {string} text @returns {number | null} */
function parse(text) {
  const value = Number(text.trim().replace("−", "-").replace(",", "."));
  return text.trim() === "" || !Number.isFinite(value) ? null : value;
}
