/** Build up: attention from the first number on, in ten steps. Everything can be changed, and everything follows. */

import { showCode } from "../build/code.js";
import { equation } from "../build/equation.js";
import { drawing, listed } from "../build/figure.js";
import { STEPS } from "../build/lesson.js";
import { places, read, round, split, write, writeVisible } from "../build/numbers.js";
import { stage } from "../build/stage.js";
import { worked } from "../build/worked.js";
import { h, replace, set } from "../dom.js";

/** @typedef {import("../app.js").Context} Context */
/** @typedef {import("../app.js").Mounted} Mounted */
/** @typedef {import("../state.js").Flat} Flat */
/** @typedef {import("../build/numbers.js").Numbers} Numbers */
/** @typedef {import("../build/lesson.js").Step} Step */

export const room = { id: "build", title: "Build up", key: "1", mount };

/** @param {HTMLElement} host @param {Context} context @returns {Mounted} */
function mount(host, context) {
  let now = read(context.state.get());
  let began = now;
  let shuffled = false;
  /** @type {Step} */
  let step = STEPS[0];
  /** @type {import("../build/stage.js").Stage | null} */
  let shown = null;
  /** Steps whose thing to try has been done. @type {Set<string>} */
  const seen = new Set();

  const links = STEPS.map((each, i) =>
    h("li", null, h("button", { onclick: () => walk(each.id) }, h("span", { class: "dot" }, i + 1), h("span", { class: "step-name" }, each.name))),
  );
  const title = h("h1", { tabindex: -1 });
  const count = h("p", { class: "count" });
  const says = h("p", { class: "says" });
  const formula = h("div", { class: "formula" });
  const numbers = h("p", { class: "worked", "aria-live": "off" });
  const trying = h("div", { class: "trying" });
  const code = h("div", { class: "code" });
  const back = h("button", { class: "button", onclick: () => hop(-1) }, "← Back");
  const next = h("button", { class: "button primary", onclick: () => hop(1) }, "Next →");
  const sentence = h("input", { class: "sentence", "aria-label": "The sentence", maxlength: 80, spellcheck: "false", autocomplete: "off", oninput: () => rewrite("words", sentence.value) });
  const other = h("input", { class: "sentence", "aria-label": "The sentence that asks", maxlength: 80, spellcheck: "false", autocomplete: "off", oninput: () => rewrite("other", other.value) });
  const otherLine = h("label", { class: "sentence-line" }, h("span", null, "asks"), other);
  const note = h("p", { class: "quiet", hidden: true });
  const floor = h("div", { class: "floor" });
  replace(
    host,
    h("nav", { class: "steps", "aria-label": "Steps" }, h("ol", null, links)),
    h(
      "div",
      { class: "lesson" },
      h("section", { class: "words", "aria-label": "Explanation" }, count, title, says, h("div", { class: "card" }, formula, numbers), trying, h("div", { class: "walk" }, back, next)),
      h(
        "section",
        { class: "stage", "aria-label": "Live numbers" },
        h("div", { class: "sentences" }, otherLine, h("div", { class: "sentence-line" }, h("label", null, h("span", null, "reads"), sentence), h("button", { class: "button", onclick: shuffle, title: "Change the order of the words (s)" }, "Shuffle"), h("button", { class: "button", onclick: reset, title: "The numbers of the lecture again" }, "Reset"))),
        note,
        floor,
        code,
      ),
    ),
  );

  /** @type {import("../build/stage.js").Hands} */
  const hands = {
    cell(name, i, j, value) {
      const all = name === "q" || name === "w" ? [[...now[name]]] : rows(name);
      all[i][j] = value;
      // The word in hand is the one that is explained.
      change({ [name]: write(all), ...(name === "x" || name === "z" || name === "v" ? { row: i } : {}) }, `${name}${i}${j}`);
    },
    vector(name, i, to) {
      const all = name === "q" ? [[...now.q]] : rows(name);
      all[i] = to;
      change({ [name]: write(all), ...(name === "q" ? {} : { row: i }) }, `${name}${i}`);
    },
    pick(row, column) {
      change({ row, ...(column === undefined ? {} : { column }) }, false);
    },
    width: (d) => change({ d }, "d"),
    turn: (degrees) => change({ turn: degrees }, "turn"),
    hide(i, j) {
      const visible = now.visible.map((each) => [...each]);
      visible[i][j] = !visible[i][j];
      change({ hide: writeVisible(visible), row: i, column: j }, true);
    },
    mask: (what) => change({ hide: what }, true),
  };

  /** Rows of a matrix by the name it has in the link. @param {string} name */
  function rows(name) {
    const of = /** @type {"q" | "k" | "v"} */ (name[1]);
    /** @type {number[][]} */
    const found = name === "x" ? now.x : name === "v" ? now.v : name === "z" ? now.z : name === "wo" ? now.out : now.heads[0][of];
    return found.map((each) => [...each]);
  }

  /** @param {Flat} patch @param {boolean | string} undo */
  function change(patch, undo) {
    context.state.set(patch, { undo });
    now = read(context.state.get());
    update();
  }

  /** New words: those that stay keep their numbers. @param {"words" | "other"} name @param {string} text */
  function rewrite(name, text) {
    const [vectors, old, was] = name === "words" ? ["x", now.words, now.x] : ["z", now.others, now.z];
    const fresh = split(text);
    const kept = [...old];
    const numbers = places(fresh).map((place, i) => {
      const at = kept[i] === fresh[i] ? i : kept.indexOf(fresh[i]);
      if (at < 0) return place;
      kept[at] = "\0";
      return was[at];
    });
    const same = write(numbers) === write(places(fresh));
    change({ [name]: fresh.join(" "), [vectors]: same ? "" : write(numbers), ...(name === "words" ? { v: "", hide: "" } : {}), row: 0, column: 0 }, name);
    note.hidden = text.trim().split(/\s+/).length <= fresh.length;
    note.textContent = `The first ${fresh.length} words are used: the matrices should stay readable.`;
  }

  function shuffle() {
    const order = now.words.map((_, i) => i);
    for (let i = order.length - 1; i > 0; i--) {
      const j = Math.floor(Math.random() * (i + 1));
      [order[i], order[j]] = [order[j], order[i]];
    }
    if (order.every((from, i) => from === i)) order.reverse();
    shuffled = true;
    const touched = String(context.state.get().v ?? "") !== "";
    change({ words: order.map((i) => now.words[i]).join(" "), x: write(order.map((i) => now.x[i])), v: touched ? write(order.map((i) => now.v[i])) : "", row: order.indexOf(now.row), column: order.indexOf(now.column) }, true);
  }

  function reset() {
    const state = context.state.get();
    change(Object.fromEntries(Object.keys(state).filter((key) => key !== "step").map((key) => [key, ""])), true);
  }

  /** @param {string} id */
  function walk(id) {
    context.state.set({ step: id, row: "", column: "" }, { undo: true });
    restore(context.state.get());
    title.focus({ preventScroll: true });
    scrollTo({ top: 0 });
  }

  /** @param {number} by */
  function hop(by) {
    const to = STEPS[STEPS.indexOf(step) + by];
    if (to) walk(to.id);
    else if (by > 0) context.go("translate");
  }

  /** Whether the stage must be built anew: other words, or another step. */
  let built = "";

  function update() {
    const key = JSON.stringify([step.id, now.words, step.id === "cross" && now.others]);
    if (key !== built || !shown) {
      built = key;
      shown = stage(step.id, now, hands);
      replace(floor, shown.element);
    }
    shown.update(now);
    const named = `${step.id} ${step.id === "words" ? now.words[now.row] : ""}`;
    if (formula.dataset.named !== named) replace(formula, equation(step.id, now.words[now.row]));
    formula.dataset.named = named;
    numbers.textContent = worked(step.id, now);
    if (document.activeElement !== sentence) sentence.value = now.words.join(" ");
    if (document.activeElement !== other) other.value = now.others.join(" ");
    tried();
    context.caption(`Attention built up, step ${STEPS.indexOf(step) + 1}: ${step.title}. Sentence: ${now.words.join(" ")}.${step.id === "cross" ? ` Asked by: ${now.others.join(" ")}.` : ""}`);
  }

  function tried() {
    const progress = { began, now, shuffled };
    const done = step.done(progress);
    if (done) seen.add(step.id);
    const is = seen.has(step.id);
    links[STEPS.indexOf(step)].classList.toggle("seen", is);
    const text = is ? step.shows : step.asks(progress);
    if (trying.dataset.text === text) return;
    trying.dataset.text = text;
    trying.classList.toggle("seen", is);
    replace(trying, h("strong", null, is ? "Seen" : "Try"), h("p", { role: "status" }, text));
  }

  /** @param {Flat} state */
  function restore(state) {
    now = read(state);
    const was = step;
    step = STEPS.find((each) => each.id === state.step) ?? STEPS[0];
    if (was !== step || !shown) enter();
    update();
  }

  function enter() {
    const at = STEPS.indexOf(step);
    began = now;
    shuffled = false;
    links.forEach((link, i) => {
      const button = link.firstElementChild;
      if (button) set(button, { "aria-current": i === at ? "step" : null });
    });
    links[at].scrollIntoView({ block: "nearest", inline: "center" });
    count.textContent = `Step ${at + 1} of ${STEPS.length}`;
    title.textContent = step.title;
    says.textContent = step.says;
    back.toggleAttribute("disabled", at === 0);
    next.textContent = at === STEPS.length - 1 ? "To a trained model →" : "Next →";
    otherLine.hidden = step.id !== "cross";
    code.hidden = !step.code;
    if (step.code) void showCode(code, step.code);
  }

  const redraw = () => update();
  document.addEventListener("themechange", redraw);
  context.register({
    figures: () => {
      const tables = shown?.tables(now) ?? [];
      return [{ title: step.title, svg: () => drawing(tables), table: () => listed(tables), json: () => ({ step: step.id, words: now.words, matrices: tables.map(({ name, rows, columns, values }) => ({ name, rows, columns, values: values.map((row) => row.map((x) => (Number.isFinite(x) ? round6(x) : null))) })) }) }];
    },
    shortcuts: [
      { key: "ArrowRight", does: "Next step", run: () => hop(1) },
      { key: "ArrowLeft", does: "Step before", run: () => hop(-1) },
      { key: "s", does: "Shuffle the words", run: shuffle },
      { key: "r", does: "The numbers of the lecture again", run: reset },
      { key: "Tab", does: "To the next arrow or number; then arrow keys change it, with Shift in larger steps" },
    ],
  });
  restore(context.state.get());
  return { restore, unmount: () => document.removeEventListener("themechange", redraw) };
}

/** @param {number} x */
const round6 = (x) => Math.round(x * 1e6) / 1e6;
