"""Every claim as a short program that restates its definition, for small data: what the fast verifiers are held to."""

from __future__ import annotations

from collections import Counter
from typing import Any

from wayveil.errors import UsageError
from wayveil.verifiers.attack_graph.definition import find_break_of_attack_graph
from wayveil.verifiers.breach_bound.definition import find_break_of_breach_bound
from wayveil.verifiers.common.both_ways import list_people
from wayveil.verifiers.csafety.definition import find_break_of_csafety
from wayveil.verifiers.differential_privacy.definition import find_break_of_differential_privacy
from wayveil.verifiers.kanonymity.definition import find_break_of_kanonymity
from wayveil.verifiers.kcl.definition import find_break_of_kcl
from wayveil.verifiers.kdelta.definition import find_break_of_kdelta
from wayveil.verifiers.strict_k.definition import find_break_of_strict_k
from wayveil.verifiers.subsequence_k.definition import find_break_of_subsequence_k
from wayveil.verifiers.threshold.definition import find_break_of_threshold

__all__ = [
    "DEFINITIONS",
    "MOST_NUMBERS",
    "MOST_ROWS_OF_ONE",
    "MOST_TRAJECTORIES",
    "MOST_TRIPS_OF_ONE",
    "NEED_TRUTH",
    "find_break_by_definition",
]

DEFINITIONS: dict[str, Any] = {
    "KCL": find_break_of_kcl,
    "KDelta": find_break_of_kdelta,
    "KAnonymity": find_break_of_kanonymity,
    "AttackGraph": find_break_of_attack_graph,
    "BreachBound": find_break_of_breach_bound,
    "StrictK": find_break_of_strict_k,
    "SubsequenceK": find_break_of_subsequence_k,
    "CSafety": find_break_of_csafety,
    "Threshold": find_break_of_threshold,
    "DifferentialPrivacy": find_break_of_differential_privacy,
}
"""The definition of each guarantee, by its name: from published data and the claim to how it is broken, "" if not."""

NEED_TRUTH = frozenset({"AttackGraph"})
"""Claims whose definition says nothing without true positions."""

MOST_TRAJECTORIES = 300
MOST_ROWS_OF_ONE = 12
MOST_TRIPS_OF_ONE = 16
MOST_NUMBERS = 300
"""Definitions try every subset and every pair: beyond this they would not end."""


def find_break_by_definition(published: Any, claim: Any, *, original: Any = None, boxes: Any = None) -> str:
    """Return how a publication breaks its claim by the definition alone, "" if it keeps it.

    Raises
    ------
    UsageError
        If the data are too large for a program that tries everything, or the claim is one of a plug-in without
        a definition.
    """
    if claim.name not in DEFINITIONS:
        raise UsageError(f"The claim {claim.name} comes without a definition. Verify without --by-definition.")
    longest = _count_longest(published)
    if claim.name == "CSafety" and original is not None:
        longest = max(longest, _count_longest(original))  # every subset of the true stops is tried
    if not published.individual and longest > MOST_NUMBERS:
        raise UsageError(
            f"The definition tries every table, so it judges at most {MOST_NUMBERS} numbers; these are {longest:,}. "
            "Verify without --by-definition."
        )
    # What a mechanism spends follows from its description: there are no combinations to try.
    combines = claim.name != "DifferentialPrivacy"
    if combines and published.individual and (len(published) > MOST_TRAJECTORIES or longest > MOST_ROWS_OF_ONE):
        raise UsageError(
            f"The definition tries every combination, so it judges at most {MOST_TRAJECTORIES} trajectories of at most "
            f"{MOST_ROWS_OF_ONE} rows; these are {len(published):,} of up to {longest:,}. Verify without "
            "--by-definition."
        )
    trips_of_one = max(Counter(list_people(published)).values(), default=0)
    if claim.name == "KDelta" and trips_of_one > MOST_TRIPS_OF_ONE:
        raise UsageError(
            f"The definition tries every set of trajectories of one person, so nobody may have more than "
            f"{MOST_TRIPS_OF_ONE}; here somebody has {trips_of_one:,}. Verify without --by-definition."
        )
    more = {name: value for name, value in (("original", original), ("boxes", boxes)) if value is not None}
    sentence: str = DEFINITIONS[claim.name](published, claim, **more)
    return sentence


def _count_longest(data: Any) -> int:
    """Return how many rows the longest trajectory has."""
    return max((int(n) for n in data.offsets[1:] - data.offsets[:-1]), default=0)
