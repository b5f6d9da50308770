"""Sets of trajectories that are all close to each other, and belong to enough people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from wayveil.model.budget import spend
from wayveil.model.data.ragged import BoolArray
from wayveil.verifiers.common.step_budget import StepBudget

__all__ = ["STARTS", "People", "gather", "grow", "search"]

STARTS = 64
"""So many second members are tried before a set is searched for exactly."""

People = frozenset[int]
"""The people behind a trajectory: more than one where several published the same."""


def gather(
    close: BoolArray, people: Sequence[People], k: int, order: Iterable[int], *, first: int = 0
) -> list[int] | None:
    """Return a set around `first` whose members are pairwise close and belong to `k` people, or None if none is met.

    Members are taken in the given order, those with new people first, and never given back, so None proves nothing.
    Once there are k people, everything else that is close to all members is added.

    Examples
    --------
    >>> close = np.array([[1, 1, 1, 0], [1, 1, 0, 0], [1, 0, 1, 0], [0, 0, 0, 1]], bool)
    >>> alone = [frozenset({i}) for i in range(4)]
    >>> gather(close, alone, 2, [2, 1, 3]), gather(close, alone, 3, [2, 1, 3])
    ([0, 2], None)
    """
    members = [first]
    have = set(people[first])
    order = list(order)
    fits = close[first].copy()
    fits[first] = False
    spend(len(order) * (3_000 + len(close) // 10))
    # First only who adds a person, in the given order, so that k people are reached with few members; then everybody
    # who fits.  `fits` are those close to all members so far, and it only shrinks.
    for only_new in (True, False):
        for one in order:
            if fits[one] and not (only_new and people[one] <= have):
                members.append(one)
                have |= people[one]
                fits &= close[one]
                fits[one] = False
        if len(have) < k:
            return None
    return members


def grow(close: BoolArray, people: Sequence[People], k: int, budget: StepBudget, *, first: int = 0) -> list[int] | None:
    """Return a set around `first` whose members are pairwise close and belong to `k` people, or None if none is met.

    From `first` and each of the `STARTS` trajectories close to it that have most others close to them, a set is grown
    by the one that leaves most to choose from.  None proves nothing.  Finds what hides in a crowd, for which
    `search` may need very long; costs O(n^2) per start.

    Examples
    --------
    >>> close = np.array([[1, 1, 1, 0], [1, 1, 0, 0], [1, 0, 1, 0], [0, 0, 0, 1]], bool)
    >>> alone = [frozenset({i}) for i in range(4)]
    >>> grow(close, alone, 2, StepBudget(100)), grow(close, alone, 3, StepBudget(100))
    ([0, 1], None)
    """
    owned: dict[int, list[int]] = {}
    for one, owners in enumerate(people):
        for person in owners:
            owned.setdefault(person, []).append(one)
    around = close[first].copy()
    around[first] = False
    spend(2 * len(close) ** 2)
    company = (close & around).sum(axis=1)
    starts = np.flatnonzero(around)
    for second in starts[np.argsort(-company[starts], kind="stable")][:STARTS].tolist():
        members = [first]
        have = set(people[first])
        fits = around.copy()
        left = company.copy()
        one = second
        # Before each round all of `members` are close to each other, and `fits` are those close to all of them who
        # would bring somebody new; `left` says how many of these each is close to.  A round adds `one`, takes out who
        # does not fit any more, and chooses whom to add next: who is close to most of the others.  It ends with k
        # people, or when nobody fits: greedy, so that proves nothing.
        while True:
            budget.consume(1 + len(people) // 16)
            members.append(one)
            have |= people[one]
            if len(have) >= k:
                return members
            excluded = fits & ~close[one]
            excluded[one] = True
            fits &= ~excluded
            for other in {other for person in people[one] for other in owned[person]}:
                if fits[other] and people[other] <= have:  # brings nobody new
                    excluded[other] = True
                    fits[other] = False
            if not fits.any():
                break
            spend(2 * len(close) * int(excluded.sum()))
            left -= close[:, excluded].sum(axis=1)
            one = int(np.where(fits, left, -1).argmax())
    return None


def search(
    close: BoolArray, people: Sequence[People], k: int, budget: StepBudget, *, first: int = 0
) -> list[int] | None:
    """Return a set around `first` whose members are pairwise close and belong to `k` people, or None if there is none.

    Exact: branch and bound over sets of trajectories that are all close to each other.  `budget` pays one step
    per pair at the start and per trajectory looked at later; BudgetExceeded is raised when it runs out.

    Notes
    -----
    Of two trajectories where the people of one are among those of the other, a smallest set needs only the other, so
    such pairs are treated as not close.  The trajectories that are left at a node are put into classes in which no two
    are close; a set takes at most one of each class, so the sum over classes of the most new people that one member
    brings is a bound.  Time is exponential in the worst case; memory is O(n^2).

    Examples
    --------
    >>> close = np.array([[1, 1, 1, 0], [1, 1, 0, 0], [1, 0, 1, 0], [0, 0, 0, 1]], bool)
    >>> alone = [frozenset({i}) for i in range(4)]
    >>> search(close, alone, 2, StepBudget(100)), search(close, alone, 3, StepBudget(100))
    ([0, 2], None)
    """
    budget.consume(len(people) ** 2 // 2)
    graph = _Graph(close, people, first)
    have = graph.owners[first]
    members: tuple[int, ...] = (first,)
    stack = [(have, members, graph.branches(have, graph.close[first], k, budget))]
    # Branch and bound.  Each entry of the stack is a set of members who are all close to each other, their owners, and
    # the branches below it that were not tried.  A round takes the most promising branch of the last entry and goes one
    # member deeper, or back if there is none.  A branch chooses only from what was before it, so no set is tried twice;
    # without k people at the end of all branches there is no such set.
    while stack:
        have, members, branches = stack[-1]
        if have.bit_count() >= k:
            return sorted(members)
        if not branches:
            stack.pop()
            continue
        one, left = branches.pop()
        more = have | graph.owners[one]
        stack.append((more, (*members, one), graph.branches(more, left & graph.close[one], k, budget)))
    return None


class _Graph:
    """Who is close to whom, and who owns what, as bits of integers."""

    def __init__(self, close: BoolArray, people: Sequence[People], first: int) -> None:
        number = {person: i for i, person in enumerate(sorted(frozenset[int]().union(*people)))}
        self.owners = [sum(1 << number[person] for person in owned) for owned in people]
        rows = np.packbits(close, axis=1, bitorder="little")
        self.close = [int.from_bytes(row.tobytes(), "little") & ~(1 << i) for i, row in enumerate(rows)]
        for i, owned in enumerate(self.owners):
            for j in range(i):
                both = owned & self.owners[j]
                if first not in (i, j) and (both == owned or both == self.owners[j]):
                    self.close[i] &= ~(1 << j)
                    self.close[j] &= ~(1 << i)

    def branches(self, have: int, left: int, k: int, budget: StepBudget) -> list[tuple[int, int]]:
        """Return (next member, what is left to choose from before it), the most promising last; none beyond hope."""
        useful = [one for one in _bits(left) if self.owners[one] & ~have]
        budget.consume(1 + len(useful))
        branches = []
        bound = have.bit_count()
        waiting = sum(1 << one for one in useful)
        before = 0
        # The bound (a greedy colouring, as in Tomita's search for maximum cliques).  Those who are not close to each
        # other can be in no set together, so of a class of such trajectories one at most joins, and brings at most
        # `most` new people.  Before each round `bound` is how many people those of the classes so far can make.  A
        # round makes one more class of those who wait; only members with a bound of k or more are branches.  Each class
        # takes somebody away, so it ends.
        while waiting:
            free = waiting
            members = []
            most = 0
            while free:
                one = (free & -free).bit_length() - 1
                members.append(one)
                most = max(most, (self.owners[one] & ~have).bit_count())
                free &= ~(self.close[one] | 1 << one)
            bound += most
            for one in members:
                if bound >= k:
                    branches.append((one, before))
                before |= 1 << one
                waiting &= ~(1 << one)
        return branches


def _bits(mask: int) -> list[int]:
    """Return the positions of the ones.

    Examples
    --------
    >>> _bits(0b10110)
    [1, 2, 4]
    """
    return np.flatnonzero(
        np.unpackbits(np.frombuffer(mask.to_bytes(mask.bit_length() // 8 + 1, "little"), np.uint8), bitorder="little")
    ).tolist()
