/** Your file: attention of any other program, dropped onto the page and seen with the same views. */

import { get } from "../api.js";
import * as bench from "../bench/bench.js";
import { held, read } from "../bench/reading.js";
import { find, hashed, keep } from "../bench/store.js";
import { h, replace } from "../dom.js";
import { recordings } from "../read/lectures.js";
import { SAMPLE, example, pictureExample } from "./example.js";

/** @typedef {import("../app.js").Context} Context */
/** @typedef {import("../bench/address.js").State} State */
/** @typedef {import("../bench/look.js").Held} Held */
/** @typedef {{title: string, look: Held}} Opened */

const LARGEST = 64 * 2 ** 20; // bytes
const AT_ONCE = 4; // files in memory

export const room = { id: "file", title: "Your file", mount };

/** What was opened stays while the page is open, whichever room is visited. @type {Map<string, Opened>} */
const opened = new Map();

/** @param {HTMLElement} host @param {Context} context */
function mount(host, context) {
  /** @type {Taker | null} */
  let taking = null;
  const made = bench.create(host, {
    context,
    title: "Your file",
    models: [],
    input: (place, { set }) => (taking = new Taker(place, context, set)),
    answer: null,
    edits: false,
    ask: async (_, state) => {
      if (!state.input) return null;
      const { hash } = await reopened(state.input.replace(/^f:/, ""));
      taking?.show(state);
      return { file: hash };
    },
    reply: async (request) => (await reopened(String(request["file"]))).look,
  });
  /** @param {DragEvent} event */
  function over(event) {
    event.preventDefault();
    host.classList.toggle("dropping", event.type === "dragover");
    const file = event.type === "drop" ? event.dataTransfer?.files[0] : undefined;
    if (file) void taking?.take(file);
  }
  const types = /** @type {const} */ (["dragover", "dragleave", "drop"]);
  for (const type of types) host.addEventListener(type, over);
  return {
    restore: made.restore,
    unmount() {
      for (const type of types) host.removeEventListener(type, over);
      made.unmount();
    },
  };
}

/** The file of a link: from this page, or from what this browser kept. @param {string} hash @returns {Promise<Opened & {hash: string}>} */
async function reopened(hash) {
  const known = opened.get(hash);
  if (known) return { ...known, hash };
  const text = hash.startsWith("r:") ? await reading(hash.slice(2)) : await find(hash);
  if (text === null)
    throw new Error(
      `The link is to a file (${hash.slice(0, 8)}…) that this browser does not have: a link carries no file. Drop it here, and the same picture opens.`,
    );
  return { ...remembered(hash, text), hash };
}

/** A reading that comes with regard: `in=r:minilm-tired`. @param {string} name */
async function reading(name) {
  return JSON.stringify(await get(`/api/readings/${encodeURIComponent(name)}`));
}

/** @param {string} hash @param {string} text @returns {Opened} */
function remembered(hash, text) {
  const found = read(text);
  const made = { title: found.title, look: held(found) };
  opened.set(hash, made);
  for (const old of [...opened.keys()].slice(0, -AT_ONCE)) opened.delete(old); // what is kept is read again
  return made;
}

/** What takes files: a place to drop them, or the name of the one that is open. */
class Taker {
  /** @param {HTMLElement} host @param {Context} context @param {import("../bench/bench.js").InputHands["set"]} set */
  constructor(host, context, set) {
    this.context = context;
    this.set = set;
    this.problem = h("p", { class: "problem", role: "alert", hidden: true });
    this.top = h("header", { class: "file-top", hidden: true });
    this.input = h("input", {
      type: "file",
      accept: ".json,application/json",
      class: "unseen",
      id: "views-file",
      onchange: () => this.input.files?.[0] && void this.take(this.input.files[0]),
    });
    this.drop = dropping(this.input, {
      plain: () => void this.open(JSON.stringify(example())),
      picture: () =>
        void pictureExample(context.api).then(
          (found) => this.open(JSON.stringify(found)),
          (error) => this.refuse(error),
        ),
    });
    this.others = recorded();
    host.append(this.top, this.problem, this.drop, this.others);
  }

  /** @param {unknown} error */
  refuse(error) {
    replace(this.problem, error instanceof Error ? error.message : String(error));
    this.problem.hidden = false;
    this.input.value = "";
  }

  /** @param {File} file */
  async take(file) {
    const [size, most] = [Math.round(file.size / 2 ** 20), LARGEST / 2 ** 20];
    if (file.size <= LARGEST) return this.open(await file.text());
    return this.refuse(new Error(`${file.name} has ${size} MB; at most ${most} are read: leave some views out.`));
  }

  /** @param {string} text */
  async open(text) {
    try {
      const hash = await hashed(text);
      remembered(hash, text);
      this.problem.hidden = true;
      if (!(await keep(hash, text)))
        this.context.toast("This browser keeps no files, so a link to this one opens nothing.", "error");
      // The file that a link waits for opens as the link says.
      const same = this.context.state.get()["in"] === `f:${hash}`;
      this.set({ in: `f:${hash}`, ...(same ? {} : { look: "", at: "", hide: "", pairs: "" }) });
    } catch (error) {
      this.refuse(error);
    }
  }

  /** @param {State} state */
  show({ input: now }) {
    const found = opened.get(now.replace(/^f:/, ""));
    this.drop.hidden = this.others.hidden = Boolean(found);
    this.top.hidden = !found;
    const many = found?.look.answer.attentions.reduce((sum, { heads }) => sum + heads, 0) ?? 0;
    const facts = [`${many} ${many === 1 ? "view" : "views"}`, found?.look.answer.model].filter(Boolean).join(", ");
    const another = () => {
      this.problem.hidden = true;
      this.set({ in: "", look: "", at: "", as: "" });
    };
    replace(
      this.top,
      h("h2", null, found?.title || "Your file"),
      h("span", { class: "quiet" }, facts),
      h("button", { type: "button", class: "button", onclick: another }, "Another file"),
    );
  }

  focus() {
    this.input.focus();
  }
}

/** @param {HTMLInputElement} input @param {{plain: () => void, picture: () => void}} run */
function dropping(input, run) {
  return h(
    "section",
    { class: "drop" },
    h("h2", null, "Look at attention of your own"),
    h(
      "p",
      null,
      "Drop a ",
      h("code", null, "regard-views"),
      " file here, from any model and any program. It stays in this browser.",
    ),
    h(
      "div",
      { class: "buttons" },
      h("label", { class: "button primary", for: "views-file" }, "Choose a file"),
      input,
      h("button", { type: "button", class: "button", onclick: run.plain }, "Show an example"),
      h("button", { type: "button", class: "button", onclick: run.picture }, "An example with a picture"),
    ),
    h(
      "details",
      null,
      h("summary", null, "What the file looks like"),
      h("pre", null, SAMPLE),
      h("p", null, "The whole format: ", h("a", { href: "api/schema/view.json" }, "view.schema.json")),
    ),
  );
}

/** Files that come with regard, for those who have none at hand. */
function recorded() {
  return h(
    "section",
    { class: "recordings" },
    h("h2", null, "Or what larger models looked at"),
    h(
      "ul",
      null,
      recordings().map(({ text, links }) =>
        h(
          "li",
          null,
          h("p", null, text),
          h(
            "p",
            null,
            links.map(({ title, href }) => h("a", { href }, title)),
          ),
        ),
      ),
    ),
  );
}
