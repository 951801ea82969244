/** The first visit to Build up: a line under the header that points at one thing after another, and covers nothing. */

import { h, replace } from "./dom.js";

const KEY = "regard.guided";
/** A finger has no arrow keys. */
const touch = () => matchMedia("(hover: none), (max-width: 600px)").matches;

/** @type {{at: string, say: string, touched?: string}[]} */
const STEPS = [
  {
    at: ".steps",
    say: "Small steps, one idea each. The arrow keys ← → walk through them.",
    touched: "Small steps, one idea each. The buttons below, Back and Next, walk through them.",
  },
  { at: ".plane", say: "Everything here is alive: drag an arrow, change a number, write your own sentence." },
  {
    at: "#tools",
    say: "Ctrl-Z takes anything back, the link button shares exactly what you see, and ? lists the keys.",
    touched: "The bent arrows take anything back and bring it again; the link button shares exactly what you see.",
  },
];

/** @param {HTMLElement} host @param {boolean} here is what it points at on the page? @param {boolean} [again] also who has seen it */
export function guide(host, here, again = false) {
  if (here && (again || !seen())) show(host, 0);
  else host.hidden = true;
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
    h("p", { "aria-live": "polite" }, (touch() && step.touched) || step.say),
    h(
      "span",
      { class: "guide-count", "aria-label": `step ${at + 1} of ${STEPS.length}` },
      `${at + 1} / ${STEPS.length}`,
    ),
    h("button", { class: "button", onclick: () => show(host, at + 1) }, at + 1 < STEPS.length ? "Next" : "Done"),
    at + 1 < STEPS.length &&
      h("button", { class: "icon", "aria-label": "Close the guide", onclick: () => show(host, STEPS.length) }, "×"),
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
