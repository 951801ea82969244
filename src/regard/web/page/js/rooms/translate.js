/** Translate: type a sentence and see where each word of the output looked, in one model or in three side by side. */

import { room as bench } from "../bench/room.js";
import { textField, tooLong } from "../bench/text.js";
import { h } from "../dom.js";
import { terminal } from "../terminal.js";
import * as tree from "../views/tree.js";
import { output } from "./output.js";
import { LANGUAGES, firstPair, knowsWorld, pairing, readPair, sayings, writtenPair } from "./pair.js";
import { pick } from "./pick.js";
import { refill } from "./refill.js";
import { slide } from "./slide.js";

/** @typedef {import("../app.js").Context} Context */
/** @typedef {import("../bench/address.js").State} State */
/** @typedef {import("../bench/answer.js").Model} Model */
/** @typedef {import("../bench/bench.js").InputHands} Hands */
/** @typedef {{context: Context, limits: Record<string, number>, said: ReturnType<typeof sayings>}} Setting */

const BEAM = 5;
/** What is shown first where a card has no example. @type {Record<string, string>} */
const FIRST = {
  de: "Zwei Kinder spielen mit einem roten Ball im Garten.",
  en: "Two children are playing with a red ball in the garden.",
  it: "Mi piace la musica.",
  cs: "Dvě děti si hrají na zahradě s červeným míčem.",
};

export const room = bench({
  id: "translate",
  title: "Translate",
  tasks: ["translate"],
  none: {
    title: "No model that translates yet",
    says: "Train one, then start again with it:",
    commands: ["regard train translate --out runs/mine", "regard explore --model runs/mine/model"],
  },
  wish: ({ context, limits }) => {
    const setting = { context, limits, said: sayings(context.api) };
    return {
      input: (place, hands) => input(place, hands, setting),
      answer: output,
      ask: (model, state) => ask(model, state, setting),
      views: [{ id: "beam", title: "Beam", key: "b", bare: true, create: beam }],
      empty: { title: "Type a sentence", says: "Every word of its translation will show where it looked." },
      opening: (model) => ({ in: opening(model) }),
      keeps,
      code: (model, state) => code(model, state, setting),
    };
  },
});

/** The same in Python and on the command line. @param {Model} model @param {State} state @param {Setting} setting */
function code(model, state, { said }) {
  const name = String(model["name"]);
  const pair = readPair(state.input);
  const told = pair && said.told(pair);
  if (pair && !told) return {};
  const text = told ? told.text : state.input.replace(/^t:/, "");
  const [to, target] = [language(model, state), (state.flat["force"] && told?.reference) || ""];
  const flags = { ...(to && { to }), ...(target && { target }) };
  const given = [
    JSON.stringify(text),
    ...Object.entries(flags).map(([key, value]) => `${key}=${JSON.stringify(value)}`),
  ];
  return {
    python: `import regard\n\nregard.show(regard.load(${JSON.stringify(name)}).attend(${given.join(", ")}))`,
    command: terminal("look", [name, text], flags),
  };
}

/** Into which language, for a model that must be told. @param {Model} model @param {State} state */
function language(model, { input: given, flat }) {
  return model["multilingual"] ? (readPair(given)?.target ?? String(flat["to"] || firstTarget(model))) : null;
}

/** What a model is shown first: something that it knows. @param {Model} model */
function opening(model) {
  if (knowsWorld(model)) return writtenPair(firstPair(model));
  return `t:${model["examples"]?.[0] ?? FIRST[model["source"]] ?? FIRST["en"]}`;
}

/** What was only an example of the model before is not kept for another. @param {State} state @param {Model} from @param {Model} to */
function keeps({ input: now }, from, to) {
  const examples = [opening(from), ...(from["examples"] ?? []).map((/** @type {string} */ each) => `t:${each}`)];
  if (examples.includes(now)) return from["source"] === to["source"] && from["data"] === to["data"];
  return !readPair(now) || knowsWorld(to);
}

/** @param {Model} model @param {State} state @param {Setting} setting */
async function ask(model, state, { limits, said }) {
  const { input: given, flat } = state;
  const pair = readPair(given);
  const text = given.replace(/^t:/, "");
  const long = pair ? "" : tooLong(text, limits["text"]);
  if (long) throw new Error(long);
  if (!pair && !text.trim()) return null;
  const to = language(model, state);
  const reference = pair && flat["force"] ? (await said.ask(pair)).reference : null;
  return {
    model: model["name"],
    input: pair ? { pair: { ...pair, split: "test" } } : { text },
    options: { beam: Number(flat["beam"]) || BEAM, ...(to ? { to } : {}), ...(reference ? { force: reference } : {}) },
  };
}

/** The sentence, and how it is translated. @param {HTMLElement} host @param {Hands} hands @param {Setting} setting */
function input(host, { set, options }, { limits, said, context }) {
  const field = textField(host, {
    label: "Sentence to translate",
    set: (text) => set({ in: `t:${text}`, force: "", at: "" }, "typing"),
  });
  const pairs = h("div", { class: "pairs" });
  host.append(pairs);
  return {
    /** @param {State} state */
    show(state) {
      const pair = readPair(state.input);
      if (!pair) field.show(state.input.replace(/^t:/, ""));
      else
        said.ask(pair).then(
          ({ text }) => readPair(String(context.state.get()["in"]))?.index === pair.index && field.show(text, true),
          (error) => context.toast(error instanceof Error ? error.message : String(error), "error"),
        );
      const leave = () => set({ in: `t:${field.field.value}`, force: "", at: "" });
      const world = state.models.every(knowsWorld);
      refill(
        pairs,
        (world || pair) && pairing(pair, state.models[0] ?? {}, set, leave),
        pair && check("write the reference", Boolean(state.flat["force"]), (on) => set({ force: on ? 1 : "", at: "" })),
      );
      refill(options, !pair && into(state, set), beamed(Number(state.flat["beam"]) || BEAM, limits["beam"] ?? 10, set));
    },
    focus: field.focus,
    destroy: field.destroy,
  };
}

/** @param {number} now @param {number} most @param {Hands["set"]} set */
const beamed = (now, most, set) => slide("beam", { now, least: 1, most, spoken: "Beam" }, (beam) => set({ beam }));

/** @param {State} state @param {Hands["set"]} set */
function into(state, set) {
  const some = state.models.filter((model) => model["multilingual"]);
  if (!some.length) return null;
  const codes = [...new Set(some.flatMap((model) => /** @type {string[]} */ (model["languages"] ?? [])))];
  const choices = codes.map((code) => /** @type {[string, string]} */ ([code, LANGUAGES[code] ?? code]));
  return pick("into", choices, String(state.flat["to"] || firstTarget(some[0] ?? {})), (to) => set({ to }));
}

/** @param {string} label @param {boolean} checked @param {(on: boolean) => void} run */
function check(label, checked, run) {
  const box = h("input", { type: "checkbox", checked, onchange: () => run(box.checked) });
  return h("label", { class: "check" }, box, label);
}

/** @param {Model} model */
const firstTarget = (model) =>
  (model["languages"] ?? []).find((/** @type {string} */ code) => code !== model["source"]) ?? "en";

/** The search as a tree, where there was one. @param {HTMLElement} host @returns {import("../bench/views.js").Drawn} */
function beam(host) {
  /** @type {ReturnType<typeof tree.create> | null} */
  let drawn = null;
  const note = h(
    "div",
    { class: "blind-note", hidden: true },
    h("p", null, "There was no search."),
    h("p", { class: "quiet" }, "The model was made to write the reference; let it write freely to see its beam."),
  );
  host.append(note);
  return {
    update(_, { result }) {
      const { nodes } = result.output.beam;
      note.hidden = nodes.length > 0;
      if (!nodes.length) drawn?.destroy();
      if (!nodes.length) drawn = null;
      else (drawn ??= tree.create(host)).update({ nodes });
    },
    exportSvg: async () => drawn?.exportSvg() ?? document.createElementNS("http://www.w3.org/2000/svg", "svg"),
    table: () => drawn?.table() ?? { columns: [], rows: [] },
    json: () => drawn?.json(),
    destroy() {
      drawn?.destroy();
      note.remove();
    },
  };
}
