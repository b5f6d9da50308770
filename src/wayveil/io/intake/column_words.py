"""What the name of a column says: one table of the words of the field, in many tongues of data, easy to extend.

People and what they carry are in `owner_columns`; everything else is here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from wayveil.io.tabular.owner_columns import looks_like_person, split_words

__all__ = ["WORDS", "Meaning", "column_meaning"]

WORDS: dict[str, tuple[str, ...]] = {
    "time": (
        *("t", "time", "timestamp", "datetime", "ts", "when", "date", "epoch", "utc", "unixtime", "gpstime", "hour"),
        *("tracked", "recorded", "created", "occurred", "checkin", "loctime", "localtime", "zeit", "fecha", "hora"),
        *("datum", "uhrzeit", "zeitpunkt", "fechahora", "heure"),
    ),
    "lon": ("lon", "lng", "long", "longitude", "lons", "länge", "laenge", "längengrad", "longitud"),
    "lat": ("lat", "latitude", "lats", "breite", "breitengrad", "latitud"),
    "x": ("x", "easting", "east", "xcoord", "coordx", "posx"),
    "y": ("y", "northing", "north", "ycoord", "coordy", "posy"),
    "geometry": ("geometry", "geom", "thegeom", "wkt", "wkb", "point"),
    "latlon": ("latlon", "latlng", "latlong", "latitudelongitude"),
    "lonlat": ("lonlat", "lnglat", "longlat", "longitudelatitude"),
    "place": (
        *("location", "loc", "place", "station", "stop", "cell", "poi", "venue", "site", "zone", "business", "antenna"),
        *("tower", "bts", "gate", "store", "shop", "merchant", "spot", "locationid", "placeid", "venueid", "stopid"),
        *("haltestelle", "ort", "standort", "estacion", "lugar", "arret", "lieu"),
    ),
    "trajectory": (
        *("traj", "trajectory", "tid", "trip", "track", "journey", "ride", "tour", "voyage", "trajid", "tripid"),
        *("trajectoryid", "rideid", "trackid", "order", "orderid", "session", "activity"),
    ),
    "order": ("seq", "sequence", "index", "fid", "step", "rank"),
}
"""What a column may be, and the words that say so."""

_START = ("start", "started", "begin", "from", "origin", "orig", "pickup", "pick", "pu", "source", "o", "s")
_END = ("end", "ended", "to", "destination", "dest", "dropoff", "drop", "do", "finish", "target", "stop", "e", "d")
_OF = {"id", "ids", "name", "code", "number", "no", "nr", "key", "at", "of", "trip", "tpep", "lpep", "up", "off", "the"}
_OTHER = {"type", "headsign", "kind", "class", "category", "mode", "count", "sequence", "zip", "accuracy", "speed"}
_COMPOUND = re.compile(r"[\W_]")


@dataclass(frozen=True, kw_only=True)
class Meaning:
    """What a name says: the role, "start" or "end" where it is of one end of a trip, and the word that said so."""

    role: str
    side: str = ""
    word: str = ""


def column_meaning(name: str) -> Meaning | None:
    """Return what the name of a column says, None where it says nothing that is known.

    Examples
    --------
    >>> [(m.role, m.side) for m in map(column_meaning, ("Start Station ID", "Stop Time", "ELng", "stop_id", "t")) if m]
    [('place', 'start'), ('time', 'end'), ('lon', 'end'), ('place', ''), ('time', '')]
    >>> column_meaning("User Type"), column_meaning("drop_off_type"), column_meaning("tpep_pickup_datetime").side
    (None, None, 'start')
    """
    whole = _COMPOUND.sub("", name).lower()
    for role, known in WORDS.items():
        if whole in known:
            return Meaning(role=role, word=whole)
    if looks_like_person(name):
        return Meaning(role="person", word=name)
    words = split_words(name)
    if any(word in _OTHER for word in words):
        return None
    side, rest = _split_side(words)
    telling = [word for word in rest if word not in _OF]
    for role in ("lon", "lat", "time", "place", "trajectory", "x", "y"):
        found = [word for word in telling if word in WORDS[role]]
        if found and (len(telling) == 1 or role in ("lon", "lat", "time") or telling[-1] == found[-1]):
            return Meaning(role=role, side=side, word=found[0])
    if side and not telling:
        return Meaning(role="time" if "at" in rest else "place", side=side, word=words[0])
    return None


def _split_side(words: list[str]) -> tuple[str, list[str]]:
    """Return which end of a trip a name is of, and the other words of it."""
    for side, known in (("start", _START), ("end", _END)):
        for i, word in enumerate(words):
            rest = [*words[:i], *words[i + 1 :]]
            if word in known and (word != "stop" or _tells(rest)) and (len(word) > 1 or _tells(rest)):
                return side, rest
            for begin in known:
                tail = word.removeprefix(begin)
                if (
                    tail != word
                    and any(tail in WORDS[role] for role in ("time", "lon", "lat", "place"))
                    and tail != "t"
                ):
                    return side, [*words[:i], tail, *words[i + 1 :]]
    return "", words


def _tells(words: list[str]) -> bool:
    return any(word in WORDS[role] for word in words for role in ("time", "lon", "lat", "place"))
