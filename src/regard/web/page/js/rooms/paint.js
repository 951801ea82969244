/** Paint: words in, a picture out; the way out of noise step by step, and each word's region. */

import { room as bench } from "../bench/room.js";
import { tooLong } from "../bench/text.js";
import { film, onStage } from "../paint/film.js";
import { GUIDANCE, STEPS, WARMTH, input, numberOf, textOf, writes } from "../paint/input.js";
import { terminal } from "../terminal.js";
import { entry } from "../views/regions.js";

/** @typedef {import("../bench/address.js").State} State */
/** @typedef {import("../bench/answer.js").Model} Model */

const FIRST = "a red disc left of a blue star";

export const room = bench({
  id: "paint",
  title: "Paint",
  tasks: ["paint"],
  none: {
    title: "No model that paints yet",
    says: "Train one on the little world, which takes about half an hour, then start again with it:",
    commands: ["regard train paint --out runs/paint", "regard explore --model runs/paint"],
  },
  figures: () => [...onStage].flatMap((each) => each.figures()),
  shortcuts: [
    { key: "p", does: "Out of noise, step by step", run: () => onStage.forEach((each) => each.play()) },
    { key: ",", does: "The step before", run: () => onStage.forEach((each) => each.walk(-1)) },
    { key: ".", does: "The next step", run: () => onStage.forEach((each) => each.walk(1)) },
  ],
  wish: ({ limits }) => ({
    input,
    answer: film,
    ask: (model, state) => ask(model, state, limits),
    views: [entry()],
    empty: { title: "Say what you want to see", says: "Each word will show which places of the picture looked at it." },
    opening: (model) => ({ in: `t:${model["examples"]?.[0] ?? FIRST}` }),
    example: (example) => ({ in: `t:${example}`, at: "", step: "" }),
    code,
  }),
});

/** @param {Model} model @param {State} state @param {Record<string, number>} limits */
function ask(model, state, limits) {
  const text = textOf(state);
  const long = tooLong(text, limits["text"]);
  if (long) throw new Error(long);
  return text.trim() ? { model: model["name"], input: { text }, options: wishes(model, state) } : null;
}

/** @param {Model} model @param {State} state */
function wishes(model, { flat }) {
  const seed = numberOf(flat, "seed", 0);
  if (writes(model)) return { temperature: numberOf(flat, "temp", WARMTH), seed };
  return { steps: numberOf(flat, "steps", STEPS), guidance: numberOf(flat, "guide", GUIDANCE), seed };
}

/** The same in Python and on the command line. @param {Model} model @param {State} state */
function code(model, state) {
  const [name, text] = [String(model["name"]), textOf(state)];
  const flags = wishes(model, state);
  const given = Object.entries(flags)
    .map(([key, value]) => `${key}=${value}`)
    .join(", ");
  const call = `${JSON.stringify(text)}, ${given}`;
  return {
    python: `import regard\n\npaint = regard.load(${JSON.stringify(name)})\npaint(${call})[0].pictures[0]\nregard.show(paint.attend(${call}))`,
    command: terminal("paint", [text], { model: name, ...flags, out: "picture.png" }),
  };
}
