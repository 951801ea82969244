/** Depth: one picture in, how far away everything in it is out, and what another eye would see. */

import { room as bench } from "../bench/room.js";
import { answer, onStage } from "../depth/answer.js";
import { FRESH, input, pictureOf } from "../depth/input.js";
import { called, examples, opening } from "../see/wishes.js";
import { terminal } from "../terminal.js";

/** @typedef {import("../bench/address.js").State} State */
/** @typedef {import("../bench/answer.js").Model} Model */

export const room = bench({
  id: "depth",
  title: "Depth",
  tasks: ["depth"],
  none: {
    title: "No model of depth yet",
    says: "Train one on what two eyes see of the little world, in a few minutes, then start again with it:",
    commands: ["regard train monodepth --out runs/depth", "regard explore --model runs/depth"],
  },
  examples,
  figures: () => [...onStage].flatMap((each) => each.figures()),
  wish: ({ host }) => ({
    input: (place, hands) => input(place, hands, host),
    answer,
    ask: (model, state) => ({ model: model["name"], input: { picture: pictureOf(state) }, options: {} }),
    opening: (model) => ({ in: `p:${opening(model)}` }),
    example: (example) => ({ in: `p:${example}`, ...FRESH }),
    called,
    code,
  }),
});

/** The same in Python and on the command line. @param {Model} model @param {State} state */
function code(model, state) {
  const name = String(model["name"]);
  const picture = pictureOf(state).startsWith("world:") ? pictureOf(state) : "photo.jpg";
  return {
    python: `import regard\n\ndepth = regard.load(${JSON.stringify(name)})\ndepth(${JSON.stringify(picture)})[0].depth`,
    command: terminal("depth", [picture], { model: name, out: "depth.png" }),
  };
}
