"""Where a map and counts betray someone: the inference routes of any routes, raw or published."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from wayveil.model.budget import spend
from wayveil.model.data.distinct import distinct_values
from wayveil.model.data.ragged import BoolArray, IntArray, offsets_of, take, trajectory_of_row
from wayveil.model.data.routes import RoadNetwork, Routes
from wayveil.verifiers.common.whole_trajectories import same

__all__ = [
    "CHUNK_ROWS",
    "InferenceRoutes",
    "RouteGroups",
    "exceed",
    "find_inference_routes",
    "inference_routes_of",
]

CHUNK_ROWS = 2_000_000
"""About so many members of sets are in memory at once; the findings do not depend on it."""


def find_inference_routes(
    published: Routes, k: int, *, share: Fraction | None = None, count: Literal["people", "everybody"] = "people"
) -> InferenceRoutes:
    """Find the intersections where fewer than k part from many, or join them, or where one person is too many of them.

    Take an intersection and a slice of time, a road i that leads to it and a road j that leads away from it, and let
    U_i and U_j be the trajectories of the slice on these roads.  If both are those of at least k people, but those
    only on i, or those only on j, are of at least one and fewer than k people, then whoever has a map can follow these
    few to roads that were not published.  The same if one person owns more than a share of those only on i, or on j.

    Parameters
    ----------
    published : Routes
        Any routes; whether they are connected does not matter.  A negative owner is a dummy, and nobody.
    k : int, >= 1
        The smallest number of people who are not few.
    share : Fraction, optional
        The largest share of a set that one person may own; 1/k if it is not given.
    count : {"people", "everybody"}
        The sets are of trajectories, because an attacker sees nothing else.  Their sizes are distinct owners; with
        "everybody" a dummy counts as one more, and its trajectory as one of the set.  Where the owners are withheld,
        every trajectory counts.

    Returns
    -------
    InferenceRoutes
        One finding per slice, pair of roads and direction, with the sizes of the sets behind it.

    Notes
    -----
    Everything is counted per different route, not per trajectory.  Time is that of sorting the rows, and
    O(degree * rows of different routes); memory is O(rows + CHUNK_ROWS).

    References
    ----------
    Gurung, Lin, Jiang, Hurson, Zhang: Traffic information publication with privacy preservation.  ACM Transactions on
    Intelligent Systems and Technology 5 (2014), Definition 2.

    Examples
    --------
    >>> network = RoadNetwork.from_roads([("AB", "A", "B"), ("BC", "B", "C")])
    >>> data = Routes.from_records([["AB", "BC"]] * 3 + [["AB"]], network=network)
    >>> found = find_inference_routes(data, 3)
    >>> len(found), found.record(0)["node"], found.record(0)["few"], found.record(0)["direction"]
    (1, 'B', 1, 'leave')
    """
    groups = RouteGroups.of(published, count=count)
    return inference_routes_of(published, groups, k, Fraction(1, k) if share is None else share)


def inference_routes_of(published: Routes, groups: RouteGroups, k: int, share: Fraction) -> InferenceRoutes:
    """Do what `find_inference_routes` does for groups that are known already, and count what they count."""
    sets = _Sets.of(published, groups)
    # Definition 2: at an intersection, compare who comes in by one road with who goes out by another. Only roads with k
    # people or more are compared: fewer are a break of another rule.
    coming, going = _meetings(published.network, sets, sets.people >= k)
    parts = []
    # In each direction: of the people on a road with k people or more, how many do not go on to (or come from) the
    # other road.  Too few, but not none, are told by the difference of two published counts.
    for direction, one_side, other_side in ((0, coming, going), (1, going, coming)):
        for lo, hi in _chunks((sets.starts[1:] - sets.starts[:-1])[one_side]):
            spend(300_000 + 60 * int((sets.starts[1:] - sets.starts[:-1])[one_side[lo:hi]].sum() + hi - lo))
            pair, few = sets.few(one_side[lo:hi], other_side[lo:hi], k, share)
            parts.append(np.stack([pair + lo, few, np.full(len(pair), direction)]))
    pair, few, direction = np.concatenate([np.empty((3, 0), np.int64), *parts], axis=1)
    pair, few, direction = (column[np.argsort(pair, kind="stable")] for column in (pair, few, direction))
    coming = coming[pair]
    going = going[pair]
    return InferenceRoutes(
        t_start=groups.t_start[sets.slice[coming]],
        t_end=groups.t_end[sets.slice[coming]],
        node=published.network.to_node[sets.road[coming]],
        road_in=sets.road[coming],
        road_out=sets.road[going],
        leave=direction == 0,
        n_in=sets.people[coming],
        n_out=sets.people[going],
        few=few,
        network=published.network,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class InferenceRoutes:
    """The findings, one per entry; nobody is named.

    Parameters
    ----------
    t_start, t_end : int64
        The slice of time.
    node, road_in, road_out : int64
        The intersection, the road to it, and the road away from it, as codes of `network`.
    leave : bool
        True where the few come in by `road_in` and do not go out by `road_out`; False where they go out by it, and
        did not come in by `road_in`.
    n_in, n_out, few : int64
        How many are on `road_in`, on `road_out`, and how few are on one of them only; k or more where one of these
        owns too many of their trajectories.
    network : RoadNetwork
    """

    t_start: IntArray
    t_end: IntArray
    node: IntArray
    road_in: IntArray
    road_out: IntArray
    leave: BoolArray
    n_in: IntArray
    n_out: IntArray
    few: IntArray
    network: RoadNetwork

    def __len__(self) -> int:
        return len(self.node)

    @property
    def intersections(self) -> int:
        """Number of intersections with a finding, each counted once in every slice."""
        return len(np.unique(np.stack([self.t_start, self.t_end, self.node]), axis=1).T)

    def record(self, i: int) -> dict[str, Any]:
        """Return one finding in names and plain numbers."""
        return {
            "slice": [int(self.t_start[i]), int(self.t_end[i])],
            "node": self.network.nodes[self.node[i]],
            "road_in": self.network.roads[self.road_in[i]],
            "road_out": self.network.roads[self.road_out[i]],
            "direction": "leave" if self.leave[i] else "join",
            "n_in": int(self.n_in[i]),
            "n_out": int(self.n_out[i]),
            "few": int(self.few[i]),
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class RouteGroups:
    """The different routes of each slice, and who is behind them; trajectories without rows are not there.

    Parameters
    ----------
    t_start, t_end : int64, one per slice
        The slices, in the order of time.
    trajectory, group : int64
        The trajectories with rows, and the group of each.
    slice, first : int64, one per group
        The slice of a group, as a position in the two above, and a trajectory with its route.
    people, rows : int64, one per group
        How many people have this route, and in how many trajectories.
    starts, person, times : int64
        The people of group `g` are ``person[starts[g]:starts[g + 1]]``, each once, as codes from 0; in `times` is in
        how many trajectories they have this route.
    alone : bool
        No person is in two groups of one slice, so numbers of people can be added.

    Examples
    --------
    >>> network = RoadNetwork.from_roads([("AB", "A", "B"), ("BC", "B", "C")])
    >>> data = Routes.from_records([["AB"], ["AB"], ["BC"], ["AB"]], network=network, owner=[5, 5, 5, -1])
    >>> groups = RouteGroups.of(data)
    >>> groups.people.tolist(), RouteGroups.of(data, count="everybody").people[groups.group].tolist(), groups.alone
    ([1, 1], [2, 2, 1, 2], False)
    """

    t_start: IntArray
    t_end: IntArray
    trajectory: IntArray
    group: IntArray
    slice: IntArray
    first: IntArray
    people: IntArray
    rows: IntArray
    starts: IntArray
    person: IntArray
    times: IntArray
    alone: bool

    @classmethod
    def of(
        cls, data: Routes, *, count: Literal["people", "everybody"] = "people", nobody: BoolArray | None = None
    ) -> RouteGroups:
        """Return the groups; trajectories where `nobody` is true are there, but count for nothing."""
        nonempty = np.flatnonzero(data.offsets[:-1] < data.offsets[1:])
        t_start, t_end, slice_of = _slices(data.t_start[nonempty], data.t_end[nonempty])
        # Groups by route and slice. Everything below is counted per group, of which there are far fewer than
        # trajectories.
        code, distinct = same(data.offsets, [data.road], nonempty)
        _, at, group = np.unique(slice_of * len(distinct) + code, return_index=True, return_inverse=True)
        name: IntArray = np.arange(len(nonempty)) if data.owners == "hidden" else data.owner[nonempty]
        if count == "everybody":  # each dummy is somebody of its own
            name = np.where(name < 0, int(name.max(initial=0)) + 1 + np.arange(len(nonempty)), name)
        if nobody is not None:
            name = np.where(nobody[nonempty], -1, name)
        of, person, times = _pairs(group, name)
        people = np.bincount(of, minlength=len(at))
        together = np.unique(slice_of[at][of] * (int(person.max(initial=0)) + 1) + person)
        return cls(
            t_start=t_start,
            t_end=t_end,
            trajectory=nonempty,
            group=group,
            slice=slice_of[at],
            first=nonempty[at],
            people=people,
            rows=np.bincount(group[name >= 0], minlength=len(at)),
            starts=offsets_of(people),
            person=person,
            times=times,
            alone=len(together) == len(person),
        )

    def __len__(self) -> int:
        return len(self.first)

    def take(self, order: IntArray) -> RouteGroups:
        """Return the same groups in this order, each once."""
        starts, at = take(self.starts, order)
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        return replace(
            self,
            group=place[self.group],
            slice=self.slice[order],
            first=self.first[order],
            people=self.people[order],
            rows=self.rows[order],
            starts=starts,
            person=self.person[at],
            times=self.times[at],
        )

    @property
    def largest(self) -> IntArray:
        """The most trajectories of each group that one person owns."""
        most = np.zeros(len(self), np.int64)
        np.maximum.at(most, np.repeat(np.arange(len(self)), self.people), self.times)
        return most

    def routes(self, data: Routes) -> tuple[IntArray, IntArray]:
        """Return (offsets, roads) of the route of every group."""
        offsets, rows = take(data.offsets, self.first)
        return offsets, data.road[rows].astype(np.int64)

    def dominated(self, starts: IntArray, members: IntArray, share: Fraction) -> BoolArray:
        """Tell of which lists ``members[starts[i]:starts[i + 1]]`` of groups somebody owns more than a share.

        Where nobody owns more than the share of any group, nobody does of several together, so that only lists with a
        group that somebody dominates are counted.
        """
        # A share of a sum is at most the largest share of its parts, so lists without a dominated group are safe
        # without counting.
        bad = exceed(self.largest, self.rows, share)
        is_dominated = np.zeros(len(starts) - 1, np.bool_)
        for i in np.unique(trajectory_of_row(starts)[bad[members]]).tolist():
            inside = members[starts[i] : starts[i + 1]]
            spend(100_000 + 200 * len(inside))
            _, at = take(self.starts, inside)
            _, who = np.unique(self.person[at], return_inverse=True)
            most = np.bincount(who, weights=self.times[at]).max(initial=0)
            is_dominated[i] = exceed(np.array([int(most)]), self.rows[inside].sum(keepdims=True), share)[0]
        return is_dominated

    def distinct(self, starts: IntArray, members: IntArray) -> IntArray:
        """Count the different people behind each list ``members[starts[i]:starts[i + 1]]`` of groups of one slice."""
        if self.alone:
            total = offsets_of(self.people[members])
            return np.diff(total[starts])
        counts = np.zeros(len(starts) - 1, np.int64)
        sizes = np.diff(offsets_of(self.people[members])[starts])
        n_people = int(self.person.max(initial=0)) + 1
        for lo, hi in _chunks(sizes):
            inside = members[starts[lo] : starts[hi]]
            _, at = take(self.starts, inside)
            which = np.repeat(np.arange(hi - lo), sizes[lo:hi])
            pairs = distinct_values(which * n_people + self.person[at])
            counts[lo:hi] = np.bincount(pairs // n_people, minlength=hi - lo)
        return counts


@dataclass(frozen=True, kw_only=True, eq=False)
class _Sets:
    """For every slice and road, the groups on it: set `s` has ``member[starts[s]:starts[s + 1]]``, ascending."""

    groups: RouteGroups
    slice: IntArray
    road: IntArray
    starts: IntArray
    member: IntArray
    key: IntArray
    people: IntArray

    @classmethod
    def of(cls, data: Routes, groups: RouteGroups) -> _Sets:
        offsets, road = groups.routes(data)
        group = trajectory_of_row(offsets)
        where, of_row = np.unique(groups.slice[group] * len(data.network) + road, return_inverse=True)
        # Set and member packed into one number, sorted: membership is a binary search.
        key = np.unique(of_row * len(groups) + group)
        of_key, member = np.divmod(key, max(1, len(groups)))
        starts = offsets_of(np.bincount(of_key, minlength=len(where)))
        in_slice, on_road = np.divmod(where, max(1, len(data.network)))
        people = groups.distinct(starts, member)
        return cls(groups=groups, slice=in_slice, road=on_road, starts=starts, member=member, key=key, people=people)

    def few(self, one_side: IntArray, other_side: IntArray, k: int, share: Fraction) -> tuple[IntArray, IntArray]:
        """Return which pairs have too few people on `one_side` only, or one who is too many of them, and how many."""
        offsets, at = take(self.starts, one_side)
        pair = trajectory_of_row(offsets)
        member = self.member[at]
        pairs = other_side[pair] * len(self.groups) + member
        position = np.searchsorted(self.key, pairs)
        only = self.key[np.minimum(position, len(self.key) - 1)] != pairs
        pair = pair[only]
        member = member[only]
        starts = offsets_of(np.bincount(pair, minlength=len(one_side)))
        one = np.flatnonzero(self.groups.dominated(starts, member, share))
        of_one, at = take(starts, one)
        people_of_one = self.groups.distinct(of_one, member[at])
        # One route of k people is enough to say that there are not few; it spares most counts.
        many = np.zeros(len(one_side), bool)
        many[pair[self.groups.people[member] >= k]] = True
        member = member[~many[pair]]
        pair = pair[~many[pair]]
        people = self.groups.distinct(offsets_of(np.bincount(pair, minlength=len(one_side))), member)
        people[one] = people_of_one
        which = np.flatnonzero((people > 0) & (people < k))
        which = np.union1d(which, one)
        return which, people[which]


def _meetings(network: RoadNetwork, sets: _Sets, often: BoolArray) -> tuple[IntArray, IntArray]:
    """Return all pairs of sets in the same slice, the first on a road to where the road of the second begins."""
    these = np.flatnonzero(often)
    n = max(1, len(network.nodes))
    end = sets.slice[these] * n + network.to_node[sets.road[these]]
    begin = sets.slice[these] * n + network.from_node[sets.road[these]]
    order = np.argsort(begin, kind="stable")
    lo = np.searchsorted(begin[order], end, side="left")
    more = np.searchsorted(begin[order], end, side="right") - lo
    offsets = offsets_of(more)
    spend(150 * int(offsets[-1]))
    at = np.arange(offsets[-1]) + np.repeat(lo - offsets[:-1], more)
    return np.repeat(these, more), these[order[at]]


def _pairs(group: IntArray, name: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return the different pairs of a group and a person, by group, and how often each is there.

    Negative names are nobody; others get codes.
    """
    real = np.flatnonzero(name >= 0)
    names, person = np.unique(name[real], return_inverse=True)
    pairs, times = np.unique(group[real] * len(names) + person, return_counts=True)
    of, person = np.divmod(pairs, max(1, len(names)))
    return of, person, times


def exceed(part: IntArray, whole: IntArray, share: Fraction) -> BoolArray:
    """Return where `part` is more than a share of `whole`, in whole numbers."""
    if max(share.denominator, share.numerator) < 2**31:
        return part * share.denominator > whole * share.numerator
    exact = [a * share.denominator > b * share.numerator for a, b in zip(part.tolist(), whole.tolist(), strict=True)]
    return np.array(exact, np.bool_)


def _slices(t_start: IntArray, t_end: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return the different (t_start, t_end) in order, and which of them each pair is."""
    starts, a = np.unique(t_start, return_inverse=True)
    ends, b = np.unique(t_end, return_inverse=True)
    pairs, code = np.unique(a * len(ends) + b, return_inverse=True)
    a, b = np.divmod(pairs, max(1, len(ends)))
    return starts[a], ends[b], code


def _chunks(sizes: IntArray) -> Iterator[tuple[int, int]]:
    """Cut lists of these sizes into ranges with about `CHUNK_ROWS` members, each with at least one list."""
    total = offsets_of(sizes)
    lo = 0
    # All lists before `lo` are in a range.  Each round takes at least one list more, so it ends.
    while lo < len(sizes):
        hi = max(lo + 1, int(np.searchsorted(total, total[lo] + CHUNK_ROWS, side="right")) - 1)
        yield lo, hi
        lo = hi
