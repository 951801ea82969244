/** What is compared: pictures, one text a line, templates for names of classes; and a sentence to find pictures by. */

import { get } from "../api.js";
import { textField } from "../bench/text.js";
import { h } from "../dom.js";
import { pick } from "../rooms/pick.js";
import { refill } from "../rooms/refill.js";
import * as picker from "../see/picker.js";
import { FRESH, NUMBERS, PICTURES, read, written } from "./wishes.js";

/** @typedef {import("../bench/address.js").State} State */
/** @typedef {import("../bench/bench.js").InputHands} Hands */

/** @param {HTMLElement} host @param {Hands} hands @param {HTMLElement} room @param {string | null} folder that the server was started with */
export function input(host, { set, options, context }, room, folder) {
  const control = new AbortController();
  const now = () => read({ input: String(context.state.get()["in"] ?? ""), flat: context.state.get() });
  const place = h("div", { class: "picked-picture" });
  const sets = h("div", { class: "match-sets" });
  const texts = h("div");
  const more = h(
    "details",
    { class: "own-words" },
    h("summary", null, "Templates: the sentences that each line is put into"),
  );
  const search = h("div", { class: "match-find" });
  host.append(
    h("div", { class: "match-input" },
      h("section", { "aria-label": "Pictures" }, h("h2", null, "Add pictures"), place, sets),
      h("section", { "aria-label": "Texts" }, h("h2", null, "Texts, one a line"), texts, more),
      h("section", { "aria-label": "Search" }, h("h2", null, "Or find pictures by a sentence"), search),
    ),
  ); // prettier-ignore
  const add = (/** @type {string} */ picture) => {
    const { pictures } = now();
    if (pictures.length >= PICTURES && !pictures.includes(picture))
      return context.toast(`There are ${PICTURES} pictures already; take one away first.`, "error");
    return set({ in: written([...pictures, picture]), find: "", pair: `${Math.min(pictures.length, PICTURES - 1)}.${now().pair.text}` }); // prettier-ignore
  };
  const choose = picker.create(place, { choose: add, toast: context.toast });
  choose.listen(room, control.signal);
  const fields = {
    says: textField(texts, { label: "Texts, one a line", placeholder: "a dog\na cat", lines: true, set: (says) => set({ says, find: "", at: "" }, "typing") }),
    tpl: textField(more, { label: "Templates, one a line", placeholder: "a photo of {a}.", lines: true, set: (tpl) => set({ tpl, find: "", at: "" }, "typing") }),
    find: textField(search, { label: "Find pictures by a sentence", placeholder: "a big red star", set: (find) => set({ find: find.trim(), at: "" }, "typing") }),
  }; // prettier-ignore
  const among = h("div");
  search.append(among);
  return {
    /** @param {State} state */
    show(state) {
      const wishes = read(state);
      choose.update(wishes.pictures[wishes.pair.picture] ?? "");
      for (const [key, field] of Object.entries(fields)) field.show(String(state.flat[key] ?? ""));
      if (wishes.templates.length) more.open = true;
      presets(sets, wishes.pictures, set);
      refill(among, ...where(wishes.among, folder, set));
      refill(options, !wishes.find && pick("", NUMBERS, wishes.numbers, (num) => set({ num }), "Which numbers"));
    },
    focus: fields.says.focus,
    destroy() {
      control.abort();
      for (const field of Object.values(fields)) field.destroy();
    },
  };
}

/** Which pictures are searched. @param {string} among @param {string | null} folder @param {Hands["set"]} set */
function where(among, folder, set) {
  const others = "the table, the photographs and 200 scenes";
  if (!folder) return [h("p", { class: "quiet" }, `Among the pictures of ${others}. A folder of yours: `, h("code", null, "regard explore --pictures FOLDER"))]; // prettier-ignore
  const choices = /** @type {[string, string][]} */ ([["", others], ["folder", `the folder ${folder}`]]); // prettier-ignore
  return [pick("among", choices, among, (chosen) => set({ among: chosen, at: "" }), "Which pictures are searched")];
}

/** Pictures that belong together. @param {HTMLElement} host @param {string[]} pictures @param {Hands["set"]} set */
function presets(host, pictures, set) {
  const index = pictures.find((each) => each.startsWith("world:"))?.match(/\d+/)?.[0] ?? "29";
  const shifted = async () => {
    const names = Object.keys(await get("/api/pictures/shifts"));
    set({ in: written([`world:${index}`, ...names.map((name) => `world:${index}/${name}`)]), ...FRESH });
  };
  const button = (/** @type {string} */ text, /** @type {() => void} */ run) =>
    h("button", { type: "button", class: "button small", onclick: run }, text);
  refill(
    host,
    button(`Scene ${index} under every shift`, () => void shifted()),
    pictures.length > 1 && button("Keep the first alone", () => set({ in: written(pictures.slice(0, 1)), ...FRESH })),
  );
}
