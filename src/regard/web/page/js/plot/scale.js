/** From numbers to places on an axis, plain or logarithmic, and the round numbers beside it. */

/** @typedef {{label: string, x?: number[], y: (number | null)[], low: number[], high: number[], dashed?: boolean}} Mark */
/** @typedef {{kind: "axes", title: string, x: string, y: string, marks: Mark[], names: string[], log: string, bounds: [number, number] | null, rule: [number, string] | null}} Axes */
/** @typedef {{kind: "heat", title: string, x: string, y: string, cells: (number | null)[][], rows: string[], columns: string[], bounds: [number, number]}} Heat */
/** @typedef {{at: (value: number) => number, ticks: number[], least: number, most: number}} Scale */

const ROOM = 1.25; // beyond the ends of a logarithmic axis

/** The axis of y: as the library's own figures have it. @param {Axes} panel @param {number} bottom @param {number} top @returns {Scale} */
export function upward(panel, bottom, top) {
  const log = panel.log.includes("y");
  const values = panel.marks.flatMap((mark) => [...mark.y, ...mark.low, ...mark.high]);
  if (panel.rule) values.push(panel.rule[0]);
  const finite = values.filter((value) => value !== null && Number.isFinite(value) && (value > 0 || !log));
  const kept = /** @type {number[]} */ (finite.length ? finite : [1]);
  let [least, most] = panel.bounds ?? [Math.min(...kept), Math.max(...kept)];
  if (log) [least, most] = [least / ROOM, most * ROOM];
  else if (!panel.bounds) [least, most] = [Math.min(least * 1.1, 0), Math.max(most * 1.08, 0)];
  if (!(least < most)) most = least + 1;
  const share = (/** @type {number} */ value) =>
    log ? Math.log(value / least) / Math.log(most / least) : (value - least) / (most - least);
  const held = (/** @type {number} */ value) => Math.min(Math.max(value, least), most);
  return { at: (value) => bottom + share(held(value)) * (top - bottom), ticks: round(least, most, log), least, most };
}

/** The axis of x under lines. @param {Axes} panel @param {number} left @param {number} right @returns {Scale} */
export function across(panel, left, right) {
  const log = panel.log.includes("x");
  const all = [...new Set(panel.marks.flatMap((mark) => mark.x ?? []))].sort((a, b) => a - b);
  const [least, most] = [all[0] ?? 0, all.at(-1) ?? 1];
  const share = (/** @type {number} */ value) =>
    least === most ? 0.5 : log ? Math.log(value / least) / Math.log(most / least) : (value - least) / (most - least);
  const few = Math.max(2, Math.floor((right - left) / 52));
  const ticks = log || all.length <= few ? thin(all, few) : round(least, most, false);
  return { at: (value) => left + 12 + share(value) * (right - left - 24), ticks, least, most };
}

/** Round numbers between two others, five or so. @param {number} least @param {number} most @param {boolean} log */
export function round(least, most, log) {
  if (log) {
    const decades = Math.log10(most / least);
    const factors = decades > 2 ? [1] : decades > 1 ? [1, 3] : [1, 2, 5];
    const powers = Array.from(
      { length: Math.ceil(Math.log10(most)) - Math.floor(Math.log10(least)) + 1 },
      (_, i) => Math.floor(Math.log10(least)) + i,
    );
    const found = powers.flatMap((power) => factors.map((factor) => factor * 10 ** power));
    return thin(
      found.filter((value) => value >= least && value <= most),
      7,
    );
  }
  const rough = (most - least) / 5;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = unit * ([1, 2, 2.5, 5, 10].find((factor) => unit * factor >= rough * 0.999) ?? 10);
  const found = [];
  for (let i = Math.ceil(least / step - 1e-9); i <= most / step + 1e-9; i++) found.push(i * step);
  return found;
}

/** @param {number[]} ticks @param {number} most */
function thin(ticks, most) {
  const every = Math.max(1, Math.ceil(ticks.length / most));
  return ticks.filter((_, i) => i % every === 0);
}

/** A number as people write it. @param {number | null | undefined} value @param {number} [digits] */
export function written(value, digits = 3) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size && (size < 1e-3 || size >= 1e6)) {
    const power = Math.floor(Math.log10(size) + 1e-9);
    const lead = +(value / 10 ** power).toPrecision(digits > 3 ? 3 : 2);
    return `${lead === 1 ? "" : lead === -1 ? "−" : `${minus(lead)}·`}10${raised(power)}`;
  }
  return minus(size >= 1000 ? Math.round(value) : +value.toPrecision(digits));
}

/** @param {number} value */
const minus = (value) => value.toLocaleString("en-GB", { maximumFractionDigits: 6 }).replace("-", "−");
/** @param {number} power */
const raised = (power) => String(power).replace(/[-\d]/g, (digit) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(digit)] ?? "");
