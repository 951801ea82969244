/** What the link of Runs says, in full whatever it leaves out. */

/** @typedef {import("../state.js").Flat} Flat */
/** @typedef {ReturnType<typeof read>} State */

const SHOWN = 4; // runs at first
const SMOOTH = 0.8;

/** @param {Flat} flat @param {string[]} names of the runs there are */
export function read(flat, names) {
  const text = (/** @type {string} */ key) => String(flat[key] ?? "");
  const smooth = Number(text("smooth") === "" ? SMOOTH : text("smooth"));
  return {
    chosen: chosen(text("runs"), names),
    log: text("log") === "1",
    smooth: Math.max(0, Math.min(0.99, Number.isFinite(smooth) ? smooth : SMOOTH)),
    over: text("over") === "minutes" ? "minutes" : "step",
    task: text("task"),
    sort: { by: text("sort").replace(/^-/, ""), down: text("sort").startsWith("-") },
  };
}

/** @param {string} text @param {string[]} names */
function chosen(text, names) {
  if (text === "") return names.slice(0, SHOWN);
  const wanted = new Set(text.split(","));
  return names.filter((name) => wanted.has(name) || wanted.has(encodeURIComponent(name)));
}

/** Runs as the link has them. @param {string[]} names */
export const written = (names) =>
  names.map((name) => (name.includes(",") ? encodeURIComponent(name) : name)).join(",") || "none";

/** An order as the link has it: the same column again turns it round. @param {State["sort"]} sort @param {string} by */
export const writtenSort = (sort, by) => (sort.by === by && !sort.down ? `-${by}` : by);
