/** What the link of World says, in full whatever it leaves out, within the scenes that there are. */

/** @typedef {import("../state.js").Flat} Flat */
/** @typedef {ReturnType<typeof read>} State */
/** How many scenes there are, null where they have no end; and whether the reader wants no motion. */
/** @typedef {{scenes: number | null, still: () => boolean}} Bounds */

export const LANGUAGES = { en: "English", de: "Deutsch", it: "Italiano", cs: "Čeština" };
export const STYLES = { each: "each thing", whole: "the whole", relations: "how they stand", counts: "how many" };
export const SPLITS = { test: "as in training", novel: "new combinations", rearranged: "rearranged" };
export const EYES = { wiggle: "wiggle", left: "left", right: "right", both: "side by side" };

const LAST = 2 ** 31 - 1; // the largest number of a scene
const ANY = 100000; // among so many, one is drawn by chance

/** @param {Flat} flat @param {Bounds} bounds */
export function read(flat, { scenes, still }) {
  const text = (/** @type {string} */ key) => String(flat[key] ?? "");
  return {
    index: within(text("index") === "" ? 3 : Number(text("index")), scenes),
    split: scenes === null ? text("split") || "test" : "test",
    style: text("style") || "each",
    stereo: eyes(text("stereo"), still()),
    thing: text("thing") === "" ? null : Number(text("thing")),
  };
}

/** @param {string} wanted @param {boolean} still */
function eyes(wanted, still) {
  const known = wanted in EYES ? wanted : "wiggle";
  return still && known === "wiggle" ? "both" : known;
}

/** The number of the last scene. @param {number | null} scenes */
export const last = (scenes) => (scenes ?? LAST + 1) - 1;

/** The nearest number that a scene has. @param {number} index @param {number | null} scenes */
export const within = (index, scenes) => Math.max(0, Math.min(last(scenes), Math.floor(index) || 0));

/** A scene by chance. @param {number | null} scenes */
export const any = (scenes) => Math.floor(Math.random() * Math.min(ANY, scenes ?? ANY));
