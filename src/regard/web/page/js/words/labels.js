/** Words beside points, so that no two of them cover each other. */

const CELL = 64; // pixels of the squares by which neighbours are found

/** @typedef {{left: number, top: number, right: number, bottom: number}} Box */

/** Thousands of places are tried in every frame, and most in vain: only one that is taken becomes an object. */
export class Board {
  /** @param {number} width @param {number} height */
  constructor(width, height) {
    this.width = width;
    this.height = height;
    this.columns = Math.floor(width / CELL) + 1;
    this.rows = Math.floor(height / CELL) + 1;
    /** @type {(Box[] | undefined)[]} */
    this.taken = new Array(this.columns * this.rows);
  }

  /** A free place for a word beside a point, which is taken; or null.
   * @param {number} x @param {number} y @param {number} wide @param {number} high @param {number} gap @returns {Box | null} */
  put(x, y, wide, high, gap) {
    return (
      this.settle(x + gap, y - high / 2, wide, high) ??
      this.settle(x - gap - wide, y - high / 2, wide, high) ??
      this.settle(x - wide / 2, y - gap - high, wide, high) ??
      this.settle(x - wide / 2, y + gap, wide, high)
    );
  }

  /** @param {number} left @param {number} top @param {number} wide @param {number} high @returns {Box | null} */
  settle(left, top, wide, high) {
    const [right, bottom] = [left + wide, top + high];
    if (left < 0 || top < 0 || right > this.width || bottom > this.height) return null;
    if (!this.free(left, top, right, bottom)) return null;
    const box = { left, top, right, bottom };
    this.take(box);
    return box;
  }

  /** Where a box reaches over the edge, only what is on the board is taken. @param {Box} box */
  take(box) {
    const [first, last] = [Math.max(0, cell(box.left)), Math.min(this.columns - 1, cell(box.right))];
    const [above, below] = [Math.max(0, cell(box.top)), Math.min(this.rows - 1, cell(box.bottom))];
    for (let column = first; column <= last; column++) {
      for (let row = above; row <= below; row++) (this.taken[column * this.rows + row] ??= []).push(box);
    }
  }

  /** Within the board. @param {number} left @param {number} top @param {number} right @param {number} bottom */
  free(left, top, right, bottom) {
    for (let column = cell(left); column <= cell(right); column++) {
      for (let row = cell(top); row <= cell(bottom); row++) {
        const here = this.taken[column * this.rows + row];
        if (!here) continue;
        for (const other of here) {
          if (left < other.right && other.left < right && top < other.bottom && other.top < bottom) return false;
        }
      }
    }
    return true;
  }
}

/** @param {number} pixel */
const cell = (pixel) => Math.floor(pixel / CELL);
