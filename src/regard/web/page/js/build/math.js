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
    const seen = row.map((x, j) => (visible?.[i]?.[j] ?? true ? x : -Infinity));
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

/** Lay the heads' answers side by side, row for row. @param {Matrix[]} parts @returns {Matrix} */
export function aside(parts) {
  return (parts[0] ?? []).map((_, i) => parts.flatMap((part) => part[i] ?? []));
}

/** @param {number[]} numbers */
export function sum(numbers) {
  return numbers.reduce((total, x) => total + x, 0);
}
