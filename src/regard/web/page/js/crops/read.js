/** What a run last showed and said of crops, as numbers. */

/** @typedef {import("../runs/history.js").Run} Run */
/** @typedef {{class: number, share: number}} Part */
/** @typedef {{name: string, seen: string, student: Part[], teacher: Part[] | null}} Crop */
/** @typedef {{name: string, crops: Crop[]}} Picture */

const SEEN = /^data:image\/(jpeg|png|webp);base64,[A-Za-z0-9+/=]+$/;

/** Whether a run shows crops. @param {Run} run */
export const hasCrops = ({ samples }) => samples.some(({ seen }) => SEEN.test(seen ?? ""));

/** The pictures of a run, each with its crops. @param {Run} run @returns {Picture[]} */
export function pictures({ samples }) {
  /** @type {Map<string, Picture>} */
  const found = new Map();
  for (const { picture = "", crop = "", seen = "", student = "", teacher } of samples) {
    if (!SEEN.test(seen)) continue;
    const one = found.get(picture) ?? { name: picture, crops: [] };
    one.crops.push({ name: crop, seen, student: answer(student), teacher: teacher ? answer(teacher) : null });
    found.set(picture, one);
  }
  return [...found.values()];
}

/** How many nameless classes there are to choose from. @param {Run} run */
export const classes = ({ samples }) => Math.max(2, ...samples.map((each) => Number(each["classes"]) || 0));

/** “412 31%, 7 12%” in numbers. @param {string} text @returns {Part[]} */
export function answer(text) {
  return [...text.matchAll(/(\d+) (\d+(?:\.\d+)?)%/g)].map(([, number, share]) => ({
    class: Number(number),
    share: Number(share) / 100,
  }));
}
