"""Routes as they were driven, word for word: paths of the network, parts of trips, on roads that many took."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

from wayveil.model import Routes
from wayveil.verifiers.common.both_ways import list_published

__all__ = ["find_break_of_truth", "slice_of"]


def slice_of(data: Routes, i: int) -> tuple[int, int]:
    """Return the slice of time that a trajectory belongs to."""
    return int(data.t_start[i]), int(data.t_end[i])


def find_break_of_truth(published: Routes, original: Routes | None, k: int) -> str:
    """Return how a published route is no path, or is not what people drove, "" if all are."""
    ends = _ends(published)
    for i in list_published(published):
        if any(ends[road][1] != ends[following][0] for road, following in pairwise(published.record(i))):
            return "A route is not a path of the network."
    if original is None:
        return ""
    true_ends = _ends(original)
    if any(true_ends.get(road) != ends[road] for i in list_published(published) for road in published.record(i)):
        return "A road is not one of the original network."
    trips = defaultdict(list)
    for j in range(len(original)):
        trips[slice_of(original, j)].append((int(original.owner[j]), original.record(j)))
    for i in list_published(published):
        route = published.record(i)
        driven = trips[slice_of(published, i)]
        owner = int(published.owner[i])
        # A negative owner is a dummy; everybody else drove on a road of theirs.
        if owner >= 0 and not any(who == owner and set(trip) & set(route) for who, trip in driven):
            return "Somebody never drove on a road of their route in that slice."
        starts = range(max((len(trip) for _, trip in driven), default=0))
        if not any(trip[start : start + len(route)] == route for _, trip in driven for start in starts):
            return "A route is no part of a trip of its slice."
        if any(len({who for who, trip in driven if road in trip}) < k for road in route):
            return f"Fewer than {k} people drove on a road."
    return ""


def _ends(data: Routes) -> dict[str, tuple[str, str]]:
    """Return the intersections where each road begins and ends."""
    network = data.network
    return {
        road: (network.nodes[begin], network.nodes[end])
        for road, begin, end in zip(network.roads, network.from_node, network.to_node, strict=True)
    }
