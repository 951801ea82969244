/** Depth: one picture in, how far away everything in it is out, and what another eye would see. */

import * as bench from "../bench/bench.js";
import { answer, onStage } from "../depth/answer.js";
import { FRESH, input, pictureOf } from "../depth/input.js";
import { examples, opening } from "../see/wishes.js";
import { none } from "./none.js";

/** @typedef {import("../app.js").Context} Context */
/** @typedef {import("../bench/address.js").State} State */
/** @typedef {import("../bench/answer.js").Model} Model */

export const room = { id: "depth", title: "Depth", mount };
const TASKS = ["depth"];

/** @param {HTMLElement} host @param {Context} context */
async function mount(host, context) {
  const about = await context.api.about();
  const models = about.models
    .filter((each) => TASKS.includes(String(each["task"])))
    .map((each) => ({ ...each, examples: examples(each) }));
  if (!models.length)
    return none(
      host,
      "No model of depth yet",
      "Train one on what two eyes see of the little world, in a few minutes, then start again with it:",
      "regard train monodepth --out runs/depth",
      "regard explore --model runs/depth",
    );
  context.register({ figures: () => [...onStage].flatMap((each) => each.figures()) });
  return bench.create(host, {
    context,
    title: "Depth",
    tasks: TASKS,
    models,
    input: (place, hands) => input(place, hands, host),
    answer,
    ask: (model, state) => ({ model: model["name"], input: { picture: pictureOf(state) }, options: {} }),
    opening: (model) => ({ in: `p:${opening(model)}` }),
    example: (example) => ({ in: `p:${example}`, ...FRESH }),
    code,
  });
}

/** The same in Python and on the command line. @param {Model} model @param {State} state */
function code(model, state) {
  const name = String(model["name"]);
  const picture = pictureOf(state).startsWith("world:") ? pictureOf(state) : "photo.jpg";
  return {
    python: `import regard\n\ndepth = regard.load(${JSON.stringify(name)})\ndepth(${JSON.stringify(picture)})[0].depth`,
    command: `regard depth ${picture} --model ${name} --out depth.png`,
  };
}
