/** Attention both ways: where a token of the prompt looks on the picture, and from where it is looked at, block by block. */

import { whole } from "../bench/whole.js";
import { h, replace, svg } from "../dom.js";
import { refill } from "../rooms/refill.js";
import { roving } from "../roving.js";
import * as pictures from "../see/picture.js";
import { drawing, inks } from "../views/paint.js";
import { fieldOf, sides } from "../views/regions.js";
import { labels } from "../views/view.js";
import { chosen } from "./answer.js";

/** @typedef {import("../bench/scene.js").Scene} Scene */
/** @typedef {import("../bench/answer.js").Attention} Attention */
/** @typedef {import("../bench/views.js").Hands} Hands */

const [THERE, BACK] = ["tokens look at places", "places look at tokens"];
const FIGURE = 200; // pixels of a map in an exported figure

/** @param {Scene} scene @param {string} group */
const of = ({ result }, group) => result.attentions.filter((each) => each.group === group);

class Both {
  /** @param {HTMLElement} host @param {Hands} hands */
  constructor(host, { context }) {
    this.context = context;
    /** @type {Scene | null} */
    this.scene = null;
    /** @type {{title: string, drawn: ReturnType<typeof pictures.create>}[]} */
    this.maps = [];
    this.tokens = h("div", { class: "chips both-tokens", role: "group", "aria-label": "Token" });
    this.rows = h("div", { class: "both-maps" });
    this.root = h("div", { class: "both" }, this.tokens, this.rows);
    this.rove = roving(this.tokens);
    host.append(this.root);
  }

  /** @param {unknown} _view @param {Scene} scene */
  update(_view, scene) {
    this.scene = scene;
    this.draw();
  }

  /** Of tokens of prompts and masks. */
  names() {
    const scene = /** @type {Scene} */ (this.scene);
    const [first] = of(scene, THERE);
    return first ? labels(scene.look.axis(first.rows, "words")) : [];
  }

  /** The token that is looked at: the one that is chosen, else that of the mask that is shown. */
  get token() {
    const { state, result } = /** @type {Scene} */ (this.scene);
    const wished = state.flat["tok"];
    const own = wished === undefined || wished === "" ? NaN : Number(wished);
    return own < this.names().length ? own : 1 + chosen(result.output, state.flat["mask"]);
  }

  /** @param {number} token */
  pick(token) {
    const scene = /** @type {Scene} */ (this.scene);
    this.context.state.set({ tok: String(token) }, { undo: "tok" });
    this.scene = { ...scene, state: { ...scene.state, flat: { ...scene.state.flat, tok: String(token) } } };
    this.draw();
  }

  draw() {
    const scene = /** @type {Scene} */ (this.scene);
    const { token } = this;
    refill(
      this.tokens,
      this.names().map((name, i) =>
        h("button", { type: "button", class: "chip", "aria-pressed": String(i === token), onclick: () => this.pick(i) }, name),
      ),
    ); // prettier-ignore
    this.rove();
    const [there, back] = [of(scene, THERE), of(scene, BACK)];
    if (this.maps.length !== there.length + back.length) this.build(there, back);
    const name = this.names()[token] ?? "";
    this.rows.querySelectorAll("h3").forEach((title, i) => replace(title, i ? `From where “${name}” is looked at` : `Where “${name}” looks`)); // prettier-ignore
    [...there, ...back].forEach((attention, i) => void this.map(attention, i, token));
  }

  /** @param {Attention[]} there @param {Attention[]} back */
  build(there, back) {
    for (const { drawn } of this.maps) drawn.stop();
    this.maps = [...there, ...back].map(({ name }, i) => {
      const block = i < there.length ? i : i - there.length;
      const title = i === there.length - 1 && there.length > back.length ? "Last look" : `Block ${block + 1}`;
      return { title, drawn: pictures.create(`${title}: ${name}`) };
    });
    const figure = (/** @type {{title: string, drawn: {element: HTMLElement}}} */ { title, drawn }) =>
      h("figure", null, drawn.element, h("figcaption", null, title));
    const part = (/** @type {number} */ from, /** @type {number} */ to) =>
      h("section", null, h("h3", null), h("div", null, this.maps.slice(from, to).map(figure)));
    replace(this.rows, part(0, there.length), part(there.length, this.maps.length));
  }

  /** One head where one is chosen, else their mean. @param {Attention} attention @param {number} i @param {number} token */
  async map(attention, i, token) {
    const scene = /** @type {Scene} */ (this.scene);
    const { look, selection } = scene;
    const one = selection?.heads.length === 1 ? selection.heads[0]?.head : undefined;
    const heads = one === undefined || one >= attention.heads ? [...Array(attention.heads).keys()] : [one];
    const axes = { rows: look.axis(attention.rows, "words"), columns: look.axis(attention.columns, "words") };
    const both = sides(/** @type {any} */ (axes));
    const weights = look.weights(heads.map((head) => ({ name: attention.name, head })), "words"); // prettier-ignore
    const all = both && (await whole(weights).catch(() => null));
    if (!all || this.scene?.look !== look || token !== this.token) return;
    const field = fieldOf(both, all, weights.columns, token);
    this.maps[i]?.drawn.show({ image: both.grid.image ?? "", over: { title: "", field } });
  }

  /** Both rows of maps. */
  async exportSvg() {
    const scene = /** @type {Scene} */ (this.scene);
    const there = of(scene, THERE).length;
    const out = drawing(there * (FIGURE + 14), 2 * (FIGURE + 34), 15);
    this.maps.forEach(({ title, drawn }, i) => {
      const [x, y] = [(i % there) * (FIGURE + 14), Math.floor(i / there) * (FIGURE + 34)];
      out.append(svg("image", { x, y, width: FIGURE, height: FIGURE, href: drawn.element.toDataURL() }));
      out.append(svg("text", { x, y: y + FIGURE + 18, fill: inks().ink }, title));
    });
    return out;
  }

  destroy() {
    for (const { drawn } of this.maps) drawn.stop();
    this.root.remove();
  }
}

/** As a view of the bench. @type {import("../bench/views.js").Entry} */
export const both = {
  id: "both",
  title: "Both ways",
  key: "b",
  leads: true,
  fits: (scene) => of(scene, THERE).length > 0 && of(scene, BACK).length > 0,
  create: (host, hands) => {
    const made = new Both(host, hands);
    return {
      update: (view, scene) => made.update(view, scene),
      exportSvg: () => made.exportSvg(),
      destroy: () => made.destroy(),
    };
  },
};
