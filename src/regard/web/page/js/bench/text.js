/** A field for a text: asked after a pause or by Enter, never cut, and said when it is too long. */

import { h } from "../dom.js";

/** With `lines`, Enter begins another. @typedef {{label: string, placeholder?: string, lines?: boolean, set: (text: string) => void}} Options */

const PAUSE = 350; // milliseconds after the last letter

/** @param {HTMLElement} host @param {Options} options */
export function textField(host, { label, placeholder = "Type a sentence …", lines = false, set }) {
  let timer = 0; // 0 where nothing is written that was not asked
  let known = ""; // what was shown last
  const ask = () => {
    clearTimeout(timer);
    timer = 0;
    set(field.value);
  };
  const forget = (/** @type {string} */ text) => {
    clearTimeout(timer);
    [timer, known] = [0, text];
  };
  const field = h("textarea", {
    class: "composer",
    rows: 2,
    spellcheck: "false",
    "aria-label": label,
    placeholder,
    oninput: () => {
      clearTimeout(timer);
      timer = window.setTimeout(ask, PAUSE);
    },
    onkeydown: (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== "Enter" || event.shiftKey || lines) return;
      event.preventDefault();
      ask();
    },
  });
  host.append(field);
  return {
    field,
    /** @param {string} text @param {boolean} [anyway] also while somebody writes */
    show(text, anyway = false) {
      // What is written stays although something else changes in the pause before it is asked; another text takes its place.
      if (text !== known) forget(text);
      if (timer) return;
      if ((document.activeElement !== field || anyway) && field.value !== text) field.value = text;
    },
    focus: () => field.focus(),
    destroy() {
      clearTimeout(timer);
      field.remove();
    },
  };
}

/** Why a text is not asked, or nothing. @param {string} text @param {number | undefined} most characters */
export function tooLong(text, most) {
  if (!most || text.length <= most) return "";
  const count = (/** @type {number} */ many) => many.toLocaleString("en");
  return `The text has ${count(text.length)} characters, and at most ${count(most)} are read: shorten it. Nothing was cut.`;
}
