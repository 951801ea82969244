/** From where a map is seen: what is in the middle, how near, and in space, from which side. */

const FAR = 4; // of the eye from the middle; places lie between -1 and 1
const MARGIN = 0.94;
const NEAREST = 400;

export class Camera {
  constructor() {
    this.width = 1;
    this.height = 1;
    this.flat = true;
    this.x = 0;
    this.y = 0;
    this.z = 0;
    this.zoom = 1;
    this.yaw = 0;
    this.pitch = 0;
  }

  home() {
    [this.x, this.y, this.z, this.zoom] = [0, 0, 0, 1];
    [this.yaw, this.pitch] = this.flat ? [0, 0] : [0.5, 0.35];
  }

  /** Pixels of a place that is one away from the middle. */
  get scale() {
    return (MARGIN * this.zoom * Math.min(this.width, this.height)) / 2;
  }

  /** The rotation, row by row. */
  get axes() {
    if (this.flat) return [1, 0, 0, 0, 1, 0, 0, 0, 1];
    const [cy, sy, cp, sp] = [Math.cos(this.yaw), Math.sin(this.yaw), Math.cos(this.pitch), Math.sin(this.pitch)];
    return [cy, 0, sy, sp * sy, cp, -sp * cy, -cp * sy, sp, cp * cy];
  }

  /** Where places are on the screen: across, down, and how far as a divisor, which is 1 in the middle.
   * @param {Float32Array} places @param {Float32Array} out */
  project(places, out) {
    const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0, i = 0] = this.axes;
    const { scale, flat } = this;
    for (let at = 0; at < places.length; at += 3) {
      const x = /** @type {number} */ (places[at]) - this.x;
      const y = /** @type {number} */ (places[at + 1]) - this.y;
      const z = /** @type {number} */ (places[at + 2]) - this.z;
      const far = flat ? 1 : Math.max(0.1, 1 - (g * x + h * y + i * z) / FAR);
      out[at] = this.width / 2 + (scale * (a * x + b * y + c * z)) / far;
      out[at + 1] = this.height / 2 - (scale * (d * x + e * y + f * z)) / far;
      out[at + 2] = far;
    }
    return out;
  }

  /** What the graphics card needs to do the same: columns of a matrix, and the middle. */
  matrix() {
    const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0, i = 0] = this.axes;
    const [sx, sy] = [(2 * this.scale) / this.width, (2 * this.scale) / this.height];
    const w = this.flat ? 0 : -1 / FAR;
    const k = this.flat ? 0 : -0.2;
    return new Float32Array(
      [
        [sx * a, sy * d, k * g, w * g],
        [sx * b, sy * e, k * h, w * h],
        [sx * c, sy * f, k * i, w * i],
        [0, 0, 0, 1],
      ].flat(),
    );
  }

  /** @param {number} dx pixels @param {number} dy */
  pan(dx, dy) {
    const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = this.axes;
    const [right, up] = [-dx / this.scale, dy / this.scale];
    this.x = within(this.x + right * a + up * d);
    this.y = within(this.y + right * b + up * e);
    this.z = within(this.z + right * c + up * f);
  }

  /** @param {number} dx pixels @param {number} dy */
  turn(dx, dy) {
    this.yaw = (this.yaw + dx * 0.008) % (2 * Math.PI);
    this.pitch = Math.max(-1.5, Math.min(1.5, this.pitch + dy * 0.008));
  }

  /** Come nearer to what is under the pointer. @param {number} factor @param {number} [px] @param {number} [py] */
  approach(factor, px = this.width / 2, py = this.height / 2) {
    const zoom = Math.max(0.4, Math.min(NEAREST, this.zoom * factor));
    const share = this.zoom / zoom;
    const [dx, dy] = [px - this.width / 2, py - this.height / 2];
    this.pan(-dx * (1 - share), -dy * (1 - share));
    this.zoom = zoom;
  }

  /** For the address. */
  toString() {
    const { x, y, z, zoom, yaw, pitch } = this;
    const all = this.flat ? [x, y, zoom] : [x, y, z, zoom, yaw, pitch];
    return all.map((each) => Number(each.toPrecision(4))).join(",");
  }

  /** As the address has it; what it does not say is as at home. @param {string} text */
  read(text) {
    this.home();
    const all = text.split(",").map(Number);
    if (all.length !== (this.flat ? 3 : 6) || !all.every(Number.isFinite)) return;
    const [x = 0, y = 0] = all;
    const [z = 0, zoom = 1, yaw = 0, pitch = 0] = this.flat ? [0, all[2], 0, 0] : all.slice(2);
    Object.assign(this, { x: within(x), y: within(y), z: within(z), yaw, pitch });
    this.zoom = Math.max(0.4, Math.min(NEAREST, zoom));
  }
}

/** @param {number} value */
const within = (value) => Math.max(-1, Math.min(1, value));
