/** The steps: one idea, one sentence, one thing to try, and the code that does it. */

import { dot } from "./math.js";

/** @typedef {import("./numbers.js").Numbers} Numbers */
/** @typedef {{began: Numbers, now: Numbers, shuffled: boolean}} Progress */
/**
 * @typedef {object} Step
 * @property {string} id
 * @property {string} name on the way along the top
 * @property {string} title
 * @property {string} says
 * @property {(now: Numbers) => string} asks
 * @property {(progress: Progress) => boolean} done
 * @property {string} shows what the reader has just seen
 * @property {{name: string, mark: string[], from?: string}} [code]
 */

/** @param {Numbers} now */
const last = (now) => now.words[now.words.length - 1];
/** @param {Numbers} now @param {number} [scale] */
const scores = (now, scale) => dot([now.q], now.x, scale)[0];
/** @param {unknown} one @param {unknown} other */
const differ = (one, other) => JSON.stringify(one) !== JSON.stringify(other);

/** @type {Step[]} */
export const STEPS = [
  {
    id: "words",
    name: "Words",
    title: "A word is a list of numbers",
    says: "Before a network can read, each word becomes a vector: a short list of numbers. Two of them make an arrow you can see.",
    asks: () => "Drag the tip of an arrow, or write a sentence of your own.",
    done: ({ began, now }) => differ([began.words, began.x], [now.words, now.x]),
    shows: "The arrow and the numbers are the same thing. In a real model training moves them; here you do.",
  },
  {
    id: "additive",
    name: "Additive",
    title: "A question meets every word",
    says: "A translator about to write its next word asks with a vector of its own, q. A small network scores how well each word answers: that was the first attention (2014).",
    asks: (now) => `Drag the question q until “${last(now)}” has the highest score.`,
    done: ({ now }) => best(now.x.map((k) => now.q.reduce((total, x, i) => total + now.w[i] * Math.tanh(x + k[i]), 0))) === now.words.length - 1,
    shows: "One number for each word: how much it matters to this question.",
    code: { name: "attention.core.Additive", mark: ["tanh"], from: "def forward" },
  },
  {
    id: "dot",
    name: "Dot",
    title: "A product does it faster",
    says: "Multiply the vectors number by number and add up. Arrows that point the same way score high, opposite ones low, and no network is needed.",
    asks: (now) => `Turn q until “${now.words[Math.min(1, now.words.length - 1)]}” scores below zero.`,
    done: ({ now }) => scores(now, 1)[Math.min(1, now.words.length - 1)] < 0,
    shows: "Beyond a right angle the product is negative: the two do not go together.",
    code: { name: "attention.core.Dot", mark: ["return product"], from: "def __call__" },
  },
  {
    id: "scaled",
    name: "Scaled",
    title: "Divide by √d",
    says: "A real vector has d = 64 numbers or more. Each adds a term, so scores grow with d, and one word soon takes everything. Dividing by √d keeps them in range.",
    asks: () => "Raise the width d and compare the two columns of shares.",
    done: ({ now }) => now.width >= 32,
    shows: "Without the root the shares collapse onto one word, and the others can no longer be learned. With it they stay soft.",
    code: { name: "attention.core.Dot", mark: ["-0.5"], from: "def __call__" },
  },
  {
    id: "softmax",
    name: "Softmax",
    title: "Scores become shares",
    says: "Take the exponential of each score and divide by their sum. Every share is positive, and together they are 1: these are the attention weights.",
    asks: () => "Drag q further out, then back to the middle: how sure is a long question, how sure a short one?",
    done: ({ now }) => Math.hypot(...now.q) > 2.2 || Math.hypot(...now.q) < 0.3,
    shows: "A longer question is a more decided one: what it does not look for falls to 0. A question of length zero takes the same from everybody.",
    code: { name: "attention.core.weigh", mark: ["scores.softmax"] },
  },
  {
    id: "values",
    name: "Values",
    title: "Take what you looked at",
    says: "Each word offers a second vector, its value v. The answer y is all the values, blended in those shares.",
    asks: () => "Drag the value of a word with a large share, then one with a small share: which moves y?",
    done: ({ began, now }) => differ(began.v, now.v),
    shows: "The answer follows the words it looks at. Finding a word (its key) and taking from it (its value) are two things.",
    code: { name: "attention.core.mix", mark: ["product(weights"] },
  },
  {
    id: "self",
    name: "Self",
    title: "Every word asks",
    says: "Now each word is asker and answer at once. Three matrices make its query, key and value from its own vector, and all questions are answered in one product.",
    asks: () => "Shuffle the words: what happens to their numbers?",
    done: ({ shuffled }) => shuffled,
    shows: "Rows and columns moved, and no number changed. Attention sees a set: whoever needs order must add it to the vectors.",
    code: { name: "attention.attention.Attention.forward", mark: ["self._project(", "self._look("] },
  },
  {
    id: "heads",
    name: "Heads",
    title: "Several looks at once",
    says: "One softmax can favour one thing. Heads are small attentions side by side, each with matrices of its own; a last matrix blends their answers.",
    asks: () => "Turn what the second head looks for.",
    done: ({ began, now }) => began.turn !== now.turn || differ(began.heads, now.heads),
    shows: "The second head looks elsewhere, and the first does not notice.",
    code: { name: "attention.attention.split_heads", mark: ["unflatten"] },
  },
  {
    id: "mask",
    name: "Mask",
    title: "No peeking",
    says: "To learn to write from left to right, no word may see the ones after it. A hidden score becomes −∞, and softmax turns that into exactly 0.",
    asks: (now) => `Drag “${last(now)}”: no row above the last one moves. Then let all see all, and drag again.`,
    done: ({ began, now }) => differ(began.visible, now.visible) || differ(began.x[now.words.length - 1], now.x[now.words.length - 1]),
    shows: "So all words of a text can be learned from at once, and none of them cheats. Press single scores to hide them, too.",
    code: { name: "attention.core.weigh", mark: ["masked_fill"] },
  },
  {
    id: "cross",
    name: "Cross",
    title: "One sentence asks another",
    says: "Let the queries come from the sentence being written, and the keys and values from the one being read. Nothing else changes: this is how a Transformer translates.",
    asks: (now) => `Drag “${now.others[now.others.length - 1]}” and see it look elsewhere, or write other words.`,
    done: ({ began, now }) => differ([began.others, began.z], [now.others, now.z]),
    shows: "That is all of attention: one equation, a choice of who asks and who answers. Now watch a trained model use it.",
    code: { name: "attention.attention.Attention.remember", mark: ["self.k(", "self.v("] },
  },
];

/** @param {number[]} numbers */
function best(numbers) {
  return numbers.indexOf(Math.max(...numbers));
}
