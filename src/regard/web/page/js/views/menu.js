/** A menu beside what it is about: arrow keys walk, Escape and a click elsewhere leave. */

import { h } from "../dom.js";

/** A heading where there is nothing to run. @typedef {{label: string, run?: () => void, checked?: boolean}} Action */

let leave = () => {};

/** @param {HTMLElement} anchor @param {string} title @param {Action[]} actions */
export function openMenu(anchor, title, actions) {
  leave();
  const outside = (/** @type {Event} */ event) => {
    if (!menu.contains(/** @type {Node} */ (event.target))) leave();
  };
  leave = () => {
    removeEventListener("pointerdown", outside, true);
    menu.remove();
    leave = () => {};
  };
  const menu = h(
    "div",
    { class: "menu", role: "menu", "aria-label": title, onkeydown: walk },
    h("p", { class: "quiet" }, title),
    actions.map((action) => item(action)),
  );
  document.body.append(menu);
  const box = anchor.getBoundingClientRect();
  menu.style.setProperty("left", `${Math.max(8, Math.min(box.left, innerWidth - menu.offsetWidth - 8))}px`);
  menu.style.setProperty("top", `${Math.max(8, Math.min(box.bottom + 4, innerHeight - menu.offsetHeight - 8))}px`);
  menu.querySelector("button")?.focus();
  addEventListener("pointerdown", outside, true);

  /** @param {KeyboardEvent} event */
  function walk(event) {
    const items = [...menu.querySelectorAll("button")];
    const at = items.findIndex((each) => each === document.activeElement);
    if (event.key === "ArrowDown") items[(at + 1) % items.length]?.focus();
    else if (event.key === "ArrowUp") items[(at + items.length - 1) % items.length]?.focus();
    else if (event.key === "Escape") {
      leave();
      anchor.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

/** Close what is open. */
export const closeMenu = () => leave();

/** @param {Action} action */
function item({ label, run, checked }) {
  if (!run) return h("p", { class: "quiet", role: "presentation" }, label);
  const chosen = () => {
    leave();
    run();
  };
  const role = checked === undefined ? "menuitem" : "menuitemradio";
  return h(
    "button",
    { type: "button", role, "aria-checked": checked === undefined ? null : String(checked), onclick: chosen },
    label,
  );
}
