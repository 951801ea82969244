/** What is seen, to be passed on: as a link, in a page of one's own, or as the code that makes it. */

import { STATIC } from "./api.js";
import { h } from "./dom.js";
import { openSheet } from "./sheet.js";

/** @typedef {{code: import("./app.js").Code, toast: (message: string, kind?: "note" | "error") => void}} Setting */

/** @param {Setting} setting */
export function openShare({ code, toast }) {
  const here = location.href;
  const embedded = new URL(here);
  embedded.searchParams.set("embed", "1");
  const frame = `<iframe src="${embedded.href}" title="${document.title}" width="960" height="640" loading="lazy"></iframe>`;
  /** @param {string} title @param {string} says @param {string | undefined} text */
  const row = (title, says, text) =>
    text &&
    h(
      "section",
      { class: "share-row" },
      h("h3", null, title, h("span", { class: "quiet" }, ` ${says}`)),
      h("pre", { tabindex: 0 }, text),
      h(
        "button",
        { type: "button", class: "button", onclick: () => void copy(text, toast) },
        `Copy ${title.toLowerCase()}`,
      ),
    );
  openSheet(
    "Share",
    row("Link", "opens exactly this", here),
    STATIC && row("Embed", "only the room, in a page of yours", frame),
    row("Python", "the same in a notebook", code.python),
    row("Command", "the same in a terminal", code.command),
    !STATIC &&
      h(
        "p",
        { class: "quiet" },
        "This server lets no other page embed it. A site written by ",
        h("code", null, "regard explore --static FOLDER"),
        " can be embedded anywhere.",
      ),
  );
}

/** @param {string} text @param {Setting["toast"]} toast @param {string} [done] */
export async function copy(text, toast, done = "Copied.") {
  try {
    await navigator.clipboard.writeText(text);
    toast(done);
  } catch {
    toast("The browser keeps its clipboard closed; select the text and copy it.", "error");
  }
}
