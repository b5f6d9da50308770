"""What all claims on routes ask: that they can be judged, how much there is, and that each is a path of the network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from wayveil.model.data.ragged import IntArray, trajectory_of_row
from wayveil.model.data.routes import RoadNetwork, Routes
from wayveil.verifiers.common.inferred_routes import RouteGroups

__all__ = ["Faults", "not_judged_of_routes", "refusal_of_routes", "size_of_routes"]


def refusal_of_routes(data: Routes) -> str:
    """Why the routes cannot be judged, or nothing.

    Examples
    --------
    >>> refusal_of_routes(Routes.from_records([[], []], network=RoadNetwork.from_roads([])))
    'There is no published road, so there is nothing to judge.'
    """
    if not len(data.road):
        return "There is no published road, so there is nothing to judge."
    if data.owners not in ("given", "declared", "hidden"):
        return "It is not said where the owners come from, so nobody can be counted."
    if (data.t != np.repeat(data.t_start, np.diff(data.offsets))).any():
        return "The routes have times of their own inside a slice, so people with the same route can be told apart."
    return ""


def size_of_routes(data: Routes, groups: RouteGroups | None) -> dict[str, int]:
    """Return how much was published; trajectories without rows are no evidence, and are not counted."""
    return {
        "routes": 0 if groups is None else len(groups),
        "slices": 0 if groups is None else len(groups.t_start),
        "trajectories": int((data.offsets[:-1] < data.offsets[1:]).sum()),
        "rows": len(data.road),
        "roads": len(np.unique(data.road)),
    }


def not_judged_of_routes(data: Routes, k: int, original: Routes | None) -> list[str]:
    """Return what owners that are not known, and a network that is not there, leave open."""
    parts = []
    if data.owners == "hidden":
        parts.append(
            "support by owner: the owners are withheld, so it is known how many trajectories fit, not whether they "
            f"belong to {k} different people"
        )
    if data.owners == "declared":
        parts.append(
            "support by owner: the data do not say who owns a trajectory, so every trajectory of the input counts as "
            "one person"
        )
    if original is None:
        parts.append("the network: without the original it is not known whether it has the published roads")
        parts.append("the trips: without the original it is not known whether the people behind a route drove there")
    return parts


@dataclass(frozen=True, kw_only=True, eq=False)
class Faults:
    """What is no path of the network.

    Parameters
    ----------
    data : Routes
    broken : int64
        The rows whose road does not begin where the road of the row before, of the same trajectory, ends.
    foreign : int64
        The roads that the original network does not have, or has between other nodes; codes.
    absent : frozenset of int
        Those of them that it does not have.

    Examples
    --------
    >>> network = RoadNetwork.from_roads([("AB", "A", "B"), ("CD", "C", "D")])
    >>> Faults.of(Routes.from_records([["AB", "CD"], ["CD"]], network=network), None).broken.tolist()
    [1]
    """

    data: Routes
    broken: IntArray
    foreign: IntArray
    absent: frozenset[int]

    @classmethod
    def of(cls, data: Routes, original: Routes | None) -> Faults:
        network = data.network
        road = data.road
        # Definition 2: a trajectory is a path, so each road begins at the node where the one before ends. Rows of
        # different trajectories are neighbours in the table as well; these are no jumps.
        trajectory = trajectory_of_row(data.offsets)
        jumps = network.to_node[road[:-1]] != network.from_node[road[1:]]
        broken = np.flatnonzero(jumps & (trajectory[1:] == trajectory[:-1])) + 1
        foreign = []
        absent = set()
        if original is not None:
            # Codes of two files have nothing to do with each other, so roads and nodes are compared by name.
            true_code = {name: i for i, name in enumerate(original.network.roads)}
            for code in np.unique(road).tolist():
                other = true_code.get(network.roads[code])
                if other is None:
                    absent.add(code)
                if other is None or _ends(network, code) != _ends(original.network, other):
                    foreign.append(code)
        return cls(data=data, broken=broken, foreign=np.array(foreign, np.int64), absent=frozenset(absent))

    def witness(self) -> dict[str, Any] | None:
        """Return the first jump in the order of names, or else such a road, as published; None if there is none."""
        network = self.data.network
        road = self.data.road
        if len(self.broken):
            pairs = np.unique(np.stack([road[self.broken - 1], road[self.broken]]), axis=1).T.tolist()
            one, two = min(pairs, key=lambda pair: [network.roads[code] for code in pair])
            nodes = [_ends(network, one)[1], _ends(network, two)[0]]
            return {"roads": [network.roads[one], network.roads[two]], "nodes": nodes, "breaks": "path"}
        if len(self.foreign):
            code = min(self.foreign.tolist(), key=lambda code: network.roads[code])
            nodes = list(_ends(network, code))
            where = "absent" if code in self.absent else "elsewhere"
            return {"road": network.roads[code], "nodes": nodes, "network": where, "breaks": "network"}
        return None

    def reason(self, witness: dict[str, Any]) -> str:
        """One sentence on what `witness` shows, with counts only."""
        if witness["breaks"] == "path":
            n = len(self.broken)
            places = "1 place" if n == 1 else f"{n:,} places"
            return f"A trajectory goes on at a node where the road before does not end, so it is no path: {places}."
        n = len(self.foreign)
        what = "does not have" if witness["network"] == "absent" else "has between other nodes"
        return f"A published road is one that the network of the original {what}; {n:,} of the roads are not as there."


def _ends(network: RoadNetwork, road: int) -> tuple[str, str]:
    return network.nodes[network.from_node[road]], network.nodes[network.to_node[road]]
