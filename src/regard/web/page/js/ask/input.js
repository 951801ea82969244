/** The prompt: turns of a picture and a text, the last of which asks; and the picture of the turn that is chosen. */

import { h } from "../dom.js";
import { refill } from "../rooms/refill.js";
import * as picker from "../see/picker.js";
import { truth } from "../see/truth.js";
import { called } from "../see/wishes.js";
import { PRESETS, TURNS, read, written } from "./turns.js";

/** @typedef {import("../bench/address.js").State} State */
/** @typedef {import("../bench/bench.js").InputHands} Hands */
/** @typedef {import("./turns.js").Turn} Turn */

const PAUSE = 350; // milliseconds after the last letter

/** @param {HTMLElement} host @param {Hands} hands @param {HTMLElement} room */
export function input(host, { set, context }, room) {
  const control = new AbortController();
  let active = -1; // the turn whose picture is chosen; -1 is the last
  let timer = 0;
  let drawn = ""; // the pictures of the turns that are drawn
  /** @type {Turn[]} */
  let turns = [];
  const list = h("ol", { class: "ask-turns" });
  const place = h("div", { class: "picked-picture" });
  const presets = h("div", { class: "match-sets" });
  const whose = h("p", { class: "quiet" });
  host.append(h("div", { class: "ask-input" }, h("section", { "aria-label": "Prompt" }, list, presets), h("section", { "aria-label": "Picture" }, whose, place))); // prettier-ignore
  const put = (/** @type {Turn[]} */ next, /** @type {boolean | string} */ undo = true) => {
    clearTimeout(timer);
    timer = 0;
    set({ in: written(next), at: "" }, undo);
  };
  const at = () => (active < 0 || active >= turns.length ? turns.length - 1 : active);
  const choose = picker.create(place, {
    choose: (picture) => put(turns.map((each, i) => (i === at() ? { ...each, picture } : each))),
    toast: context.toast,
  });
  choose.listen(room, control.signal);

  /** What is written, after a pause. */
  const typed = () => {
    clearTimeout(timer);
    timer = window.setTimeout(() => put(turns, "typing"), PAUSE);
  };

  /** @param {Turn} turn @param {number} i */
  function row(turn, i) {
    const last = i === turns.length - 1;
    const image = h("img", { alt: "", hidden: !turn.picture });
    if (turn.picture)
      void truth(turn.picture, "ask")
        .catch(() => null)
        .then((known) => (image.src = picker.shown(turn.picture, known?.image ?? "")));
    const field = h("input", {
      type: "text",
      value: turn.text,
      "aria-label": last ? "What is asked" : `Text of turn ${i + 1}`,
      placeholder: last ? "What colour is the star?" : "This is a dax.",
      oninput: () => ((turns = turns.map((each, k) => (k === i ? { ...each, text: field.value } : each))), typed()),
      onkeydown: (/** @type {KeyboardEvent} */ event) => event.key === "Enter" && put(turns),
      onfocus: () => activate(i),
    });
    const picture = h("button", { type: "button", class: "ask-picture", "aria-pressed": String(i === at()), "aria-label": `Picture of turn ${i + 1}: ${turn.picture ? called(turn.picture) : "none"}`, onclick: () => activate(i) }, turn.picture ? image : "no picture"); // prettier-ignore
    return h(
      "li",
      null,
      picture,
      field,
      turns.length > 1 && h("button", { type: "button", class: "icon small", "aria-label": `Take turn ${i + 1} away`, onclick: () => put(turns.filter((_, k) => k !== i)) }, "×"),
    ); // prettier-ignore
  }

  /** @param {number} i */
  function activate(i) {
    active = i === turns.length - 1 ? -1 : i;
    list.querySelectorAll(".ask-picture").forEach((each, k) => each.setAttribute("aria-pressed", String(k === at())));
    about();
  }

  function about() {
    const { picture = "" } = turns[at()] ?? {};
    const none = () => put(turns.map((each, i) => (i === at() ? { ...each, picture: "" } : each)));
    refill(whose, `Picture of turn ${at() + 1}${at() === turns.length - 1 ? ", which asks" : ""}: `, picture ? called(picture) : "none", " ", picture && h("button", { type: "button", class: "button small", onclick: none }, "Without")); // prettier-ignore
    choose.update(picture);
  }

  function draw() {
    // Where turns and pictures stay the same, so do the fields, and whoever writes in one of them goes on.
    const plan = turns.map(({ picture }) => picture).join("\n");
    const fields = [...list.querySelectorAll("input")];
    if (plan !== drawn || !fields.length) refill(list, turns.map(row));
    else fields.forEach((field, i) => field !== document.activeElement && (field.value = turns[i]?.text ?? ""));
    drawn = plan;
    const add = () => put([...turns.slice(0, -1), { picture: "world:1", text: "This is a dax." }, ...turns.slice(-1)]);
    refill(
      presets,
      turns.length < TURNS && h("button", { type: "button", class: "button small", onclick: add }, "Add a turn before"),
      PRESETS.map(({ title, turns: some }) => h("button", { type: "button", class: "chip", onclick: () => put(some) }, title)),
    ); // prettier-ignore
    about();
  }

  return {
    /** @param {State} state */
    show(state) {
      if (timer) return; // somebody writes
      turns = read(state.input);
      draw();
    },
    focus: () => [...list.querySelectorAll("input")].at(-1)?.focus(),
    destroy() {
      clearTimeout(timer);
      control.abort();
    },
  };
}
