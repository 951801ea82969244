/** What the reader guessed and has seen, kept in this browser. */

/** @typedef {{verdict?: string, number?: number, seen?: boolean}} Guess */

const KEY = "regard.guesses";

/** @returns {Record<string, Guess>} */
export function guesses() {
  try {
    const found = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    return found && typeof found === "object" ? found : {};
  } catch {
    return {};
  }
}

/** @param {string} name @returns {Guess} */
export const guessed = (name) => guesses()[name] ?? {};

/** @param {string} name @param {Guess} guess */
export function remember(name, guess) {
  try {
    localStorage.setItem(KEY, JSON.stringify({ ...guesses(), [name]: { ...guessed(name), ...guess } }));
  } catch {
    // A browser that keeps nothing still shows everything.
  }
}

export function forget() {
  try {
    localStorage.removeItem(KEY);
  } catch {
    // Nothing was kept.
  }
}
