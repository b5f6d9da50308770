"""Parts of many trajectories that are near each other, as the leaves of a k-d tree."""

from __future__ import annotations

import numpy as np

from wayveil.model.data.ragged import FloatArray, IntArray

__all__ = ["cut_large"]


def cut_large(members: IntArray, places: FloatArray, owner: IntArray, k: int, most: int) -> list[IntArray]:
    """Return parts of at most `most` trajectories; what is near in `places` (one row per trajectory) stays together.

    A part is halved along the widest column of its places.  Where a half would have fewer than `k` owners, the
    trajectories of each owner are dealt to both halves in turn instead.

    Examples
    --------
    >>> places = np.array([[0.0], [9.0], [1.0], [8.0]])
    >>> [part.tolist() for part in cut_large(np.arange(4), places, np.arange(4), 2, 2)]
    [[0, 2], [1, 3]]
    """
    waiting: list[IntArray] = [members]
    done: list[IntArray] = []
    while waiting:
        part = waiting.pop()
        if len(part) <= most:
            done.append(part)
            continue
        column = places[part, int(np.argmax(np.ptp(places[part], axis=0)))]
        order = np.argsort(column, kind="stable")
        halves = [part[order[: len(part) // 2]], part[order[len(part) // 2 :]]]
        # One person with many trips in one place can fill a half. Dealing the trips of everybody to both sides keeps
        # the people of the part in both.
        if min(len(np.unique(owner[half])) for half in halves) < k:
            dealt = part[np.lexsort((column, owner[part]))]
            halves = [dealt[::2], dealt[1::2]]
        waiting += [np.sort(half) for half in halves[::-1]]
    return done
