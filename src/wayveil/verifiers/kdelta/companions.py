"""Whether somebody dominates: each trajectory of a person needs trajectories of others as companions of its own."""

from __future__ import annotations

from collections.abc import Sequence

from wayveil.verifiers.common.step_budget import StepBudget

__all__ = ["find_shortage"]


def find_shortage(
    demand: Sequence[int], supply: Sequence[int], close: Sequence[Sequence[int]], budget: StepBudget
) -> list[int] | None:
    """Return some who together need more than all that is within their reach, or None if everybody can be served.

    Parameters
    ----------
    demand : sequence of int
        How much each of them needs.
    supply : sequence of int
        How much each companion has to give, to all of them together.
    close : sequence of sequences of int
        The companions within reach of each of them.
    budget : StepBudget
        Is spent by one step per companion looked at.

    Notes
    -----
    By Hall's theorem one of the two is the case, never both: either everything can be shared out, or some of them have
    a demand beyond all that is within their reach.  Time is that of one search through all pairs within reach for each
    time that something is passed on.

    Examples
    --------
    >>> find_shortage([1, 1], [1, 1], [[0, 1], [0]], StepBudget(100)) is None
    True
    >>> find_shortage([1, 1, 1], [1, 5], [[0], [0], [0, 1]], StepBudget(100))
    [0, 1]
    """
    left = list(supply)
    given: list[dict[int, int]] = [{} for _ in supply]  # what each companion gives, and to whom

    # Before each round everything given so far is right: nobody has more than they need, no companion gives more than
    # it has.  A round serves somebody in need from a companion with something left; if there is none within reach,
    # from one who gives to somebody else, for whom another is found in the same way.  It ends when nobody is in need,
    # or when all companions that can be reached have given everything to those who were asked: these lack something.
    for one, needed in enumerate(demand):
        while needed > 0:
            path, crowd = _find_path(one, left, given, close, budget)
            if path is None:
                return crowd
            amount = min(needed, left[path[-1][1]], *(given[path[i][1]][path[i + 1][0]] for i in range(len(path) - 1)))
            for place, (person, companion) in enumerate(path):
                given[companion][person] = given[companion].get(person, 0) + amount
                if place + 1 < len(path):
                    given[companion][path[place + 1][0]] -= amount
            left[path[-1][1]] -= amount
            needed -= amount
    return None


def _find_path(
    one: int, left: Sequence[int], given: Sequence[dict[int, int]], close: Sequence[Sequence[int]], budget: StepBudget
) -> tuple[list[tuple[int, int]] | None, list[int]]:
    """Return (who, companion) from `one` to a companion with something left, or None; and everybody who was asked."""
    reached_from = {one: (-1, -1)}  # who was asked, by whom, and for which companion
    seen: set[int] = set()
    waiting = [one]
    # Breadth first, so the path is a shortest one.  Before each round all companions near those who came before were
    # seen: they have nothing left, and those whom they give to are in `waiting`.  A round looks at the companions of
    # one more; the first that has something left ends the path.  Each companion is looked at once.
    for person in waiting:
        budget.consume(1 + len(close[person]))
        for companion in close[person]:
            if companion in seen:
                continue
            seen.add(companion)
            if left[companion] > 0:
                path = [(person, companion)]
                while path[0][0] != one:
                    path.insert(0, reached_from[path[0][0]])
                return path, []
            for other, amount in given[companion].items():
                if amount > 0 and other not in reached_from:
                    reached_from[other] = (person, companion)
                    waiting.append(other)
    return None, sorted(reached_from)
