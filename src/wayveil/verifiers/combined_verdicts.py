"""From verdicts on the parts of a publication to one on their union, and when this is allowed.

That the union keeps a claim whose parts keep it is proved, claim by claim, in ``docs/research/proofs.md``.  In short:
a crowd that is large enough in a part is as large in the union, whoever else is there.  Shares of a crowd are another
matter: somebody who is in two parts counts twice in the parts and once in the union.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from hashlib import blake2b
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from wayveil.errors import InputError, UsageError
from wayveil.model.claims import BreachBound, Guarantee, KclPrivacy
from wayveil.model.data.ragged import IntArray, keep_rows
from wayveil.model.data.stops import Stops
from wayveil.model.results import Verdict

__all__ = ["PARTS_NEED", "Need", "apart", "class_keys", "join_verdicts", "union_condition"]

Need = Literal["nothing", "people apart", "classes apart", "one each", "unknown"]
"""What must be true of parts that keep a claim: nothing; nobody has trajectories in two of them; or no two of them have
trajectories of the same class, see `class_keys`; or everybody has one trajectory in all.  Where it is unknown, parts
prove nothing."""

PARTS_NEED: Mapping[str, Need] = MappingProxyType(
    {
        "KCL": "people apart",
        "KDelta": "nothing",
        "KAnonymity": "nothing",
        "AttackGraph": "one each",
        "BreachBound": "one each",
        "StrictK": "nothing",
        "SubsequenceK": "nothing",
        "CSafety": "classes apart",
        "Threshold": "unknown",  # numbers of two tables together may tell what neither does
        "DifferentialPrivacy": "unknown",  # losses of parts add up for whoever is in several
    }
)
"""What the union of parts that keep a claim needs to keep it, by the name of the claim; see `union_condition`."""

Value = int | float | str | None
_Rule = Literal[
    "least", "least of some", "largest", "ratio", "largest of rows", "ratio of rows", "sum", "each", "within", "none"
]
"""How numbers of parts are joined; shares "of rows" are shares of trajectories, which are always apart."""

_SIZE: dict[str, _Rule] = {"trajectories": "sum", "visits": "sum", "points": "sum", "boxes": "sum", "rows": "sum"}
_ROUTES: dict[str, _Rule] = {
    "min_support": "least",
    "max_owner_share": "largest of rows",
    "routes": "each",
    "slices": "each",
    "roads": "each",
    "broken": "sum",
    "foreign_roads": "each",
    "untrue": "each",
    **_SIZE,
}
_RULES: dict[str, dict[str, _Rule]] = {
    "KCL": {
        "min_support": "least",
        "max_owner_share": "largest of rows",
        "max_owner_share_exact": "ratio of rows",
        "max_confidence": "largest",
        "max_confidence_exact": "ratio",
        "max_confidence_trajectories": "largest of rows",
        "max_confidence_trajectories_exact": "ratio of rows",
        "sequences": "each",
        **_SIZE,
    },
    "KDelta": {
        "min_support": "least",
        "certified": "sum",
        "sets": "sum",
        "max_distance_m": "largest",
        "max_owner_share": "largest",
        "tolerance_m": "largest",
        **_SIZE,
    },
    "KAnonymity": {
        "min_support": "least",
        "max_owner_share": "largest",
        "groups": "each",
        "boxes_untrue": "sum",
        "points_outside": "sum",
        **_SIZE,
    },
    "AttackGraph": {  # without `symmetric`: parts do not tell it
        "min_candidates": "least",
        "min_people": "least",
        "edges": "within",
        "edges_left": "within",
        "not_contained": "sum",
        "boxes_untrue": "sum",
        "max_owner_share": "largest",
        "too_fast": "sum",
        "min_declared": "least",
        "not_declared": "sum",
        **_SIZE,
    },
    "BreachBound": {
        "max_share": "largest",
        "max_share_exact": "ratio",
        "max_share_trajectories": "largest",
        "max_inference": "largest",
        "max_inference_exact": "ratio",
        "classes": "each",
        "unsafe": "each",
        "unsafe_people": "each",
        **_SIZE,
    },
    "StrictK": {**_ROUTES, "min_people": "least", "dummies": "sum", "inference_routes": "none"},
    # without `inference_routes`: it is not promised that there are none, and two parts can make one together
    "SubsequenceK": {**_ROUTES, "exact_match_min_support": "least"},
    "CSafety": {
        "max_probability": "largest",
        "max_probability_exact": "ratio",
        "max_probability_people": "largest",
        "max_probability_trajectories": "largest",
        "min_people": "least",
        "max_owner_share": "largest",
        "min_place_people": "least of some",  # None where a part has no sensitive stop
        "classes": "each",
        "small_classes": "each",
        "dominated_classes": "each",
        "rare_places": "each",
        "nested_classes": "each",
        "sensitive_rows": "sum",
        "generalized_rows": "sum",
        "suppressed_rows": "sum",
        "false_trajectories": "sum",
        **_SIZE,
    },
}
_NOTES = {
    "each": "what is in several parts is counted in each of them",
    "within": "those inside the parts; there may be more between them",
}
_BECAUSE = {
    "people apart": "nobody is in two of them",
    "classes apart": "no class is in two of them",
    "one each": "everybody has one trajectory",
}


def join_verdicts(verdicts: Sequence[Verdict], *, met: Collection[Need] = ()) -> Verdict:
    """Return the verdict on the union of parts that were judged one by one.

    Parameters
    ----------
    verdicts : sequence of Verdict
        One for each part, all on the same claim.  What was published of no trajectory is no part.
    met : collection of Need
        What is known of the parts, for example because `apart` said so.  If `union_condition` asks for more, the union
        does not hold, even if all parts do.

    Returns
    -------
    Verdict
        It holds if all parts do.  The smallest value of all parts is then no larger than that of the union, and the
        largest no smaller; that of a part that does not hold may be of no more than what was judged of it, see its
        verifier.  Rows and trajectories add up.  What may be the same in several parts is counted in each of them, and
        a note says so.  A value that is None in some part is None.  One that is not in all parts, or of which parts
        tell nothing, or nothing unless they are apart, is left out.
        `witness` and `reason` are those of the first part that does not hold, with its number, from 1.

    Notes
    -----
    If a part does not hold, the union may: others may be like those who are too few.  It counts as broken nevertheless,
    because whoever can tell the parts apart sees them one by one.

    Examples
    --------
    >>> from wayveil.model.claims import KAnonymity
    >>> from wayveil.model.data.boxes import Boxes
    >>> from wayveil.verifiers.kanonymity.kanonymity_verifier import check_kanonymity
    >>> boxes = Boxes.from_records([[(0, 0, 0.0, 2.0, 0.0, 1.0)]] * 5)
    >>> parts = [boxes.take(np.array([0, 1])), boxes.take(np.array([2, 3, 4]))]
    >>> whole = join_verdicts([check_kanonymity(part, KAnonymity(k=2)) for part in parts])
    >>> whole.holds, whole.measured["min_support"], whole.measured["trajectories"]
    (True, 2, 5)
    >>> join_verdicts([check_kanonymity(part, KAnonymity(k=3)) for part in parts]).reason
    'Part 1 of 2: A sequence of boxes is that of only 2 trajectories, fewer than k = 3.'
    """
    if not verdicts:
        raise InputError("There is no published part, so there is nothing to judge.")
    first = verdicts[0]
    if any(verdict.claim != first.claim for verdict in verdicts):
        raise UsageError("The parts were judged by different claims, so they have no verdict in common.")
    if len(verdicts) == 1:
        return first
    # Three questions, in this order: did a part fail; if not, does the claim of the parts carry over to their union;
    # and which numbers of the parts are still true of the union.
    failed = next((i for i, verdict in enumerate(verdicts) if not verdict.holds), None)
    need = union_condition(first.claim)
    measures_need = _measures_need(first.claim)
    witness = None
    counted = {verdict.counted for verdict in verdicts}
    # Nobody can be in two parts where every trajectory is somebody of its own.
    if counted == {"trajectories"}:  # each trajectory counts as a person, and is in one part
        alone = ("people apart", "one each")
        need, measures_need = ("nothing" if one in alone else one for one in (need, measures_need))
    if failed is not None:
        bad = verdicts[failed]
        reason = f"Part {failed + 1:,} of {len(verdicts):,}: {bad.reason}"
        witness = None if bad.witness is None else {**bad.witness, "part": failed + 1}
    else:
        reason = _doubt(verdicts, need, met)
    each = f"Each of the {len(verdicts):,} parts keeps the claim by itself"
    because = f", and {_BECAUSE[need]}" if need in _BECAUSE else ""
    return Verdict(
        holds=not reason,
        claim=first.claim,
        counted="owners" if counted == {"owners"} else "trajectories",
        measured=_measured(verdicts, holds=not reason, sure=measures_need in ("nothing", *met)),
        witness=witness,
        reason=reason or f"{each}{because}, so all of them together do.",
        not_judged=tuple(dict.fromkeys(part for verdict in verdicts for part in verdict.not_judged)),
    )


def union_condition(claim: Guarantee) -> Need:
    """Return what must be true of parts that keep a claim, so that their union keeps it.

    Where every trajectory counts as a person of its own, as with owners that are withheld, people are always apart.

    Examples
    --------
    >>> union_condition(KclPrivacy(k=2, c=0.5, l=2, sensitive={"diagnosis": ["HIV"]}))
    'people apart'
    >>> union_condition(KclPrivacy(k=2, c=1, l=2))
    'nothing'
    """
    if isinstance(claim, KclPrivacy) and (not claim.sensitive or claim.c == 1):
        return "nothing"  # only the number of people is promised
    if isinstance(claim, BreachBound) and claim.p == 1:
        return "nothing"
    return PARTS_NEED.get(claim.name, "unknown")


def apart(codes: Iterable[IntArray]) -> bool:
    """Tell whether no code is in two of these arrays: owners of parts for people, `class_keys` of parts for classes.

    Memory is that of the different codes.

    Examples
    --------
    >>> apart([np.array([1, 1, 2]), np.array([3])]), apart([np.array([1, 2]), np.array([2])])
    (True, False)
    """
    # Repeats inside a part are allowed; the same code in two parts is not.
    distinct = [np.unique(one) for one in codes]
    everything = np.concatenate(distinct) if distinct else np.empty(0, np.int64)
    return len(np.unique(everything)) == len(everything)


def class_keys(published: Stops) -> IntArray:
    """Return a number for each trajectory that is the same for all of its class, in whatever part they are.

    A class are the trajectories with the same sequence of nodes that are not sensitive, as `CSafety` has it.  If all
    trajectories with the same number are judged in the same part, classes are apart.  Now and then two classes have the
    same number, which does no harm.  Nodes are compared by name, so it does not matter if a part has a taxonomy of its
    own, as long as the same nodes are sensitive in all of them.

    Examples
    --------
    >>> from wayveil.model.places.taxonomy import Taxonomy
    >>> tree = Taxonomy.from_parents([("Place", ""), ("Park", "Place"), ("Clinic", "Place")], sensitive=["Clinic"])
    >>> keys = class_keys(Stops.from_records([["Park", "Clinic"], ["Park"], ["Clinic"]], taxonomy=tree))
    >>> bool(keys[0] == keys[1] != keys[2])
    True
    """
    node = _digests(name.encode("utf-8", "surrogatepass") for name in published.taxonomy.nodes)
    open_ = ~published.sensitive
    offsets = keep_rows(published.offsets, open_)
    place = node[published.place[open_]]
    return _digests(
        place[begin:end].data for begin, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)
    )


def _digests(texts: Iterable[bytes | memoryview]) -> IntArray:
    """Return a number for each text, the same on every machine."""
    return np.frombuffer(b"".join(blake2b(text, digest_size=8).digest() for text in texts), "<i8")


def _doubt(verdicts: Sequence[Verdict], need: Need, met: Collection[Need]) -> str:
    """Why nothing follows for the union although all parts hold, or nothing."""
    if len({verdict.counted for verdict in verdicts}) > 1:
        return "Some parts count owners and some trajectories, so nothing is known of all of them together."
    if need == "unknown":
        return "It is not known when parts that keep this claim keep it together, so it is not shown to hold."
    if need in ("nothing", *met):
        return ""
    return (
        f"Each of the {len(verdicts):,} parts keeps the claim by itself, but it is not known that {_BECAUSE[need]}, so "
        "all of them together may not."
    )


def _measures_need(claim: Guarantee) -> Need:
    """Return what must be true of parts so that the largest share in one of them is no smaller than in the union."""
    if isinstance(claim, KclPrivacy) and not claim.sensitive:
        return "nothing"
    return PARTS_NEED.get(claim.name, "unknown")


def _measured(verdicts: Sequence[Verdict], *, holds: bool, sure: bool) -> dict[str, Value]:
    """Join what was measured, key by key; a note makes a value weaker, so one that is there in any part stays.

    Where it is not `sure` that the parts are apart as they need to be, only what adds up or grows with others is told;
    and that there is nothing bad is told only of a union that holds.
    """
    certain_rules = (
        {"least", "least of some", "sum", "within", "largest of rows", "ratio of rows"}
        | ({"largest", "ratio", "each"} if sure else set())
        | ({"none"} if holds else set())
    )
    joined: dict[str, Value] = {}
    for key, rule in _RULES.get(verdicts[0].claim.name, {}).items():
        # A number is left out rather than guessed: a share that is small in every part may be large in the union if
        # people are in several.
        if rule not in certain_rules or not all(key in verdict.measured for verdict in verdicts):
            continue
        values = [verdict.measured[key] for verdict in verdicts]
        try:
            if rule == "least of some":
                values = [value for value in values if value is not None] or [None]
            joined[key] = None if None in values else _join(rule, values)
        except (ValueError, ZeroDivisionError):  # no numbers
            continue
        notes = [verdict.measured.get(f"{key}_note") for verdict in verdicts]
        texts = dict.fromkeys([_NOTES.get(rule), *notes])
        if joined[key] is not None and any(texts):
            joined[f"{key}_note"] = "; ".join(str(text) for text in texts if text)
    return joined


def _join(rule: _Rule, values: Sequence[Any]) -> Value:
    """Join numbers, or fractions as text, by a rule; ValueError if they are none."""
    # Fractions travel as text, so that 1/3 stays 1/3; the largest is found exactly.
    ratio = rule.startswith("ratio")
    number_type: Any = str if ratio else int | float
    if not all(isinstance(value, number_type) and value == value for value in values):
        raise ValueError
    if ratio:
        largest = max(Fraction(value) for value in values)
        return f"{largest.numerator}/{largest.denominator}"
    if rule.startswith("least"):
        extreme: int | float = min(values)
    else:
        extreme = max(values) if rule.startswith("largest") else sum(values)
    return extreme
