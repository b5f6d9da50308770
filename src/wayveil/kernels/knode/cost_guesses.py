"""Guesses of what a trajectory costs in a group, from a few timestamps, and short lists of the least."""

from __future__ import annotations

from wayveil.kernels.common.jit import inner
from wayveil.kernels.knode.group_boxes import (
    COUNT,
    EAST,
    HIGH,
    LOW,
    LOW_BUT_ONE,
    NEVER,
    NORTH,
    OUTER,
    SOUTH,
    THIN,
    WEST,
)

__all__ = ["guess_more", "keep_on_list"]

_STEPS = 4  # parts of the common time between which one looks


@inner
def guess_more(tracks, boxes, g, v):
    """Return about how much the loss of group g grows with v, or `NEVER` where they share no timestamp."""
    low = max(boxes.span[g, LOW], tracks.start[v])
    high = min(boxes.span[g, HIGH], tracks.end[v])
    if low > high:
        return NEVER
    side = boxes.side
    count = boxes.span[g, COUNT]
    more = 0.0
    at = tracks.first[v] - tracks.start[v]
    column = -boxes.span[g, LOW_BUT_ONE]
    # The boxes at a few timestamps of the common time, before and with v, stand for all of it.
    for i in range(_STEPS + 1):
        t = low + i * (high - low) // _STEPS
        x = tracks.x[at + t]
        y = tracks.y[at + t]
        j = column + t
        west = side[g, WEST, OUTER, j]
        east = side[g, EAST, OUTER, j]
        south = side[g, SOUTH, OUTER, j]
        north = side[g, NORTH, OUTER, j]
        width = -east - west
        height = -north - south
        more -= count * (width * height + THIN * (width + height))
        width = -min(east, -x) - min(west, x)
        height = -min(north, -y) - min(south, y)
        more += (count + 1) * (width * height + THIN * (width + height))
    # Samples that are cut off: those of the members outside of the common time, and those of v.
    lost = count * (boxes.span[g, HIGH] - boxes.span[g, LOW] - high + low)
    lost += tracks.end[v] - tracks.start[v] - high + low
    return more * (high - low + 1) / (_STEPS + 1) + lost


@inner
def keep_on_list(who, cost, n_listed, item, value):
    """Put an item into its place on a list of the cheapest, if it is cheap enough; return how long the list is.

    ``who[:held]`` (int64) are the items on it, ``cost[:held]`` (float64) what they cost, ascending; both are written.
    """
    if n_listed == who.size and value >= cost[n_listed - 1]:
        return n_listed
    n_listed = min(n_listed + 1, who.size)
    at = n_listed - 1
    while at > 0 and cost[at - 1] > value:
        who[at] = who[at - 1]
        cost[at] = cost[at - 1]
        at -= 1
    who[at] = item
    cost[at] = value
    return n_listed
