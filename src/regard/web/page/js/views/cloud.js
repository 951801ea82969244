/** Points in space to be looked at: drag to turn them, or use the arrow keys; each is as bright as its share. */

import { weight as colour } from "../color.js";
import { h } from "../dom.js";
import { Camera } from "../words/camera.js";
import { inks, sheet } from "./paint.js";

/** @typedef {import("./image_attention.js").Hands} Hands */

const STILL = 5; // pixels that a click may move
const NEAR = 14; // pixels around a point that mean it
const STEP = 24; // pixels of a drag that does what an arrow key does
const DOT = 12; // how many times smaller a point is than its share of a side
const FAINT = 0.12; // of the brightest: what gets less is grey

/** @param {number[][]} points x, y and z of each, z up @param {string} name @param {Hands} hands */
export function cloud(points, name, hands) {
  /** @type {ArrayLike<number> | null} */
  let shares = null;
  /** @type {number | undefined} */
  let marked;
  /** Where a drag is, and how far it went. @type {{x: number, y: number, far: number} | null} */
  let drag = null;
  const camera = new Camera();
  camera.flat = false;
  camera.home();
  // The camera looks along its third axis and has its second one up.
  const places = Float32Array.from(points.flatMap(([x = 0, y = 0, z = 0]) => [x, z, -y]));
  const seen = new Float32Array(places.length);
  const canvas = h("canvas", {
    class: "patches cloud",
    tabindex: 0,
    role: "application",
    "aria-roledescription": "cloud of points",
    "aria-label": `${name}: ${points.length} points. Drag to turn them, or use the arrow keys; 0 turns them back.`,
    onpointerdown: (/** @type {PointerEvent} */ event) => {
      canvas.setPointerCapture(event.pointerId);
      drag = { x: event.offsetX, y: event.offsetY, far: 0 };
    },
    onpointermove: move,
    onpointerup: (/** @type {PointerEvent} */ event) => {
      if (drag && drag.far <= STILL) hands.pick(under(event));
      drag = null;
    },
    onpointercancel: () => (drag = null),
    onpointerleave: () => hands.point(null),
    onblur: () => hands.point(null),
    onkeydown: turn,
  });
  const page = sheet(canvas, paint);

  /** @param {PointerEvent} event */
  function move(event) {
    if (!drag) return event.pointerType !== "touch" && hands.point(under(event));
    const [dx, dy] = [event.offsetX - drag.x, event.offsetY - drag.y];
    drag = { x: event.offsetX, y: event.offsetY, far: drag.far + Math.hypot(dx, dy) };
    camera.turn(dx, dy);
    page.repaint();
  }

  /** @param {KeyboardEvent} event */
  function turn(event) {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (way) camera.turn(STEP * (way[0] ?? 0), STEP * (way[1] ?? 0));
    else if (event.key === "0") camera.home();
    else if (event.key === "Escape") hands.pick(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
    page.repaint();
  }

  /** The nearest point, of several the one before the others. @param {PointerEvent} event @returns {number | null} */
  function under({ offsetX: x, offsetY: y }) {
    let [best, least] = [/** @type {number | null} */ (null), NEAR];
    points.forEach((_, i) => {
      const away = Math.hypot((seen[3 * i] ?? 0) - x, (seen[3 * i + 1] ?? 0) - y) + (seen[3 * i + 2] ?? 1);
      if (away < least) [best, least] = [i, away];
    });
    return best;
  }

  /** @param {CanvasRenderingContext2D} pen @param {{width: number, height: number}} size */
  function paint(pen, { width, height }) {
    const colours = inks();
    [camera.width, camera.height] = [width, height];
    camera.project(places, seen);
    pen.fillStyle = colours.sunken;
    pen.fillRect(0, 0, width, height);
    const far = (/** @type {number} */ i) => seen[3 * i + 2] ?? 1;
    const order = points.map((_, i) => i).sort((a, b) => far(b) - far(a));
    const dot = Math.max(1.8, width / DOT / Math.sqrt(points.length));
    for (const i of order) {
      const share = shares?.[i] ?? 0;
      pen.globalAlpha = !shares || share >= FAINT ? 1 : 0.45;
      pen.fillStyle = shares && share >= FAINT ? colour(0.25 + 0.75 * share) : colours.muted;
      disc(pen, i, (dot * (1 + share)) / far(i));
    }
    pen.globalAlpha = 1;
    if (marked === undefined) return;
    pen.fillStyle = colours.lamp;
    disc(pen, marked, 1.6 * dot + 2);
    pen.strokeStyle = colours.ink;
    pen.lineWidth = 2;
    pen.stroke();
  }

  /** @param {CanvasRenderingContext2D} pen @param {number} i @param {number} radius */
  function disc(pen, i, radius) {
    pen.beginPath();
    pen.arc(seen[3 * i] ?? 0, seen[3 * i + 1] ?? 0, radius, 0, 2 * Math.PI);
    pen.fill();
  }

  return {
    element: canvas,
    /** @param {ArrayLike<number> | null} next from 0 to 1 @param {number | undefined} mark */
    show(next, mark) {
      [shares, marked] = [next, mark];
      page.repaint();
    },
    /** @param {(tag: "image", props: Record<string, unknown>) => SVGElement} make @param {number} x @param {number} size */
    drawn: (make, x, size) => ({
      height: size,
      nodes: [make("image", { x, y: 0, width: size, height: size, href: canvas.toDataURL() })],
    }),
    stop: page.stop,
  };
}
