"""(K,C)_L-privacy, word for word: every sequence, every person, every value."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Any

from wayveil.model import KclPrivacy, Visits
from wayveil.verifiers.common.both_ways import find_break, list_people, list_published

__all__ = ["find_break_of_kcl"]


def find_break_of_kcl(published: Visits, claim: KclPrivacy, **_: Any) -> str:
    """Return how the publication breaks (K,C)_L-privacy, "" if it keeps it.

    Examples
    --------
    >>> data = Visits.from_records([[("a", 1), ("b", 2)], [("a", 1)]])
    >>> find_break_of_kcl(data, KclPrivacy(k=2, c=1, l=1))
    'Only 1 people look alike.'
    """
    people = list_people(published)
    visits = {i: frozenset(published.record(i)) for i in list_published(published)}
    values = {name: published.attributes[name].values() for name, _ in claim.sensitive}
    # Times increase inside a trajectory, so a sequence of visits is a set of visits.
    sequences = {
        frozenset(some)
        for record in visits.values()
        for size in range(1, len(record) + 1 if claim.l == "all" else min(int(claim.l), len(record)) + 1)
        for some in combinations(record, size)
    }
    if not sequences:
        return "Nothing is published."
    for sequence in sequences:
        fitting = [i for i, record in visits.items() if sequence <= record]
        sentence = find_break([[people[i] for i in fitting]], claim.k, claim.owner_share)
        if sentence:
            return sentence
        for attribute, sensitive in claim.sensitive:
            for value in sensitive:
                # A missing value may be any value.
                carrying = [i for i in fitting if values[attribute][i] in (value, None)]
                of_people = Fraction(len({people[i] for i in carrying}), len({people[i] for i in fitting}))
                of_trajectories = Fraction(len(carrying), len(fitting))
                if max(of_people, of_trajectories) > claim.c:
                    return f"A sensitive value has the share {max(of_people, of_trajectories)}."
    return ""
