"""Hidden-Markov map matching: the likeliest positions on roads of points that were measured with noise.

Points that lie close to each other are first brought together into one position, their mean (`gather_points`); what is
matched are these positions.  The candidates of a position are places on roads near it, as `near_roads` finds them.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from wayveil.kernels.common.jit import inner, kernel
from wayveil.kernels.roads.shortest_paths import new_goals, new_search, ways_to

__all__ = ["Candidates", "Model", "Track", "choose_candidates", "gather_points", "way_between"]

Candidates = namedtuple("Candidates", ["first", "road", "along", "away"])
"""Places on roads near positions; nobody writes to it.

first : int64, one per position and one more
    Position i has the candidates ``first[i]:first[i + 1]``, the nearest first, at most one on each road.
road : int64, one per candidate
along, away : float64, one per candidate
    Metres from the beginning of the road, and metres from the position.
"""

Track = namedtuple("Track", ["start", "x", "y", "weight", "first_row", "arrival_row", "departure_row"])
"""The positions of trajectories; nobody writes to it.

start : int64, one per trajectory and one more
    Trajectory i has the positions ``start[i]:start[i + 1]``, in the order of time.
x, y : float64, one per position
    The mean of its points.
weight : float64, one per position
    How much more it says than one point.
first_row : int64, one per position
    The first of its points.
arrival_row, departure_row : int64, one per position
    The first and the last of its points near the mean; from the one to the other somebody is taken to be there.
"""

Model = namedtuple("Model", ["noise", "beta", "max_detour", "slack"])
"""What is likely, all in metres: the standard deviation of one point, the usual detour over a short way, the largest
one, and how far back on one road is standing still."""

# The longer the straight line between two positions, the longer are usual detours: `beta` grows by this share of it.
_DETOURS_PER_M = 0.2
# A way that is shorter than the straight line is due to noise, for which the distances from the roads are charged
# already; what it is shorter counts by this share, or noise would be explained by ways into side streets.
_COST_OF_SHORTER = 0.3


@kernel
def gather_points(offsets, x, y, usable, apart, near, most_weight):
    """Return the `Track` of points, where those within `apart` of the first one of them are one position.

    Trajectory i has the points ``offsets[i]:offsets[i + 1]`` (int64) at `x` and `y` (float64); those that are not
    `usable` (1 or 0, int64) are passed over.  A mean of n points has the weight n, up to `most_weight`.  Points within
    `near` of their mean are near it; where there is none, those that are nearest.  O(points) time and memory.
    """
    start = np.zeros(offsets.size, np.int64)
    position = np.full(x.size, -1, np.int64)  # of each point, -1 if it is passed over
    first_row = np.empty(x.size, np.int64)
    n = np.int64(0)
    # Newson and Krumm (2009, section 4.1) drop points within two standard deviations of the last one used: they say
    # little but noise about the way.  What they say about the place is worth keeping, so here the mean is used.  Before
    # each round the points so far are in positions 0 to n - 1; a point joins the last one, whose first point decides
    # how far it reaches, or begins the next.
    for one in range(offsets.size - 1):
        for i in range(offsets[one], offsets[one + 1]):
            if usable[i] == 0:
                continue
            if n == start[one] or _distance(x, y, i, x[first_row[n - 1]], y[first_row[n - 1]]) > apart:
                first_row[n] = i
                n += 1
            position[i] = n - 1
        start[one + 1] = n
    mean_x = np.zeros(n, np.float64)
    mean_y = np.zeros(n, np.float64)
    weight = np.zeros(n, np.float64)
    for i in range(x.size):
        if position[i] >= 0:
            mean_x[position[i]] += x[i]
            mean_y[position[i]] += y[i]
            weight[position[i]] += 1.0
    for at in range(n):
        mean_x[at] /= weight[at]
        mean_y[at] /= weight[at]
        weight[at] = min(weight[at], most_weight)
    # Somebody who drives through a position is at its mean for a moment, somebody who waits there for long: the times
    # are those of the points near the mean.  Until there is one, the nearest point so far stands for it.
    arrival_row = first_row[:n].copy()
    departure_row = first_row[:n].copy()
    best = np.full(n, np.inf, np.float64)
    for i in range(x.size):
        at = position[i]
        if at < 0:
            continue
        away = max(_distance(x, y, i, mean_x[at], mean_y[at]), near)
        if away < best[at]:
            best[at] = away
            arrival_row[at] = i
        if away == best[at]:
            departure_row[at] = i
    return Track(start, mean_x, mean_y, weight, first_row[:n].copy(), arrival_row, departure_row)


@inner
def _distance(x, y, i, at_x, at_y):
    """Return how far point i is from a place."""
    return np.hypot(x[i] - at_x, y[i] - at_y)


@kernel
def choose_candidates(track, candidates, graph, model):
    """Return the candidate of each position on the likeliest way, and 1 where a new part begins.

    A candidate costs ``weight * (away / noise)^2 / 2``.  A way between two consecutive ones costs what it is longer
    than the straight line between the positions, or 0.3 of what it is shorter, divided by `beta` and a fifth of that
    line.  A way that is more than `max_detour` longer than the line is none; where no way is left a new part begins.
    Of equal costs the candidate that comes first.
    Every position has a candidate.

    O(positions x candidates^2) time and up to O(positions x candidates) short searches; O(positions x candidates +
    roads) memory.
    """
    memory = new_search(graph.length.size)
    most = np.int64(1)
    for i in range(track.x.size):
        most = max(most, candidates.first[i + 1] - candidates.first[i])
    goals = new_goals(most)
    cost = np.empty(candidates.road.size, np.float64)  # of the likeliest way up to a candidate
    back = np.empty(candidates.road.size, np.int64)  # the candidate before it on this way
    chosen = np.empty(track.x.size, np.int64)
    begins = np.ones(track.x.size, np.int64)
    # Viterbi's algorithm.  Before each round the likeliest way up to every candidate of the position before is known.
    # A round goes on from each of them to the candidates of this position.  At the end the likeliest last candidate
    # leads back, by those before it, through the part that it ends.
    for one in range(track.start.size - 1):
        for i in range(track.start[one], track.start[one + 1]):
            low = candidates.first[i]
            high = candidates.first[i + 1]
            for b in range(low, high):
                cost[b] = np.inf
                back[b] = -1
            if i > track.start[one]:
                begins[i] = 1 - _go_on(i, track, candidates, graph, model, memory, goals, (cost, back))
            for b in range(low, high):
                if begins[i] == 1:
                    cost[b] = 0.0
                cost[b] += 0.5 * track.weight[i] * (candidates.away[b] / model.noise) ** 2
        best = np.int64(-1)
        for i in range(track.start[one + 1] - 1, track.start[one] - 1, -1):
            if best < 0:
                best = candidates.first[i]
                for b in range(best, candidates.first[i + 1]):
                    if cost[b] < cost[best]:
                        best = b
            chosen[i] = best
            best = back[best]
    return chosen, begins


@inner
def _go_on(i, track, candidates, graph, model, memory, goals, ways):
    """Extend the ways up to the candidates of position i - 1 to those of position i; return 1 if there is one.

    `ways` are the costs and the candidates before; of position i they are written.
    """
    cost, back = ways
    low = candidates.first[i]
    high = candidates.first[i + 1]
    straight = np.hypot(track.x[i] - track.x[i - 1], track.y[i] - track.y[i - 1])
    bound = straight + model.max_detour
    beta = model.beta + _DETOURS_PER_M * straight
    for b in range(low, high):
        goals.road[b - low] = candidates.road[b]
    reached = np.int64(0)
    for a in range(candidates.first[i - 1], candidates.first[i]):
        if cost[a] == np.inf:
            continue
        for b in range(low, high):  # a way that does not beat the best one so far need not be found
            room = min(bound, straight + beta * (cost[b] - cost[a]))
            goals.limit[b - low] = room - way_between(candidates, graph, a, b, 0.0, model.slack)
            if way_between(candidates, graph, a, b, np.inf, model.slack) < np.inf:
                goals.limit[b - low] = -1.0  # on one road, without any other
        ways_to(graph, memory, candidates.road[a], goals, high - low)
        for b in range(low, high):
            way = way_between(candidates, graph, a, b, goals.way[b - low], model.slack)
            if not way <= bound:
                continue
            new = cost[a] + max(way - straight, _COST_OF_SHORTER * (straight - way)) / beta
            if new < cost[b]:
                cost[b] = new
                back[b] = a
                reached = 1
    return reached


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
