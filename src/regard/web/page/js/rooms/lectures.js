/** Lectures: five tours, topic by topic, each with something to open, to run and to guess first. */

import { h, replace } from "../dom.js";
import { answers } from "../lectures/memory.js";
import { quizPlace, section } from "../lectures/topic.js";
import { format } from "../state.js";

/** @typedef {import("../app.js").Context} Context */
/** @typedef {import("../lectures/topic.js").Deck} Deck */

export const room = { id: "lectures", title: "Lectures", mount };

/** @param {HTMLElement} host @param {Context} context */
async function mount(host, context) {
  const [decks, claims] = /** @type {[Deck[], {name: string, verdict: string | null}[]]} */ (
    await Promise.all([context.api.get("/api/lectures"), context.api.get("/api/claims")])
  );
  const verdicts = Object.fromEntries(claims.map(({ name, verdict }) => [name, verdict]));
  /** @type {string | null} */
  let shown = null;
  let watcher = new IntersectionObserver(() => {});

  const find = () => decks.find(({ number }) => number === String(context.state.get()["deck"] ?? ""));

  function refresh() {
    const deck = find();
    if (shown !== (deck?.number ?? "")) {
      shown = deck?.number ?? "";
      watcher.disconnect();
      if (deck) watcher = tour(deck);
      else replace(host, overview(decks));
    }
    const topic = String(context.state.get()["topic"] ?? "");
    if (deck && topic) document.getElementById(`topic-${topic}`)?.scrollIntoView({ block: "start" });
    else scrollTo({ top: 0 });
    context.caption(deck ? `${deck.by}: ${deck.title}` : "Five lectures on attention");
  }

  /** @param {Deck} deck */
  function tour(deck) {
    const count = h("p", { class: "quiet", role: "status" });
    const changed = () => replace(count, progress(deck));
    const sections = deck.topics.map((topic, i) => section(topic, i, { deck, context, verdicts, changed }));
    const entries = deck.topics.map((topic, i) =>
      h(
        "li",
        null,
        h(
          "a",
          { href: format({ room: "lectures", state: { deck: deck.number, topic: topic.name } }) },
          h("span", { class: "topic-number" }, i + 1),
          topic.title,
        ),
      ),
    );
    changed();
    replace(
      host,
      tabs(decks, deck),
      h(
        "header",
        { class: "deck-top" },
        h("h1", null, deck.title),
        h("p", { class: "quiet" }, deck.by),
        h("p", null, deck.says),
        count,
      ),
      h(
        "div",
        { class: "tour" },
        h("nav", { class: "tour-index", "aria-label": "Topics" }, h("ol", null, entries)),
        h("div", { class: "tour-topics" }, sections),
      ),
    );
    return watch(sections, entries);
  }

  /** @param {number} step */
  function hop(step) {
    const deck = find();
    if (!deck) return;
    const here = host.querySelector(".tour-index [aria-current]")?.getAttribute("href") ?? "";
    const at = deck.topics.findIndex(({ name }) => here.endsWith(`topic=${name}`));
    const next = deck.topics[Math.max(0, Math.min(deck.topics.length - 1, at + step))];
    if (!next) return;
    context.state.set({ topic: next.name }, { undo: "topic" });
    refresh();
    document.getElementById(`title-${next.name}`)?.focus({ preventScroll: true });
  }

  context.register({
    shortcuts: [
      { key: "ArrowRight", does: "Next topic", run: () => hop(1) },
      { key: "ArrowLeft", does: "Topic before", run: () => hop(-1) },
    ],
  });
  refresh();
  return { restore: refresh, unmount: () => watcher.disconnect() };
}

/** Mark the topic in view. @param {HTMLElement[]} sections @param {HTMLElement[]} entries */
function watch(sections, entries) {
  const seen = new Set();
  const watcher = new IntersectionObserver(
    (changes) => {
      for (const { target, isIntersecting } of changes) seen[isIntersecting ? "add" : "delete"](target);
      const first = sections.findIndex((each) => seen.has(each));
      entries.forEach((entry, i) => {
        if (i === first) entry.firstElementChild?.setAttribute("aria-current", "step");
        else entry.firstElementChild?.removeAttribute("aria-current");
      });
    },
    { rootMargin: "-15% 0px -60% 0px" },
  );
  for (const each of sections) watcher.observe(each);
  return watcher;
}

/** @param {Deck} deck */
function progress(deck) {
  const kept = answers();
  const places = deck.topics.flatMap((topic) =>
    topic.quizzes.map((quiz, i) => ({ quiz, place: quizPlace(deck, topic, i) })),
  );
  const told = places.filter(({ place }) => place in kept);
  const right = told.filter(({ quiz, place }) => kept[place] === quiz.right).length;
  const asks = `${deck.topics.length} topics, ${places.length} questions`;
  return told.length ? `${asks}; you answered ${told.length}, ${right} right` : asks;
}

/** @param {Deck[]} decks @param {Deck} current */
function tabs(decks, current) {
  return h(
    "nav",
    { class: "deck-tabs", "aria-label": "Lectures" },
    decks.map((deck) =>
      h(
        "a",
        {
          href: format({ room: "lectures", state: { deck: deck.number } }),
          ...(deck === current ? { "aria-current": "page" } : {}),
        },
        deck.short,
      ),
    ),
  );
}

/** @param {Deck[]} decks */
function overview(decks) {
  return [
    h(
      "header",
      { class: "deck-top" },
      h("h1", null, "Five lectures on attention"),
      h(
        "p",
        null,
        "Each is a tour: its topics in order, each with a live picture, a command or an experiment, and the questions of the lecture to guess first.",
      ),
    ),
    h(
      "div",
      { class: "decks" },
      decks.map((deck) =>
        h(
          "a",
          { class: "deck", href: format({ room: "lectures", state: { deck: deck.number } }) },
          h("h2", null, deck.title),
          h("p", { class: "quiet" }, deck.by),
          h("p", null, deck.says),
          h("p", { class: "quiet" }, progress(deck)),
        ),
      ),
    ),
  ];
}
