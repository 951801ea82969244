/** All heads of a model beside the view: a thumbnail each, which opens it, switches it off or makes it uniform. */

import { aborted } from "../api.js";
import * as overview from "../views/overview.js";
import { KINDS, percent } from "./answer.js";

/** @typedef {import("./answer.js").Attention} Attention */
/** @typedef {import("./answer.js").Edit} Edit */
/** @typedef {import("./answer.js").Result} Result */
/**
 * @typedef {object} Tools
 * @property {import("../app.js").Context} context
 * @property {(patch: {look?: string, word?: number | null, edits?: Edit[]}) => void} change
 * @property {<T>(now: Result, run: (id: string) => Promise<T>) => Promise<T>} asking
 */

/** @param {HTMLElement} host @param {Tools} tools */
export function create(host, tools) {
  const { change } = tools;
  /** @type {Edit[]} */
  let edits = [];
  /** @type {Result | null} */
  let latest = null;
  /** @type {(name: string, at: number) => void} */
  let open = () => {};
  let render = () => {}; // as is wished now, also when the pictures come late
  /** @type {{id: string, size: number, pixels: Map<string, Uint8Array[]>} | null} */
  let pictures = null;
  const thumbs = overview.create(host, { onopen: ({ name, head }) => open(name, head), actions });

  /** @param {Result} now @param {Edit[]} done @param {Attention} attention @param {number | "mean"} head @param {AbortSignal} signal */
  function show(now, done, attention, head, signal) {
    edits = done;
    open = (name, at) => {
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
    const marks = new Map(edits.map((edit) => [`${edit.name}:${edit.head}`, edit.kind]));
    const notes = new Map(
      Object.entries(now.gold?.error ?? {}).flatMap(([name, errors]) =>
        errors.map((error, i) => [`${name}:${i}`, `alignment error ${percent(error)}`]),
      ),
    );
    render = () =>
      thumbs.update({
        size: pictures?.size ?? 24,
        pixels: pictures?.pixels ?? new Map(),
        groups,
        chosen: { name: attention.name, head },
        marks,
        notes,
      });
    render();
    if (pictures?.id === now.id) return;
    latest = now;
    void thumbnails(now, signal).then((found) => {
      if (latest !== now || !found) return;
      pictures = found;
      render();
    });
  }

  /** @param {{name: string, head: number}} head */
  function actions({ name, head }) {
    const kind = edits.find((edit) => edit.name === name && edit.head === head)?.kind ?? "";
    const put = (/** @type {string} */ to) => () => {
      const rest = edits.filter((edit) => edit.name !== name || edit.head !== head);
      change({ edits: to ? [...rest, { name, head, kind: to }] : rest });
    };
    return [
      { label: "As it is", run: put(""), checked: kind === "" },
      { label: "Switch it off", run: put("off"), checked: kind === "off" },
      { label: "Make it uniform", run: put("uniform"), checked: kind === "uniform" },
    ];
  }

  /** @param {Result} now @param {AbortSignal} signal */
  async function thumbnails(now, signal) {
    try {
      const { data, headers } = await tools.asking(now, (id) =>
        tools.context.api.bytes(`/api/looks/${id}/overview`, { params: { size: 32 }, signal }),
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
      if (!aborted(error)) tools.context.toast(error instanceof Error ? error.message : String(error), "error");
      return null;
    }
  }

  return { show, exportSvg: thumbs.exportSvg, destroy: thumbs.destroy };
}
