/** What one model wrote for a sentence, and every way to look at how: output, heads, lines, matrix, neurons, beam. */

import { ApiError, aborted } from "../api.js";
import { h, replace } from "../dom.js";
import * as lines from "../views/lines.js";
import * as matrix from "../views/matrix.js";
import * as neuron from "../views/neuron.js";
import * as tree from "../views/tree.js";
import { Weights, unpack } from "../views/view.js";
import { KINDS, chosen, clip, spoken, unit, wordAt, wordOf } from "./answer.js";
import * as heads from "./heads.js";
import * as output from "./output.js";
import { pick } from "./pick.js";
import { refill } from "./refill.js";

/** @typedef {import("../app.js").Context} Context */
/** @typedef {import("../export.js").Figure} Figure */
/** @typedef {import("../views/view.js").View} View */
/** @typedef {import("../views/view.js").Words} Words */
/** @typedef {import("../views/view.js").Mark} Mark */
/** @typedef {import("./answer.js").Attention} Attention */
/** @typedef {import("./answer.js").Edit} Edit */
/** @typedef {import("./answer.js").Result} Result */
/**
 * What a panel is asked to show.
 * @typedef {object} Wish
 * @property {Record<string, any>} model
 * @property {Record<string, unknown>} request without edits
 * @property {Edit[]} edits
 * @property {string} look `name:head`, or empty for the panel's own choice
 * @property {string} view lines, matrix, neuron or beam
 * @property {"words" | "pieces"} merge
 * @property {number | null} word the row that is looked at alone
 * @property {boolean} small beside others
 */
/**
 * @typedef {object} Tools
 * @property {Context} context
 * @property {(patch: {look?: string, word?: number | null, edits?: Edit[], view?: string}) => void} change
 * @property {(request: Record<string, unknown>, signal: AbortSignal, fresh?: boolean) => Promise<Result>} ask
 * @property {() => void} done the panel shows something new
 */

/** @param {HTMLElement} host @param {Tools} tools */
export function create(host, tools) {
  const { context, change } = tools;
  /** @type {Wish | null} */
  let wish = null;
  /** @type {Result | null} */
  let result = null;
  /** @type {Result | null} */
  let plain = null; // without the edits, to compare with
  let asked = "";
  let control = new AbortController();
  /** @type {{kind: string, update: (view: any) => void, destroy: () => void, exportSvg: () => Promise<SVGSVGElement>, highlight?: (mark: Mark | null) => void, pick?: (mark: Mark) => void} | null} */
  let drawn = null;
  /** @type {ReturnType<typeof heads.create> | null} */
  let thumbs = null;
  /** @type {Map<string, Words>} */
  let axes = new Map();
  /** @type {Map<string, Weights>} */
  let weights = new Map();

  const bar = h("div", { class: "look-bar" });
  const aside = h("div", { class: "look-heads" });
  const stage = h("div", { class: "look-stage" });
  const wait = h("div", { class: "wait", role: "progressbar", "aria-label": "Translating", hidden: true });
  const body = h("div", { class: "look-body" }, aside, h("div", { class: "look-main" }, bar, stage));
  const root = h("section", { class: "look" }, wait);
  const said = output.create(root, { change, point });
  root.append(body);
  host.append(root);

  /** @param {Wish} next */
  async function show(next) {
    wish = next;
    root.classList.toggle("small", next.small);
    const request = { ...next.request, edits: next.edits };
    const key = JSON.stringify(request);
    if (key === asked) return result ? draw() : undefined; // what is on its way will be drawn as is wished then
    asked = key;
    result = null;
    control.abort();
    control = new AbortController();
    const { signal } = control;
    wait.hidden = false;
    root.setAttribute("aria-busy", "true");
    try {
      const [found, before] = await Promise.all([
        tools.ask(request, signal),
        next.edits.length ? tools.ask({ ...next.request, edits: [] }, signal) : null,
      ]);
      if (signal.aborted) return;
      arrive(found, before);
    } catch (error) {
      if (aborted(error) || signal.aborted) return;
      asked = "";
      fail(error);
    }
    wait.hidden = true;
    root.removeAttribute("aria-busy");
  }

  /** @param {Result} found @param {Result | null} before */
  function arrive(found, before) {
    for (const each of weights.values()) each.stop();
    [result, plain, axes, weights] = [found, before, new Map(), new Map()];
    body.hidden = false;
    draw();
  }

  /** @param {unknown} error */
  function fail(error) {
    result = null;
    body.hidden = true;
    said.fail(error);
  }

  function draw() {
    if (!wish || !result) return;
    const picked = chosen(result, wish.look);
    // Queries and keys belong to one head.
    if (picked?.head === "mean" && wish.view === "neuron") picked.head = 0;
    said.write(wish, result, plain, picked?.attention ?? null);
    if (!picked) {
      body.classList.add("blind");
      aside.hidden = true;
      replace(bar);
      put(null);
      replace(
        stage,
        h(
          "div",
          { class: "blind-note" },
          h("p", null, "This model has no attention."),
          h(
            "p",
            { class: "quiet" },
            "It reads the whole sentence into one vector and writes from memory, so there is nowhere to look.",
          ),
        ),
      );
      if (wish.view === "beam") paint(null, 0);
      tools.done();
      return;
    }
    body.classList.remove("blind");
    controls(picked.attention, picked.head);
    beside(picked.attention, picked.head);
    paint(picked.attention, picked.head);
    tools.done();
  }

  /** Which attention, layer and head, and words or pieces. @param {Attention} attention @param {number | "mean"} head */
  function controls(attention, head) {
    if (!result || !wish) return;
    bar.hidden = wish.view === "beam";
    const kinds = /** @type {(keyof typeof KINDS)[]} */ (Object.keys(KINDS)).filter((kind) =>
      result?.attentions.some((each) => each.kind === kind),
    );
    const peers = result.attentions.filter((each) => each.kind === attention.kind);
    const open = (/** @type {Attention | undefined} */ to, /** @type {number | "mean"} */ at) =>
      to &&
      change({
        look: `${to.name}:${at === "mean" ? at : Math.min(at, to.heads - 1)}`,
        ...(to.rows === attention.rows ? {} : { word: null }),
      });
    const same = (/** @type {string} */ kind) =>
      result?.attentions.filter((each) => each.kind === kind).find((each) => each.layer === attention.layer) ??
      result?.attentions.find((each) => each.kind === kind);
    refill(
      bar,
      kinds.length > 1 &&
        wish.small &&
        pick(
          "",
          kinds.map((kind) => [kind, KINDS[kind]]),
          attention.kind,
          (kind) => open(same(kind), head),
          "Which attention",
        ),
      kinds.length > 1 &&
        !wish.small &&
        h(
          "div",
          { class: "segments", role: "group", "aria-label": "Which attention" },
          kinds.map((kind) =>
            h(
              "button",
              {
                type: "button",
                "aria-pressed": String(kind === attention.kind),
                onclick: () => open(same(kind), head),
              },
              KINDS[kind],
            ),
          ),
        ),
      peers.length > 1 &&
        pick(
          "layer",
          peers.map((each) => [each.name, String(each.layer + 1)]),
          attention.name,
          (name) =>
            open(
              peers.find((each) => each.name === name),
              head,
            ),
        ),
      attention.heads > 1 &&
        pick(
          "head",
          [
            ["mean", "mean of all"],
            ...Array.from({ length: attention.heads }, (_, i) => /** @type {[string, string]} */ ([String(i), String(i + 1)])),
          ],
          String(head),
          (value) => open(attention, value === "mean" ? value : Number(value)),
        ),
      h("code", { class: "quiet look-name" }, attention.name),
    );
  }

  /** The heads beside the view, where there are several. @param {Attention} attention @param {number | "mean"} head */
  function beside(attention, head) {
    if (!wish || !result) return;
    aside.hidden = wish.small || wish.view === "beam" || result.attentions.every((each) => each.heads === 1);
    body.classList.toggle("alone", aside.hidden);
    if (aside.hidden) return;
    thumbs ??= heads.create(aside, { context, change, asking });
    thumbs.show(result, wish.edits, attention, head, control.signal);
  }

  /** A question about a look; one that has been forgotten is silently looked again.
   * @template T @param {Result} now @param {(id: string) => Promise<T>} run @returns {Promise<T>} */
  async function asking(now, run) {
    try {
      return await run(now.id);
    } catch (error) {
      if (!(error instanceof ApiError && error.expired) || !wish) throw error;
      const again = await tools.ask({ ...wish.request, edits: wish.edits }, control.signal, true);
      now.id = again.id;
      return run(now.id);
    }
  }

  /** @param {Attention | null} attention @param {number | "mean"} head */
  function paint(attention, head) {
    if (!wish || !result) return;
    const { view, word } = wish;
    if (view === "beam") {
      if (result.beam.nodes.length) put("beam") && drawn?.update(result.beam);
      else {
        put(null);
        replace(
          stage,
          h(
            "div",
            { class: "blind-note" },
            h("p", null, "There was no search."),
            h(
              "p",
              { class: "quiet" },
              "The model was made to write the reference; let it write freely to see its beam.",
            ),
          ),
        );
      }
      return;
    }
    if (!attention) return;
    if (view === "neuron") return void neurons(attention, head);
    const fresh = put(view);
    const now = seen(attention, head, wish.merge);
    if (fresh || drawn) drawn?.update(now);
    drawn?.pick?.(word === null ? {} : { row: word });
    if (view === "matrix") drawn?.highlight?.(word === null ? null : { row: word });
  }

  /** Have the right kind of view on stage. @param {string | null} kind */
  function put(kind) {
    if (drawn?.kind === kind) return true;
    drawn?.destroy();
    replace(stage);
    drawn = null;
    if (!kind) return false;
    const onpick = (/** @type {Mark} */ mark) =>
      mark.row !== undefined && change({ word: mark.row === wish?.word ? null : mark.row });
    const unpick = (/** @type {Mark} */ mark) => change({ word: mark.row ?? null });
    const onpoint = (/** @type {Mark | null} */ mark) => said.glow(word(mark));
    const made =
      kind === "lines"
        ? lines.create(stage, { onpoint, onpick: unpick })
        : kind === "matrix"
          ? matrix.create(stage, { onpoint, onpick })
          : kind === "neuron"
            ? neuron.create(stage)
            : tree.create(stage);
    drawn = { kind, ...made };
    return true;
  }

  /** What the views draw. @param {Attention} attention @param {number | "mean"} head @param {"words" | "pieces"} merge @returns {View} */
  function seen(attention, head, merge) {
    const now = /** @type {Result} */ (result);
    const [rows, columns] = [axis(attention.rows, merge), axis(attention.columns, merge)];
    const gold =
      merge === "words" && attention.kind === "cross" && now.gold?.matches
        ? now.gold?.links.map(([i, j]) => /** @type {[number, number]} */ ([j, i]))
        : undefined;
    return {
      name: attention.name,
      kind: attention.kind,
      layer: attention.layer,
      head,
      rows,
      columns,
      weights: fetched(attention, head, merge, rows, columns),
      ...(gold ? { gold } : {}),
    };
  }

  /** @param {string} name @param {"words" | "pieces"} merge @returns {Words} */
  function axis(name, merge) {
    const key = `${name}:${merge}`;
    const said = /** @type {Result} */ (result).axes[name] ?? { pieces: [], words: [] };
    const known = axes.get(key) ?? {
      kind: "words",
      labels: merge === "pieces" ? said.pieces : said.words.map((_, i) => spoken(said, i)),
    };
    axes.set(key, known);
    return known;
  }

  /** @param {Attention} attention @param {number | "mean"} head @param {"words" | "pieces"} merge @param {Words} rows @param {Words} columns */
  function fetched(attention, head, merge, rows, columns) {
    const key = `${attention.name}:${head}:${merge}`;
    const now = /** @type {Result} */ (result);
    const known = weights.get(key);
    if (known) return known;
    const ask =
      (/** @type {"f16" | "f32"} */ encoding) =>
      async (
        /** @type {number} */ a,
        /** @type {number} */ b,
        /** @type {number} */ c,
        /** @type {number} */ d,
        /** @type {AbortSignal} */ signal,
      ) => {
        const params = { name: attention.name, head, rows: `${a}:${b}`, columns: `${c}:${d}`, encoding, merge };
        const { data } = await asking(now, (id) => context.api.bytes(`/api/looks/${id}/weights`, { params, signal }));
        return unpack(data, encoding);
      };
    const made = new Weights(rows.labels.length, columns.labels.length, ask("f16"), ask("f32"));
    weights.set(key, made);
    return made;
  }

  /** @param {Attention} attention @param {number | "mean"} head */
  async function neurons(attention, head) {
    const now = /** @type {Result} */ (result);
    const said = now.axes[attention.rows];
    const row =
      wish?.word === null || wish?.word === undefined
        ? 0
        : wish.merge === "words"
          ? (said?.words[wish.word]?.[1] ?? 0)
          : wish.word;
    try {
      const found = await asking(now, (id) =>
        context.api.get(`/api/looks/${id}/neuron`, {
          params: { name: attention.name, head, row },
          signal: control.signal,
        }),
      );
      if (result !== now || wish?.view !== "neuron") return;
      if (drawn?.kind !== "neuron") put("neuron");
      const names = now.axes[attention.columns]?.pieces.map((piece) => piece.trim() || "␣") ?? [];
      drawn?.update({ ...found, asks: said?.pieces[row]?.trim() ?? "", names });
      picker(attention, row);
    } catch (error) {
      if (aborted(error)) return;
      put(null);
      replace(
        stage,
        h(
          "div",
          { class: "blind-note" },
          h("p", { role: "alert" }, error instanceof Error ? error.message : String(error)),
        ),
      );
    }
  }

  /** Who asks, above the neurons. @param {Attention} attention @param {number} row */
  function picker(attention, row) {
    const said = /** @type {Result} */ (result).axes[attention.rows];
    const before = stage.querySelector(".askers");
    const chips = (said?.pieces ?? []).map((piece, i) =>
      h(
        "button",
        {
          type: "button",
          "aria-pressed": String(i === row),
          onclick: () => change({ word: wish?.merge === "words" ? wordAt(said, i) : i }),
        },
        piece.trim() || "␣",
      ),
    );
    const askers = before ?? h("div", { class: "askers", role: "group", "aria-label": "Who asks" });
    if (!before) stage.prepend(askers);
    refill(askers, h("span", { class: "quiet" }, "Who asks?"), chips);
  }

  /** The word of the output that a view points at. @param {Mark | null} mark */
  function word(mark) {
    if (mark?.row === undefined || !result || !wish) return undefined;
    if (chosen(result, wish.look)?.attention.rows !== "target") return undefined;
    return wish.merge === "words" ? mark.row : (wordOf(result.axes["target"], mark.row) ?? undefined);
  }

  /** Show in the view what is pointed at in the output. @param {Mark | null} mark */
  function point(mark) {
    const axis = result?.axes["target"];
    const row = mark?.row === undefined || !wish ? undefined : (unit(wish.merge, axis, mark.row) ?? undefined);
    drawn?.highlight?.(
      row === undefined
        ? drawn.kind === "matrix" && typeof wish?.word === "number"
          ? { row: wish.word }
          : null
        : { row },
    );
  }

  /** What can be taken away. @returns {Figure[]} */
  function figures() {
    if (!wish || !result || !drawn) return [];
    const title = String(wish.model["title"] ?? wish.model["name"]);
    const names = { lines: "lines", matrix: "matrix", neuron: "neurons", beam: "beam" };
    const [view, now] = [drawn, result];
    const picked = chosen(now, wish.look);
    /** @type {Figure[]} */
    const found = [
      { title: `${title}, ${names[/** @type {"lines"} */ (view.kind)] ?? view.kind}`, svg: () => view.exportSvg() },
    ];
    if (picked) {
      const shown = seen(picked.attention, picked.head, wish.merge);
      const [rows, columns] = [/** @type {Words} */ (shown.rows), /** @type {Words} */ (shown.columns)];
      const table = async () => {
        const all = await shown.weights.all();
        return {
          columns: ["", ...columns.labels],
          rows: rows.labels.map((label, i) => [
            label,
            ...all.subarray(i * columns.labels.length, (i + 1) * columns.labels.length),
          ]),
        };
      };
      const json = () =>
        asking(now, (id) =>
          context.api.get(`/api/looks/${id}/view`, { params: { name: picked.attention.name, head: picked.head } }),
        ).then((one) => ({ format: "regard-views-1", title, views: [one] }));
      Object.assign(found[0] ?? {}, { table, json });
    }
    if (thumbs && !aside.hidden)
      found.push({
        title: `${title}, all heads`,
        svg: () => /** @type {ReturnType<typeof heads.create>} */ (thumbs).exportSvg(),
      });
    return found;
  }

  /** What is seen, in words. */
  function caption() {
    if (!wish || !result) return "";
    const picked = chosen(result, wish.look);
    const where =
      picked && wish.view !== "beam"
        ? ` ${picked.attention.name}, layer ${picked.attention.layer + 1}, ${picked.head === "mean" ? "mean of all heads" : `head ${picked.head + 1}`}.`
        : "";
    const edits = wish.edits.map((edit) => `${edit.name} head ${edit.head + 1} ${edit.kind}`).join(", ");
    return `${wish.model["title"] ?? wish.model["name"]}: “${clip(String(wish.request["text"]))}” → “${clip(result.outputs[0]?.text ?? "")}”.${where}${edits && ` Edited: ${edits}.`}`;
  }

  /** The next head or the one before. @param {number} step */
  function turn(step) {
    const picked = result && wish && chosen(result, wish.look);
    if (!picked) return;
    const order = ["mean", ...Array.from({ length: picked.attention.heads }, (_, i) => i)];
    const next = order[(order.indexOf(picked.head) + step + order.length) % order.length];
    change({ look: `${picked.attention.name}:${next}` });
  }

  return {
    show,
    figures,
    caption,
    turn,
    destroy() {
      control.abort();
      for (const each of weights.values()) each.stop();
      drawn?.destroy();
      thumbs?.destroy();
      root.remove();
    },
  };
}
