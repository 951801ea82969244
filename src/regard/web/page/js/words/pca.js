/** Principal component analysis: the few directions along which points differ most, exactly. */

const PROBES = 8; // more than are asked for, so that the last of them settles, too
const ROUNDS = 300;
const NEAR = 1e-9;
const WORK = 6e9; // products at most; of larger tables every so many rows tell the axes

/** @typedef {{places: Float32Array, shares: number[]}} Found places of `count` numbers each, and the share of the variance on each axis */

/** An axis points to where its largest number is positive, as in regard.analysis.maps.
 * @param {Float32Array} table @param {number} width @param {number} count @param {(done: number) => void} [tell] @returns {Found} */
export function pca(table, width, count, tell = () => {}) {
  const rows = table.length / width;
  const axes = Math.min(count, width);
  const mean = average(table, width);
  const spread = covariance(table, width, mean, tell);
  const total = trace(spread, width);
  const { vectors, values } = subspace(spread, width, axes);
  const places = new Float32Array(rows * count);
  for (let k = 0; k < axes; k++) {
    const axis = upright(vectors.subarray(k * width, (k + 1) * width));
    for (let row = 0, at = 0; row < rows; row++) {
      let sum = 0;
      for (let j = 0; j < width; j++, at++) sum += (num(table, at) - num(mean, j)) * num(axis, j);
      places[row * count + k] = sum;
    }
  }
  return { places, shares: values.slice(0, axes).map((value) => (total > 0 ? Math.max(0, value) / total : 0)) };
}

/** @param {ArrayLike<number>} array @param {number} i */
const num = (array, i) => /** @type {number} */ (array[i]);

/** @param {Float32Array} table @param {number} width */
function average(table, width) {
  const mean = new Float64Array(width);
  const rows = table.length / width;
  for (let row = 0, at = 0; row < rows; row++) {
    for (let j = 0; j < width; j++, at++) mean[j] = num(mean, j) + num(table, at);
  }
  return mean.map((sum) => sum / rows);
}

/** @param {Float32Array} table @param {number} width @param {Float64Array} mean @param {(done: number) => void} tell */
function covariance(table, width, mean, tell) {
  const rows = table.length / width;
  const every = Math.max(1, Math.ceil((rows * width * width) / 2 / WORK));
  const found = new Float64Array(width * width);
  const one = new Float64Array(width);
  for (let row = 0; row < rows; row += every) {
    for (let j = 0; j < width; j++) one[j] = num(table, row * width + j) - num(mean, j);
    for (let i = 0; i < width; i++) {
      const [left, start] = [num(one, i), i * width];
      for (let j = i; j < width; j++) found[start + j] = num(found, start + j) + left * num(one, j);
    }
    if (row % 2000 === 0) tell(row / rows);
  }
  for (let i = 0; i < width; i++) for (let j = 0; j < i; j++) found[i * width + j] = num(found, j * width + i);
  return found;
}

/** @param {Float64Array} matrix @param {number} width */
function trace(matrix, width) {
  let sum = 0;
  for (let i = 0; i < width; i++) sum += num(matrix, i * width + i);
  return sum;
}

/** The largest eigenvectors as rows, by powers of the matrix on some probes. @param {Float64Array} matrix @param {number} width @param {number} count */
function subspace(matrix, width, count) {
  const probes = Math.min(width, count + PROBES);
  let basis = new Float64Array(probes * width);
  for (let i = 0; i < basis.length; i++) basis[i] = Math.sin(1 + i * 12.9898) + Math.cos(i * 4.1414);
  orthonormal(basis, width);
  /** @type {number[]} */
  let values = [];
  for (let round = 0; round < ROUNDS; round++) {
    const next = times(basis, matrix, width);
    orthonormal(next, width);
    const turned = ritz(next, matrix, width);
    basis = turned.vectors;
    const change = Math.max(...turned.values.slice(0, count).map((value, k) => Math.abs(value - (values[k] ?? 0))));
    values = turned.values;
    if (change <= NEAR * Math.abs(values[0] ?? 0)) break;
  }
  return { vectors: basis, values };
}

/** @param {Float64Array} rows @param {Float64Array} matrix @param {number} width */
function times(rows, matrix, width) {
  const found = new Float64Array(rows.length);
  for (let r = 0; r < rows.length; r += width) {
    for (let i = 0; i < width; i++) {
      const weight = num(rows, r + i);
      for (let j = 0; j < width; j++) found[r + j] = num(found, r + j) + weight * num(matrix, i * width + j);
    }
  }
  return found;
}

/** Gram and Schmidt, in place. @param {Float64Array} rows @param {number} width */
function orthonormal(rows, width) {
  for (let r = 0; r < rows.length; r += width) {
    const one = rows.subarray(r, r + width);
    for (let twice = 0; twice < 2; twice++) {
      for (let s = 0; s < r; s += width) {
        const other = rows.subarray(s, s + width);
        const part = dot(one, other);
        for (let j = 0; j < width; j++) one[j] = num(one, j) - part * num(other, j);
      }
    }
    const length = Math.sqrt(dot(one, one));
    for (let j = 0; j < width; j++) one[j] = length > 1e-12 ? num(one, j) / length : 0;
  }
}

/** @param {ArrayLike<number>} a @param {ArrayLike<number>} b */
function dot(a, b) {
  let sum = 0;
  for (let j = 0; j < a.length; j++) sum += num(a, j) * num(b, j);
  return sum;
}

/** Turn a basis within its own space until the matrix is diagonal there. @param {Float64Array} basis @param {Float64Array} matrix @param {number} width */
function ritz(basis, matrix, width) {
  const count = basis.length / width;
  const image = times(basis, matrix, width);
  const row = (/** @type {Float64Array} */ of, /** @type {number} */ i) => of.subarray(i * width, (i + 1) * width);
  const small = Array.from({ length: count }, (_, i) =>
    Array.from(
      { length: count },
      (_, j) => (dot(row(basis, i), row(image, j)) + dot(row(basis, j), row(image, i))) / 2,
    ),
  );
  const { values, vectors } = jacobi(small);
  const order = values.map((_, k) => k).sort((a, b) => num(values, b) - num(values, a));
  const turned = new Float64Array(basis.length);
  order.forEach((k, place) => {
    for (let i = 0; i < count; i++) {
      const weight = vectors[i]?.[k] ?? 0;
      for (let j = 0; j < width; j++)
        turned[place * width + j] = num(turned, place * width + j) + weight * num(basis, i * width + j);
    }
  });
  return { vectors: turned, values: order.map((k) => num(values, k)) };
}

/** Eigenvalues and eigenvectors, as columns, of a small symmetric matrix, by rotations. @param {number[][]} a */
export function jacobi(a) {
  const n = a.length;
  const at = (/** @type {number[][]} */ m, /** @type {number} */ i, /** @type {number} */ j) => m[i]?.[j] ?? 0;
  const vectors = a.map((_, i) => a.map((_, j) => (i === j ? 1 : 0)));
  const rotate = (
    /** @type {number[][]} */ m,
    /** @type {number} */ p,
    /** @type {number} */ q,
    /** @type {number} */ c,
    /** @type {number} */ s,
  ) => {
    for (const line of m)
      [line[p], line[q]] = [c * num(line, p) - s * num(line, q), s * num(line, p) + c * num(line, q)];
  };
  for (let sweep = 0; sweep < 60; sweep++) {
    let off = 0;
    for (let p = 0; p < n; p++) {
      for (let q = p + 1; q < n; q++) {
        const apq = at(a, p, q);
        off += apq * apq;
        if (Math.abs(apq) < 1e-300) continue;
        const theta = (at(a, q, q) - at(a, p, p)) / (2 * apq);
        const t = Math.sign(theta || 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
        const c = 1 / Math.sqrt(t * t + 1);
        rotate(a, p, q, c, t * c); // columns
        const [rowp, rowq] = [a[p] ?? [], a[q] ?? []];
        for (let k = 0; k < n; k++)
          [rowp[k], rowq[k]] = [c * num(rowp, k) - t * c * num(rowq, k), t * c * num(rowp, k) + c * num(rowq, k)];
        rotate(vectors, p, q, c, t * c);
      }
    }
    if (off < 1e-22) break;
  }
  return { values: a.map((_, i) => at(a, i, i)), vectors };
}

/** @param {Float64Array} axis */
function upright(axis) {
  const largest = axis.reduce((best, value) => (Math.abs(value) > Math.abs(best) ? value : best), 0);
  return largest < 0 ? axis.map((value) => -value) : axis;
}
