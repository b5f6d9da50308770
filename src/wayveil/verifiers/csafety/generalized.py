"""Stops against the original: is every published trajectory a true one, with stops left out and places made coarser?"""

from __future__ import annotations

import numpy as np

from wayveil.model.data.ragged import BoolArray, IntArray
from wayveil.model.data.stops import Stops
from wayveil.model.places.taxonomy import Taxonomy

__all__ = ["codes_in", "misfits"]

FEW = 64
"""So few trajectories are compared one by one, not all at once; the answer does not depend on it."""


def codes_in(tree: Taxonomy, other: Taxonomy, used: IntArray | None = None) -> IntArray | None:
    """Return the code in `tree` of every node of `other`, or None if they are not the same tree with the same labels.

    Nodes are compared by name, with the name of their parent and whether they are sensitive; their order may differ.
    A leaf that was added to `other` for stops need not be in `tree` if it is none of the nodes that are `used`; its
    code is that of the kind above it then.

    Examples
    --------
    >>> one = Taxonomy.from_parents([("Place", ""), ("Park", "Place")])
    >>> codes_in(one, Taxonomy.from_parents([("Park", "Place"), ("Place", "")])).tolist()
    [1, 0]
    >>> codes_in(one, Taxonomy.from_parents([("Place", ""), ("Park", "Place")], sensitive=["Park"])) is None
    True
    """
    code = {name: i for i, name in enumerate(tree.nodes)}
    codes = np.array([code.get(name, -1) for name in other.nodes], np.int64)
    missing = np.array([name not in code and name in other.added for name in other.nodes], np.bool_)
    missing[np.arange(len(other)) if used is None else used] = False
    if len(tree) != len(other) - missing.sum() or (codes[~missing] < 0).any():
        return None
    codes[missing] = codes[other.parent[missing]]
    # What is missing is a leaf, so no node has lost its parent.
    other_parent = np.where(missing, other.parent[other.parent], other.parent)
    parents = np.where(other_parent < 0, -1, codes[other_parent])
    if (tree.parent[codes] != parents).any() or (tree.sensitive[codes] != other.sensitive).any():
        return None
    return codes


def misfits(published: Stops, original: Stops, codes: IntArray, which: IntArray, *, labels: bool = True) -> IntArray:
    """Return those of the trajectories `which` that cannot have been made from the original by leaving out and lifting.

    A published stop fits an original one if its node is that of the original or above it and, with `labels`, both
    are sensitive or both are not.  A trajectory is right if its stops fit some of the original in the same order.

    Parameters
    ----------
    published, original : Stops
        Trajectory `i` of one is trajectory `i` of the other.
    codes : int64
        What `codes_in` says of their taxonomies.
    which : int64
        The trajectories to compare; the result is in their order.
    labels : bool
        Whether the labels must agree.

    Notes
    -----
    Each published stop is matched with the earliest original stop that it fits, after the one matched before: if any
    matching exists, this one never is behind it.  All trajectories take one step through the original at a time, so the
    time is O(stops of the original), and the memory O(trajectories).

    Examples
    --------
    >>> tree = Taxonomy.from_parents([("Place", ""), ("Park", "Place"), ("Clinic", "Place")], sensitive=["Clinic"])
    >>> true = Stops.from_records([["Park", "Clinic"]] * 3, taxonomy=tree)
    >>> said = Stops.from_records([["Place", "Clinic"], ["Clinic", "Park"], ["Park", "Place"]], taxonomy=tree)
    >>> misfits(said, true, np.arange(3), np.arange(3)).tolist()
    [1, 2]
    >>> misfits(said, true, np.arange(3), np.arange(3), labels=False).tolist()
    [1]
    """
    truth = codes[original.place]
    at = published.offsets[which]
    end = published.offsets[which + 1]
    true_row = original.offsets[which]
    stop = original.offsets[which + 1]
    wrong = end - at > stop - true_row
    active: IntArray = np.flatnonzero(~wrong & (at < end))
    at, end, true_row, stop = (column[active] for column in (at, end, true_row, stop))
    # Is a published trajectory its original with stops left out and places lifted? Taking the first true stop that fits
    # leaves most of the original for the rest, so nothing is missed.  Before each round the stops before `at` have
    # found theirs before `true_row`.  A round looks at one true stop of all trajectories; it fits the next published
    # stop or was left out.  Wrong is who has fewer true stops left than published ones.  The last few are cheaper one
    # by one.
    while len(active) > FEW:
        at = at + _fits(published, truth, at, true_row, labels)
        true_row = np.asarray(true_row + 1)
        lost = end - at > stop - true_row
        wrong[active[lost]] = True
        going = ~lost & (at < end)
        active, at, end, true_row, stop = (column[going] for column in (active, at, end, true_row, stop))
    for i, a, a_end, b, b_end in zip(*(column.tolist() for column in (active, at, end, true_row, stop)), strict=True):
        wrong[i] = not _one_fits(published, truth, slice(a, a_end), slice(b, b_end), labels)
    return which[wrong]


def _fits(published: Stops, truth: IntArray, at: IntArray, true_row: IntArray, labels: bool) -> BoolArray:
    tree = published.taxonomy
    node = published.place[at]
    place = truth[true_row]
    fits = tree.covers(node, place)
    return fits & (tree.sensitive[node] == tree.sensitive[place]) if labels else fits


def _one_fits(published: Stops, truth: IntArray, rows: slice, true: slice, labels: bool) -> bool:
    tree = published.taxonomy
    place = truth[true]
    numbers = (tree.first[place].tolist(), tree.sensitive[place].tolist())
    node = published.place[rows]
    bounds = list(zip(tree.first[node].tolist(), tree.last[node].tolist(), tree.sensitive[node].tolist(), strict=True))
    done = 0
    for rank, sensitive in zip(*numbers, strict=True):
        low, high, label = bounds[done]
        if low <= rank < high and (not labels or label == sensitive):
            done += 1
            if done == len(bounds):
                return True
    return False
