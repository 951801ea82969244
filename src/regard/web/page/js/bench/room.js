/** A room of the bench: its models by their tasks, what to run where there is none yet, and the bench with the rest. */

import { none } from "../rooms/none.js";
import * as bench from "./bench.js";

/** @typedef {import("../app.js").Context} Context */
/** @typedef {import("../export.js").Figure} Figure */
/** @typedef {import("./answer.js").Model} Model */
/** What a room may need to know. @typedef {{host: HTMLElement, context: Context, limits: Record<string, number>, folder: string | null}} Setting */
/**
 * @typedef {object} Manifest
 * @property {string} id
 * @property {string} title
 * @property {string[]} tasks of the models that it opens
 * @property {import("../rooms/none.js").Start} none where it has no model
 * @property {(model: Model) => unknown[]} [examples] those of a card that can be shown here; all of them, unless it says otherwise
 * @property {() => Figure[]} [figures] answers that can leave the page
 * @property {import("../app.js").Shortcut[]} [shortcuts]
 * @property {(setting: Setting) => Omit<import("./bench.js").Wish, "context" | "title" | "tasks" | "models">} wish
 */

/** @param {Manifest} manifest @returns {import("../app.js").Room} */
export const room = (manifest) => ({
  id: manifest.id,
  title: manifest.title,
  async mount(host, context) {
    const { title, tasks, none: start, examples, figures, shortcuts, wish } = manifest;
    const { models: all, limits, folder } = await context.api.about();
    const own = all.filter((each) => tasks.includes(String(each["task"])));
    if (!own.length) return none(host, start);
    context.register({ ...(figures && { figures }), ...(shortcuts && { shortcuts }) });
    const models = examples ? own.map((each) => ({ ...each, examples: examples(each) })) : own;
    return bench.create(host, { context, title, tasks, models, ...wish({ host, context, limits, folder }) });
  },
});
