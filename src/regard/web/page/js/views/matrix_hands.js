/** How a matrix is held: by keys, by the wheel, by one finger or two. */

/** @typedef {import("./matrix.js").Matrix} Matrix */

/** @param {Matrix} matrix */
export function hands(matrix) {
  const { canvas } = matrix;
  canvas.addEventListener("keydown", (event) => {
    if (!pressed(matrix, event)) return;
    event.preventDefault();
    event.stopPropagation();
  });
  canvas.addEventListener("wheel", (event) => wheeled(matrix, event), { passive: false });
  fingers(matrix);
}

/** @param {Matrix} matrix @param {KeyboardEvent} event @returns {boolean} was it for us? */
function pressed(matrix, event) {
  const leap = event.shiftKey ? 10 : 1;
  /** @type {Record<string, [number, number]>} */
  const ways = { ArrowUp: [-leap, 0], ArrowDown: [leap, 0], ArrowLeft: [0, -leap], ArrowRight: [0, leap] };
  const way = ways[event.key];
  const { row = -1, column = -1 } = matrix.mark;
  const [rows, columns] = [matrix.rows.length - 1, matrix.columns.length - 1];
  const go = (/** @type {number} */ i, /** @type {number} */ j) => {
    matrix.reveal(i, j);
    matrix.point({ row: i, column: j });
  };
  const along = (/** @type {number} */ at, /** @type {number} */ by, /** @type {number} */ last) =>
    Math.max(0, Math.min(last, at < 0 ? 0 : at + by));
  if (way) go(along(row, way[0], rows), along(column, way[1], columns));
  else if (event.key === "Home" || event.key === "End") go(Math.max(0, row), event.key === "Home" ? 0 : columns);
  else if (event.key === "+" || event.key === "=") matrix.zoom(1.5);
  else if (event.key === "-") matrix.zoom(1 / 1.5);
  else if (event.key === "0") matrix.fit();
  else if (event.key === "Enter" || event.key === " ") matrix.options.onpick?.(matrix.mark);
  else if (event.key === "Escape") matrix.point(null);
  else return false;
  return true;
}

/** @param {Matrix} matrix @param {WheelEvent} event */
function wheeled(matrix, event) {
  const zooming = event.ctrlKey || event.metaKey;
  if (zooming) matrix.zoom(Math.exp(-event.deltaY / 300), event.offsetX, event.offsetY);
  const [dx, dy] = event.shiftKey ? [event.deltaY, 0] : [event.deltaX, event.deltaY];
  if (zooming || matrix.move(dx, dy)) event.preventDefault();
}

/** @param {Matrix} matrix */
function fingers(matrix) {
  const { canvas } = matrix;
  /** @type {Map<number, {x: number, y: number}>} */
  const down = new Map();
  let dragged = 0;
  canvas.addEventListener("pointerdown", (event) => {
    down.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    dragged = 0;
  });
  canvas.addEventListener("pointermove", (event) => {
    const before = down.get(event.pointerId);
    if (!before) return matrix.point(matrix.under(event));
    const here = { x: event.offsetX, y: event.offsetY };
    dragged += Math.abs(here.x - before.x) + Math.abs(here.y - before.y);
    const other = [...down].find(([id]) => id !== event.pointerId)?.[1];
    if (other) {
      const span = (/** @type {{x: number, y: number}} */ a) => Math.hypot(a.x - other.x, a.y - other.y);
      matrix.zoom(span(here) / Math.max(1, span(before)), other.x, other.y);
    } else if (dragged > 4) matrix.move(before.x - here.x, before.y - here.y);
    down.set(event.pointerId, here);
  });
  const lift = (/** @type {PointerEvent} */ event) => down.delete(event.pointerId);
  canvas.addEventListener("pointerup", (event) => {
    const found = matrix.under(event);
    if (down.has(event.pointerId) && dragged <= 4 && found) {
      matrix.point(found);
      matrix.options.onpick?.(found);
    }
    lift(event);
  });
  canvas.addEventListener("pointercancel", lift);
  canvas.addEventListener("pointerleave", (event) => {
    lift(event);
    matrix.point(null);
  });
}
