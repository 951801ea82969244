/** Numbers of a chart: ends of its axes, ticks, running means, and how a number is written on an axis. */

/** @typedef {[x: number, y: number]} Point */
/** @typedef {{name: string, hue: number, points: Point[]}} Series */
/** @typedef {{series: Series[], log?: boolean, smooth?: number, across?: string}} Curves */
/** @typedef {ReturnType<typeof scales>} Scales */

export const EDGE = { left: 54, right: 14, top: 10, bottom: 30 };
export const TALL = 240;
const FEW = 12; // points of a curve that is drawn as it is, not smoothed
const LEAST = 1e-12; // where a logarithm begins

/** From values to pixels. @param {Curves} curves @param {number} width */
export function scales({ series, log = false }, width) {
  const points = series.flatMap((each) => each.points);
  const [left, right] = [EDGE.left, width - EDGE.right];
  const [x0, x1] = ends(points.map(([x]) => x));
  const values = points.map(([, y]) => y).filter((y) => shown(y, log));
  const [low, high] = range(values, log);
  const bend = (/** @type {number} */ y) => (log ? Math.log10(Math.max(y, LEAST)) : y);
  const tall = TALL - EDGE.bottom - EDGE.top;
  return {
    x: (/** @type {number} */ value) => left + ((value - x0) / Math.max(1e-9, x1 - x0)) * (right - left),
    back: (/** @type {number} */ pixel) => x0 + ((pixel - left) / (right - left)) * (x1 - x0),
    y: (/** @type {number} */ value) =>
      TALL - EDGE.bottom - ((bend(value) - bend(low)) / Math.max(1e-9, bend(high) - bend(low))) * tall,
    ticks: { x: ticks(x0, x1, width / 110), y: log ? decades(low, high) : ticks(low, high, 5) },
  };
}

/** Whether a value has a place on the axis. @param {number} value @param {boolean} log */
export const shown = (value, log) => Number.isFinite(value) && (!log || value > 0);

/** Whether a curve is smoothed. @param {Curves} curves @param {Series} series */
export const soft = ({ smooth }, { points }) => Boolean(smooth) && points.length > FEW;

/** A curve as it is read: smoothed, if it is. @param {Curves} curves @param {Series} series */
export const read = (curves, series) =>
  soft(curves, series) ? smoothed(series.points, curves.smooth ?? 0) : series.points;

/** A running mean in which the past fades by `amount`, fair from the first point on. @param {Point[]} points @param {number} amount @returns {Point[]} */
export function smoothed(points, amount) {
  let [sum, mass] = [0, 0];
  return points.map(([x, y]) => {
    [sum, mass] = [sum * amount + y * (1 - amount), mass * amount + (1 - amount)];
    return [x, sum / mass];
  });
}

/** Round numbers between two ends. @param {number} low @param {number} high @param {number} many */
export function ticks(low, high, many) {
  const rough = (high - low) / Math.max(1, many);
  if (!(rough > 0)) return Number.isFinite(low) ? [low] : [];
  const size = 10 ** Math.floor(Math.log10(rough));
  const step = size * ([1, 2, 5, 10].find((each) => each * size >= rough) ?? 10);
  const found = [];
  for (let mark = Math.ceil(low / step) * step; mark <= high + step * 1e-6; mark += step)
    found.push(+mark.toPrecision(12));
  return found;
}

/** @param {number} low @param {number} high */
function decades(low, high) {
  const found = [];
  const dense = high / low < 200 ? [1, 2, 5] : [1];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++)
    for (const each of dense) found.push(each * 10 ** power);
  return found.filter((mark) => mark >= low * 0.999 && mark <= high * 1.001);
}

/** The ends of the upright axis. @param {number[]} values @param {boolean} log @returns {[number, number]} */
function range(values, log) {
  if (!values.length) return log ? [0.1, 1] : [0, 1];
  const [low, high] = ends(values);
  if (log) return [low / 1.05, high * 1.05];
  const pad = (high - low || Math.abs(high) || 1) * 0.05;
  return [low >= 0 && low < 0.3 * high ? 0 : low - pad, high + pad];
}

/** The smallest and the largest, of however many. @param {number[]} values @returns {[number, number]} */
function ends(values) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) [low, high] = [Math.min(low, value), Math.max(high, value)];
  return [low, high];
}

/** The point of a curve that is nearest to a place. @param {Point[]} points @param {number} x @returns {Point} */
export function nearest(points, x) {
  let best = points[0] ?? [0, NaN];
  for (const point of points) if (Math.abs(point[0] - x) < Math.abs(best[0] - x)) best = point;
  return best;
}

/** A number on an axis. @param {number} value */
export function plain(value) {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size >= 1e6) return `${+(value / 1e6).toFixed(1)} M`;
  if (size >= 1e4) return `${+(value / 1e3).toFixed(1)} k`;
  if (size !== 0 && size < 1e-3) return value.toExponential(0).replace("e-", "e−");
  return String(+value.toPrecision(size >= 100 ? 4 : 3));
}
