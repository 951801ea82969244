/** The lectures' own sentences, and what real models made of them, recorded. */

import { h } from "../dom.js";
import { refill } from "../rooms/refill.js";

/** @typedef {{text: string, recorded?: string}} Sentence */

/** @type {Sentence[]} */
export const SENTENCES = [
  { text: "The animal didn't cross the street because it was too tired.", recorded: "tired" },
  { text: "The animal didn't cross the street because it was too wide.", recorded: "wide" },
  { text: "The doctor asked the nurse a question. She said that she did not know.", recorded: "nurse" },
  {
    text: "American governments have passed new laws since 2009, making the registration or voting process more difficult.",
    recorded: "making",
  },
  { text: "Susan dropped the plate. It shattered loudly." },
];
const MODELS = /** @type {[string, string][]} */ ([
  ["minilm", "all-MiniLM-L6-v2, an encoder"],
  ["smollm2", "SmolLM2-135M, a decoder"],
]);

/** Chips to begin with; for the one that is asked, what real models recorded. @param {HTMLElement} host @param {string} now @param {(text: string) => void} take */
export function lectures(host, now, take) {
  const here = SENTENCES.find(({ text }) => text === now);
  refill(
    host,
    h("span", { class: "quiet" }, "From the lectures "),
    SENTENCES.filter((each) => each !== here).map(({ text }) =>
      h("button", { type: "button", class: "chip example", title: text, onclick: () => take(text) }, clipped(text)),
    ),
    here?.recorded &&
      h(
        "p",
        { class: "recorded" },
        "Larger models were recorded on this very sentence: ",
        MODELS.flatMap(([name, title], i) => [
          i ? " · " : null,
          h("a", { href: `#/file?in=r:${name}-${here.recorded}` }, title),
        ]),
        ".",
      ),
    here && !here.recorded && h("p", { class: "recorded" }, "No larger model was recorded on this sentence."),
  );
}

/** The words that matter of it, for a chip. @param {string} text */
const clipped = (text) =>
  text
    .replace("didn't cross the street because", "…")
    .replace(/^American .* making the registration or voting process/, "… making …")
    .replace("a question. She said that she did not know.", "… She …")
    .replace("dropped the plate. It shattered loudly.", "… the plate. It …");

/** Every sentence that larger models were recorded on, with the way to each. */
export const recordings = () =>
  SENTENCES.filter(({ recorded }) => recorded).map(({ text, recorded }) => ({
    text,
    links: MODELS.map(([name, title]) => ({ title, href: `#/file?in=r:${name}-${recorded}` })),
  }));
