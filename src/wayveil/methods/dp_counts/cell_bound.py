"""How many cells of one person are counted, and which: what bounds the influence of everybody."""

from __future__ import annotations

import numpy as np

from wayveil.methods.common.cell_tally import CellTally
from wayveil.methods.common.noise import add_noise, plan_laplace
from wayveil.model import NoisyQuery
from wayveil.model.data.ragged import BoolArray

__all__ = ["bound_cells", "choose_bound", "plan_bound"]

_BOUNDS = 2 ** np.arange(17)
_ENOUGH_FOR = 0.9
_FLOOR = 5.0
"""A bin below so many scales of its noise is taken for empty: otherwise noise alone would make people of many cells."""


def plan_bound(epsilon: float, *, component: str) -> NoisyQuery:
    """Return the query that counts people by their number of cells; everybody is in one bin."""
    return plan_laplace(
        "cells-per-person",
        component=component,
        counts="people-by-cells",
        keys=len(_BOUNDS),
        l0=1,
        linf=1,
        epsilon=epsilon,
        role="model",
    )


def choose_bound(cells: CellTally, query: NoisyQuery, *, component: str) -> int:
    """Return the smallest power of 2 that is enough for nine people in ten, as far as a noisy histogram tells."""
    n_cells = np.bincount(cells.pair_person)
    # Bin i has those of more than 2**(i-1) and at most 2**i cells; whoever has more than the last is in the last.
    of = np.minimum(np.searchsorted(_BOUNDS, n_cells[n_cells > 0]), len(_BOUNDS) - 1)
    noisy = add_noise(np.bincount(of, minlength=len(_BOUNDS)), query, component=component)
    people = np.where(noisy < _FLOOR * query.scale, 0, noisy)
    if not people.any():
        return 1
    return int(_BOUNDS[np.searchsorted(np.cumsum(people), _ENOUGH_FOR * people.sum())])


def bound_cells(cells: CellTally, bound: int, rng: np.random.Generator) -> BoolArray:
    """Return which pairs of a cell and a person are counted: of everybody at most `bound`, drawn at random.

    Every pair draws a number of its own, so nobody's choice depends on who else is there.
    """
    drawn = rng.random(len(cells.pair_person))
    order = np.lexsort((drawn, cells.pair_person))
    person = cells.pair_person[order]
    begins = np.flatnonzero(np.diff(person, prepend=-1))
    rank = np.arange(len(order)) - np.repeat(begins, np.diff(np.append(begins, len(order))))
    kept = np.zeros(len(order), np.bool_)
    kept[order[rank < bound]] = True
    return kept
