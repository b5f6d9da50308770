"""The roads between positions that were matched, with the times of entering them."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from wayveil.kernels.common.jit import inner, kernel
from wayveil.kernels.roads.map_matching import way_between
from wayveil.kernels.roads.shortest_paths import new_search, search

__all__ = ["Matched", "join_candidates"]

_NEAR_M = 1e-6

Matched = namedtuple("Matched", ["source", "n_roads", "road", "t", "way_m"])
"""Parts of trajectories as roads.

source, n_roads : int64, one per part
    The trajectory that it comes from, and how many roads it has; none where there is no way along a road.
road, t : int64, one per road of a part
    The road, and when it was entered.
way_m : float64, one per position
    How long the way is that leads to it from the position before, turns that cost something included; 0 where a part
    begins.
"""


@kernel
def join_candidates(track, t, candidates, chosen, begins, graph, slack):
    """Return the `Matched` parts: all roads on the way from one chosen candidate to the next.

    A road that is only touched, by the first position of a part at its end or by the last one at its beginning, is left
    out.  Times are interpolated by length, from the departure from one position to the arrival at the next; `t`
    (int64) are those of the points.  O(roads on the way + search) time, O(positions + roads) memory.
    """
    memory = new_search(graph.length.size)
    n_positions = track.x.size
    source = np.empty(n_positions, np.int64)
    n_roads = np.empty(n_positions, np.int64)
    way_m = np.zeros(n_positions, np.float64)
    road = np.empty(2 * n_positions + 64, np.int64)
    time = np.empty(2 * n_positions + 64, np.int64)
    n = np.int64(0)  # roads so far
    n_parts = np.int64(0)
    # Before each round the parts before position i are written.  A round writes one part: the road of its first
    # position, then for each position the roads that lead to it, until the next part begins; and takes back the roads
    # at both ends that are only touched.
    for one in range(track.start.size - 1):
        i = track.start[one]
        while i < track.start[one + 1]:
            begin = n
            moved = 0.0
            a = chosen[i]
            road, time = _with_room(road, time, n + 1)
            road[n] = candidates.road[a]
            time[n] = t[track.first_row[i]]
            reached = candidates.along[a]  # how far along the last road somebody came
            touches_first = graph.length[road[n]] - reached <= _NEAR_M
            n += 1
            i += 1
            while i < track.start[one + 1] and begins[i] == 0:
                a = chosen[i - 1]
                b = chosen[i]
                way = way_between(candidates, graph, a, b, np.inf, slack)
                if way == np.inf:
                    way, road, time, end = _append_way(graph, memory, candidates, a, b, road, time, n)
                    leaves = t[track.departure_row[i - 1]]
                    arrives = t[track.arrival_row[i]]
                    passed = graph.length[candidates.road[a]] - candidates.along[a]
                    for at in range(n, end):
                        share = min(passed / way, 1.0) if way > 0.0 else 0.0
                        time[at] = min(leaves + np.int64((arrives - leaves) * share + 0.5), arrives)
                        passed += graph.length[road[at]]
                    n = end
                    reached = 0.0
                reached = max(reached, candidates.along[b])
                way_m[i] = way
                moved += way
                i += 1
            if moved <= _NEAR_M:
                n = begin
            if n - begin > 1 and reached <= _NEAR_M:
                n -= 1
            if n - begin > 1 and touches_first:
                n -= 1
                for at in range(begin, n):
                    road[at] = road[at + 1]
                    time[at] = time[at + 1]
            source[n_parts] = one
            n_roads[n_parts] = n - begin
            n_parts += 1
    return Matched(source[:n_parts].copy(), n_roads[:n_parts].copy(), road[:n].copy(), time[:n].copy(), way_m)


@inner
def _append_way(graph, memory, candidates, a, b, road, time, n):
    """Write the roads after that of candidate a up to that of candidate b behind the first n roads.

    Return the length of the way from a to b, both columns, which may be longer ones, and the new number of roads.
    """
    target = np.empty(1, np.int64)
    target[0] = candidates.road[b]
    search(graph, memory, candidates.road[a], target, 1, np.inf)
    way = graph.length[candidates.road[a]] - candidates.along[a] + memory.way[target[0]] + candidates.along[b]
    end = n
    at_road = target[0]
    while at_road >= 0:
        end += 1
        at_road = memory.before[at_road]
    road, time = _with_room(road, time, end)
    at_road = target[0]
    for at in range(end - 1, n - 1, -1):
        road[at] = at_road
        at_road = memory.before[at_road]
    return way, road, time, end


@inner
def _with_room(road, time, size):
    """Return both columns with room for `size` numbers."""
    if size <= road.size:
        return road, time
    more_road = np.empty(2 * size, np.int64)
    more_time = np.empty(2 * size, np.int64)
    for i in range(road.size):
        more_road[i] = road[i]
        more_time[i] = time[i]
    return more_road, more_time
