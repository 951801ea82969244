/** Your file: attention of any other program, dropped onto the page and seen with the same views. */

import { h, replace } from "../dom.js";
import * as lines from "../views/lines.js";
import * as matrix from "../views/matrix.js";
import * as overview from "../views/overview.js";
import { Weights, count, merged, unpack } from "../views/view.js";
import { refill } from "./refill.js";

/** @typedef {import("../app.js").Context} Context */
/** @typedef {import("../views/view.js").View} View */
/** @typedef {import("../views/view.js").Axis} Axis */
/** @typedef {View & {values: Float32Array}} Held */
/** @typedef {{title: string, views: Held[]}} Opened */

const FORMAT = "regard-views-1";
const THUMB = 32;
/** What was dropped stays while the page is open, whichever room is visited. @type {Opened | null} */
let kept = null;

export const room = { id: "file", title: "Your file", key: "5", mount };

/** @param {HTMLElement} host @param {Context} context */
function mount(host, context) {
  /** @type {(ReturnType<typeof lines.create> | ReturnType<typeof matrix.create>) & {kind: string} | null} */
  let drawn = null;
  /** @type {ReturnType<typeof overview.create> | null} */
  let thumbs = null;

  const state = () => {
    const flat = context.state.get();
    return {
      view: Number(flat["view"] ?? 0) || 0,
      as: flat["as"] === "matrix" ? "matrix" : flat["as"] === "lines" ? "lines" : "",
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
    const as = now.as || (view.rows.kind === "words" && view.columns.kind === "words" ? "lines" : "matrix");
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
        ["lines", "matrix"].map((kind) =>
          h(
            "button",
            { type: "button", "aria-pressed": String(kind === as), onclick: () => set({ as: kind }) },
            kind === "lines" ? "Lines" : "Matrix",
          ),
        ),
      ),
      kept.views.length > 1 && h("label", { class: "pick" }, "view", pick),
      pieces && h("label", { class: "check" }, words, "pieces merged to words"),
    );
    if (drawn?.kind !== as) {
      drawn?.destroy();
      replace(stage);
      drawn = Object.assign(as === "lines" ? lines.create(stage) : matrix.create(stage), { kind: as });
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
  return Uint8Array.from(sums, (sum) => Math.round((255 * sum) / most));
}

/** A file of views; what does not fit is named with its place. @param {string} text @returns {Opened} */
export function read(text) {
  /** @type {any} */
  let found;
  try {
    found = JSON.parse(text);
  } catch (error) {
    throw new Error(`This is no JSON (${error instanceof Error ? error.message : error}); drop a regard-views file.`);
  }
  if (typeof found !== "object" || found === null || Array.isArray(found))
    throw new Error(
      `The file holds ${Array.isArray(found) ? "a list" : typeof found}, not an object with format, title and views.`,
    );
  if (found.format !== FORMAT)
    throw new Error(
      `The format is ${JSON.stringify(found.format ?? null)}, but this page reads "${FORMAT}"; write "format": "${FORMAT}" at the top.`,
    );
  if (!Array.isArray(found.views) || !found.views.length)
    throw new Error("The file has no views; give a list of at least one under “views”.");
  return {
    title: String(found.title ?? ""),
    views: found.views.flatMap((/** @type {any} */ view, /** @type {number} */ i) => opened(view, `views[${i}]`)),
  };
}

/** @param {any} view @param {string} place @returns {Held[]} */
function opened(view, place) {
  if (typeof view !== "object" || view === null)
    throw new Error(`${place} is ${JSON.stringify(view)}, not an object; give it name, rows, columns and weights.`);
  if (typeof view.name !== "string") throw new Error(`${place} has no name; give it one such as "encoder.layer.3".`);
  const kind = view.kind ?? "self";
  if (!["self", "causal", "cross"].includes(kind))
    throw new Error(`${place}.kind is ${JSON.stringify(kind)}; choose self, causal or cross.`);
  const [rows, columns] = [axis(view.rows, `${place}.rows`), axis(view.columns, `${place}.columns`)];
  const [n, m] = [count(rows), count(columns)];
  const { shape, values } = numbers(view.weights, `${place}.weights`);
  const [r, c] = shape.slice(-2);
  if (r !== n || c !== m)
    throw new Error(
      `${place}.weights are ${shape.join(" × ")}, but there are ${n} rows and ${m} columns; make them agree.`,
    );
  const bad = values.findIndex((value) => !Number.isFinite(value) || value < 0);
  if (bad >= 0)
    throw new Error(
      `${place}.weights hold ${values[bad]} at row ${Math.floor((bad % (n * m)) / m)}, column ${bad % m}; weights are 0 or more.`,
    );
  const heads = shape.length === 3 ? (shape[0] ?? 1) : 1;
  return Array.from({ length: heads }, (_, head) => {
    const part = values.subarray(head * n * m, (head + 1) * n * m);
    return {
      name: view.name,
      kind,
      layer: Number(view.layer ?? 0),
      head: shape.length === 3 ? head : (view.head ?? null),
      rows,
      columns,
      weights: Weights.of(n, m, part),
      values: part,
      model: String(view.model ?? ""),
      caption: String(view.caption ?? ""),
    };
  });
}

/** @param {any} found @param {string} place @returns {Axis} */
function axis(found, place) {
  if (typeof found !== "object" || found === null)
    throw new Error(`${place} is missing; give an axis such as {"kind": "words", "labels": ["a", "b"]}.`);
  if (found.kind === "words" && Array.isArray(found.labels) && found.labels.length) {
    const labels = found.labels.map(String);
    if (
      found.words &&
      !found.words.every(
        (/** @type {any} */ span) =>
          Array.isArray(span) && span.length === 2 && 0 <= span[0] && span[0] <= span[1] && span[1] < labels.length,
      )
    ) {
      throw new Error(
        `${place}.words has a word outside of its ${labels.length} pieces; give first and last piece of each.`,
      );
    }
    return found.words ? { kind: "words", labels, words: found.words } : { kind: "words", labels };
  }
  if (found.kind === "grid" && found.height > 0 && found.width > 0) return found;
  if (found.kind === "latents" && found.count > 0) return found;
  if (found.kind === "boxes" && Array.isArray(found.boxes)) return found;
  throw new Error(
    `${place} is no axis: its kind is ${JSON.stringify(found.kind ?? null)}; choose words with labels, grid with height and width, latents with count, or boxes.`,
  );
}

/** @param {any} found @param {string} place @returns {{shape: number[], values: Float32Array}} */
function numbers(found, place) {
  if (Array.isArray(found)) {
    /** @type {number[]} */
    const shape = [];
    for (let level = found; Array.isArray(level); level = level[0]) shape.push(level.length);
    const flat = found.flat(2);
    if (shape.length < 2 || shape.length > 3)
      throw new Error(`${place} is a list of depth ${shape.length}; give rows of numbers, or heads of rows.`);
    if (flat.length !== shape.reduce((a, b) => a * b, 1))
      throw new Error(`${place} has rows of different lengths; each needs ${shape.at(-1)} numbers.`);
    const odd = flat.find((value) => typeof value !== "number");
    if (odd !== undefined) throw new Error(`${place} holds ${JSON.stringify(odd)}, which is no number.`);
    return { shape, values: Float32Array.from(flat) };
  }
  if (found?.href)
    throw new Error(`${place} points to ${JSON.stringify(found.href)}; a file must carry its weights itself.`);
  if (!found || !Array.isArray(found.shape) || typeof found.data !== "string")
    throw new Error(`${place} is missing; give rows of numbers, or shape, encoding and base64 data.`);
  if (!["u8", "f16", "f32"].includes(found.encoding))
    throw new Error(`${place}.encoding is ${JSON.stringify(found.encoding ?? null)}; choose u8, f16 or f32.`);
  const wanted =
    found.shape.reduce((/** @type {number} */ a, /** @type {number} */ b) => a * b, 1) *
    { u8: 1, f16: 2, f32: 4 }[/** @type {"u8"} */ (found.encoding)];
  /** @type {Uint8Array} */
  let bytes;
  try {
    bytes = Uint8Array.from(atob(found.data), (letter) => letter.charCodeAt(0));
  } catch {
    throw new Error(`${place}.data is no base64.`);
  }
  if (bytes.length !== wanted)
    throw new Error(
      `${place}.data has ${bytes.length} bytes, but ${found.shape.join(" × ")} numbers in ${found.encoding} take ${wanted}.`,
    );
  return { shape: found.shape, values: unpack(/** @type {ArrayBuffer} */ (bytes.buffer), found.encoding) };
}

const SAMPLE = `{"format": "${FORMAT}", "title": "My model",
 "views": [{"name": "layer.0", "kind": "cross",
            "rows": {"kind": "words", "labels": ["the", "cat"]},
            "columns": {"kind": "words", "labels": ["le", "chat"]},
            "weights": [[0.9, 0.1], [0.2, 0.8]]}]}`;

/** Four heads that look in four ways. */
function example() {
  const labels = ["the", "cat", "sat", "on", "the", "mat", "and", "pur", "red"];
  const rows = {
    kind: "words",
    labels,
    words: [
      [0, 0],
      [1, 1],
      [2, 2],
      [3, 3],
      [4, 4],
      [5, 5],
      [6, 6],
      [7, 8],
    ],
  };
  const ways = [
    (/** @type {number} */ i, /** @type {number} */ j) => -((i - j - 1) ** 2),
    (/** @type {number} */ i, /** @type {number} */ j) => -Math.abs(i - j),
    (/** @type {number} */ i, /** @type {number} */ j) => (labels[j] === "cat" ? 3 : -0.2 * j),
    (/** @type {number} */ i, /** @type {number} */ j) => 2 * Math.sin(i * 3 + j * 5),
  ];
  const weights = ways.map((way) =>
    labels.map((_, i) => {
      const raised = labels.map((__, j) => Math.exp(way(i, j)));
      const sum = raised.reduce((a, b) => a + b, 0);
      return raised.map((value) => value / sum);
    }),
  );
  return {
    format: FORMAT,
    title: "An example: four ways to look",
    views: [{ name: "layer.0.attention", kind: "self", heads: 4, rows, columns: rows, weights, model: "made up" }],
  };
}
