/** Colours of weights: more attention is darker on paper and brighter at night, as in the figures of the library. */

/** @typedef {[number, number, number]} Rgb */

/** @type {Rgb[]} */
const PAPER = [
  [240, 241, 238],
  [196, 222, 212],
  [98, 168, 172],
  [36, 99, 135],
  [20, 38, 78],
];
/** @type {Rgb[]} */
const NIGHT = [
  [27, 31, 50],
  [38, 70, 110],
  [44, 122, 140],
  [120, 178, 128],
  [247, 205, 110],
];
/** Below and above zero. @type {{paper: [Rgb, Rgb, Rgb], night: [Rgb, Rgb, Rgb]}} */
const SIGNED = {
  paper: [
    [196, 98, 45],
    [247, 247, 245],
    [36, 99, 135],
  ],
  night: [
    [224, 130, 78],
    [27, 31, 50],
    [84, 160, 190],
  ],
};

/** Is the page dark now? */
export function dark() {
  return document.documentElement.dataset.theme === "dark";
}

/** The colour of a weight between 0 and 1; small ones deserve to be told apart. @param {number} weight @param {boolean} [night] @returns {Rgb} */
export function weightRgb(weight, night = dark()) {
  return between(night ? NIGHT : PAPER, clamp(weight) ** 0.7);
}

/** @param {number} weight @param {boolean} [night] */
export function weight(weight, night = dark()) {
  return css(weightRgb(weight, night));
}

/** The colour of a number around zero, full at ±`most`. @param {number} value @param {number} [most] @param {boolean} [night] */
export function signed(value, most = 1, night = dark()) {
  const share = most > 0 && Number.isFinite(value) ? clamp(value / most / 2 + 0.5) : 0.5;
  return css(between(SIGNED[night ? "night" : "paper"], share));
}

/** Ink that can be read on a colour: one of these two always has 4.5 : 1. @param {string} colour */
export function ink(colour) {
  const rgb = /** @type {Rgb} */ ((colour.match(/\d+/g) ?? ["0", "0", "0"]).map(Number));
  const light = luminance(rgb);
  return (light + 0.05) / 0.05 > 1.05 / (light + 0.05) ? "#000000" : "#ffffff";
}

/** 256 colours as bytes, for pictures drawn dot by dot. @param {boolean} [night] */
export function table(night = dark()) {
  const out = new Uint8ClampedArray(256 * 4);
  for (let i = 0; i < 256; i++) out.set([...weightRgb(i / 255, night), 255], i * 4);
  return out;
}

/** Colours that tell things apart: words, runs, heads. @param {number} index @param {boolean} [night] */
export function hue(index, night = dark()) {
  const day = ["#0072b2", "#c64f00", "#00805e", "#a8487f", "#8a6d00", "#7a3fb5", "#555b66", "#2b7bb0"];
  const dim = ["#5cb8f0", "#ff9a4d", "#3ed6a8", "#f0a5cf", "#e6c84a", "#c39df0", "#b4bcc9", "#9fd4f5"];
  const set = night ? dim : day;
  return set[((index % set.length) + set.length) % set.length] ?? "#555b66";
}

/** @param {Rgb[]} stops @param {number} share @returns {Rgb} */
function between(stops, share) {
  const place = share * (stops.length - 1);
  const low = Math.min(Math.floor(place), stops.length - 2);
  const [from, to] = [stops[low] ?? [0, 0, 0], stops[low + 1] ?? [0, 0, 0]];
  const part = place - low;
  /** @param {0 | 1 | 2} i */
  const mixed = (i) => Math.round(from[i] + (to[i] - from[i]) * part);
  return [mixed(0), mixed(1), mixed(2)];
}

/** @param {Rgb} rgb */
function luminance(rgb) {
  const [r, g, b] = rgb.map((each) => {
    const part = each / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * (r ?? 0) + 0.7152 * (g ?? 0) + 0.0722 * (b ?? 0);
}

/** @param {Rgb} rgb */
const css = (rgb) => `rgb(${rgb.join(",")})`;
/** @param {number} share */
const clamp = (share) => Math.min(1, Math.max(0, share));
