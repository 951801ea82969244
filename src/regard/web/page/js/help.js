/** What can be pressed, in a dialog on `?`. */

import { h } from "./dom.js";
import { openSheet } from "./sheet.js";

/** @typedef {import("./app.js").Shortcut} Shortcut */

/** @type {Record<string, string>} */
const SIGNS = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓" };

/** @param {Shortcut[]} everywhere @param {Shortcut[]} here */
export function openHelp(everywhere, here) {
  const again = () => {
    dialog.close();
    document.dispatchEvent(new CustomEvent("guide"));
  };
  const dialog = openSheet(
    "Keys",
    h("div", { class: "sheet-columns" }, here.length > 0 && list("In this room", here), list("Everywhere", everywhere)),
    h(
      "p",
      { class: "quiet" },
      "Any state of the page is in its address: a link brings a colleague to the same picture. ",
      "Nothing you type leaves this machine.",
    ),
    h("button", { class: "button", onclick: again }, "Show the first steps again"),
  );
}

/** @param {string} title @param {Shortcut[]} shortcuts */
function list(title, shortcuts) {
  return h(
    "section",
    null,
    h("h3", null, title),
    h(
      "dl",
      { class: "keys" },
      shortcuts
        .map(({ key, does }) => [
          h(
            "dt",
            null,
            key.split(/(?<=.)\+/).map((each) => h("kbd", null, SIGNS[each] ?? each)),
          ),
          h("dd", null, does),
        ])
        .flat(),
    ),
  );
}
