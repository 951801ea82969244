/** Words as small pictures: to write one with its halo takes ten times as long as to lay its picture down. */

import { inks, SANS } from "../views/paint.js";

export const LETTER = 12.5;
const HALO = 3;
const KEPT = 1200; // pictures, beyond which all are made anew

/** @param {boolean} bold */
const font = (bold) => `${bold ? "600 " : ""}${LETTER}px ${SANS}`;
/** @param {string} text @param {boolean} bold */
const key = (text, bold) => (bold ? `*${text}` : ` ${text}`);

export class Lettering {
  constructor() {
    /** @type {Map<string, number>} */
    this.widths = new Map();
    /** @type {Map<string, ImageBitmap>} */
    this.pictures = new Map();
    this.ratio = 1;
    this.canvas = new OffscreenCanvas(1, 1);
    this.pen = this.canvas.getContext("2d");
  }

  /** Letters or colours are others now. */
  forget() {
    this.widths.clear();
    this.drop();
  }

  drop() {
    this.pictures.forEach((picture) => picture.close());
    this.pictures.clear();
  }

  /** @param {string} text @param {boolean} bold */
  wide(text, bold) {
    const name = key(text, bold);
    let wide = this.widths.get(name);
    if (wide === undefined && this.pen) {
      this.pen.font = font(bold);
      wide = this.pen.measureText(text).width;
      this.widths.set(name, wide);
    }
    return wide ?? 0;
  }

  /** Write a word on whole pixels, where letters are sharp. @param {CanvasRenderingContext2D} pen whose unit is a pixel of the screen
   * @param {string} text @param {boolean} bold @param {number} x @param {number} y of its base line @param {number} ratio */
  write(pen, text, bold, x, y, ratio) {
    const picture = this.picture(text, bold, ratio);
    if (picture) pen.drawImage(picture, Math.round((x - HALO) * ratio), Math.round((y - LETTER - HALO) * ratio));
  }

  /** @param {string} text @param {boolean} bold @param {number} ratio */
  picture(text, bold, ratio) {
    if (ratio !== this.ratio || this.pictures.size > KEPT) this.drop();
    this.ratio = ratio;
    const name = key(text, bold);
    let found = this.pictures.get(name);
    if (!found && this.pen) {
      this.canvas.width = Math.max(1, Math.ceil((this.wide(text, bold) + 2 * HALO) * ratio));
      this.canvas.height = Math.ceil((LETTER * 1.4 + 2 * HALO) * ratio);
      this.draw(this.pen, text, bold, ratio);
      found = this.canvas.transferToImageBitmap();
      this.pictures.set(name, found);
    }
    return found;
  }

  /** @param {OffscreenCanvasRenderingContext2D} pen @param {string} text @param {boolean} bold @param {number} ratio */
  draw(pen, text, bold, ratio) {
    const ink = inks();
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.font = font(bold);
    pen.lineWidth = HALO;
    pen.lineJoin = "round";
    pen.strokeStyle = ink.raised;
    pen.fillStyle = ink.ink;
    pen.strokeText(text, HALO, LETTER + HALO);
    pen.fillText(text, HALO, LETTER + HALO);
  }
}
