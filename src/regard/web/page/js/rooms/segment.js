/** Segment: click on a picture or drag a box, and see the masks that may be meant, with the looks both ways. */

import { room as bench } from "../bench/room.js";
import { answer, onStage } from "../segment/answer.js";
import { both } from "../segment/both.js";
import { FRESH, input, pictureOf, promptsOf } from "../segment/input.js";
import { corners, options } from "../segment/prompts.js";
import { truth } from "../see/truth.js";
import { called, examples, opening } from "../see/wishes.js";
import { terminal } from "../terminal.js";
import { entry } from "../views/regions.js";

/** @typedef {import("../bench/address.js").State} State */
/** @typedef {import("../bench/answer.js").Model} Model */

export const room = bench({
  id: "segment",
  title: "Segment",
  tasks: ["segment"],
  none: {
    title: "No model that segments yet",
    says: "Train one on the little world in a few minutes, then start again with it; or give a folder of SAM:",
    commands: ["regard train segment --out runs/segment", "regard explore --model runs/segment"],
  },
  examples,
  figures: () => [...onStage].flatMap((each) => each.figures()),
  wish: ({ host }) => ({
    input: (place, hands) => input(place, hands, host),
    answer,
    ask: (model, state) => ({
      model: model["name"],
      input: { picture: pictureOf(state) },
      options: options(promptsOf(state)),
    }),
    views: [both, entry({ truth: ({ state }) => truth(pictureOf(state), "segment") })],
    // Scene 7 opens with a click on its ring, so that there are masks to be seen.
    opening: (model) => ({ in: `p:${opening(model)}`, ...(opening(model) === "world:7" ? { pt: "i19,58" } : {}) }),
    example: (example) => ({ in: `p:${example}`, ...FRESH }),
    called,
    code,
  }),
});

/** The same in Python and on the command line. @param {Model} model @param {State} state */
function code(model, state) {
  const name = String(model["name"]);
  const picture = pictureOf(state).startsWith("world:") ? pictureOf(state) : "photo.jpg";
  const prompts = promptsOf(state);
  const clicks = (/** @type {string} */ kind) => prompts.flatMap((each) => (each.kind === kind && each.kind !== "box" ? [`${each.x},${each.y}`] : [])); // prettier-ignore
  const box = prompts.flatMap((each) => (each.kind === "box" ? [corners(each).join()] : []));
  const tuples = (/** @type {string[]} */ some) => `[${some.map((each) => `(${each.replace(",", ", ")})`).join(", ")}]`;
  const given = [
    ...(clicks("in").length ? [`points=${tuples(clicks("in"))}`] : []),
    ...(clicks("out").length ? [`not_points=${tuples(clicks("out"))}`] : []),
    ...box.map((each) => `box=(${each.replaceAll(",", ", ")})`),
  ];
  const flags = {
    ...(clicks("in").length ? { point: clicks("in") } : {}),
    ...(clicks("out").length ? { "not-point": clicks("out") } : {}),
    ...(box[0] ? { box: box[0] } : {}), // there is one at most
    ...(given.length ? {} : { all: [] }),
  };
  const call = [JSON.stringify(picture), ...given].join(", ");
  return {
    python: `import regard\n\nsegment = regard.load(${JSON.stringify(name)})\n(masks,) = segment(${call})\nregard.show(segment.attend(${call}))`,
    command: terminal("segment", [picture], { ...flags, model: name, out: "mask.png" }),
  };
}
