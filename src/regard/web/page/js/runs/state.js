/** What the link of Runs says, in full whatever it leaves out. */

/** @typedef {import("../state.js").Flat} Flat */
/** @typedef {ReturnType<typeof read>} State */

const SHOWN = 4; // runs at first
const SMOOTH = 0.8;

/** @param {Flat} flat @param {import("./history.js").Run[]} runs that there are */
export function read(flat, runs) {
  const text = (/** @type {string} */ key) => String(flat[key] ?? "");
  const smooth = Number(text("smooth") === "" ? SMOOTH : text("smooth"));
  return {
    chosen: chosen(text("runs"), runs),
    log: text("log") === "1",
    smooth: Math.max(0, Math.min(0.99, Number.isFinite(smooth) ? smooth : SMOOTH)),
    over: text("over") === "minutes" ? "minutes" : "step",
    task: text("task"),
    sort: { by: text("sort").replace(/^-/, ""), down: text("sort").startsWith("-") },
  };
}

/** At first some of one's own; where there is none, the first that a model kept: others have other tasks and scales. @param {string} text @param {import("./history.js").Run[]} runs */
function chosen(text, runs) {
  const names = runs.map(({ name }) => name);
  const own = runs.filter(({ model }) => !model).length;
  if (text === "") return names.slice(0, own ? Math.min(own, SHOWN) : 1);
  const wanted = new Set(text.split(","));
  return names.filter((name) => wanted.has(name) || wanted.has(encodeURIComponent(name)));
}

/** Runs as the link has them. @param {string[]} names */
export const written = (names) =>
  names.map((name) => (name.includes(",") ? encodeURIComponent(name) : name)).join(",") || "none";

/** An order as the link has it: the same column again turns it round. @param {State["sort"]} sort @param {string} by */
export const writtenSort = (sort, by) => (sort.by === by && !sort.down ? `-${by}` : by);
