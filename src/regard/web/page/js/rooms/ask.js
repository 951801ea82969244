/** Ask: pictures and texts by turns, an answer behind them, and what each word saw of which picture. */

import { answer, onStage } from "../ask/answer.js";
import { input } from "../ask/input.js";
import { PRESETS, read, refused, written } from "../ask/turns.js";
import { room as bench } from "../bench/room.js";
import { terminal } from "../terminal.js";

/** @typedef {import("../bench/address.js").State} State */
/** @typedef {import("../bench/answer.js").Model} Model */

const NEW = 16; // tokens of an answer

export const room = bench({
  id: "ask",
  title: "Ask",
  tasks: ["ask"],
  none: {
    title: "No model that answers about pictures yet",
    says: "Train a language model that talks about scenes, then a Flamingo around it, and start again with it:",
    commands: [
      "regard train talk --out runs/talk",
      "regard train ask --language runs/talk --out runs/ask",
      "regard explore --model runs/ask",
    ],
  },
  examples: () => [],
  figures: () => [...onStage].flatMap((each) => each.figures()),
  wish: ({ host }) => ({
    input: (place, hands) => input(place, hands, host),
    answer,
    ask,
    empty: { title: "Ask something", says: "Choose a picture and write a question behind it." },
    opening: () => ({ in: written(PRESETS[0]?.turns ?? []) }),
    code,
  }),
});

/** @param {Model} model @param {State} state */
function ask(model, state) {
  const turns = read(state.input);
  const why = refused(turns);
  if (why) throw new Error(why);
  if (!turns.at(-1)?.text.trim()) return null;
  const told = turns.map(({ picture, text }) => ({ ...(picture ? { picture } : {}), text }));
  return { model: model["name"], input: { told }, options: { max_new: NEW } };
}

/** The same in Python and on the command line. @param {Model} model @param {State} state */
function code(model, state) {
  const name = String(model["name"]);
  const turns = read(state.input).map(({ picture, text }) => ({
    shown: picture ? (picture.startsWith("world:") ? picture : "photo.jpg") : "",
    text,
  }));
  const said = turns.map(({ shown, text }) => `(${shown ? JSON.stringify(shown) : "None"}, ${JSON.stringify(text)})`);
  const [only] = turns.length === 1 ? turns : [];
  return {
    python: `import regard\n\nask = regard.load(${JSON.stringify(name)})\nregard.show(ask.attend([${said.join(", ")}], max_new_tokens=${NEW}))`,
    ...(only?.shown ? { command: terminal("ask", [only.shown, only.text], { model: name }) } : {}),
  };
}
