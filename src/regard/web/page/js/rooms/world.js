/** World: a scene as picture, depth, masks and two eyes, told in four languages; words and things find each other. */

import { aborted } from "../api.js";
import { h, replace } from "../dom.js";
import { showLinks } from "../world/ask.js";
import { captions, mark, thingList } from "../world/captions.js";
import { Controls } from "../world/controls.js";
import { fetchScene } from "../world/scene.js";
import { any, last, read } from "../world/state.js";
import { Tiles } from "../world/tiles.js";

/** @typedef {import("../app.js").Context} Context */
/** @typedef {import("../world/scene.js").Scene} Scene */
/** @typedef {import("../world/state.js").Bounds} Bounds */

export const room = { id: "world", title: "World", mount };

/** @param {HTMLElement} host @param {Context} context */
async function mount(host, context) {
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const scenes = context.api.STATIC ? ((await context.api.about()).limits["scenes"] ?? 0) : null;
  const world = new World(host, context, { scenes, still: () => calm.matches });
  world.register();
  void world.refresh();
  if (!context.api.STATIC) void world.findModels();
  return { restore: () => void world.refresh(), unmount: () => world.stop() };
}

class World {
  /** @param {HTMLElement} host @param {Context} context @param {Bounds} bounds */
  constructor(host, context, bounds) {
    this.host = host;
    this.context = context;
    this.bounds = bounds;
    this.control = new AbortController();
    this.asked = ""; // what the scene was asked by
    /** @type {Record<string, any>[]} */
    this.models = [];
    this.controls = new Controls(bounds, { go: (index) => this.go(index), set: (patch) => this.set(patch) });
    this.tiles = new Tiles({
      point: (thing) => (thing === null ? this.rest() : this.light([thing])),
      take: (thing) => this.take(thing),
    });
    this.tiles.last.append(this.controls.eyes);
    this.links = h("div", { class: "buttons scene-models", hidden: true });
    this.captions = h("div", { class: "captions" });
    this.things = h("div", null);
    this.told = h("p", { class: "unseen", "aria-live": "polite" });
    const pictures = h("div", null, this.tiles.root, this.links);
    const said = h("div", { class: "scene-said" }, this.captions, h("h2", null, "Things"), this.things);
    const scene = h("div", { class: "scene" }, pictures, said);
    replace(host, h("h1", { class: "unseen" }, "World"), this.controls.bar, scene, this.told);
  }

  get state() {
    return read(this.context.state.get(), this.bounds);
  }

  /** @param {import("../state.js").Flat} patch @param {boolean | string} [undo] */
  set(patch, undo = true) {
    this.context.state.set(patch, { undo });
    void this.refresh();
  }

  /** @param {number} index */
  go(index) {
    this.set({ index, thing: "" }, "scene");
  }

  /** Take a thing, or let the one that was taken go. @param {number | null} thing */
  take(thing) {
    this.set({ thing: thing === null || thing === this.state.thing ? "" : thing });
  }

  /** Light up things, in pictures and words. @param {number[]} things */
  light(things) {
    const { lit, loaded } = this.tiles;
    if (things.length === lit.size && things.every((each) => lit.has(each))) return;
    this.tiles.light(new Set(things));
    mark(this.host, this.tiles.lit, this.state.thing);
    replace(this.told, things.map((id) => loaded?.scene.things[id]?.name ?? "").join(", "));
  }

  /** Light up what was taken. */
  rest() {
    const { thing } = this.state;
    this.light(thing === null ? [] : [thing]);
  }

  async refresh() {
    const now = this.state;
    this.controls.show(now);
    this.tiles.showEyes(now.stereo);
    showLinks(this.links, this.models, now);
    if (!(await this.load())) return;
    this.rest();
    mark(this.host, this.tiles.lit, now.thing);
  }

  /** Ask for the scene unless it is there; whether it is the one that is wanted. */
  async load() {
    const now = this.state;
    const key = JSON.stringify([now.index, now.split, now.style]);
    if (key === this.asked) return this.tiles.loaded !== null;
    this.asked = key;
    this.control.abort();
    const { signal } = (this.control = new AbortController());
    try {
      const loaded = await fetchScene(this.context.api, now, signal);
      if (signal.aborted) return false;
      this.tiles.show(loaded);
      this.say(loaded.scene);
      this.context.caption(`regard world, ${now.split} scene ${now.index}: ${loaded.scene.captions["en"]?.text ?? ""}`);
      return true;
    } catch (error) {
      if (aborted(error) || signal.aborted) return false;
      this.asked = "";
      this.context.toast(error instanceof Error ? error.message : String(error), "error");
      return false;
    }
  }

  /** @param {Scene} scene */
  say(scene) {
    const hands = {
      light: (/** @type {number[]} */ things) => this.light(things),
      rest: () => this.rest(),
      take: (/** @type {number | null} */ thing) => this.take(thing),
    };
    this.controls.tell(`${scene.things.length} things, ${scene.facts["palette"] ?? ""}`);
    replace(this.captions, captions(scene, hands));
    replace(this.things, thingList(scene, hands));
    this.tiles.light(new Set());
    replace(this.told);
  }

  /** Models of the world can be shown what is seen here; without word of them, there are no links. */
  async findModels() {
    try {
      this.models = (await this.context.api.about()).models;
      showLinks(this.links, this.models, this.state);
    } catch {
      // The scene itself says that the server is gone.
    }
  }

  register() {
    const step = (/** @type {number} */ by) => {
      const next = this.state.index + by;
      if (next >= 0 && next <= last(this.bounds.scenes)) this.go(next);
    };
    this.context.register({
      figures: () => this.figures(),
      code: () => ({ python: code(this.state) }),
      shortcuts: [
        { key: "ArrowLeft", does: "Scene before", run: () => step(-1) },
        { key: "ArrowRight", does: "Next scene", run: () => step(1) },
        { key: "a", does: "Any scene", run: () => this.go(any(this.bounds.scenes)) },
      ],
    });
  }

  figures() {
    const scene = this.tiles.loaded?.scene;
    if (!scene) return [];
    const rows = scene.things.map(({ id, name, depth }) => [id, name, depth ?? ""]);
    return [
      {
        title: "scene",
        svg: () => this.tiles.exportSvg(),
        json: () => scene,
        table: () => ({ columns: ["thing", "name", "depth"], rows }),
      },
    ];
  }

  stop() {
    this.control.abort();
    this.tiles.stop();
  }
}

/** The scene in Python, with all that is true of it. @param {import("../world/state.js").State} state */
const code = ({ index, split }) =>
  `from regard.world import render, scenes\n\nscene = scenes(split="${split}")[${index}]\npicture = render(scene, 256)`;
