"""Roads that enough people took, and the parts of trajectories that lie on them."""

from __future__ import annotations

import numpy as np

from wayveil.kernels.common.jit import kernel

__all__ = ["cut_parts", "people_on_roads"]


@kernel
def people_on_roads(trajectories, offsets, road, owner, n_roads):
    """Return how many distinct owners are on each road; trajectories of one owner must follow each other.

    `trajectories` (int64) tells which of them count, in which order; trajectory i has the roads
    ``road[offsets[i]:offsets[i + 1]]`` (int64, codes from 0) and is ``owner[i]``'s (int64).
    O(rows + roads) time, O(roads) memory.

    Examples
    --------
    >>> offsets, road, owner = np.array([0, 2, 4, 5]), np.array([0, 1, 0, 0, 1]), np.array([7, 7, 3])
    >>> people_on_roads(np.array([2, 0, 1]), offsets, road, owner, 3).tolist()
    [1, 2, 0]
    """
    people = np.zeros(n_roads, np.int64)
    last = np.zeros(n_roads, np.int64)
    number = np.int64(0)  # of the owner, in the order in which they come
    for at in range(trajectories.size):
        trajectory = trajectories[at]
        if at == 0 or owner[trajectory] != owner[trajectories[at - 1]]:
            number += 1
        for row in range(offsets[trajectory], offsets[trajectory + 1]):
            if last[road[row]] != number:
                last[road[row]] = number
                people[road[row]] += 1
    return people


@kernel
def cut_parts(trajectories, offsets, road, code, from_node, to_node):
    """Return (offsets, roads by `code`, position in `trajectories`) of the longest connected parts with codes >= 0.

    A part ends where the code of a road is negative, and where the next road does not begin at the node where the road
    before ends.  `trajectories`, `offsets` and `road` are as in `people_on_roads`; `code`, `from_node` and `to_node`
    (int64) have an entry for each road.  O(rows) time and memory.

    Examples
    --------
    >>> network = np.array([0, 1, 2]), np.array([1, 2, 3])  # roads 0, 1, 2 follow each other
    >>> first, roads, position = cut_parts(
    ...     np.array([1, 0]), np.array([0, 3, 5]), np.array([0, 1, 2, 0, 2]), np.array([0, 1, 2]), *network)
    >>> first.tolist(), roads.tolist(), position.tolist()
    ([0, 1, 2, 5], [0, 2, 0, 1, 2], [0, 0, 1])
    """
    n_parts = np.int64(0)
    n_rows = np.int64(0)
    first = np.zeros(1, np.int64)
    roads = np.zeros(0, np.int64)
    source = np.zeros(0, np.int64)
    # Twice the same: first to count parts and rows, then, in arrays of this size, to write them.
    for filling in range(2):
        if filling:
            first = np.zeros(n_parts + 1, np.int64)
            roads = np.empty(n_rows, np.int64)
            source = np.empty(n_parts, np.int64)
            n_parts = np.int64(0)
            n_rows = np.int64(0)
        for at in range(trajectories.size):
            before = np.int64(-1)
            for row in range(offsets[trajectories[at]], offsets[trajectories[at] + 1]):
                here = np.int64(road[row])
                if code[here] < 0:
                    before = np.int64(-1)
                    continue
                if before < 0 or to_node[before] != from_node[here]:
                    if filling:
                        source[n_parts] = at
                    n_parts += 1
                if filling:
                    roads[n_rows] = code[here]
                    first[n_parts] = n_rows + 1  # as if the part ended here
                n_rows += 1
                before = here
    return first, roads, source
