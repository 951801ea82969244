/** What one model wrote for a sentence, and every way to look at how: output, heads, lines, matrix, neurons, beam. */

import { ApiError, aborted } from "../api.js";
import { h, replace } from "../dom.js";
import * as lines from "../views/lines.js";
import * as matrix from "../views/matrix.js";
import * as neuron from "../views/neuron.js";
import * as overview from "../views/overview.js";
import * as tree from "../views/tree.js";
import { Weights, unpack } from "../views/view.js";
import { diff } from "./diff.js";
import { refill } from "./refill.js";

/** @typedef {import("../app.js").Context} Context */
/** @typedef {import("../export.js").Figure} Figure */
/** @typedef {import("../views/view.js").View} View */
/** @typedef {import("../views/view.js").Words} Words */
/** @typedef {import("../views/view.js").Mark} Mark */
/** @typedef {{pieces: string[], words: [number, number][], labels?: string[]}} Said */
/** @typedef {{name: string, kind: "self" | "causal" | "cross", layer: number, heads: number, rows: string, columns: string}} Attention */
/** @typedef {{text: string, score: number, log_prob: number}} Output */
/**
 * The server's answer.
 * @typedef {object} Result
 * @property {string} id
 * @property {Record<string, Said>} axes
 * @property {Output[]} outputs
 * @property {{nodes: import("../views/tree.js").Node[]}} beam
 * @property {Attention[]} attentions
 * @property {{text: string, links: [number, number][], matches: boolean, error: Record<string, number[]>} | null} [gold]
 * @property {number} seconds
 */
/** @typedef {{name: string, head: number, kind: string}} Edit */
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

const KINDS = { self: "Encoder", causal: "Decoder", cross: "Cross" };

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
  /** @type {ReturnType<typeof overview.create> | null} */
  let thumbs = null;
  /** @type {{id: string, size: number, pixels: Map<string, Uint8Array[]>} | null} */
  let pictures = null;
  /** @type {Map<string, Words>} */
  let axes = new Map();
  /** @type {Map<string, Weights>} */
  let weights = new Map();

  const output = h("div", { class: "output", role: "group", "aria-label": "Translation" });
  const others = h("div", { class: "others" });
  const bar = h("div", { class: "look-bar" });
  const aside = h("div", { class: "look-heads" });
  const stage = h("div", { class: "look-stage" });
  const wait = h("div", { class: "wait", role: "progressbar", "aria-label": "Translating", hidden: true });
  const body = h("div", { class: "look-body" }, aside, h("div", { class: "look-main" }, bar, stage));
  const root = h("section", { class: "look" }, wait, output, others, body);
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
    replace(others);
    replace(
      output,
      h("p", { class: "problem", role: "alert" }, error instanceof Error ? error.message : String(error)),
    );
  }

  /** The attention that is wished for, or a good one to begin with. @param {Result} now @param {string} look */
  function chosen(now, look) {
    const [name, head] = look.split(":");
    const found = now.attentions.find((each) => each.name === name);
    if (found)
      return {
        attention: found,
        head: head === "mean" || !(Number(head) < found.heads) ? /** @type {const} */ ("mean") : Number(head),
      };
    const best = bestHead(now);
    const attention = best
      ? now.attentions.find((each) => each.name === best.name)
      : now.attentions.filter((each) => each.kind === "cross").at(-1);
    const first = attention ?? now.attentions.at(-1);
    return first ? { attention: first, head: best ? best.head : /** @type {const} */ ("mean") } : null;
  }

  function draw() {
    if (!wish || !result) return;
    const picked = chosen(result, wish.look);
    write(picked?.attention ?? null);
    if (!picked) {
      body.classList.add("blind");
      replace(aside);
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
    heads(picked.attention, picked.head);
    paint(picked.attention, picked.head);
    tools.done();
  }

  /** The translation, a button for each word; what an edit changed stands out. @param {Attention | null} attention */
  function write(attention) {
    if (!wish || !result) return;
    const now = result;
    const said = now.axes["target"];
    const labels = said ? said.words.map((_, i) => spoken(said, i)) : [];
    const end = labels.length && isSpecial(labels.at(-1) ?? "") ? labels.length - 1 : labels.length;
    const row = wish.merge === "words" ? wish.word : wordOf(said, wish.word);
    const selectable = attention?.rows === "target";
    const word = (/** @type {number} */ i, fresh = false) =>
      h(
        "button",
        {
          type: "button",
          class: `said${fresh ? " fresh" : ""}${tight(labels[i] ?? "") ? " tight" : ""}`,
          "aria-pressed": String(selectable && row === i),
          disabled: !selectable,
          onpointerenter: () => selectable && point({ row: i }),
          onpointerleave: () => point(null),
          onclick: () => change({ word: row === i ? null : unit(said, i) }),
        },
        labels[i] ?? "",
      );
    const before = plain?.axes["target"];
    if (wish.edits.length && before) {
      const old = before.words.map((_, i) => spoken(before, i)).filter((each) => !isSpecial(each));
      let i = 0;
      const changes = diff(old, labels.slice(0, end));
      const same = changes.every((each) => each.change === "same");
      refill(
        output,
        changes.map((each) => (each.change === "gone" ? h("del", null, each.text) : word(i++, each.change === "new"))),
        h("span", { class: "verdict" }, same ? "unchanged" : "changed"),
      );
    } else if (!end) replace(output, h("span", { class: "quiet" }, "The model wrote nothing."));
    else
      refill(
        output,
        Array.from({ length: end }, (_, i) => word(i)),
      );
    const more = now.outputs.slice(1);
    const best = bestHead(now);
    const errors = attention && now.gold?.error[attention.name];
    const head = attention && chosen(now, wish.look)?.head;
    const open = others.querySelector("details")?.open ?? false;
    refill(
      others,
      wish.edits.length > 0 &&
        h(
          "span",
          { class: "chips" },
          wish.edits.map((edit) =>
            h(
              "button",
              {
                type: "button",
                class: "chip",
                title: "Take this back",
                onclick: () => change({ edits: wish?.edits.filter((each) => each !== edit) ?? [] }),
              },
              `${short(now, edit.name)}, head ${edit.head + 1} ${edit.kind} ✕`,
            ),
          ),
          h("button", { type: "button", class: "chip strong", onclick: () => change({ edits: [] }) }, "Reset"),
        ),
      now.gold &&
        errors &&
        typeof head === "number" &&
        h("span", { class: "note" }, "Alignment error of this head ", h("b", null, percent(errors[head]))),
      best &&
        now.gold &&
        h(
          "button",
          { type: "button", class: "chip", onclick: () => change({ look: `${best.name}:${best.head}` }) },
          `best head: ${short(now, best.name)}, head ${best.head + 1}, ${percent(best.error)}`,
        ),
      now.gold &&
        !now.gold.matches &&
        h("span", { class: "note" }, "The reference says “", h("b", null, now.gold.text), "”"),
      more.length > 0 &&
        !wish.small &&
        h(
          "details",
          { class: "nbest", open },
          h("summary", null, `${more.length} other ${more.length > 1 ? "ways" : "way"} to say it`),
          h(
            "ol",
            { start: 2 },
            more.map((each) =>
              h("li", null, each.text, h("span", { class: "quiet" }, ` ${each.score.toFixed(2).replace("-", "−")}`)),
            ),
          ),
        ),
      h(
        "span",
        { class: "quiet seconds" },
        `${now.seconds < 0.95 ? `${Math.round(now.seconds * 1000)} ms` : `${now.seconds.toFixed(1)} s`}`,
      ),
    );
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
        menu(
          "layer",
          peers.map((each) => ({ value: each.name, label: String(each.layer + 1) })),
          attention.name,
          (name) =>
            open(
              peers.find((each) => each.name === name),
              head,
            ),
        ),
      attention.heads > 1 &&
        menu(
          "head",
          [
            { value: "mean", label: "mean of all" },
            ...Array.from({ length: attention.heads }, (_, i) => ({ value: String(i), label: String(i + 1) })),
          ],
          String(head),
          (value) => open(attention, value === "mean" ? value : Number(value)),
        ),
      h("code", { class: "quiet look-name" }, attention.name),
    );
  }

  /** The thumbnails. @param {Attention} attention @param {number | "mean"} head */
  function heads(attention, head) {
    if (!wish || !result) return;
    const now = result;
    aside.hidden = wish.small || wish.view === "beam" || now.attentions.every((each) => each.heads === 1);
    body.classList.toggle("alone", aside.hidden);
    if (aside.hidden) return;
    if (!thumbs) {
      replace(aside);
      thumbs = overview.create(aside, { onopen: ({ name, head: at }) => open(name, at), actions });
    }
    const open = (/** @type {string} */ name, /** @type {number} */ at) => {
      const to = now.attentions.find((each) => each.name === name);
      change({ look: `${name}:${at}`, ...(to?.rows === attention.rows ? {} : { word: null }) });
    };
    const groups = /** @type {(keyof typeof KINDS)[]} */ (["cross", "causal", "self"])
      .map((kind) => ({
        title: {
          cross: "Cross: output looks at input",
          causal: "Decoder: output looks back at itself",
          self: "Encoder: input looks at itself",
        }[kind],
        lines: now.attentions.filter((each) => each.kind === kind),
      }))
      .filter((group) => group.lines.length);
    const marks = new Map(wish.edits.map((edit) => [`${edit.name}:${edit.head}`, edit.kind]));
    const notes = new Map(
      Object.entries(now.gold?.error ?? {}).flatMap(([name, errors]) =>
        errors.map((error, i) => [`${name}:${i}`, `alignment error ${percent(error)}`]),
      ),
    );
    const render = () =>
      thumbs?.update({
        size: pictures?.size ?? 24,
        pixels: pictures?.pixels ?? new Map(),
        groups,
        chosen: { name: attention.name, head },
        marks,
        notes,
      });
    render();
    if (pictures?.id === now.id) return;
    void thumbnails(now).then((found) => {
      if (result !== now || !found) return;
      pictures = found;
      render();
    });
  }

  /** @param {{name: string, head: number}} head */
  function actions({ name, head }) {
    const kind = wish?.edits.find((edit) => edit.name === name && edit.head === head)?.kind ?? "";
    const put = (/** @type {string} */ to) => () => {
      const rest = wish?.edits.filter((edit) => edit.name !== name || edit.head !== head) ?? [];
      change({ edits: to ? [...rest, { name, head, kind: to }] : rest });
    };
    return [
      { label: "As it is", run: put(""), checked: kind === "" },
      { label: "Switch it off", run: put("off"), checked: kind === "off" },
      { label: "Make it uniform", run: put("uniform"), checked: kind === "uniform" },
    ];
  }

  /** @param {Result} now */
  async function thumbnails(now) {
    try {
      const { data, headers } = await asking(now, (id) =>
        context.api.bytes(`/api/looks/${id}/overview`, { params: { size: 32 }, signal: control.signal }),
      );
      const plan = JSON.parse(headers.get("X-Regard-Layout") ?? "{}");
      const size = Number(plan.size ?? 32);
      const pixels = new Map();
      let place = 0;
      for (const { name, heads: many } of plan.attentions ?? now.attentions) {
        pixels.set(
          name,
          Array.from({ length: many }, (_, i) => new Uint8Array(data, place + i * size * size, size * size)),
        );
        place += many * size * size;
      }
      return { id: now.id, size, pixels };
    } catch (error) {
      if (!aborted(error)) context.toast(error instanceof Error ? error.message : String(error), "error");
      return null;
    }
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
    const onpoint = (/** @type {Mark | null} */ mark) => glow(mark);
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
    if (head === "mean") {
      put(null);
      replace(
        stage,
        h(
          "div",
          { class: "blind-note" },
          h("p", null, "Queries and keys belong to one head."),
          h(
            "button",
            { type: "button", class: "button", onclick: () => change({ look: `${attention.name}:0` }) },
            "Look at head 1",
          ),
        ),
      );
      return;
    }
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

  /** Show elsewhere what is pointed at in one view. @param {Mark | null} mark */
  function glow(mark) {
    const buttons = output.querySelectorAll("button.said");
    const said = result?.axes["target"];
    const cross = result && wish && chosen(result, wish.look)?.attention.rows === "target";
    const row =
      mark?.row === undefined ? undefined : wish?.merge === "words" ? mark.row : (wordOf(said, mark.row) ?? undefined);
    buttons.forEach((button, i) => button.classList.toggle("glow", Boolean(cross) && i === row));
  }

  /** @param {Mark | null} mark */
  function point(mark) {
    const said = result?.axes["target"];
    const row = mark?.row === undefined ? undefined : (unit(said, mark.row) ?? undefined);
    drawn?.highlight?.(
      row === undefined
        ? drawn.kind === "matrix" && typeof wish?.word === "number"
          ? { row: wish.word }
          : null
        : { row },
    );
  }

  /** A word of an axis as the views count: in words or in pieces. @param {Said | undefined} said @param {number} i */
  const unit = (said, i) => (wish?.merge === "words" ? i : (said?.words[i]?.[0] ?? null));

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
        svg: () => /** @type {ReturnType<typeof overview.create>} */ (thumbs).exportSvg(),
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

/** @param {string} label @param {{value: string, label: string}[]} choices @param {string} value @param {(value: string) => void} run */
function menu(label, choices, value, run) {
  const select = h(
    "select",
    { onchange: () => run(select.value) },
    choices.map((each) => h("option", { value: each.value, selected: each.value === value }, each.label)),
  );
  return h("label", { class: "pick" }, label, select);
}

/** The head that errs least on this sentence. @param {Result} now */
function bestHead(now) {
  /** @type {{name: string, head: number, error: number} | null} */
  let best = null;
  for (const [name, errors] of Object.entries(now.gold?.error ?? {})) {
    errors.forEach((error, head) => {
      if (!best || error < best.error) best = { name, head, error };
    });
  }
  return /** @type {{name: string, head: number, error: number} | null} */ (best);
}

/** @param {Said} said @param {number} i */
const spoken = (said, i) =>
  (said.labels?.[i] ?? said.pieces.slice(said.words[i]?.[0] ?? 0, (said.words[i]?.[1] ?? -1) + 1).join("")).trim();
/** The word that a piece is part of. @param {Said | undefined} said @param {number} piece */
const wordAt = (said, piece) => said?.words.findIndex(([first, last]) => first <= piece && piece <= last) ?? null;
/** @param {Said | undefined} said @param {number | null} piece */
const wordOf = (said, piece) => (piece === null ? null : wordAt(said, piece));
/** Start, stop and tags are no words. @param {string} label */
const isSpecial = (label) => /^[⟨<[].*[⟩>\]]$/.test(label);
/** No space before it. @param {string} label */
const tight = (label) => /^[.,;:!?)»”…]+$/.test(label);
/** @param {number | undefined} share */
const percent = (share) => `${Math.round(100 * (share ?? 0))} %`;
/** @param {string} text */
const clip = (text) => (text.length > 120 ? `${text.slice(0, 119)}…` : text);
/** @param {Result} now @param {string} name */
function short(now, name) {
  const found = now.attentions.find((each) => each.name === name);
  return found ? `${KINDS[found.kind].toLowerCase()} layer ${found.layer + 1}` : name;
}
