/** What the room works on: vectors, the map that is shown, what is selected; and how a state of the address becomes a picture. */

import { loadPlaces, loadWords, spread } from "./load.js";
import { WordMap } from "./map.js";
import { find } from "./search.js";
import { list, listed, readState } from "./state.js";
import { bytes, palette } from "./tint.js";
import { work } from "./work.js";

/** @typedef {import("../app.js").Context} Context */
/** @typedef {import("./vectors.js").Vectors} Vectors */
/** @typedef {import("./load.js").Facts} Facts */
/** @typedef {import("./state.js").State} State */
/** @typedef {import("./map.js").Marks} Marks */
/** @typedef {{element: HTMLElement, refresh: (state: State) => Partial<Marks> | void, stop?: () => void}} Panel */
/** @typedef {{places: Float32Array, rows: Int32Array | null, facts: Facts}} Layout places of all words, or of some rows */
/** @typedef {{rows: Int32Array, frames: import("./tsne.js").Frame[], dimensions: number, facts: Facts, key: string}} Live */

export const SELECTED = 300; // words that an address lists

export class Desk {
  /** @param {Context} context @param {import("./load.js").Served} served @param {(state: State) => Partial<Marks>} changed */
  constructor(context, { about, vectors }, changed) {
    this.context = context;
    this.about = about;
    this.vectors = vectors;
    this.served = "";
    this.changed = changed;
    /** @type {Map<string, Promise<Layout>>} */
    this.layouts = new Map();
    /** @type {Live | null} */
    this.live = null;
    /** @type {Facts} */
    this.facts = {};
    /** @type {number[]} */
    this.selected = [];
    /** @type {Set<number> | null} */
    this.hits = null;
    this.problem = "";
    this.busy = "";
    /** Rows clicked while an arrow is drawn; null unless one is. @type {number[] | null} */
    this.drawing = null;
    this.shown = "";
    this.searched = "";
    this.turn = 0;
    this.control = new AbortController();
    /** @type {import("./tint.js").Legend} */
    this.legend = [];
    this.map = new WordMap({
      pick: (row, add) => this.pick(row, add),
      hover: () => this.hovered(),
      box: (rows) => this.select(rows.map((row) => this.vectors.words[row] ?? "")),
      moved: () => this.context.state.set({ cam: this.map.camera.toString() }),
      tint: (rows) => this.tint(rows),
    });
    this.hovered = () => {};
  }

  get state() {
    return readState(this.context.state.get());
  }

  /** @param {import("../state.js").Flat} patch @param {boolean | string} [undo] */
  set(patch, undo = true) {
    this.context.state.set(patch, { undo });
    void this.refresh();
  }

  /** The maps that can be shown without being made on purpose: t-SNE where it is stored. */
  get maps() {
    const { vectors, about } = this;
    const stored = !vectors.own && about.maps["tsne-2"] && about.maps["tsne-3"];
    return [...(stored ? ["tsne"] : []), ...(vectors.width <= 3 ? ["given"] : []), "pca"];
  }

  /** The map that a state asks for; what there is not is answered with what there is. @param {State} state */
  how(state) {
    const able = this.maps;
    if (state.how === "live" && this.live?.frames.length) return "live";
    return able.includes(state.how) ? state.how : (able[0] ?? "pca");
  }

  /** @param {number} row @param {boolean} add */
  pick(row, add) {
    const word = this.vectors.words[row];
    if (word === undefined) return;
    if (this.drawing) return this.draw(row);
    if (!add) return this.set({ w: word });
    const now = this.selected.map((each) => this.vectors.words[each] ?? "");
    this.select(now.includes(word) ? now.filter((each) => each !== word) : [...now, word]);
  }

  /** Three clicks: from, to, and where the same step begins again. @param {number} row */
  draw(row) {
    this.drawing?.push(row);
    const [from, to, start] = (this.drawing ?? []).map((each) => this.vectors.words[each] ?? "");
    if (start === undefined) return void this.refresh();
    this.drawing = null;
    this.set({ sum: `${to} - ${from} + ${start}`, arrows: "" });
  }

  /** @param {string[]} words */
  select(words) {
    if (words.length > SELECTED) {
      this.context.toast(`${words.length} words are more than a link can list; the first ${SELECTED} are selected.`);
    }
    this.set({ sel: list(words.slice(0, SELECTED)), only: words.length && this.state.only ? 1 : "" });
  }

  /** Vectors that were read here; a link cannot hold them, so it says which file they are of. @param {Vectors} vectors */
  use(vectors) {
    this.take(vectors);
    this.begin({ own: vectors.name });
  }

  /** Vectors that the server has, the bundled ones if none are named. @param {string} model */
  choose(model) {
    this.begin({ own: "", m: model });
  }

  /** @param {Vectors} vectors */
  take(vectors) {
    this.vectors = vectors;
    this.layouts.clear();
    this.live = null;
    this.shown = "";
    this.searched = "";
    this.selected = [];
    this.hits = null;
  }

  /** What was asked of other vectors is not asked of these. @param {import("../state.js").Flat} patch */
  begin(patch) {
    const none = {
      how: "",
      w: "",
      sel: "",
      only: "",
      q: "",
      cam: "",
      sum: "",
      arrows: "",
      odd: "",
      colour: "",
      marks: "",
    };
    this.set({ ...none, live: "", step: "", ...patch });
  }

  /** The name of the served vectors that a state is about; the bundled ones have none. @param {State} state */
  wanted({ model }) {
    return (this.about.sets ?? []).some((each) => each.bundled && each.name === model) ? "" : model;
  }

  /** The vectors that a state is about, read unless they are here. @param {State} state */
  async serve(state) {
    const model = this.wanted(state);
    if (this.vectors.own ? state.own === this.vectors.name : model === this.served) return;
    this.say(model ? `Reading ${model} …` : "Reading the words …");
    try {
      const { about, vectors } = await loadWords(this.context.api, model);
      if (this.state.model !== state.model || this.state.own !== state.own) return; // others are wanted by now
      [this.about, this.served] = [about, model];
      this.take(vectors);
      about.notes.forEach((note) => this.context.toast(note));
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.context.toast(`${why}. Other words are shown instead.`, "error");
      this.context.state.set({ m: this.served });
    } finally {
      this.say("");
    }
  }

  async refresh() {
    const turn = ++this.turn;
    this.control.abort();
    this.control = new AbortController();
    const state = this.state;
    try {
      await this.serve(state);
      if (turn !== this.turn) return;
      if (this.wanted(state) !== this.served && !this.vectors.own) return void this.refresh(); // they could not be read
      this.vectors.take(state.vec);
      await this.search(state);
      const layout = await this.layout(state);
      if (turn !== this.turn) return;
      this.show(state, layout);
    } catch (error) {
      if (error instanceof DOMException || turn !== this.turn) return;
      this.problem = error instanceof Error ? error.message : String(error);
    }
    this.map.tint();
    this.map.mark(this.marks(this.changed(state)));
  }

  /** What a panel marks, and around it what was found and selected. @param {Partial<Marks>} given @returns {Marks} */
  marks({ chosen = -1, rings = new Map(), lines = [], first = [] }) {
    const found = [...(this.hits ?? [])].slice(0, SELECTED);
    const some = this.selected.slice(0, SELECTED);
    /** @type {Marks["rings"]} */
    const all = new Map();
    for (const row of some) all.set(row, "muted");
    for (const row of found) all.set(row, "lamp");
    for (const [row, tint] of rings) all.set(row, tint);
    return { chosen, rings: all, lines, first: [...first, ...found, ...some] };
  }

  /** @param {State} state */
  async search(state) {
    const { signal } = this.control;
    const key = [this.vectors.name, state.sel, state.find].join("|");
    if (key === this.searched) return;
    this.searched = "";
    this.problem = "";
    this.selected = state.sel.startsWith("/")
      ? await find(this.vectors, state.sel, signal)
      : listed(state.sel)
          .map((word) => this.vectors.row(word))
          .filter((row) => row >= 0);
    try {
      this.hits = state.find ? new Set(await find(this.vectors, state.find, signal)) : null;
    } catch (error) {
      if (error instanceof DOMException) throw error;
      this.hits = null;
      this.problem = error instanceof Error ? error.message : String(error);
    }
    this.searched = key;
  }

  /** Where words lie; computed once for every way. @param {State} state @returns {Promise<Layout>} */
  layout(state) {
    const how = this.how(state);
    if (how === "live" && this.live) return Promise.resolve(frameOf(this.live, state.step));
    const key = [this.vectors.name, how, state.dim, how === "pca" && state.vec].join();
    let found = this.layouts.get(key);
    if (!found) {
      found = this.make(how, state.dim);
      found.catch(() => this.layouts.delete(key));
      this.layouts.set(key, found);
    }
    return found;
  }

  /** @param {string} how @param {number} dimensions @returns {Promise<Layout>} */
  async make(how, dimensions) {
    const { vectors } = this;
    if (how === "tsne") {
      const facts = this.about.maps[`tsne-${dimensions}`] ?? {};
      return { places: await loadPlaces(this.context.api, this.served, dimensions), rows: null, facts };
    }
    if (how === "given") return { places: fit(spread(vectors.raw, vectors.width)), rows: null, facts: {} };
    this.say("Computing PCA …");
    const given = { table: vectors.table, width: vectors.width, dimensions };
    const { places, shares, kept } = await work("pca", given).finally(() => this.say(""));
    return { places: fit(spread(places, dimensions)), rows: null, facts: { variance: shares, ...kept } };
  }

  /** @param {string} what */
  say(what) {
    this.busy = what;
    this.map.element.dataset["busy"] = what;
  }

  /** @param {State} state @param {Layout} layout */
  show(state, layout) {
    const rows = layout.rows ?? Int32Array.from({ length: this.vectors.count }, (_, row) => row);
    const flat = this.how(state) === "live" ? this.live?.dimensions !== 3 : state.dim === 2 && this.vectors.width !== 3;
    const chosen = state.only && this.selected.length ? new Set(this.selected) : null;
    const key = [this.vectors.name, this.how(state), flat, state.vec, chosen ? state.sel : "", this.live?.key].join(
      "|",
    );
    this.facts = layout.facts;
    if (key !== this.shown) this.map.show({ ...subset(rows, layout.places, chosen), flat, words: this.vectors.words });
    else if (layout.rows) this.map.move(subset(rows, layout.places, chosen).places);
    if (key !== this.shown || state.cam !== this.map.camera.toString()) this.map.camera.read(state.cam);
    this.shown = key;
  }

  /** @param {Int32Array} rows */
  tint(rows) {
    const { colour } = this.state;
    const { of, legend } = palette(this.vectors.columns.find((column) => column.name === colour));
    this.legend = legend;
    return bytes(rows, of, this.hits);
  }
}

/** The words that are shown and where, the selection alone if there is one. @param {Int32Array} rows @param {Float32Array} places @param {Set<number> | null} chosen */
function subset(rows, places, chosen) {
  if (!chosen) return { rows, places };
  const slots = [...rows.keys()].filter((slot) => chosen.has(rows[slot] ?? -1));
  const kept = new Float32Array(slots.length * 3);
  slots.forEach((slot, i) => kept.set(places.subarray(3 * slot, 3 * slot + 3), 3 * i));
  return { rows: Int32Array.from(slots, (slot) => rows[slot] ?? 0), places: fit(kept) };
}

/** @param {Live} live @param {number} step @returns {Layout} */
function frameOf(live, step) {
  const found = live.frames.find((frame) => frame.step === step) ?? live.frames.at(-1);
  const facts = { ...live.facts, kl: found?.kl, step: found?.step };
  return { places: fit(spread(found?.places ?? [], live.dimensions)), rows: live.rows, facts };
}

/** Moved and shrunk so that all lie between -1 and 1; far ones, which few maps have, may lie outside. @param {Float32Array} places */
export function fit(places) {
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  places.forEach((value, i) => {
    low[i % 3] = Math.min(low[i % 3] ?? value, value);
    high[i % 3] = Math.max(high[i % 3] ?? value, value);
  });
  const size = Math.max(...high.map((value, axis) => value - (low[axis] ?? 0))) / 2 || 1;
  return places.map((value, i) => (value - ((low[i % 3] ?? 0) + (high[i % 3] ?? 0)) / 2) / size);
}
