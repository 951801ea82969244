/** Words: thousands of them on a map, what is near in the full space, sums, t-SNE while it runs, and own vectors. */

import { h, replace } from "../dom.js";
import { terminal } from "../terminal.js";
import { bar, zoom } from "../words/bar.js";
import { Desk } from "../words/desk.js";
import { loadWords } from "../words/load.js";
import { told } from "../words/told.js";

/** @typedef {import("../app.js").Context} Context */
/** @typedef {import("../words/state.js").State} State */
/** @typedef {import("../words/state.js").Tab} Tab */
/** @typedef {import("../words/desk.js").Panel} Panel */

/** @type {Record<Tab, {title: string, load: () => Promise<{panel: (desk: Desk) => Panel}>}>} */
const TABS = {
  near: { title: "Neighbours", load: () => import("../words/near_panel.js") },
  sums: { title: "Algebra", load: () => import("../words/sums_panel.js") },
  live: { title: "t-SNE live", load: () => import("../words/live_panel.js") },
  own: { title: "Your vectors", load: () => import("../words/own_panel.js") },
  concepts: { title: "Concepts", load: () => import("../words/concepts_panel.js") },
};

export const room = { id: "words", title: "Words", mount };

/** @param {HTMLElement} host @param {Context} context */
async function mount(host, context) {
  replace(host, h("p", { class: "empty" }, "Fetching the words …"));
  const served = await loadWords(context.api);
  const first = served.about.sets?.[0];
  // Vectors of one's own come first; a link that says something and names none is about the bundled ones.
  if (first && !first.bundled && !Object.keys(context.state.get()).length) context.state.set({ m: first.name });
  /** @type {Map<string, Panel>} */
  const panels = new Map();
  const desk = new Desk(context, served, (state) => changed(state));
  const controls = bar(desk);
  const side = h("div", { class: "words-panel", id: "words-panel", role: "tabpanel", "aria-label": "Tool" });
  const tabs = h("div", { class: "segments words-tabs", role: "tablist", "aria-label": "What to do with the words" });
  const foot = told(desk);
  const stage = h(
    "div",
    { class: "words-stage" },
    controls.element,
    h("div", { class: "map-box" }, desk.map.element, zoom(desk)),
    foot.element,
  );
  desk.hovered = foot.refresh;
  let chosen = desk.state.cam ? desk.state.word : ""; // a link says itself where to look

  replace(
    host,
    h("h1", { class: "unseen" }, "Words"),
    h("div", { class: "words" }, stage, h("aside", { class: "words-side", "aria-label": "Tools" }, tabs, side)),
  );
  void desk.refresh();

  /** @param {State} state @returns {Partial<import("../words/map.js").Marks>} */
  function changed(state) {
    drawTabs(tabs, state.as, (as) => desk.set({ as }));
    const panel = panels.get(state.as);
    if (!panel) void open(state.as);
    else if (side.firstElementChild !== panel.element) replace(side, panel.element);
    const marks = panel?.refresh(state) ?? {};
    // A link to a map that is computed computes it, whatever else is open.
    if (state.how === "live" && state.as !== "live") panels.get("live")?.refresh(state) ?? void open("live");
    controls.refresh(state);
    foot.refresh();
    if (state.word !== chosen) desk.map.centre(desk.vectors.row(state.word));
    chosen = state.word;
    return marks;
  }

  /** @param {Tab} as */
  async function open(as) {
    const { panel } = await TABS[as].load();
    if (!panels.has(as)) panels.set(as, panel(desk));
    await desk.refresh();
  }

  host.addEventListener("dragover", (event) => event.preventDefault());
  host.addEventListener("drop", (event) => {
    event.preventDefault();
    void import("../words/own_panel.js").then(({ take }) => take(desk, [...(event.dataTransfer?.files ?? [])]));
  });
  context.register({
    figures: () => [
      { title: "map", svg: async () => (await import("../words/figure.js")).drawMap(desk), table: () => table(desk) },
    ],
    code: () => code(desk),
    shortcuts: [
      { key: "/", does: "Find a word", run: () => controls.focus() },
      { key: "0", does: "The whole map", run: () => desk.set({ cam: "" }) },
    ],
  });
  return {
    restore: () => {
      chosen = desk.state.word;
      void desk.refresh();
    },
    unmount: () => {
      desk.control.abort();
      desk.map.stop();
      panels.forEach((panel) => panel.stop?.());
    },
  };
}

/** @param {HTMLElement} host @param {Tab} as @param {(as: Tab) => void} choose */
function drawTabs(host, as, choose) {
  if (!host.childElementCount) {
    for (const [id, { title }] of Object.entries(TABS)) {
      const go = () => choose(/** @type {Tab} */ (id));
      host.append(
        h(
          "button",
          { type: "button", role: "tab", "aria-controls": "words-panel", "data-tab": id, onclick: go },
          title,
        ),
      );
    }
    host.addEventListener("keydown", (event) => walk(host, event));
  }
  for (const tab of host.querySelectorAll("button")) {
    tab.setAttribute("aria-selected", String(tab.dataset["tab"] === as));
    tab.tabIndex = tab.dataset["tab"] === as ? 0 : -1;
  }
}

/** Arrow keys go from tab to tab. @param {HTMLElement} host @param {KeyboardEvent} event */
function walk(host, event) {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const all = [...host.querySelectorAll("button")];
  const next = all[(all.findIndex((tab) => tab === document.activeElement) + step + all.length) % all.length];
  next?.focus();
  next?.click();
}

/** The same by command and in Python. @param {Desk} desk */
function code({ state, vectors, served }) {
  const own = vectors.own || served;
  const from = own ? { model: vectors.name } : {};
  const asked = state.as === "sums" && state.sum;
  const near = asked ? {} : { near: state.word || "king" };
  const call = asked
    ? `solve(vectors, ${JSON.stringify(state.sum)})`
    : `near(vectors, ${JSON.stringify(state.word || "king")})`;
  const read = `read_vectors(${own ? JSON.stringify(vectors.name) : 'find("words-en")'})`;
  const imports = `from regard.words import ${asked ? "solve" : "near"}, read_vectors${own ? "" : "\nfrom regard.zoo import find"}`;
  return {
    command: terminal("words", asked ? [state.sum] : [], { ...near, ...from }),
    python: `${imports}\n\nvectors = ${read}\nprint(${call})`,
  };
}

/** Coordinates of what is shown. @param {Desk} desk */
function table({ map, vectors }) {
  const axes = map.scene.flat ? ["x", "y"] : ["x", "y", "z"];
  const rows = [...map.scene.rows].map((row, slot) => [
    vectors.words[row] ?? "",
    ...axes.map((_, axis) => Number((map.scene.places[3 * slot + axis] ?? 0).toFixed(5))),
  ]);
  return { columns: ["word", ...axes], rows };
}
