"""Places from OpenStreetMap extracts: nodes and closed ways that say what they are."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from wayveil.errors import InputError
from wayveil.io.formats.osm import node_places, open_osm
from wayveil.io.places.place_shapes import Shape
from wayveil.io.tabular.table import Table

__all__ = ["kind_of_tags", "places_of_osm"]

_KEYS = ("amenity", "shop", "leisure", "tourism", "healthcare", "office")
_STATIONS = ("railway", "public_transport")


def places_of_osm(path: str) -> tuple[Table, list[Shape]]:
    """Return the columns place and node, and the shapes, of an extract; needs the library osmium (wayveil[roads]).

    A place is a node or a closed way with one of the tags that `kind_of_tags` knows.  Node 17 with amenity=pharmacy is
    called ``amenity/pharmacy/n17``, way 17 ``amenity/pharmacy/w17``.  Ways that the extract cuts, and places made of
    several ways (relations), are left out.
    """
    names: list[str] = []
    kinds: list[str] = []
    drawn: list[Shape] = []
    with open_osm(path, "give the places as a table") as osmium:
        tags = osmium.filter.KeyFilter(*_KEYS, *_STATIONS)
        for node in osmium.FileProcessor(path, osmium.osm.NODE).with_filter(tags):
            kind = kind_of_tags({tag.k: tag.v for tag in node.tags})
            if kind and node.location.valid():
                names.append(f"{kind}/n{node.id}")
                kinds.append(kind)
                drawn.append(((node.location.lon, node.location.lat), []))
        ways: list[tuple[str, int, list[int]]] = []
        for way in osmium.FileProcessor(path, osmium.osm.WAY).with_filter(tags):
            kind = kind_of_tags({tag.k: tag.v for tag in way.tags})
            corners = [node.ref for node in way.nodes]
            if kind and len(corners) > 3 and corners[0] == corners[-1]:
                ways.append((kind, way.id, corners[:-1]))
        place_of_node = (
            node_places(osmium, path, sorted({node for _, _, corners in ways for node in corners})) if ways else {}
        )
    for kind, number, corners in ways:
        ring = [place_of_node[node] for node in corners if node in place_of_node]
        if len(ring) == len(corners) and len(set(ring)) > 2:
            names.append(f"{kind}/w{number}")
            kinds.append(kind)
            drawn.append((None, [ring]))
    if not names:
        raise InputError(f"{path}: the extract has no places; give one with tags such as amenity or shop.")
    frame = pl.DataFrame({"0": pl.Series(names, dtype=pl.String), "1": pl.Series(kinds, dtype=pl.String)})
    return Table(path=path, names=("place", "node"), lazy=frame.lazy(), csv=None), drawn


def kind_of_tags(tags: Mapping[str, str]) -> str:
    """Return what kind of place these tags say, as ``key/value``; empty where they say none.

    The first of amenity, shop, leisure, tourism, healthcare and office counts, then railway=station and
    public_transport=station.  Of several values the first is taken.

    Examples
    --------
    >>> kind_of_tags({"shop": "books;toys", "office": "yes"}), kind_of_tags({"railway": "rail"})
    ('shop/books', '')
    """
    for key in _KEYS:
        value = tags.get(key, "").split(";")[0].strip().replace("/", "_")
        if value and value != "no":
            return f"{key}/{value}"
    return next((f"{key}/station" for key in _STATIONS if tags.get(key) == "station"), "")
