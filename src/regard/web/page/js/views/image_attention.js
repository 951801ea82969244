/** Attention where a side is a picture: point at a word and see where it looked, or at a place and see who looked at it. */

import { h, replace, svg } from "../dom.js";
import { cloud } from "./cloud.js";
import { SANS, drawing, inks, measure } from "./paint.js";
import { patches } from "./patches.js";
import { labels, number } from "./view.js";

/** @typedef {import("./view.js").View} View */
/** @typedef {import("./view.js").Axis} Axis */
/** @typedef {import("./view.js").Mark} Mark */
/** What a side tells: a place is pointed at, or chosen. @typedef {{point: (i: number | null) => void, pick: (i: number | null) => void}} Hands */
/** @typedef {ReturnType<typeof patches> | ReturnType<typeof cloud> | ReturnType<typeof written>} Side */

const LINE = 30; // pixels of a line of words in an exported figure
const FIGURE = 420; // pixels of a side of it

/** Is there a picture on a side? @param {View} view */
export const pictured = (view) => [view.rows, view.columns].some(({ kind }) => kind === "grid" || kind === "boxes");

/** @param {HTMLElement} host @param {{onpick?: (mark: Mark) => void}} [options] `onpick` is told what is kept */
export function create(host, { onpick } = {}) {
  /** @type {View | null} */
  let view = null;
  /** @type {Float32Array | null} */
  let weights = null;
  /** @type {{rows: Side, columns: Side} | null} */
  let sides = null;
  /** @type {Mark} */
  let picked = {};
  /** @type {Mark | null} */
  let pointed = null;

  const stage = h("div", { class: "gaze-sides" });
  const readout = h("p", { class: "matrix-readout", "aria-live": "polite" });
  const root = h("div", { class: "gaze" }, stage, readout);
  host.append(root);

  /** @param {View} next */
  function update(next) {
    const same = view && next.rows === view.rows && next.columns === view.columns;
    [view, weights] = [next, null];
    if (!same) build(next);
    shine();
    void next.weights.all().then((all) => {
      if (view !== next) return;
      weights = all;
      shine();
    });
  }

  /** @param {View} next */
  function build(next) {
    [picked, pointed] = [{}, null];
    sides?.rows.stop();
    sides?.columns.stop();
    // Boxes lie in the picture of the other side, if it has one.
    const image = [next.columns, next.rows]
      .map((axis) => (axis.kind === "grid" ? axis.image : undefined))
      .find(Boolean);
    const side = (/** @type {Axis} */ axis, /** @type {"row" | "column"} */ one, /** @type {string} */ name) => {
      /** @type {Hands} */
      const hands = {
        point: (i) => turn(i === null ? null : { [one]: i }),
        pick: (i) => {
          picked = i === null || picked[one] === i ? {} : { [one]: i };
          onpick?.(picked);
          shine();
        },
      };
      if (axis.kind === "grid") return patches(axis, axis.image, name, hands);
      if (axis.kind === "boxes" && axis.points) return cloud(axis.points, name, hands);
      return axis.kind === "boxes" ? patches(axis, image, name, hands) : written(axis, name, hands);
    };
    sides = { rows: side(next.rows, "row", "Who looks"), columns: side(next.columns, "column", "What is seen") };
    replace(
      stage,
      h("figure", null, h("figcaption", null, "Who looks"), sides.rows.element),
      h("figure", null, h("figcaption", null, "What is seen"), sides.columns.element),
    );
  }

  /** @param {Mark | null} next */
  function turn(next) {
    if (next?.row === pointed?.row && next?.column === pointed?.column) return;
    pointed = next;
    shine();
  }

  /** How much each place of a side gets of the place that is pointed at on the other; of all of them on average if none is. */
  function shares() {
    const { row, column } = pointed ?? picked;
    if (!weights || !view) return { values: null, of: /** @type {"rows" | "columns"} */ ("columns") };
    const all = weights;
    const { rows, columns } = view.weights;
    if (column !== undefined)
      return {
        of: /** @type {const} */ ("rows"),
        values: Array.from({ length: rows }, (_, i) => all[i * columns + column] ?? 0),
      };
    const values = Array.from({ length: columns }, (_, j) => {
      if (row !== undefined) return all[row * columns + j] ?? 0;
      let sum = 0;
      for (let i = 0; i < rows; i++) sum += all[i * columns + j] ?? 0;
      return sum / rows;
    });
    return { of: /** @type {const} */ ("columns"), values };
  }

  function shine() {
    if (!view || !sides) return;
    const { row, column } = pointed ?? picked;
    const { values, of } = shares();
    const most = Math.max(...(values ?? []), 1e-9);
    const bright = values?.map((value) => value / most) ?? null;
    const { rows, columns } = view;
    // In a picture that looks at itself, the place that looks is marked on both sides.
    const twins =
      rows.kind === "grid" && columns.kind === "grid" && rows.width === columns.width && rows.height === columns.height;
    sides.rows.show(of === "rows" ? bright : null, row ?? (twins ? column : undefined));
    sides.columns.show(of === "columns" ? bright : null, column ?? (twins ? row : undefined));
    say(values);
  }

  /** @param {number[] | null} values */
  function say(values) {
    if (!view) return;
    const { row, column } = pointed ?? picked;
    if (!values || (row === undefined && column === undefined)) {
      const how =
        "All looks on average. Point at who looks to see where, or at a place to see who looked at it; click to keep it.";
      replace(readout, h("span", { class: "hint" }, how));
      return;
    }
    const [own, others] = row !== undefined ? [view.rows, view.columns] : [view.columns, view.rows];
    const names = labels(others);
    const best = values
      .map((value, i) => ({ value, name: names[i] ?? "" }))
      .sort((a, b) => b.value - a.value)
      .slice(0, 3)
      .filter(({ value }) => value > 0);
    replace(
      readout,
      h("b", null, labels(own)[row ?? column ?? 0] ?? ""),
      row !== undefined ? " looks at " : " is looked at by ",
      ...(best.length
        ? best.flatMap(({ name, value }, i) => [
            i ? ", " : "",
            h("b", null, name),
            " ",
            h("output", null, number(value)),
          ])
        : ["nobody"]),
    );
  }

  /** @returns {Promise<SVGSVGElement>} */
  async function exportSvg() {
    const [left, right] = sides
      ? [sides.rows.drawn(svg, 0, FIGURE), sides.columns.drawn(svg, FIGURE + 40, FIGURE)]
      : [];
    const [width, height] = [2 * FIGURE + 40, Math.max(left?.height ?? 0, right?.height ?? 0, 40)];
    const out = drawing(width, height, 17);
    out.append(...(left?.nodes ?? []), ...(right?.nodes ?? []));
    return out;
  }

  return {
    update,
    exportSvg,
    /** What a link says was kept. @param {Mark} mark */
    pick(mark) {
      picked = mark;
      shine();
    },
    destroy() {
      sides?.rows.stop();
      sides?.columns.stop();
      root.remove();
    },
  };
}

/** A side of words. @param {Axis} axis @param {string} name @param {Hands} hands */
function written(axis, name, hands) {
  const names = labels(axis);
  /** @type {ArrayLike<number> | null} */
  let shown = null;
  const buttons = names.map((label, i) =>
    h(
      "button",
      {
        type: "button",
        tabindex: i ? -1 : 0,
        onpointerenter: () => hands.point(i),
        onpointerleave: () => hands.point(null),
        onfocus: () => hands.point(i),
        onblur: () => hands.point(null),
        onclick: () => hands.pick(i),
        onkeydown: (/** @type {KeyboardEvent} */ event) => {
          const way = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
          if (!way) return;
          event.preventDefault();
          event.stopPropagation();
          buttons[(i + way + names.length) % names.length]?.focus();
        },
      },
      label,
    ),
  );
  return {
    element: h("div", { class: "gaze-words", role: "group", "aria-label": name }, buttons),
    /** @param {ArrayLike<number> | null} shares @param {number | undefined} mark */
    show(shares, mark) {
      shown = shares;
      buttons.forEach((button, i) => {
        button.style.setProperty("--share", (shares?.[i] ?? 0).toFixed(2));
        button.classList.toggle("on", i === mark);
        button.setAttribute("aria-pressed", String(i === mark));
      });
    },
    /** @param {typeof svg} make @param {number} x @param {number} size */
    drawn(make, x, size) {
      const colours = inks();
      let [left, line] = [0, 0];
      const nodes = names.flatMap((label, i) => {
        const wide = measure(label, `17px ${SANS}`) + 14;
        if (left + wide > size && left) [left, line] = [0, line + 1];
        const place = { x: x + left, y: line * LINE };
        left += wide;
        const ground = {
          ...place,
          width: wide - 2,
          height: LINE - 4,
          rx: 5,
          fill: colours.accent,
          "fill-opacity": 0.55 * (shown?.[i] ?? 0),
        };
        return [make("rect", ground), make("text", { x: place.x + 6, y: place.y + 19, fill: colours.ink }, label)];
      });
      return { height: (line + 1) * LINE, nodes };
    },
    stop() {},
  };
}
