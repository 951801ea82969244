/** What is pressed: a key of the room, one of the frame, or `g` and a letter for a room. */

/** @typedef {import("./app.js").Shortcut} Shortcut */
/**
 * @typedef {object} Keys
 * @property {Shortcut[]} everywhere
 * @property {() => Shortcut[]} here
 * @property {() => void} undo
 * @property {() => void} redo
 */

const PATIENCE = 1500; // milliseconds in which a letter belongs to the `g` before it
const FIELD = "input:not([type=range],[type=checkbox],[type=radio]), textarea, select";

/** @param {Keys} keys */
export function keyboard(keys) {
  let before = -Infinity; // when `g` was pressed

  /** @param {KeyboardEvent} event */
  function pressed(event) {
    const target = event.target instanceof Element ? event.target : null;
    const field = target?.closest(FIELD);
    if (event.defaultPrevented || event.altKey || document.querySelector("dialog[open]")) return;
    if (event.ctrlKey || event.metaKey) return command(event, field);
    if (field) return;
    if (event.key.startsWith("Arrow") && target?.matches("input[type=range], input[type=radio]")) return; // they move by these
    const went = performance.now() - before < PATIENCE;
    before = -Infinity;
    const all = [...keys.here(), ...keys.everywhere];
    const found = went ? find(all, `g ${event.key}`) : find(all, event.key);
    if (!found && event.key === "g") before = performance.now();
    if (!found?.run) return;
    event.preventDefault();
    found.run(event);
  }

  /** @param {KeyboardEvent} event @param {Element | null | undefined} field */
  function command(event, field) {
    const name = event.key.toLowerCase();
    if (name === "k") {
      event.preventDefault();
      keys.everywhere.find(({ key }) => key === "Ctrl+K")?.run?.(event);
    }
    // Text being written has its own undo; a number cell has ours.
    if ((name !== "z" && name !== "y") || (field && !field.matches("[data-undo]"))) return;
    event.preventDefault();
    if (name === "y" || event.shiftKey) keys.redo();
    else keys.undo();
  }

  addEventListener("keydown", pressed);
}

/** A shortcut by its key: as it is, or by the small letter. @param {Shortcut[]} all @param {string} key */
function find(all, key) {
  const exact = all.find((each) => each.run && each.key === key);
  return exact ?? (key === "F" ? undefined : all.find((each) => each.run && each.key === key.toLowerCase()));
}
