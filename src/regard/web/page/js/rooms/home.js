/** Where the page opens: what attention is, in one live picture, and the doors to the rooms. */

import { STATIC } from "../api.js";
import { look } from "../build/math.js";
import { read } from "../build/numbers.js";
import { h, replace } from "../dom.js";
import { OPEN } from "../navigation.js";
import * as lines from "../views/lines.js";
import { Weights } from "../views/view.js";
import { AREAS } from "./index.js";

/** @typedef {import("../app.js").Context} Context */

export const room = { id: "home", title: "Attention, looked into", mount };

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
          h(
            "button",
            { type: "button", class: "button primary", onclick: () => context.go("build") },
            "Build it up, step by step",
          ),
          h(
            "button",
            { type: "button", class: "button", onclick: () => context.go(STATIC ? "gallery" : "translate") },
            STATIC ? "See what models looked at" : "Watch a model translate",
          ),
        ),
      ),
      picture,
    ),
    AREAS.map((area) =>
      h(
        "nav",
        { class: "doors", "aria-label": area.title },
        h("header", null, h("h2", null, area.title), h("p", { class: "quiet" }, area.says)),
        h(
          "div",
          null,
          OPEN.filter((room) => room.area === area.id).map(({ id, title, says }) =>
            h("a", { href: `#/${id}`, class: "door" }, h("h3", null, title), h("p", null, says)),
          ),
        ),
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
