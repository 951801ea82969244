/** The equation of each step in MathML; what the step adds is marked. */

import { math } from "../dom.js";

/** @typedef {import("../dom.js").Child} Child */

/** @param {...Child} children */
const row = (...children) => math("mrow", null, ...children);
/** @param {...Child} children */
const added = (...children) => math("mrow", { class: "new" }, ...children);
/** @param {string} name @param {string} [role] */
const letter = (name, role) => math("mi", { class: role ?? "" }, name);
/** @param {string} name @param {string} [role] */
const matrix = (name, role) => math("mi", { class: `matrix ${role ?? ""}`, mathvariant: "normal" }, name);
/** @param {string} name */
const word = (name) => math("mi", { mathvariant: "normal" }, name);
/** @param {string} sign */
const sign = (sign) => math("mo", null, sign);
/** A sign between two terms, also where a mark begins with it. @param {string} sign */
const between = (sign) => math("mo", { form: "infix" }, sign);
/** @param {string} open */
const bracket = (open) => math("mo", { stretchy: "true", fence: "true" }, open);
/** @param {Child} base @param {string} below */
const sub = (base, below) => math("msub", null, base, below.length > 1 ? math("mtext", null, below) : letter(below));
/** @param {Child} base @param {Child} above */
const sup = (base, above) => math("msup", null, base, above);
/** @param {Child} over @param {Child} under */
const frac = (over, under) => math("mfrac", null, over, under);
/** @param {Child} inside */
const root = (inside) => math("msqrt", null, inside);
/** @param {string} index */
const total = (index) => math("munder", null, math("mo", { movablelimits: "false" }, "∑"), letter(index));
/** @param {string} text */
const aside = (text) =>
  row(math("mspace", { width: "0.4em" }), math("mtext", null, text), math("mspace", { width: "0.4em" }));
const gap = () => math("mspace", { width: "0.16em" });
const equals = () => sign("=");
const transposed = () => sup(matrix("K", "k"), math("mi", { mathvariant: "normal" }, "⊤"));
const d = () => root(letter("d"));
const e = () => sub(letter("e"), "i");
const a = () => sub(letter("a"), "i");
const q = () => letter("q", "q");
const k = () => sub(letter("k", "k"), "i");
const v = () => sub(letter("v", "v"), "i");
const product = () => row(q(), sign("·"), k());
/** @param {...Child} inside */
const softmax = (...inside) => row(word("softmax"), gap(), bracket("("), ...inside, bracket(")"));
/** @param {string} name @param {string} role @param {string} from @param {string} [of] */
const made = (name, role, from, of = "x") =>
  row(matrix(name, role), equals(), matrix(from, of), gap(), sub(matrix("W"), name.toLowerCase()));

/** @type {Record<string, (chosen: string) => MathMLElement[]>} */
const EQUATIONS = {
  words: (chosen) => [
    row(
      word(`“${chosen}”`),
      sign("→"),
      added(letter("x", "x")),
      equals(),
      bracket("("),
      sub(letter("x", "x"), "1"),
      sign(","),
      gap(),
      sub(letter("x", "x"), "2"),
      bracket(")"),
    ),
  ],
  additive: () => [
    row(
      e(),
      equals(),
      added(
        letter("w"),
        sign("·"),
        word("tanh"),
        bracket("("),
        matrix("W"),
        q(),
        sign("+"),
        matrix("U"),
        k(),
        sign("+"),
        letter("b"),
        bracket(")"),
      ),
    ),
  ],
  dot: () => [
    row(e(), equals(), added(product()), equals(), total("j"), sub(letter("q", "q"), "j"), sub(letter("k", "k"), "ij")),
  ],
  scaled: () => [row(e(), equals(), frac(product(), added(d())))],
  softmax: () => [
    row(a(), equals(), added(sub(word("softmax"), "i")), gap(), bracket("("), frac(product(), d()), bracket(")")),
    row(a(), equals(), frac(row(word("exp"), gap(), e()), row(total("j"), word("exp"), gap(), sub(letter("e"), "j")))),
  ],
  values: () => [
    row(letter("y", "y"), equals(), added(total("i"), a(), v())),
    row(letter("a"), equals(), softmax(frac(product(), d()))),
  ],
  self: () => [
    row(matrix("Y", "y"), equals(), softmax(frac(row(matrix("Q", "q"), transposed()), d())), gap(), matrix("V", "v")),
    added(made("Q", "q", "X"), sign(","), gap(), made("K", "k", "X"), sign(","), gap(), made("V", "v", "X")),
  ],
  heads: () => [
    row(
      matrix("Y", "y"),
      equals(),
      added(bracket("["), sub(matrix("Y", "y"), "1"), sign(","), sub(matrix("Y", "y"), "2"), bracket("]")),
      gap(),
      sub(matrix("W"), "o"),
    ),
    row(
      sub(matrix("Y", "y"), "h"),
      equals(),
      softmax(
        frac(row(sub(matrix("Q", "q"), "h"), math("msubsup", null, matrix("K", "k"), letter("h"), word("⊤"))), d()),
      ),
      gap(),
      sub(matrix("V", "v"), "h"),
    ),
  ],
  mask: () => [
    row(
      matrix("Y", "y"),
      equals(),
      softmax(frac(row(matrix("Q", "q"), transposed()), d()), added(between("+"), matrix("M"))),
      gap(),
      matrix("V", "v"),
    ),
    row(
      sub(matrix("M"), "ij"),
      equals(),
      math("mn", null, "0"),
      aside("if"),
      letter("j"),
      sign("≤"),
      letter("i"),
      sign(","),
      aside("else"),
      math("mrow", null, sign("−"), math("mn", null, "∞")),
    ),
  ],
  cross: () => [
    row(matrix("Y", "y"), equals(), softmax(frac(row(matrix("Q", "q"), transposed()), d())), gap(), matrix("V", "v")),
    row(added(made("Q", "q", "Z", "z")), sign(","), gap(), made("K", "k", "X"), sign(","), gap(), made("V", "v", "X")),
  ],
};

/** @type {typeof EQUATIONS} */
const LATER = {
  order: () => [
    row(sub(letter("x", "x"), "t"), sign("→"), sub(letter("x", "x"), "t"), added(between("+"), sub(letter("p"), "t"))),
    row(
      sub(letter("p"), "t"),
      equals(),
      bracket("("),
      word("sin"),
      gap(),
      letter("t"),
      sign(","),
      gap(),
      word("cos"),
      gap(),
      letter("t"),
      sign(","),
      gap(),
      sign("…"),
      bracket(")"),
    ),
  ],
  block: () => [
    row(
      letter("h", "x"),
      equals(),
      letter("x", "x"),
      added(between("+"), word("attention"), gap(), bracket("("), word("norm"), gap(), letter("x", "x"), bracket(")")),
    ),
    row(
      letter("y", "y"),
      equals(),
      letter("h", "x"),
      sign("+"),
      word("MLP"),
      gap(),
      bracket("("),
      word("norm"),
      gap(),
      letter("h", "x"),
      bracket(")"),
    ),
  ],
  learning: () => [
    row(
      matrix("W"),
      sign("←"),
      matrix("W"),
      added(between("−"), letter("η"), gap(), frac(row(sign("∂"), letter("L")), row(sign("∂"), matrix("W")))),
    ),
    row(
      letter("L"),
      equals(),
      sign("−"),
      word("log"),
      gap(),
      word("p"),
      gap(),
      bracket("("),
      word("right word"),
      bracket(")"),
    ),
  ],
  next: () => [
    row(
      word("p"),
      gap(),
      bracket("("),
      sub(word("word"), "j"),
      bracket(")"),
      equals(),
      sub(added(word("softmax")), "j"),
      gap(),
      bracket("("),
      letter("y", "y"),
      sign("·"),
      sub(letter("u"), "j"),
      bracket(")"),
    ),
  ],
};

/** @param {string} step @param {string} chosen the word in hand */
export function equation(step, chosen) {
  return ({ ...EQUATIONS, ...LATER }[step] ?? (() => []))(chosen).map((line) =>
    math("math", { display: "block" }, line),
  );
}

/** A letter as it stands over a matrix. @param {string} name @param {string} role @param {string} [below] */
export function symbol(name, role, below) {
  const base = /^[A-Z]/.test(name) ? matrix(name, role) : letter(name, role);
  return math("math", null, below ? sub(base, below) : base);
}
