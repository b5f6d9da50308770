"""What an adversary sees of published trajectories, in classes, and the share that each place has in a class."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from wayveil.model.budget import spend
from wayveil.model.claims import BreachBound
from wayveil.model.data.ragged import BoolArray, IntArray, keep_rows, trajectory_of_row
from wayveil.model.data.visits import Visits
from wayveil.verifiers.common.index_ranges import distinct
from wayveil.verifiers.common.whole_trajectories import same

__all__ = ["Shares", "Table", "find_largest"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Table:
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
    def of(cls, data: Visits) -> Table:
        names = sorted({str(name) for name in data.locations})
        rank = {name: i for i, name in enumerate(names)}
        nonempty = np.flatnonzero(data.offsets[:-1] < data.offsets[1:])
        offsets = np.append(data.offsets[nonempty], data.offsets[-1])
        codes, person = np.unique(data.owner[nonempty] if data.owners == "given" else nonempty, return_inverse=True)
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
class Shares:
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
    def of(cls, table: Table, claim: BreachBound, places: frozenset[str]) -> Shares:
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
            by_trajectory=find_largest(trips, of_trips),
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


def find_largest(having: IntArray, among: IntArray) -> Fraction:
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
