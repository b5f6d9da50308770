"""Road networks from GraphML, as graph libraries write them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import polars as pl

from wayveil.errors import InputError
from wayveil.io.network.assemble import BACK, Lines, filled, put_together, refuse_outside, road_crs, turned
from wayveil.io.network.linestrings import lines_of_wkt
from wayveil.io.tabular.crs import WGS84, Crs, could_be_degrees, crs_name, unsaid_degrees_error
from wayveil.io.tabular.messages import count
from wayveil.io.tabular.table import peek
from wayveil.model import RoadNetwork
from wayveil.model.data.ragged import FloatArray, IntArray
from wayveil.model.normal import normal_text

__all__ = ["read_graphml"]

_PLACES = (("lon", "lat"), ("longitude", "latitude"), ("x", "y"))
_LENGTHS = ("length_m", "length")


def read_graphml(path: str, crs: str | None) -> RoadNetwork:
    """Read a GraphML file; an undirected edge is two roads, ``id`` and ``id-back``.

    Roads are called by the ids of the edges where all of them have one of their own, else by their position, from 0 on.
    Nodes may have the data lon and lat (degrees) or x and y (metres, unless the data ``crs`` of the graph or `crs` say
    otherwise), edges the data length or length_m in metres, and geometry as ``LINESTRING (x y, x y)``.
    """
    graph = _parse(path)
    names = _names(graph)
    code = {node: i for i, node in enumerate(graph.nodes)}
    if len(code) < graph.n_nodes:
        repeated = count(graph.n_nodes - len(code), "node")
        raise InputError(f"{path}: the GraphML file has {repeated} with the id of another node.")
    unknown = sum(edge.source not in code or edge.target not in code for edge in graph.edges)
    if unknown:
        raise InputError(f"{path}: the GraphML file has {count(unknown, 'edge')} to or from a node that is missing.")
    source, back = _directions(graph)
    start = np.array([code[edge.source] for edge in graph.edges], np.int64)
    end = np.array([code[edge.target] for edge in graph.edges], np.int64)
    places, degrees = _node_places(path, graph)
    system = road_crs(path, crs, crs_name(graph.crs) if graph.crs else None) if places is not None else None
    system = WGS84 if system is None and degrees and crs is None else system
    if places is not None and system is None and could_be_degrees(*places):
        raise unsaid_degrees_error(path, "every road")
    lines = None
    if places is not None:
        refuse_outside(path, "nodes", *places, system)
        lines = _lines(path, graph, system, start, end, places)
    # An undirected edge became two roads: `source` leads back to its edge, `back` says which of the two turns around.
    roads = [names[i] + (BACK if turn else "") for i, turn in zip(source.tolist(), back.tolist(), strict=True)]
    if len(set(roads)) < len(roads):
        raise InputError(f"{path}: an edge is called like another one with '{BACK}', the name of its way back.")
    length = _lengths(path, graph)
    return put_together(
        roads=roads,
        from_node=np.where(back, end[source], start[source]),
        to_node=np.where(back, start[source], end[source]),
        nodes=list(graph.nodes),
        places=places,
        length_m=None if length is None else length[source],
        lines=None if lines is None else turned(lines, source, back),
        crs=system,
    )


@dataclass(frozen=True)
class _Edge:
    name: str | None
    source: str
    target: str
    directed: bool
    data: Mapping[str, str]


@dataclass
class _Graph:
    nodes: dict[str, dict[str, str]] = field(default_factory=dict)
    edges: list[_Edge] = field(default_factory=list)
    n_nodes: int = 0
    crs: str = ""


class _Refused(Exception):
    """What is wrong with the document, as the end of a sentence."""


class _Builder(ElementTree.TreeBuilder):
    def doctype(self, *_: object) -> None:
        raise _Refused("has a DOCTYPE, which is refused because it can hide an attack; remove it")


def _parse(path: str) -> _Graph:
    file = Path(path)
    if peek(path, file)[2] == 0:
        raise InputError(f"{path}: the file is empty; a GraphML document is needed.")
    try:
        root = ElementTree.parse(file, ElementTree.XMLParser(target=_Builder())).getroot()
        return _graph(root)
    except ElementTree.ParseError as error:
        raise InputError(
            f"{path}: the GraphML file is not XML, cut short or damaged at line {error.position[0]:,}; write it again."
        ) from None
    except _Refused as refused:
        raise InputError(f"{path}: the GraphML file {refused}.") from None
    except (LookupError, ValueError, OSError):
        raise InputError(f"{path}: the GraphML file cannot be read; write it again.") from None


def _graph(root: ElementTree.Element) -> _Graph:
    if _local(root) != "graphml":
        raise _Refused("has another outermost element than <graphml>")
    # GraphML names data by keys that are declared at the top; their titles are what programs agree on.
    keys = {k.get("id", ""): k.get("attr.name", k.get("id", "")) for k in root if _local(k) == "key"}
    graph = _Graph()
    default = True
    for element in root.iter():
        kind = _local(element)
        if kind == "graph":
            default = element.get("edgedefault", "directed") != "undirected"
            graph.crs = graph.crs or _data(element, keys).get("crs", "")
        elif kind == "node":
            graph.nodes.setdefault(normal_text(element.get("id", "")), _data(element, keys))
            graph.n_nodes += 1
        elif kind == "edge":
            directed = {"true": True, "false": False}.get(element.get("directed", ""), default)
            ends = element.get("source"), element.get("target")
            if ends[0] is None or ends[1] is None:
                raise _Refused("has an edge without source or target")
            source = normal_text(ends[0])
            target = normal_text(ends[1])
            name = normal_text(element.get("id", "")) or None
            graph.edges.append(_Edge(name, source, target, directed, _data(element, keys)))
    if not graph.edges:
        raise _Refused("has no edges; at least one is needed")
    return graph


def _local(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _data(element: ElementTree.Element, keys: Mapping[str, str]) -> dict[str, str]:
    values = {}
    for child in element:
        if _local(child) == "data":
            key = child.get("key", "")
            values[keys.get(key, key).lower()] = (child.text or "").strip()
    return values


def _names(graph: _Graph) -> list[str]:
    names = [edge.name for edge in graph.edges if edge.name]
    # Ids are used as names only if every edge has one of its own.
    if len(names) == len(set(names)) == len(graph.edges):
        return names
    return [str(i) for i in range(len(graph.edges))]


def _directions(graph: _Graph) -> tuple[IntArray, np.ndarray]:
    """Return, for every road, its edge and whether it leads back along it."""
    ways = np.array([1 if edge.directed else 2 for edge in graph.edges])
    source = np.repeat(np.arange(len(ways)), ways)
    # The second of two neighbours with the same edge is the way back.
    return source, np.append(False, source[1:] == source[:-1])


def _node_places(path: str, graph: _Graph) -> tuple[tuple[FloatArray, FloatArray] | None, bool]:
    """Return the places of the nodes, and whether their names say that they are degrees."""
    data = list(graph.nodes.values())
    pair = next((pair for pair in _PLACES if any(pair[0] in d and pair[1] in d for d in data)), None)
    if pair is None:
        return None, False
    xy = np.array([[_number(d.get(name)) for name in pair] for d in data])
    bad = int((~np.isfinite(xy)).any(axis=1).sum())
    if bad:
        raise InputError(
            f"{path}: the GraphML file has {count(bad, 'node')} without numbers {pair[0]} and {pair[1]}; give them to "
            "all nodes or to none."
        )
    return (xy[:, 0], xy[:, 1]), pair[0] != "x"


def _lengths(path: str, graph: _Graph) -> FloatArray | None:
    name = next((name for name in _LENGTHS if any(edge.data.get(name) for edge in graph.edges)), None)
    if name is None:
        return None
    length = np.array([_number(edge.data.get(name)) for edge in graph.edges])
    bad = int((~(length >= 0)).sum())
    if bad:
        raise InputError(f"{path}: the GraphML file has {count(bad, 'edge')} without a {name} that is a number >= 0.")
    return length


def _lines(
    path: str, graph: _Graph, crs: Crs | None, start: IntArray, end: IntArray, places: tuple[FloatArray, FloatArray]
) -> Lines | None:
    """Return the lines of the edges; straight ones where an edge has none, and None where no edge has one."""
    texts = [edge.data.get("geometry") or None for edge in graph.edges]
    if not any(texts):
        return None
    offsets, x, y, bad = lines_of_wkt(pl.Series(texts, dtype=pl.String))
    wrong = sum(b and text is not None for b, text in zip(bad.tolist(), texts, strict=True))
    if wrong:
        raise InputError(f"{path}: the GraphML file has {count(wrong, 'edge')} with a geometry that is no LINESTRING.")
    refuse_outside(path, "edges", x, y, crs)
    lines = filled(Lines(offsets=offsets, x=x, y=y), start, end, places)
    # An undirected edge has no first node, so that its line may be drawn from the target to the source.
    undirected = np.array([not edge.directed for edge in graph.edges])
    return turned(lines, np.arange(len(start)), undirected & _drawn_back(lines, start, end, places))


def _drawn_back(lines: Lines, start: IntArray, end: IntArray, places: tuple[FloatArray, FloatArray]) -> np.ndarray:
    first = lines.offsets[:-1]
    last = lines.offsets[1:] - 1

    def apart(point: IntArray, node: IntArray) -> FloatArray:
        return np.hypot(lines.x[point] - places[0][node], lines.y[point] - places[1][node])

    # Whichever way round the ends of the line are nearer to the nodes.
    return apart(first, start) + apart(last, end) > apart(first, end) + apart(last, start)


def _number(text: str | None) -> float:
    try:
        number = float(text or "nan")
    except ValueError:
        return float("nan")
    return number if isfinite(number) else float("nan")
