"""Road networks from OpenStreetMap extracts: the highways that cars may use, cut at intersections."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from wayveil.errors import InputError
from wayveil.io.network.assemble import BACK, Lines, put_together, turned
from wayveil.io.tabular.crs import WGS84
from wayveil.io.tabular.table import peek
from wayveil.model import RoadNetwork
from wayveil.model.data.ragged import offsets_of

__all__ = ["car_directions", "node_places", "open_osm", "read_osm"]

_CLASSES = ("motorway", "trunk", "primary", "secondary", "tertiary")
_HIGHWAYS = {*_CLASSES, *(f"{name}_link" for name in _CLASSES), "unclassified", "residential", "living_street", "road"}
_VEHICLES = ("motorcar", "motor_vehicle", "vehicle")
_CLOSED = {"no", "private", "agricultural", "forestry", "emergency", "military"}
_FORWARD = {"yes", "true", "1"}
_BACKWARD = {"-1", "reverse"}
_READ = ("highway", "area", "access", "junction", "oneway", *_VEHICLES, *(f"oneway:{name}" for name in _VEHICLES))


def read_osm(path: str) -> RoadNetwork:
    """Read an extract (.osm.pbf, .osm, .osm.xml, also .gz and .bz2); needs the library osmium (wayveil[roads]).

    A way is cut where two ways meet or one meets itself; part 2 of way 17 is the road ``17.2``, and ``17.2-back`` in
    the other direction where traffic may go there.  Nodes are called by their ids.  Where the extract cuts a way, the
    part outside is left out.

    Turn restrictions (relations ``type=restriction``) at a node become turns that are not allowed; those over a way in
    between, those for other vehicles and those at certain times only are passed over.
    """
    # Three passes over the file: ways that cars may use, then only the nodes of these, then restrictions. An extract of
    # a country does not fit into memory with all of its nodes.
    with open_osm(path, "give the network as a table of roads") as osmium:
        ways = _ways(osmium, path)
        places = {}
        restrictions: list[_Restriction] = []
        if ways:
            places = node_places(osmium, path, sorted({node for way in ways for node in way.nodes}))
            restrictions = _restrictions(osmium, path)
    return _network(path, ways, places, restrictions)


@contextmanager
def open_osm(path: str, instead: str) -> Iterator[Any]:
    """Give the library osmium to a block that reads this file; what goes wrong there becomes an InputError.

    `instead` is what to do without the library.
    """
    if peek(path, Path(path))[2] == 0:
        raise InputError(f"{path}: the file is empty; an OpenStreetMap extract is needed.")
    try:
        import osmium
    except ImportError:
        raise InputError(
            f"{path}: reading OpenStreetMap needs the library osmium; install wayveil[roads], or {instead}."
        ) from None
    try:
        yield osmium
    except (RuntimeError, ValueError, OSError):
        raise InputError(
            f"{path}: this is not an OpenStreetMap extract, or it is cut short or damaged; download or copy it again."
        ) from None


def car_directions(tags: Mapping[str, str]) -> tuple[bool, bool]:
    """Return whether cars may go along a way with these tags, and whether they may go back along it.

    The most special tag decides: ``motorcar`` before ``motor_vehicle``, ``vehicle`` and ``access``.  Motorways and
    roundabouts are one-way unless they say otherwise.  A way whose direction changes with the time of day
    (``oneway=reversible`` or ``alternating``) goes both ways.

    Examples
    --------
    >>> car_directions({"highway": "residential", "oneway": "-1"}), car_directions({"highway": "footway"})
    ((False, True), (False, False))
    """
    # The most special tag comes first, as OpenStreetMap has it.
    access = next((tags[name] for name in (*_VEHICLES, "access") if name in tags), "yes")
    if tags.get("highway") not in _HIGHWAYS or access in _CLOSED or tags.get("area") == "yes":
        return False, False
    implied = "yes" if tags["highway"] == "motorway" or tags.get("junction") in ("roundabout", "circular") else "no"
    oneway = next((tags[name] for name in (*(f"oneway:{v}" for v in _VEHICLES), "oneway") if name in tags), implied)
    return oneway not in _BACKWARD, oneway not in _FORWARD


@dataclass(frozen=True)
class _Way:
    name: int
    nodes: tuple[int, ...]
    forward: bool
    back: bool


@dataclass(frozen=True)
class _Restriction:
    """From these ways one must not turn at a node into those, or with `is_only` into no other."""

    from_ways: frozenset[int]
    node: int
    to_ways: frozenset[int]
    is_only: bool


def _ways(osmium: Any, path: str) -> list[_Way]:
    ways = []
    for way in osmium.FileProcessor(path, osmium.osm.WAY).with_filter(osmium.filter.KeyFilter("highway")):
        tags = {name: way.tags[name] for name in _READ if name in way.tags}
        forward, back = car_directions(tags)
        if forward or back:
            ways.append(_Way(way.id, tuple(node.ref for node in way.nodes), forward, back))
    return ways


def _restrictions(osmium: Any, path: str) -> list[_Restriction]:
    restrictions = []
    relations = osmium.FileProcessor(path, osmium.osm.RELATION)
    for relation in relations.with_filter(osmium.filter.TagFilter(("type", "restriction"))):
        kind = relation.tags.get("restriction:motorcar") or relation.tags.get("restriction") or ""
        excepted = relation.tags.get("except", "").replace(" ", "").split(";")
        if not kind.startswith(("no_", "only_")) or set(excepted) & set(_VEHICLES):
            continue
        members: dict[tuple[str, str], set[int]] = {}
        for member in relation.members:
            members.setdefault((member.role, member.type), set()).add(member.ref)
        via = members.get(("via", "n"), set())
        one = frozenset(members.get(("from", "w"), ()))
        other = frozenset(members.get(("to", "w"), ()))
        if len(via) == 1 and one and other and ("via", "w") not in members:
            restrictions.append(_Restriction(one, next(iter(via)), other, kind.startswith("only_")))
    return restrictions


def node_places(osmium: Any, path: str, ids: list[int]) -> dict[int, tuple[float, float]]:
    """Return longitude and latitude of these nodes, as far as the extract has them."""
    reader = osmium.FileProcessor(path, osmium.osm.NODE).with_filter(osmium.filter.IdFilter(ids))
    return {node.id: (node.location.lon, node.location.lat) for node in reader if node.location.valid()}


def _network(
    path: str,
    ways: list[_Way],
    places: Mapping[int, tuple[float, float]],
    restrictions: list[_Restriction],
) -> RoadNetwork:
    # Where the extract ends, nodes have no place: a way is cut there into runs that are known.
    runs = [(way, run) for way in ways for run in _known_runs(way.nodes, places)]
    # A node is where roads meet if it is used twice; ends of ways count as two uses.
    uses = Counter(node for _, run in runs for node in run)
    uses.update(node for _, run in runs for node in (run[0], run[-1]))
    parts: list[tuple[str, _Way, tuple[int, ...]]] = []
    number: Counter[int] = Counter()
    for way, run in runs:
        # From crossing to crossing: a road is a stretch of a way on which nobody can turn off.
        cuts = [i for i, node in enumerate(run) if uses[node] > 1]
        for a, b in pairwise(cuts):
            number[way.name] += 1
            parts.append((f"{way.name}.{number[way.name]}", way, run[a : b + 1]))
    if not parts:
        raise InputError(f"{path}: the extract has no highway that cars may use; give one with roads.")
    nodes = sorted({node for _, _, run in parts for node in (run[0], run[-1])})
    code = {node: i for i, node in enumerate(nodes)}
    # Each part is a road in each direction in which cars may go.
    directions = [
        (i, turn)
        for i, (_, way, _) in enumerate(parts)
        for turn, may in ((False, way.forward), (True, way.back))
        if may
    ]
    source = np.array([i for i, _ in directions], np.int64)
    back = np.array([turn for _, turn in directions])
    first, last = (np.array([code[run[at]] for _, _, run in parts], np.int64)[source] for at in (0, -1))
    xy = np.array([places[node] for _, _, run in parts for node in run])
    lines = Lines(offsets=offsets_of(np.array([len(run) for _, _, run in parts])), x=xy[:, 0], y=xy[:, 1])
    at = np.array([places[node] for node in nodes])
    network = put_together(
        roads=[parts[i][0] + (BACK if turn else "") for i, turn in directions],
        from_node=np.where(back, last, first),
        to_node=np.where(back, first, last),
        nodes=[str(node) for node in nodes],
        places=(at[:, 0], at[:, 1]),
        lines=turned(lines, source, back),
        crs=WGS84,
    )
    way_of = [parts[i][1].name for i, _ in directions]
    turns = _banned_turns(network, way_of, restrictions)
    if not turns:
        return network
    pairs = np.array(turns, np.int64)
    return replace(network, banned_from=pairs[:, 0], banned_to=pairs[:, 1])


def _banned_turns(network: RoadNetwork, way_of: list[int], restrictions: list[_Restriction]) -> list[tuple[int, int]]:
    """Return the pairs of roads that restrictions forbid: both touch the node, and belong to the ways.

    A restriction whose ways do not meet at its node on these roads forbids nothing: with `only_`, it would else close
    the node.
    """
    # Roads by the nodes of restrictions only: a network has far more nodes than these.
    arriving: dict[str, list[int]] = {}
    leaving: dict[str, list[int]] = {}
    nodes = {str(one.node) for one in restrictions}
    for road, (a, b) in enumerate(zip(network.from_node.tolist(), network.to_node.tolist(), strict=True)):
        if network.nodes[a] in nodes:
            leaving.setdefault(network.nodes[a], []).append(road)
        if network.nodes[b] in nodes:
            arriving.setdefault(network.nodes[b], []).append(road)

    def turns_off(source: int, road: int) -> bool:
        # Straight on along one way is no turn that a restriction between a way and itself could mean: back is.
        return way_of[source] != way_of[road] or network.to_node[road] == network.from_node[source]

    banned: set[tuple[int, int]] = set()
    for one in restrictions:
        out = leaving.get(str(one.node), [])
        named = [road for road in out if way_of[road] in one.to_ways]
        # "only_" forbids every other road out of the node; without a named road there it would close the node.
        if named:
            closed = [road for road in out if road not in named] if one.is_only else named
            for source in arriving.get(str(one.node), []):
                if way_of[source] in one.from_ways:
                    banned.update((source, road) for road in closed if one.is_only or turns_off(source, road))
    return sorted(banned)


def _known_runs(nodes: tuple[int, ...], places: Mapping[int, tuple[float, float]]) -> list[tuple[int, ...]]:
    """Return the parts of a way, of two nodes or more, whose places are known; a node after itself is left out."""
    runs: list[list[int]] = [[]]
    for node in nodes:
        if node not in places:
            runs.append([])
        elif not runs[-1] or runs[-1][-1] != node:
            runs[-1].append(node)
    return [tuple(run) for run in runs if len(run) > 1]
