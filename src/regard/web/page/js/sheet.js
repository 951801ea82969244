/** A dialog over the page: a title, a way out, and what it is about. */

import { h } from "./dom.js";

/** @typedef {import("./dom.js").Child} Child */

/** @param {string} title @param {...(Child | Child[])} children @returns {HTMLDialogElement} */
export function openSheet(title, ...children) {
  const id = `${title.toLowerCase()}-title`;
  const dialog = h(
    "dialog",
    { class: "sheet", "aria-labelledby": id },
    h(
      "header",
      null,
      h("h2", { id }, title),
      h("button", { class: "icon", "aria-label": "Close", onclick: () => dialog.close() }, "×"),
    ),
    ...children,
  );
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  dialog.addEventListener("close", () => {
    const status = dialog.querySelector(".status");
    if (status) document.body.append(status);
    dialog.remove();
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** Put notes where they can be seen: what lies outside of an open dialog is behind its veil. @param {HTMLElement} status */
export function bringForward(status) {
  const host = document.querySelector("dialog[open]") ?? document.body;
  if (status.parentElement !== host) host.append(status);
}
