"""Classes of trajectories that are on their way at the same time, and the measures of the trajectory graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from wayveil.model.data.ragged import IntArray

__all__ = [
    "class_owners",
    "merge_small",
    "s_overlap",
    "time_classes",
    "time_windows",
    "trajectory_distance",
]


def time_windows(begin: IntArray, finish: IntArray, window: int) -> IntArray:
    """Return per trajectory the windows in which it starts and ends; they have the length `window`, from time 0 on.

    Examples
    --------
    >>> time_windows(np.array([0, 3, -1]), np.array([21, 30, 29]), 10).tolist()
    [[0, 2], [0, 3], [-1, 2]]
    """
    return np.column_stack([begin // window, finish // window]).astype(np.int64)


def time_classes(windows: IntArray) -> IntArray:
    """Return the class of every trajectory: the same start window and the same end window (Definition 6).

    Examples
    --------
    >>> time_classes(np.array([[0, 2], [0, 2], [1, 2], [0, 3]])).tolist()
    [0, 0, 2, 1]
    """
    # as ranks, so that no product of two windows can overflow
    starts, ends = (np.unique(column, return_inverse=True)[1] for column in windows.T)
    return np.unique(starts * (int(ends.max(initial=0)) + 1) + ends, return_inverse=True)[1].astype(np.int64)


def class_owners(label: IntArray, owner: IntArray) -> IntArray:
    """Return the number of distinct owners of every class.

    Examples
    --------
    >>> class_owners(np.array([0, 0, 1, 1]), np.array([7, 7, 7, 8])).tolist()
    [1, 2]
    """
    codes = np.unique(owner, return_inverse=True)[1]
    pairs = np.unique(label * (codes.max(initial=0) + 1) + codes)
    return np.bincount(pairs // (codes.max(initial=0) + 1), minlength=int(label.max(initial=-1)) + 1)


def merge_small(windows: IntArray, owner: IntArray, k: int) -> list[IntArray]:
    """Return classes of at least `k` owners each, of trajectories that are alike in the windows of start and end.

    All trajectories are one class at first.  A class is cut in two between two windows, of the start or of the end,
    as near to the middle as leaves k owners on both sides, until no cut does.  So windows with k owners stay apart
    from each other, and those with fewer are put together with what is near.  O(n log n) per level of cuts.

    Examples
    --------
    >>> windows = np.array([[0, 1], [0, 1], [0, 2], [5, 6], [5, 6]])
    >>> [members.tolist() for members in merge_small(windows, np.arange(5), 2)]
    [[0, 1, 2], [3, 4]]
    """
    whole: IntArray = np.arange(len(owner))
    waiting = [whole] if _n_owners(owner) >= k else []
    done: list[IntArray] = []
    while waiting:
        members = waiting.pop()
        halves = _cut_between_windows(members, windows[members], owner[members], k)
        if halves is None:
            done.append(members)
        else:
            waiting += halves[::-1]
    return done


def s_overlap(p: Any, q: Any, overlap: str = "or") -> float:
    """Return the portion of the samples of p that lie between the start and the end of q (Definition 4).

    `p` and `q` have one row (x, y) per sample.  `overlap` says on which axis: `or` on either, `and` on both at once,
    `x` or `y` on that one.  The paper's interval from start to end is taken in either direction.

    Examples
    --------
    >>> p, q = [(0, 0), (10, 0), (0, 0)], [(9, 5), (10, 5), (11, 5)]
    >>> round(s_overlap(p, q, "x"), 3), s_overlap(q, p, "x")
    (0.333, 0.0)
    """
    p = np.asarray(p, np.float64)
    q = np.asarray(q, np.float64)
    low = np.minimum(q[0], q[-1])
    high = np.maximum(q[0], q[-1])
    inside = (low <= p) & (p <= high)
    overlaps = {"or": inside.any(axis=1), "and": inside.all(axis=1), "x": inside[:, 0], "y": inside[:, 1]}[overlap]
    return float(overlaps.mean())


def trajectory_distance(p: Any, q: Any, duration: float | None = None) -> float:
    """Return the mean distance of the samples of p and q at the same times (Definition 3).

    The paper calls it an average and divides by the duration instead of the number of samples; with `duration` this
    is done.  Within a class both give the same order of pairs.

    Examples
    --------
    >>> p, q = [(0, 0), (5, 0), (10, 0)], [(1, 1), (6, 1), (11, 1)]
    >>> round(trajectory_distance(p, q), 6), round(trajectory_distance(p, q, duration=2), 6)
    (1.414214, 2.12132)
    """
    p = np.asarray(p, np.float64)
    q = np.asarray(q, np.float64)
    total = float(np.hypot(*(p - q).T).sum())
    return total / (len(p) if duration is None else duration)


def _n_owners(owner: IntArray) -> int:
    return len(np.unique(owner))


def _cut_between_windows(members: IntArray, windows: IntArray, owner: IntArray, k: int) -> list[IntArray] | None:
    """Return the two halves, or None; the start or the end is cut, whichever spans more windows and can be."""
    spans = np.ptp(windows, axis=0)
    for axis in (0, 1) if spans[0] >= spans[1] else (1, 0):
        order = np.argsort(windows[:, axis], kind="stable")
        column = windows[order, axis]
        codes = owner[order]
        # Distinct owners on each side of every possible cut, by two running counts: an owner counts where they come up
        # first from that side.
        left = np.cumsum(_first_of_owner(codes))[:-1]
        right = np.cumsum(_first_of_owner(codes[::-1]))[::-1][1:]
        cuts = np.flatnonzero((column[1:] > column[:-1]) & (left >= k) & (right >= k)) + 1
        if len(cuts):
            at = cuts[np.argmin(np.abs(2 * cuts - len(order)))]
            return [np.sort(members[order[:at]]), np.sort(members[order[at:]])]
    return None


def _first_of_owner(codes: IntArray) -> IntArray:
    """Return 1 where an owner comes up for the first time, else 0."""
    first = np.zeros(len(codes), np.int64)
    first[np.unique(codes, return_index=True)[1]] = 1
    return first
