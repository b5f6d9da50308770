"""What an attacker can work out, by trying every possibility: written from the pages of docs/research/guarantees alone.

Each function takes plain lists and says how a publication breaks its promise, or "".  Nothing is clever here:
candidates are those of all permutations, parts of routes are all subsets of positions, ways to hand out trajectories
are all subsets.  It is for a handful of short trajectories, and independent of the definitions of the verifiers on
purpose: it is what these are compared with.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, pairwise, permutations
from math import sqrt
from typing import Any

__all__ = [
    "break_of_candidates",
    "break_of_places",
    "break_of_routes",
    "break_of_shown_places",
    "break_of_subsequences",
]

Box = tuple[int, int, float, float, float, float]
Point = tuple[int, float, float]


def largest_share(owners: Sequence[int]) -> Fraction:
    """Return the share of these trajectories that the person with most of them owns."""
    return max((Fraction(owners.count(one), len(owners)) for one in set(owners)), default=Fraction(0))


def group_by(items: Iterable[int], key: Callable[[int], Hashable]) -> dict[Hashable, list[int]]:
    """Return the items with the same key, for every key."""
    groups: dict[Hashable, list[int]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


# ----------------------------------------------------------------------------------------- AttackGraph: boxes and cells


def break_of_candidates(
    boxes: list[list[Box]],
    marks: list[list[bool]] | None,
    owner: list[int],
    truth: list[list[Point]],
    known: list[list[bool]],
    *,
    k: int,
    share: Fraction,
    top_speed: float | None,
) -> str:
    """Who is left for whom after every world was tried in which each person has another trajectory."""
    there = [i for i, trajectory in enumerate(boxes) if trajectory]
    if not there:
        return "nothing is published"
    declared = {i: [point for point, is_known in zip(truth[i], known[i], strict=True) if is_known] for i in there}
    if any(not any(_is_in(p, box) for p in truth[i]) for i in there for box in boxes[i]):
        return "a box without its person"
    if top_speed is not None and any(_is_faster(truth[i], top_speed) for i in there):
        return "somebody is faster than the top speed"

    def fits(person: int, trajectory: int, looks: bool) -> bool:
        own = marks[trajectory] if marks is not None and looks else [True] * len(boxes[trajectory])
        marked = [box for box, mark in zip(boxes[trajectory], own, strict=True) if mark]
        return all(any(_is_in(p, box) for box in marked) for p in declared[person])

    def reaches(person: int, trajectory: int) -> bool:
        return all(_is_near(p, box, top_speed or 0.0) for p in declared[person] for box in boxes[trajectory])

    for looks in (False, True):  # at which boxes are marked as those of declared times
        edges = {(i, o) for i in there for o in there if fits(i, o, looks)}
        found = _break_of_edges(edges, there, owner, k, share)
        if not found and top_speed is not None:
            found = _break_of_edges({(i, o) for i, o in edges if reaches(i, o)}, there, owner, k, share)
        if found:
            return found
    return _break_of_marks(boxes, marks, owner, there, declared, k)


def _is_in(point: Point, box: Box) -> bool:
    t, x, y = point
    return box[0] <= t <= box[1] and box[2] <= x <= box[3] and box[4] <= y <= box[5]


def _is_near(point: Point, box: Box, top_speed: float) -> bool:
    t, x, y = point
    wait = max(box[0] - t, t - box[1], 0)
    far = max(box[2] - x, x - box[3], box[4] - y, y - box[5], 0.0)
    return far <= top_speed / sqrt(2) * wait


def _is_faster(track: list[Point], top_speed: float) -> bool:
    pairs = list(combinations(track, 2))
    return any(max(abs(b[1] - a[1]), abs(b[2] - a[2])) > top_speed / sqrt(2) * (b[0] - a[0]) for a, b in pairs)


def _break_of_edges(edges: set[tuple[int, int]], there: list[int], owner: list[int], k: int, share: Fraction) -> str:
    if any((i, i) not in edges for i in there):
        return "a trajectory without what is known of its person"
    worlds = [w for w in permutations(there) if all((i, o) in edges for i, o in zip(there, w, strict=True))]
    left = {(i, o) for world in worlds for i, o in zip(there, world, strict=True)}
    for one in there:
        for others in ([o for i, o in left if i == one], [i for i, o in left if o == one]):
            people = [owner[other] for other in others]
            if len(set(people)) < k:
                return "fewer than k are left"
            if largest_share(people) > share:
                return "somebody is too much of what is left"
    return ""


def _break_of_marks(
    boxes: list[list[Box]], marks: list[list[bool]] | None, owner: list[int], there: list[int],
    declared: dict[int, list[Point]], k: int,
) -> str:  # fmt: skip
    if marks is None:
        return ""
    for i in there:
        for box, is_marked in zip(boxes[i], marks[i], strict=True):
            if not is_marked and any(box[0] <= p[0] <= box[1] for p in declared[i]):
                return "a box of a declared time without its mark"
            sharing = {owner[j] for j in there for b, m in zip(boxes[j], marks[j], strict=True) if m and b == box}
            if is_marked and len(sharing) < k:
                return "a box of a declared time that too few share"
    return ""


# ------------------------------------------------------------------------------------- StrictK and SubsequenceK: routes


def break_of_routes(
    routes: list[list[str]], slices: list[tuple[int, int]], owner: list[int], network: dict[str, tuple[str, str]],
    original: list[tuple[list[str], tuple[int, int], int]], original_network: dict[str, tuple[str, str]],
    *, k: int, share: Fraction, pad: bool,
) -> str:  # fmt: skip
    """Whole routes: counted, and whether people were there; dummies have a negative owner."""
    there = [i for i, route in enumerate(routes) if route]
    found = _break_of_paths(routes, slices, owner, network, original, original_network, k=k)
    if found or not there:
        return found or "nothing is published"
    for same in group_by(there, lambda i: (slices[i], tuple(routes[i]))).values():
        found = _break_of_crowd([owner[i] for i in same], k=k, share=share, pad=pad)
        if found:
            return found
    for when in {slices[i] for i in there}:
        now = [i for i in there if slices[i] == when]
        if _has_inference(now, routes, owner, network, k=k, share=share, pad=pad):
            return "an inference route"
    return ""


def _break_of_crowd(owners: list[int], *, k: int, share: Fraction, pad: bool) -> str:
    """Whether those who share a route are enough, and nobody has too much of it."""
    people = {one for one in owners if one >= 0}
    dummies = [one for one in owners if one < 0]
    counted = owners if pad else [one for one in owners if one >= 0]
    if pad and 2 * len(people) <= k:
        return "no more than k/2 people among dummies"
    if len(people) + (len(dummies) if pad else 0) < k:
        return "fewer than k share a route"
    if any(Fraction(counted.count(one), len(counted)) > share for one in people):
        return "somebody owns too much of a route"
    return ""


def _has_inference(
    now: list[int], routes: list[list[str]], owner: list[int], network: dict[str, tuple[str, str]],
    *, k: int, share: Fraction, pad: bool,
) -> bool:  # fmt: skip
    """At an intersection k come by one road and k go by another, and of those who do not take both there are few."""

    def size(which: list[int]) -> int:
        people = {owner[i] for i in which if owner[i] >= 0}
        return len(people) + (sum(owner[i] < 0 for i in which) if pad else 0)

    def dominated(which: list[int]) -> bool:
        counted = [owner[i] for i in which if pad or owner[i] >= 0]
        return any(Fraction(counted.count(one), len(counted)) > share for one in set(counted) if one >= 0)

    for first, (_, middle) in network.items():
        for second, (begin, _) in network.items():
            on_first = [i for i in now if first in routes[i]]
            on_second = [i for i in now if second in routes[i]]
            if first == second or begin != middle or size(on_first) < k or size(on_second) < k:
                continue
            for apart in ([i for i in on_first if i not in on_second], [i for i in on_second if i not in on_first]):
                if 0 < size(apart) < k or dominated(apart):
                    return True
    return False


def _break_of_paths(
    routes: list[list[str]], slices: list[tuple[int, int]], owner: list[int], network: dict[str, tuple[str, str]],
    original: list[tuple[list[str], tuple[int, int], int]], original_network: dict[str, tuple[str, str]], *, k: int,
) -> str:  # fmt: skip
    """Whether routes are connected paths of the network that somebody drove, and people drove on them."""
    for i, route in enumerate(routes):
        if any(original_network.get(road) != network[road] for road in route):
            return "a road that is not in the network"
        if any(network[a][1] != network[b][0] for a, b in pairwise(route)):
            return "roads that do not meet"
        now = [(trip, person) for trip, when, person in original if when == slices[i]]
        if route and not any(trip[at : at + len(route)] == route for trip, _ in now for at in range(len(trip))):
            return "a route that nobody drove"
        if route and owner[i] >= 0 and not any(set(trip) & set(route) for trip, who in now if who == owner[i]):
            return "somebody who was not there"
        if any(len({who for trip, who in now if road in trip}) < k for road in route):
            return "a road of too few"
    return ""


def break_of_subsequences(
    routes: list[list[str]], slices: list[tuple[int, int]], owner: list[int], network: dict[str, tuple[str, str]],
    original: list[tuple[list[str], tuple[int, int], int]], original_network: dict[str, tuple[str, str]],
    *, k: int, share: Fraction,
) -> str:  # fmt: skip
    """Every way to pick roads of a route, in their order, is looked for in all routes of its slice."""
    there = [i for i, route in enumerate(routes) if route]
    found = _break_of_paths(routes, slices, owner, network, original, original_network, k=k)
    if found or not there:
        return found or "nothing is published"
    for i in there:
        now = [j for j in there if slices[j] == slices[i]]
        for part in set(_parts(routes[i])):
            having = [owner[j] for j in now if part in set(_parts(routes[j]))]
            people = [one for one in having if one >= 0]
            if len(set(people)) < k:
                return "a part that fewer than k share"
            if largest_share(people) > share:
                return "somebody owns too much of a part"
    return ""


def _parts(route: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """All that can be picked from a sequence, at least one, in its order."""
    for size in range(1, len(route) + 1):
        for at in combinations(range(len(route)), size):
            yield tuple(route[i] for i in at)


# ------------------------------------------------------------------------------------------------------ CSafety: stops


def break_of_places(
    stops: list[list[str]], owner: list[int], truth: list[list[str]], above: dict[str, str], sensitive: set[str],
    *, c: Fraction, m: int, share: Fraction, least: int, worst: bool,
) -> str:  # fmt: skip
    """Classes of the same places, the sensitive leaves in them, and everything that somebody may know of a trip."""
    there = [i for i, stop in enumerate(stops) if stop]
    leaves = [node for node in above if node not in above.values()]

    def ancestors(node: str) -> list[str]:
        return [node, *(ancestors(above[node]) if above[node] else [])]

    hidden = {node for node in above if any(one in sensitive for one in ancestors(node))}
    if not there:
        return "nothing is published"
    for i in there:
        ways = combinations(range(len(truth[i])), len(stops[i]))
        if not any(
            all(
                node in ancestors(truth[i][at]) and (node in hidden) == (truth[i][at] in hidden)
                for node, at in zip(stops[i], way, strict=True)
            )
            for way in ways
        ):
            return "a trajectory that was not made from the original"
    for node in hidden:
        people = {owner[i] for i in there if node in stops[i]}
        if people and len(people) < least:
            return "a sensitive place of too few"

    def open_places(i: int) -> tuple[str, ...]:
        return tuple(node for node in stops[i] if node not in hidden)

    def may_be_at(leaf: str, trips: list[int]) -> Fraction:
        """The probability that one of these trips was at the leaf."""
        shown = [node for i in trips for node in stops[i] if node in hidden and node in ancestors(leaf)]
        if worst:
            return Fraction(int(bool(shown) or any(leaf in truth[i] for i in trips)))
        nowhere = Fraction(1)
        for node in shown:
            below = sum(node in ancestors(one) for one in leaves)
            nowhere *= Fraction(below - 1, below)
        return 1 - nowhere

    secret_leaves = [leaf for leaf in leaves if leaf in hidden]
    for same in group_by(there, open_places).values():
        if len({owner[i] for i in same}) < m:
            return "fewer than m share their places"
        if largest_share([owner[i] for i in same]) > share:
            return "somebody owns too much of a class"
        nodes = {node for i in same for node in stops[i] if node in hidden}
        if not worst and any(a != b and a in ancestors(b) for a in nodes for b in nodes):
            return "a sensitive node above another one"
        of_person = group_by(same, lambda i: owner[i])
        for leaf in secret_leaves:
            over_people = sum((may_be_at(leaf, trips) for trips in of_person.values()), Fraction(0)) / len(of_person)
            over_trips = sum((may_be_at(leaf, [i]) for i in same), Fraction(0)) / len(same)
            if max(over_people, over_trips) > c:
                return "a sensitive place with more than c"
    # Whatever is known: some stops of a true trip at open places, in their order.  This follows from the above.
    for i in there:
        for known in set(_parts([place for place in truth[i] if place not in hidden])):
            fitting = [j for j in there if _fits(known, [ancestors(p) for p in known], open_places(j))]
            if not fitting:
                continue
            if len({owner[j] for j in fitting}) < m or largest_share([owner[j] for j in fitting]) > share:
                return "somebody is found by known places"
            for leaf in secret_leaves:
                if sum((may_be_at(leaf, [j]) for j in fitting), Fraction(0)) / len(fitting) > c:
                    return "known places tell a sensitive one"
    return ""


def _fits(known: Sequence[str], above_known: list[list[str]], nodes: tuple[str, ...]) -> bool:
    """Whether nodes have, in their order, one at or above each known place."""
    ways = combinations(range(len(nodes)), len(known))
    return any(all(nodes[at] in above_known[n] for n, at in enumerate(way)) for way in ways)


# ------------------------------------------------------------------------------------------------- BreachBound: visits


def break_of_shown_places(
    visits: list[list[tuple[str, int]]], owner: list[int], adversaries: list[set[str]], *, p: Fraction, with_times: bool
) -> str:
    """What each adversary sees alike, and all ways to hand that out."""
    there = [i for i, record in enumerate(visits) if record]
    if not there:
        return "nothing is published"
    if not with_times and any([t for _, t in visits[i]] != list(range(1, len(visits[i]) + 1)) for i in there):
        return "times are published"
    for own in adversaries:

        def seen(i: int, own: set[str] = own) -> Hashable:
            return tuple((place, t if with_times else 0) for place, t in visits[i] if place in own)

        classes = list(group_by(there, seen).values())
        others = {place for i in there for place, _ in visits[i]} - own
        for place in others:
            having = {i for i in there if any(place == one for one, _ in visits[i])}
            for same in classes:
                people = {owner[i] for i in same}
                if Fraction(len({owner[i] for i in same if i in having}), len(people)) > p:
                    return "a place of too many people"
                if Fraction(len(having.intersection(same)), len(same)) > p:
                    return "a place of too many trajectories"
            for person in {owner[i] for i in there}:
                nowhere = Fraction(1)
                for same in classes:
                    theirs = sum(owner[i] == person for i in same)
                    ways = list(combinations(same, theirs))
                    nowhere *= Fraction(sum(not having.intersection(way) for way in ways), len(ways))
                if 1 - nowhere > p:
                    return "a place is inferred of a person"
    return ""
