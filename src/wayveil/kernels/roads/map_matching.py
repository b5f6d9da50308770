"""Hidden-Markov map matching: the likeliest positions on roads of points that were measured with noise.

The candidates of row `i` of the points are the positions ``first[i]:first[i + 1]`` on roads, as `near_roads` gives
them.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from wayveil.kernels.common.jit import inner, kernel
from wayveil.kernels.roads.shortest_paths import new_search, ways_to

__all__ = ["Candidates", "Track", "choose_candidates", "thin", "way_between"]

Candidates = namedtuple("Candidates", ["first", "road", "along", "away"])

Track = namedtuple("Track", ["start", "row", "last"])
"""The rows that are matched: trajectory `i` has ``row[start[i]:start[i + 1]]``, and until row `last` it stays there."""


@kernel
def thin(offsets, x, y, first, apart):
    """Return the `Track` of rows that have candidates and lie more than `apart` from the row taken before.

    Rows that are not farther away say little but noise about the way (Newson and Krumm leave out what is within two
    standard deviations).  O(rows) time and memory.
    """
    row = np.empty(x.size, np.int64)
    last = np.empty(x.size, np.int64)
    n = np.int64(0)
    start = np.zeros(offsets.size, np.int64)
    for track in range(offsets.size - 1):
        for i in range(offsets[track], offsets[track + 1]):
            if first[i] == first[i + 1]:
                continue
            if n > start[track]:
                dx = x[i] - x[row[n - 1]]
                dy = y[i] - y[row[n - 1]]
                if dx * dx + dy * dy <= apart * apart:
                    last[n - 1] = i
                    continue
            row[n] = i
            last[n] = i
            n += 1
        start[track + 1] = n
    return Track(start, row[:n].copy(), last[:n].copy())


@kernel
def choose_candidates(track, x, y, candidates, graph, noise, beta, max_detour, slack):
    """Return the candidate of each row of `track` on the likeliest way, and 1 where a new part begins.

    A candidate costs ``(away / noise)^2 / 2``, a way between two consecutive ones the difference of its length and the
    straight line between the points, divided by `beta`.  A way that is more than `max_detour` longer than the straight
    line is none; where no way is left a new part begins.  Of equal costs the candidate that comes first.

    Viterbi's algorithm: O(rows x candidates^2) time and up to O(rows x candidates) short searches; O(rows x candidates
    + nodes) memory.
    """
    memory = new_search(graph.first.size - 1)
    most = np.int64(1)
    for i in range(x.size):
        most = max(most, candidates.first[i + 1] - candidates.first[i])
    goal = np.empty(most, np.int64)
    asked = np.empty((2, most), np.int64)
    limit = np.empty(most, np.float64)
    gap = np.empty(most, np.float64)
    cost = np.empty(candidates.road.size, np.float64)
    back = np.empty(candidates.road.size, np.int64)
    chosen = np.empty(track.row.size, np.int64)
    begins = np.empty(track.row.size, np.int64)
    for one in range(track.start.size - 1):
        for i in range(track.start[one], track.start[one + 1]):
            low = candidates.first[track.row[i]]
            high = candidates.first[track.row[i] + 1]
            for b in range(low, high):
                cost[b] = np.inf
                back[b] = -1
                goal[b - low] = graph.from_node[candidates.road[b]]
            begins[i] = 1
            if i > track.start[one]:
                before = track.row[i - 1]
                straight = np.hypot(x[track.row[i]] - x[before], y[track.row[i]] - y[before])
                bound = straight + max_detour
                for a in range(candidates.first[before], candidates.first[before + 1]):
                    if cost[a] == np.inf:
                        continue
                    for b in range(low, high):  # a way that does not beat the best one so far need not be found
                        room = min(bound, straight + beta * (cost[b] - cost[a]))
                        limit[b - low] = room - way_between(candidates, graph, a, b, 0.0, slack)
                        if way_between(candidates, graph, a, b, np.inf, slack) < np.inf:
                            limit[b - low] = -1.0  # on one road, without any other
                    source = graph.to_node[candidates.road[a]]
                    ways_to(graph, memory, source, goal, limit, high - low, asked, gap)
                    for b in range(low, high):
                        way = way_between(candidates, graph, a, b, gap[b - low], slack)
                        new = cost[a] + abs(way - straight) / beta
                        if way <= bound and new < cost[b]:
                            cost[b] = new
                            back[b] = a
                            begins[i] = 0
            for b in range(low, high):
                if begins[i] == 1:
                    cost[b] = 0.0
                cost[b] += 0.5 * (candidates.away[b] / noise) ** 2
        best = np.int64(-1)
        for i in range(track.start[one + 1] - 1, track.start[one] - 1, -1):
            if best < 0:
                best = candidates.first[track.row[i]]
                for b in range(best, candidates.first[track.row[i] + 1]):
                    if cost[b] < cost[best]:
                        best = b
            chosen[i] = best
            best = back[best]
    return chosen, begins


@inner
def way_between(candidates, graph, a, b, gap, slack):
    """Return the length of the way from candidate `a` to candidate `b`; `gap` is that between their roads.

    Up to `slack` backwards on one road is standing still: noise, not a way around the block.
    """
    road = candidates.road[a]
    step = candidates.along[b] - candidates.along[a]
    if road == candidates.road[b] and step >= -slack:
        return max(step, 0.0)
    return graph.length[road] - candidates.along[a] + gap + candidates.along[b]
