/** Commands to be pasted into a terminal, in which nothing is run but the command: what somebody wrote stays one word. */

const PLAIN = /^[\w.,:/@+-]+$/; // needs no quotes in any shell
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/g; // would be keys pressed

/** @param {...(string | number)} words */
export const terminal = (...words) => words.map((word) => quoted(String(word))).join(" ");

/** @param {string} word */
function quoted(word) {
  if (PLAIN.test(word)) return word;
  if (word.search(CONTROL) >= 0) return `$'${word.replace(/[\\']/g, "\\$&").replace(CONTROL, escaped)}'`;
  return /["$`\\!]/.test(word) ? `'${word.replaceAll("'", "'\\''")}'` : `"${word}"`;
}

/** @param {string} letter */
const escaped = (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;
