/** Every room of the explorer, once: navigation, first page, palette and keys all read this list. */

/** @typedef {import("../app.js").Room} Room */
/**
 * @typedef {object} Entry
 * @property {string} id
 * @property {"learn" | "look" | "check"} area
 * @property {string} title
 * @property {string} says
 * @property {string} key after `g`
 * @property {string[]} [tasks] of the models that it opens
 * @property {boolean} [server] whether it is of no use without one
 * @property {() => Promise<{room: Room}>} load
 */

export const AREAS = [
  { id: "learn", title: "Learn", says: "What attention is, from its first number on." },
  { id: "look", title: "Look", says: "Into a model, while it runs." },
  { id: "check", title: "Check", says: "What is said of attention, and what is so." },
];

/** @type {Entry[]} */
export const ROOMS = [
  {
    id: "build",
    area: "learn",
    title: "Build up",
    key: "b",
    says: "Attention from its first number on, in small steps that you can drag, change and break.",
    load: () => import("./build.js"),
  },
  {
    id: "words",
    area: "learn",
    title: "Words",
    key: "w",
    says: "30,000 words on a map: neighbours, king − man + woman, and what a map gets wrong.",
    tasks: ["words"],
    load: () => import("./words.js"),
  },
  {
    id: "lectures",
    area: "learn",
    title: "Lectures",
    key: "l",
    says: "Five lectures, topic by topic, each with something to run and something to guess first.",
    load: () => import("./lectures.js"),
  },
  {
    id: "gallery",
    area: "learn",
    title: "Gallery",
    key: "p",
    says: "Pictures worth a look, each a link to the live one.",
    load: () => import("./gallery.js"),
  },
  {
    id: "translate",
    area: "look",
    title: "Translate",
    key: "t",
    tasks: ["translate"],
    server: true,
    says: "Type a sentence. Every word of the translation shows where it looked, in every head.",
    load: () => import("./translate.js"),
  },
  {
    id: "read",
    area: "look",
    title: "Read",
    key: "r",
    tasks: ["generate", "fill", "classify", "tag", "answer", "embed", "similar", "parse", "recall"],
    server: true,
    says: "GPT and BERT: what comes next, what is hidden, and which heads decide it.",
    load: () => import("./read.js"),
  },
  {
    id: "see",
    area: "look",
    title: "See",
    key: "s",
    tasks: ["recognize", "detect", "features"],
    server: true,
    says: "Models of pictures: click a patch and see what it looks at, by head, layer and rollout.",
    load: () => import("./see.js"),
  },
  {
    id: "caption",
    area: "look",
    title: "Caption",
    key: "i",
    tasks: ["caption"],
    server: true,
    says: "Show a picture. Words about it appear one by one, and each lights the region it looked at.",
    load: () => import("./caption.js"),
  },
  {
    id: "match",
    area: "look",
    title: "Match",
    key: "m",
    tasks: ["match"],
    server: true,
    says: "Pictures × texts, as CLIP sees them: edit the words, shift the pictures, search by a sentence.",
    load: () => import("./match.js"),
  },
  {
    id: "ask",
    area: "look",
    title: "Ask",
    key: "k",
    tasks: ["ask"],
    server: true,
    says: "Pictures and words by turns, and an answer: what each word sees, through resampler and gates.",
    load: () => import("./ask.js"),
  },
  {
    id: "paint",
    area: "look",
    title: "Paint",
    key: "a",
    tasks: ["paint"],
    server: true,
    says: "Words become a picture, out of noise and step by step; every word shows its region.",
    load: () => import("./paint.js"),
  },
  {
    id: "segment",
    area: "look",
    title: "Segment",
    key: "e",
    tasks: ["segment"],
    server: true,
    says: "Click on a picture or drag a box: the masks that may be meant, and tokens and places that look at each other.",
    load: () => import("./segment.js"),
  },
  {
    id: "depth",
    area: "look",
    title: "Depth",
    key: "d",
    tasks: ["depth"],
    server: true,
    says: "How far away everything in one picture is: read it off, move your eye, and compare with the truth.",
    load: () => import("./depth.js"),
  },
  {
    id: "sense",
    area: "look",
    title: "Sense",
    key: "n",
    tasks: ["perceive", "queries"],
    server: true,
    says: "A Perceiver hears sounds, turns clouds of points and watches films: see what each of its latents looks at.",
    load: () => import("./sense.js"),
  },
  {
    id: "file",
    area: "look",
    title: "Your file",
    key: "f",
    says: "Attention of any other model, over words or pictures, dropped onto the page.",
    load: () => import("./file.js"),
  },
  {
    id: "claims",
    area: "check",
    title: "Claims",
    key: "c",
    says: "Sentences of the lectures as experiments. Guess first, then see the number and the verdict.",
    load: () => import("./claims.js"),
  },
  {
    id: "world",
    area: "check",
    title: "World",
    key: "o",
    says: "Little scenes and what four languages say of them. Point at a word, its thing lights up.",
    load: () => import("./world.js"),
  },
  {
    id: "runs",
    area: "check",
    title: "Runs",
    key: "u",
    server: true,
    says: "Curves of what is being trained on this machine, and what each model can do.",
    load: () => import("./runs.js"),
  },
  {
    id: "views",
    area: "check",
    title: "Views",
    key: "v",
    server: true,
    says: "Crops that the student and the teacher of a DINO see while it learns, and whether it collapses.",
    load: () => import("./views.js"),
  },
];

/** The room that opens models of a task. @param {unknown} task */
export const roomOf = (task) => ROOMS.find((room) => room.tasks?.includes(String(task)));
