/** Build up: attention from the first number on, step by step. Everything can be changed, and everything follows. */

import { showCode } from "../build/code.js";
import { equation } from "../build/equation.js";
import { listed, matrices } from "../build/figure.js";
import { assembled, layout, roles } from "../build/layout.js";
import { STEPS } from "../build/lesson.js";
import { read, split, write } from "../build/numbers.js";
import { picture } from "../build/picture.js";
import { places } from "../build/place.js";
import { recall, remember } from "../build/solved.js";
import { stage } from "../build/stage.js";
import { strange } from "../build/stages/parts.js";
import { worked } from "../build/worked.js";
import { h, replace, set } from "../dom.js";

/** @typedef {import("../app.js").Context} Context */
/** @typedef {import("../app.js").Mounted} Mounted */
/** @typedef {import("../state.js").Flat} Flat */
/** @typedef {import("../build/numbers.js").Numbers} Numbers */
/** @typedef {import("../build/stage.js").Hands} Hands */

export const room = { id: "build", title: "Build up", mount };

/** @param {HTMLElement} host @param {Context} context @returns {Mounted} */
function mount(host, context) {
  const build = new Build(host, context);
  const redraw = () => build.update();
  document.addEventListener("themechange", redraw);
  build.register();
  build.restore(context.state.get());
  return {
    restore: (state) => build.restore(state),
    unmount: () => {
      build.shown?.stop?.();
      document.removeEventListener("themechange", redraw);
    },
  };
}

class Build {
  /** @param {HTMLElement} host @param {Context} context */
  constructor(host, context) {
    this.context = context;
    this.now = read(context.state.get());
    this.began = this.now;
    this.shuffled = false;
    this.long = false; // were words left out?
    this.step = STEPS[0];
    this.solved = recall();
    /** @type {import("../build/stage.js").Stage | null} */
    this.shown = null;
    this.built = ""; // for which step and words the stage was built
    this.parts = layout({
      walk: (id) => this.walk(id),
      hop: (by) => this.hop(by),
      rewrite: (name, text) => this.rewrite(name, text),
      shuffle: () => this.shuffle(),
      reset: () => this.reset(),
    });
    this.hands = this._hands();
    replace(host, assembled(this.parts));
  }

  /** @returns {Hands} */
  _hands() {
    return {
      cell: (name, i, j, value) => {
        const all = this._rows(name);
        all[i][j] = value;
        // The word in hand is the one that is explained.
        /** @type {Flat} */
        const held = name === "x" || name === "z" || name === "v" ? { row: i } : {};
        this.change({ [name]: write(all), ...held }, `${name}${i}${j}`);
      },
      vector: (name, i, to) => {
        const all = this._rows(name);
        all[i] = to;
        /** @type {Flat} */
        const held = name === "q" || name === "y" ? {} : { row: i };
        this.change({ [name]: write(all), ...held }, `${name}${i}`);
      },
      pick: (row, column) => this.change({ row, ...(column === undefined ? {} : { column }) }, false),
      change: (patch, undo) => this.change(patch, undo),
    };
  }

  /** Rows of a matrix by the name it has in the link, to be changed. @param {string} name @returns {number[][]} */
  _rows(name) {
    const { x, v, z, q, w, y, out, heads } = this.now;
    /** @type {Record<string, number[][]>} */
    const found = {
      x,
      v,
      z,
      q: [q],
      w: [w],
      y: [y ?? [0, 0]],
      wo: out,
      wq: heads[0].q,
      wk: heads[0].k,
      wv: heads[0].v,
    };
    return (found[name] ?? []).map((row) => [...row]);
  }

  /** @param {Flat} patch @param {boolean | string} undo */
  change(patch, undo) {
    this.context.state.set(patch, { undo });
    this.now = read(this.context.state.get());
    this.update();
  }

  /** New words: what somebody has moved stays where it was put. @param {"words" | "other"} name @param {string} text */
  rewrite(name, text) {
    const [vectors, old, was] =
      name === "words" ? ["x", this.now.words, this.now.x] : ["z", this.now.others, this.now.z];
    const fresh = split(text);
    const [kept, homes] = [[...old], places(old)];
    const numbers = places(fresh).map((place, i) => {
      const at = kept[i] === fresh[i] ? i : kept.indexOf(fresh[i]);
      if (at < 0 || write([was[at]]) === write([homes[at]])) return place;
      kept[at] = "\0";
      return was[at];
    });
    const same = write(numbers) === write(places(fresh));
    /** @type {Flat} */
    const rest = name === "words" ? { v: "", hide: "", order: "" } : {};
    this.change({ [name]: fresh.join(" "), [vectors]: same ? "" : write(numbers), ...rest, row: 0, column: 0 }, name);
    this.long = text.trim().split(/\s+/).length > fresh.length;
    this._note();
  }

  shuffle() {
    const { words, x, v, row, column } = this.now;
    const twin = this.step.id === "order";
    const order = words.map((_, i) => i);
    const before = twin ? this.now.order.join() : order.join();
    do mix(order);
    while (order.length > 2 && (order.join() === before || order.every((from, i) => from === i)));
    if (order.length === 2 && order.join() === before) order.reverse();
    this.shuffled = true;
    if (twin) return this.change({ order: order.join(",") }, true);
    const touched = String(this.context.state.get().v ?? "") !== "";
    this.change(
      {
        words: order.map((i) => words[i]).join(" "),
        x: write(order.map((i) => x[i])),
        v: touched ? write(order.map((i) => v[i])) : "",
        row: order.indexOf(row),
        column: order.indexOf(column),
      },
      true,
    );
  }

  reset() {
    const keys = Object.keys(this.context.state.get()).filter((key) => key !== "step");
    this.long = false;
    this.change(Object.fromEntries(keys.map((key) => [key, ""])), true);
  }

  /** @param {string} id */
  walk(id) {
    this.context.state.set({ step: id, row: "", column: "" }, { undo: true });
    this.restore(this.context.state.get());
    this.parts.title.focus({ preventScroll: true });
    scrollTo({ top: 0 });
  }

  /** The button behind the last step leads on to a trained model; the arrow key does not leave. @param {number} by @param {boolean} [key] */
  hop(by, key = false) {
    const to = STEPS[STEPS.indexOf(this.step) + by];
    if (to) this.walk(to.id);
    else if (by > 0 && !key) this.context.go("translate");
  }

  update() {
    const { now, step, parts } = this;
    const key = JSON.stringify([step.id, now.words, step.id === "cross" && now.others]);
    if (key !== this.built || !this.shown) {
      this.built = key;
      this.shown?.stop?.();
      this.shown = stage(step.id, now, this.hands);
      replace(parts.floor, this.shown.element);
    }
    this.shown.update(now);
    const named = `${step.id} ${step.id === "words" ? now.words[now.row] : ""}`;
    if (parts.formula.dataset.named !== named) replace(parts.formula, equation(step.id, now.words[now.row]));
    parts.formula.dataset.named = named;
    parts.worked.textContent = worked(step.id, now);
    if (document.activeElement !== parts.sentence) parts.sentence.value = now.words.join(" ");
    if (document.activeElement !== parts.other) parts.other.value = now.others.join(" ");
    this._note();
    this._tried();
    this._caption();
  }

  _caption() {
    const { now, step } = this;
    const asked = step.id === "cross" ? ` Asked by: ${now.others.join(" ")}.` : "";
    const read = step.own ? "" : ` Sentence: ${now.words.join(" ")}.${asked}`;
    this.context.caption(`Attention built up, step ${STEPS.indexOf(step) + 1}: ${step.title}.${read}`);
  }

  /** What must be known of the words: that some were left out, or that chance has placed them. */
  _note() {
    const { now, step, parts } = this;
    const shown = step.id === "cross" ? [...now.words, ...now.others] : now.words;
    const vectors = [...now.x, ...now.z];
    const lost = [...new Set(shown.filter((word, i) => word !== "…" && strange(word, vectors[i])))];
    const text = [
      this.long && `The first ${now.words.length} words are used: the matrices should stay readable.`,
      lost.length && `${lost.map((word) => `“${word}”`).join(", ")}: placed by chance, drag me.`,
    ]
      .filter(Boolean)
      .join(" ");
    if (parts.note.textContent !== text) parts.note.textContent = text;
    parts.note.hidden = !text;
  }

  _tried() {
    const { began, now, shuffled, step, parts } = this;
    const progress = { began, now, shuffled };
    if (!this.solved.has(step.id) && step.done(progress)) {
      this.solved.add(step.id);
      remember(this.solved);
    }
    const is = this.solved.has(step.id);
    const asks = step.asks(progress);
    STEPS.forEach(({ id }, i) => parts.links[i].classList.toggle("seen", this.solved.has(id)));
    if (parts.trying.dataset.text === `${is} ${asks}`) return;
    parts.trying.dataset.text = `${is} ${asks}`;
    parts.trying.classList.toggle("seen", is);
    replace(
      parts.trying,
      h("strong", null, "Try"),
      h("p", null, asks),
      is && h("strong", { class: "solved" }, "Solved"),
      h("p", { role: "status" }, is ? step.shows : ""),
    );
  }

  /** @param {Flat} state */
  restore(state) {
    this.now = read(state);
    const was = this.step;
    this.step = STEPS.find((each) => each.id === state.step) ?? STEPS[0];
    if (was !== this.step || !this.shown) this._enter();
    this.update();
  }

  _enter() {
    const { step, parts } = this;
    const at = STEPS.indexOf(step);
    this.began = this.now;
    this.shuffled = false;
    parts.links.forEach((link, i) => {
      const button = link.firstElementChild;
      if (button) set(button, { "aria-current": i === at ? "step" : null });
    });
    parts.links[at].scrollIntoView({ block: "nearest", inline: "center" });
    parts.count.textContent = `Step ${at + 1} of ${STEPS.length}`;
    parts.title.textContent = step.title;
    parts.says.textContent = step.says;
    replace(parts.roles, roles(step));
    parts.roles.hidden = !step.roles;
    parts.back.toggleAttribute("disabled", at === 0);
    parts.next.textContent = at === STEPS.length - 1 ? "To a trained model →" : "Next →";
    parts.sentences.hidden = !!step.own;
    parts.otherLine.hidden = step.id !== "cross";
    parts.code.hidden = !step.code;
    if (step.code) void showCode(parts.code, step.code);
  }

  register() {
    this.context.register({
      figures: () => {
        const tables = this.shown?.tables(this.now) ?? [];
        return [
          {
            title: this.step.title,
            svg: () => picture([this.parts.formula, this.parts.floor]),
            table: () => listed(tables),
            json: () => ({ step: this.step.id, words: this.now.words, matrices: matrices(tables) }),
          },
        ];
      },
      shortcuts: [
        { key: "ArrowRight", does: "Next step", run: () => this.hop(1, true) },
        { key: "ArrowLeft", does: "Step before", run: () => this.hop(-1, true) },
        { key: "s", does: "Shuffle the words", run: () => this.shuffle() },
        { key: "r", does: "The numbers of the lecture again", run: () => this.reset() },
        { key: "Tab", does: "To the next arrow or number; then arrow keys change it, with Shift in larger steps" },
      ],
    });
  }
}

/** Fisher and Yates, in place. @param {number[]} order */
function mix(order) {
  for (let i = order.length - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1));
    [order[i], order[j]] = [order[j], order[i]];
  }
}
