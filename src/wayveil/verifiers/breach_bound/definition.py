"""The breach bound, word for word: every adversary, every class, every way to deal trajectories to people."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from math import comb, prod
from typing import Any

from wayveil.model import BreachBound, Visits
from wayveil.verifiers.common.both_ways import list_people, list_published

__all__ = ["find_break_of_breach_bound"]


def find_break_of_breach_bound(published: Visits, claim: BreachBound, **_: Any) -> str:
    """Return how an adversary learns more than the bound, "" if none does.

    Examples
    --------
    >>> data = Visits.from_records([[("a", 1), ("clinic", 2)], [("a", 1), ("park", 2)]])
    >>> claim = BreachBound(p="0.5", adversaries={"shop": ["a"]})
    >>> find_break_of_breach_bound(data, claim)
    ''
    """
    people = list_people(published)
    records = {i: published.record(i) for i in list_published(published)}
    if not records:
        return "Nothing is published."
    numbered = all(t == n for record in records.values() for n, (_, t) in enumerate(record, start=1))
    if claim.times == "order" and not numbered:
        return "Times are published, not only the order of visits."
    for own_places in dict(claim.adversaries).values():
        # What the adversary sees of a trajectory: the visits to his own places, with times if he knows them.
        classes = defaultdict(list)
        for i, record in records.items():
            seen = [visit if claim.times == "keep" else visit[0] for visit in record if visit[0] in own_places]
            classes[tuple(seen)].append(i)
        for place in {place for record in records.values() for place, _ in record} - set(own_places):
            having = {i for i, record in records.items() if any(visited == place for visited, _ in record)}
            for members in classes.values():
                of_trajectories = Fraction(len(having.intersection(members)), len(members))
                owners = {people[i] for i in members}
                of_people = Fraction(len({people[i] for i in having.intersection(members)}), len(owners))
                if max(of_people, of_trajectories) > claim.p:
                    return f"A place has the share {max(of_people, of_trajectories)} in a class."
            # He knows how many trajectories of each class are a person's.  All ways to deal those of a class to people
            # are equally likely, so the person avoids the place in a class as often as `n` draws without replacement.
            for person in set(people):
                avoids = prod(
                    Fraction(comb(len(members) - len(having.intersection(members)), n), comb(len(members), n))
                    for members in classes.values()
                    for n in [sum(people[i] == person for i in members)]
                )
                if 1 - avoids > claim.p:
                    return f"One person was at a place with a probability of {1 - avoids}."
    return ""
