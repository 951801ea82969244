/** The answer of any text model, drawn by what it is. */

import { replace } from "../dom.js";
import { masked } from "./masked.js";
import { next } from "./next.js";
import { plain } from "./plain.js";

/** @typedef {import("../bench/scene.js").Scene} Scene */
/** @typedef {import("../bench/bench.js").AnswerHands} Hands */
/** @typedef {{show: (scene: Scene) => void, mark?: (mark: import("../views/view.js").Mark | null) => void, take?: () => void, table: () => import("../export.js").Table, destroy?: () => void}} Widget */

/** Widgets that are on stage, one a panel, for shortcuts and export. @type {Set<Widget>} */
export const onStage = new Set();

/** @param {Record<string, number>} limits */
export const answer = (limits) => (/** @type {HTMLElement} */ host, /** @type {Hands} */ hands) => {
  let kind = "";
  /** @type {Widget | null} */
  let made = null;
  const clear = () => {
    made?.destroy?.();
    if (made) onStage.delete(made);
    replace(host);
  };
  return {
    /** @param {Scene} scene */
    show(scene) {
      const now = String(scene.result.output.kind);
      if (now !== kind || !made) {
        clear();
        made = now === "next" ? next(host, hands, limits) : now === "masked" ? masked(host, hands) : plain(host, hands);
        onStage.add(made);
        kind = now;
      }
      made.show(scene);
    },
    /** @param {import("../views/view.js").Mark | null} mark */
    mark: (mark) => made?.mark?.(mark),
    destroy: clear,
  };
};
