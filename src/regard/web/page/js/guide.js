/** The first visit: a line under the header that points at one thing after another, and covers nothing. */

import { h, replace } from "./dom.js";

const KEY = "regard.guided";
const STEPS = [
  { at: "#rooms", say: "Welcome. Attention, from the first number to a trained model, in a few rooms. Begin with Build up." },
  { at: ".steps", say: "Ten small steps, one idea each. The arrow keys ← → walk through them." },
  { at: ".plane", say: "Everything here is alive: drag an arrow, change a number, write your own sentence." },
  { at: "#tools", say: "Ctrl-Z takes anything back, the link button shares exactly what you see, and ? lists the keys." },
];

/** @param {HTMLElement} host */
export function guide(host) {
  document.addEventListener("guide", () => show(host, 0));
  if (!seen()) show(host, 0);
}

/** @param {HTMLElement} host @param {number} at */
function show(host, at) {
  point(null);
  const step = STEPS[at];
  if (!step) {
    host.hidden = true;
    remember();
    return;
  }
  host.hidden = false;
  point(document.querySelector(step.at));
  replace(
    host,
    h("p", { "aria-live": "polite" }, step.say),
    h("span", { class: "guide-count", "aria-label": `step ${at + 1} of ${STEPS.length}` }, `${at + 1} / ${STEPS.length}`),
    h("button", { class: "button", onclick: () => show(host, at + 1) }, at + 1 < STEPS.length ? "Next" : "Done"),
    at + 1 < STEPS.length && h("button", { class: "icon", "aria-label": "Close the guide", onclick: () => show(host, STEPS.length) }, "✕"),
  );
}

/** @param {Element | null} target */
function point(target) {
  for (const each of document.querySelectorAll(".pointed")) each.classList.remove("pointed");
  target?.classList.add("pointed");
}

function seen() {
  try {
    return localStorage.getItem(KEY) !== null;
  } catch {
    return true;
  }
}

function remember() {
  try {
    localStorage.setItem(KEY, "yes");
  } catch {
    // It will be shown again.
  }
}
