"""Is every part of a route shared by enough people?  Judged from the definition alone, for every subsequence."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from wayveil.model.budget import spend
from wayveil.model.claims import SubsequenceK
from wayveil.model.claims.counting import exceeds, share_text
from wayveil.model.data.ragged import BoolArray, IntArray, offsets_of, take, trajectory_of_row
from wayveil.model.data.routes import Routes
from wayveil.model.results import Verdict
from wayveil.verifiers.common.connected_routes import Faults, not_judged_of_routes, refusal_of_routes, size_of_routes
from wayveil.verifiers.common.driven_routes import Driven
from wayveil.verifiers.common.inferred_routes import RouteGroups, exceed, inference_routes_of
from wayveil.verifiers.common.step_budget import BudgetExceeded, StepBudget

__all__ = ["WORK_LIMIT", "check_subsequence_k"]

WORK_LIMIT = 200_000_000
"""So many steps are taken before the verdict is that nothing can be certified: about a minute."""

_STEPS_PER_ROAD = 100
"""What it costs to look for one road in any number of routes, beside the routes."""

_NANOSECONDS = 60

_DEEPEST = 500
"""Subsequences of more roads than this are not tried; nothing is certified then."""

_NOTE = "every subsequence is in routes of at least so many; there may be more"
_MET = "the support of the witness; the smallest of all may be smaller"
_NO_MORE = "of the trajectories that contain any subsequence nobody owns more; the largest share may be smaller"
_SHARE_MET = "the share in the witness; the largest of all may be larger"


def check_subsequence_k(published: Routes, claim: SubsequenceK, *, original: Routes | None = None) -> Verdict:
    """Judge whether every subsequence of roads that occurs is in the routes of enough people, counted both ways.

    1. In every slice of time, every sequence of roads that occurs in a published trajectory, in this order and with
       any others between them, occurs so in trajectories of at least k distinct people.
    2. Nobody owns more than `row_share` of the trajectories of the slice that contain it.
    3. Every published trajectory is a connected path: each road begins where the one before it ends.
    4. Where the original is given: its network has every published road, between the same two nodes; whoever owns a
       published trajectory drove on at least one of its roads in that slice, and counts only then; every route is a
       part of a trip of that slice, without a gap; and at least k people drove on each of its roads in that slice.

    Parameters
    ----------
    published : Routes
        The published data.  Distinct owner codes are counted, except with ``owners="hidden"``, where every trajectory
        counts; ``"declared"`` owners are trajectories of the input.  A negative code is a dummy, and nobody.
        Trajectories without rows are not published.
    claim : SubsequenceK
        What to judge.
    original : Routes, optional
        The true data, in any order, with the owner codes and the slices of the published data.  Roads and nodes are
        compared by their names.

    Returns
    -------
    Verdict
        `measured` has `min_support`, a number that no subsequence falls below, or, if the claim is broken, the support
        of the witness; `min_support_note` says which.  `max_owner_share` is a share of the trajectories that contain a
        subsequence beyond which nobody owns more, or, if that is broken, the share in the witness; a note says which.
        `exact_match_min_support` is the number of people behind
        the rarest whole route, and `inference_routes` the number of intersections that have one, each counted in every
        slice; the claim promises neither.  The others are as in `check_strict_k`.
        `witness` is a subsequence of too few people that has no longer too few when any one of its roads is dropped
        (not always the shortest), one of which somebody owns too large a share, something untrue as in
        `check_strict_k`, or else a jump, or a road that is not in the network.

    Notes
    -----
    Only whole routes are looked for in others.  Whatever contains a route S contains every subsequence of S, so if the
    routes of k people contain S, each subsequence of S has at least k people, and if they do not, S itself breaks the
    claim.  For the same reason a route that k people have as a whole need not be looked for, nor one with which another
    route begins, which is judged instead.  The others are looked for depth-first, road by road, all that begin with the
    same roads together; what is kept for a beginning of d roads are routes of at least d roads, so that memory is
    O(rows).

    Shares are not so simple: a longer subsequence is in fewer trajectories, of which somebody may own more or less.
    Take the trajectories that begin with a route as its branch.  If of the branch of each of his routes a person owns
    no more than the share, then also of all that contain any subsequence: take his trajectories that contain it, and of
    these the routes that do not begin with another one of them.  Their branches are apart, everything in them contains
    the subsequence, and all his trajectories that contain it are in them.  Of everybody else the subsequences that
    are in several of his routes are tried, depth-first, as long as some of them can have too large a share.

    Time is one binary search for each of these beginnings and each route that contains it.  After `WORK_LIMIT` of
    them the claim is not certified, and does not hold.

    References
    ----------
    Pensa, Monreale, Pinelli, Pedreschi: Pattern-preserving k-anonymization of sequences and its application to mobility
    data mining.  PiLBA 2008.

    Examples
    --------
    >>> from wayveil.model.data.routes import RoadNetwork
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
    driven = None if reason or original is None else Driven.of(published, original, claim.k)
    groups = None if reason else RouteGroups.of(published, nobody=None if driven is None else driven.untrue)
    findings = _Findings()
    faults = None
    crossings = None
    if groups is not None:
        findings = _judge(_Table.of(published, groups), claim)
        faults = Faults.of(published, original)
        crossings = inference_routes_of(published, groups, claim.k, claim.owner_share).intersections
    measured: dict[str, int | float | str | None] = {
        "min_support": findings.least,
        "max_owner_share": findings.share,
        "exact_match_min_support": None if groups is None else int(groups.people.min()),
        **size_of_routes(published, groups),
        "broken": None if faults is None else len(faults.broken),
        "foreign_roads": None if faults is None or original is None else len(faults.foreign),
        "untrue": None if driven is None else driven.n_wrong,
        "inference_routes": crossings,
    }
    if findings.least is not None:
        measured["min_support_note"] = _MET if findings.breaks("support") else _NOTE
    if findings.share is not None:
        measured["max_owner_share_note"] = _SHARE_MET if findings.breaks("share") else _NO_MORE
    witness = (driven.witness() if driven else None) or findings.witness or (faults.witness() if faults else None)
    if not reason and not witness and not findings.certified:
        reason = (
            f"The support of all subsequences cannot be certified within the limit of {WORK_LIMIT:,} steps, so the "
            "claim is not shown to hold."
        )
    if not reason and witness and driven and witness["breaks"] in ("owner", "route", "road"):
        reason = driven.reason(witness, claim.k)
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
class _Findings:
    """What the search found; `certified` says that it came to its end."""

    least: int | None = None
    share: float | None = None
    witness: dict[str, Any] | None = None
    certified: bool = False

    def breaks(self, what: str) -> bool:
        """Return whether the witness is of this kind."""
        return self.witness is not None and self.witness["breaks"] == what


def _judge(table: _Table, claim: SubsequenceK) -> _Findings:
    """Look for every route that needs it in the others, until one is in those of too few people; then at shares."""
    whole = np.flatnonzero(~table.begins)
    support = table.groups.people.copy()
    search = _Search(table)
    budget = StepBudget(WORK_LIMIT, cost=_NANOSECONDS)
    k = claim.k
    try:
        # It is enough to look at whole routes: whoever contains a route contains all of its subsequences, so a
        # subsequence has at least the support of the route it is taken from. Routes that k people have need no search,
        # and those that another one begins with are looked at there.
        for group in whole[support[whole] < k].tolist():
            roads = table.wanted(group)
            support[group] = search.support(roads, budget)
            if support[group] < k:
                return _Findings(**_shrunk(table, group, roads, int(support[group]), k, budget))
        least = int(support[whole].min())
        share, witness = _judge_shares(table, claim.owner_share, budget)
    except BudgetExceeded:
        return _Findings()
    return _Findings(least=least, share=share, witness=witness, certified=True)


def _judge_shares(table: _Table, share: Fraction, budget: StepBudget) -> tuple[float, dict[str, Any] | None]:
    """Return a share that nobody exceeds, or that of a witness of somebody who owns too much, and the witness."""
    groups = table.groups
    after = table.after()
    n = len(groups)
    # One entry per route and person: sorted by person, then by route in the order of the tree.
    of_pair = np.repeat(np.arange(n), groups.people)
    order = np.argsort(groups.person * n + of_pair)
    person = groups.person[order]
    group = of_pair[order]
    times = groups.times[order]
    # What a person owns of a branch: his routes are in the order of branches, so it is a range of them.
    total = offsets_of(times)
    rows = offsets_of(groups.rows)
    # Sorted by person and route, a branch of the tree of routes is a range of a person's rows: its count is a
    # difference of two sums.
    end = np.searchsorted(person * n + group, person * n + after[group])
    own = total[end] - total[:-1]
    branch = rows[after[group]] - rows[group]
    bad = exceed(own, branch, share)
    most = float((own / np.maximum(branch, 1))[~bad].max(initial=0.0))
    # If nobody has too much of any branch, nobody has too much of any subsequence (see the notes of the method
    # `prefix`). Otherwise the claim may still hold, and subsequences of these people are tried, within the budget.
    if not bad.any():
        return most, None
    n_slices = len(groups.t_start)
    who = person * n_slices + groups.slice[group]
    try_all = _Shares(table, share, budget)
    for one in np.unique(who[bad]).tolist():
        # What this person has of each route in this slice.
        pairs = np.flatnonzero(who == one)
        budget.consume(_STEPS_PER_ROAD)
        witness = try_all.witness(dict(zip(group[pairs].tolist(), times[pairs].tolist(), strict=True)))
        if witness:
            return witness["of_one"] / witness["trajectories"], witness
    return float(share), None


class _Shares:
    """Tries the subsequences of one person's routes in a slice that may have too large a share."""

    def __init__(self, table: _Table, share: Fraction, budget: StepBudget) -> None:
        self._table = table
        self._share = share
        self._budget = budget
        self._rows: dict[int, int] = {}
        self._search = _Search(table)

    def witness(self, times: dict[int, int]) -> dict[str, Any] | None:
        """Return a subsequence of which the owner of these groups, each so many times, has too large a share."""
        routes = {group: self._table.wanted(group) for group in times}
        # Whole routes first: they are the likeliest witnesses, and cheap.
        for group, route in routes.items():
            witness = self._try(route, sum(n for other, n in times.items() if _contains(routes[other], route)), group)
            if witness:
                return witness
        if self._is_safe(times):
            return None
        return self._search_on([], dict.fromkeys(times, 0), times, routes)

    def _search_on(
        self, sequence: list[int], places: dict[int, int], times: dict[int, int], routes: dict[int, list[int]]
    ) -> dict[str, Any] | None:
        # `sequence` is in the routes of `places`, for the first time up to there.  A round takes one road more, and
        # goes on with the routes that have it later.  What they are too few for is passed by, so this ends with the
        # routes.
        if len(sequence) > _DEEPEST:
            raise BudgetExceeded
        # PrefixSpan by hand: for every road that can come next, the routes that have it and where they go on.
        following: dict[int, dict[int, int]] = defaultdict(dict)
        for group, place in places.items():
            spend(1_000 + 200 * (len(routes[group]) - place))
            for at in range(place, len(routes[group])):
                following[routes[group][at]].setdefault(group, at + 1)
        for road in sorted(following):
            later = following[road]
            self._budget.consume(_STEPS_PER_ROAD)
            if self._is_safe({group: times[group] for group in later}):
                continue
            longer = [*sequence, road]
            witness = self._try(longer, sum(times[group] for group in later), min(later))
            witness = witness or self._search_on(longer, later, times, routes)
            if witness:
                return witness
        return None

    def _is_safe(self, times: dict[int, int]) -> bool:
        """Return whether no set of these routes can be too large a share of what contains a common subsequence.

        What contains a subsequence of a route contains at least what contains the route.  In the order of these
        numbers, a set has at most all routes up to its last one.
        """
        so_far = 0
        spend(1_000 * len(times))
        # Routes sorted by how many trajectories contain them.  A common subsequence of any set of them is contained in
        # at least as many trajectories as the set's most frequent route, so only these sums have to be compared.
        for rows, n in sorted((self._rows_of(group), n) for group, n in times.items()):
            so_far += n
            if exceeds(so_far, rows, self._share):
                return False
        return True

    def _rows_of(self, group: int) -> int:
        if group not in self._rows:
            self._rows[group] = self._search.rows(self._table.wanted(group), self._budget)
        return self._rows[group]

    def _try(self, roads: list[int], own: int, group: int) -> dict[str, Any] | None:
        rows = self._search.rows(roads, self._budget)
        if not exceeds(own, rows, self._share):
            return None
        return {**self._table.shown(group, roads), "of_one": own, "trajectories": rows, "breaks": "share"}


def _contains(route: list[int], part: list[int]) -> bool:
    rest = iter(route)
    return all(road in rest for road in part)


def _shrunk(table: _Table, group: int, roads: list[int], support: int, k: int, budget: StepBudget) -> dict[str, Any]:
    """Drop roads as long as too few people have what is left; one pass does it, because dropping only adds people."""
    place = 0
    try:
        # Before each round too few people have `roads`, and none of the roads before `place` can be left out.  A round
        # tries to leave out the road at `place`: either there are still too few, and it is gone, or it stays, and the
        # next one is tried.  Each round makes the rest to be tried shorter by one.
        while place < len(roads):
            less = roads[:place] + roads[place + 1 :]
            people = _Search(table).support(less, budget) if less else k
            if people < k:
                roads = less
                support = people
            else:
                place += 1
    except BudgetExceeded:
        pass  # What is left so far breaks the claim as well.
    witness = {**table.shown(group, roads), "support": support, "breaks": "support"}
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
    keys : list of bytes, one per route
        The roads of the route; those of one that it begins with come before it, and begin it.
    """

    groups: RouteGroups
    offsets: IntArray
    road: IntArray
    road_of: IntArray
    names: tuple[str, ...]
    end: IntArray
    place: IntArray
    begins: BoolArray
    keys: list[bytes]

    @classmethod
    def of(cls, data: Routes, groups: RouteGroups) -> _Table:
        names = data.network.roads
        rank = np.empty(len(names), np.int64)
        rank[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
        offsets, road = groups.routes(data)
        in_slice = np.repeat(groups.slice, np.diff(offsets))
        # A road means something only within its slice: slice and road are one code.
        codes, ranked = np.unique(in_slice * len(names) + rank[road], return_inverse=True)
        # Four bytes a road, largest first, compare like the numbers.
        flat = ranked.astype(">u4").tobytes()
        step = 4
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
            keys=keys[:-1],
        )

    def wanted(self, group: int) -> list[int]:
        """Return the route of `group`."""
        route: list[int] = self.road[self.offsets[group] : self.offsets[group + 1]].tolist()
        return route

    def shown(self, group: int, roads: list[int]) -> dict[str, Any]:
        """Return the slice of `group` and the names of roads."""
        at = self.groups.slice[group]
        return {
            "slice": [int(self.groups.t_start[at]), int(self.groups.t_end[at])],
            "roads": [self.names[self.road_of[road]] for road in roads],
        }

    def after(self) -> IntArray:
        """Return for each route the first one behind it that does not begin with it; between them are its branches."""
        end_of_branch = np.full(len(self.keys), len(self.keys), np.int64)
        open_: list[int] = []
        # Keys are sorted, so the branches of a route follow it at once.  Before each round `open_` are the routes that
        # all begin the one before, the shortest first.  A round closes those that do not begin this route: here their
        # branch ends.
        for i, key in enumerate(self.keys):
            while open_ and not key.startswith(self.keys[open_[-1]]):
                end_of_branch[open_.pop()] = i
            open_.append(i)
        return end_of_branch


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

    def support(self, roads: list[int], budget: StepBudget) -> int:
        """Return how many people have routes that contain the roads `roads`, in this order."""
        groups = self._groups(roads, budget)
        budget.consume(int(self._table.groups.people[groups].sum()))
        return int(self._table.groups.distinct(np.array([0, len(groups)]), groups)[0])

    def rows(self, roads: list[int], budget: StepBudget) -> int:
        """Return how many trajectories contain the roads `roads`, in this order."""
        return int(self._table.groups.rows[self._groups(roads, budget)].sum())

    def _groups(self, roads: list[int], budget: StepBudget) -> IntArray:
        """Return the routes that contain the roads `roads`, in this order."""
        common = 0
        # The levels of the roads that the last question began with are still right; from there on each road adds one
        # level.
        while common < min(len(roads), len(self._wanted)) and roads[common] == self._wanted[common]:
            common += 1
        del self._wanted[common:], self._levels[common:]
        for road in roads[common:]:
            self._levels.append(
                self._next(self._levels[-1], road, budget) if self._levels else self._first(road, budget)
            )
            self._wanted.append(road)
        groups: IntArray = self._group[self._levels[-1]]
        return groups

    def _first(self, road: int, budget: StepBudget) -> IntArray:
        """Return the first row of `road` in each route that has it."""
        table = self._table
        n = len(self._table.road)
        # Rows of each road stand together in `place`, sorted by row.
        lo, hi = np.searchsorted(table.place, [road * n, (road + 1) * n])
        budget.consume(_STEPS_PER_ROAD + int(hi - lo))
        rows = table.place[lo:hi] - road * n
        first: IntArray = rows[np.diff(self._group[rows], prepend=-1) != 0]
        return first

    def _next(self, rows: IntArray, road: int, budget: StepBudget) -> IntArray:
        """Return the first row of `road` after each of `rows` in the same route, for those that have one."""
        table = self._table
        n = len(self._table.road)
        budget.consume(_STEPS_PER_ROAD + len(rows))
        # The next row of this road at or behind the given ones is found by searching in the sorted positions.
        next_row = table.place[np.searchsorted(table.place, road * n + rows + 1)] - road * n
        later: IntArray = next_row[next_row < table.end[rows]]
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
    if witness and witness["breaks"] == "share":
        n = len(witness["roads"])
        of_one = witness["of_one"]
        rows = witness["trajectories"]
        what = "a single road" if n == 1 else f"a sequence of {n} roads"
        return (
            f"One person owns {of_one:,} of the {rows:,} trajectories that contain {what}, more than "
            f"{share_text(claim.owner_share)} of them."
        )
    if witness and faults:
        return faults.reason(witness)
    routes = measured["routes"]
    each = "The only route is" if routes == 1 else f"Each of the {routes:,} routes is"
    return (
        f"{each} a connected path, and all that it contains is in routes of {least} {many} or more (k = {claim.k}), of "
        f"which nobody owns more than {share_text(claim.owner_share)}."
    )
