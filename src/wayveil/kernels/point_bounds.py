"""What matching two sequences of boxes costs at least, without matching them.

No matching is cheaper than this bound, which needs no order: every box of either sequence is dropped, or pays its share
of the cheapest match with any box of the other one; and the longer sequence must drop some.  Instead of the logarithm
to the base of 2 it takes the straight lines between the powers of 2, which are never above it: the bits of a number,
read as an integer, are just that.  Costs are those of ``point_matching``.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from wayveil.kernels.common.jit import inner

__all__ = ["SURE", "Coarse", "Rule", "Sequences", "coarse_bounds", "longer", "rest_bounds"]

Rule = namedtuple("Rule", ["drop", "space", "time"])
"""What dropping a point costs, and the weights of space and time in the cost of a box."""

Sequences = namedtuple("Sequences", ["boxes", "begin", "end", "size", "owner"])
"""Sequence i has the columns ``begin[i]:end[i]`` of `boxes`, stands for ``size[i]`` trajectories, is ``owner[i]``'s."""

Coarse = namedtuple("Coarse", ["which", "low", "high", "count"])
"""Sequences to choose from, the corners (x, y, t) of boxes around as many pieces of each, and the points in a piece."""

SURE = 1.0 - 1e-9
"""What a bound is multiplied with before it rules something out: sums in another order differ a little."""

_TILE = 256
_ONE = np.int64(1023 << 52)  # the bits of 1.0
_UNIT = 2.0**-52 * np.log(2.0)  # from bits to natural logarithms


@inner
def coarse_bounds(one, m_one, sequences, coarse, rule):
    """Return the bound for every sequence to choose from; all 0 where there are no pieces.

    O(sequences * pieces ^ 2) time, tile by tile, in loops that the compiler can vectorize.
    """
    n, pieces, many = one.shape[1], coarse.low.shape[1], coarse.which.size
    bound, rows, cols, sides = (
        np.zeros(many),
        np.empty((pieces, _TILE)),
        np.empty((pieces, _TILE)),
        np.empty((2, _TILE)),
    )
    space, time = sides[0].view(np.int64), sides[1].view(np.int64)
    own = _pieces_of(one, pieces)
    for begin in range(0, many if pieces > 0 else 0, _TILE):
        end = min(many, begin + _TILE)
        for a in range(pieces):
            for c in range(end - begin):
                rows[a, c], cols[a, c] = np.inf, np.inf
        for a in range(pieces):
            row = rows[a]
            for b in range(pieces):
                col = cols[b]
                _least_sides(own, a, coarse, b, begin, end, sides)
                for c in range(end - begin):
                    g = rule.space * (space[c] - _ONE) + rule.time * (time[c] - _ONE)
                    row[c], col[c] = (g if g < row[c] else row[c]), (g if g < col[c] else col[c])
        for c in range(end - begin):
            i = coarse.which[begin + c]
            dear_one, dear_two = 0.0, 0.0
            for a in range(pieces):
                g_one, g_two = min(rule.drop, rows[a, c] * _UNIT), min(rule.drop, cols[a, c] * _UNIT)
                dear_one, dear_two = max(dear_one, g_one), max(dear_two, g_two)
                count = coarse.count[a, begin + c]
                bound[begin + c] += m_one * own[9, a] * g_one + sequences.size[i] * count * g_two
            extra_one, extra_two = m_one * (rule.drop - dear_one), sequences.size[i] * (rule.drop - dear_two)
            bound[begin + c] += longer(n, sequences.end[i] - sequences.begin[i], extra_one, extra_two)
    return bound


@inner
def rest_bounds(one, m_one, sequences, number, rule, rest_one, rest_two, sides):
    """Write the bounds for what is left from every box on, of either; return what a drop costs in addition, of either.

    O(product of the lengths) time; `sides` is room for two numbers per box of the second.
    """
    two, a, b, n = sequences.boxes, sequences.begin[number], sequences.end[number], one.shape[1]
    x0, x1, y0, y1, t0, t1 = two[0, a:b], two[1, a:b], two[2, a:b], two[3, a:b], two[4, a:b], two[5, a:b]
    areas, spans, space, time = sides[0], sides[1], sides[0].view(np.int64), sides[1].view(np.int64)
    for j in range(b - a):
        rest_two[j] = np.inf
    for i in range(n):
        ax, bx, ay, by, at, bt, least = one[0, i], one[1, i], one[2, i], one[3, i], one[4, i], one[5, i], np.inf
        for j in range(x0.size):
            x = (x1[j] if x1[j] > bx else bx) - (x0[j] if x0[j] < ax else ax)
            y = (y1[j] if y1[j] > by else by) - (y0[j] if y0[j] < ay else ay)
            t = (t1[j] if t1[j] > bt else bt) - (t0[j] if t0[j] < at else at)
            areas[j], spans[j] = (1.0 + x) * (1.0 + y), 1.0 + t
        for j in range(b - a):
            g = rule.space * (space[j] - _ONE) + rule.time * (time[j] - _ONE)
            rest_two[j] = g if g < rest_two[j] else rest_two[j]
            least = g if g < least else least
        rest_one[i] = least
    return _sum_up(rest_one, n, m_one, rule), _sum_up(rest_two, b - a, sequences.size[number], rule)


@inner
def longer(n, m, extra_one, extra_two):
    """Return what n boxes of one and m of the other cost in addition, as the longer one drops some."""
    return (n - m) * extra_one if n > m else (m - n) * extra_two


@inner
def _sum_up(rest, n, m, rule):
    """Turn the cheapest match of every box into the cost from it on; return how much dearer any drop is."""
    dear, rest[n] = 0.0, 0.0
    for i in range(n - 1, -1, -1):
        g = min(rule.drop, rest[i] * _UNIT)
        dear, rest[i] = max(dear, g), rest[i + 1] + m * g
    return m * (rule.drop - dear)


@inner
def _pieces_of(one, pieces):
    """Return (from, to, 1 + the smallest side) of pieces for x, y and t, and how many boxes are in each."""
    found, n = np.empty((10, pieces)), one.shape[1]
    for a in range(pieces):
        first, last = a * n // pieces, (a + 1) * n // pieces
        found[9, a] = last - first
        for d in range(3):
            low, high, side = np.inf, -np.inf, np.inf
            for i in range(first, max(first + 1, last)):  # a piece without boxes takes the next one, for nothing
                low, high = min(low, one[2 * d, i]), max(high, one[2 * d + 1, i])
                side = min(side, 1.0 + (one[2 * d + 1, i] - one[2 * d, i]))
            found[d, a], found[3 + d, a], found[6 + d, a] = low, high, side
    return found


@inner
def _least_sides(own, a, coarse, b, begin, end, sides):
    """Write (1 + X) * (1 + Y) and 1 + T, at least, of a box around a box of piece a and one of piece b of others."""
    lx, ly, lt = coarse.low[0, b, begin:end], coarse.low[1, b, begin:end], coarse.low[2, b, begin:end]
    hx, hy, ht = coarse.high[0, b, begin:end], coarse.high[1, b, begin:end], coarse.high[2, b, begin:end]
    x0, y0, t0, x1, y1, t1 = own[0, a], own[1, a], own[2, a], own[3, a], own[4, a], own[5, a]
    sx, sy, st, space, time = own[6, a], own[7, a], own[8, a], sides[0], sides[1]
    for c in range(lx.size):
        x, y, t = _gap(x0, x1, lx[c], hx[c]), _gap(y0, y1, ly[c], hy[c]), _gap(t0, t1, lt[c], ht[c])
        space[c], time[c] = (sx + x) * (sy + y), st + t


@inner
def _gap(a, b, low, high):
    """Return how far the intervals from a to b and from low to high are apart."""
    after, before = low - b, a - high
    gap = after if after > before else before
    return gap if gap > 0.0 else 0.0
