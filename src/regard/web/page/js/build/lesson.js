/** The steps: one idea, one sentence, one thing to try, and the code that does it. */

import { additive, dot } from "./math.js";
import { projected } from "./numbers.js";
import { compared } from "./stages/next.js";
import { OUTPUTS } from "./train.js";
import { trained } from "./trainer.js";

/** @typedef {import("./numbers.js").Numbers} Numbers */
/** @typedef {{began: Numbers, now: Numbers, shuffled: boolean}} Progress */
/** @typedef {"q" | "k" | "v" | "y"} Role */
/**
 * @typedef {object} Step
 * @property {string} id
 * @property {string} name on the way along the top
 * @property {string} title
 * @property {string} says
 * @property {Role[]} [roles] what is said of query, key and value where they appear
 * @property {(progress: Progress) => string} asks
 * @property {(progress: Progress) => boolean} done
 * @property {string} shows what the reader has just seen
 * @property {{name: string, mark: string[], from?: string}} [code]
 * @property {boolean} [own] it has words of its own, and not those of the reader
 */

/** What each is for. @type {Record<Role, {name: string, is: string}>} */
export const ROLES = {
  q: { name: "query", is: "what the one who asks is looking for" },
  k: { name: "key", is: "what a word shows, so that it can be found" },
  v: { name: "value", is: "what a word hands over, once it is found" },
  y: { name: "answer", is: "all values, each by its share" },
};

/** @param {Numbers} now */
const last = (now) => now.words[now.words.length - 1];
/** @param {Numbers} now */
const scores = (now) => dot([now.q], now.x, 1)[0];
/** The word that the question liked best when the step began. @param {Progress} progress */
const liked = ({ began, now }) => Math.min(best(scores(began)), now.words.length - 1);
/** @param {unknown} one @param {unknown} other */
const differ = (one, other) => JSON.stringify(one) !== JSON.stringify(other);
/** The least likely word of the last step. @param {Progress} progress */
const unlikely = ({ began }) => {
  const { shares } = compared({ ...began, y: null, heat: 1 });
  return shares.indexOf(Math.min(...shares));
};

/** @type {Step[]} */
export const STEPS = [
  {
    id: "words",
    name: "Words",
    title: "A word is a list of numbers",
    says: "Before a network can read, each word becomes a vector: a short list of numbers. Two of them make an arrow you can see. Words that mean similar things point the same way.",
    asks: () => "Drag the tip of an arrow, or write a sentence of your own.",
    done: ({ began, now }) => differ([began.words, began.x], [now.words, now.x]),
    shows: "The arrow and the numbers are the same thing. In a real model training moves them; here you do.",
  },
  {
    id: "additive",
    name: "Additive",
    title: "A question meets every word",
    says: "A translator about to write its next word asks with a vector of its own. A small network scores how well each word answers: that was the first attention (2014).",
    roles: ["q", "k"],
    asks: ({ now }) => `Drag the query q until “${last(now)}” has the highest score.`,
    done: ({ now }) => {
      const scores = additive(projected(now).q, projected(now).k, now.w)[0];
      return scores[scores.length - 1] === Math.max(...scores); // a word that stands twice wins twice
    },
    shows:
      "A query that lies close to a key finds its word. One number for each word: how much it matters to this question.",
    code: { name: "attention.core.Additive", mark: ["tanh"], from: "def forward" },
  },
  {
    id: "dot",
    name: "Dot",
    title: "A product does it faster",
    says: "Multiply query and key number by number and add up. Arrows that point the same way score high, opposite ones low, and no network is needed.",
    asks: (progress) => `Turn q until “${progress.now.words[liked(progress)]}” scores below zero.`,
    done: (progress) => scores(progress.now)[liked(progress)] < 0,
    shows: "Beyond a right angle the product is negative: the two do not go together.",
    code: { name: "attention.core.Dot", mark: ["return product"], from: "def __call__" },
  },
  {
    id: "scaled",
    name: "Scaled",
    title: "Divide by √d",
    says: "A real vector has d = 64 numbers or more. Each adds a term, so scores grow with d, and one word soon takes everything. Dividing by √d keeps them in range.",
    asks: () => "Raise the width d to 32 or more and compare the two columns of shares.",
    done: ({ now }) => now.width >= 32,
    shows:
      "Without the root the shares collapse onto one word, and the others can no longer be learned. With it they stay soft.",
    code: { name: "attention.core.Dot", mark: ["-0.5"], from: "def __call__" },
  },
  {
    id: "softmax",
    name: "Softmax",
    title: "Scores become shares",
    says: "Take the exponential of each score and divide by their sum. Every share is positive, and together they are 1: these are the attention weights.",
    asks: () => "Drag q far out to a corner, or back to the middle: how sure is a long query, how sure a short one?",
    done: ({ now }) => Math.hypot(...now.q) > 2.2 || Math.hypot(...now.q) < 0.3,
    shows:
      "A longer query is a more decided one: what it does not look for falls to 0. A query of length zero takes the same from everybody.",
    code: { name: "attention.core.weigh", mark: ["scores.softmax"] },
  },
  {
    id: "values",
    name: "Values",
    title: "Take what you looked at",
    says: "Finding a word and taking from it are two things, so each word offers a second vector. The answer y is all the values, blended in those shares.",
    roles: ["q", "k", "v"],
    asks: () => "Drag the value of a word with a large share, then one with a small share: which moves y?",
    done: ({ began, now }) => differ(began.v, now.v),
    shows: "The answer follows the words it looks at. A key may move without its value, and a value without its key.",
    code: { name: "attention.core.mix", mark: ["product(weights"] },
  },
  {
    id: "self",
    name: "Self",
    title: "Every word asks",
    says: "Now each word is asker and answer at once. Three matrices make its query, key and value from its own vector, and all questions are answered in one product.",
    roles: ["q", "k", "v"],
    asks: () =>
      "Change a number of the query matrix: every word then asks for something else. Then one of the value matrix: only the answers change.",
    done: ({ began, now }) => differ(began.heads[0], now.heads[0]),
    shows:
      "The query and the key matrix decide who looks at whom, the value matrix what is taken along. These matrices are what a model learns.",
    code: { name: "attention.attention.Attention.forward", mark: ["self._project(", "self._look("] },
  },
  {
    id: "order",
    name: "Order",
    title: "Who comes first?",
    says: "Attention sees a set: in another order each word gets the very same answer. A language needs more, so a vector p that tells the position is added to each word.",
    asks: ({ shuffled }) =>
      shuffled
        ? "Now add positions: does a word still get the same answer?"
        : "Shuffle the words, and compare the answers. Then add positions.",
    done: ({ now, shuffled }) => shuffled && now.placed && now.words.length > 1,
    shows:
      "The same word at another place is now another vector, so its query, key and value are others, too. “Dog bites man” and “man bites dog” differ at last.",
    code: { name: "layers.position.wave.Sinusoidal.forward", mark: ["_waves(", "join("] },
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
    asks: ({ now }) => `Drag “${last(now)}”: no row above the last one moves. Then let all see all, and drag again.`,
    done: ({ began, now }) =>
      differ(began.visible, now.visible) || differ(began.x[now.words.length - 1], now.x[now.words.length - 1]),
    shows:
      "So all words of a text can be learned from at once, and none of them cheats. Press single scores to hide them, too.",
    code: { name: "attention.core.weigh", mark: ["masked_fill"] },
  },
  {
    id: "cross",
    name: "Cross",
    title: "One sentence asks another",
    says: "Let the queries come from the sentence being written, and the keys and values from the one being read. Nothing else changes: this is how a Transformer translates.",
    asks: ({ now }) => `Drag “${now.others[now.others.length - 1]}” and see it look elsewhere, or write other words.`,
    done: ({ began, now }) => differ([began.others, began.z], [now.others, now.z]),
    shows: "That is all of attention: one equation, and a choice of who asks and who answers.",
    code: { name: "attention.attention.Attention.remember", mark: ["self.k(", "self.v("] },
  },
  {
    id: "block",
    name: "Block",
    title: "A block around it",
    says: "A model repeats one block many times: attention, then a small network (MLP). Each reads a normalised copy, and what it says is added to the word: the residual.",
    asks: () => "Switch the residual off and go through 4 blocks or more: which words can still be told apart?",
    done: ({ now }) => now.off.has("residual") && now.depth >= 4,
    shows:
      "Words fall together: attention averages, and nothing brings the word itself back. With the residual each block only adds. Without the norm, numbers explode.",
    code: { name: "layers.blocks.Block.forward", mark: ["self.attn_join(", "self.mlp_join("] },
  },
  {
    id: "learning",
    name: "Learning",
    title: "Nobody tells it where to look",
    says: "This tiny attention reads an animal, a place and a question. “who?” wants the colour of the animal, “where?” that of the place. All its numbers begin at random, and each step moves them a little downhill.",
    asks: () => "Press Play and wait until the loss is below 0.1. Watch the queries part.",
    done: ({ now }) => learnt(now) < 0.1,
    shows:
      "“who?” has turned to the animals, “where?” to the places, and the values of one colour point the same way. A rate of 2 or more overshoots: try it.",
    own: true,
  },
  {
    id: "next",
    name: "Next word",
    title: "Where y goes",
    says: "In the end the answer is compared with every word that might come next: a product and a softmax once more. The model writes one of them, reads it, too, and asks again.",
    asks: (progress) => `Drag y until “${OUTPUTS[unlikely(progress)]}” is the most likely word.`,
    done: (progress) => {
      const { shares } = compared(progress.now);
      return progress.now.y !== null && best(shares) === unlikely(progress);
    },
    shows:
      "A word is written because y points its way. Everything before this step is there to turn y. Now watch a trained model do it.",
    code: { name: "layers.tied.Tied", mark: ["F.linear"], from: "def forward" },
    own: true,
  },
];

/** @param {Numbers} now */
function learnt(now) {
  const { losses } = trained(now.run);
  return losses[losses.length - 1];
}

/** @param {number[]} numbers */
function best(numbers) {
  return numbers.indexOf(Math.max(...numbers));
}
