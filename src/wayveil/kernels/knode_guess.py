"""Guesses of what a trajectory costs in a group, from a few timestamps, and short lists of the least."""

from __future__ import annotations

from wayveil.kernels.common.jit import inner
from wayveil.kernels.knode.group_boxes import NEVER, THIN

__all__ = ["guess_more", "keep_on_list"]

_STEPS = 4


@inner
def guess_more(tracks, boxes, g, v):
    """Return about how much the loss of group g grows with v, or `NEVER` where they share no timestamp."""
    low, high = max(boxes.span[g, 0], tracks.start[v]), min(boxes.span[g, 1], tracks.end[v])
    if low > high:
        return NEVER
    side, count, more = boxes.side, boxes.span[g, 6], 0.0
    at, column = tracks.first[v] - tracks.start[v], -boxes.span[g, 2]
    for i in range(_STEPS + 1):
        t = low + i * (high - low) // _STEPS
        x, y, j = tracks.x[at + t], tracks.y[at + t], column + t
        west, east, south, north = side[g, 0, j], side[g, 2, j], side[g, 4, j], side[g, 6, j]
        width, height = -east - west, -north - south
        more -= count * (width * height + THIN * (width + height))
        width, height = -min(east, -x) - min(west, x), -min(north, -y) - min(south, y)
        more += (count + 1) * (width * height + THIN * (width + height))
    lost = count * (boxes.span[g, 1] - boxes.span[g, 0] - high + low) + tracks.end[v] - tracks.start[v] - high + low
    return more * (high - low + 1) / (_STEPS + 1) + lost


@inner
def keep_on_list(who, cost, held, item, value):
    """Put an item into its place on a list of the cheapest, if it is cheap enough; return how long the list is."""
    if held == who.size and value >= cost[held - 1]:
        return held
    held = min(held + 1, who.size)
    at = held - 1
    while at > 0 and cost[at - 1] > value:
        who[at], cost[at] = who[at - 1], cost[at - 1]
        at -= 1
    who[at], cost[at] = item, value
    return held
