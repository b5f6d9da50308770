"""The shares of `cast`: how much of a class may be one person's, or may have been at one sensitive place."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

import numpy as np

from wayveil.methods.cast.cast_tree import Preorder
from wayveil.model.claims.counting import exceeds
from wayveil.model.data.distinct import distinct_values
from wayveil.model.data.ragged import BoolArray, IntArray

__all__ = ["Shares", "dominated", "reach"]


@dataclass(frozen=True, kw_only=True)
class Shares:
    """What every class must keep.

    Parameters
    ----------
    m : int
        Fewest people.
    owner_share : Fraction
        The largest share of the trajectories that one person owns.
    c : Fraction or None
        The largest share of people, and of trajectories, that may have been at one sensitive place; None where the
        weights are uniform: then sensitive places are lifted afterwards, and do not matter for the groups.
    """

    m: int
    owner_share: Fraction
    c: Fraction | None

    def blind(self, people: int) -> Shares:
        """Return the same for who forms groups of these people without a look at sensitive places.

        Groups are so large that two may have been at one place, if there are so many people at all: where two of the
        fewest that it takes meet at one, leaving one of them out leaves too few.
        """
        enough = self.group_size if not self.c else max(self.group_size, min(ceil(2 / self.c), people))
        return Shares(m=enough, owner_share=self.owner_share, c=None)

    @property
    def group_size(self) -> int:
        """People in a group: m, or as many as it takes so that one of them is no more than each share."""
        smallest = max(self.m, ceil(1 / self.owner_share))
        return max(smallest, ceil(1 / self.c)) if self.c else smallest

    @property
    def most_alike(self) -> int:
        """How many of a group may have been at the same sensitive place."""
        return self.group_size if self.c is None else floor(self.c * self.group_size)

    def seat(
        self, pool: IntArray, group: IntArray, riders: IntArray, places: IntArray, owner: IntArray, secrets: IntArray
    ) -> IntArray:
        """Return which group each of the riders may join: the one it wants, or -1 where a share would be too large.

        Parameters
        ----------
        pool, group : int64
            The trajectories of a level, and the group of each, or -1.
        riders, places : int64
            Trajectories, and the group that covers each, or -1.
        owner, secrets : int64, one per trajectory
            Whose it is, and the sensitive nodes of it, -1 where there are fewer.

        Notes
        -----
        Before each rider all groups keep the shares.  One who joins makes every share smaller but that of its owner and
        those of its own secrets, so only these are looked at.  Those who do not fit come once more when all others were
        seated, because a larger group has room for more.
        """
        seats = np.where(places >= 0, -1, places)
        if not (places >= 0).any() or (self.c is None and len(np.unique(owner[pool])) == len(pool)):
            return places
        tables: dict[int, _Table] = {number: _Table() for number in np.unique(places[places >= 0]).tolist()}
        is_listed = np.isin(group, list(tables))
        for trajectory, number in zip(pool[is_listed].tolist(), group[is_listed].tolist(), strict=True):
            tables[number].add(int(owner[trajectory]), _secrets(secrets[trajectory]))
        # Two passes: who did not fit into a small group may fit when others have joined it.
        for _ in range(2):
            for i in np.flatnonzero((places >= 0) & (seats < 0)).tolist():
                who = int(owner[riders[i]])
                secret = _secrets(secrets[riders[i]])
                table = tables[int(places[i])]
                if table.fits(who, secret, self):
                    table.add(who, secret)
                    seats[i] = places[i]
        return seats

    def left_out(self, owner: Sequence[int], secrets: Sequence[frozenset[int]], tree: Preorder) -> list[int]:
        """Return which trajectories of a class are left out so that the others keep all shares; all, if they cannot.

        `secrets` has the sensitive nodes where each trajectory truly stops.

        Notes
        -----
        Each round mends one share, by leaving out as many trajectories as that takes: of a person who owns too much,
        the last ones; of those at a place where too many are, people with few such trajectories first.
        Every round leaves something out, so this ends; with fewer than m people all are left out.
        """
        members = list(range(len(owner)))
        while True:
            people = {owner[i] for i in members}
            if len(people) < self.m:
                return list(range(len(owner)))
            gone = self._dominating([(owner[i], i) for i in members])
            if not gone and self.c is not None:
                gone = self._crowded([(owner[i], i) for i in members], secrets, tree)
            if not gone:
                return sorted(set(range(len(owner))) - set(members))
            members = [i for i in members if i not in gone]

    def _dominating(self, members: list[tuple[int, int]]) -> set[int]:
        """Return the trajectories beyond what one person may own.

        If everybody keeps x at most, the sum of what is kept is concave in x; so the x that are allowed are all from 0
        to some largest one, which is found by halving.
        """
        trips = Counter(who for who, _ in members)
        low = 0
        high = max(trips.values())
        while low < high:
            x = (low + high + 1) // 2
            if exceeds(x, sum(min(x, n) for n in trips.values()), self.owner_share):
                high = x - 1
            else:
                low = x
        gone = set()
        seen: Counter[int] = Counter()
        for who, i in members:
            seen[who] += 1
            if seen[who] > low:
                gone.add(i)
        return gone

    def _crowded(self, members: list[tuple[int, int]], secrets: Sequence[frozenset[int]], tree: Preorder) -> set[int]:
        """Return trajectories at the place where most are beyond the share, as many as that takes."""
        c = self.c
        if c is None:
            return set()
        people = len({who for who, _ in members})
        nodes = sorted({node for _, i in members for node in secrets[i]})
        worst = Fraction(0)
        fullest = -1
        by_place: dict[int, dict[int, list[int]]] = {place: defaultdict(list) for place in nodes}
        for who, i in members:
            # A stop at an inner node may have been at any place below it, so it counts for all of those that occur: in
            # preorder a range of the sorted nodes.
            reached = {
                place
                for node in secrets[i]
                for place in nodes[bisect_left(nodes, node) : bisect_left(nodes, int(tree.last[node]))]
            }
            for place in reached:
                by_place[place][who].append(i)
        for place, of_place in by_place.items():
            trips = sum(map(len, of_place.values()))
            # Both ways of counting, and the worse of them decides which place is mended first.
            share = max(Fraction(len(of_place), people), Fraction(trips, len(members)))
            if share > max(worst, c):
                worst = share
                fullest = place
        if fullest < 0:
            return set()
        of_place = by_place[fullest]
        gone: set[int] = set()
        # Over people: somebody leaves with all trajectories at the place.  Who owns others stays without these.
        owned = Counter(who for who, _ in members)
        order = sorted(of_place, key=lambda who: (len(of_place[who]), of_place[who][0]))
        n_people = people
        n_there = len(of_place)
        for who in order:
            if not exceeds(n_there, n_people, c):
                break
            gone.update(of_place[who])
            n_there -= 1
            n_people -= owned[who] == len(of_place[who])
        # Over trajectories: one by one, of whoever has the most of them left.
        left = {who: [i for i in trips if i not in gone] for who, trips in of_place.items()}
        n_trips = len(members) - len(gone)
        n_at = sum(map(len, left.values()))
        while n_at and exceeds(n_at, n_trips, c):
            who = max(left, key=lambda one: len(left[one]))  # among equals the one whose turn is first
            gone.add(left[who].pop())
            n_trips -= 1
            n_at -= 1
        return gone


class _Table:
    """A group while others join it: who is in it how often, and how many people and trajectories have a secret."""

    def __init__(self) -> None:
        self.trips: Counter[int] = Counter()
        self.size = 0
        self.trips_with: Counter[int] = Counter()
        self.people_with: dict[int, set[int]] = defaultdict(set)

    def add(self, person: int, secrets: frozenset[int]) -> None:
        self.trips[person] += 1
        self.size += 1
        for secret in secrets:
            self.trips_with[secret] += 1
            self.people_with[secret].add(person)

    def fits(self, person: int, secrets: frozenset[int], shares: Shares) -> bool:
        """Return whether all shares are kept with one more trajectory."""
        if exceeds(self.trips[person] + 1, self.size + 1, shares.owner_share):
            return False
        if shares.c is None:
            return True
        people = len(self.trips) + (self.trips[person] == 0)
        for secret in secrets:
            if exceeds(self.trips_with[secret] + 1, self.size + 1, shares.c):
                return False
            if exceeds(len(self.people_with[secret] | {person}), people, shares.c):
                return False
        return True


def reach(label: IntArray, node: IntArray, unit: IntArray, tree: Preorder) -> tuple[IntArray, IntArray, IntArray]:
    """Return (class, node, count): how many of a class have a stop at the node or above it, for all nodes of the class.

    Parameters
    ----------
    label, node, unit : int64, one per stop
        Its class; its node in preorder; and the person, or the trajectory, to count.

    Examples
    --------
    >>> from wayveil.model import Taxonomy
    >>> tree = Preorder.of(Taxonomy.from_parents([("Place", ""), ("A", "Place"), ("A1", "A"), ("A2", "A")]))
    >>> [column.tolist() for column in reach(np.zeros(3, int), np.array([1, 2, 2]), np.array([7, 8, 8]), tree)]
    [[0, 0], [1, 2], [1, 2]]
    """
    n_nodes = len(tree.last)
    n_units = int(unit.max(initial=0)) + 1
    key = distinct_values((label * n_nodes + node) * n_units + unit)
    place = key // n_units
    unit = key % n_units
    label = place // n_nodes
    node = place % n_nodes
    places = np.unique(place)
    # A stop at a node also reaches all nodes below it that the class has: in preorder, those of a stretch of `places`.
    first = np.searchsorted(places, place)
    after = np.searchsorted(places, label * n_nodes + tree.last[node])
    many = after - first
    at = np.repeat(first - np.cumsum(many) + many, many) + np.arange(int(many.sum()))
    pairs = distinct_values(at * n_units + np.repeat(unit, many))
    count = np.bincount(pairs // n_units, minlength=len(places))
    return places // n_nodes, places % n_nodes, count


def _secrets(row: IntArray) -> frozenset[int]:
    return frozenset(row[row >= 0].tolist())


def dominated(label: IntArray, owner: IntArray, share: Fraction, n_classes: int) -> BoolArray:
    """Return in which classes somebody owns too much; trajectories with the label -1 are in none."""
    inside = label >= 0
    span = int(owner.max(initial=0)) + 1
    key, trips = np.unique(label[inside] * span + owner[inside], return_counts=True)
    most = np.zeros(n_classes, np.int64)
    size = np.bincount(label[inside], minlength=n_classes)
    np.maximum.at(most, key // span, trips)
    pairs = zip(most.tolist(), size.tolist(), strict=True)
    return np.array([exceeds(a, b, share) for a, b in pairs], np.bool_)
