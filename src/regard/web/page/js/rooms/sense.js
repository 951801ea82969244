/** Sense: a sound, a cloud of points, a film or letters in; what a Perceiver says of it, and where its latents look. */

import { room as bench } from "../bench/room.js";
import { tooLong } from "../bench/text.js";
import { answer, onStage } from "../sense/answer.js";
import { FRESH, called, examples, fileOf, input, textOf } from "../sense/input.js";
import { terminal } from "../terminal.js";

/** @typedef {import("../bench/address.js").State} State */
/** @typedef {import("../bench/answer.js").Model} Model */

export const room = bench({
  id: "sense",
  title: "Sense",
  tasks: ["perceive", "queries"],
  none: {
    title: "No model of sounds, clouds or films yet",
    says: "Train one on spoken digits or on films of the little world, then start again with it:",
    commands: ["regard train perceive --data world --out runs/sense", "regard explore --model runs/sense"],
  },
  examples,
  figures: () => [...onStage].flatMap((each) => each.figures()),
  wish: ({ host, limits }) => ({
    input: (place, hands) => input(place, hands, host),
    answer,
    ask: (model, state) => ask(model, state, limits),
    empty: { title: "Name a sound, a cloud or a film", says: "Each latent will show which part of it it looked at." },
    opening: (model) => ({ in: `t:${examples(model)[0] ?? ""}` }),
    example: (example) => ({ in: `t:${example}`, ...FRESH }),
    called,
    keeps: (_, from, to) => from["task"] === to["task"] && from["data"] === to["data"],
    code,
  }),
});

/** @param {Model} model @param {State} state @param {Record<string, number>} limits */
function ask(model, state, limits) {
  const [text, thing] = [textOf(state), fileOf(state)];
  if (thing) return { model: model["name"], input: { thing }, options: {} };
  const long = tooLong(text, limits["text"]);
  if (long) throw new Error(long);
  return text ? { model: model["name"], input: { text }, options: {} } : null;
}

/** The same in Python and on the command line. @param {Model} model @param {State} state */
function code(model, state) {
  const name = String(model["name"]);
  const given = fileOf(state) || /^sound:/.test(textOf(state)) ? "seven.wav" : textOf(state);
  const quoted = JSON.stringify(given);
  return {
    python: `import regard\n\nmodel = regard.load(${JSON.stringify(name)})\nmodel(${quoted})[0]\nregard.show(model.attend(${quoted}))`,
    command: terminal("look", [name, given]),
  };
}
