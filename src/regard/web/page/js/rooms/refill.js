/** Controls that are drawn anew keep the focus of the one who uses them. */

import { replace } from "../dom.js";

/** @typedef {import("../dom.js").Child} Child */

const USED = "button, input, select, textarea, summary";

/** Put children in place of whatever is there; what had the focus is found again by its place.
 * @param {Element} host @param {...(Child | Child[])} children */
export function refill(host, ...children) {
  const place = [...host.querySelectorAll(USED)].findIndex((each) => each === document.activeElement);
  replace(host, ...children);
  const again = place < 0 ? null : [...host.querySelectorAll(USED)][place];
  if (again instanceof HTMLElement) again.focus({ preventScroll: true });
}
