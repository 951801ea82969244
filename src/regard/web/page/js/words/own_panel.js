/** Own vectors, read in the browser alone. */

import { h, replace } from "../dom.js";
import { join, parseFile } from "./parse.js";
import { Vectors } from "./vectors.js";

/** @typedef {import("./desk.js").Desk} Desk */
/** @typedef {import("./desk.js").Panel} Panel */

/** What was read last, so that metadata may follow its vectors. @type {{name: string, rows: import("./parse.js").Rows | null, metadata: import("./parse.js").Metadata | null, notes: string[], problem: string, busy: string}} */
const held = { name: "", rows: null, metadata: null, notes: [], problem: "", busy: "" };

/** @param {Desk} desk @param {File[]} files */
export async function take(desk, files) {
  if (!files.length) return;
  Object.assign(held, { problem: "", notes: [], metadata: null, busy: "Reading …" });
  desk.set({ as: "own" });
  try {
    let rows = null;
    for (const file of files.slice(0, 4)) {
      const found = await parseFile(file, (read) => {
        held.busy = `${read.toLocaleString("en")} rows of ${file.name} …`;
        void desk.refresh();
      });
      if (found.kind === "metadata") held.metadata = found;
      else [rows, held.name] = [found, file.name.slice(0, 80)];
    }
    if (rows) held.rows = rows;
    if (!held.rows)
      throw new Error(`${files[0]?.name} holds labels and no vectors; drop the vectors with it, or before it.`);
    const vectors = new Vectors(join(held.name, held.rows, held.metadata));
    Object.assign(held, { notes: held.rows.notes, busy: "" });
    desk.use(vectors);
  } catch (error) {
    Object.assign(held, { problem: error instanceof Error ? error.message : String(error), busy: "" });
    void desk.refresh();
  }
}

/** @param {Desk} desk @returns {Panel} */
export function panel(desk) {
  const input = h("input", {
    type: "file",
    id: "own-vectors",
    multiple: true,
    class: "unseen",
    onchange: () => void pickFiles(),
  });
  const pickFiles = async () => {
    await take(desk, [...(input.files ?? [])]);
    input.value = "";
  };
  const said = h("div", { role: "status", class: "own-said" });
  const back = h("button", { type: "button", class: "button", onclick: () => desk.choose(desk.served) }, "Back");
  const element = h(
    "section",
    { class: "own" },
    h("p", null, "Drop a file on this room, or choose one. It is read here, in your browser, and goes nowhere."),
    h(
      "div",
      { class: "own-choose" },
      input,
      h("label", { class: "button primary", for: "own-vectors" }, "Choose files"),
      back,
    ),
    said,
    h(
      "ul",
      { class: "quiet" },
      h("li", null, "word2vec or GloVe text: a word and its numbers a line, also .gz"),
      h(
        "li",
        null,
        "vectors.tsv and metadata.tsv, as the Embedding Projector takes them: both at once, or the vectors first",
      ),
      h("li", null, "rows of 2 or 3 numbers are places, and are shown as they are"),
      h("li", null, "up to 100,000 rows and 20 million numbers"),
      h(
        "li",
        null,
        "larger files, word2vec's binary, safetensors and folders: ",
        h("code", null, "regard explore --model FILE"),
        " offers them above the map",
      ),
    ),
  );
  return {
    element,
    refresh: (state) => {
      const mine = desk.vectors.own;
      back.hidden = !mine;
      back.textContent = `Back to the words of ${desk.served || "regard"}`;
      const missing = state.own && !mine && !held.busy && !held.problem;
      replace(
        said,
        held.problem && h("p", { class: "problem" }, held.problem),
        held.busy && h("p", null, held.busy),
        missing &&
          h(
            "p",
            { class: "hint" },
            `This link is about ${state.own}, a file that its owner has. Drop it here to see the same.`,
          ),
        mine &&
          h(
            "p",
            null,
            h("strong", null, desk.vectors.name),
            `: ${desk.vectors.count.toLocaleString("en")} rows of ${desk.vectors.width} numbers.`,
          ),
        mine && held.notes.map((note) => h("p", { class: "hint" }, note)),
      );
      const chosen = desk.vectors.row(state.word);
      return chosen >= 0
        ? { chosen, rings: new Map([[chosen, /** @type {const} */ ("accent")]]), first: [chosen] }
        : {};
    },
  };
}
