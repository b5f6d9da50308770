"""What is counted of every sequence of visits: people, owners and values, with sets and fractions.

The definition of (K,C)_L-privacy says whether a publication keeps it; these are the numbers behind, each on its own, to
compare with what the verifier measures.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations

__all__ = ["judge_sequences", "sequences_of"]


def sequences_of(records, longest):
    """Return every non-empty set of at most `longest` visits, or of "all", that some trajectory contains.

    The time is part of a visit and increases inside a trajectory, so a sequence is a set of visits.
    """
    return {
        frozenset(visits)
        for record in {frozenset(record) for record in records}
        for size in range(1, 1 + (len(record) if longest == "all" else min(longest, len(record))))
        for visits in combinations(record, size)
    }


def judge_sequences(records, owners, values, sensitive, longest):
    """Return, for each sequence, what is counted of the trajectories that contain it.

    `records` has the visits of each trajectory, `owners` the person behind each, `values` its values by attribute (None
    where one is missing, which may be any), and `sensitive` the pairs of attribute and value that are protected.
    """
    found = {}
    for q in sequences_of(records, longest):
        fitting = [i for i, record in enumerate(records) if q <= frozenset(record)]
        people = {owners[i] for i in fitting}
        own = Counter(owners[i] for i in fitting)
        over_people, over_trajectories = {}, {}
        for attribute, value in sensitive:
            carrying = [i for i in fitting if values[attribute][i] in (value, None)]
            over_people[attribute, value] = Fraction(len({owners[i] for i in carrying}), len(people))
            over_trajectories[attribute, value] = Fraction(len(carrying), len(fitting))
        found[q] = {
            "support": len(people),
            "owner_share": Fraction(max(own.values()), len(fitting)),
            "confidence": over_people,
            "confidence_trajectories": over_trajectories,
        }
    return found
