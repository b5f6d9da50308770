"""The breach bound as a program: every adversary, every class, every way to hand out trajectories, with fractions.

Independent of the definition on purpose: that counts ways by binomial coefficients, and here each way is written out.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from itertools import permutations, product

__all__ = ["classes_of", "infer_by_handing_out", "keeps_breach_bound", "share_of_places"]


def classes_of(records, places, times):
    """Return the trajectories by what they show of these places; one without visits is not published."""
    classes = defaultdict(list)
    for i, record in enumerate(records):
        if record:
            classes[tuple(visit if times == "keep" else visit[0] for visit in record if visit[0] in places)].append(i)
    return dict(classes)


def foreign(record, places):
    """Return the places of a trajectory that are not the adversary's."""
    return {place for place, _ in record} - set(places)


def share_of_places(records, owners, places, times):
    """Return, by class and foreign place, the share of the people and of the trajectories of the class that have it."""
    found = {}
    for shows, members in classes_of(records, places, times).items():
        for place in set().union(*(foreign(records[i], places) for i in members)):
            having = [i for i in members if place in foreign(records[i], places)]
            people = Fraction(len({owners[i] for i in having}), len({owners[i] for i in members}))
            found[shows, place] = people, Fraction(len(having), len(members))
    return found


def infer_by_handing_out(records, owners, places, times):
    """Return, by person and foreign place, the chance that a trajectory of this person has the place.

    The adversary knows how many trajectories of each class are whose.  Every way to hand out the trajectories of all
    classes that gives everybody as many as they have is equally likely to him, and each is written out here.
    """
    classes = list(classes_of(records, places, times).values())
    ways = 0
    having = defaultdict(int)
    for way in product(*(set(permutations([owners[i] for i in members])) for members in classes)):
        ways += 1
        told = set()
        for members, takers in zip(classes, way, strict=True):
            for i, taker in zip(members, takers, strict=True):
                told |= {(taker, place) for place in foreign(records[i], places)}
        for pair in told:
            having[pair] += 1
    return {pair: Fraction(n, ways) for pair, n in having.items()}


def keeps_breach_bound(records, owners, adversaries, p, times):
    """Return whether no adversary infers a place that is not his with more than p, in any of the three ways."""
    for places in adversaries.values():
        shares = share_of_places(records, owners, places, times).values()
        chances = infer_by_handing_out(records, owners, places, times).values()
        if any(max(share) > p for share in shares) or any(chance > p for chance in chances):
            return False
    return True
