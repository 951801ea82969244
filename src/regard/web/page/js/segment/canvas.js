/** A picture to point at: its mask, the clicks and the box; a click adds one, a drag a box, keys do the same. */

import { h } from "../dom.js";
import { inks, sheet } from "../views/paint.js";
import { boxOf } from "./prompts.js";

/** @typedef {import("./prompts.js").Prompt} Prompt */
/**
 * @typedef {object} Shown
 * @property {HTMLImageElement} below what the model sees, with its padding
 * @property {[number, number]} inside the share of it that is the picture
 * @property {number} width of the picture, in pixels
 * @property {number} height
 * @property {HTMLImageElement | null} mask
 * @property {HTMLImageElement | null} truth
 * @property {string} colour
 * @property {Prompt[]} prompts
 * @property {string} tool
 */
/** @typedef {{add: (prompt: Prompt) => void, back: () => void}} Hands */

const [FAR, STEP] = [6, 0.03]; // pixels from which on a drag is a box; how far a key goes, as a share
const TRUTH = "#ff5da2";

/** @param {Hands} hands */
export function create(hands) {
  /** @type {Shown | null} */
  let shown = null;
  /** @type {{x: number, y: number} | null} */
  let from = null; // where a drag began, as shares
  /** @type {{x: number, y: number} | null} */
  let now = null;
  /** @type {{x: number, y: number} | null} */
  let cursor = null; // of the keys
  const canvas = h("canvas", {
    class: "segment-canvas",
    tabindex: 0,
    role: "application",
    "aria-roledescription": "picture",
    "aria-label":
      "The picture: click on what you mean, with Alt on what you do not, drag a box around it. Arrow keys move, Enter clicks, Backspace takes back.",
    onpointerdown: (/** @type {PointerEvent} */ event) => {
      if (event.button) return;
      [from, now, cursor] = [at(event), null, null];
      if (event.pointerType !== "touch" || shown?.tool === "box") canvas.setPointerCapture(event.pointerId);
    },
    onpointermove: (/** @type {PointerEvent} */ event) => {
      if (!from || (event.pointerType === "touch" && shown?.tool !== "box")) return;
      now = far(event) ? at(event) : null;
      page.repaint();
    },
    onpointerup: (/** @type {PointerEvent} */ event) => released(event),
    onpointercancel: () => {
      [from, now] = [null, null];
      page.repaint();
    },
    onkeydown: (/** @type {KeyboardEvent} */ event) => pressed(event),
  });
  const page = sheet(canvas, (pen, { width, height }) => {
    if (shown) paint(pen, width, height, shown, from && now ? { from, to: now } : null, cursor);
  });

  /** @param {PointerEvent} event */
  const at = ({ offsetX, offsetY }) => ({
    x: Math.min(1, Math.max(0, offsetX / canvas.clientWidth)),
    y: Math.min(1, Math.max(0, offsetY / canvas.clientHeight)),
  });

  /** @param {PointerEvent} event */
  function far(event) {
    const to = at(event);
    return from && Math.hypot((to.x - from.x) * canvas.clientWidth, (to.y - from.y) * canvas.clientHeight) > FAR;
  }

  /** In whole pixels of the picture. @param {{x: number, y: number}} place */
  function pixel({ x, y }) {
    const { width, height } = /** @type {Shown} */ (shown);
    return { x: Math.min(width - 1, Math.floor(x * width)), y: Math.min(height - 1, Math.floor(y * height)) };
  }

  /** @param {{x: number, y: number}} place @param {boolean} beside */
  const click = (place, beside) =>
    hands.add({ kind: beside !== (shown?.tool === "out") ? "out" : "in", ...pixel(place) });

  /** @param {PointerEvent} event */
  function released(event) {
    if (!from || !shown) return;
    const [start, end, drawn] = [from, at(event), now];
    [from, now] = [null, null];
    page.repaint();
    if (!drawn) return shown.tool === "box" ? undefined : click(end, event.altKey);
    const [a, b] = [pixel(start), pixel(end)];
    const [left, right] = [Math.min(a.x, b.x), Math.max(a.x, b.x)];
    const [top, bottom] = [Math.min(a.y, b.y), Math.max(a.y, b.y)];
    hands.add({ kind: "box", left, top, right, bottom });
  }

  /** @param {KeyboardEvent} event */
  function pressed(event) {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    const clicks = event.key === "Enter" || event.key === " ";
    if (!shown || !(way || clicks || event.key === "Backspace")) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === "Backspace") return hands.back();
    cursor ??= { x: 0.5, y: 0.5 };
    if (clicks) return click(cursor, event.altKey);
    const within = (/** @type {number} */ share) => Math.min(1, Math.max(0, share));
    cursor = { x: within(cursor.x + STEP * (way?.[0] ?? 0)), y: within(cursor.y + STEP * (way?.[1] ?? 0)) };
    page.repaint();
  }

  return {
    element: canvas,
    /** @param {Shown} next */
    show(next) {
      shown = next;
      canvas.style.setProperty("--aspect", String(next.width / Math.max(1, next.height)));
      canvas.classList.toggle("drags", next.tool === "box");
      page.repaint();
    },
    stop: page.stop,
  };
}

/** @param {CanvasRenderingContext2D} pen @param {number} width @param {number} height @param {Shown} shown
 * @param {{from: {x: number, y: number}, to: {x: number, y: number}} | null} [drag] @param {{x: number, y: number} | null} [cursor] */
export function paint(pen, width, height, shown, drag = null, cursor = null) {
  picture(pen, width, height, shown);
  if (shown.mask) covered(pen, width, height, shown.mask, shown.colour);
  if (shown.truth) edge(pen, width, height, shown.truth, TRUTH, 2);
  const [wide, tall] = [width / shown.width, height / shown.height];
  const box = boxOf(shown.prompts);
  if (box) framed(pen, box.left * wide, box.top * tall, (box.right + 1) * wide, (box.bottom + 1) * tall);
  if (drag) framed(pen, drag.from.x * width, drag.from.y * height, drag.to.x * width, drag.to.y * height);
  for (const each of shown.prompts)
    if (each.kind !== "box") clicked(pen, (each.x + 0.5) * wide, (each.y + 0.5) * tall, each.kind);
  if (cursor) crossed(pen, cursor.x * width, cursor.y * height);
}

/** The picture without what pads it. @param {CanvasRenderingContext2D} pen @param {number} width @param {number} height @param {Pick<Shown, "below" | "inside">} shown */
export function picture(pen, width, height, { below, inside }) {
  pen.fillStyle = inks().sunken;
  pen.fillRect(0, 0, width, height);
  const [wide, tall] = [below.naturalWidth * inside[0], below.naturalHeight * inside[1]];
  pen.imageSmoothingEnabled = wide > 200; // of few pixels, each should be seen
  if (below.complete && wide) pen.drawImage(below, 0, 0, wide, tall, 0, 0, width, height);
}

/** A mask in a colour, with its edge. @param {CanvasRenderingContext2D} pen @param {number} width @param {number} height @param {HTMLImageElement} mask @param {string} colour */
export function covered(pen, width, height, mask, colour) {
  pen.globalAlpha = 0.5;
  pen.drawImage(tinted(mask, colour), 0, 0, width, height);
  pen.globalAlpha = 1;
  edge(pen, width, height, mask, colour, 1.5);
}

/** @param {HTMLImageElement} mask @param {string} colour */
function tinted(mask, colour) {
  const canvas = h("canvas", { width: Math.max(1, mask.naturalWidth), height: Math.max(1, mask.naturalHeight) });
  const pen = canvas.getContext("2d");
  if (!pen || !mask.naturalWidth) return canvas;
  pen.drawImage(mask, 0, 0);
  pen.globalCompositeOperation = "source-in";
  pen.fillStyle = colour;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  return canvas;
}

/** The edge of a mask: it moved about, less itself. @param {CanvasRenderingContext2D} pen @param {number} width @param {number} height @param {HTMLImageElement} mask @param {string} colour @param {number} broad */
function edge(pen, width, height, mask, colour, broad) {
  const ring = h("canvas", { width: Math.max(1, Math.round(width)), height: Math.max(1, Math.round(height)) });
  const ink = ring.getContext("2d");
  if (!ink) return;
  const drawn = tinted(mask, colour);
  for (const [x, y] of [[-1, 0], [1, 0], [0, -1], [0, 1]]) ink.drawImage(drawn, (x ?? 0) * broad, (y ?? 0) * broad, ring.width, ring.height); // prettier-ignore
  ink.globalCompositeOperation = "destination-out";
  ink.drawImage(drawn, 0, 0, ring.width, ring.height);
  pen.drawImage(ring, 0, 0, width, height);
}

/** @param {CanvasRenderingContext2D} pen @param {number} left @param {number} top @param {number} right @param {number} bottom */
function framed(pen, left, top, right, bottom) {
  twice(pen, 2.5, () => pen.strokeRect(left, top, right - left, bottom - top));
}

/** A click: a plus in what is meant, a minus beside it. @param {CanvasRenderingContext2D} pen @param {number} x @param {number} y @param {"in" | "out"} kind */
function clicked(pen, x, y, kind) {
  const { raised, accent, ink } = inks();
  pen.beginPath();
  pen.arc(x, y, 8, 0, 2 * Math.PI);
  pen.fillStyle = kind === "in" ? accent : ink;
  pen.fill();
  pen.strokeStyle = raised;
  pen.lineWidth = 2;
  pen.stroke();
  pen.beginPath();
  pen.moveTo(x - 4.5, y);
  pen.lineTo(x + 4.5, y);
  if (kind === "in") {
    pen.moveTo(x, y - 4.5);
    pen.lineTo(x, y + 4.5);
  }
  pen.stroke();
}

/** @param {CanvasRenderingContext2D} pen @param {number} x @param {number} y */
function crossed(pen, x, y) {
  twice(pen, 2, () => {
    pen.beginPath();
    pen.moveTo(x - 10, y);
    pen.lineTo(x + 10, y);
    pen.moveTo(x, y - 10);
    pen.lineTo(x, y + 10);
    pen.stroke();
  });
}

/** Lines that are seen on anything. @param {CanvasRenderingContext2D} pen @param {number} broad @param {() => void} draw */
function twice(pen, broad, draw) {
  const { raised, accent } = inks();
  for (const [stroke, line] of /** @type {[string, number][]} */ ([
    [raised, broad + 2.5],
    [accent, broad],
  ])) {
    pen.strokeStyle = stroke;
    pen.lineWidth = line;
    draw();
  }
}
