"""Names of columns in messages: a file without a header shows its first row as names, and no message repeats values."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

import polars as pl

from wayveil.errors import InputError, closest
from wayveil.io.tabular.messages import listed, looks_like_value
from wayveil.io.tabular.owner_columns import looks_like_person
from wayveil.io.tabular.table import Table

__all__ = ["ALSO_CALLED", "PLACE_NAMES", "bare_name", "columns_error", "near_name", "seems_headless", "shown_names"]

ALSO_CALLED = {
    "traj_id": ("traj", "trajectory", "trajectoryid", "trajid", "tid", "trip", "tripid", "card", "cardid", "id"),
    "t": ("time", "timestamp", "datetime", "ts", "when", "date", "hour", "epoch"),
    "seq": ("sequence", "order", "step", "position", "index", "number", "nr", "rank"),
    "road": (
        "roadid",
        "edge",
        "edgeid",
        "link",
        "linkid",
        "segment",
        "segmentid",
        "street",
        "streetid",
        "way",
        "wayid",
    ),
    "place": (
        "placename",
        "node",
        "category",
        "type",
        "kind",
        "poi",
        "venue",
        "stop",
        "location",
        "placeid",
    ),
    "location": ("loc", "place", "station", "stop", "cell", "poi", "site", "zone", "venue", "locationid", "placeid"),
    "origin": (
        "startstationname",
        "fromstationname",
        "startstation",
        "fromstation",
        "startstationid",
        "fromstationid",
        "startplace",
        "startlocation",
        "startzone",
        "startname",
        "pulocationid",
        "pickuplocationid",
        "pickuplocation",
        "pickupzone",
        "pickupcommunityarea",
        "pickupcensustract",
        "from",
        "source",
        "start",
    ),
    "destination": (
        "endstationname",
        "tostationname",
        "endstation",
        "tostation",
        "endstationid",
        "tostationid",
        "endplace",
        "endlocation",
        "endzone",
        "endname",
        "dolocationid",
        "dropofflocationid",
        "dropofflocation",
        "dropoffzone",
        "dropoffcommunityarea",
        "dropoffcensustract",
        "to",
        "target",
        "dest",
        "end",
    ),
    "t_start": (
        "startedat",
        "starttime",
        "stime",
        "startdate",
        "startdatetime",
        "starttimestamp",
        "tripstarttimestamp",
        "tpeppickupdatetime",
        "lpeppickupdatetime",
        "pickupdatetime",
        "pickuptime",
        "departure",
        "departuretime",
        "begin",
    ),
    "t_end": (
        "endedat",
        "stoptime",
        "endtime",
        "etime",
        "enddate",
        "enddatetime",
        "endtimestamp",
        "tripendtimestamp",
        "tpepdropoffdatetime",
        "lpepdropoffdatetime",
        "dropoffdatetime",
        "dropofftime",
        "arrival",
        "arrivaltime",
        "finish",
    ),
    "origin_x": (
        "startlng",
        "startlon",
        "slng",
        "slon",
        "startlongitude",
        "startstationlongitude",
        "pickuplongitude",
        "pickupcentroidlongitude",
        "fromlon",
        "originlon",
        "startx",
    ),
    "origin_y": (
        "startlat",
        "startlatitude",
        "slat",
        "startstationlatitude",
        "pickuplatitude",
        "pickupcentroidlatitude",
        "fromlat",
        "originlat",
        "starty",
    ),
    "destination_x": (
        "endlng",
        "endlon",
        "elng",
        "elon",
        "endlongitude",
        "endstationlongitude",
        "dropofflongitude",
        "dropoffcentroidlongitude",
        "tolon",
        "destinationlon",
        "endx",
    ),
    "destination_y": (
        "endlat",
        "endlatitude",
        "elat",
        "endstationlatitude",
        "dropofflatitude",
        "dropoffcentroidlatitude",
        "tolat",
        "destinationlat",
        "endy",
    ),
    "duration": ("duration", "tripduration", "tripseconds", "durationsec", "durationseconds"),
    "x": ("easting", "east", "xcoord", "coordx", "posx", "xm"),
    "y": ("northing", "north", "ycoord", "coordy", "posy", "ym"),
}
"""Names under which people keep what we call traj_id, t, ...; used to suggest a --columns option."""

PLACE_NAMES = {
    "lon": ("lon", "longitude", "lng", "long"),
    "lat": ("lat", "latitude"),
    "geometry": ("geometry", "geom", "thegeom", "wkt", "wkb"),
    "latlon": ("latlon", "latlng", "latlong", "latitudelongitude"),
    "lonlat": ("lonlat", "lnglat", "longlat", "longitudelatitude"),
}
"""Names that say by themselves where the place is."""

_OURS = (
    *ALSO_CALLED,
    *("user_id", "t_end", "parent", "sensitive", "adversary", "from_node", "to_node", "length_m", "radius_m"),
    *("min_stay", "owner", "person", "user"),
)
_LOOKED_AT = 1000
_ID = re.compile(r".+(id|ids|no|nr|number|key|code|hash|name)", re.IGNORECASE)


def columns_error(table: Table, sentence: str) -> InputError:
    """Return the error that says `sentence`, which speaks of the columns of a table; or that there is no header."""
    # The first row of a file without a header stands where names are expected, and may hold a person's values: if it
    # looks so, no name is repeated in a message.
    if seems_headless(table):
        return table.wrong(
            "the file seems to have no header (its first row has values like those below it); put the names of the "
            "columns on line 1, such as traj_id,t,location or traj_id,t,lon,lat."
        )
    return table.wrong(sentence)


def shown_names(table: Table) -> str:
    """Return the names of the columns for a message; those that may be values of a first row are counted only.

    Where not a single name is one that columns usually have, all of them may be.
    """
    named = [name for name in table.names if name]
    if not _known(named):
        return f"{len(named):,} other column{'' if len(named) == 1 else 's'}"
    return listed(named, hidden=_like_below(table))


def near_name(table: Table, name: str, names: Iterable[str] | None = None) -> str:
    """Return a suggestion for a name that is not there, among the columns whose names may be shown."""
    if not _known(table.names):
        return ""
    hidden = _like_below(table)
    return closest(
        name, [other for other in (table.names if names is None else names) if other and other not in hidden]
    )


def seems_headless(table: Table) -> bool:
    """Return whether the first row of a table seems to be data: no usual name, and values like those below.

    Examples
    --------
    >>> body = pl.LazyFrame({"0": ["ann", "bob"], "1": ["home", "work"]})
    >>> seems_headless(Table(path="a.csv", names=("ann", "club"), lazy=body, csv=b""))
    True
    >>> seems_headless(Table(path="a.csv", names=("who", "where"), lazy=body, csv=b""))
    False
    """
    return not _known(table.names) and bool(_like_below(table))


def bare_name(name: str) -> str:
    """Return the letters and digits of a name, in small letters."""
    return re.sub(r"[\W_]", "", name).lower()


_WORDS = {bare_name(word) for words in (_OURS, *ALSO_CALLED.values(), *PLACE_NAMES.values()) for word in words}


def _known(names: Iterable[str]) -> bool:
    """Return whether one of these is a name that columns usually have."""
    return any(_usual(name) for name in names)


def _usual(name: str) -> bool:
    return bare_name(name) in _WORDS or (_ID.fullmatch(name) is not None and looks_like_person(name))


def _like_below(table: Table) -> set[str]:
    """Return the names that are a value of their own column, or written like most of its values, or like a value."""
    head = replace(table, lazy=table.lazy.head(_LOOKED_AT)).read(range(len(table.names))).frame
    suspects = {name for name in table.names if looks_like_value(name)}
    for position, name in enumerate(table.names):
        values = head[str(position)]
        if not name or _usual(name) or values.dtype != pl.String:
            continue
        text = values.drop_nulls().str.strip_chars()
        # "bus 12" and "bus 7" are written alike: digits are replaced before comparing.
        digits = re.sub(r"[0-9]+", "9", name)
        alike = (text.str.replace_all(r"[0-9]+", "9") == digits).sum() if digits != name else 0
        if (text == name).any() or 2 * alike > len(text):
            suspects.add(name)
    return suspects
