/** A prompt of pictures and texts by turns, as the link holds it: a line each, its picture or `-`, and its text. */

/** @typedef {{picture: string, text: string}} Turn */

export const [TURNS, LONG] = [17, 1000];
export const PRESETS = [
  { title: "A question", turns: [{ picture: "world:29", text: "What colour is the star?" }] },
  {
    title: "New words, by example",
    turns: [
      { picture: "world:1", text: "This is a dax." },
      { picture: "world:29", text: "This is a wug." },
      { picture: "world:27", text: "This is a" },
    ],
  },
  {
    title: "A dialogue",
    turns: [
      { picture: "world:29", text: "What is there? star." },
      { picture: "", text: "Is it plain? yes." },
      { picture: "", text: "What colour is it?" },
    ],
  },
];

/** @param {string} input `s:…` @returns {Turn[]} */
export function read(input) {
  const lines = input.replace(/^s:/, "").split("\n").filter((line) => line.trim()); // prettier-ignore
  return lines.map((line) => {
    const [, picture = "-", text = ""] = line.match(/^(\S+) ?(.*)$/) ?? [];
    return { picture: picture === "-" ? "" : picture, text };
  });
}

/** @param {Turn[]} turns */
export const written = (turns) =>
  `s:${turns.map(({ picture, text }) => `${picture || "-"} ${text.replace(/\s+/g, " ")}`).join("\n")}`;

/** Why it cannot be asked, or nothing. @param {Turn[]} turns */
export function refused(turns) {
  if (turns.length > TURNS) return `There are ${turns.length} turns, and at most ${TURNS} are read: leave some out.`;
  const long = turns.find(({ text }) => text.length > LONG);
  if (long) return `A text has ${long.text.length} characters, and at most ${LONG} are read: shorten it.`;
  const bare = turns.findIndex(({ picture, text }, i) => picture && !text.trim() && i < turns.length - 1);
  return bare < 0 ? "" : `Nothing is said of picture ${bare + 1}: give it a text, or take it away.`;
}
