/** World: a scene as picture, depth, masks and two eyes, told in four languages; words and things find each other. */

import { aborted } from "../api.js";
import { dark, hue, table } from "../color.js";
import { h, replace, svg } from "../dom.js";
import { drawing, inks, picture, sheet } from "../views/paint.js";
import { pick } from "./pick.js";
import { load } from "./pixels.js";
import { refill } from "./refill.js";

/** @typedef {import("../app.js").Context} Context */
/** @typedef {{id: number, name: string, depth?: number, box: number[]}} Thing */
/** @typedef {{text: string, before?: string, things?: number[], thing?: number | null}} Word */
/** @typedef {{index: number, things: Thing[], captions: Record<string, {text: string, words: Word[]}>, images: Record<string, string>, facts: Record<string, any>}} Scene */
/** @typedef {import("./pixels.js").Picture} Picture */

const LANGUAGES = { en: "English", de: "Deutsch", it: "Italiano", cs: "Čeština" };
const STYLES = { each: "each thing", whole: "the whole", relations: "how they stand", counts: "how many" };
const SPLITS = { test: "as in training", novel: "new combinations", rearranged: "rearranged" };
const WIGGLE = 420; // milliseconds an eye
const SHIFT = 0.0625 * 1.5; // how far a thing at one metre moves between the eyes, in sides of the picture

export const room = { id: "world", title: "World", key: "3", mount };

/** @param {HTMLElement} host @param {Context} context */
async function mount(host, context) {
  /** @type {Scene | null} */
  let scene = null;
  /** @type {Record<string, Picture>} */
  let pictures = {};
  /** Which thing the right eye sees in each pixel, as the masks have it for the left one. */
  let shifted = new Uint8Array();
  /** What was painted of this scene. @type {Map<string, HTMLCanvasElement>} */
  const made = new Map();
  /** @type {Set<number>} */
  let lit = new Set();
  let control = new AbortController();
  let eye = "left";
  let asked = "";
  const still = matchMedia("(prefers-reduced-motion: reduce)");

  const state = () => {
    const flat = context.state.get();
    return {
      index: Math.max(0, Math.floor(Number(flat["index"] ?? 3)) || 0),
      split: String(flat["split"] ?? "test"),
      style: String(flat["style"] ?? "each"),
      stereo: String(flat["stereo"] ?? (still.matches ? "both" : "wiggle")),
      thing: flat["thing"] === undefined || flat["thing"] === "" ? null : Number(flat["thing"]),
    };
  };
  const set = (/** @type {import("../state.js").Flat} */ patch, /** @type {boolean | string} */ undo = true) => {
    context.state.set(patch, { undo });
    void refresh();
  };
  const go = (/** @type {number} */ index) => set({ index, thing: "" }, "scene");

  const tiles = {
    rgb: tile("Picture"),
    depth: tile("Depth, near is bright"),
    masks: tile("Things"),
    stereo: tile("Two eyes"),
  };
  const sheets = Object.entries(tiles).map(([kind, { canvas }]) =>
    sheet(canvas, (pen, size) => paint(pen, size.width, kind)),
  );
  const bar = h("div", { class: "scene-bar" });
  const eyes = h("div", { class: "segments eyes", role: "group", "aria-label": "How to show two eyes" });
  tiles.stereo.figure.append(eyes);
  const facts = h("span", { class: "quiet facts" });
  const captions = h("div", { class: "captions" });
  const things = h("ul", { class: "things" });
  const told = h("p", { class: "unseen", "aria-live": "polite" });
  replace(
    host,
    h("h1", { class: "unseen" }, "World"),
    bar,
    h(
      "div",
      { class: "scene" },
      h(
        "div",
        { class: "scene-tiles" },
        Object.values(tiles).map((each) => each.figure),
      ),
      h("div", { class: "scene-said" }, captions, h("h2", null, "Things"), things),
    ),
    told,
  );

  /** @param {string} title */
  function tile(title) {
    const canvas = h("canvas", {
      role: "img",
      "aria-label": title,
      onpointermove: touch,
      onpointerdown: touch,
      onpointerleave: () => light(chosen()),
      onclick: (/** @type {PointerEvent} */ event) => keep(under(event)),
    });
    return { canvas, figure: h("figure", { class: "tile" }, canvas, h("figcaption", null, title)) };
  }

  /** @param {PointerEvent} event */
  function touch(event) {
    const found = under(event);
    light(found === null ? chosen() : new Set([found]));
  }

  /** The thing under the pointer. @param {PointerEvent} event @returns {number | null} */
  function under(event) {
    const canvas = /** @type {HTMLCanvasElement} */ (event.currentTarget);
    const masks = pictures["masks"];
    if (!masks) return null;
    const both = canvas === tiles.stereo.canvas && state().stereo === "both";
    const wide = both ? canvas.clientWidth / 2 : canvas.clientWidth;
    const right = both ? event.offsetX > wide : canvas === tiles.stereo.canvas && eye === "right";
    const [x, y] = [
      (event.offsetX % wide) / wide,
      both ? (event.offsetY - canvas.clientHeight / 4) / wide : event.offsetY / canvas.clientHeight,
    ];
    if (y < 0 || y >= 1) return null;
    const [column, row] = [Math.floor(x * masks.size), Math.floor(y * masks.size)];
    const value = column < masks.size ? (right ? shifted : masks.grey)[row * masks.size + column] : 0;
    return value ? value - 1 : null;
  }

  const chosen = () => {
    const { thing } = state();
    return new Set(thing === null ? [] : [thing]);
  };

  /** @param {number | null} thing */
  const keep = (thing) => set({ thing: thing === null || thing === state().thing ? "" : thing });

  /** Light things up, in pictures and words. @param {Set<number>} next */
  function light(next) {
    if (next.size === lit.size && [...next].every((each) => lit.has(each))) return;
    lit = next;
    for (const each of sheets) each.repaint();
    for (const element of host.querySelectorAll("[data-things]")) {
      const own = (element.getAttribute("data-things") ?? "").split(" ").map(Number);
      element.classList.toggle(
        "lit",
        own.some((each) => lit.has(each)),
      );
    }
    replace(told, [...lit].map((id) => scene?.things[id]?.name ?? "").join(", "));
  }

  /** @param {CanvasRenderingContext2D} pen @param {number} width @param {string} kind */
  function paint(pen, width, kind) {
    const base = { rgb: "rgb", depth: "depth", masks: "masks", stereo: "left" }[kind] ?? "rgb";
    if (kind !== "stereo") return draw(pen, base, 0, 0, width);
    if (state().stereo !== "both") return draw(pen, eye, 0, 0, width);
    draw(pen, "left", 0, width / 4, width / 2 - 2);
    draw(pen, "right", width / 2 + 2, width / 4, width / 2 - 2);
  }

  /** @param {CanvasRenderingContext2D} pen @param {string} kind @param {number} x @param {number} y @param {number} size */
  function draw(pen, kind, x, y, size) {
    const found = pictures[kind];
    if (!found) return;
    pen.imageSmoothingEnabled = kind !== "masks";
    pen.drawImage(kind === "depth" || kind === "masks" ? coloured(found, kind) : found.whole, x, y, size, size);
    if (lit.size) pen.drawImage(veil(kind === "right"), x, y, size, size);
  }

  /** Depth in the colours of the page, a colour for each thing. @param {Picture} found @param {string} kind */
  function coloured({ size, grey }, kind) {
    return painted(`${kind} ${dark()}`, () => {
      const colours = [rgb(inks().sunken), ...(scene?.things ?? []).map((_, i) => rgb(hue(i)))];
      return picture(
        grey,
        size,
        255,
        kind === "depth" ? table(true) : palette((i) => [...(colours[i] ?? [0, 0, 0]), 255]),
      );
    });
  }

  /** Everything but the lit things in shade, and a rim around them. @param {boolean} right */
  function veil(right) {
    const masks = pictures["masks"];
    if (!masks) return document.createElement("canvas");
    const { size, grey } = masks;
    return painted(`veil ${right} ${[...lit]} ${dark()}`, () => {
      const ids = right ? shifted : grey;
      const shade = new Uint8Array(size * size).fill(2);
      ids.forEach((id, k) => {
        if (!id || !lit.has(id - 1)) return;
        shade[k] = 0;
        for (const step of [1, 2, -1, -2, size, 2 * size, -size, -2 * size]) {
          const [next, beyond] = [k + step, Math.abs(((k + step) % size) - (k % size)) > 2];
          if (!beyond && shade[next] === 2 && !lit.has((ids[next] ?? 0) - 1)) shade[next] = 1;
        }
      });
      const rim = rgb(inks().raised);
      return picture(
        shade,
        size,
        255,
        palette((i) => (i === 1 ? [...rim, 255] : i === 2 ? [12, 15, 24, 165] : [0, 0, 0, 0])),
      );
    });
  }

  /** @param {string} key @param {() => HTMLCanvasElement} make */
  function painted(key, make) {
    const known = made.get(key) ?? make();
    made.set(key, known);
    return known;
  }

  async function refresh() {
    const now = state();
    controls(now);
    const key = JSON.stringify([now.index, now.split, now.style]);
    if (key !== asked) {
      asked = key;
      control.abort();
      control = new AbortController();
      const { signal } = control;
      try {
        const found = /** @type {Scene} */ (
          await context.api.get("/api/world/scene", {
            params: { index: now.index, split: now.split, style: now.style },
            signal,
          })
        );
        const names = ["rgb", "depth", "masks", "left", "right"];
        const loaded = await Promise.all(names.map((name) => load(found.images[name] ?? "")));
        if (signal.aborted) return;
        scene = found;
        pictures = Object.fromEntries(names.map((name, i) => [name, /** @type {Picture} */ (loaded[i])]));
        shifted = seenRight(/** @type {Picture} */ (pictures["masks"]), found.things);
        made.clear();
        lit = new Set([-1]);
        say();
        context.caption(`regard world, ${now.split} scene ${now.index}: ${found.captions["en"]?.text ?? ""}`);
      } catch (error) {
        if (aborted(error) || signal.aborted) return;
        asked = "";
        context.toast(error instanceof Error ? error.message : String(error), "error");
        return;
      }
    }
    light(chosen());
    for (const item of things.querySelectorAll("button"))
      item.setAttribute("aria-pressed", String(Number(item.dataset["things"]) === now.thing));
    for (const each of sheets) each.repaint();
  }

  /** The scene in words. */
  function say() {
    if (!scene) return;
    const now = scene;
    replace(facts, `${now.things.length} things, ${now.facts["palette"] ?? ""}`);
    replace(
      captions,
      Object.entries(LANGUAGES).map(([code, name]) => {
        const said = now.captions[code];
        if (!said) return null;
        let first = true;
        const parts = said.words.flatMap((word, i) => {
          const about = word.things ?? (typeof word.thing === "number" ? [word.thing] : []);
          const before = word.before ?? (i && !/^[.,;:!?]/.test(word.text) ? " " : "");
          if (!about.length) return [before, h("span", null, word.text)];
          const shine = () => light(new Set(about));
          const button = h(
            "button",
            {
              type: "button",
              class: "named",
              "data-things": about.join(" "),
              tabindex: first ? 0 : -1,
              onpointerenter: shine,
              onfocus: shine,
              onpointerleave: () => light(chosen()),
              onblur: () => light(chosen()),
              onclick: () => keep(about[0] ?? null),
              onkeydown: roam,
            },
            word.text,
          );
          first = false;
          return [before, button];
        });
        return h("section", { class: "caption", lang: code }, h("h2", { lang: code }, name), h("p", null, parts));
      }),
    );
    replace(
      things,
      now.things.map((thing) =>
        h(
          "li",
          null,
          h(
            "button",
            {
              type: "button",
              "data-things": thing.id,
              "aria-pressed": "false",
              onpointerenter: () => light(new Set([thing.id])),
              onpointerleave: () => light(chosen()),
              onfocus: () => light(new Set([thing.id])),
              onblur: () => light(chosen()),
              onclick: () => keep(thing.id),
            },
            h("i", { class: "swatch", style: { "--hue": hue(thing.id) } }),
            thing.name,
            thing.depth !== undefined && h("span", { class: "quiet" }, `${thing.depth.toFixed(2)} m`),
          ),
        ),
      ),
    );
  }

  /** Arrow keys walk from word to word. @param {KeyboardEvent} event */
  function roam(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const here = /** @type {HTMLElement} */ (event.currentTarget);
    const all = /** @type {HTMLElement[]} */ ([...(here.closest("p")?.querySelectorAll("button") ?? [])]);
    all[(all.indexOf(here) + step + all.length) % all.length]?.focus();
  }

  /** @param {ReturnType<typeof state>} now */
  function controls(now) {
    const index = h("input", {
      type: "number",
      min: 0,
      value: now.index,
      "aria-label": "Number of the scene",
      onchange: () => go(Math.max(0, Math.floor(Number(index.value)) || 0)),
    });
    refill(
      bar,
      h(
        "button",
        {
          type: "button",
          class: "button",
          "aria-label": "Scene before",
          disabled: now.index === 0,
          onclick: () => go(now.index - 1),
        },
        "‹",
      ),
      h("label", { class: "pick" }, "scene", index),
      h(
        "button",
        { type: "button", class: "button", "aria-label": "Next scene", onclick: () => go(now.index + 1) },
        "›",
      ),
      h("button", { type: "button", class: "button", onclick: random }, "Any scene"),
      pick("things", Object.entries(SPLITS), now.split, (split) => set({ split, thing: "" })),
      pick("tell", Object.entries(STYLES), now.style, (style) => set({ style })),
      facts,
    );
    const ways = { wiggle: "wiggle", left: "left", right: "right", both: "side by side" };
    refill(
      eyes,
      Object.entries(ways)
        .filter(([id]) => id !== "wiggle" || !still.matches)
        .map(([id, label]) =>
          h(
            "button",
            { type: "button", "aria-pressed": String(now.stereo === id), onclick: () => set({ stereo: id }) },
            label,
          ),
        ),
    );
    eye = now.stereo === "right" ? "right" : "left";
  }

  const random = () => go(Math.floor(Math.random() * 100000));

  const timer = setInterval(() => {
    if (state().stereo !== "wiggle" || still.matches || document.hidden || !scene) return;
    eye = eye === "left" ? "right" : "left";
    sheets[3]?.repaint();
  }, WIGGLE);

  context.register({
    figures: () =>
      scene
        ? [
            {
              title: "scene",
              svg: () => contact(),
              json: () => scene,
              table: () => ({
                columns: ["thing", "name", "depth"],
                rows: (scene?.things ?? []).map((thing) => [thing.id, thing.name, thing.depth ?? ""]),
              }),
            },
          ]
        : [],
    shortcuts: [
      { key: "ArrowLeft", does: "Scene before", run: () => state().index > 0 && go(state().index - 1) },
      { key: "ArrowRight", does: "Next scene", run: () => go(state().index + 1) },
      { key: "a", does: "Any scene", run: random },
    ],
  });

  /** The four pictures side by side. */
  function contact() {
    const size = 256;
    const out = drawing(4 * size + 36, size);
    Object.values(tiles).forEach(({ canvas }, i) =>
      out.append(svg("image", { x: i * (size + 12), width: size, height: size, href: canvas.toDataURL() })),
    );
    return out;
  }

  void refresh();
  return {
    restore: () => void refresh(),
    unmount: () => {
      clearInterval(timer);
      control.abort();
      for (const each of sheets) each.stop();
    },
  };
}

/** Things stand further left for the right eye, near ones more; far ones first, so that near ones cover them.
 * @param {Picture} masks @param {Thing[]} things */
function seenRight({ size, grey }, things) {
  const found = new Uint8Array(size * size);
  for (const { id, depth = 1 } of [...things].sort((a, b) => (b.depth ?? 1) - (a.depth ?? 1))) {
    const shift = Math.round((SHIFT / depth) * size);
    grey.forEach((value, k) => {
      if (value === id + 1 && k % size >= shift) found[k - shift] = value;
    });
  }
  return found;
}

/** A table of 256 colours. @param {(i: number) => number[]} colour */
function palette(colour) {
  const found = new Uint8ClampedArray(1024);
  for (let i = 0; i < 256; i++) found.set(colour(i), i * 4);
  return found;
}

/** @param {string} colour @returns {[number, number, number]} */
function rgb(colour) {
  const hex = colour
    .match(/^#(..)(..)(..)$/)
    ?.slice(1)
    .map((part) => parseInt(part, 16));
  const [r = 0, g = 0, b = 0] = hex ?? (colour.match(/\d+/g) ?? []).map(Number);
  return [r, g, b];
}
