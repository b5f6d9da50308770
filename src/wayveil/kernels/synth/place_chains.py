"""Sequences of places, drawn from a start and what comes next after one or two places."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from wayveil.kernels.common.jit import inner, kernel

__all__ = ["NextPlaces", "draw_chains"]


class NextPlaces(NamedTuple):
    """What comes next, as running sums over the places.

    Parameters
    ----------
    after_one : float64, places x places
        Row `a` sums up how likely each place is after `a`; its last entry is above 0.
    pair_row : int64, places x places
        The row of `after_two` for a pair of places, -1 where the last place alone decides.
    after_two : float64, rows x places
        The same after two places.
    """

    after_one: Any
    pair_row: Any
    after_two: Any


@kernel
def draw_chains(next_places, starts, offsets, draws):
    """Return the places of sequences, one of ``offsets[i + 1] - offsets[i]`` places for each start.

    `draws` are uniform in [0, 1), one per place; that of the first is not used.  O(places drawn x log places) time.
    """
    places = np.empty(draws.size, np.int64)
    for chain in range(starts.size):
        before = -1
        at = starts[chain]
        for row in range(offsets[chain], offsets[chain + 1]):
            if row > offsets[chain]:
                following = -1
                if before >= 0:
                    following = next_places.pair_row[before, at]
                before = at
                if following >= 0:
                    at = _pick(next_places.after_two[following], draws[row])
                else:
                    at = _pick(next_places.after_one[before], draws[row])
            places[row] = at
    return places


@inner
def _pick(running, draw):
    """Return the first entry whose running sum is above a share of the whole: one of chance 0 is never taken."""
    goal = draw * running[running.size - 1]
    low = 0
    high = running.size - 1
    while low < high:
        middle = (low + high) // 2
        if running[middle] > goal:
            high = middle
        else:
            low = middle + 1
    return low
