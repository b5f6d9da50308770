"""The roads between positions that were matched, with the times of entering them."""

from __future__ import annotations

import numpy as np

from wayveil.kernels.common.jit import inner, kernel
from wayveil.kernels.roads.map_matching import way_between
from wayveil.kernels.roads.shortest_paths import new_search, search

__all__ = ["join_candidates"]

_NEAR_M = 1e-6


@kernel
def join_candidates(track, t, candidates, chosen, begins, graph, slack):
    """Return parts of trajectories as roads: (trajectory of each part, its number of roads, road, time of entering).

    A part without any way along a road has no roads.  A road that is only touched, by the first position of a part at
    its end or by the last one at its beginning, is left out.  Times are interpolated by length, from the last row that
    stays at one position to the first row at the next.  O(roads on the way + search) time, O(rows + nodes) memory.
    """
    memory = new_search(graph.first.size - 1)
    target = np.empty(1, np.int64)
    source = np.empty(track.row.size, np.int64)
    lengths = np.empty(track.row.size, np.int64)
    road = np.empty(2 * track.row.size + 64, np.int64)
    time = np.empty(2 * track.row.size + 64, np.int64)
    n = np.int64(0)
    n_parts = np.int64(0)
    for one in range(track.start.size - 1):
        i = track.start[one]
        while i < track.start[one + 1]:
            begin = n
            moved = 0.0
            a = chosen[i]
            road, time = _room(road, time, n + 1)
            road[n] = candidates.road[a]
            time[n] = t[track.row[i]]
            reached = candidates.along[a]
            drop_first = graph.length[road[n]] - reached <= _NEAR_M
            n += 1
            i += 1
            while i < track.start[one + 1] and begins[i] == 0:
                a = chosen[i - 1]
                b = chosen[i]
                way = way_between(candidates, graph, a, b, np.inf, slack)
                if way == np.inf:
                    target[0] = graph.from_node[candidates.road[b]]
                    search(graph, memory, graph.to_node[candidates.road[a]], target, 1, np.inf)
                    way = way_between(candidates, graph, a, b, memory.way[target[0]], slack)
                    end = n
                    v = target[0]
                    while memory.by_road[v] >= 0:
                        end = end + 1
                        v = graph.from_node[memory.by_road[v]]
                    road, time = _room(road, time, end + 1)
                    road[end] = candidates.road[b]
                    v = target[0]
                    for at in range(end - 1, n - 1, -1):
                        road[at] = memory.by_road[v]
                        v = graph.from_node[road[at]]
                    leaves = t[track.last[i - 1]]
                    arrives = t[track.row[i]]
                    passed = graph.length[candidates.road[a]] - candidates.along[a]
                    for at in range(n, end + 1):
                        share = min(passed / way, 1.0) if way > 0.0 else 0.0
                        time[at] = min(leaves + np.int64((arrives - leaves) * share + 0.5), arrives)
                        passed += graph.length[road[at]]
                    n = end + 1
                    reached = 0.0
                reached = max(reached, candidates.along[b])
                moved += way
                i += 1
            if moved <= _NEAR_M:
                n = begin
            if n - begin > 1 and reached <= _NEAR_M:
                n -= 1
            if n - begin > 1 and drop_first:
                n -= 1
                for at in range(begin, n):
                    road[at] = road[at + 1]
                    time[at] = time[at + 1]
            source[n_parts] = one
            lengths[n_parts] = n - begin
            n_parts += 1
    return source[:n_parts].copy(), lengths[:n_parts].copy(), road[:n].copy(), time[:n].copy()


@inner
def _room(road, time, size):
    """Return both columns with room for `size` numbers."""
    if size <= road.size:
        return road, time
    more_road = np.empty(2 * size, np.int64)
    more_time = np.empty(2 * size, np.int64)
    for i in range(road.size):
        more_road[i] = road[i]
        more_time[i] = time[i]
    return more_road, more_time
