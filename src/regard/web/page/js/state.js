/**
 * Where the page is, in its address: `#/translate?text=…&layer=2`. The address holds all there is to know, so a link
 * brings a colleague to the same picture, and the browser's Back is undo.
 */

/** @typedef {Record<string, string | number>} Flat */
/** @typedef {{room: string, state: Flat}} Place */
/** @typedef {{undo?: boolean | string}} SetOptions */

const PAUSE = 1000; // after this many milliseconds the same kind of change is a new step
const WRITE = 300; // browsers refuse addresses that change at every frame

/** @param {string} hash @returns {Place} */
export function parse(hash) {
  const [path = "", query = ""] = hash.replace(/^#?\/?/, "").split(/\?(.*)/s);
  /** @type {Flat} */
  const state = {};
  for (const [key, value] of new URLSearchParams(query)) state[key] = value;
  return { room: path, state };
}

/** @param {Place} place @returns {string} */
export function format({ room, state }) {
  const query = Object.entries(state)
    .filter(([, value]) => value !== "" && value !== null && value !== undefined)
    .map(([key, value]) => `${encodeURIComponent(key)}=${readable(String(value))}`)
    .join("&");
  return `#/${room}${query && "?" + query}`;
}

/** Escape only what would change the meaning, so that a link can be read. @param {string} value */
function readable(value) {
  return encodeURIComponent(value)
    .replace(/%(2C|3B|3A|2F|7C|40)/gi, decodeURIComponent)
    .replace(/%20/g, "+");
}

/** The place, and the way back. */
export class Journey {
  /** @param {(place: Place) => void} arrived told whenever the reader goes back, forward or to a link */
  constructor(arrived) {
    this.place = parse(location.hash);
    this.at = Number(history.state?.at ?? 0);
    this.last = this.at;
    this.floor = Number(history.state?.floor ?? this.at); // where the room was entered: undo does not leave it
    this._kind = "";
    this._when = 0;
    this._held = false;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this._timer = undefined;
    /** @type {() => void} */
    this.changed = () => {};
    history.replaceState({ at: this.at, floor: this.floor }, "");
    addEventListener("popstate", () => {
      const { room } = this.place;
      clearTimeout(this._timer);
      this._timer = undefined;
      this._kind = "";
      this.place = parse(location.hash);
      if (history.state === null) {
        // The reader wrote an address: that is a step forward, too.
        this.at += 1;
        this.last = this.at;
        if (this.place.room !== room) this.floor = this.at;
        history.replaceState({ at: this.at, floor: this.floor }, "");
      }
      this.at = Number(history.state?.at ?? 0);
      this.floor = Number(history.state?.floor ?? 0);
      this.last = Math.max(this.last, this.at);
      arrived(this.place);
      this.changed();
    });
    addEventListener("pagehide", () => this.write());
    // A drag is one step however long it takes, and the next drag is another.
    for (const type of ["pointerdown", "pointerup", "pointercancel"]) {
      addEventListener(type, () => ([this._held, this._kind] = [type === "pointerdown", ""]), true);
    }
  }

  /**
   * Change some of the state. With `undo: true` it is a step that can be taken back; with a name, all changes of that
   * name in a row are one step, as in a drag; without, the change is not worth a step.
   * @param {Flat} patch
   * @param {SetOptions} [options]
   */
  set(patch, { undo = false } = {}) {
    const next = { ...this.place.state, ...patch };
    if (format({ ...this.place, state: next }) === format(this.place)) return;
    const now = performance.now();
    const same = typeof undo === "string" && undo === this._kind && (this._held || now - this._when < PAUSE);
    if (undo && !same) this._step();
    if (undo) [this._kind, this._when] = [typeof undo === "string" ? undo : "", now];
    this.place = { ...this.place, state: next };
    // A single step stands in the address at once: who reloads in the next moment must not lose it.
    if (undo === true) this.write();
    else this._timer ??= setTimeout(() => this.write(), WRITE);
    this.changed();
  }

  /** Go to a room. @param {Place} place */
  go(place) {
    this._step(place.room !== this.place.room);
    this._kind = "";
    this.place = place;
    this.write();
    this.changed();
  }

  undo() {
    this.write();
    if (this.at > this.floor) history.back();
  }

  redo() {
    this.write();
    if (this.at < this.last) history.forward();
  }

  /** Bring the address up to date. */
  write() {
    clearTimeout(this._timer);
    this._timer = undefined;
    history.replaceState({ at: this.at, floor: this.floor }, "", format(this.place));
  }

  /** Leave the present behind as it is, and begin a new entry. @param {boolean} [entering] another room */
  _step(entering = false) {
    this.write();
    this.at += 1;
    this.last = this.at;
    if (entering) this.floor = this.at;
    history.pushState({ at: this.at, floor: this.floor }, "", format(this.place));
  }
}
