/** A reading in a notebook: the bench on numbers that the page carries itself. Nothing is fetched, nothing is kept. */

import * as api from "./api.js";
import * as bench from "./bench/bench.js";
import { held, read } from "./bench/reading.js";
import { keyboard } from "./keys.js";
import { applyTheme } from "./theme.js";

/** @typedef {import("./state.js").Flat} Flat */

/** @type {Flat} */
let state = {};
/** @type {import("./app.js").Shortcut[]} */
const shortcuts = [];

/** @type {import("./app.js").Context} */
const context = {
  api,
  state: { get: () => state, set: (patch) => void (state = { ...state, ...patch }) },
  toast() {},
  caption() {},
  register: (what) => void shortcuts.push(...(what.shortcuts ?? [])),
  go() {},
  models: { open() {} },
};

const data = document.getElementById("views")?.textContent ?? "";
const host = document.getElementById("room");
if (host) {
  applyTheme();
  const { title, ...found } = read(data);
  const look = held({ title, ...found });
  host.replaceChildren();
  bench.create(host, {
    context,
    title,
    models: [],
    input: () => ({ show() {} }),
    answer: null,
    edits: false,
    ask: () => ({ file: "here" }),
    reply: async () => look,
  });
  keyboard({ everywhere: [], here: () => shortcuts, undo() {}, redo() {} });
}
