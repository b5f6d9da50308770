"""Boxes that are said to be of declared times: how many people share each, and which ones lack the mark."""

from __future__ import annotations

import numpy as np

from wayveil.model.data.boxes import Boxes
from wayveil.model.data.points import Points
from wayveil.model.data.ragged import BoolArray, IntArray, trajectory_of_row
from wayveil.verifiers.common.index_ranges import distinct
from wayveil.verifiers.common.whole_trajectories import columns_of

__all__ = ["count_least", "count_sharing", "find_unmarked"]


def count_sharing(published: Boxes, owner: IntArray) -> IntArray:
    """Return how many people have each box that is said to be of a declared time; 0 for all other boxes."""
    rows = np.flatnonzero(np.asarray(published.declared, bool))
    columns = [column[rows] for column in columns_of(published)]
    order = np.lexsort(columns)
    new = np.zeros(len(rows), bool)
    for column in columns:
        new[1:] |= column[order][1:] != column[order][:-1]
    code = np.empty(len(rows), np.int64)
    code[order] = np.cumsum(new)
    _, who = np.unique(owner[trajectory_of_row(published.offsets)[rows]], return_inverse=True)
    people = int(who.max(initial=0)) + 1
    count = np.bincount(distinct(code * people + who) // people, minlength=1)
    people_sharing = np.zeros(len(published.t_min), np.int64)
    people_sharing[rows] = count[code]
    return people_sharing


def find_unmarked(published: Boxes, original: Points) -> BoolArray:
    """Tell which boxes are of a time that is known of their own person, and are not said to be of a declared one."""
    is_known = original.known if original.known is not None else np.ones(len(original.t), bool)
    times = np.unique(original.t)
    width = len(times) + 1
    key = trajectory_of_row(original.offsets)[is_known] * width + np.searchsorted(times, original.t[is_known])
    base = trajectory_of_row(published.offsets) * width
    begin = np.searchsorted(key, base + np.searchsorted(times, published.t_min, side="left"))
    end = np.searchsorted(key, base + np.searchsorted(times, published.t_max, side="right"))
    is_unmarked: BoolArray = (begin < end) & ~np.asarray(published.declared, bool)
    return is_unmarked


def count_least(shared: IntArray) -> int | None:
    """Return how many share a box of a declared time at least; None where there is none."""
    some = shared[shared > 0]
    return int(some.min()) if len(some) else None
