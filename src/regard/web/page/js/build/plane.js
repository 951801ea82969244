/** Two numbers as an arrow: a plane whose arrows are dragged by their tips, or moved by the arrow keys. */

import { h, set, svg } from "../dom.js";
import { bounded, round, shown } from "./numbers.js";

/**
 * @typedef {object} Arrow
 * @property {string} name
 * @property {number[]} to where it ends
 * @property {number[]} [from] where it begins, if not at the origin
 * @property {string} role colour: x, q, k, v, y
 * @property {(to: [number, number]) => void} [move]
 * @property {number} [weight] between 0 and 1: how much of it is taken
 * @property {boolean} [chosen]
 * @property {string} [short] what stands at the tip, if not its name
 * @property {boolean} [chance] nothing but chance has put it there
 */

const HALF = 150; // pixels from the origin to the edge
const REACH = 2.6; // numbers from the origin to the edge

export class Plane {
  /** @param {string} name @param {(name: string, index: number) => void} [pick] */
  constructor(name, pick) {
    this.pick = pick;
    this.reach = REACH;
    this.drawn = svg("g");
    this.shadow = svg("g");
    const lines = [-2, -1, 0, 1, 2].flatMap((at) => [
      svg("line", {
        x1: -HALF,
        x2: HALF,
        y1: (at * HALF) / REACH,
        y2: (at * HALF) / REACH,
        class: at ? "rule" : "axis",
      }),
      svg("line", {
        y1: -HALF,
        y2: HALF,
        x1: (at * HALF) / REACH,
        x2: (at * HALF) / REACH,
        class: at ? "rule" : "axis",
      }),
    ]);
    this.svg = svg(
      "svg",
      { viewBox: `${-HALF} ${-HALF} ${2 * HALF} ${2 * HALF}`, role: "group", "aria-label": name },
      lines,
      this.shadow,
      this.drawn,
    );
    this.element = h("div", { class: "plane" }, this.svg);
    /** @type {{group: SVGGElement, arrow: Arrow}[]} */
    this.tips = [];
  }

  /**
   * @param {Arrow[]} arrows
   * @param {{from: number[], to: number[]}[]} [dashes] thin lines that explain
   * @param {number} [reach] numbers from the origin to the edge, where they are not the usual ones
   */
  update(arrows, dashes = [], reach = far(arrows)) {
    this.reach = reach;
    while (this.tips.length > arrows.length) this.tips.pop()?.group.remove();
    arrows.forEach((arrow, i) => {
      const tip = this.tips[i] ?? this._tip(arrow, i);
      tip.arrow = arrow;
      draw(tip.group, arrow, HALF / reach);
    });
    // Names step aside for each other.
    /** @type {{x: number, y: number}[]} */
    const taken = [];
    for (const { group } of this.tips) nudge(group, taken);
    this.shadow.replaceChildren(
      ...dashes.map(({ from, to }) =>
        svg("line", {
          class: "dash",
          x1: (from[0] * HALF) / reach,
          y1: (-from[1] * HALF) / reach,
          x2: (to[0] * HALF) / reach,
          y2: (-to[1] * HALF) / reach,
        }),
      ),
    );
  }

  /** @param {Arrow} arrow @param {number} index */
  _tip(arrow, index) {
    const group = svg(
      "g",
      null,
      svg("line", { class: "halo" }),
      svg("line", { class: "shaft" }),
      svg("path", { class: "point" }),
      svg("text", { "aria-hidden": "true" }),
      svg("circle", { class: "handle", r: 17, dataset: { handle: "" } }),
    );
    const tip = { group, arrow };
    this.tips.push(tip);
    this.drawn.append(group);
    let dragging = false;
    set(group, {
      onpointerdown: (/** @type {PointerEvent} */ event) => {
        this.pick?.(tip.arrow.name, index);
        if (!tip.arrow.move) return;
        event.preventDefault();
        group.setPointerCapture(event.pointerId);
        group.focus({ preventScroll: true });
        dragging = true;
      },
      onpointermove: (/** @type {PointerEvent} */ event) => {
        if (dragging) tip.arrow.move?.(this._point(event));
      },
      onpointerup: () => (dragging = false),
      onpointercancel: () => (dragging = false),
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        const [right, up] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[
          event.key
        ] ?? [0, 0];
        if ((!right && !up) || !tip.arrow.move) return;
        event.preventDefault();
        const by = event.shiftKey ? 0.5 : 0.1;
        const [x = 0, y = 0] = tip.arrow.to;
        tip.arrow.move([bounded(round(x + right * by)), bounded(round(y + up * by))]);
      },
    });
    return tip;
  }

  /** @param {PointerEvent} event @returns {[number, number]} */
  _point(event) {
    const box = this.svg.getBoundingClientRect();
    /** @param {number} share */
    const snapped = (share) => Math.round(Math.max(-REACH, Math.min(REACH, (share - 0.5) * 2 * this.reach)) * 10) / 10;
    return [snapped((event.clientX - box.left) / box.width), snapped(1 - (event.clientY - box.top) / box.height)];
  }
}

/** What is computed may lie beyond the usual plane; then all is drawn smaller. @param {Arrow[]} arrows */
function far(arrows) {
  const most = Math.max(0, ...arrows.filter(({ move }) => !move).flatMap(({ to }) => to.map(Math.abs)));
  return most > REACH ? Math.min(1e6, most * 1.12) : REACH;
}

/** @param {SVGGElement} group @param {Arrow} arrow @param {number} unit pixels of 1 */
function draw(group, { name, to, from = [0, 0], role, move, weight, chosen, short: said = name, chance }, unit) {
  const [x1, y1, x2, y2] = [from[0] * unit, -from[1] * unit, to[0] * unit, -to[1] * unit];
  const [halo, shaft, point, text, handle] = /** @type {SVGElement[]} */ ([...group.children]);
  const angle = Math.atan2(y2 - y1, x2 - x1);
  const short = Math.min(8, Math.hypot(x2 - x1, y2 - y1));
  if (halo) set(halo, { x1, y1, x2, y2, style: { "stroke-width": `${(weight ?? 0) * 26}px` } });
  if (shaft) set(shaft, { x1, y1, x2: x2 - Math.cos(angle) * short, y2: y2 - Math.sin(angle) * short });
  if (point)
    set(point, { d: "M0 0L-11 -5L-11 5z", transform: `translate(${x2} ${y2}) rotate(${(angle * 180) / Math.PI})` });
  if (handle) set(handle, { cx: x2, cy: y2 });
  if (text) {
    // Beyond the tip, and inside the frame.
    const long = said.length * 8.6;
    const [tx, ty] = [x2 + Math.cos(angle) * 14, y2 + Math.sin(angle) * 16];
    const left = Math.cos(angle) > 0.35 ? tx : Math.cos(angle) < -0.35 ? tx - long : tx - long / 2;
    const edge = HALF - 6;
    set(text, { x: Math.max(-edge, Math.min(edge - long, left)), y: Math.max(-edge + 6, Math.min(edge - 6, ty)) });
    text.textContent = said;
  }
  set(group, {
    class: `arrow role-${role} ${chosen ? "chosen" : ""} ${move ? "movable" : ""} ${chance ? "chance" : ""}`,
    tabindex: move ? 0 : null,
    role: move ? "button" : "img",
    "aria-label": `${name}: ${to.map((each) => shown(each, 1)).join(", ")}${chance ? ", placed by chance, drag me" : ""}${move ? ". Arrow keys move it." : ""}`,
  });
}

/** @param {SVGGElement} group @param {{x: number, y: number}[]} taken */
function nudge(group, taken) {
  const text = group.querySelector("text");
  if (!text) return;
  const x = Number(text.getAttribute("x"));
  const here = Number(text.getAttribute("y"));
  const out = here > 0 ? 15 : -15;
  const free = [0, out, -out, 2 * out, -2 * out]
    .map((by) => here + by)
    .find(
      (y) => Math.abs(y) < HALF - 4 && !taken.some((other) => Math.abs(other.x - x) < 40 && Math.abs(other.y - y) < 15),
    );
  const y = free ?? here;
  text.setAttribute("y", String(y));
  taken.push({ x, y });
}
