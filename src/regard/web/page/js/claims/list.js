/** The list of claims: searched, filtered by lecture and verdict; verdicts stay hidden until they were guessed. */

import { h, replace } from "../dom.js";
import { format } from "../state.js";
import { forget, guesses } from "./memory.js";

/** @typedef {import("../state.js").Flat} Flat */
/** @typedef {import("./detail.js").Claim} Claim */
/** @typedef {{number: string, short: string}} Deck */

export const VERDICTS = ["supported", "not at this scale", "refuted"];
const PENDING = "not run yet";

/** The claims that a state asks for. @param {Claim[]} claims @param {Flat} state */
export function chosen(claims, state) {
  const words = String(state["q"] ?? "")
    .toLowerCase()
    .split(/\s+/)
    .filter(Boolean);
  const [deck, verdict] = [String(state["deck"] ?? ""), String(state["verdict"] ?? "")];
  return claims.filter((claim) => {
    const text = `${claim.name} ${claim.sentence} ${claim.experiment} ${claim.measures} ${claim.deck}`.toLowerCase();
    return (
      words.every((word) => text.includes(word)) &&
      (!deck || claim.decks.includes(deck)) &&
      (!verdict || (claim.verdict ?? PENDING) === verdict)
    );
  });
}

/** @param {Claim[]} claims @param {Deck[]} decks @param {{get: () => Flat, set: (patch: Flat, undo: boolean | string) => void}} state */
export function create(claims, decks, state) {
  const search = h("input", {
    type: "search",
    class: "claims-search",
    placeholder: "Search claims",
    "aria-label": "Search claims",
    oninput: () => state.set({ q: search.value }, "search"),
  });
  const deck = select(
    "lecture",
    [["", "all lectures"], ...decks.map(({ number, short }) => [number, short])],
    (value) => state.set({ deck: value }, true),
  );
  const verdict = select(
    "verdict",
    [["", "any verdict"], ...[...VERDICTS, PENDING].map((each) => [each, each])],
    (value) => state.set({ verdict: value }, true),
  );
  const all = h("input", { type: "checkbox", onchange: () => state.set({ verdicts: all.checked ? 1 : "" }, true) });
  const count = h("p", { class: "quiet", role: "status" });
  const items = h("ol", { class: "claims-items" });
  const root = h(
    "nav",
    { class: "claims-list", "aria-label": "Claims" },
    search,
    h("div", { class: "claims-filters" }, deck.label, verdict.label),
    h("label", { class: "check" }, all, "show all verdicts"),
    count,
    items,
  );

  function update() {
    const now = state.get();
    const found = chosen(claims, now);
    const kept = guesses();
    if (document.activeElement !== search) search.value = String(now["q"] ?? "");
    deck.field.value = String(now["deck"] ?? "");
    verdict.field.value = String(now["verdict"] ?? "");
    const shown = now["verdicts"] === "1" || now["verdicts"] === 1 || verdict.field.value !== "";
    all.checked = shown;
    replace(
      count,
      counted(found.length, claims, () => (forget(), update())),
    );
    replace(
      items,
      found.map((claim) => item(claim, now, kept[claim.name], shown)),
    );
    const current = items.querySelector("[aria-current]");
    // Only the list moves, never the page.
    if (current instanceof HTMLElement) items.scrollTop = current.offsetTop - items.offsetTop - items.clientHeight / 3;
  }
  return { root, update };
}

/** @param {Claim} claim @param {Flat} now @param {import("./memory.js").Guess | undefined} guess @param {boolean} shown */
function item(claim, now, guess, shown) {
  const known = shown || guess?.seen;
  const state = { ...now, name: claim.name, show: guess?.seen ? 1 : "" };
  const current = now["name"] === claim.name;
  return h(
    "li",
    null,
    h(
      "a",
      { href: format({ room: "claims", state }), ...(current ? { "aria-current": "page" } : {}) },
      h("b", null, named(claim.name)),
      known || !claim.verdict ? badge(claim.verdict) : h("span", { class: "badge unknown" }, "guess"),
      guess?.seen &&
        guess.verdict &&
        claim.verdict &&
        h("span", { class: "quiet" }, guess.verdict === claim.verdict ? "you were right" : `you said ${guess.verdict}`),
      h("span", { class: "claims-sentence" }, claim.sentence),
    ),
  );
}

/** @param {number} count @param {Claim[]} claims @param {() => void} clear @returns {(Node | string)[]} */
function counted(count, claims, clear) {
  const told = Object.entries(guesses()).flatMap(([name, guess]) => {
    const claim = claims.find((each) => each.name === name);
    return guess.seen && guess.verdict && claim?.verdict ? [guess.verdict === claim.verdict] : [];
  });
  const said = count === 1 ? "1 claim" : `${count} claims`;
  if (!told.length) return [said];
  return [
    `${said}. You guessed ${told.length}, ${told.filter(Boolean).length} right. `,
    h("button", { type: "button", class: "link", onclick: clear }, "Forget my guesses"),
  ];
}

/** @param {string | null} verdict */
export function badge(verdict) {
  return h("span", { class: `badge ${(verdict ?? PENDING).replaceAll(" ", "-")}` }, verdict ?? PENDING);
}

/** @param {string} name */
export const named = (name) => name.replaceAll("_", " ");

/** @param {string} title @param {string[][]} options @param {(value: string) => void} change */
function select(title, options, change) {
  const field = h(
    "select",
    { "aria-label": title, onchange: () => change(field.value) },
    options.map(([value = "", label = ""]) => h("option", { value }, label)),
  );
  return { field, label: field };
}
