/** Your file: attention of any other program, dropped onto the page and seen with the same views. */

import { h, replace } from "../dom.js";
import * as gaze from "../views/image_attention.js";
import * as lines from "../views/lines.js";
import * as matrix from "../views/matrix.js";
import * as overview from "../views/overview.js";
import { merged } from "../views/view.js";
import { SAMPLE, example, pictureExample } from "./example.js";
import { read } from "./reading.js";
import { refill } from "./refill.js";

/** @typedef {import("../app.js").Context} Context */
/** @typedef {import("../views/view.js").View} View */
/** @typedef {import("./reading.js").Held} Held */
/** @typedef {import("./reading.js").Opened} Opened */

const THUMB = 32;
const VIEWS = { lines, matrix, picture: gaze };
const TITLES = { lines: "Lines", matrix: "Matrix", picture: "Picture" };
/** @type {WeakMap<Held, Uint8Array>} */
const smalls = new WeakMap();
/** What was dropped stays while the page is open, whichever room is visited. @type {Opened | null} */
let kept = null;

export const room = { id: "file", title: "Your file", key: "5", mount };

/** @param {HTMLElement} host @param {Context} context */
function mount(host, context) {
  /** @type {(ReturnType<typeof lines.create> | ReturnType<typeof matrix.create> | ReturnType<typeof gaze.create>) & {kind: string} | null} */
  let drawn = null;
  /** @type {ReturnType<typeof overview.create> | null} */
  let thumbs = null;

  const state = () => {
    const flat = context.state.get();
    return {
      view: Number(flat["view"] ?? 0) || 0,
      as: String(flat["as"] ?? ""),
      merge: flat["merge"] !== "pieces",
    };
  };
  const set = (/** @type {import("../state.js").Flat} */ patch) => {
    context.state.set(patch, { undo: true });
    show();
  };

  const input = h("input", {
    type: "file",
    accept: ".json,application/json",
    class: "unseen",
    id: "views-file",
    onchange: () => input.files?.[0] && void take(input.files[0]),
  });
  const problem = h("p", { class: "problem", role: "alert" });
  const drop = h(
    "section",
    { class: "drop" },
    h("h1", null, "Look at attention of your own"),
    h(
      "p",
      null,
      "Drop a ",
      h("code", null, "regard-views"),
      " file here, from any model and any program. It stays in this browser.",
    ),
    h(
      "div",
      { class: "buttons" },
      h("label", { class: "button primary", for: "views-file" }, "Choose a file"),
      input,
      h(
        "button",
        { type: "button", class: "button", onclick: () => open(JSON.stringify(example())) },
        "Show an example",
      ),
      h("button", { type: "button", class: "button", onclick: () => void picture() }, "An example with a picture"),
    ),
    problem,
    h(
      "details",
      null,
      h("summary", null, "What the file looks like"),
      h("pre", null, SAMPLE),
      h("p", null, "The whole format: ", h("a", { href: "/api/schema/view.json" }, "view.schema.json")),
    ),
  );
  const bar = h("div", { class: "look-bar" });
  const aside = h("div", { class: "look-heads" });
  const stage = h("div", { class: "look-stage" });
  const seen = h(
    "section",
    { class: "look-box", hidden: true },
    h("div", { class: "look-body" }, aside, h("div", { class: "look-main" }, bar, stage)),
  );
  const heading = h("header", { class: "file-top", hidden: true });
  replace(host, heading, drop, seen);

  /** @param {File} file */
  async function take(file) {
    if (file.size > 64 * 2 ** 20)
      return refuse(
        new Error(`${file.name} has ${Math.round(file.size / 2 ** 20)} MB; at most 64 are read: leave some views out`),
      );
    open(await file.text());
  }

  /** @param {string} text */
  function open(text) {
    try {
      kept = read(text);
      replace(problem);
      context.state.set({ view: "" }, { undo: true });
      thumbs?.destroy();
      thumbs = null;
      show();
    } catch (error) {
      refuse(error);
    }
  }

  async function picture() {
    try {
      open(JSON.stringify(await pictureExample(context.api)));
    } catch (error) {
      refuse(error);
    }
  }

  /** @param {unknown} error */
  function refuse(error) {
    replace(problem, error instanceof Error ? error.message : String(error));
    drop.hidden = false;
    context.toast(error instanceof Error ? error.message : String(error), "error");
  }

  function show() {
    drop.hidden = kept !== null;
    seen.hidden = heading.hidden = kept === null;
    if (!kept) return;
    const now = state();
    const at = Math.max(0, Math.min(kept.views.length - 1, now.view));
    const view = /** @type {Held} */ (kept.views[at]);
    const pieces = [view.rows, view.columns].some((axis) => axis.kind === "words" && axis.words);
    /** @type {(keyof typeof VIEWS)[]} */
    const ways = gaze.pictured(view) ? ["picture", "matrix"] : ["lines", "matrix"];
    const as = ways.find((way) => way === now.as) ?? ways[0] ?? "matrix";
    replace(
      heading,
      h("h1", null, kept.title || "Your file"),
      h(
        "span",
        { class: "quiet" },
        `${kept.views.length} ${kept.views.length > 1 ? "views" : "view"}${view.model ? `, ${view.model}` : ""}`,
      ),
      h(
        "button",
        {
          type: "button",
          class: "button",
          onclick: () => ((kept = null), context.state.set({ view: "", as: "" }), show()),
        },
        "Another file",
      ),
    );
    const words = h("input", {
      type: "checkbox",
      checked: now.merge,
      onchange: () => set({ merge: words.checked ? "" : "pieces" }),
    });
    const pick = h(
      "select",
      { onchange: () => set({ view: pick.value }) },
      kept.views.map((each, i) => h("option", { value: i, selected: i === at }, title(each))),
    );
    refill(
      bar,
      h(
        "div",
        { class: "segments", role: "group", "aria-label": "View" },
        ways.map((kind) =>
          h("button", { type: "button", "aria-pressed": String(kind === as), onclick: () => set({ as: kind }) }, TITLES[kind]),
        ),
      ),
      kept.views.length > 1 && h("label", { class: "pick" }, "view", pick),
      pieces && h("label", { class: "check" }, words, "pieces merged to words"),
    );
    if (drawn?.kind !== as) {
      drawn?.destroy();
      replace(stage);
      drawn = Object.assign(VIEWS[as].create(stage), { kind: as });
    }
    drawn.update(pieces && now.merge ? merged(view) : view);
    aside.hidden = kept.views.length < 2;
    seen.querySelector(".look-body")?.classList.toggle("alone", aside.hidden);
    if (!aside.hidden) heads(kept.views, at);
    context.caption(view.caption || [view.model, kept.title, title(view)].filter(Boolean).join(", "));
  }

  /** Thumbnails by name and head. @param {Held[]} views @param {number} at */
  function heads(views, at) {
    const names = [...new Set(views.map((view) => view.name))];
    const of = (/** @type {string} */ name) => views.filter((view) => view.name === name);
    thumbs ??= overview.create(aside, {
      onopen: ({ name, head }) => set({ view: views.indexOf(/** @type {Held} */ (of(name)[head])) }),
    });
    const current = /** @type {Held} */ (views[at]);
    thumbs.update({
      size: THUMB,
      pixels: new Map(names.map((name) => [name, of(name).map(small)])),
      groups: [
        {
          title: "All views",
          lines: names.map((name, i) => ({ name, layer: of(name)[0]?.layer ?? i, heads: of(name).length })),
        },
      ],
      chosen: { name: current.name, head: of(current.name).indexOf(current) },
      marks: new Map(),
    });
  }

  /** @param {DragEvent} event */
  function over(event) {
    event.preventDefault();
    host.classList.toggle("dropping", event.type === "dragover");
    const file = event.type === "drop" ? event.dataTransfer?.files[0] : undefined;
    if (file) void take(file);
  }
  for (const type of /** @type {const} */ (["dragover", "dragleave", "drop"])) host.addEventListener(type, over);

  context.register({
    figures: () => {
      if (!kept || !drawn) return [];
      const shown = drawn;
      const view = /** @type {Held} */ (kept.views[Math.max(0, Math.min(kept.views.length - 1, state().view))]);
      const width = view.weights.columns;
      return [
        {
          title: title(view),
          svg: () => shown.exportSvg(),
          table: () => ({
            columns: Array.from({ length: width }, (_, j) => String(j)),
            rows: Array.from({ length: view.weights.rows }, (_, i) => [
              ...view.values.subarray(i * width, (i + 1) * width),
            ]),
          }),
        },
      ];
    },
  });
  show();
  return {
    restore: show,
    unmount: () => {
      drawn?.destroy();
      thumbs?.destroy();
    },
  };
}

/** @param {View} view */
const title = (view) => `${view.name}${view.head === null ? "" : `, head ${Number(view.head) + 1}`}`;

/** A view at the size of a thumbnail: each cell is the mean of what it covers. @param {Held} view */
function small(view) {
  const known = smalls.get(view);
  if (known) return known;
  const { rows, columns } = view.weights;
  const sums = new Float64Array(THUMB * THUMB);
  let most = 1e-12;
  for (let i = 0; i < THUMB; i++) {
    for (let j = 0; j < THUMB; j++) {
      const [a, b] = [
        Math.floor((i * rows) / THUMB),
        Math.max(Math.floor((i * rows) / THUMB) + 1, Math.floor(((i + 1) * rows) / THUMB)),
      ];
      const [c, d] = [
        Math.floor((j * columns) / THUMB),
        Math.max(Math.floor((j * columns) / THUMB) + 1, Math.floor(((j + 1) * columns) / THUMB)),
      ];
      let sum = 0;
      for (let row = a; row < b; row++)
        for (let column = c; column < d; column++) sum += view.values[row * columns + column] ?? 0;
      sums[i * THUMB + j] = sum / ((b - a) * (d - c));
      most = Math.max(most, sums[i * THUMB + j] ?? 0);
    }
  }
  const made = Uint8Array.from(sums, (sum) => Math.round((255 * sum) / most));
  smalls.set(view, made);
  return made;
}
