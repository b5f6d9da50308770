"""Groups of trajectories, the boxes around them per timestamp, and what these lose.

Positions are scaled so that the whole space is the unit square: the area of a box is then its share of the whole.  The
loss of a group is counted per sample: a published sample loses the area of its box, one that is cut off (because not
all of the group are on their way then) loses 1, as does every sample of a trajectory that is left out.  A little
of both sides of a box is added to its area, or a box as long as the whole space would cost nothing if it were thin.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayveil.kernels.common.jit import inner

__all__ = [
    "NEVER",
    "THIN",
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

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

NEVER = 1e300
"""The loss of a group that shares no timestamp: more than any other."""

THIN = 0.02
"""How much of the sides of a box counts beside its area."""

_LOW, _HIGH, _LOW_2, _HIGH_2, _LATE, _EARLY, _COUNT, _SAMPLES = 0, 1, 2, 3, 4, 5, 6, 7


class Tracks(NamedTuple):
    """Trajectories of one part: `v` has its positions from row ``first[v]`` of x and y on.

    `start` and `end` are its first and last timestamp, as positions in the list of all timestamps.
    """

    first: Ints
    start: Ints
    end: Ints
    owner: Ints
    x: Floats
    y: Floats


class Boxes(NamedTuple):
    """Who is in which group, and the boxes of every group.

    `label[v]` is the group of v or -1; the members of g are ``head[g]``, ``follow[head[g]]`` and so on until -1, and
    ``owners[g]`` is how many people they are.  `side` has for x_min, x_max, y_min, y_max and each timestamp the value
    and the next one inwards, and `who` the member with the former: so the boxes are known without any one
    member, too.  `span` has the first and the last timestamp that all members share, the same without the member that
    limits it, these two members, and how many members and samples there are.
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
    label, head, follow = np.empty(n, np.int64), np.empty(groups, np.int64), np.empty(n, np.int64)
    for v in range(n):
        label[v], follow[v] = -1, -1
    for g in range(groups):
        head[g] = -1
    return Boxes(
        label, head, follow, np.zeros(groups, np.int64), np.zeros((groups, 8), np.int64), np.zeros(groups, np.float64),
        np.empty((groups, 8, room), np.float64), np.empty((groups, 4, room), np.int64),
    )  # fmt: skip


@inner
def count_of_owner(tracks, boxes, g, who):
    """Return how many trajectories of one person are in group g."""
    found, v = np.int64(0), boxes.head[g]
    while v >= 0:
        if tracks.owner[v] == who:
            found += 1
        v = boxes.follow[v]
    return found


@inner
def keeps_shares(tracks, boxes, g, out, into, share):
    """Return whether nobody owns more than a share of group g without its member `out` and with `into`, if not -1.

    `share` is a numerator and a denominator.  O(members^2), but groups are small.
    """
    size, most = np.int64(0), np.int64(0)
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
    boxes.label[v], boxes.follow[v], boxes.head[g] = g, boxes.head[g], v


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
    span, side, who = boxes.span[g], boxes.side[g], boxes.who[g]
    _share_time(tracks, boxes, g)
    length = span[_HIGH_2] - span[_LOW_2] + 1
    for i in range(4):
        for j in range(length):
            side[2 * i, j], side[2 * i + 1, j], who[i, j] = np.inf, np.inf, -1
    v = boxes.head[g]
    while v >= 0:
        low, high = max(span[_LOW_2], tracks.start[v]), min(span[_HIGH_2], tracks.end[v])
        at, column = tracks.first[v] + low - tracks.start[v], low - span[_LOW_2]
        for j in range(high - low + 1):
            x, y = tracks.x[at + j], tracks.y[at + j]
            _keep_least(side, who, 0, column + j, x, v)
            _keep_least(side, who, 1, column + j, -x, v)
            _keep_least(side, who, 2, column + j, y, v)
            _keep_least(side, who, 3, column + j, -y, v)
        v = boxes.follow[v]
    boxes.loss[g] = loss_if(tracks, boxes, g, -1, -1, NEVER, 1)


@inner
def _share_time(tracks, boxes, g):
    """Find the timestamps that all members share, and those that all but the latest or the earliest do."""
    span, v = boxes.span[g], boxes.head[g]
    span[_LOW], span[_LOW_2], span[_HIGH], span[_HIGH_2] = tracks.start[v], -1, tracks.end[v], -1
    span[_LATE], span[_EARLY], span[_COUNT], span[_SAMPLES] = v, v, 1, tracks.end[v] - tracks.start[v] + 1
    v = boxes.follow[v]
    while v >= 0:
        start, end = tracks.start[v], tracks.end[v]
        if start > span[_LOW]:
            span[_LOW], span[_LOW_2], span[_LATE] = start, span[_LOW], v
        elif span[_LOW_2] < start:
            span[_LOW_2] = start
        if end < span[_HIGH]:
            span[_HIGH], span[_HIGH_2], span[_EARLY] = end, span[_HIGH], v
        elif span[_HIGH_2] < 0 or end < span[_HIGH_2]:
            span[_HIGH_2] = end
        span[_COUNT] += 1
        span[_SAMPLES] += end - start + 1
        v = boxes.follow[v]
    if span[_COUNT] == 1:
        span[_LOW_2], span[_HIGH_2] = span[_LOW], span[_HIGH]


@inner
def _keep_least(side, who, i, j, value, v):
    if value < side[2 * i, j]:
        side[2 * i, j], side[2 * i + 1, j], who[i, j] = value, side[2 * i, j], v
    elif value < side[2 * i + 1, j]:
        side[2 * i + 1, j] = value


@inner
def loss_if(tracks, boxes, g, u, v, most, step):
    """Return the loss of group g without its member u and with v as well, where these are not -1.

    Where it is above `most`, perhaps only a part of it that is, too.  Only every `step`-th timestamp is looked at, for
    all that follow it: with 1 the loss is exact.  O(timestamps / step).
    """
    span, side, who = boxes.span, boxes.side, boxes.who
    low = span[g, _LOW_2] if u >= 0 and u == span[g, _LATE] else span[g, _LOW]
    high = span[g, _HIGH_2] if u >= 0 and u == span[g, _EARLY] else span[g, _HIGH]
    count, samples = span[g, _COUNT], span[g, _SAMPLES]
    if u >= 0:
        count, samples = count - 1, samples - (tracks.end[u] - tracks.start[u] + 1)
    if v >= 0:
        count, samples = count + 1, samples + tracks.end[v] - tracks.start[v] + 1
        low, high = max(low, tracks.start[v]), min(high, tracks.end[v])
    if low > high:
        return NEVER
    cut, area = samples - count * (high - low + 1), 0.0
    weight = count * (high - low + 1) / ((high - low) // step + 1)
    enough = (most - cut) / weight
    column, at = low - span[g, _LOW_2], np.int64(0)
    if v >= 0:
        at = tracks.first[v] + low - tracks.start[v]
    for j in range(column, column + high - low + 1, step):
        west = side[g, 1, j] if who[g, 0, j] == u else side[g, 0, j]
        east = side[g, 3, j] if who[g, 1, j] == u else side[g, 2, j]
        south = side[g, 5, j] if who[g, 2, j] == u else side[g, 4, j]
        north = side[g, 7, j] if who[g, 3, j] == u else side[g, 6, j]
        if v >= 0:
            x, y = tracks.x[at + j - column], tracks.y[at + j - column]
            west, east, south, north = min(west, x), min(east, -x), min(south, y), min(north, -y)
        width, height = -east - west, -north - south
        area += width * height + THIN * (width + height)
        if area > enough:
            break
    return cut + area * weight
