"""Do adversaries who hold projections infer too much?  Judged from the definition alone, in whole numbers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from wayveil.model.claims import BreachBound
from wayveil.model.ragged import BoolArray, IntArray, keep_rows, trajectory_of_row
from wayveil.model.results import Verdict
from wayveil.model.visits import Visits
from wayveil.verify.ranges import distinct
from wayveil.verify.whole import same

__all__ = ["check_breach_bound"]


def check_breach_bound(published: Visits, claim: BreachBound) -> Verdict:
    """Judge whether any adversary who sees the published data infers a place that is not his with too large a share.

    For every adversary, published trajectories are in one class if their visits to his places are the same: the same
    places in the same order, with ``times="keep"`` at the same times.  Those without such a visit are a class, too.
    For every class and every place that is not his, at most a share p of the distinct people who own a trajectory of
    the class own one of the class with this place, and at most a share p of the trajectories of the class have it.

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
        the largest of trajectories; `classes`, over all adversaries; and `unsafe`, the number of pairs of a class and a
        place above p.
        `witness` is such a pair with the largest share; then with the fewest visits known; then the first by the name
        of the adversary, what he knows, and the place.  It has `counts` ("people" or "trajectories"), `fit`, how many
        of these are in the class, and `with_place`.

    Notes
    -----
    Why both are counted: one person with nine trips to a place and one who was never there are half of the people each,
    but whoever hands out the trajectories of their class finds the place nine times of ten.

    Time is O(adversaries * visits * log visits), memory a small multiple of the data.

    References
    ----------
    Terrovitis, Mamoulis: Privacy preservation in the publication of trajectories.  MDM 2008.

    Examples
    --------
    >>> claim = BreachBound(p=0.5, adversaries={"A": ["a1", "a2", "a3"]})
    >>> safe = Visits.from_records([[("a1", 0), ("b1", 1)], [("a1", 0), ("b2", 1)]])
    >>> check_breach_bound(safe, claim).measured["max_share_exact"]
    '1/2'
    >>> records = [["a1", "b1"], ["a1", "b1"], ["a2", "b2"], ["a3", "b3"], ["a2"], ["a3"]]
    >>> data = Visits.from_records([[(place, t) for t, place in enumerate(record)] for record in records])
    >>> verdict = check_breach_bound(data, claim)
    >>> verdict.holds, verdict.witness["knows"], verdict.witness["place"], verdict.witness["share"]
    (False, ['a1'], 'b1', '1/1')
    """
    why_not = _refusal(published)
    if why_not:
        return _verdict(published, claim, None, reason=why_not)
    table = _Table.of(published)
    found = [_Shares.of(table, claim, frozenset(places)) for _, places in claim.adversaries]
    return _verdict(published, claim, found, table=table)


def _refusal(data: Visits) -> str | None:
    """Why the data cannot be judged, or None; trusts nothing that a constructor may have checked."""
    n, offsets = len(data.offsets) - 1, data.offsets
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
    return None


@dataclass(frozen=True, kw_only=True, eq=False)
class _Table:
    """The published trajectories, numbered from 0, with places by name and people by code.

    `person` has one code per trajectory, from 0 to `people` - 1.
    """

    offsets: IntArray
    trajectory: IntArray
    place: IntArray
    t: IntArray
    names: list[str]
    person: IntArray
    people: int
    given: bool

    @classmethod
    def of(cls, data: Visits) -> _Table:
        names = sorted({str(name) for name in data.locations})
        rank = {name: i for i, name in enumerate(names)}
        kept = np.flatnonzero(data.offsets[:-1] < data.offsets[1:])
        offsets = np.append(data.offsets[kept], data.offsets[-1])
        codes, person = np.unique(data.owner[kept] if data.owners == "given" else kept, return_inverse=True)
        return cls(
            offsets=offsets,
            trajectory=trajectory_of_row(offsets),
            place=np.array([rank[str(name)] for name in data.locations], np.int64)[data.location],
            t=data.t,
            names=names,
            person=person,
            people=len(codes),
            given=data.owners == "given",
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Shares:
    """What one adversary infers: for every class and place that occurs in it, how many people have it, out of how many.

    Parameters
    ----------
    first : int64, one per class
        A trajectory of each class.
    known : int64, one per class
        Number of visits that he knows of each.
    group, place : int64, one per pair
        The class and the place.
    having, among : int64, one per pair
        How many have the place, and of how many: people or trajectories, whichever give the larger share.
    by_people : bool, one per pair
        Whether these are people.
    unsafe : bool, one per pair
        Whether the share is above p.
    own : bool, one per visit
        Which visits he knows.
    by_trajectory : Fraction
        The largest share of the trajectories of a class with one place.
    """

    first: IntArray
    known: IntArray
    group: IntArray
    place: IntArray
    having: IntArray
    among: IntArray
    by_people: BoolArray
    unsafe: BoolArray
    own: BoolArray
    by_trajectory: Fraction

    @classmethod
    def of(cls, table: _Table, claim: BreachBound, places: frozenset[str]) -> _Shares:
        own: BoolArray = np.array([name in places for name in table.names], bool)[table.place]
        offsets = keep_rows(table.offsets, own)
        columns = [table.place[own], *([table.t[own]] if claim.times == "keep" else [])]
        code, first = same(offsets, columns, np.arange(len(offsets) - 1))
        members = _count_people(code, table.person, table.people)

        other = ~own
        whose = table.trajectory[other]
        pairs, number = np.unique(code[whose] * len(table.names) + table.place[other], return_inverse=True)
        carry = _count_people(number, table.person[whose], table.people)
        group, place = np.divmod(pairs, len(table.names))
        fit = members[group]
        trips, of_trips = _count_people(number, whose, len(code)), np.bincount(code)[group]
        by_people = (carry * of_trips >= trips * fit) & table.given
        having, among = np.where(by_people, carry, trips), np.where(by_people, fit, of_trips)
        return cls(
            first=first,
            known=np.diff(offsets)[first],
            group=group,
            place=place,
            having=having,
            among=among,
            by_people=by_people,
            unsafe=having > _allowed(claim.p, among),
            own=own,
            by_trajectory=_largest(trips, of_trips),
        )


def _count_people(group: IntArray, person: IntArray, people: int) -> IntArray:
    """Return the number of distinct people in every group; each group has some."""
    return np.bincount(distinct(group * people + person) // people)


def _allowed(p: Fraction, among: IntArray) -> IntArray:
    """Return, for every number of people, the largest m with m / number <= p, in exact arithmetic.

    Examples
    --------
    >>> _allowed(Fraction(1, 3), np.array([1, 3, 5, 6])).tolist()
    [0, 1, 1, 2]
    """
    numbers, place = np.unique(among, return_inverse=True)
    most = np.array([p.numerator * number // p.denominator for number in numbers.tolist()], np.int64)
    allowed: IntArray = most[place]
    return allowed


def _largest(having: IntArray, among: IntArray) -> Fraction:
    """Return the largest having / among, or 0; the float quotient only proposes where to look first.

    Counts are below 2**31, so the products fit.
    """
    best = Fraction(0)
    while True:
        better = np.flatnonzero(having * best.denominator > among * best.numerator)
        if not len(better):
            return best
        having, among = having[better], among[better]
        i = int((having / among).argmax())
        best = Fraction(int(having[i]), int(among[i]))


def _verdict(
    data: Visits, claim: BreachBound, found: list[_Shares] | None, *, table: _Table | None = None, reason: str = ""
) -> Verdict:
    """Say what was found; a `reason` given beforehand says why nothing is certain."""
    largest, unsafe, witness = None, None, None
    if found is not None and table is not None:
        largest = max(_largest(shares.having, shares.among) for shares in found)
        unsafe = sum(int(shares.unsafe.sum()) for shares in found)
        if unsafe:
            witness = _witness(claim, table, found, largest)
    measured: dict[str, int | float | str | None] = {
        "max_share": None if largest is None else float(largest),
        "max_share_exact": None if largest is None else _ratio(largest),
        "max_share_trajectories": None if found is None else float(max(shares.by_trajectory for shares in found)),
        "classes": None if found is None else sum(len(shares.first) for shares in found),
        "unsafe": unsafe,
        "trajectories": int((data.offsets[:-1] < data.offsets[1:]).sum()),
        "visits": len(data.t),
    }
    return Verdict(
        holds=unsafe == 0 and not reason,
        claim=claim,
        counted=_counted(data),
        measured=measured,
        witness=witness,
        reason=reason or _reason(data, claim, measured, witness),
        not_judged=_not_judged(data),
    )


def _witness(claim: BreachBound, table: _Table, found: list[_Shares], largest: Fraction) -> dict[str, Any]:
    """Return the worst pair of a class and a place."""
    best: tuple[int, str, list[Any], str, str, int, int] | None = None
    for (name, _), shares in zip(claim.adversaries, found, strict=True):
        top = np.flatnonzero(shares.having * largest.denominator == shares.among * largest.numerator)
        length = shares.known[shares.group[top]]
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
    found_ = {"adversary": name, "knows": knows, "place": place, "counts": counts}
    return {**found_, "fit": among, "with_place": having, "share": _ratio(largest)}


def _reason(data: Visits, claim: BreachBound, measured: dict[str, Any], witness: dict[str, Any] | None) -> str:
    """One sentence with counts and the parameters, without anything that was published."""
    share, p = measured["max_share_exact"], _ratio(claim.p)
    if witness:
        return (
            f"Of the {witness['counts']} that fit what the adversary {witness['adversary']!r} knows, {share} have one "
            f"place that is not his, more than p = {p}."
        )
    classes = "1 class" if measured["classes"] == 1 else f"{measured['classes']:,} classes"
    counted = "people or of the trajectories" if data.owners == "given" else "trajectories"
    return f"In {classes}, no place has a share of the {counted} above {share} (p = {p})."


def _not_judged(data: Visits) -> tuple[str, ...]:
    if data.owners != "hidden":
        return ()
    return (
        "shares by owner: the owners are withheld, so it is known which share of trajectories has a place, but not "
        "of people",
    )


def _counted(data: Visits) -> Literal["owners", "trajectories"]:
    return "owners" if data.owners == "given" else "trajectories"


def _ratio(value: Fraction) -> str:
    return f"{value.numerator}/{value.denominator}"
