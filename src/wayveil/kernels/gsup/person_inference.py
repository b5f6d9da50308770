"""People with several trajectories: what an adversary infers of one of them over all that they have in his classes.

He knows how many of the N trajectories of a class are of one person, n, and takes all ways to hand them out for equally
likely.  If M of the N have a place, none of the person's has it with a chance of C(N - M, n) / C(N, n); over the
classes of the person these are multiplied.  What is left to 1 is the chance that one of theirs has it.
"""

from __future__ import annotations

from collections import namedtuple
from fractions import Fraction
from math import comb, inf, log

import numpy as np
from numpy.typing import NDArray

from wayveil.kernels.common.jit import kernel
from wayveil.kernels.gsup import adversary_classes as columns
from wayveil.kernels.gsup.adversary_classes import State

__all__ = ["leave_out"]

Ints = NDArray[np.int64]

ClassCounts = namedtuple("ClassCounts", ["size", "starts", "place", "having"])
"""The classes of all adversaries, from which `take_out` takes trajectories.  All arrays are int64.

size : one per class
    Its trajectories.
starts : one more than there are classes
    Class c has the entries ``starts[c]:starts[c + 1]`` of the next two.
place, having : one per entry
    So many trajectories of the class have the place; places are ascending within a class.
"""


def leave_out(state: State, owner: Ints, p: Fraction, draw: Ints) -> NDArray[np.bool_]:
    """Return which trajectories have to go so that no place is inferred of a person with a chance above p.

    `owner` is the person behind each trajectory, and `draw` a permutation: of trajectories that look alike the one with
    the highest number goes first, so that it does not depend on the places in them which one does.  Everybody keeps one
    trajectory at least.  To leave trajectories out makes classes smaller, so that shares in them can grow.
    """
    n = len(state.offsets) - 1
    gone = np.zeros(n, bool)
    published = np.flatnonzero(state.cls[:n] >= 0)
    _, whose, n_trips = np.unique(owner[published], return_inverse=True, return_counts=True)
    if p == 1 or not (n_trips > 1).any():
        return gone
    classes = _Classes(state, p)
    by_person = published[np.argsort(whose, kind="stable")]
    ends = np.cumsum(n_trips)
    # Whoever has most trajectories comes first: it is they who make others stand out, or hide them.  Each person is
    # made safe before the next; what others lose later can make them unsafe again, so that the method asks again until
    # nobody loses anything.
    for person in np.argsort(-n_trips, kind="stable").tolist():
        if n_trips[person] == 1:
            break
        trips = by_person[ends[person] - n_trips[person] : ends[person]]
        gone[classes.thin_out(trips, draw)] = True
    return gone


class _Classes:
    """The classes of all adversaries, from which trajectories can be taken.

    `cls` has the class of each adversary and trajectory, `log_factorial[n]` is the logarithm of n!, and `limit` that of
    1 - p.  `none` is scratch, a zero for each place.
    """

    def __init__(self, state: State, p: Fraction) -> None:
        n = len(state.offsets) - 1
        used = int(state.trie.used[0]) + state.n_adversaries
        entry = state.entry[: state.counts.used[0]]
        entry = entry[entry[:, columns.N_RECORDS] > 0]
        entry = entry[np.lexsort((entry[:, columns.PLACE], entry[:, columns.CLASS]))]
        self.state = state
        self.p = p
        self.cls = state.cls.reshape(-1, n)
        self.counts = ClassCounts(
            size=state.node[:used, columns.RECORDS].copy(),
            starts=np.searchsorted(entry[:, columns.CLASS], np.arange(used + 1)),
            place=entry[:, columns.PLACE].copy(),
            having=entry[:, columns.N_RECORDS].copy(),
        )
        self.log_factorial = np.append(0.0, np.cumsum(np.log(np.arange(1, n + 1))))
        self.limit = log(1 - p)
        self.none = np.zeros(len(state.adversary))

    def thin_out(self, trips: Ints, draw: Ints) -> list[int]:
        """Take trajectories of one person out until no place is inferred with a chance above p; return which."""
        gone: list[int] = []
        while len(trips) > 1 and (unsafe := self._unsafe(trips)) is not None:
            adversary, place = unsafe
            # Of the class in which the place is most frequent one goes: this helps most, and everybody sees the class.
            while len(trips) > 1 and self._is_above(holdings := self._holdings(adversary, place, trips)):
                c = max(holdings, key=lambda one: (Fraction(holdings[one][1], holdings[one][0]), -one))
                theirs = trips[self.cls[adversary, trips] == c]
                trip = int(theirs[np.argmax(draw[theirs])])
                take_out(self.state, trip, self.cls, self.counts)
                trips = trips[trips != trip]
                gone.append(trip)
        return gone

    def _unsafe(self, trips: Ints) -> tuple[int, int] | None:
        """Return an adversary and a place that he infers of the person with a chance above p, or None."""
        for adversary in range(len(self.cls)):
            group, n_trips = np.unique(self.cls[adversary, trips], return_counts=True)
            slack = self._slack(len(group))
            places = find_suspects(group, n_trips, self.counts, self.log_factorial, self.none, self.limit + slack)
            for place in places.tolist():
                if self._is_above(self._holdings(adversary, place, trips)):
                    return adversary, place
        return None

    def _holdings(self, adversary: int, place: int, trips: Ints) -> dict[int, tuple[int, int, int]]:
        """Return for each class with the place its trajectories, those with the place, and those of the person."""
        group, n_trips = np.unique(self.cls[adversary, trips], return_counts=True)
        counts = self.counts
        holdings = {}
        for c, mine in zip(group.tolist(), n_trips.tolist(), strict=True):
            start = counts.starts[c]
            end = counts.starts[c + 1]
            e = start + np.searchsorted(counts.place[start:end], place)
            if e < end and counts.place[e] == place and counts.having[e] > 0:
                holdings[c] = (int(counts.size[c]), int(counts.having[e]), mine)
        return holdings

    def _is_above(self, holdings: dict[int, tuple[int, int, int]]) -> bool:
        """Return whether the chance of a place is above p: in exact arithmetic where it is close."""
        f = self.log_factorial
        none = 0.0
        for whole, having, mine in holdings.values():
            rest = whole - having
            none += f[rest] - f[rest - mine] - f[whole] + f[whole - mine] if mine <= rest else -inf
        if abs(none - self.limit) > self._slack(len(holdings)):
            return bool(none < self.limit)
        exact = Fraction(1)
        for whole, having, mine in holdings.values():
            exact *= Fraction(comb(whole - having, mine), comb(whole, mine))
        return 1 - exact > self.p

    def _slack(self, n_classes: int) -> float:
        """Return how far a sum of logarithms over so many classes can be off."""
        return 1e-12 + 1e-13 * float(self.log_factorial[-1]) * max(1, n_classes)


@kernel
def find_suspects(group, n_trips, counts, log_factorial, none, limit):
    """Return the places of which the logarithm of the chance that a person has none is at most `limit`, lowest first.

    `group` and `n_trips` (int64) are the classes of the person and how many trajectories they have in each; `none`
    (float64) has a zero for each place, before and after.  Time is that of the places of these classes.
    """
    size = counts.size
    starts = counts.starts
    place = counts.place
    having = counts.having
    n_places = 0
    for c in group:
        n_places += starts[c + 1] - starts[c]
    touched = np.empty(n_places, np.int64)
    n_touched = 0
    # The logarithm of C(N - M, n) / C(N, n), added up over the classes of the person.
    for i in range(group.size):
        c = group[i]
        for e in range(starts[c], starts[c + 1]):
            if having[e] == 0:
                continue
            if none[place[e]] == 0.0:
                touched[n_touched] = place[e]
                n_touched += 1
            rest = size[c] - having[e]
            if n_trips[i] > rest:
                none[place[e]] = -np.inf  # the person has more trajectories than there are without the place
            else:
                none[place[e]] += log_factorial[rest] - log_factorial[rest - n_trips[i]]
                none[place[e]] -= log_factorial[size[c]] - log_factorial[size[c] - n_trips[i]]
    n_suspects = 0
    chances = np.empty(n_touched)
    for i in range(n_touched):
        chance = none[touched[i]]
        none[touched[i]] = 0.0
        if chance <= limit:
            touched[n_suspects] = touched[i]
            chances[n_suspects] = chance
            n_suspects += 1
    return touched[:n_suspects][np.argsort(chances[:n_suspects])]


@kernel
def take_out(state, trip, cls, counts):
    """Take a trajectory out of the counts of its classes.  O(adversaries x rows x log places).

    `cls` (int64, adversaries x trajectories) has the class of each.
    """
    for adversary in range(cls.shape[0]):
        c = cls[adversary, trip]
        counts.size[c] -= 1
        start = counts.starts[c]
        end = counts.starts[c + 1]
        for row in range(state.offsets[trip], state.offsets[trip + 1]):
            if state.alive[row] == 0 or state.adversary[state.place[row]] == adversary:
                continue
            earlier = state.earlier[row]
            while earlier >= 0 and state.alive[earlier] == 0:
                earlier = state.earlier[earlier]
            if earlier < 0:  # a place counts once for a trajectory
                e = start + np.searchsorted(counts.place[start:end], state.place[row])
                counts.having[e] -= 1
