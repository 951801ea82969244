/** The figure of a claim, drawn from its numbers: panels side by side, one legend, and the numbers under the pointer. */

import { h, replace, svg } from "../dom.js";
import { drawHeat } from "./heat.js";
import { drawAxes, fitted, marker, text } from "./panel.js";
import { written } from "./scale.js";

/** @typedef {import("./scale.js").Axes} Axes */
/** @typedef {import("./scale.js").Heat} Heat */
/** @typedef {import("./panel.js").Drawn} Drawn */
/** @typedef {import("./panel.js").Stop} Stop */
/** @typedef {import("../export.js").Table} Table */
/** @typedef {{title: string, note: string, panels: (Axes | Heat)[]}} Facts */

const EXPORTED = 440; // the width of a panel that is taken away

/** @param {HTMLElement} host @param {Facts} facts */
export function create(host, facts) {
  const labels = labelled(facts);
  const stages = facts.panels.map(() => h("div", { class: "panel-stage" }));
  const root = h(
    "figure",
    { class: "claim-figure" },
    h("figcaption", null, facts.title),
    labels.length > 1 && legend(facts, labels),
    h("div", { class: "panels", style: { "--panels": facts.panels.length } }, stages),
    facts.note && h("p", { class: "quiet" }, facts.note),
  );
  host.append(root);
  const widths = stages.map(() => 0);
  const watcher = new ResizeObserver(() => {
    stages.forEach((stage, i) => {
      const width = Math.floor(stage.clientWidth);
      const panel = facts.panels[i];
      if (!panel || !width || Math.abs(width - (widths[i] ?? 0)) < 2) return;
      widths[i] = width;
      show(stage, panel, draw(panel, labels, width));
    });
  });
  for (const stage of stages) watcher.observe(stage);
  return {
    exportSvg: () => whole(facts, labels),
    table: () => tabled(facts),
    destroy() {
      watcher.disconnect();
      root.remove();
    },
  };
}

/** Every label once, in the order of its colour. @param {Facts} facts */
function labelled(facts) {
  return [
    ...new Set(facts.panels.flatMap((panel) => (panel.kind === "axes" ? panel.marks.map(({ label }) => label) : []))),
  ];
}

/** @param {Axes | Heat} panel @param {string[]} labels @param {number} width @returns {Drawn} */
function draw(panel, labels, width) {
  return panel.kind === "heat" ? drawHeat(panel, width) : drawAxes(panel, labels, width);
}

/** @param {Facts} facts @param {string[]} labels */
function legend(facts, labels) {
  const marks = facts.panels.flatMap((panel) => (panel.kind === "axes" ? panel.marks : []));
  return h(
    "ul",
    { class: "claim-legend" },
    labels.map((label, i) =>
      h(
        "li",
        null,
        key(
          marks.find((mark) => mark.label === label),
          i % 8,
        ),
        label,
      ),
    ),
  );
}

/** The sign of a mark. @param {import("./scale.js").Mark | undefined} mark @param {number} colour */
function key(mark, colour) {
  const picture = svg("svg", { width: 30, height: 14, viewBox: "0 0 30 14", "aria-hidden": "true" });
  if (!mark?.x) picture.append(svg("rect", { class: `bar c${colour}`, x: 9, y: 1, width: 12, height: 12 }));
  else
    picture.append(
      svg("path", { class: `line c${colour}${mark.dashed ? " dashed" : ""}`, d: "M0 7h30" }),
      marker(colour, 15, 7),
    );
  return picture;
}

/** Put a drawing on its stage, and tell what is pointed at, by pointer or by arrow keys.
 * @param {HTMLElement} stage @param {Axes | Heat} panel @param {Drawn} drawn */
function show(stage, panel, { picture, stops, span }) {
  const tip = h("div", { class: "chart-tip", role: "status", hidden: true });
  const line = svg("path", { class: "pointer", visibility: "hidden" });
  let at = -1;
  picture.append(line);
  /** @param {number} next */
  const point = (next) => {
    at = next;
    const stop = stops[next];
    tip.hidden = !stop;
    line.setAttribute("visibility", stop ? "visible" : "hidden");
    if (!stop) return;
    line.setAttribute("d", `M${stop.x.toFixed(1)} ${span[0]}V${span[1]}`);
    replace(tip, told(stop));
    const width = picture.clientWidth;
    const left = stop.x > width / 2 ? stop.x - tip.offsetWidth - 10 : stop.x + 10;
    tip.style.setProperty("left", `${Math.max(0, Math.min(left, width - tip.offsetWidth))}px`);
    tip.style.setProperty("top", `${span[0]}px`);
  };
  const nearest = (/** @type {number} */ x) =>
    stops.reduce((best, stop, i) => (Math.abs(stop.x - x) < Math.abs((stops[best]?.x ?? 1e9) - x) ? i : best), 0);
  picture.setAttribute("role", "img");
  picture.setAttribute("tabindex", "0");
  picture.setAttribute("aria-label", `${panel.title || panel.y}: ${spoken(stops)}`);
  picture.addEventListener("pointermove", (event) => point(nearest(event.offsetX)));
  picture.addEventListener("pointerdown", (event) => point(nearest(event.offsetX)));
  picture.addEventListener("pointerleave", () => point(-1));
  picture.addEventListener("blur", () => point(-1));
  picture.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    point(Math.max(0, Math.min(stops.length - 1, at + step)));
  });
  replace(stage, picture, tip);
}

/** @param {Stop} stop */
function told({ name, values }) {
  return [
    h("b", null, name),
    ...values.map(({ label, colour, value, low, high }) =>
      h(
        "div",
        null,
        label && h("span", null, h("i", { class: `swatch c${colour}` }), ` ${label}`),
        h(
          "output",
          null,
          written(value),
          low !== undefined && high !== undefined && ` (${written(low)} to ${written(high)})`,
        ),
      ),
    ),
  ];
}

/** @param {Stop[]} stops */
const spoken = (stops) =>
  stops
    .map(({ name, values }) => `${name}: ${values.map(({ label, value }) => `${label} ${written(value)}`).join(", ")}`)
    .join("; ");

/** Title, legend, panels and note as one picture. @param {Facts} facts @param {string[]} labels @returns {SVGSVGElement} */
function whole(facts, labels) {
  const drawn = facts.panels.map((panel) => draw(panel, labels, EXPORTED).picture);
  const width = drawn.length * (EXPORTED + 24) - 24;
  const out = svg("svg", { xmlns: "http://www.w3.org/2000/svg", class: "claim-figure" });
  out.append(text(0, 20, facts.title, "figure-title"));
  let [x, y] = [0, 48];
  const marks = facts.panels.flatMap((panel) => (panel.kind === "axes" ? panel.marks : []));
  if (labels.length > 1) {
    labels.forEach((label, i) => {
      const needs = 52 + 6.8 * label.length;
      if (x && x + needs > width) [x, y] = [0, y + 22];
      const sign = key(
        marks.find((mark) => mark.label === label),
        i % 8,
      );
      sign.setAttribute("x", String(x));
      sign.setAttribute("y", String(y - 11));
      out.append(sign, text(x + 36, y, label, "tick"));
      x += needs;
    });
    y += 22;
  }
  const tall = Math.max(...drawn.map((each) => Number(each.getAttribute("height"))));
  drawn.forEach((each, i) => {
    each.setAttribute("x", String(i * (EXPORTED + 24)));
    each.setAttribute("y", String(y));
    out.append(each);
  });
  const note = fitted(facts.note, width);
  note.forEach((line, i) => out.append(text(0, y + tall + 20 + i * 16, line, "note")));
  const height = y + tall + 12 + note.length * 16;
  for (const [name, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` }))
    out.setAttribute(name, String(value));
  return out;
}

/** Every number of the figure, one a row. @param {Facts} facts @returns {Table} */
function tabled(facts) {
  const rows = facts.panels.flatMap((panel) =>
    panel.kind === "heat"
      ? panel.cells.flatMap((row, i) =>
          row.map((value, j) => [panel.title, panel.rows[i] ?? i, panel.columns[j] ?? j, value ?? "", "", ""]),
        )
      : panel.marks.flatMap((mark) =>
          mark.y.map((value, i) => [
            panel.title || panel.y,
            mark.label,
            mark.x?.[i] ?? (panel.names[i] ?? String(i)).replace("\n", " "),
            value ?? "",
            mark.low[i] ?? "",
            mark.high[i] ?? "",
          ]),
        ),
  );
  return { columns: ["panel", "series", "at", "value", "low", "high"], rows };
}
