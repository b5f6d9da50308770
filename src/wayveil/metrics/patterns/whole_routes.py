"""Whole published routes against the longest stretches that many drive: Equation 9 of Gurung et al. (2014)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayveil.metrics.roads.road_counts import distinct
from wayveil.model.data.ragged import trajectory_of_row

__all__ = ["RouteMatches", "list_maximal_stretches", "match_routes"]

Array = NDArray[Any]


class RouteMatches(NamedTuple):
    """N_r, N_a and N_m of the paper: maximal stretches, different published routes, and those that are the same."""

    stretches: int
    routes: int
    matched: int

    @property
    def f_measure(self) -> float | None:
        """Equation 9: the harmonic mean of N_m / N_r and N_m / N_a."""
        total = self.stretches + self.routes
        return 2 * self.matched / total if total else None


def list_maximal_stretches(offsets: Array, road: Array, goes_on: Array, support: int) -> set[tuple[int, ...]]:
    """Return the stretches that at least `support` trajectories drive, and that are part of no longer one.

    Parameters
    ----------
    offsets, road : int64
        The trajectories: row by row the roads.
    goes_on : bool, one per row
        Whether the next row is of the same trajectory and begins where this road ends.

    Notes
    -----
    O(rows that begin a frequent stretch) time for each length, with a logarithm to sort them.

    Examples
    --------
    >>> road = np.array([1, 2, 3, 1, 2, 4])
    >>> goes_on = np.array([True, True, False, True, True, False])
    >>> list_maximal_stretches(np.array([0, 3, 6]), road, goes_on, 2)
    {(1, 2)}
    """
    trajectory = trajectory_of_row(offsets)
    n_trajectories = len(offsets)
    stretches: set[tuple[int, ...]] = set()
    begin = np.arange(len(road))
    number = road
    length = 1
    # Before each round `begin` are the rows at which stretches of this length begin that may be frequent, and `number`
    # tells these stretches apart.  A round keeps the frequent ones; one that no frequent stretch extends by a road,
    # before or behind, is maximal.  Every round makes them longer by a road, and trajectories end, so it does.
    while len(begin):
        values, code = np.unique(number, return_inverse=True)
        drivers = np.bincount(
            # Trajectories, not passages: each counts once per stretch.
            distinct(code.astype(np.int64) * n_trajectories + trajectory[begin]) // n_trajectories,
            minlength=len(values),
        )
        frequent = drivers[code] >= support
        begin = begin[frequent]
        code = code[frequent]
        # `at` is the stretch that begins at each row, -1 where none does that is frequent.
        at = np.full(len(road) + 1, -1)
        at[begin] = code
        # A stretch can grow if the one beginning a row later is frequent, too: a longer stretch is two overlapping
        # ones.
        longer = goes_on[begin + length - 1] & (at[begin + 1] >= 0)
        extended = begin[longer]
        pair = at[extended].astype(np.int64) * (len(values) + 1) + at[extended + 1]
        kinds, which = np.unique(pair, return_inverse=True)
        many = np.bincount(
            distinct(which.astype(np.int64) * n_trajectories + trajectory[extended]) // n_trajectories,
            minlength=len(kinds),
        )
        grows = many[which] >= support
        inner = np.zeros(len(values), np.bool_)
        # Both ends of a longer frequent stretch are inside it, so neither is maximal.
        inner[at[extended[grows]]] = True
        inner[at[extended[grows] + 1]] = True
        first = np.zeros(len(values), np.int64)
        first[code] = begin
        for one in np.flatnonzero(~inner & (drivers >= support)).tolist():
            stretches.add(tuple(road[first[one] : first[one] + length].tolist()))
        begin = extended[grows]
        number = pair[grows]
        length += 1
    return stretches


def match_routes(stretches: set[tuple[int, ...]], offsets: Array, road: Array) -> RouteMatches:
    """Return how many of the different published routes are such a stretch, from the first road to the last.

    Examples
    --------
    >>> match_routes({(1, 2)}, np.array([0, 2, 4, 5]), np.array([1, 2, 1, 2, 3])).f_measure
    0.6666666666666666
    """
    ends = offsets.tolist()
    routes = {tuple(road[a:b].tolist()) for a, b in pairwise(ends) if a < b}
    return RouteMatches(stretches=len(stretches), routes=len(routes), matched=len(stretches & routes))
