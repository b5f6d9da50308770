"""Is every part of a route shared by enough people?  Judged from the definition alone, for every subsequence."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from wayveil.model.claims import SubsequenceK
from wayveil.model.ragged import BoolArray, IntArray, take, trajectory_of_row
from wayveil.model.results import Verdict
from wayveil.model.routes import Routes
from wayveil.verify.inference_routes import RouteGroups, inference_routes_of
from wayveil.verify.strict_k import Faults, not_judged_of_routes, refusal_of_routes, size_of_routes
from wayveil.verify.work import LimitReached, Work

__all__ = ["WORK_LIMIT", "check_subsequence_k"]

WORK_LIMIT = 200_000_000
"""So many steps are taken before the verdict is that nothing can be certified: about a minute."""

_STEPS_PER_ROAD = 100
"""What it costs to look for one road in any number of routes, beside the routes."""

_NOTE = "every subsequence is in routes of at least so many; there may be more"
_MET = "the support of the witness; the smallest of all may be smaller"


def check_subsequence_k(published: Routes, claim: SubsequenceK, *, original: Routes | None = None) -> Verdict:
    """Judge whether every subsequence of roads that occurs is in the routes of enough people.

    1. In every slice of time, every sequence of roads that occurs in a published trajectory, in this order and with
       any others between them, occurs so in trajectories of at least k distinct people.
    2. Every published trajectory is a connected path: each road begins where the one before it ends.
    3. Where the original is given, its network has every published road, between the same two nodes.

    Parameters
    ----------
    published : Routes
        The published data.  Distinct owner codes are counted, except with ``owners="hidden"``, where every trajectory
        counts; ``"declared"`` owners are trajectories of the input.  A negative code is a dummy, and nobody.
        Trajectories without rows are not published.
    claim : SubsequenceK
        What to judge.
    original : Routes, optional
        The true data, in any order: only their network is compared, by the names of roads and nodes.

    Returns
    -------
    Verdict
        `measured` has `min_support`, a number that no subsequence falls below, or, if the claim is broken, the support
        of the witness; `min_support_note` says which.  `exact_match_min_support` is the number of people behind
        the rarest whole route, and `inference_routes` the number of intersections that have one, each counted in every
        slice; the claim promises neither.  The others are as in `check_strict_k`.
        `witness` is a subsequence of too few people that has no longer too few when any one of its roads is dropped
        (not always the shortest), or else a jump, or a road that is not in the network.

    Notes
    -----
    Only whole routes are looked for in others.  Whatever contains a route S contains every subsequence of S, so if the
    routes of k people contain S, each subsequence of S has at least k people, and if they do not, S itself breaks the
    claim.  For the same reason a route that k people have as a whole need not be looked for, nor one with which another
    route begins, which is judged instead.  The others are looked for depth-first, road by road, all that begin with the
    same roads together; what is kept for a beginning of d roads are routes of at least d roads, so that memory is
    O(rows).

    Time is one binary search for each of these beginnings and each route that contains it.  After `WORK_LIMIT` of
    them the claim is not certified, and does not hold.

    References
    ----------
    Pensa, Monreale, Pinelli, Pedreschi: Pattern-preserving k-anonymization of sequences and its application to mobility
    data mining.  PiLBA 2008.

    Examples
    --------
    >>> from wayveil.model.routes import RoadNetwork
    >>> network = RoadNetwork.from_roads([("AB", "A", "B"), ("BC", "B", "C"), ("CD", "C", "D")])
    >>> data = Routes.from_records([["AB", "BC"]] * 3 + [["AB"]], network=network)
    >>> check_subsequence_k(data, SubsequenceK(k=3)).holds
    True
    >>> data = Routes.from_records([["AB", "BC"], ["AB", "BC", "CD"], ["BC", "CD"]], network=network)
    >>> verdict = check_subsequence_k(data, SubsequenceK(k=2))
    >>> verdict.holds, verdict.witness["roads"], verdict.witness["support"]
    (False, ['AB', 'CD'], 1)
    """
    reason = refusal_of_routes(published)
    groups = None if reason else RouteGroups.of(published)
    found = _Found()
    faults = None
    if groups is not None:
        found = _judge(_Table.of(published, groups), claim.k)
        faults = Faults.of(published, original)
    measured: dict[str, int | float | str | None] = {
        "min_support": found.least,
        "exact_match_min_support": None if groups is None else int(groups.people.min()),
        **size_of_routes(published, groups),
        "broken": None if faults is None else len(faults.broken),
        "foreign_roads": None if faults is None or original is None else len(faults.foreign),
        "inference_routes": None if groups is None else inference_routes_of(published, groups, claim.k).intersections,
    }
    if found.least is not None:
        measured["min_support_note"] = _MET if found.witness else _NOTE
    witness = found.witness or (faults.witness() if faults else None)
    if not reason and not witness and not found.certified:
        reason = (
            f"The support of all subsequences cannot be certified within the limit of {WORK_LIMIT:,} steps, so the "
            "claim is not shown to hold."
        )
    return Verdict(
        holds=witness is None and not reason,
        claim=claim,
        counted="owners" if published.owners == "given" else "trajectories",
        measured=measured,
        witness=witness,
        reason=reason or _reason(published, claim, measured, witness, faults),
        not_judged=tuple(not_judged_of_routes(published, claim.k, original)),
    )


@dataclass(kw_only=True)
class _Found:
    """What the search found; `certified` says that it came to its end."""

    least: int | None = None
    witness: dict[str, Any] | None = None
    certified: bool = False


def _judge(table: _Table, k: int) -> _Found:
    """Look for every route that needs it in the others, until one is in those of too few people."""
    whole = np.flatnonzero(~table.begins)
    known = table.groups.people.copy()
    search, work = _Search(table), Work(WORK_LIMIT)
    try:
        for group in whole[known[whole] < k].tolist():
            wanted = table.wanted(group)
            known[group] = search.support(wanted, work)
            if known[group] < k:
                return _Found(**_shrunk(table, group, wanted, int(known[group]), k, work))
    except LimitReached:
        return _Found()
    return _Found(least=int(known[whole].min()), certified=True)


def _shrunk(table: _Table, group: int, wanted: list[int], support: int, k: int, work: Work) -> dict[str, Any]:
    """Drop roads as long as too few people have what is left; one pass does it, because dropping only adds people."""
    place = 0
    try:
        while place < len(wanted):
            less = wanted[:place] + wanted[place + 1 :]
            people = _Search(table).support(less, work) if less else k
            if people < k:
                wanted, support = less, people
            else:
                place += 1
    except LimitReached:
        pass  # What is left so far breaks the claim as well.
    groups, at = table.groups, table.groups.slice[group]
    witness = {
        "slice": [int(groups.t_start[at]), int(groups.t_end[at])],
        "roads": [table.names[table.road_of[road]] for road in wanted],
        "support": support,
        "breaks": "support",
    }
    return {"least": support, "witness": witness, "certified": True}


@dataclass(frozen=True, kw_only=True, eq=False)
class _Table:
    """The different routes, in the order of slices and names, as one column of roads.

    A road of another slice is another road here, so that nothing is ever found in the wrong slice.

    Parameters
    ----------
    groups : RouteGroups
        In the order of the routes.
    offsets, road : int64
        Route `g` is ``road[offsets[g]:offsets[g + 1]]``.
    road_of : int64, one per such road
        The road of the network.
    names : tuple of str
        The names of the roads of the network.
    end : int64, one per row
        The row behind the last one of the same route.
    place : int64, ascending
        ``road * rows + row`` for all rows: where each road is; then a number that is larger than all.
    begins : bool, one per route
        Another route of the slice begins with this one: whatever contains that one contains this one as well.
    """

    groups: RouteGroups
    offsets: IntArray
    road: IntArray
    road_of: IntArray
    names: tuple[str, ...]
    end: IntArray
    place: IntArray
    begins: BoolArray

    @classmethod
    def of(cls, data: Routes, groups: RouteGroups) -> _Table:
        names = data.network.roads
        rank = np.empty(len(names), np.int64)
        rank[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
        offsets, road = groups.rows(data)
        in_slice = np.repeat(groups.slice, np.diff(offsets))
        codes, ranked = np.unique(in_slice * len(names) + rank[road], return_inverse=True)
        # Four bytes a road, largest first, compare like the numbers.
        flat, step = ranked.astype(">u4").tobytes(), 4
        keys = [flat[lo * step : hi * step] for lo, hi in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)]
        order = np.array(sorted(range(len(keys)), key=keys.__getitem__), np.int64)
        # In this order a route is followed by those that begin with it, if there are any.
        keys = [*(keys[i] for i in order.tolist()), b""]
        offsets, rows = take(offsets, order)
        road = ranked[rows]
        road_of = np.argsort(rank)[codes % max(1, len(names))]
        return cls(
            groups=groups.take(order),
            offsets=offsets,
            road=road,
            road_of=road_of,
            names=names,
            end=np.repeat(offsets[1:], np.diff(offsets)),
            place=np.append(np.sort(road * len(road) + np.arange(len(road))), np.iinfo(np.int64).max),
            begins=np.array([after.startswith(key) for key, after in pairwise(keys)], bool),
        )

    def wanted(self, group: int) -> list[int]:
        """Return the route of `group`."""
        route: list[int] = self.road[self.offsets[group] : self.offsets[group + 1]].tolist()
        return route


class _Search:
    """Looks for routes in the others; what was found for the roads that two of them begin with is kept.

    Level i is, for the first i + 1 roads wanted, one row per route that contains them: the earliest at which it has
    done so.  Taking the earliest leaves most of the route for the roads that follow, so nothing is missed.
    """

    def __init__(self, table: _Table) -> None:
        self._table = table
        self._group = trajectory_of_row(table.offsets)
        self._wanted: list[int] = []
        self._levels: list[IntArray] = []

    def support(self, wanted: list[int], work: Work) -> int:
        """Return how many people have routes that contain the roads `wanted`, in this order."""
        common = 0
        while common < min(len(wanted), len(self._wanted)) and wanted[common] == self._wanted[common]:
            common += 1
        del self._wanted[common:], self._levels[common:]
        for road in wanted[common:]:
            self._levels.append(self._next(self._levels[-1], road, work) if self._levels else self._first(road, work))
            self._wanted.append(road)
        groups = self._group[self._levels[-1]]
        work.spend(int(self._table.groups.people[groups].sum()))
        return int(self._table.groups.distinct(np.array([0, len(groups)]), groups)[0])

    def _first(self, road: int, work: Work) -> IntArray:
        """Return the first row of `road` in each route that has it."""
        table, n = self._table, len(self._table.road)
        lo, hi = np.searchsorted(table.place, [road * n, (road + 1) * n])
        work.spend(_STEPS_PER_ROAD + int(hi - lo))
        rows = table.place[lo:hi] - road * n
        first: IntArray = rows[np.diff(self._group[rows], prepend=-1) != 0]
        return first

    def _next(self, rows: IntArray, road: int, work: Work) -> IntArray:
        """Return the first row of `road` after each of `rows` in the same route, for those that have one."""
        table, n = self._table, len(self._table.road)
        work.spend(_STEPS_PER_ROAD + len(rows))
        found = table.place[np.searchsorted(table.place, road * n + rows + 1)] - road * n
        later: IntArray = found[found < table.end[rows]]
        return later


def _reason(
    data: Routes,
    claim: SubsequenceK,
    measured: dict[str, Any],
    witness: dict[str, Any] | None,
    faults: Faults | None,
) -> str:
    """One sentence with counts and the parameters, without anything that was published."""
    one, many = ("person", "people") if data.owners == "given" else ("trajectory", "trajectories")
    least = measured["min_support"]
    if witness and witness["breaks"] == "support":
        n = len(witness["roads"])
        what = "A single road is" if n == 1 else f"A sequence of {n} roads is"
        return f"{what} in routes of only {least} {one if least == 1 else many} of its slice, fewer than k = {claim.k}."
    if witness and faults:
        return faults.reason(witness)
    routes = measured["routes"]
    each = "The only route is" if routes == 1 else f"Each of the {routes:,} routes is"
    return f"{each} a connected path, and all that it contains is in routes of {least} {many} or more (k = {claim.k})."
