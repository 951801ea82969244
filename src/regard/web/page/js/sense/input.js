/** What a Perceiver is given: one of a named set by its number, a file of one's own, or a text with hidden letters. */

import * as api from "../api.js";
import { textField } from "../bench/text.js";
import { h } from "../dom.js";
import { refill } from "../rooms/refill.js";

/** @typedef {import("../bench/address.js").State} State */
/** @typedef {import("../bench/answer.js").Model} Model */
/** @typedef {import("../bench/bench.js").InputHands} Hands */

/** What belongs to one input alone. */
export const FRESH = { at: "" };
const FIRST = [7, 3, 12, 20]; // of a set, where a card has no examples
const BYTES = 20 * 2 ** 20;
const SOUNDS = ["sound:7", "sound:3", "sound:9"]; // of those that come with the page

/** What a chip says. @param {string} example */
export const called = (example) => example.replace(/^sound:/, "synthetic voice ");

/** Let a sound that comes with the page be heard. @param {string} number */
const play = (number) => void new Audio(api.address(`sounds/${number}.wav`)).play();

/** The text, or the set and the number. @param {State} state */
export const textOf = ({ input }) => (input.startsWith("f:") ? "" : input.replace(/^t:/, "").trim());
/** The hash of a file of one's own. @param {State} state */
export const fileOf = ({ input }) => (input.startsWith("f:") ? input.slice(2) : "");

/** What to begin with: a sound that comes with the page, what the card says, or some of the data; those that nobody can name by a number have no terms.
 * @param {Model} model @returns {string[]} */
export function examples({ examples: own = [], data, terms, hears }) {
  if (hears) return SOUNDS;
  if (own.length) return own;
  return data === "world" || terms ? FIRST.map((number) => `${data}:${number}`) : [];
}

/** @param {HTMLElement} host @param {Hands} hands @param {HTMLElement} room where files may fall */
export function input(host, { set, context }, room) {
  const control = new AbortController();
  const row = h("div", { class: "sense-steps", role: "group", "aria-label": "Another input" });
  const put = (/** @type {string} */ given, /** @type {boolean | string} */ undo = true) =>
    set({ in: given, ...FRESH }, undo);
  const field = textField(host, {
    label: "Sound, cloud, film or text",
    placeholder: "sound:7, spoken-digits:7, modelnet10:3 or world:7",
    set: (text) => put(`t:${text.trim()}`, "typing"),
  });
  const file = h("input", {
    type: "file",
    accept: ".wav,.npz,.npy,.xyz",
    class: "unseen",
    tabindex: -1,
    "aria-label": "Choose a sound or a cloud",
    onchange: () => void take(file.files?.[0]),
  });
  host.append(row, file);

  /** @param {File | null | undefined} given */
  async function take(given) {
    if (!given) return;
    try {
      if (given.size > BYTES)
        throw new Error(`${given.name} has more than 20 MB; give a shorter sound or fewer points.`);
      const { thing } = await api.send("/api/things", given);
      put(`f:${thing}`);
    } catch (error) {
      context.toast(error instanceof Error ? error.message : String(error), "error");
    }
    file.value = "";
  }

  const dropped = (/** @type {DragEvent} */ event) => {
    event.preventDefault();
    if (event.type === "drop") void take(event.dataTransfer?.files[0]);
  };
  room.addEventListener("dragover", dropped, { signal: control.signal });
  room.addEventListener("drop", dropped, { signal: control.signal });
  return {
    /** @param {State} state */
    show(state) {
      field.show(textOf(state));
      const [, name, number] = textOf(state).match(/^([a-z][a-z0-9-]*):(\d{1,9})$/) ?? [];
      const walk = (/** @type {number} */ by) => () => put(`t:${name}:${Math.max(0, Number(number) + by)}`, "walk");
      const files = state.models.every(({ task }) => task === "perceive");
      refill(
        row,
        name !== undefined && [button("‹ Before", walk(-1)), button("Next ›", walk(1))],
        name === "sound" && Number(number) < 10 && button("▶ Listen", () => play(String(Number(number)))),
        files && button("Your file …", () => file.click()),
        fileOf(state) && h("span", { class: "quiet" }, "A file of yours. It stays on this machine."),
      );
    },
    focus: field.focus,
    destroy() {
      control.abort();
      field.destroy();
    },
  };
}

/** @param {string} text @param {() => void} run */
const button = (text, run) => h("button", { type: "button", class: "button", onclick: run }, text);
