/** Ctrl-K: find a room, a model or a command by typing a part of its name. */

import { about } from "./api.js";
import { h, replace } from "./dom.js";
import { OPEN } from "./navigation.js";
import { roomOf } from "./rooms/index.js";
import { openSheet } from "./sheet.js";

/** @typedef {{title: string, says: string, run: () => void}} Item */
/**
 * @typedef {object} Ways
 * @property {(room: string) => void} go
 * @property {import("./app.js").Shortcut[]} commands
 * @property {(model: Record<string, any>) => void} openModel
 */

const MOST = 12; // items at once

/** @param {Ways} ways */
export async function openPalette({ go, commands, openModel }) {
  /** @type {Item[]} */
  const items = [
    ...OPEN.map(({ id, title, says }) => ({ title, says, run: () => go(id) })),
    ...commands.map(({ does, key, run }) => ({
      title: does,
      says: key,
      run: () => run?.(new KeyboardEvent("keydown")),
    })),
  ];
  let at = 0;
  const list = h("ul", { class: "palette-list", role: "listbox", id: "palette-list", "aria-label": "Found" });
  const field = h("input", {
    class: "palette-field",
    type: "search",
    role: "combobox",
    placeholder: "Room, model or command …",
    "aria-label": "Find",
    "aria-controls": "palette-list",
    "aria-expanded": "true",
    autocomplete: "off",
    oninput: () => draw((at = 0)),
    onkeydown: (/** @type {KeyboardEvent} */ event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (event.key === "Enter") choose(found()[at]);
      else if (step) draw((at = Math.max(0, Math.min(found().length - 1, at + step))));
      else return;
      event.preventDefault();
    },
  });
  const dialog = openSheet("Find", field, list);
  dialog.classList.add("palette");
  field.focus();

  const found = () => search(items, field.value);
  /** @param {Item | undefined} item */
  function choose(item) {
    if (!item) return;
    dialog.close();
    item.run();
  }
  /** @param {number} chosen */
  function draw(chosen) {
    const some = found();
    const option = (/** @type {Item} */ item, /** @type {number} */ i) =>
      h(
        "li",
        { role: "option", id: `palette-${i}`, "aria-selected": String(i === chosen), onclick: () => choose(item) },
        h("b", null, item.title),
        h("span", { class: "quiet" }, item.says),
      );
    field.setAttribute("aria-activedescendant", some.length ? `palette-${chosen}` : "");
    replace(list, some.length ? some.map(option) : h("li", { class: "quiet" }, "Nothing is called that."));
    list.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }
  draw(0);
  try {
    const { models } = await about();
    for (const model of models) {
      const says = [roomOf(model["task"])?.title, model["name"]].filter(Boolean).join(" · ");
      items.push({ title: String(model["title"]), says, run: () => openModel(model) });
    }
    draw(at);
  } catch {
    // Without a server there are no models to find.
  }
}

/** Items that have every word that was typed; those whose title begins so first. @param {Item[]} items @param {string} typed */
function search(items, typed) {
  const parts = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const first = parts[0] ?? "";
  const begins = (/** @type {Item} */ item) => Number(!item.title.toLowerCase().startsWith(first));
  return items
    .filter((item) => parts.every((part) => `${item.title} ${item.says}`.toLowerCase().includes(part)))
    .sort((a, b) => begins(a) - begins(b))
    .slice(0, MOST);
}
