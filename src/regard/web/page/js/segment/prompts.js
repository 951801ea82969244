/** What is pointed at, as a link has it: `i120,80;o30,40;b10,10,90,60` is a click in it, one beside it and a box around. */

/** @typedef {{kind: "in" | "out", x: number, y: number}} Click */
/** @typedef {{kind: "box", left: number, top: number, right: number, bottom: number}} Box */
/** In pixels of the picture. @typedef {Click | Box} Prompt */

const MOST = 64; // clicks of each kind that are taken

/** @param {string} text @returns {Prompt[]} */
export const read = (text) => text.split(";").flatMap((each) => one(each) ?? []);

/** @param {string} text @returns {Prompt | null} */
function one(text) {
  const numbers = text.slice(1).split(",").map(Number);
  if (!numbers.every(Number.isFinite)) return null;
  const [a = 0, b = 0, c = 0, d = 0] = numbers;
  if (/^[io]/.test(text) && numbers.length === 2) return { kind: text.startsWith("i") ? "in" : "out", x: a, y: b };
  return text.startsWith("b") && numbers.length === 4 ? { kind: "box", left: a, top: b, right: c, bottom: d } : null;
}

/** @param {Prompt[]} prompts */
export const written = (prompts) =>
  prompts.map((each) => (each.kind === "box" ? `b${corners(each).join()}` : `${each.kind[0]}${each.x},${each.y}`)).join(";"); // prettier-ignore

/** With one more; there is one box at most. @param {Prompt[]} prompts @param {Prompt} next @returns {Prompt[]} */
export const added = (prompts, next) => [
  ...prompts.filter((each) => next.kind !== "box" || each.kind !== "box").slice(0, MOST - 1),
  next,
];

/** As the server is asked. @param {Prompt[]} prompts */
export function options(prompts) {
  const points = (/** @type {"in" | "out"} */ kind) => prompts.flatMap((each) => (each.kind === kind ? [[each.x, each.y]] : [])); // prettier-ignore
  const box = boxOf(prompts);
  return {
    ...(points("in").length ? { points: points("in") } : {}),
    ...(points("out").length ? { not_points: points("out") } : {}),
    ...(box ? { box: corners(box) } : {}),
  };
}

/** @param {Prompt[]} prompts @returns {Box | undefined} */
export const boxOf = (prompts) => /** @type {Box | undefined} */ (prompts.find(({ kind }) => kind === "box"));

/** @param {Box} box */
export const corners = ({ left, top, right, bottom }) => [left, top, right, bottom];
