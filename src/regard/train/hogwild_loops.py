"""word2vec's inner loop, compiled by numba (the extra `fast`); many threads run it on the same two matrices.

Nobody waits for anybody (Hogwild, Recht 2011): two threads seldom meet in one row of many thousands, and where they
do, a step is lost. `regard.train.hogwild_reference` is the same loop for people to read, with torch's own gradients.

One centre word is one small problem. Its neighbours' rows of the first matrix and its targets' rows of the second are
copied side by side, all scores are taken at once, and what each row must change is added back. If the neighbours share
the drawn words (Ji 2016), 6 neighbours and 6 targets touch 12 rows of memory instead of 42.
"""

from typing import no_type_check

import numpy as np
from numba import float32, int64, njit, uint64  # type: ignore[attr-defined, import-not-found, unused-ignore]

BOUND, CELLS = 8.0, 4096  # the logistic function in so many cells from -8 to 8, and flat beyond
_AT = ((np.arange(CELLS) + 0.5) / CELLS * 2 - 1) * BOUND
LOGISTIC = (1 / (1 + np.exp(-_AT))).astype(np.float32)
LOG = -np.log1p(np.exp(-_AT)).astype(np.float32)
# Sums in any order, which vectors of numbers need; NaN and infinity keep their meaning.
_FAST = {"reassoc", "contract", "nsz", "arcp"}
_STAR = 2685821657736338717  # of xorshift64*


@no_type_check
@njit(inline="always")
def _after(state):
    state ^= state >> uint64(12)
    state ^= state << uint64(25)
    state ^= state >> uint64(27)
    return state


@no_type_check
@njit(inline="always")
def _bits(state):
    return state * uint64(_STAR)


@no_type_check
@njit(inline="always")
def _below(bits, limit):
    """A whole number below a limit from the higher half of the bits."""
    return int64(((bits >> uint64(32)) * uint64(limit)) >> uint64(32))


@no_type_check
@njit(inline="always")
def _share(bits):
    """A number from 0 to 1 from the lower half of the bits."""
    return float32(bits & uint64(0xFFFFFFFF)) * float32(2.0**-32)


@no_type_check
@njit(cache=True, nogil=True, fastmath=_FAST, boundscheck=False, error_model="numpy")
def _scores(x, n, y, m, scores):
    """All products of n rows and m rows; two by three at a time, so that what is loaded serves several sums."""
    width = x.shape[1]
    for i in range(0, n, 2):
        other = i + 1 if i + 1 < n else i
        t = 0
        while t + 2 < m:
            a0 = a1 = a2 = b0 = b1 = b2 = float32(0)
            for k in range(width):
                a, b = x[i, k], x[other, k]
                y0, y1, y2 = y[t, k], y[t + 1, k], y[t + 2, k]
                a0 += a * y0
                a1 += a * y1
                a2 += a * y2
                b0 += b * y0
                b1 += b * y1
                b2 += b * y2
            scores[i, t], scores[i, t + 1], scores[i, t + 2] = a0, a1, a2
            scores[other, t], scores[other, t + 1], scores[other, t + 2] = b0, b1, b2
            t += 3
        while t < m:
            a0 = b0 = float32(0)
            for k in range(width):
                a0 += x[i, k] * y[t, k]
                b0 += x[other, k] * y[t, k]
            scores[i, t], scores[other, t] = a0, b0
            t += 1


@no_type_check
@njit(cache=True, nogil=True, fastmath=_FAST, boundscheck=False, error_model="numpy")
def _step(x, n, y, m, wanted, lr, scores, dx, dy):
    """What n rows and m rows must change by for one step down the gradient of their logistic loss; and that loss."""
    width = x.shape[1]
    _scores(x, n, y, m, scores)
    loss = float32(0)
    for i in range(n):
        for t in range(m):
            cell = int64((scores[i, t] + float32(BOUND)) * float32(CELLS / (2 * BOUND)))
            cell = max(0, min(CELLS - 1, cell))
            loss -= LOG[cell] if wanted[t] else LOG[CELLS - 1 - cell]
            scores[i, t] = (wanted[t] - LOGISTIC[cell]) * lr
    for t in range(m):
        d = dy[t]
        for k in range(width):
            d[k] = 0
    for i in range(n):
        row, d = x[i], dx[i]
        for k in range(width):
            d[k] = 0
        for t in range(m):
            gain, target, e = scores[i, t], y[t], dy[t]
            for k in range(width):
                d[k] += gain * target[k]
                e[k] += gain * row[k]
    return loss


@no_type_check
@njit(cache=True, nogil=True, fastmath=_FAST, boundscheck=False, error_model="numpy")
def _gather(matrix, rows, n, copy):
    for i in range(n):
        row = rows[i]
        for k in range(matrix.shape[1]):
            copy[i, k] = matrix[row, k]


@no_type_check
@njit(cache=True, nogil=True, fastmath=_FAST, boundscheck=False, error_model="numpy")
def _add(matrix, rows, n, change):
    for i in range(n):
        row = rows[i]
        for k in range(matrix.shape[1]):
            matrix[row, k] += change[i, k]


@no_type_check
@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def _targets(centre, negative, chances, others, starts, forks, turns, rows, wanted, state):
    """The rows of the second matrix that a word is asked for: itself and drawn words, or the forks on its way."""
    if negative == 0:
        count = 0
        for place in range(starts[centre], starts[centre + 1]):
            rows[count], wanted[count] = forks[place], turns[place]
            count += 1
        return count, state
    rows[0], wanted[0] = centre, 1
    count = 1
    for _ in range(negative):
        state = _after(state)
        bits = _bits(state)
        drawn = _below(bits, len(chances))
        if _share(bits) >= chances[drawn]:
            drawn = others[drawn]
        if drawn != centre:
            rows[count], wanted[count] = drawn, 0
            count += 1
    return count, state


@no_type_check
@njit(cache=True, nogil=True, fastmath=_FAST, boundscheck=False, error_model="numpy")
def learn(
    ids,
    keep,
    window,
    skipgram,
    shared,
    negative,
    chances,
    others,
    starts,
    forks,
    turns,
    longest,
    inputs,
    outputs,
    lr,
    seed,
):
    """One pass over a piece of text; the summed loss, how many predictions it is of, and how many words were kept."""
    width, state = inputs.shape[1], uint64(seed)
    text = np.empty(len(ids), np.int32)
    length = kept = 0
    for word in ids:
        if word >= 0:
            state = _after(state)
            if _share(_bits(state)) >= keep[word]:
                continue
            kept += 1
        text[length] = word
        length += 1
    x, dx = np.empty((2 * window, width), np.float32), np.empty((2 * window, width), np.float32)
    y, dy = np.empty((longest, width), np.float32), np.empty((longest, width), np.float32)
    scores, wanted = np.empty((2 * window, longest), np.float32), np.empty(longest, np.float32)
    near, rows = np.empty(2 * window, np.int32), np.empty(longest, np.int32)
    loss, predictions = 0.0, 0
    for place in range(length):
        centre = text[place]
        if centre < 0:
            continue
        state = _after(state)
        reach = window - _below(_bits(state), window)
        n = 0
        for j in range(place - 1, max(-1, place - 1 - reach), -1):
            if text[j] < 0:
                break
            near[n] = text[j]
            n += 1
        for j in range(place + 1, min(length, place + 1 + reach)):
            if text[j] < 0:
                break
            near[n] = text[j]
            n += 1
        if n == 0:
            continue
        if not skipgram:
            m, state = _targets(centre, negative, chances, others, starts, forks, turns, rows, wanted, state)
            _gather(outputs, rows, m, y)
            x[0] = 0
            for i in range(n):
                row = near[i]
                for k in range(width):
                    x[0, k] += inputs[row, k]
            for k in range(width):
                x[0, k] /= float32(n)
            loss += _step(x, 1, y, m, wanted, lr, scores, dx, dy)
            predictions += 1
            _add(outputs, rows, m, dy)
            for i in range(n):  # the whole change to each, not its n-th part, as word2vec does
                _add(inputs, near[i:], 1, dx)
            continue
        together = n if shared or negative == 0 else 1
        for first in range(0, n, together):
            m, state = _targets(centre, negative, chances, others, starts, forks, turns, rows, wanted, state)
            _gather(outputs, rows, m, y)
            _gather(inputs, near[first:], together, x)
            loss += _step(x, together, y, m, wanted, lr, scores, dx, dy)
            predictions += together
            _add(inputs, near[first:], together, dx)
            _add(outputs, rows, m, dy)
    return loss, predictions, kept
