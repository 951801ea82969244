/** What hands do on a map: drag, pinch, turn the wheel, draw a box, click, and keys for all of it. */

/** @typedef {import("./map.js").WordMap} WordMap */
/** @typedef {{x: number, y: number}} Spot */

const STILL = 5; // pixels that a click may move

/** @param {WordMap} map @returns {() => void} let go */
export function hold(map) {
  const down = new Map();
  let moved = 0;
  let boxed = false;
  const control = new AbortController();
  const on = (/** @type {string} */ type, /** @type {(event: any) => void} */ run) =>
    map.element.addEventListener(type, run, { signal: control.signal, passive: false });

  on("pointerdown", (/** @type {PointerEvent} */ event) => {
    map.element.setPointerCapture(event.pointerId);
    down.set(event.pointerId, spot(map, event));
    [moved, boxed] = [0, event.shiftKey];
  });
  on("pointermove", (/** @type {PointerEvent} */ event) => {
    const here = spot(map, event);
    const before = down.get(event.pointerId);
    if (!before) return point(map, here, event);
    moved += Math.hypot(here.x - before.x, here.y - before.y);
    if (down.size === 2) pinch(map, [...down.values()], before, here);
    else if (boxed) stretch(map, before, here);
    else if (map.camera.flat || event.ctrlKey || event.buttons === 2)
      map.camera.pan(here.x - before.x, here.y - before.y);
    else map.camera.turn(here.x - before.x, here.y - before.y);
    if (!(boxed && down.size === 1)) down.set(event.pointerId, here);
    map.repaint();
  });
  on("pointerup", (/** @type {PointerEvent} */ event) => {
    if (!down.delete(event.pointerId) || down.size) return;
    const here = spot(map, event);
    if (boxed && moved > STILL) choose(map);
    else if (moved <= STILL)
      map.events.pick(map.at(here.x, here.y, event.pointerType === "touch" ? 26 : 14), event.shiftKey);
    else map.events.moved();
    map.box = null;
    map.repaint();
  });
  on("pointercancel", (/** @type {PointerEvent} */ event) => down.delete(event.pointerId));
  on("pointerleave", () => hover(map, -1));
  on("contextmenu", (/** @type {Event} */ event) => event.preventDefault());
  on("wheel", (/** @type {WheelEvent} */ event) => {
    event.preventDefault();
    const { x, y } = spot(map, event);
    const lines = event.deltaMode === 1 ? 30 : 1;
    near(map, Math.exp(-event.deltaY * lines * (event.ctrlKey ? 0.01 : 0.0016)), x, y);
  });
  on("keydown", (/** @type {KeyboardEvent} */ event) => press(map, event));
  return () => control.abort();
}

/** @param {WordMap} map @param {number} factor @param {number} [x] @param {number} [y] */
export function near(map, factor, x, y) {
  map.camera.approach(factor, x, y);
  map.repaint();
  map.events.moved();
}

/** @param {WordMap} map @param {MouseEvent} event @returns {Spot} */
function spot(map, event) {
  const box = map.element.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
}

/** @param {WordMap} map @param {Spot} here @param {PointerEvent} event */
function point(map, here, event) {
  if (event.pointerType !== "touch") hover(map, map.at(here.x, here.y, 14));
}

/** @param {WordMap} map @param {number} row */
function hover(map, row) {
  if (row === map.hovered) return;
  map.hovered = row;
  map.element.classList.toggle("pointing", row >= 0);
  map.events.hover(row);
  map.repaint();
}

/** @param {WordMap} map @param {Spot[]} fingers @param {Spot} before @param {Spot} here */
function pinch(map, fingers, before, here) {
  const other = fingers.find((each) => each !== before) ?? before;
  const apart = Math.hypot(before.x - other.x, before.y - other.y) || 1;
  const factor = Math.hypot(here.x - other.x, here.y - other.y) / apart;
  map.camera.approach(factor, (here.x + other.x) / 2, (here.y + other.y) / 2);
  map.camera.pan((here.x - before.x) / 2, (here.y - before.y) / 2);
}

/** @param {WordMap} map @param {Spot} from @param {Spot} to */
function stretch(map, from, to) {
  const [left, right] = [Math.min(from.x, to.x), Math.max(from.x, to.x)];
  const [top, bottom] = [Math.min(from.y, to.y), Math.max(from.y, to.y)];
  map.box = { left, top, right, bottom };
}

/** @param {WordMap} map */
function choose(map) {
  const { box, seen, scene } = map;
  if (!box) return;
  const inside = (/** @type {number} */ x, /** @type {number} */ y) =>
    x >= box.left && x <= box.right && y >= box.top && y <= box.bottom;
  map.events.box([...scene.rows].filter((_, slot) => inside(seen[3 * slot] ?? -1, seen[3 * slot + 1] ?? -1)));
}

/** @param {WordMap} map @param {KeyboardEvent} event */
function press(map, event) {
  const step = { ArrowLeft: [40, 0], ArrowRight: [-40, 0], ArrowUp: [0, 40], ArrowDown: [0, -40] }[event.key];
  const factor = { "+": 1.25, "=": 1.25, "-": 0.8 }[event.key];
  if (event.ctrlKey || event.metaKey || (!step && !factor && event.key !== "0")) return;
  event.preventDefault();
  if (factor) return near(map, factor);
  if (!step) map.camera.home();
  else if (map.camera.flat || event.shiftKey) map.camera.pan(step[0] ?? 0, step[1] ?? 0);
  else map.camera.turn(-(step[0] ?? 0), -(step[1] ?? 0));
  map.repaint();
  map.events.moved();
}
