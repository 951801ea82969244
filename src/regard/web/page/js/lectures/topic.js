/** One topic of a tour: a plain sentence, what opens it, and its questions. */

import { STATIC } from "../api.js";
import { command } from "../claims/command.js";
import { badge, named } from "../claims/list.js";
import { guessed } from "../claims/memory.js";
import { h } from "../dom.js";
import { ROOMS } from "../rooms/index.js";
import { parse } from "../state.js";
import { asked } from "./quiz.js";

/** @typedef {import("../app.js").Context} Context */
/** @typedef {{title: string, room: string, address: string}} Place */
/** @typedef {{name: string, title: string, says: string, command: string, place: Place | null, claims: {name: string, address: string}[], quizzes: import("./quiz.js").Quiz[]}} Topic */
/** @typedef {{number: string, short: string, title: string, by: string, says: string, topics: Topic[]}} Deck */
/** @typedef {{deck: Deck, context: Context, verdicts: Record<string, string | null>, changed: () => void}} Setting */

/** Where a question lies in the browser's memory. @param {Deck} deck @param {Topic} topic @param {number} i */
export const quizPlace = (deck, topic, i) => `${deck.number}/${topic.name}/${i}`;

/** @param {Topic} topic @param {number} i @param {Setting} setting */
export function section(topic, i, setting) {
  const { deck, context, changed } = setting;
  return h(
    "section",
    {
      class: "topic",
      id: `topic-${topic.name}`,
      dataset: { topic: topic.name },
      "aria-labelledby": `title-${topic.name}`,
    },
    h("h2", { id: `title-${topic.name}`, tabindex: -1 }, h("span", { class: "topic-number" }, i + 1), topic.title),
    h("p", { class: "topic-says" }, topic.says),
    opened(topic, setting),
    topic.command && command(topic.command, context.toast),
    topic.quizzes.map((quiz, k) => asked(quiz, quizPlace(deck, topic, k), changed)),
  );
}

/** Links to a live place and to claims. @param {Topic} topic @param {Setting} setting */
function opened(topic, { context, verdicts }) {
  if (!topic.place && !topic.claims.length) return null;
  return h(
    "div",
    { class: "topic-links" },
    topic.place && live(context, topic.name, topic.place),
    topic.claims.map(({ name, address }) => {
      const { seen } = guessed(name);
      const verdict = verdicts[name];
      return link(
        context,
        topic.name,
        seen ? `${address}&show=1` : address,
        { class: "button topic-claim" },
        h("span", null, "Claim: ", named(name)),
        seen || !verdict ? badge(verdict ?? null) : h("span", { class: "badge unknown" }, "guess"),
      );
    }),
  );
}

/** The way to a live place; a site without a server has none to rooms in which models run. @param {Context} context @param {string} topic @param {Place} place */
function live(context, topic, { title, room, address }) {
  if (STATIC && ROOMS.find(({ id }) => id === room)?.server)
    return h("span", { class: "topic-away quiet" }, `${title}, in regard explore`);
  return link(context, topic, address, { class: "button primary" }, title);
}

/** A link that keeps where the reader was, for the way back.
 * @param {Context} context @param {string} topic @param {string} address @param {Record<string, unknown>} props @param {...import("../dom.js").Child} children */
function link(context, topic, address, props, ...children) {
  return h(
    "a",
    {
      ...props,
      href: address,
      onclick: (/** @type {MouseEvent} */ event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        context.state.set({ topic });
        const { room, state } = parse(address);
        context.go(room, state);
      },
    },
    ...children,
  );
}
