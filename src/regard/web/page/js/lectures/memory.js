/** What the reader answered, kept in this browser: the place of a question, and the number of the answer. */

const KEY = "regard.quizzes";

/** @returns {Record<string, number>} */
export function answers() {
  try {
    const found = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    return found && typeof found === "object" ? found : {};
  } catch {
    return {};
  }
}

/** @param {string} place @param {number | null} answer `null` forgets it */
export function answer(place, answer) {
  const { [place]: _, ...others } = answers();
  try {
    localStorage.setItem(KEY, JSON.stringify(answer === null ? others : { ...others, [place]: answer }));
  } catch {
    // A browser that keeps nothing still shows everything.
  }
}
