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

__all__ = [
    "SURE",
    "T_FROM",
    "T_TO",
    "X_FROM",
    "X_TO",
    "Y_FROM",
    "Y_TO",
    "Coarse",
    "Known",
    "Rule",
    "Scratch",
    "Sequences",
    "coarse_bounds",
    "longer",
    "rest_bounds",
]

Rule = namedtuple("Rule", ["drop", "space", "time"])
"""What dropping a point costs, and the weights of space and time in the cost of a box."""

Sequences = namedtuple("Sequences", ["boxes", "begin", "end", "size", "owner"])
"""Sequences of boxes; no kernel writes to them.

boxes : float64, 6 x boxes of all sequences
    Each a column, with the rows `X_FROM` to `T_TO`.
begin, end : int64, one per sequence
    Sequence i has the columns ``begin[i]:end[i]``.
size : int64, one per sequence
    How many trajectories it stands for.
owner : int64, one per sequence
    Whose it is: codes below the number of sequences.
"""

Coarse = namedtuple("Coarse", ["which", "low", "high", "count"])
"""Sequences to choose from, each cut into the same number of pieces of about equally many boxes; nobody writes to it.

which : int64, one per sequence to choose from
    Its number among `Sequences`.
low, high : float64, 3 (x, y, t) x pieces x sequences to choose from
    The corners of the box around a piece.
count : float64 or int64, pieces x sequences to choose from
    How many boxes are in a piece.
"""

Scratch = namedtuple("Scratch", ["rest_one", "rest_two", "sides", "line"])
"""Room that is written again for every sequence that is matched (all float64).

rest_one, rest_two : one number more than there are boxes, of the one and of the longest other sequence
    What is left from every box on costs at least so much.
sides : two numbers per box of the longest other sequence
line : as long as `rest_two`
    A line of the costs A.
"""

Known = namedtuple("Known", ["bound", "least", "most"])
"""What is known of a sequence before its boxes are looked at.

bound : float
    Its coarse bound.
least : float64, one per piece of `one`
    The part of that bound for one box of each piece of `one`; nothing where there are no pieces and the bound is 0.
most : float
    What it may cost; a sequence above it is of no use.
"""

# The rows of a sequence of boxes.
X_FROM = 0
X_TO = 1
Y_FROM = 2
Y_TO = 3
T_FROM = 4
T_TO = 5

SURE = 1.0 - 1e-9
"""What a bound is multiplied with before it rules something out: sums in another order differ a little."""

# The rows of what `_pieces_of` returns: each of the first three stands for x, y and t.
_FROM = 0
_TO = 3
_SIDE = 6
_N_BOXES = 9

_TILE = 256  # sequences that are looked at together
_STRIDES = (0, 4, 2, 6, 1, 5, 3, 7)  # the order in which boxes are looked at: first every eighth
_SHARES = 8
_ONE = np.int64(1023 << 52)  # the bits of 1.0
_UNIT = 2.0**-52 * np.log(2.0)  # from bits to natural logarithms


@inner
def coarse_bounds(one, m_one, sequences, coarse, rule):
    """Return the bound for every sequence to choose from, all 0 where there are no pieces, and its parts.

    `one` (float64, 6 x boxes) stands for `m_one` trajectories.  The parts are `Known.least` of each sequence, a row.
    O(sequences * pieces ^ 2) time, tile by tile, in loops that the compiler can vectorize.
    """
    n = one.shape[1]
    pieces = coarse.low.shape[1]
    many = coarse.which.size
    bound = np.zeros(many)
    least = np.empty((many, pieces))
    rows = np.empty((pieces, _TILE))  # the cheapest match of each piece of `one`, with each sequence of the tile
    cols = np.empty((pieces, _TILE))  # the cheapest match of each piece of those
    sides = np.empty((2, _TILE))
    space = sides[0].view(np.int64)  # the bits of what `_least_sides` writes, as integers: logarithms, see above
    time = sides[1].view(np.int64)
    own = _pieces_of(one, pieces)
    # Tile by tile, so that all that is written stays in the cache.  A round compares every piece of `one` with every
    # piece of the others and keeps the cheapest match of each, in units of bits.  Then every box pays its share of that
    # of its piece, or a drop if this is cheaper, and the longer sequence pays for the boxes that find no partner.
    for begin in range(0, many if pieces > 0 else 0, _TILE):
        end = min(many, begin + _TILE)
        for a in range(pieces):
            for c in range(end - begin):
                rows[a, c] = np.inf
                cols[a, c] = np.inf
        for a in range(pieces):
            row = rows[a]
            for b in range(pieces):
                col = cols[b]
                _least_sides(own, a, coarse, b, begin, end, sides)
                for c in range(end - begin):
                    g = rule.space * (space[c] - _ONE) + rule.time * (time[c] - _ONE)
                    row[c] = g if g < row[c] else row[c]
                    col[c] = g if g < col[c] else col[c]
        for c in range(end - begin):
            i = coarse.which[begin + c]
            dear_one = 0.0
            dear_two = 0.0
            for a in range(pieces):
                g_one = min(rule.drop, rows[a, c] * _UNIT)
                g_two = min(rule.drop, cols[a, c] * _UNIT)
                dear_one = max(dear_one, g_one)
                dear_two = max(dear_two, g_two)
                least[begin + c, a] = g_one
                count = coarse.count[a, begin + c]
                bound[begin + c] += m_one * own[_N_BOXES, a] * g_one + sequences.size[i] * count * g_two
            extra_one = m_one * (rule.drop - dear_one)
            extra_two = sequences.size[i] * (rule.drop - dear_two)
            bound[begin + c] += longer(n, sequences.end[i] - sequences.begin[i], extra_one, extra_two)
    return bound, least


@inner
def rest_bounds(one, m_one, sequences, number, rule, known, scratch):
    """Write the bounds for what is left from every box on, of either; return what a drop costs in addition, of either.

    `one` is as in `coarse_bounds`, `number` a sequence and `known` what is known of it.  Infinity is returned, and
    nothing of use written, as soon as it is clear that it costs more than `known.most`.
    O(product of the lengths) time, mostly much less.
    """
    rest_one = scratch.rest_one
    rest_two = scratch.rest_two
    sides = scratch.sides
    two = sequences.boxes
    a = sequences.begin[number]
    b = sequences.end[number]
    n = one.shape[1]
    pieces = known.least.size
    x0 = two[X_FROM, a:b]
    x1 = two[X_TO, a:b]
    y0 = two[Y_FROM, a:b]
    y1 = two[Y_TO, a:b]
    t0 = two[T_FROM, a:b]
    t1 = two[T_TO, a:b]
    areas = sides[0]
    spans = sides[1]
    space = sides[0].view(np.int64)
    time = sides[1].view(np.int64)
    for j in range(b - a):
        rest_two[j] = np.inf
    dear_before = 0.0
    for piece in range(pieces):
        dear_before = max(dear_before, known.least[piece])
    dear = dear_before
    more = 0.0
    # The cheapest match of every box with any of the other sequence, in units of bits.  Two loops inside, as the
    # compiler vectorizes each, but not one that does both.  Before each round the coarse bound holds with `more` added:
    # boxes that were looked at pay what they cost instead of what their piece does at least, and drops of the longer
    # sequence are the less dear in addition.  Neighbours say the same, so every eighth box is looked at first: most
    # sequences are ruled out by those.
    for share in range(_SHARES):
        for i in range(_STRIDES[share], n, _SHARES):
            ax = one[X_FROM, i]
            bx = one[X_TO, i]
            ay = one[Y_FROM, i]
            by = one[Y_TO, i]
            at = one[T_FROM, i]
            bt = one[T_TO, i]
            least = np.inf
            for j in range(x0.size):
                x = (x1[j] if x1[j] > bx else bx) - (x0[j] if x0[j] < ax else ax)
                y = (y1[j] if y1[j] > by else by) - (y0[j] if y0[j] < ay else ay)
                t = (t1[j] if t1[j] > bt else bt) - (t0[j] if t0[j] < at else at)
                areas[j] = (1.0 + x) * (1.0 + y)
                spans[j] = 1.0 + t
            for j in range(b - a):
                g = rule.space * (space[j] - _ONE) + rule.time * (time[j] - _ONE)
                rest_two[j] = g if g < rest_two[j] else rest_two[j]
                least = g if g < least else least
            rest_one[i] = least
            g_one = min(rule.drop, least * _UNIT)
            dear = max(dear, g_one)
            more += m_one * (g_one - (known.least[_piece_of(i, n, pieces)] if pieces > 0 else 0.0))
            if (known.bound + more - longer(n, b - a, m_one * (dear - dear_before), 0.0)) * SURE > known.most:
                return np.inf, np.inf
    return _sum_from_the_end(rest_one, n, m_one, rule), _sum_from_the_end(rest_two, b - a, sequences.size[number], rule)


@inner
def _piece_of(i, n, pieces):
    """Return the piece of box i of n: the last one that begins at i or before, and is not empty."""
    return ((i + 1) * pieces - 1) // n


@inner
def longer(n, m, extra_one, extra_two):
    """Return what n boxes of one and m of the other cost in addition, as the longer one drops some."""
    return (n - m) * extra_one if n > m else (m - n) * extra_two


@inner
def _sum_from_the_end(rest, n, m, rule):
    """Turn the cheapest match of every box into the cost from it on; return how much dearer any drop is.

    `rest` (float64) has n numbers in units of bits, and room for one more.
    """
    dear = 0.0
    rest[n] = 0.0
    for i in range(n - 1, -1, -1):
        g = min(rule.drop, rest[i] * _UNIT)
        dear = max(dear, g)
        rest[i] = rest[i + 1] + m * g
    return m * (rule.drop - dear)


@inner
def _pieces_of(one, pieces):
    """Return (from, to, 1 + the smallest side) of pieces for x, y and t, and how many boxes are in each: 10 rows."""
    pieces_of = np.empty((10, pieces))
    n = one.shape[1]
    for a in range(pieces):
        first = a * n // pieces
        last = (a + 1) * n // pieces
        pieces_of[_N_BOXES, a] = last - first
        for d in range(3):
            low = np.inf
            high = -np.inf
            side = np.inf
            for i in range(first, max(first + 1, last)):  # a piece without boxes takes the next one, for nothing
                low = min(low, one[2 * d, i])
                high = max(high, one[2 * d + 1, i])
                side = min(side, 1.0 + (one[2 * d + 1, i] - one[2 * d, i]))
            pieces_of[_FROM + d, a] = low
            pieces_of[_TO + d, a] = high
            pieces_of[_SIDE + d, a] = side
    return pieces_of


@inner
def _least_sides(own, a, coarse, b, begin, end, sides):
    """Write (1 + X) * (1 + Y) and 1 + T, at least, of a box around a box of piece a and one of piece b of others.

    `own` is what `_pieces_of` returns; the others are the sequences ``begin:end`` to choose from.  `sides` (float64)
    has two rows with an entry for each of them.
    """
    lx = coarse.low[0, b, begin:end]
    ly = coarse.low[1, b, begin:end]
    lt = coarse.low[2, b, begin:end]
    hx = coarse.high[0, b, begin:end]
    hy = coarse.high[1, b, begin:end]
    ht = coarse.high[2, b, begin:end]
    x0 = own[_FROM, a]
    y0 = own[_FROM + 1, a]
    t0 = own[_FROM + 2, a]
    x1 = own[_TO, a]
    y1 = own[_TO + 1, a]
    t1 = own[_TO + 2, a]
    sx = own[_SIDE, a]
    sy = own[_SIDE + 1, a]
    st = own[_SIDE + 2, a]
    space = sides[0]
    time = sides[1]
    for c in range(lx.size):
        x = _gap(x0, x1, lx[c], hx[c])
        y = _gap(y0, y1, ly[c], hy[c])
        t = _gap(t0, t1, lt[c], ht[c])
        space[c] = (sx + x) * (sy + y)
        time[c] = st + t


@inner
def _gap(a, b, low, high):
    """Return how far the intervals from a to b and from low to high are apart."""
    after = low - b
    before = a - high
    gap = after if after > before else before
    return gap if gap > 0.0 else 0.0
