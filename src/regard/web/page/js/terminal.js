/** Commands to be pasted into a terminal, in which nothing is run but the command: what somebody wrote stays one word. */

const PLAIN = /^[\w.,:/@+-]+$/; // needs no quotes in any shell
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/g; // would be keys pressed

/** @typedef {string | number} Word */

/**
 * A verb, what it is given, and its flags by their names: one of no words is a switch, and what is undefined is left out.
 * @param {string} verb
 * @param {Word[]} given
 * @param {Record<string, Word | Word[] | undefined>} flags
 */
export function terminal(verb, given, flags = {}) {
  const words = given.map(String);
  const wishes = Object.entries(flags).flatMap(([name, value]) =>
    value === undefined ? [] : flag(name, [value].flat().map(String)),
  );
  // Behind -- nothing is a flag, also what looks like one.
  const all = words.some(dashed) ? [...wishes, "--", ...words] : [...words, ...wishes];
  return ["regard", verb, ...all].map(quoted).join(" ");
}

/** @param {string} name @param {string[]} words */
function flag(name, [first, ...more]) {
  if (first === undefined) return [`--${name}`];
  return dashed(first) ? [`--${name}=${first}`, ...more] : [`--${name}`, first, ...more];
}

/** @param {string} word */
const dashed = (word) => word.startsWith("-");

/** @param {string} word */
function quoted(word) {
  if (PLAIN.test(word)) return word;
  if (word.search(CONTROL) >= 0) return `$'${word.replace(/[\\']/g, "\\$&").replace(CONTROL, escaped)}'`;
  return /["$`\\!]/.test(word) ? `'${word.replaceAll("'", "'\\''")}'` : `"${word}"`;
}

/** @param {string} letter */
const escaped = (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;
