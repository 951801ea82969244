/** Match: pictures × texts. Which text says what a picture shows, under the world's shifts too; and search by a sentence. */

import * as bench from "../bench/bench.js";
import { answer, onStage } from "../match/answer.js";
import { input } from "../match/input.js";
import { ask, code, opening } from "../match/wishes.js";
import { none } from "./none.js";

/** @typedef {import("../app.js").Context} Context */

export const room = { id: "match", title: "Match", mount };
const TASKS = ["match"];

/** @param {HTMLElement} host @param {Context} context */
async function mount(host, context) {
  const { models: all, folder } = await context.api.about();
  const models = all.filter((each) => TASKS.includes(String(each["task"])));
  if (!models.length)
    return none(
      host,
      "No model that matches pictures and texts yet",
      "Train one on the little world in a few minutes, then start again with it; or give a folder of CLIP or SigLIP:",
      "regard train match --out runs/match",
      "regard explore --model runs/match",
    );
  context.register({ figures: () => [...onStage].flatMap((each) => each.figures()) });
  return bench.create(host, {
    context,
    title: "Match",
    tasks: TASKS,
    models: models.map((each) => ({ ...each, examples: [] })),
    input: (place, hands) => input(place, hands, host, folder),
    answer,
    ask,
    empty: { title: "Nothing to compare", says: "Add a picture, and write one text a line." },
    opening,
    code,
  });
}
