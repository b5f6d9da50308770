"""Do adversaries who hold projections infer too much?  Judged from the definition alone, in whole numbers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal

import numpy as np

from wayveil.model.claims import BreachBound
from wayveil.model.claims.counting import readable_share
from wayveil.model.data.ragged import trajectory_of_row
from wayveil.model.data.visits import Visits
from wayveil.model.results import Verdict
from wayveil.verifiers.breach_bound.person_breach import Inference
from wayveil.verifiers.breach_bound.projection_shares import Shares, Table, find_largest
from wayveil.verifiers.common.stop_classes import ratio

__all__ = ["check_breach_bound"]


def check_breach_bound(published: Visits, claim: BreachBound) -> Verdict:
    """Judge whether any adversary who sees the published data infers a place that is not his with too large a share.

    For every adversary, published trajectories are in one class if their visits to his places are the same: the same
    places in the same order, with ``times="keep"`` at the same times.  Those without such a visit are a class, too.
    With ``times="order"`` the visits of every trajectory are numbered 1, 2, 3, ..., and no time is published.
    For every class and every place that is not his, at most a share p of the distinct people who own a trajectory of
    the class own one of the class with this place, and at most a share p of the trajectories of the class have it.

    And for every person: he knows how many trajectories of each class are theirs, and all ways to hand them out are
    equally likely to him.  If n of the N trajectories of a class are theirs, and M have the place, then none of theirs
    has it with a chance of C(N - M, n) / C(N, n); over all classes of the person these are multiplied, and what is
    left to 1 is at most p.

    Parameters
    ----------
    published : Visits
        The published data.  With ``owners="given"`` distinct owner codes are counted; with ``"declared"`` every
        trajectory is a person.  With ``"hidden"`` it is not known who owns what, so only trajectories are counted.
        Trajectories without visits are not published.
    claim : BreachBound
        What to judge.  Places of an adversary that do not occur change nothing.

    Returns
    -------
    Verdict
        `measured` has the largest share of either kind, as a number and as an exact fraction; `max_share_trajectories`,
        the largest of trajectories; `max_inference`, the largest chance of one person and one place, as a number and as
        an exact fraction, or None where owners are withheld; `classes`, over all adversaries; `unsafe`, the number of
        pairs of a class and a place above p; and `unsafe_people`, the number of people with several trajectories of
        whom a place is inferred with a chance above p.
        `witness` is such a pair with the largest share; then with the fewest visits known; then the first by the name
        of the adversary, what he knows, and the place.  It has `counts` ("people" or "trajectories"), `fit`, how many
        of these are in the class, and `with_place`.  If no pair is above p, it is the person with the largest chance:
        `counts` is "trajectories of one person", and `fit`, `with_place` and `theirs` list N, M and n by class.

    Notes
    -----
    Why both are counted: one person with nine trips to a place and one who was never there are half of the people each,
    but whoever hands out the trajectories of their class finds the place nine times of ten.  Why people over all their
    trajectories: of the four of a class two have the place, but who owns three of them owns one of these two.

    Floating-point numbers only tell which chances are close to p or to the largest; these are computed as fractions.

    Time is O(adversaries * visits * log visits) and, for people with several trajectories, the number of places in
    their classes; memory is a small multiple of the data.

    References
    ----------
    Terrovitis, Mamoulis: Privacy preservation in the publication of trajectories.  MDM 2008.

    Examples
    --------
    >>> claim = BreachBound(p=0.5, adversaries={"A": ["a1", "a2", "a3"]})
    >>> safe = Visits.from_records([[("a1", 1), ("b1", 2)], [("a1", 1), ("b2", 2)]])
    >>> check_breach_bound(safe, claim).measured["max_share_exact"]
    '1/2'
    >>> records = [["a1", "b1"], ["a1", "b1"], ["a2", "b2"], ["a3", "b3"], ["a2"], ["a3"]]
    >>> data = Visits.from_records([[(place, n) for n, place in enumerate(record, start=1)] for record in records])
    >>> verdict = check_breach_bound(data, claim)
    >>> verdict.holds, verdict.witness["knows"], verdict.witness["place"], verdict.witness["share"]
    (False, ['a1'], 'b1', '1/1')
    """
    why_not = _refusal(published, claim)
    if why_not:
        return _verdict(published, claim, None, reason=why_not)
    table = Table.of(published)
    shares = [Shares.of(table, claim, frozenset(places)) for _, places in claim.adversaries]
    return _verdict(published, claim, shares, table=table)


def _refusal(data: Visits, claim: BreachBound) -> str | None:
    """Why the data cannot be judged, or None; trusts nothing that a constructor may have checked."""
    n = len(data.offsets) - 1
    offsets = data.offsets
    if n < 0 or offsets[0] != 0 or offsets[-1] != len(data.t) or (offsets[1:] < offsets[:-1]).any():
        return "The trajectories do not add up to the visits, so nothing can be judged."
    if len(data.location) != len(data.t) or len(data.owner) != n:
        return "The columns differ in length, so nothing can be judged."
    if data.owners not in ("given", "declared", "hidden"):
        return "It is not said where the owners come from, so nobody can be counted."
    if not len(data.t):
        return "There is no visit, so there is nothing to judge."
    if data.location.min() < 0 or data.location.max() >= len(data.locations):
        return "A visit has a location without a name, so nobody knows whose place it is."
    if data.owners == "given" and (data.owner[offsets[:-1] < offsets[1:]] < 0).any():
        return "A published trajectory has a negative owner code, which stands for nobody, so people cannot be counted."
    trajectory = trajectory_of_row(offsets)
    if ((data.t[1:] <= data.t[:-1]) & (trajectory[1:] == trajectory[:-1])).any():
        return "The time does not increase strictly inside a trajectory, so its visits have no order."
    # Whoever is stopped knows the order of visits only.  True times would be there for everybody else to use.
    position = np.arange(len(data.t)) - np.repeat(offsets[:-1], np.diff(offsets))
    if claim.times == "order" and (data.t != position + 1).any():
        return "Times are published, although the claim says that only the order of visits is."
    return None


def _verdict(
    data: Visits, claim: BreachBound, shares: list[Shares] | None, *, table: Table | None = None, reason: str = ""
) -> Verdict:
    """Say what was found; a `reason` given beforehand says why nothing is certain."""
    largest = None
    surest = None
    unsafe = None
    unsafe_people = None
    witness = None
    if shares is not None and table is not None:
        largest = max(find_largest(one.having, one.among) for one in shares)
        unsafe = sum(int(one.unsafe.sum()) for one in shares)
        by_person = [Inference.of(table, one, claim.p) for one in shares] if table.given else []
        if unsafe:
            witness = _witness(claim, table, shares, largest)
        if data.owners != "hidden":
            # Who has one trajectory is told by its class alone: the chance is the share of trajectories.
            surest = max([one.by_trajectory for one in shares] + [one.largest for one in by_person])
            above = np.zeros(table.people, bool)
            for one in by_person:
                above |= one.unsafe
            unsafe_people = int(above.sum())
            if unsafe_people and not unsafe:
                witness = _person(claim, table, by_person)
    measured: dict[str, int | float | str | None] = {
        "max_share": None if largest is None else float(largest),
        "max_share_exact": None if largest is None else ratio(largest),
        "max_share_trajectories": None if shares is None else float(max(one.by_trajectory for one in shares)),
        "max_inference": None if surest is None else float(surest),
        "max_inference_exact": None if surest is None else ratio(surest),
        "classes": None if shares is None else sum(len(one.first) for one in shares),
        "unsafe": unsafe,
        "unsafe_people": unsafe_people,
        "trajectories": int((data.offsets[:-1] < data.offsets[1:]).sum()),
        "visits": len(data.t),
    }
    return Verdict(
        holds=unsafe == 0 and not unsafe_people and not reason,
        claim=claim,
        counted=_counted(data),
        measured=measured,
        witness=witness,
        reason=reason or _reason(data, claim, largest, surest, measured, witness),
        not_judged=_not_judged(data),
    )


def _person(claim: BreachBound, table: Table, by_person: list[Inference]) -> dict[str, Any]:
    """Return the worst pair of a person and a place: what the classes hold, and not who it is."""
    largest = max(one.largest for one in by_person)
    candidates = []
    for (name, _), one in zip(claim.adversaries, by_person, strict=True):
        if one.largest == largest:
            candidates.append((name, table.names[one.place], one.holdings))
    name, place, holdings = min(candidates)
    return {
        "adversary": name,
        "place": place,
        "counts": "trajectories of one person",
        "fit": [whole for whole, _, _ in holdings],
        "with_place": [having for _, having, _ in holdings],
        "theirs": [mine for _, _, mine in holdings],
        "share": ratio(largest),
    }


def _witness(claim: BreachBound, table: Table, by_adversary: list[Shares], largest: Fraction) -> dict[str, Any]:
    """Return the worst pair of a class and a place."""
    best: tuple[int, str, list[Any], str, str, int, int] | None = None
    for (name, _), shares in zip(claim.adversaries, by_adversary, strict=True):
        # Of the pairs with the largest share those with the shortest knowledge, and of these the first by name: the
        # witness does not depend on the order of rows.
        top = np.flatnonzero(shares.having * largest.denominator == shares.among * largest.numerator)
        length = shares.n_known[shares.group[top]]
        for pair in top[length == length.min(initial=2**62)].tolist():
            trajectory = int(shares.first[shares.group[pair]])
            rows = np.arange(table.offsets[trajectory], table.offsets[trajectory + 1])
            rows = rows[shares.own[rows]]
            knows: list[Any] = [table.names[place] for place in table.place[rows].tolist()]
            if claim.times == "keep":
                knows = [list(visit) for visit in zip(knows, table.t[rows].tolist(), strict=True)]
            place = table.names[int(shares.place[pair])]
            counts = "people" if shares.by_people[pair] else "trajectories"
            one = (len(knows), name, knows, place, counts, int(shares.among[pair]), int(shares.having[pair]))
            best = one if best is None else min(best, one)
    _, name, knows, place, counts, among, having = best or (0, "", [], "", "people", 0, 0)
    seen = {"adversary": name, "knows": knows, "place": place, "counts": counts}
    return {**seen, "fit": among, "with_place": having, "share": ratio(largest)}


def _reason(
    data: Visits,
    claim: BreachBound,
    largest: Fraction | None,
    surest: Fraction | None,
    measured: dict[str, Any],
    witness: dict[str, Any] | None,
) -> str:
    """One sentence with counts and the parameters, without anything that was published."""
    share = "" if largest is None else readable_share(largest, claim.p)
    chance = "" if surest is None else readable_share(surest, claim.p)
    p = ratio(claim.p)
    if witness and "theirs" in witness:
        return (
            f"The adversary {witness['adversary']!r} knows how many trajectories of each class are whose, and infers a "
            f"place that is not his of a person with several with a chance of {chance}, more than p = {p}."
        )
    if witness:
        return (
            f"Of the {witness['counts']} that fit what the adversary {witness['adversary']!r} knows, {share} have one "
            f"place that is not his, more than p = {p}."
        )
    classes = "1 class" if measured["classes"] == 1 else f"{measured['classes']:,} classes"
    counted = "people or of the trajectories" if data.owners == "given" else "trajectories"
    several = ""
    if surest is not None and surest != largest and data.owners == "given":
        several = f", and none is inferred of a person with a chance above {chance}"
    return f"In {classes}, no place has a share of the {counted} above {share}{several} (p = {p})."


def _not_judged(data: Visits) -> tuple[str, ...]:
    if data.owners != "hidden":
        return ()
    return (
        "shares by owner: the owners are withheld, so it is known which share of trajectories has a place, but not "
        "of people",
        "people over all their trajectories: the owners are withheld, so it is not known who has several",
    )


def _counted(data: Visits) -> Literal["owners", "trajectories"]:
    return "owners" if data.owners == "given" else "trajectories"
