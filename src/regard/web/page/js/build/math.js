/**
 * The attention equation on small numbers, written out. Tests hold every function to the library's own.
 * A matrix is a list of rows.
 */

/** @typedef {number[][]} Matrix */
/** @typedef {boolean[][]} Visible true where looking is allowed */

/** @param {Matrix} a @param {Matrix} b @returns {Matrix} */
export function product(a, b) {
  const columns = transpose(b);
  return a.map((row) => columns.map((column) => sum(row.map((x, i) => x * (column[i] ?? 0)))));
}

/** @param {Matrix} a @returns {Matrix} */
export function transpose(a) {
  return (a[0] ?? []).map((_, j) => a.map((row) => row[j] ?? 0));
}

/** Bahdanau's score: a one-layer network looks at each query beside each key. @param {Matrix} q @param {Matrix} k @param {number[]} w @returns {Matrix} */
export function additive(q, k, w) {
  return q.map((query) => k.map((key) => sum(beside(query, key).map((x, i) => x * (w[i] ?? 0)))));
}

/** What the small network sees of one query and one key. @param {number[]} query @param {number[]} key */
export function beside(query, key) {
  return query.map((x, i) => Math.tanh(x + (key[i] ?? 0)));
}

/** Luong's dot score with `scale` 1; the Transformer's without. @param {Matrix} q @param {Matrix} k @param {number} [scale] @returns {Matrix} */
export function dot(q, k, scale = (q[0]?.length ?? 1) ** -0.5) {
  return product(q, transpose(k)).map((row) => row.map((x) => x * scale));
}

/** Softmax over the visible keys; a query that sees nothing weighs nothing. @param {Matrix} scores @param {Visible} [visible] @returns {Matrix} */
export function weigh(scores, visible) {
  return scores.map((row, i) => {
    const seen = row.map((x, j) => ((visible?.[i]?.[j] ?? true) ? x : -Infinity));
    const highest = Math.max(...seen);
    if (highest === -Infinity) return row.map(() => 0);
    const raised = seen.map((x) => Math.exp(x - highest)); // the same shares, and nothing overflows
    const total = sum(raised);
    return raised.map((x) => x / total);
  });
}

/** The past and oneself. @param {number} count @returns {Visible} */
export function causal(count) {
  return Array.from({ length: count }, (_, i) => Array.from({ length: count }, (_, j) => j <= i));
}

/**
 * Attentions side by side, each with projections of its own, blended by `out`.
 * @param {Matrix} x who asks
 * @param {Matrix} context who answers
 * @param {{q: Matrix, k: Matrix, v: Matrix}[]} heads
 * @param {Matrix} out
 * @param {Visible} [visible]
 */
export function multihead(x, context, heads, out, visible) {
  const looks = heads.map((head) => look(x, context, head, visible));
  return { looks, y: product(aside(looks.map((each) => each.y)), out) };
}

/**
 * One head with all that happens inside it.
 * @param {Matrix} x @param {Matrix} context @param {{q: Matrix, k: Matrix, v: Matrix}} head @param {Visible} [visible]
 */
export function look(x, context, head, visible) {
  const [q, k, v] = [product(x, head.q), product(context, head.k), product(context, head.v)];
  const scores = dot(q, k);
  const weights = weigh(scores, visible);
  return { q, k, v, scores, weights, y: product(weights, v) };
}

/** Every row with the same length: divided by the root of the mean of its squares (RMSNorm). @param {Matrix} x @returns {Matrix} */
export function norm(x) {
  return x.map((row) =>
    row.map((each) => each / Math.sqrt(sum(row.map((value) => value * value)) / row.length + 1e-6)),
  );
}

/** Two matrices with a ReLU between them, for each row alone. @param {Matrix} x @param {{up: Matrix, down: Matrix}} weights @returns {Matrix} */
export function mlp(x, { up, down }) {
  return product(
    product(x, up).map((row) => row.map((each) => Math.max(0, each))),
    down,
  );
}

/**
 * One block, pre-norm: attention and MLP read a normalised copy, and what they say is added to the stream. A part that is
 * `off` is left out; without the residual its answer takes the place of the stream.
 * @param {Matrix} x @param {{q: Matrix, k: Matrix, v: Matrix}} head @param {{up: Matrix, down: Matrix}} network @param {Set<string>} [off]
 */
export function block(x, head, network, off = new Set()) {
  /** @param {Matrix} a */
  const normed = (a) => (off.has("norm") ? a : norm(a));
  /** @param {Matrix} stream @param {Matrix | null} branch */
  const joined = (stream, branch) => (branch === null ? stream : off.has("residual") ? branch : plus(stream, branch));
  const read = normed(x);
  const attended = off.has("attention") ? null : look(read, read, head).y;
  const middle = joined(x, attended);
  const thought = off.has("MLP") ? null : mlp(normed(middle), network);
  return { attended, middle, thought, y: joined(middle, thought) };
}

/** @param {Matrix} a @param {Matrix} b @returns {Matrix} */
export function plus(a, b) {
  return a.map((row, i) => row.map((x, j) => x + b[i][j]));
}

/** The sines and cosines of a position, each pair slower than the one before. @param {number} t @param {number} width @param {number} [base] */
export function sinusoid(t, width, base = 10000) {
  return Array.from({ length: width }, (_, i) => {
    const angle = t / base ** ((i - (i % 2)) / width);
    return i % 2 ? Math.cos(angle) : Math.sin(angle);
  });
}

/** A number in binary, the largest digit first. @param {number} t @param {number} digits */
export function binary(t, digits) {
  return Array.from({ length: digits }, (_, i) => (t >> (digits - 1 - i)) & 1);
}

/** Lay the heads' answers side by side, row for row. @param {Matrix[]} parts @returns {Matrix} */
export function aside(parts) {
  return (parts[0] ?? []).map((_, i) => parts.flatMap((part) => part[i] ?? []));
}

/** @param {number[]} numbers */
export function sum(numbers) {
  return numbers.reduce((total, x) => total + x, 0);
}
