/** A command for the terminal, and a button that copies it. */

import { h } from "../dom.js";

/** @param {string} text @param {(message: string, kind?: "note" | "error") => void} toast */
export function command(text, toast) {
  async function copy() {
    try {
      await navigator.clipboard.writeText(text);
      toast("Copied. Paste it into a terminal.");
    } catch {
      toast("The browser keeps its clipboard closed; mark the command and copy it.", "error");
    }
  }
  return h(
    "div",
    { class: "command" },
    h("code", null, text),
    h("button", { type: "button", class: "button", "aria-label": `Copy ${text}`, onclick: () => void copy() }, "Copy"),
  );
}
