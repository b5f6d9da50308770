"""Did the people of published routes drive there?  Published trajectories against those of the original."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from wayveil.model.data.distinct import distinct_values
from wayveil.model.data.ragged import BoolArray, IntArray, trajectory_of_row
from wayveil.model.data.routes import Routes

__all__ = ["Driven"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Driven:
    """What is not true of published routes, by the trips of the original in the same slice of time.

    Parameters
    ----------
    data : Routes
        The published data.
    untrue : bool, one per published trajectory
        It has an owner, who has no trajectory in that slice of the original on any of its roads.  Never a dummy.
    made_up : int64
        The first trajectories of routes that are no part of a trip of the slice, road by road and without a gap.
    rare : int64
        Rows, one per slice and road, on whose road fewer than k people of the slice drove.

    Examples
    --------
    >>> from wayveil.model.data.routes import RoadNetwork
    >>> network = RoadNetwork.from_roads([("AB", "A", "B"), ("BC", "B", "C")])
    >>> truth = Routes.from_records([["AB", "BC"], ["AB"]], network=network, slices=[(0, 9), (9, 18)], owner=[1, 2])
    >>> data = Routes.from_records([["AB"], ["AB"], ["AB"]], network=network, slices=[(0, 9)] * 3, owner=[1, 2, -1])
    >>> found = Driven.of(data, truth, 1)
    >>> found.untrue.tolist(), len(found.made_up), len(found.rare)
    ([False, True, False], 0, 0)
    """

    data: Routes
    untrue: BoolArray
    made_up: IntArray
    rare: IntArray

    @classmethod
    def of(cls, data: Routes, original: Routes, k: int) -> Driven:
        names = {name: i for i, name in enumerate(original.network.roads)}
        code = np.array([names.get(name, -1) for name in data.network.roads], np.int64)
        road = code[data.road] if len(code) else data.road.astype(np.int64)
        own_slice, true_slice = _slices(data, original)
        return cls(
            data=data,
            untrue=_untrue(data, road, own_slice, original, true_slice),
            made_up=_made_up(data, road, own_slice, original, true_slice),
            rare=_rare(data, road, own_slice, original, true_slice, k),
        )

    @property
    def n_wrong(self) -> int:
        """How much is not true, all together."""
        return int(self.untrue.sum()) + len(self.made_up) + len(self.rare)

    def witness(self) -> dict[str, Any] | None:
        """Return something untrue as it was published, the first by slice and names; None if there is none."""
        if self.untrue.any():
            return {**self._first(np.flatnonzero(self.untrue)), "breaks": "owner"}
        if len(self.made_up):
            return {**self._first(self.made_up), "breaks": "route"}
        if len(self.rare):
            trajectory = trajectory_of_row(self.data.offsets)[self.rare]
            names = [self.data.network.roads[road] for road in self.data.road[self.rare].tolist()]
            spans = [self._span(i) for i in trajectory.tolist()]
            span, name = min(zip(spans, names, strict=True))
            return {"slice": span, "roads": [name], "breaks": "road"}
        return None

    def reason(self, witness: dict[str, Any], k: int) -> str:
        """One sentence on what `witness` shows, with counts only."""
        if witness["breaks"] == "owner":
            n = int(self.untrue.sum())
            many = "1 published trajectory is" if n == 1 else f"{n:,} published trajectories are"
            return f"{many} of somebody who drove on none of its roads in that slice of the original."
        if witness["breaks"] == "route":
            n = len(self.made_up)
            many = "1 of the published routes is" if n == 1 else f"{n:,} of the published routes are"
            return f"{many} no part of any trip of the slice."
        return f"On {len(self.rare):,} of the published roads fewer than k = {k} people drove in that slice."

    def _first(self, trajectories: IntArray) -> dict[str, Any]:
        span, roads = min((self._span(i), self.data.record(i)) for i in trajectories.tolist())
        return {"slice": span, "roads": roads}

    def _span(self, trajectory: int) -> list[int]:
        return [int(self.data.t_start[trajectory]), int(self.data.t_end[trajectory])]


def _slices(data: Routes, original: Routes) -> tuple[IntArray, IntArray]:
    """Return the slice of every published and of every original trajectory, as codes that are equal for equal ones."""
    begin, end = (
        np.unique(np.append(getattr(data, name), getattr(original, name)), return_inverse=True)[1]
        for name in ("t_start", "t_end")
    )
    code = np.unique(begin * (int(end.max(initial=0)) + 1) + end, return_inverse=True)[1]
    return code[: len(data)], code[len(data) :]


def _untrue(data: Routes, road: IntArray, own_slice: IntArray, original: Routes, true_slice: IntArray) -> BoolArray:
    real = (data.owner >= 0) & (np.diff(data.offsets) > 0)
    if data.owners == "hidden":
        return np.zeros(len(data), np.bool_)
    people = np.unique(np.append(data.owner, original.owner), return_inverse=True)[1]
    n_people = int(people.max(initial=0)) + 1
    both = np.unique(np.append(own_slice, true_slice) * n_people + people, return_inverse=True)[1]
    mine = both[: len(data)]
    own = both[len(data) :]
    n_roads = max(1, len(original.network))
    drove = distinct_values(own[trajectory_of_row(original.offsets)] * n_roads + original.road)
    of_row = trajectory_of_row(data.offsets)
    true = (road >= 0) & np.isin(mine[of_row] * n_roads + road, drove)
    untrue: BoolArray = real & (np.bincount(of_row[true], minlength=len(data)) == 0)
    return untrue


def _rare(
    data: Routes, road: IntArray, own_slice: IntArray, original: Routes, true_slice: IntArray, k: int
) -> IntArray:
    n_roads = max(1, len(original.network))
    people, person = np.unique(original.owner, return_inverse=True)
    of_row = trajectory_of_row(original.offsets)
    passage = true_slice[of_row] * n_roads + original.road
    places, place = np.unique(passage, return_inverse=True)
    pairs = distinct_values(place * max(1, len(people)) + person[of_row])
    enough = places[np.bincount(pairs // max(1, len(people)), minlength=len(places)) >= k]
    keys, row = np.unique(own_slice[trajectory_of_row(data.offsets)] * n_roads + road, return_index=True)
    # A road that the original does not have is told by the network, not here.
    rare_rows: IntArray = row[~np.isin(keys, enough) & (road[row] >= 0)]
    return rare_rows


def _made_up(data: Routes, road: IntArray, own_slice: IntArray, original: Routes, true_slice: IntArray) -> IntArray:
    """Look for every different route of a slice in the trips of that slice, from its first road on."""
    n_roads = max(1, len(original.network))
    true_road = original.road.astype(np.int64)
    of_row = trajectory_of_row(original.offsets)
    end = original.offsets[1:][of_row]
    passage = true_slice[of_row] * n_roads + true_road
    order = np.argsort(passage, kind="stable")
    ranked = passage[order]
    # Each different route of a slice is looked for once, wherever a true trip of that slice enters its first road.
    first: dict[tuple[int, bytes], int] = {}
    for i in np.flatnonzero(np.diff(data.offsets) > 0).tolist():
        first.setdefault((int(own_slice[i]), road[data.offsets[i] : data.offsets[i + 1]].tobytes()), i)
    wrong = []
    for (of_slice, _), i in first.items():
        route = road[data.offsets[i] : data.offsets[i + 1]].tolist()
        lo, hi = np.searchsorted(ranked, [of_slice * n_roads + route[0], of_slice * n_roads + route[0] + 1])
        at = order[lo:hi] if min(route) >= 0 else order[:0]
        at = at[at + len(route) <= end[at]]
        # `at` are the rows where a true trip goes along the first `step` roads of the route; none left means made up.
        for step, name in enumerate(route):
            at = at[true_road[at + step] == name]
            if not len(at):
                break
        if not len(at) and min(route) >= 0:
            wrong.append(i)
    return np.array(wrong, np.int64)
