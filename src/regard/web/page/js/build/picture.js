/** What is seen on the stage as one drawing: planes, matrices, signs and equation, each where it stands on the page. */

import { svg } from "../dom.js";

const GAP = 24;
/** What a drawing on the page has from the style sheets. */
const CARRIED = [
  ...["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linecap"],
  ...["stroke-linejoin", "paint-order", "opacity", "font-family", "font-size", "font-weight", "font-style"],
  ...["text-anchor", "dominant-baseline", "vector-effect"],
];

/** @typedef {{left: number, top: number, out: SVGElement[]}} Paper where the corner of the drawing lies on the page */

/** Several pieces of the page, one below the other. @param {Element[]} pieces @returns {SVGSVGElement} */
export function picture(pieces) {
  const seen = pieces.filter((piece) => piece.checkVisibility() && piece.getBoundingClientRect().height > 0);
  let high = 0;
  let wide = 0;
  const groups = seen.map((piece) => {
    const box = piece.getBoundingClientRect();
    /** @type {Paper} */
    const paper = { left: box.left, top: box.top - high, out: [] };
    walk(piece, paper);
    high += box.height + GAP;
    wide = Math.max(wide, box.width);
    return svg("g", null, paper.out);
  });
  high = Math.max(1, high - GAP);
  return svg("svg", { viewBox: `0 0 ${tidy(wide)} ${tidy(high)}`, width: tidy(wide), height: tidy(high) }, groups);
}

/** @param {Element} element @param {Paper} paper */
function walk(element, paper) {
  const style = getComputedStyle(element);
  const box = element.getBoundingClientRect();
  if (style.display === "none" || style.visibility === "hidden") return;
  if (element instanceof SVGSVGElement) return void paper.out.push(copied(element, box, paper));
  if (box.width > 0) ground(style, box, paper);
  if (element instanceof HTMLInputElement) return field(element, style, box, paper);
  if (element instanceof HTMLSelectElement) return line(element.selectedOptions[0]?.text ?? "", box, style, paper);
  if (element.localName === "mo" && box.height > 1.7 * parseFloat(style.fontSize)) {
    const drawn = bracket(element.textContent ?? "", style, box, paper);
    if (drawn) return void paper.out.push(drawn);
  }
  if (element.localName === "mfrac" || element.localName === "msqrt") strokes(element, style, box, paper);
  for (const child of element.childNodes) {
    if (child instanceof Element) walk(child, paper);
    else if (child instanceof Text && child.data.trim()) written(child, style, paper);
  }
}

/** A drawing of its own, with its styles written into it. @param {SVGSVGElement} source @param {DOMRect} box @param {Paper} paper */
function copied(source, box, paper) {
  const copy = /** @type {SVGSVGElement} */ (source.cloneNode(true));
  carry(source, copy);
  for (const each of [copy, ...copy.querySelectorAll("*")]) {
    for (const name of ["class", "id", "tabindex", "style", "role", "aria-label", "aria-hidden"])
      each.removeAttribute(name);
  }
  for (const handle of copy.querySelectorAll("[data-handle]")) handle.remove();
  const place = { x: box.left - paper.left, y: box.top - paper.top, width: box.width, height: box.height };
  for (const [name, value] of Object.entries(place)) copy.setAttribute(name, String(tidy(value)));
  return copy;
}

/** @param {Element} from @param {Element} to */
function carry(from, to) {
  const style = getComputedStyle(from);
  for (const name of CARRIED) to.setAttribute(name, style.getPropertyValue(name));
  [...from.children].forEach((child, i) => to.children[i] && carry(child, to.children[i]));
}

/** Colour and frame behind what is written. @param {CSSStyleDeclaration} style @param {DOMRect} box @param {Paper} paper */
function ground(style, box, paper) {
  const filled = opaque(style.backgroundColor) ? style.backgroundColor : "none";
  const framed = bordered(style, "bottom");
  const share = style.backgroundImage === "none" ? "" : style.getPropertyValue("--share");
  const shape = {
    x: tidy(box.left - paper.left),
    y: tidy(box.top - paper.top),
    height: tidy(box.height),
    rx: parseFloat(style.borderTopLeftRadius) || 0,
  };
  if (share) {
    paper.out.push(svg("rect", { ...shape, width: tidy(box.width), fill: "#8b919f", "fill-opacity": 0.16 }));
    const part = (box.width * Math.min(100, parseFloat(share))) / 100;
    paper.out.push(svg("rect", { ...shape, width: tidy(part), fill: style.getPropertyValue("--fill") }));
  } else if (!framed && bordered(style, "top")) {
    const { x, y } = shape;
    paper.out.push(svg("path", { d: `M${x} ${y}h${tidy(box.width)}`, stroke: style.borderTopColor }));
  } else if (filled !== "none" || framed) {
    paper.out.push(
      svg("rect", {
        ...shape,
        width: tidy(box.width),
        fill: filled,
        stroke: framed ? style.borderBottomColor : "none",
      }),
    );
  }
}

/** @param {CSSStyleDeclaration} style @param {"top" | "bottom"} side */
function bordered(style, side) {
  const [line, width, colour] = ["style", "width", "color"].map((what) =>
    style.getPropertyValue(`border-${side}-${what}`),
  );
  return line === "solid" && parseFloat(width) > 0 && opaque(colour);
}

/** A bracket as high as what it holds. @param {string} sign @param {CSSStyleDeclaration} style @param {DOMRect} box @param {Paper} paper */
function bracket(sign, style, box, paper) {
  const side = "([".includes(sign) ? 1 : ")]".includes(sign) ? -1 : 0;
  if (!side) return null;
  const middle = box.left - paper.left + box.width / 2;
  const [from, to] = [middle + (side * box.width) / 4, middle - (side * box.width) / 4];
  const [top, bottom] = [box.top - paper.top, box.bottom - paper.top];
  const d = "()".includes(sign)
    ? `M${tidy(from)} ${tidy(top)}Q${tidy(to - (side * box.width) / 4)} ${tidy((top + bottom) / 2)} ${tidy(from)} ${tidy(bottom)}`
    : `M${tidy(from)} ${tidy(top)}H${tidy(to)}V${tidy(bottom)}H${tidy(from)}`;
  return svg("path", { d, fill: "none", stroke: style.color, "stroke-width": 1.3 });
}

/** @param {HTMLInputElement} input @param {CSSStyleDeclaration} style @param {DOMRect} box @param {Paper} paper */
function field(input, style, box, paper) {
  if (input.type !== "range") return line(input.value, box, style, paper, true);
  const [low, high] = [Number(input.min), Number(input.max)];
  const [x, y] = [box.left - paper.left, box.top - paper.top + box.height / 2];
  const at = x + 8 + ((Number(input.value) - low) / (high - low || 1)) * (box.width - 16);
  const colour = style.accentColor === "auto" ? style.color : style.accentColor;
  paper.out.push(
    svg("line", {
      x1: tidy(x),
      x2: tidy(x + box.width),
      y1: tidy(y),
      y2: tidy(y),
      stroke: "#8b919f",
      "stroke-width": 3,
    }),
    svg("circle", { cx: tidy(at), cy: tidy(y), r: 7, fill: colour }),
  );
}

/** The words of a text, line by line. @param {Text} text @param {CSSStyleDeclaration} style @param {Paper} paper */
function written(text, style, paper) {
  const range = document.createRange();
  /** @type {{words: string, left: number, right: number, top: number, bottom: number}[]} */
  const lines = [];
  for (const { 0: word, index } of text.data.matchAll(/\S+\s*/g)) {
    range.setStart(text, index);
    range.setEnd(text, index + word.trimEnd().length);
    const { left, right, top, bottom, width } = range.getBoundingClientRect();
    const last = lines.at(-1);
    if (!width) continue;
    if (last && Math.abs(last.top - top) < 3) Object.assign(last, { words: `${last.words} ${word.trimEnd()}`, right });
    else lines.push({ words: word.trimEnd(), left, right, top, bottom });
  }
  for (const { words, left, right, top, bottom } of lines) {
    line(words, new DOMRect(left, top, right - left, bottom - top), style, paper, false, right - left);
  }
}

/** @param {string} words @param {DOMRect} box @param {CSSStyleDeclaration} style @param {Paper} paper @param {boolean} [centred] @param {number} [long] */
function line(words, box, style, paper, centred = false, long = 0) {
  if (!words) return;
  paper.out.push(
    svg(
      "text",
      {
        x: tidy(box.left - paper.left + (centred ? box.width / 2 : 0)),
        y: tidy(box.top - paper.top + box.height / 2),
        fill: style.color,
        "font-family": style.fontFamily,
        "font-size": style.fontSize,
        "font-weight": style.fontWeight,
        "font-style": style.fontStyle,
        "text-anchor": centred ? "middle" : "start",
        "dominant-baseline": "central",
        // Elsewhere the letters may be others; they still must not run into each other.
        textLength: long ? tidy(long) : null,
        lengthAdjust: long ? "spacingAndGlyphs" : null,
      },
      words,
    ),
  );
}

/** The bar of a fraction, the sign of a root. @param {Element} element @param {CSSStyleDeclaration} style @param {DOMRect} box @param {Paper} paper */
function strokes(element, style, box, paper) {
  const [x, y] = [box.left - paper.left, box.top - paper.top];
  const first = element.firstElementChild?.getBoundingClientRect();
  if (!first) return;
  const under = first.bottom - paper.top + 1.5;
  const into = first.left - paper.left;
  const d =
    element.localName === "mfrac"
      ? `M${tidy(x)} ${tidy(under)}H${tidy(x + box.width)}`
      : `M${tidy(x)} ${tidy(y + box.height * 0.6)}L${tidy(x + (into - x) * 0.5)} ${tidy(y + box.height)}L${tidy(into - 1)} ${tidy(y + 1)}H${tidy(x + box.width)}`;
  paper.out.push(svg("path", { d, fill: "none", stroke: style.color, "stroke-width": 1.1 }));
}

/** @param {string} colour */
const opaque = (colour) => colour !== "transparent" && !/,\s*0\)$/.test(colour) && !/\/\s*0\)$/.test(colour);
/** @param {number} value */
const tidy = (value) => Math.round(value * 100) / 100;
