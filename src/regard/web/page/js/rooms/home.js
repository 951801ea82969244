/** Where the page opens: what attention is, in one live picture, and the doors to the rooms. */

import { look } from "../build/math.js";
import { read } from "../build/numbers.js";
import { h, replace } from "../dom.js";
import * as lines from "../views/lines.js";
import { Weights } from "../views/view.js";

/** @typedef {import("../app.js").Context} Context */

const DOORS = [
  { id: "build", title: "Build up", says: "Attention from its first number on, in ten steps that you can drag, change and break." },
  { id: "translate", title: "Translate", says: "Type a sentence. Every word of the translation shows where it looked, in every head." },
  { id: "world", title: "World", says: "Little scenes and what four languages say of them. Point at a word, its thing lights up." },
  { id: "runs", title: "Runs", says: "Curves of what is being trained on this machine, and what each model can do." },
  { id: "file", title: "Your file", says: "Attention of any other model, over words or pictures, dropped onto the page." },
];

export const room = { id: "home", title: "Attention, looked into", key: "h", mount };

/** @param {HTMLElement} host @param {Context} context */
function mount(host, context) {
  const { others, words, z, x, heads } = read({});
  const inside = look(z, x, /** @type {any} */ (heads[0]));
  const picture = h("div", { class: "home-picture" });
  replace(
    host,
    h(
      "div",
      { class: "home-top" },
      h(
        "section",
        null,
        h("h1", null, "See where a model looks"),
        h(
          "p",
          { class: "home-says" },
          "A network that writes “vediamo” has to look at “we” and at “see”. Attention is how it looks: every word asks, every word answers, and what fits best is taken. Here it is built up, opened and taken apart, all on this machine.",
        ),
        h(
          "div",
          { class: "buttons" },
          h("button", { type: "button", class: "button primary", onclick: () => context.go("build") }, "Build it up, in five minutes"),
          h("button", { type: "button", class: "button", onclick: () => context.go("translate") }, "Watch a model translate"),
        ),
      ),
      picture,
    ),
    h(
      "nav",
      { class: "doors", "aria-label": "What there is" },
      DOORS.map(({ id, title, says }) =>
        h("a", { href: `#/${id}`, class: "door" }, h("h2", null, title), h("p", null, says)),
      ),
    ),
  );
  const drawn = lines.create(picture, { large: true });
  drawn.update({
    name: "live numbers of Build up",
    kind: "cross",
    layer: 0,
    head: 0,
    rows: { kind: "words", labels: others },
    columns: { kind: "words", labels: words },
    weights: Weights.of(others.length, words.length, Float32Array.from(inside.weights.flat())),
  });
  context.caption(`“${others.join(" ")}” looks at “${words.join(" ")}”: the numbers of Build up.`);
  context.register({ figures: () => [{ title: "who looks at whom", svg: () => drawn.exportSvg() }] });
  return { restore() {}, unmount: () => drawn.destroy() };
}
