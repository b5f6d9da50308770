"""Groups of trajectories, the boxes around them per timestamp, and what these lose.

Positions are scaled so that the whole space is the unit square: the area of a box is then its share of the whole.  The
loss of a group is counted per sample: a published sample loses the area of its box, one that is cut off (because not
all of the group are on their way then) loses 1, as does every sample of a trajectory that is left out.  A little
of both sides of a box is added to its area, or a box as long as the whole space would cost nothing if it were thin.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayveil.kernels.common.jit import inner

__all__ = [
    "COUNT",
    "EAST",
    "HIGH",
    "LOW",
    "LOW_BUT_ONE",
    "NEVER",
    "NORTH",
    "OUTER",
    "SOUTH",
    "THIN",
    "WEST",
    "Boxes",
    "Tracks",
    "count_of_owner",
    "enclose",
    "join",
    "keeps_shares",
    "leave",
    "loss_if",
    "new_boxes",
]

Ints = NDArray[np.integer[Any]]
Floats = NDArray[np.float64]

NEVER = 1e300
"""The loss of a group that shares no timestamp: more than any other."""

THIN = 0.02
"""How much of the sides of a box counts beside its area."""

# The columns of `Boxes.span`.
LOW = 0  # the first timestamp that all members share
HIGH = 1  # the last one
LOW_BUT_ONE = 2  # the first without the member that starts last
HIGH_BUT_ONE = 3  # the last without the member that ends first
LATEST = 4  # the member that starts last
EARLIEST = 5  # the member that ends first
COUNT = 6  # how many members there are
SAMPLES = 7  # how many samples they have, published or not

# The four sides.  Of each the least value is kept: east and north are negative coordinates.
WEST = 0
EAST = 1
SOUTH = 2
NORTH = 3

# What is kept of a side.
OUTER = 0  # the least value
INNER = 1  # the next one: the side without the member that has the least


class Tracks(NamedTuple):
    """Trajectories that are grouped together; nobody writes to them.

    first : one per trajectory
        Its positions are the rows of x and y from this one on, one for each timestamp.
    start, end : one per trajectory
        Its first and its last timestamp, as positions in the list of all timestamps.
    owner : one per trajectory
        Whose it is: codes below the number of trajectories.
    x, y : one per position
        Where, in the unit square.
    """

    first: Ints
    start: Ints
    end: Ints
    owner: Ints
    x: Floats
    y: Floats


class Boxes(NamedTuple):
    """Who is in which group, and the boxes of every group.

    `join` and `leave` write who is where, `enclose` the boxes.  What these would be without any one member can be read
    from them, too, which is what `loss_if` is fast by.

    label : one per trajectory
        Its group, or -1.
    head, follow : one per group, one per trajectory
        The members of g are ``head[g]``, ``follow[head[g]]`` and so on until -1.
    owners : one per group
        How many people its members belong to.
    span : groups x 8
        See the columns above.
    loss : one per group
        What it loses, in samples.
    side : groups x 4 sides x 2 x timestamps
        The two least values of each side; timestamps count from ``span[g, LOW_BUT_ONE]``.
    who : groups x 4 sides x timestamps
        The member that has the least value.
    """

    label: Ints
    head: Ints
    follow: Ints
    owners: Ints
    span: Ints
    loss: Floats
    side: Floats
    who: Ints


@inner
def new_boxes(n, groups, longest):
    """Return room for `n` trajectories in some groups: 192 bytes x groups x the longest trajectory.

    Two that meet for a moment only are, each without the other, on their way for almost twice as long.
    """
    room = 2 * longest
    label = np.empty(n, np.int64)
    head = np.empty(groups, np.int64)
    follow = np.empty(n, np.int64)
    for v in range(n):
        label[v] = -1
        follow[v] = -1
    for g in range(groups):
        head[g] = -1
    return Boxes(
        label, head, follow, np.zeros(groups, np.int64), np.zeros((groups, 8), np.int64), np.zeros(groups, np.float64),
        np.empty((groups, 4, 2, room), np.float64), np.empty((groups, 4, room), np.int64),
    )  # fmt: skip


@inner
def count_of_owner(tracks, boxes, g, who):
    """Return how many trajectories of one person are in group g."""
    count = np.int64(0)
    v = boxes.head[g]
    while v >= 0:
        if tracks.owner[v] == who:
            count += 1
        v = boxes.follow[v]
    return count


@inner
def keeps_shares(tracks, boxes, g, out, into, share):
    """Return whether nobody owns more than a share of group g without its member `out` and with `into`, if not -1.

    `share` is a numerator and a denominator.  O(members^2), but groups are small.
    """
    size = np.int64(0)
    most = np.int64(0)
    v = boxes.head[g]
    while v >= 0:
        if v != out:
            size += 1
            trips = np.int64(1 if into >= 0 and tracks.owner[into] == tracks.owner[v] else 0)
            u = boxes.head[g]
            while u >= 0:
                if u != out and tracks.owner[u] == tracks.owner[v]:
                    trips += 1
                u = boxes.follow[u]
            most = max(most, trips)
        v = boxes.follow[v]
    if into >= 0:
        size += 1
        most = max(most, np.int64(1))
    return most * share[1] <= size * share[0]


@inner
def join(tracks, boxes, g, v):
    """Put v into group g; the boxes stay as they are until `enclose`."""
    if count_of_owner(tracks, boxes, g, tracks.owner[v]) == 0:
        boxes.owners[g] += 1
    boxes.label[v] = g
    boxes.follow[v] = boxes.head[g]
    boxes.head[g] = v


@inner
def leave(tracks, boxes, v):
    """Take v out of its group; the boxes stay as they are until `enclose`."""
    g = boxes.label[v]
    at = boxes.head[g]
    if at == v:
        boxes.head[g] = boxes.follow[v]
    else:
        while boxes.follow[at] != v:
            at = boxes.follow[at]
        boxes.follow[at] = boxes.follow[v]
    boxes.label[v] = -1
    if count_of_owner(tracks, boxes, g, tracks.owner[v]) == 0:
        boxes.owners[g] -= 1


@inner
def enclose(tracks, boxes, g):
    """Make the boxes and the loss of group g; O(members x timestamps)."""
    span = boxes.span[g]
    side = boxes.side[g]
    who = boxes.who[g]
    _share_time(tracks, boxes, g)
    length = span[HIGH_BUT_ONE] - span[LOW_BUT_ONE] + 1
    for i in range(4):
        for j in range(length):
            side[i, OUTER, j] = np.inf
            side[i, INNER, j] = np.inf
            who[i, j] = -1
    # Every member at every timestamp at which all but one are on their way: any one may be left out later.
    v = boxes.head[g]
    while v >= 0:
        low = max(span[LOW_BUT_ONE], tracks.start[v])
        high = min(span[HIGH_BUT_ONE], tracks.end[v])
        at = tracks.first[v] + low - tracks.start[v]
        column = low - span[LOW_BUT_ONE]
        for j in range(high - low + 1):
            x = tracks.x[at + j]
            y = tracks.y[at + j]
            _keep_least(side, who, WEST, column + j, x, v)
            _keep_least(side, who, EAST, column + j, -x, v)
            _keep_least(side, who, SOUTH, column + j, y, v)
            _keep_least(side, who, NORTH, column + j, -y, v)
        v = boxes.follow[v]
    boxes.loss[g] = loss_if(tracks, boxes, g, -1, -1, NEVER, 1)


@inner
def _share_time(tracks, boxes, g):
    """Find the timestamps that all members share, and those that all but the latest or the earliest do."""
    span = boxes.span[g]
    v = boxes.head[g]
    span[LOW] = tracks.start[v]
    span[LOW_BUT_ONE] = -1
    span[HIGH] = tracks.end[v]
    span[HIGH_BUT_ONE] = -1
    span[LATEST] = v
    span[EARLIEST] = v
    span[COUNT] = 1
    span[SAMPLES] = tracks.end[v] - tracks.start[v] + 1
    v = boxes.follow[v]
    while v >= 0:
        start = tracks.start[v]
        end = tracks.end[v]
        if start > span[LOW]:
            span[LOW_BUT_ONE] = span[LOW]
            span[LOW] = start
            span[LATEST] = v
        elif span[LOW_BUT_ONE] < start:
            span[LOW_BUT_ONE] = start
        if end < span[HIGH]:
            span[HIGH_BUT_ONE] = span[HIGH]
            span[HIGH] = end
            span[EARLIEST] = v
        elif span[HIGH_BUT_ONE] < 0 or end < span[HIGH_BUT_ONE]:
            span[HIGH_BUT_ONE] = end
        span[COUNT] += 1
        span[SAMPLES] += end - start + 1
        v = boxes.follow[v]
    if span[COUNT] == 1:
        span[LOW_BUT_ONE] = span[LOW]
        span[HIGH_BUT_ONE] = span[HIGH]


@inner
def _keep_least(side, who, i, j, value, v):
    """Take in the value of member v at side i and timestamp j, if it is one of the two least."""
    if value < side[i, OUTER, j]:
        side[i, INNER, j] = side[i, OUTER, j]
        side[i, OUTER, j] = value
        who[i, j] = v
    elif value < side[i, INNER, j]:
        side[i, INNER, j] = value


@inner
def loss_if(tracks, boxes, g, u, v, most, step):
    """Return the loss of group g without its member u and with v as well, where these are not -1.

    Where it is above `most`, perhaps only a part of it that is, too.  Only every `step`-th timestamp is looked at, for
    all that follow it: with 1 the loss is exact.  O(timestamps / step).
    """
    span = boxes.span
    side = boxes.side
    who = boxes.who
    low = span[g, LOW_BUT_ONE] if u >= 0 and u == span[g, LATEST] else span[g, LOW]
    high = span[g, HIGH_BUT_ONE] if u >= 0 and u == span[g, EARLIEST] else span[g, HIGH]
    count = span[g, COUNT]
    samples = span[g, SAMPLES]
    if u >= 0:
        count = count - 1
        samples = samples - (tracks.end[u] - tracks.start[u] + 1)
    if v >= 0:
        count = count + 1
        samples = samples + tracks.end[v] - tracks.start[v] + 1
        low = max(low, tracks.start[v])
        high = min(high, tracks.end[v])
    if low > high:
        return NEVER
    cut = samples - count * (high - low + 1)  # samples that are cut off lose 1 each
    area = 0.0
    weight = count * (high - low + 1) / ((high - low) // step + 1)  # the samples that one look stands for
    enough = (most - cut) / weight
    column = low - span[g, LOW_BUT_ONE]
    at = np.int64(0)
    if v >= 0:
        at = tracks.first[v] + low - tracks.start[v]
    # One timestamp after the other, until the areas alone are above what the caller still cares for.
    for j in range(column, column + high - low + 1, step):
        west = side[g, WEST, INNER if who[g, WEST, j] == u else OUTER, j]
        east = side[g, EAST, INNER if who[g, EAST, j] == u else OUTER, j]
        south = side[g, SOUTH, INNER if who[g, SOUTH, j] == u else OUTER, j]
        north = side[g, NORTH, INNER if who[g, NORTH, j] == u else OUTER, j]
        if v >= 0:
            x = tracks.x[at + j - column]
            y = tracks.y[at + j - column]
            west = min(west, x)
            east = min(east, -x)
            south = min(south, y)
            north = min(north, -y)
        width = -east - west
        height = -north - south
        area += width * height + THIN * (width + height)
        if area > enough:
            break
    return cut + area * weight
