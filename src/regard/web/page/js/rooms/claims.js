/** Claims: sentences of the lectures as experiments. Guess first, then see the number and the verdict. */

import { aborted } from "../api.js";
import { show } from "../claims/detail.js";
import * as list from "../claims/list.js";
import { h, replace } from "../dom.js";
import { format } from "../state.js";

/** @typedef {import("../app.js").Context} Context */
/** @typedef {import("../state.js").Flat} Flat */
/** @typedef {import("../claims/detail.js").Claim} Claim */

export const room = { id: "claims", title: "Claims", mount };

/** @param {HTMLElement} host @param {Context} context */
async function mount(host, context) {
  const [claims, decks] = /** @type {[Claim[], list.Deck[]]} */ (
    await Promise.all([context.api.get("/api/claims"), context.api.get("/api/lectures")])
  );
  const main = h("article", { class: "claim", "aria-label": "Claim" });
  /** @type {Map<string, Promise<Claim>>} */
  const asked = new Map();
  /** @type {{claim: Claim, shown: ReturnType<typeof show>} | null} */
  let now = null;
  let turn = 0;
  const index = list.create(claims, decks, {
    get: () => context.state.get(),
    set: (patch, undo) => (context.state.set(patch, { undo }), index.update()),
  });
  replace(host, h("div", { class: "claims" }, index.root, main));

  /** @param {string} name @returns {Promise<Claim>} */
  function full(name) {
    const known = asked.get(name) ?? context.api.get(`/api/claims/${encodeURIComponent(name)}`);
    asked.set(name, known);
    known.catch(() => asked.delete(name));
    return known;
  }

  async function refresh() {
    const state = context.state.get();
    const name = String(state["name"] ?? "");
    const mine = ++turn;
    host.toggleAttribute("data-open", Boolean(name));
    index.update();
    now?.shown.destroy();
    now = null;
    if (!name) return replace(main, opening(claims));
    try {
      const claim = await full(name);
      if (mine !== turn) return;
      const open = String(state["show"] ?? "") === "1";
      now = { claim, shown: show(main, claim, { open, reveal, back: away(state), toast: context.toast }) };
      context.caption(
        `${list.named(claim.name)}: “${claim.sentence}” ${open && claim.summary ? `${claim.verdict}: ${claim.summary} ${claim.measures}` : ""}`,
      );
    } catch (error) {
      if (mine !== turn || aborted(error)) return;
      replace(
        main,
        h("p", { class: "problem", role: "alert" }, error instanceof Error ? error.message : String(error)),
      );
    }
  }

  function reveal() {
    context.state.set({ show: 1 }, { undo: true });
    void refresh().then(() => main.querySelector(".finding")?.scrollIntoView({ block: "nearest" }));
  }

  /** The next of those that are listed. @param {number} step */
  function hop(step) {
    const state = context.state.get();
    const found = list.chosen(claims, state);
    const at = found.findIndex(({ name }) => name === state["name"]);
    const next = found[(at + step + found.length) % found.length];
    if (!next) return;
    context.state.set({ name: next.name, show: "" }, { undo: true });
    void refresh().then(() => main.querySelector("h1")?.focus());
  }

  context.register({
    figures: () => {
      if (!now?.shown.figure) return [];
      const { claim, shown } = now;
      const drawn = /** @type {NonNullable<typeof shown.figure>} */ (shown.figure);
      return [{ title: list.named(claim.name), svg: drawn.exportSvg, table: drawn.table, json: () => claim }];
    },
    code: () => (now ? code(now.claim) : {}),
    shortcuts: [
      { key: "ArrowRight", does: "Next claim", run: () => hop(1) },
      { key: "ArrowLeft", does: "Claim before", run: () => hop(-1) },
    ],
  });
  await refresh();
  return { restore: () => void refresh(), unmount: () => now?.shown.destroy() };
}

/** What was found, in Python, and the command that repeats the experiment. @param {Claim} claim */
function code({ name, command, verdict }) {
  const python = `from regard.claims import load\n\nfound = load(${JSON.stringify(name)})\nprint(found.verdict, found.summary)`;
  return verdict ? { python, command } : { command };
}

/** The list without a claim open. @param {Flat} state */
const away = (state) => format({ room: "claims", state: { ...state, name: "", show: "" } });

/** Claims that many would bet on, for those who do not know where to begin. */
const WORTH = ["alignment", "heads", "algebra", "bottleneck", "antecedents", "sequential"];

/** @param {Claim[]} claims */
function opening(claims) {
  const run = claims.filter(({ verdict }) => verdict);
  const minutes = Math.round(run.reduce((sum, claim) => sum + Number(/** @type {any} */ (claim).minutes ?? 0), 0));
  const first = claims.find(({ name }) => name === "scale") ?? claims[0];
  return h(
    "section",
    { class: "claims-opening" },
    h("h1", null, "Is it so?"),
    h(
      "p",
      null,
      "Each claim is a sentence of a lecture, with an experiment, a control and a criterion that was written before the first run. ",
      "The verdict is computed from the numbers. Guess it first: a wrong guess teaches most.",
    ),
    h(
      "p",
      { class: "quiet" },
      `${claims.length} claims, ${run.length} of them run, in ${minutes} minutes on two cores of a CPU. Each can be repeated by one command.`,
    ),
    first &&
      h(
        "a",
        { class: "button primary", href: format({ room: "claims", state: { name: first.name } }) },
        `Begin with “${list.named(first.name)}”`,
      ),
    h(
      "div",
      { class: "claims-worth" },
      run
        .filter(({ name }) => WORTH.includes(name))
        .map(({ name, sentence }) =>
          h(
            "a",
            { class: "door", href: format({ room: "claims", state: { name } }) },
            h("h3", null, list.named(name)),
            h("p", null, sentence),
          ),
        ),
    ),
  );
}
