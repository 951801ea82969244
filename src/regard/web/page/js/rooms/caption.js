/** Caption: a picture in, words about it out, and where the model looked for each of them. */

import { titled } from "../bench/answer.js";
import { room as bench } from "../bench/room.js";
import { tooLong } from "../bench/text.js";
import { answer, onStage } from "../caption/answer.js";
import { BEAM, FRESH, input, pictureOf } from "../caption/input.js";
import { truth } from "../see/truth.js";
import { called, examples, opening } from "../see/wishes.js";
import { terminal } from "../terminal.js";
import { entry } from "../views/regions.js";

/** @typedef {import("../bench/address.js").State} State */
/** @typedef {import("../bench/answer.js").Model} Model */

export const room = bench({
  id: "caption",
  title: "Caption",
  tasks: ["caption"],
  none: {
    title: "No model that captions yet",
    says: "Train one on the little world in a few minutes, then start again with it:",
    commands: ["regard train caption --out runs/caption", "regard explore --model runs/caption"],
  },
  examples,
  shortcuts: [{ key: "p", does: "Let the words come one by one", run: () => onStage.forEach((each) => each.play()) }],
  figures: () =>
    [...onStage].map((each) => ({ title: `${titled(each.scene?.model)}, words`, table: () => each.table() })),
  wish: ({ host, limits }) => ({
    input: (place, hands) => input(place, hands, { room: host, most: limits["beam"] ?? 10 }),
    answer,
    ask: (model, state) => ask(model, state, limits),
    views: [entry({ truth: ({ state }) => truth(pictureOf(state), "caption") })],
    opening: (model) => ({ in: `p:${opening(model)}` }),
    example: (example) => ({ in: `p:${example}`, ...FRESH }),
    called,
    code,
  }),
});

/** @param {Model} model @param {State} state @param {Record<string, number>} limits */
function ask(model, state, limits) {
  const { flat } = state;
  const say = String(flat["say"] ?? "");
  const long = tooLong(say, limits["text"]);
  if (long) throw new Error(long);
  return {
    model: model["name"],
    input: { picture: pictureOf(state) },
    options: say ? { force: say } : { beam: Number(flat["beam"]) || BEAM },
  };
}

/** The same in Python and on the command line. @param {Model} model @param {State} state */
function code(model, state) {
  const name = String(model["name"]);
  const picture = pictureOf(state).startsWith("world:") ? pictureOf(state) : "photo.jpg";
  const [say, beam] = [String(state.flat["say"] ?? ""), Number(state.flat["beam"]) || BEAM];
  const wish = say ? `target=${JSON.stringify(say)}` : `beam=${beam}`;
  return {
    python: `import regard\n\ncaption = regard.load(${JSON.stringify(name)})\nregard.show(caption.attend(${JSON.stringify(picture)}, ${wish}))`,
    ...(say ? {} : { command: terminal("caption", [picture], { model: name, beam, look: "words.svg" }) }),
  };
}
