/** A picture to be looked at, or that looks: the cells of a grid or boxes, each as bright as its share. */

import { weight as colour } from "../color.js";
import { h } from "../dom.js";
import { SANS, inks, sheet } from "./paint.js";
import { count, labels } from "./view.js";

/** @typedef {import("./view.js").Grid} Grid */
/** @typedef {import("./view.js").Boxes} Boxes */
/** @typedef {import("./image_attention.js").Hands} Hands */
/** Left, top, width and height in pixels. @typedef {[number, number, number, number]} Area */

const STRIP = 26; // pixels above a picture for the tokens that have no place on it
const VEIL = 0.82; // how much of the picture is covered where nobody looks

/** @param {Grid | Boxes} axis @param {string | undefined} image what lies below @param {string} name @param {Hands} hands */
export function patches(axis, image, name, hands) {
  /** @type {ArrayLike<number> | null} */
  let shares = null;
  /** @type {number | undefined} */
  let marked;
  let at = 0; // where the keys are
  const names = labels(axis);
  const leading = axis.kind === "grid" ? (axis.leading ?? []) : [];
  const strip = leading.length ? STRIP : 0;
  const below = image ? new Image() : null;
  const canvas = h("canvas", {
    class: "patches",
    tabindex: 0,
    role: "application",
    "aria-roledescription": "picture",
    "aria-label": `${name}: ${axis.kind === "grid" ? `${axis.height} × ${axis.width} places` : `${count(axis)} boxes`}. Arrow keys move from one to the next.`,
    style: { "--aspect": axis.kind === "grid" ? String(axis.width / axis.height) : "1" },
    onpointermove: (/** @type {PointerEvent} */ event) => hands.point(under(event)),
    onpointerdown: (/** @type {PointerEvent} */ event) => hands.point(under(event)),
    onpointerleave: () => hands.point(null),
    onclick: (/** @type {PointerEvent} */ event) => hands.pick(under(event)),
    onblur: () => hands.point(null),
    onkeydown: step,
  });
  const page = sheet(canvas, paint);
  if (below && image) {
    below.addEventListener("load", () => {
      canvas.style.setProperty("--aspect", String(below.naturalWidth / Math.max(1, below.naturalHeight)));
      page.repaint();
    });
    below.src = image;
  }

  /** @param {number} i @param {number} width @param {number} height @returns {Area} */
  function area(i, width, height) {
    if (axis.kind === "boxes") {
      const [x = 0, y = 0, w = 0, tall = 0] = axis.boxes[i] ?? [];
      return [x * width, y * height, w * width, tall * height];
    }
    if (i < leading.length) return [(i * width) / leading.length, 0, width / leading.length, strip - 4];
    const [wide, tall, place] = [width / axis.width, (height - strip) / axis.height, i - leading.length];
    return [(place % axis.width) * wide, strip + Math.floor(place / axis.width) * tall, wide, tall];
  }

  /** The place under the pointer; of boxes the smallest. @param {PointerEvent} event @returns {number | null} */
  function under({ offsetX: x, offsetY: y }) {
    const { clientWidth: width, clientHeight: height } = canvas;
    if (axis.kind === "grid" && y >= strip) {
      const column = Math.floor((x / width) * axis.width);
      const row = Math.floor(((y - strip) / (height - strip)) * axis.height);
      const within = column >= 0 && column < axis.width && row < axis.height;
      return within ? leading.length + row * axis.width + column : null;
    }
    const inside = names
      .map((_, i) => ({ i, area: area(i, width, height) }))
      .filter(({ area: [left, top, wide, tall] }) => x >= left && x < left + wide && y >= top && y < top + tall);
    return inside.sort((a, b) => a.area[2] * a.area[3] - b.area[2] * b.area[3])[0]?.i ?? null;
  }

  /** @param {KeyboardEvent} event */
  function step(event) {
    const wide = axis.kind === "grid" ? axis.width : 1;
    const way = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -wide, ArrowDown: wide }[event.key];
    if (way) at = marked === undefined ? at : Math.max(0, Math.min(names.length - 1, at + way));
    else if (event.key === "Enter" || event.key === " ") hands.pick(at);
    else if (event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    hands.point(event.key === "Escape" ? null : at);
  }

  /** @param {CanvasRenderingContext2D} pen @param {{width: number, height: number}} size */
  function paint(pen, { width, height }) {
    const colours = inks();
    const seen = below?.complete && below.naturalWidth > 0;
    pen.fillStyle = colours.sunken;
    pen.fillRect(0, 0, width, height);
    if (seen) pen.drawImage(below, 0, strip, width, height - strip);
    for (let i = 0; i < names.length; i++) {
      const share = shares?.[i] ?? 0;
      if (i < leading.length) token(pen, area(i, width, height), names[i] ?? "", share, colours);
      else if (axis.kind === "grid") cell(pen, area(i, width, height), share, Boolean(seen), colours.raised);
      else box(pen, area(i, width, height), share, colours);
    }
    if (axis.kind === "boxes") naming(pen, width, height, colours);
    if (marked === undefined) return;
    const [x, y, wide, tall] = area(marked, width, height);
    for (const [stroke, broad] of /** @type {[string, number][]} */ ([
      [colours.raised, 5],
      [colours.accent, 2.5],
    ])) {
      pen.strokeStyle = stroke;
      pen.lineWidth = broad;
      pen.strokeRect(x + 1, y + 1, wide - 2, tall - 2);
    }
  }

  /** @param {CanvasRenderingContext2D} pen @param {Area} area @param {number} share @param {boolean} veiled @param {string} paper */
  function cell(pen, [x, y, wide, tall], share, veiled, paper) {
    if (veiled && !shares) return;
    const gap = !veiled && wide > 8 ? 1 : 0;
    pen.globalAlpha = veiled ? VEIL * (1 - share) : 1;
    pen.fillStyle = veiled ? paper : colour(share);
    // Whole pixels, so that no seams shine through.
    const [left, top] = [Math.round(x), Math.round(y)];
    pen.fillRect(left, top, Math.round(x + wide) - left - gap, Math.round(y + tall) - top - gap);
    pen.globalAlpha = 1;
  }

  /** A token without a place, by its name. @param {CanvasRenderingContext2D} pen @param {Area} area @param {string} name @param {number} share @param {ReturnType<typeof inks>} colours */
  function token(pen, [x, y, wide, tall], name, share, colours) {
    pen.fillStyle = shares ? colour(share) : colours.raised;
    pen.fillRect(x, y, wide - 1, tall);
    pen.font = `600 12px ${SANS}`;
    pen.textBaseline = "middle";
    pen.fillStyle = shares && share > 0.5 ? colours.raised : colours.ink;
    pen.fillText(name, x + 5, y + tall / 2 + 1, wide - 8);
  }

  /** @param {CanvasRenderingContext2D} pen @param {Area} area @param {number} share @param {ReturnType<typeof inks>} colours */
  function box(pen, [x, y, wide, tall], share, colours) {
    pen.fillStyle = pen.strokeStyle = shares && share < 0.1 ? colours.muted : colours.accent;
    pen.globalAlpha = 0.45 * share;
    pen.fillRect(x, y, wide, tall);
    pen.globalAlpha = shares ? 0.25 + 0.75 * share : 0.8;
    pen.lineWidth = 1.5 + 2 * share;
    pen.strokeRect(x, y, wide, tall);
    pen.globalAlpha = 1;
  }

  /** Names of boxes, those that matter first; one that would cover another is left out.
   * @param {CanvasRenderingContext2D} pen @param {number} width @param {number} height @param {ReturnType<typeof inks>} colours */
  function naming(pen, width, height, colours) {
    pen.font = `600 13px ${SANS}`;
    pen.textBaseline = "middle";
    const worth = (/** @type {number} */ i) => (i === marked ? 2 : (shares?.[i] ?? 0.3));
    /** @type {Area[]} */
    const taken = [];
    for (const i of names
      .map((_, i) => i)
      .filter((i) => worth(i) > 0.25)
      .sort((a, b) => worth(b) - worth(a))) {
      const [left, y] = area(i, width, height);
      const wide = pen.measureText(names[i] ?? "").width + 8;
      const x = Math.max(0, Math.min(left, width - wide));
      if (taken.some(([a, b, c]) => x < a + c && a < x + wide && Math.abs(b - y) < 19)) continue;
      taken.push([x, y, wide, 18]);
      pen.fillStyle = colours.raised;
      pen.fillRect(x, y, wide, 18);
      pen.fillStyle = colours.ink;
      pen.fillText(names[i] ?? "", x + 4, y + 10);
    }
  }

  return {
    element: canvas,
    /** @param {ArrayLike<number> | null} next from 0 to 1 @param {number | undefined} mark */
    show(next, mark) {
      [shares, marked] = [next, mark];
      if (mark !== undefined) at = mark;
      page.repaint();
    },
    /** @param {(tag: "image", props: Record<string, unknown>) => SVGElement} make @param {number} x @param {number} size */
    drawn(make, x, size) {
      const height = (size * canvas.clientHeight) / Math.max(1, canvas.clientWidth);
      return { height, nodes: [make("image", { x, y: 0, width: size, height, href: canvas.toDataURL() })] };
    },
    stop: page.stop,
  };
}
