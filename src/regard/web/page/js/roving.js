/** Many buttons, one Tab stop: inside, the arrow keys walk. */

/** @param {string} key @param {number} wide @returns {number | undefined} */
const stepped = (key, wide) =>
  /** @type {Record<string, number>} */ ({ ArrowLeft: -1, ArrowUp: -wide, ArrowRight: 1, ArrowDown: wide })[key];

/**
 * Make one Tab stop of all buttons of a group. Where its buttons are drawn anew, the function that is returned has to
 * be called again; Tab then comes to the one that is pressed, or to the first.
 * @param {HTMLElement} group
 * @param {() => number} [wide] how many stand in a row, where there are several
 * @returns {() => void}
 */
export function roving(group, wide = () => 1) {
  const buttons = () => [...group.querySelectorAll("button")];
  /** @param {Element | null | undefined} chosen */
  const stopAt = (chosen) => buttons().forEach((each) => (each.tabIndex = each === chosen ? 0 : -1));
  const rest = () => {
    const all = buttons();
    const now = all.find((each) => each === document.activeElement);
    stopAt(now ?? all.find((each) => each.getAttribute("aria-pressed") === "true") ?? all[0]);
  };
  group.addEventListener("focusin", (event) => {
    if (event.target instanceof HTMLButtonElement) stopAt(event.target);
  });
  group.addEventListener("keydown", (event) => {
    const all = buttons();
    const here = all.findIndex((each) => each === event.target);
    const step = stepped(event.key, wide());
    const next = { Home: 0, End: all.length - 1 }[event.key] ?? (step && (here + step + all.length) % all.length);
    if (here < 0 || next === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    all[next]?.focus();
  });
  rest();
  return rest;
}
