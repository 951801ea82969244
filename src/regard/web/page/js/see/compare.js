/** Every map of every model on the same picture: a way a row, a model a column. */

import { h, replace } from "../dom.js";
import { compared } from "./maps.js";
import * as picture from "./picture.js";
import { peak, verdict } from "./truth.js";
import { editedSays } from "./wishes.js";

/** @typedef {import("./maps.js").Seen} Seen */
/** @typedef {import("./wishes.js").Wishes} Wishes */

const ROWS = {
  attention: "Attention, mean of all layers",
  rollout: "Rollout",
  gradcam: "Grad-CAM",
  gradients: "Gradients",
  integrated: "Integrated gradients",
  occlusion: "Occlusion",
};

/** @param {HTMLElement} host */
export function create(host) {
  /** What is shown: a table that is not wanted any more fills its own. */
  let now = empty();

  /** @param {Seen[]} all @param {Wishes} wishes @param {(import("./truth.js").Truth | null)[]} truths @param {() => boolean} current */
  async function show(all, wishes, truths, current) {
    stop();
    const mine = (now = empty());
    const cells = Object.keys(ROWS).map((way) => all.map((seen) => ({ way, seen, place: h("td") })));
    const named = (/** @type {Seen} */ { answer: { output } }) =>
      [...(output.labels ?? [])].sort((a, b) => b[1] - a[1])[0];
    replace(
      host,
      h(
        "table",
        { class: "see-table", style: { "--models": String(all.length) } },
        h(
          "thead",
          null,
          h(
            "tr",
            null,
            h("td"),
            all.map((seen, i) =>
              h(
                "th",
                { scope: "col" },
                seen.answer.model,
                h("span", { class: "quiet" }, said(named(seen)), " ", editedSays(wishes, i)),
              ),
            ),
          ),
        ),
        h(
          "tbody",
          null,
          cells.map((line, i) =>
            h(
              "tr",
              null,
              h("th", { scope: "row" }, Object.values(ROWS)[i] ?? ""),
              line.map(({ place }) => place),
            ),
          ),
        ),
      ),
    );
    for (const line of cells) {
      for (const [i, { way, seen, place }] of line.entries()) {
        await fill(mine, place, seen, way, wishes, truths[i] ?? null).catch((error) =>
          replace(place, h("p", { class: "quiet" }, error instanceof Error ? error.message : String(error))),
        );
        if (!current()) return;
      }
    }
  }

  /** @param {ReturnType<typeof empty>} mine @param {HTMLElement} place @param {Seen} seen @param {string} way @param {Wishes} wishes @param {import("./truth.js").Truth | null} known */
  async function fill(mine, place, seen, way, wishes, known) {
    const over = await compared(seen, way, wishes);
    if (mine !== now) return;
    if (!over.field) throw new Error("It looks at no place of the picture.");
    const view = picture.create(`${seen.answer.model}: ${ROWS[/** @type {keyof typeof ROWS} */ (way)]}`);
    const at = peak(over.field);
    const found = known && verdict(known, at);
    mine.pictures.push(view);
    replace(
      place,
      view.element,
      found && h("span", { class: found.hit ? "hit" : "miss", title: found.says }, found.hit ? "hit" : "miss"),
    );
    view.show({ image: seen.image, over, truth: wishes.truth ? known : null, peak: known ? at : null });
    mine.rows.push([
      seen.answer.model,
      way,
      at.x.toFixed(3),
      at.y.toFixed(3),
      found ? (found.hit ? "hit" : "miss") : "",
    ]);
  }

  function stop() {
    for (const each of now.pictures) each.stop();
    now = empty();
  }
  return {
    show,
    stop,
    canvases: () => now.pictures.map(({ element }) => element),
    table: () => ({ columns: ["model", "map", "highest x", "highest y", "pointing game"], rows: now.rows }),
  };
}

function empty() {
  return {
    /** @type {ReturnType<typeof picture.create>[]} */ pictures: [],
    /** @type {(string | number)[][]} */ rows: [],
  };
}

/** @param {[string, number] | undefined} best */
const said = (best) => (best ? ` ${best[0]} ${(100 * best[1]).toFixed(0)} %` : "");
