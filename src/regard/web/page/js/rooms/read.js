/** Read: text models. What comes next, what is hidden, which heads decide it, and where one word lies in many sentences. */

import { room as bench } from "../bench/room.js";
import { answer, onStage } from "../read/answer.js";
import { hide, hiddenOf, readWriting, request, textOf } from "../read/asking.js";
import { FRESH, input } from "../read/input.js";
import { SENTENCES } from "../read/lectures.js";
import { view as senses } from "../read/senses.js";
import { prompt, readShots } from "../read/shots.js";
import { terminal } from "../terminal.js";

/** @typedef {import("../bench/address.js").State} State */
/** @typedef {import("../bench/answer.js").Model} Model */

export const TASKS = ["generate", "fill", "classify", "tag", "answer", "embed", "similar", "parse", "recall"];

/** What is shown first where a card has no example. @type {Record<string, string>} */
const FIRST = {
  generate: "Once upon a time",
  fill: "The capital of France is [MASK].",
  answer: "Who sleeps?\tThe dog runs and the cat sleeps.",
  similar: "A dog runs.\tA hound is running.",
  recall: "3 12 4 13 21 22 3",
};
const FIRST_OF_ALL = "A dog runs in the park.";

export const room = bench({
  id: "read",
  title: "Read",
  tasks: TASKS,
  none: {
    title: "No text model yet",
    says: "Give a folder of a model of yours, or one from Hugging Face:",
    commands: ["regard explore --model FOLDER"],
  },
  shortcuts: [
    { key: "d", does: "Throw the dice: take one token", run: () => onStage.forEach((each) => each.take?.()) },
  ],
  figures: () => [...onStage].map((each) => ({ title: "answer", table: each.table.bind(each) })),
  wish: ({ limits }) => ({
    input,
    answer: answer(limits),
    ask: (model, state) => request(model, state, limits),
    views: [senses],
    empty: { title: "Type a text", says: "Every token will show where it looked, and what the model expected there." },
    opening: (model) => ({ in: opening(model), ...FRESH }),
    example: (example) => ({ in: `t:${example}`, ...FRESH, pairs: "", shots: "" }),
    keeps,
    code,
  }),
});

/** Of a text that goes on the longest example: a model that has read more has more to say of what comes next. @param {Model} model */
function opening({ task, examples = [] }) {
  const all = /** @type {string[]} */ (task === "generate" ? examples.toSorted(longer) : examples);
  return `t:${all[0] ?? FIRST[String(task)] ?? FIRST_OF_ALL}`;
}

/** @param {string} a @param {string} b */
const longer = (a, b) => b.length - a.length;

/** Something that one wrote is kept where the other model can read it at all. @param {State} state @param {Model} from @param {Model} to */
function keeps(state, from, to) {
  const text = textOf(state);
  const own = [opening(from).slice(2), ...(from["examples"] ?? [])];
  if (own.includes(text)) return from["task"] === to["task"] && from["data"] === to["data"];
  if (SENTENCES.some((each) => each.text === text))
    return !["recall", "answer", "similar"].includes(String(to["task"]));
  const masked = /\[MASK\]|<mask>/.test(text) && to["task"] !== "fill";
  return !masked && !text.includes("\t") && (from["task"] === "recall") === (to["task"] === "recall");
}

/** The same in Python and on the command line. @param {Model} model @param {State} state */
function code(model, state) {
  const [name, shots] = [String(model["name"]), readShots(state.flat)];
  const { task } = model;
  const writing = readWriting(state.flat["w"]);
  const text =
    task === "fill"
      ? hide(textOf(state), hiddenOf(state)).text
      : shots.shots.length
        ? prompt(shots, textOf(state))
        : textOf(state);
  const texts = text.split("\t").map((each) => JSON.stringify(each));
  const ids = task === "recall" ? `[${(text.match(/[^\s,]+/g) ?? []).join(", ")}]` : "";
  const given = ids || (texts.length > 1 ? `(${texts.join(", ")})` : texts[0]);
  const asked = `import regard\n\nmodel = regard.load(${JSON.stringify(name)})\n`;
  if (task === "generate" && writing) {
    const { most, temperature, topP, topK, seed } = writing;
    return {
      python: `${asked}model([${JSON.stringify(text)}], max_new_tokens=${most}, temperature=${temperature}, top_p=${topP}, top_k=${topK}, seed=${seed})[0].text`,
      command: terminal("generate", [text], {
        ...{ model: name, "max-new-tokens": most, temperature },
        ...{ "top-p": topP, "top-k": topK, seed },
      }),
    };
  }
  return {
    python: `${asked}regard.show(model.attend(${given}))`,
    // Of two texts, the command line reads those of a question alone.
    ...(texts.length > 1 && task !== "answer" ? {} : { command: terminal("look", [name, ids || text]) }),
  };
}
