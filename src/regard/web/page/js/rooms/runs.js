/** Runs: how trainings on this machine go, live and side by side, and what the models that came out of them can do. */

import { aborted } from "../api.js";
import { hue } from "../color.js";
import { h, replace } from "../dom.js";
import * as chart from "../views/chart.js";
import { refill } from "./refill.js";

/** @typedef {import("../app.js").Context} Context */
/** @typedef {Record<string, number> & {step: number}} Row */
/** @typedef {{name: string, recipe: string, fields: Record<string, any>, steps: number | null, step: number, best: Record<string, number> | number | null, minutes: number, alive: boolean, samples?: any[], card?: Record<string, any> | null}} Run */

const OFTEN = 3000; // milliseconds between two looks at a run that is alive
const PLAIN = new Set(["step", "loss", "lr", "grad_norm", "size", "seconds"]);
const SHOWN = 4; // runs at first

export const room = { id: "runs", title: "Runs", key: "4", mount };

/** @param {HTMLElement} host @param {Context} context */
async function mount(host, context) {
  /** @type {Run[]} */
  let runs = [];
  /** @type {Map<string, Row[]>} */
  const rows = new Map();
  /** @type {Map<string, ReturnType<typeof chart.create>>} */
  const charts = new Map();
  const control = new AbortController();
  const { signal } = control;
  /** @type {{by: string, down: boolean}} */
  let order = { by: "", down: false };
  /** @type {Record<string, any>[]} */
  let zoo = [];

  const state = () => {
    const flat = context.state.get();
    const named = String(flat["runs"] ?? "")
      .split(",")
      .filter((name) => runs.some((run) => run.name === name));
    const chosen =
      "runs" in flat && flat["runs"] !== ""
        ? flat["runs"] === "none"
          ? []
          : named
        : runs.slice(0, SHOWN).map((run) => run.name);
    return {
      chosen,
      log: String(flat["log"] ?? "") === "1",
      smooth: Number(flat["smooth"] ?? 0.8),
      over: String(flat["over"] ?? "step"),
    };
  };
  const set = (/** @type {import("../state.js").Flat} */ patch, /** @type {boolean | string} */ undo = true) => {
    context.state.set(patch, { undo });
    void refresh();
  };

  const list = h("div", { class: "run-list" });
  const log = h("input", { type: "checkbox", onchange: () => set({ log: log.checked ? 1 : "" }) });
  const smooth = h("input", {
    type: "range",
    min: 0,
    max: 0.99,
    step: 0.01,
    oninput: () => set({ smooth: smooth.value }, "smooth"),
  });
  const across = h(
    "div",
    { class: "segments", role: "group", "aria-label": "Across" },
    ["step", "minutes"].map((value) =>
      h(
        "button",
        { type: "button", value, onclick: () => set({ over: value === "step" ? "" : value }) },
        value === "step" ? "steps" : value,
      ),
    ),
  );
  const bar = h(
    "div",
    { class: "scene-bar" },
    across,
    h("label", { class: "check" }, log, "logarithmic"),
    h("label", { class: "pick beam" }, "smoothing", smooth),
  );
  const grid = h("div", { class: "charts" });
  const table = h("div", { class: "zoo" });
  const cards = h("div", { class: "cards" });
  const training = h("section", { class: "training" }, list, h("div", null, bar, grid, cards));
  replace(host, h("h1", { class: "unseen" }, "Runs"), training, h("section", null, h("h2", null, "Models"), table));

  /** Look again. */
  async function poll() {
    try {
      runs = /** @type {Run[]} */ (await context.api.get("/api/runs", { signal }));
      await refresh();
    } catch (error) {
      if (!aborted(error))
        replace(
          list,
          h("p", { class: "problem", role: "alert" }, error instanceof Error ? error.message : String(error)),
        );
    }
  }

  async function refresh() {
    const now = state();
    if (!runs.length) {
      training.classList.add("none");
      replace(
        list,
        h(
          "section",
          { class: "empty" },
          h("h2", null, "No runs yet"),
          h("p", null, "Train something, and its curves grow here while it learns:"),
          h("code", null, "regard train translate --out runs/mine"),
          h("code", null, "regard explore --runs runs"),
        ),
      );
      return;
    }
    training.classList.remove("none");
    show(now);
    controls(now);
    await Promise.all(now.chosen.map(more));
    if (!signal.aborted) draw(state());
  }

  /** What was measured since the last look. @param {string} name */
  async function more(name) {
    const known = rows.get(name) ?? [];
    const run = runs.find((each) => each.name === name);
    const last = known.at(-1)?.step ?? -1;
    if (known.length && run && run.step <= last) return;
    try {
      const found = await context.api.get(`/api/runs/${encodeURIComponent(name)}/metrics`, {
        params: { after: last },
        signal,
      });
      const fresh = /** @type {Row[]} */ (Array.isArray(found) ? found : found.rows);
      // A look that was begun before another one ended must not add the same rows again.
      const end = rows.get(name)?.at(-1)?.step ?? -1;
      rows.set(name, [...(rows.get(name) ?? []), ...fresh.filter((row) => row.step > end)]);
    } catch (error) {
      if (!aborted(error)) context.toast(error instanceof Error ? error.message : String(error), "error");
    }
  }

  /** @param {string} name */
  const colour = (name) => runs.findIndex((run) => run.name === name);

  /** @param {ReturnType<typeof state>} now */
  function show(now) {
    refill(
      list,
      h("h2", null, "Trainings"),
      runs.map((run, i) => {
        const on = now.chosen.includes(run.name);
        const box = h("input", {
          type: "checkbox",
          checked: on,
          onchange: () => {
            const next = box.checked ? [...now.chosen, run.name] : now.chosen.filter((name) => name !== run.name);
            set({ runs: next.length ? next.join(",") : "none" });
          },
        });
        return h(
          "label",
          { class: `run${on ? " on" : ""}`, style: { "--hue": hue(i) } },
          box,
          h("i", { class: "swatch", style: { "--hue": on ? hue(i) : "var(--line)" } }),
          h("span", { class: "run-name" }, run.name, run.alive && h("span", { class: "alive" }, "live")),
          h(
            "span",
            { class: "quiet" },
            `${run.recipe} · step ${chart.plain(run.step)}${run.steps ? ` of ${chart.plain(run.steps)}` : ""} · ${run.minutes} min`,
          ),
          run.steps && h("progress", { max: run.steps, value: run.step, "aria-label": `${run.name}: progress` }),
        );
      }),
    );
  }

  /** @param {ReturnType<typeof state>} now */
  function controls(now) {
    log.checked = now.log;
    if (document.activeElement !== smooth) smooth.value = String(now.smooth);
    for (const button of across.querySelectorAll("button"))
      button.setAttribute("aria-pressed", String(button.value === now.over));
  }

  /** @param {ReturnType<typeof state>} now */
  function draw(now) {
    const scores = [
      ...new Set(
        now.chosen.flatMap((name) =>
          (rows.get(name) ?? []).flatMap((row) =>
            Object.keys(row).filter((key) => !PLAIN.has(key) && typeof row[key] === "number"),
          ),
        ),
      ),
    ].sort();
    const wanted = new Map([
      ["loss", { title: "Loss", value: (/** @type {Row} */ row) => row["loss"], log: now.log, smooth: now.smooth }],
      ...scores.map(
        (key) =>
          /** @type {const} */ ([
            key,
            { title: NAMES[key] ?? key, value: (/** @type {Row} */ row) => row[key], log: false, smooth: 0 },
          ]),
      ),
      ["lr", { title: "Learning rate", value: (/** @type {Row} */ row) => row["lr"], log: now.log, smooth: 0 }],
      ["speed", { title: "Speed, tokens a second", value: speed, log: false, smooth: now.smooth }],
    ]);
    for (const [key, each] of charts) if (!wanted.has(key)) (each.destroy(), charts.delete(key));
    for (const [key, { title, value, log, smooth }] of wanted) {
      const made = charts.get(key) ?? chart.create(grid, { title });
      charts.set(key, made);
      const series = now.chosen.map((name) => ({
        name,
        hue: colour(name),
        points: (rows.get(name) ?? []).flatMap((row, i, all) => {
          const found = value(row, all[i - 1]);
          const across = now.over === "minutes" ? (row["seconds"] ?? NaN) / 60 : row.step;
          return typeof found === "number" && Number.isFinite(found) && Number.isFinite(across)
            ? [/** @type {[number, number]} */ ([across, found])]
            : [];
        }),
      }));
      made.update({ series, log, smooth, across: now.over === "minutes" ? "minute" : "step" });
    }
    describe(now);
    context.caption(`Training curves of ${now.chosen.join(", ")}.`);
  }

  /** Cards and samples. @param {ReturnType<typeof state>} now */
  function describe(now) {
    const open = new Set(
      [...cards.querySelectorAll("details[open]")].map((each) => /** @type {HTMLElement} */ (each).dataset["name"]),
    );
    refill(
      cards,
      now.chosen.map((name) => {
        const run = runs.find((each) => each.name === name);
        if (!run) return null;
        const best = typeof run.best === "number" ? { best: run.best } : (run.best ?? {});
        return h(
          "details",
          { class: "panel card", open: open.has(name), "data-name": name },
          h(
            "summary",
            null,
            h("i", { class: "swatch", style: { "--hue": hue(colour(name)) } }),
            h("b", null, name),
            Object.entries(best).map(([key, value]) =>
              h("span", { class: "quiet" }, `${NAMES[key] ?? key} ${chart.plain(value)}`),
            ),
          ),
          (run.samples?.length ?? 0) > 0 && [
            h("h3", null, "Samples"),
            h("dl", { class: "samples" }, run.samples?.flatMap(sample)),
          ],
          h("h3", null, "Fields"),
          h(
            "dl",
            { class: "fields" },
            Object.entries(run.fields).flatMap(([key, value]) => [
              h("dt", null, key),
              h("dd", null, Array.isArray(value) ? value.join(", ") : String(value)),
            ]),
          ),
        );
      }),
    );
  }

  function models() {
    if (!zoo.length)
      return replace(
        table,
        h("p", { class: "quiet" }, "No models are bundled; add one by regard explore --model FOLDER."),
      );
    const scores = [
      ...new Set(
        zoo.flatMap((model) =>
          Object.entries(model["measured"] ?? {})
            .filter(([, value]) => typeof value === "number")
            .map(([key]) => key),
        ),
      ),
    ];
    /** @type {{key: string, name: string, value: (model: Record<string, any>) => any, text?: (value: any) => string}[]} */
    const columns = [
      { key: "title", name: "model", value: (model) => model["title"] ?? model["name"] },
      { key: "family", name: "family", value: (model) => model["family"] ?? "" },
      {
        key: "direction",
        name: "languages",
        value: (model) =>
          model["multilingual"]
            ? (model["languages"] ?? []).join(" ")
            : [model["source"], model["target"]].filter(Boolean).join(" → "),
      },
      {
        key: "parameters",
        name: "parameters",
        value: (model) => model["parameters"],
        text: (value) => (value ? `${(value / 1e6).toFixed(1)} M` : "–"),
      },
      {
        key: "minutes",
        name: "minutes",
        value: (model) => model["minutes"],
        text: (value) => (value ? chart.plain(value) : "–"),
      },
      ...scores.map((key) => ({
        key: `score ${key}`,
        name: NAMES[key] ?? key,
        value: (/** @type {Record<string, any>} */ model) => model["measured"]?.[key],
        text: (/** @type {any} */ value) => (typeof value === "number" ? chart.plain(value) : "–"),
      })),
    ];
    const by = columns.find((column) => column.key === order.by);
    const compare = (/** @type {any} */ a, /** @type {any} */ b) =>
      a === b
        ? 0
        : a === undefined || a === null
          ? 1
          : b === undefined || b === null
            ? -1
            : (a < b ? -1 : 1) * (order.down ? -1 : 1);
    const sorted = by ? [...zoo].sort((a, b) => compare(by.value(a), by.value(b))) : zoo;
    refill(
      table,
      h(
        "table",
        { class: "sortable" },
        h(
          "thead",
          null,
          h(
            "tr",
            null,
            columns.map(({ key, name }) =>
              h(
                "th",
                { scope: "col", "aria-sort": order.by === key ? (order.down ? "descending" : "ascending") : "none" },
                h(
                  "button",
                  {
                    type: "button",
                    onclick: () => ((order = { by: key, down: order.by === key && !order.down }), models()),
                  },
                  name,
                  h("span", { "aria-hidden": "true" }, order.by === key ? (order.down ? " ↓" : " ↑") : ""),
                ),
              ),
            ),
          ),
        ),
        h(
          "tbody",
          null,
          sorted.map((model) =>
            h(
              "tr",
              null,
              columns.map(({ value, text }, i) =>
                h(
                  i ? "td" : "th",
                  { class: typeof value(model) === "number" ? "count" : "", ...(i ? {} : { scope: "row" }) },
                  i
                    ? text
                      ? text(value(model))
                      : String(value(model) || "–")
                    : model["task"] === "translate"
                      ? h("a", { href: `#/translate?model=${encodeURIComponent(model["name"])}`, title: "Look inside" }, value(model))
                      : value(model),
                ),
              ),
            ),
          ),
        ),
      ),
    );
    return table;
  }

  context.register({
    figures: () =>
      [...charts].map(([key, each]) => ({
        title: key,
        svg: () => each.exportSvg(),
        table: () => ({
          columns: ["run", "step", key],
          rows: state().chosen.flatMap((name) =>
            (rows.get(name) ?? []).flatMap((row, i, all) => {
              const value = key === "speed" ? speed(row, all[i - 1]) : row[key];
              return value === undefined ? [] : [[name, row.step, value]];
            }),
          ),
        }),
      })),
    shortcuts: [
      { key: "g", does: "Logarithmic or linear", run: () => set({ log: state().log ? "" : 1 }) },
      { key: "s", does: "Steps or minutes", run: () => set({ over: state().over === "step" ? "minutes" : "" }) },
    ],
  });

  const timer = setInterval(() => !document.hidden && runs.some((run) => run.alive) && void poll(), OFTEN);
  const slow = setInterval(() => !document.hidden && void poll(), 6 * OFTEN);
  void poll();
  void context.api.get("/api/zoo", { signal }).then(
    (found) => {
      zoo = found;
      models();
    },
    (error) => !aborted(error) && context.toast(error.message, "error"),
  );
  return {
    restore: () => void refresh(),
    unmount: () => {
      clearInterval(timer);
      clearInterval(slow);
      control.abort();
      for (const each of charts.values()) each.destroy();
    },
  };
}

/** @type {Record<string, string>} */
const NAMES = {
  bleu: "BLEU",
  bleu_lower: "BLEU, lower case",
  chrf: "chrF",
  chrf_lower: "chrF, lower case",
  val_loss: "Validation loss",
  perplexity: "Perplexity",
  exact: "Exact, %",
  exact_without_pronouns: "Exact without pronouns, %",
  alignment_error: "Alignment error, %",
  accuracy: "Accuracy",
  best: "best",
};

/** Tokens a second since the row before; thinned rows lie several steps apart. @param {Row} row @param {Row | undefined} before */
function speed(row, before) {
  if (!before || row["size"] === undefined) return undefined;
  const seconds = (row["seconds"] ?? 0) - (before["seconds"] ?? 0);
  return seconds > 0 ? (row["size"] * (row.step - before.step)) / seconds : undefined;
}

/** @param {any} one */
function sample(one) {
  if (typeof one === "string") return [h("dd", null, one)];
  return Object.entries(one).flatMap(([key, value]) => [h("dt", null, key), h("dd", null, String(value))]);
}
