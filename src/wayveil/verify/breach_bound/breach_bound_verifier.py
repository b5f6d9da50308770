"""Do adversaries who hold projections infer too much?  Judged from the definition alone, in whole numbers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import comb, inf, log
from typing import Any, Literal

import numpy as np
from scipy.special import gammaln

from wayveil.model.budget import spend
from wayveil.model.claims import BreachBound
from wayveil.model.ragged import BoolArray, FloatArray, IntArray, keep_rows, trajectory_of_row
from wayveil.model.results import Verdict
from wayveil.model.visits import Visits
from wayveil.verify.common.index_ranges import chunks, distinct, expand
from wayveil.verify.common.stop_classes import ratio
from wayveil.verify.common.whole_trajectories import same

__all__ = ["check_breach_bound"]


def check_breach_bound(published: Visits, claim: BreachBound) -> Verdict:
    """Judge whether any adversary who sees the published data infers a place that is not his with too large a share.

    For every adversary, published trajectories are in one class if their visits to his places are the same: the same
    places in the same order, with ``times="keep"`` at the same times.  Those without such a visit are a class, too.
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
    shares = [_Shares.of(table, claim, frozenset(places)) for _, places in claim.adversaries]
    return _verdict(published, claim, shares, table=table)


def _refusal(data: Visits) -> str | None:
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
    n_known : int64, one per class
        Number of visits that he knows of each.
    group, place : int64, one per pair
        The class and the place.
    having, among : int64, one per pair
        How many have the place, and of how many: people or trajectories, whichever give the larger share.
    by_people : bool, one per pair
        Whether these are people.
    unsafe : bool, one per pair
        Whether the share is above p.
    trips : int64, one per pair
        How many trajectories of the class have the place.
    code : int64, one per trajectory
        Its class.
    size : int64, one per class
        How many trajectories are in it.
    own : bool, one per visit
        Which visits he knows.
    by_trajectory : Fraction
        The largest share of the trajectories of a class with one place.
    """

    first: IntArray
    n_known: IntArray
    group: IntArray
    place: IntArray
    having: IntArray
    among: IntArray
    by_people: BoolArray
    unsafe: BoolArray
    trips: IntArray
    code: IntArray
    size: IntArray
    own: BoolArray
    by_trajectory: Fraction

    @classmethod
    def of(cls, table: _Table, claim: BreachBound, places: frozenset[str]) -> _Shares:
        spend(200_000 + 50 * len(table.names) + 200 * len(table.place))
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
        trips = _count_people(number, whose, len(code))
        size = np.bincount(code)
        of_trips = size[group]
        by_people = (carry * of_trips >= trips * fit) & table.given
        having = np.where(by_people, carry, trips)
        among = np.where(by_people, fit, of_trips)
        return cls(
            first=first,
            n_known=np.diff(offsets)[first],
            group=group,
            place=place,
            having=having,
            among=among,
            by_people=by_people,
            unsafe=having > _allowed(claim.p, among),
            trips=trips,
            code=code,
            size=size,
            own=own,
            by_trajectory=_largest(trips, of_trips),
        )


Holding = tuple[int, int, int]
"""What one person has of one class: its trajectories, those with the place, and those of this person."""


@dataclass(frozen=True, kw_only=True, eq=False)
class _Inference:
    """What one adversary infers of people with several trajectories, over all that each of them has.

    Parameters
    ----------
    largest : Fraction
        The largest chance of one person and one place, 0 if nobody has several trajectories.
    place : int
        The place of this chance, or -1.
    holdings : tuple of Holding
        What this person has of the classes with the place, sorted.
    unsafe : bool, one per person
        Whether the chance of some place is above p.
    """

    largest: Fraction
    place: int
    holdings: tuple[Holding, ...]
    unsafe: BoolArray

    @classmethod
    def of(cls, table: _Table, shares: _Shares, p: Fraction) -> _Inference:
        unsafe = np.zeros(table.people, bool)
        best: tuple[Fraction, int, tuple[Holding, ...]] = (Fraction(0), -1, ())
        theirs = (np.bincount(table.person, minlength=table.people) > 1)[table.person]
        n_classes = len(shares.size)
        keys, held = np.unique(table.person[theirs] * n_classes + shares.code[theirs], return_counts=True)
        person, group = np.divmod(keys, n_classes)
        of_class = np.append(0, np.cumsum(np.bincount(shares.group, minlength=n_classes)))  # pairs are sorted by class
        begin = of_class[group]
        n_places = of_class[group + 1] - begin
        first = np.flatnonzero(np.append(True, person[1:] != person[:-1])[: len(person)])
        n_groups = np.diff(np.append(first, len(person)))
        # A sum of logarithms of so many binomials is off by less than this.
        slack = 1e-12 + 1e-14 * float(gammaln(len(shares.code) + 1.0)) * int(n_groups.max(initial=1))

        # Some people at a time, with all places of all their classes: a row is a pair of person and class with a place
        # of the class, and `pair` the person and the place that it belongs to.
        until = np.append(0, np.cumsum(n_places))
        for some in chunks(until[first + n_groups] - until[first]):
            one = slice(first[some[0]], first[some[-1]] + n_groups[some[-1]])
            row, which = expand(begin[one], n_places[one])
            pairs, pair = np.unique(person[one][which] * len(table.names) + shares.place[row], return_inverse=True)
            if len(pairs):
                rows = _Rows(pair, shares.size[group[one]][which], shares.trips[row], held[one][which])
                whose, place = np.divmod(pairs, len(table.names))
                unsafe[whose[rows.above(p, slack)]] = True
                new = rows.surest(place, slack)
                best = new if new[0] > best[0] or (new[0] == best[0] and new[1:] < best[1:]) else best
        return cls(largest=best[0], place=best[1], holdings=best[2], unsafe=unsafe)


class _Rows:
    """Pairs of a person and a place, each with what the person has of some classes.

    The chances that none of their trajectories in a class has the place are multiplied, as sums of logarithms.  Those
    close to p, or to the largest, are computed again as fractions.

    Parameters
    ----------
    pair : int64, one per row
        The pair that a row belongs to, from 0 on; each has some.
    whole, having, mine : int64, one per row
        The trajectories of a class, those with the place, and those of the person.
    """

    def __init__(self, pair: IntArray, whole: IntArray, having: IntArray, mine: IntArray) -> None:
        self.columns = whole, having, mine
        self.by_pair = np.argsort(pair, kind="stable")
        self.ends = np.append(0, np.cumsum(np.bincount(pair)))
        self.none = np.bincount(pair, weights=_log_none(whole, having, mine))
        self.chances: dict[tuple[Holding, ...], Fraction] = {}

    def above(self, p: Fraction, slack: float) -> BoolArray:
        """Return whether the chance of each pair is above p."""
        if p == 1:
            return np.zeros(len(self.none), bool)
        limit = log(1 - p)
        above = self.none < limit - slack
        close = np.flatnonzero(np.abs(self.none - limit) <= slack)
        above[close] = [self.chance(self.holdings(i)) > p for i in close.tolist()]
        return above

    def surest(self, place: IntArray, slack: float) -> tuple[Fraction, int, tuple[Holding, ...]]:
        """Return the largest chance with its place and holdings; of equal chances the first by these."""
        lowest = self.none.min()
        top = np.flatnonzero(self.none <= lowest + slack)
        if lowest == -inf:  # certain, without any arithmetic
            top = top[place[top] == place[top].min()]
        candidates = [(int(place[i]), self.holdings(i)) for i in top.tolist()]
        largest = max(self.chance(holdings) for _, holdings in candidates)
        return (largest, *min(one for one in candidates if self.chance(one[1]) == largest))

    def holdings(self, i: int) -> tuple[Holding, ...]:
        """Return what the person of a pair has of the classes with the place, sorted."""
        rows = self.by_pair[self.ends[i] : self.ends[i + 1]]
        whole, having, mine = (column[rows].tolist() for column in self.columns)
        return tuple(sorted(zip(whole, having, mine, strict=True)))

    def chance(self, holdings: tuple[Holding, ...]) -> Fraction:
        """Return the exact chance; many people have the same."""
        if holdings not in self.chances:
            self.chances[holdings] = _chance(holdings)
        return self.chances[holdings]


def _log_none(whole: IntArray, having: IntArray, mine: IntArray) -> FloatArray:
    """Return the logarithm of C(whole - having, mine) / C(whole, mine), -inf where it is 0."""
    without = whole - having
    possible = mine <= without
    left = np.where(possible, without - mine, 0)
    logarithm = gammaln(without + 1.0) - gammaln(left + 1.0) - gammaln(whole + 1.0) + gammaln(whole - mine + 1.0)
    chances: FloatArray = np.where(possible, logarithm, -inf)
    return chances


def _chance(holdings: tuple[Holding, ...]) -> Fraction:
    """Return the chance that a trajectory of a person has a place, in exact arithmetic.

    Examples
    --------
    >>> _chance(((4, 2, 3),)), _chance(((4, 2, 1), (3, 1, 1)))
    (Fraction(1, 1), Fraction(2, 3))
    """
    none = Fraction(1)
    for whole, having, mine in holdings:
        none *= Fraction(comb(whole - having, mine), comb(whole, mine))
    return 1 - none


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
    # Before each round `best` is 0 or one of the quotients, and what is left are those that may be larger.  A round
    # keeps those that are larger, by cross-multiplication in integers, and takes the one that looks largest as a float.
    # It is left out of the next round, so the rounds end; then nothing is larger than `best`, whatever floats said.
    while True:
        better = np.flatnonzero(having * best.denominator > among * best.numerator)
        if not len(better):
            return best
        having = having[better]
        among = among[better]
        i = int((having / among).argmax())
        best = Fraction(int(having[i]), int(among[i]))


def _verdict(
    data: Visits, claim: BreachBound, shares: list[_Shares] | None, *, table: _Table | None = None, reason: str = ""
) -> Verdict:
    """Say what was found; a `reason` given beforehand says why nothing is certain."""
    largest = None
    surest = None
    unsafe = None
    unsafe_people = None
    witness = None
    if shares is not None and table is not None:
        largest = max(_largest(one.having, one.among) for one in shares)
        unsafe = sum(int(one.unsafe.sum()) for one in shares)
        by_person = [_Inference.of(table, one, claim.p) for one in shares] if table.given else []
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
        reason=reason or _reason(data, claim, measured, witness),
        not_judged=_not_judged(data),
    )


def _person(claim: BreachBound, table: _Table, by_person: list[_Inference]) -> dict[str, Any]:
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


def _witness(claim: BreachBound, table: _Table, by_adversary: list[_Shares], largest: Fraction) -> dict[str, Any]:
    """Return the worst pair of a class and a place."""
    best: tuple[int, str, list[Any], str, str, int, int] | None = None
    for (name, _), shares in zip(claim.adversaries, by_adversary, strict=True):
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


def _reason(data: Visits, claim: BreachBound, measured: dict[str, Any], witness: dict[str, Any] | None) -> str:
    """One sentence with counts and the parameters, without anything that was published."""
    share = measured["max_share_exact"]
    p = ratio(claim.p)
    if witness and "theirs" in witness:
        return (
            f"The adversary {witness['adversary']!r} knows how many trajectories of each class are whose, and infers a "
            f"place that is not his of a person with several with a chance of {witness['share']}, more than p = {p}."
        )
    if witness:
        return (
            f"Of the {witness['counts']} that fit what the adversary {witness['adversary']!r} knows, {share} have one "
            f"place that is not his, more than p = {p}."
        )
    classes = "1 class" if measured["classes"] == 1 else f"{measured['classes']:,} classes"
    counted = "people or of the trajectories" if data.owners == "given" else "trajectories"
    several = ""
    if measured["max_inference_exact"] != share and data.owners == "given":
        several = f", and none is inferred of a person with a chance above {measured['max_inference_exact']}"
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
