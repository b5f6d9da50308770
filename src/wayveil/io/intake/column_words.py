"""What the name of a column says: one table of the words of the field, in many tongues of data, easy to extend.

People and what they carry are in `owner_columns`; everything else is here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from wayveil.io.tabular.owner_columns import looks_like_person, split_words

__all__ = ["WORDS", "Meaning", "column_meaning"]

WORDS: dict[str, tuple[str, ...]] = {
    "time": (
        *("t", "time", "timestamp", "datetime", "ts", "when", "date", "epoch", "utc", "unixtime", "gpstime", "hour"),
        *("tracked", "recorded", "created", "occurred", "checkin", "loctime", "localtime", "zeit", "fecha", "hora"),
        *(
            "datum",
            "uhrzeit",
            "zeitpunkt",
            "fechahora",
            "heure",
            "datetimeutc",
            "utctime",
            "calldatetime",
            "basedatetime",
        ),
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
        *(
            "haltestelle",
            "ort",
            "standort",
            "estacion",
            "lugar",
            "arret",
            "lieu",
            "terminal",
            "dock",
            "stops",
            "reader",
        ),
        *("room", "ward", "door", "scanner", "antennaid", "cellid", "bssid", "lac", "geohash", "h3", "taz", "tract"),
        *("area", "district", "neighborhood", "neighbourhood", "region", "suburb", "checkpoint", "tramo", "gateway"),
    ),
    "trajectory": (
        *("traj", "trajectory", "tid", "trip", "track", "journey", "ride", "tour", "voyage", "trajid", "tripid"),
        *("trajectoryid", "rideid", "trackid", "order", "orderid", "session", "activity"),
    ),
    "order": ("seq", "sequence", "index", "fid", "step", "rank"),
    "offset": ("timezoneoffset", "tzoffset", "utcoffset", "gmtoffset", "offsetminutes", "timezoneoffsetminutes"),
    "line": ("polyline", "linestring", "path", "route", "trace", "coordinates", "points"),
}
"""What a column may be, and the words that say so."""

_START = (
    *("start", "started", "begin", "from", "origin", "orig", "pickup", "pick", "pu", "source", "o", "s", "in", "entry"),
    *(
        "enter",
        "entered",
        "departure",
        "depart",
        "departed",
        "board",
        "boarding",
        "boarded",
        "tapin",
        "checkin",
        "origen",
    ),
    *("retiro", "salida", "inicio", "abfahrt", "depart", "partenza", "von", "unlock", "rental", "checkout"),
)
_END = (
    *(
        "end",
        "ended",
        "to",
        "destination",
        "dest",
        "dropoff",
        "drop",
        "do",
        "finish",
        "target",
        "stop",
        "e",
        "d",
        "out",
    ),
    *("exit", "exited", "arrival", "arrive", "arrived", "alight", "alighting", "alighted", "tapout", "destino"),
    *("arribo", "llegada", "fin", "ankunft", "arrivee", "arrivo", "nach", "lock", "return"),
)
_UNSURE_SIDES = {
    "in",
    "out",
    "rental",
    "return",
    "checkin",
    "checkout",
    "lock",
    "unlock",
    "departure",
    "arrival",
    "enter",
}
"""Words that name an end of a trip only beside another word that says where or when."""
_OF = {
    *("id", "ids", "name", "code", "number", "no", "nr", "num", "key", "at", "of", "trip", "tpep", "lpep", "up", "off"),
    *(
        "the",
        "ms",
        "tap",
        "check",
        "local",
        "utc",
        "gps",
        "census",
        "community",
        "council",
        "ciclo",
        "centroid",
        "logical",
    ),
}
_OTHER = {
    *("type", "headsign", "kind", "class", "category", "mode", "count", "sequence", "zip", "accuracy", "speed", "seq"),
    *("duration", "distance", "status", "fare", "arrondissement", "modified", "model", "eta", "desc", "description"),
    *("birth", "birthday", "dob", "month", "year", "week"),
}
_COMPOUND = re.compile(r"[\W_]")


_VOCABULARY = {word for role in ("time", "lon", "lat", "place", "trajectory") for word in WORDS[role]} - {"t"}
_VOCABULARY |= {*_START, *_END, *_OF, *_OTHER, "user", "person", "bike"}
"""What a word may be cut into."""


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
    words = [piece for word in split_words(name) for piece in _cut_word(word)]
    if any(word in _OTHER for word in words):
        return None
    if words[-2:] in (["trip", "id"], ["ride", "id"], ["journey", "id"]):
        return Meaning(role="trajectory", word=words[-2])
    side, rest = _split_side(words)
    telling = [word for word in rest if word not in _OF]
    for role in ("lon", "lat", "offset", "time", "place", "trajectory", "x", "y"):
        found = [word for word in telling if word in WORDS[role]]
        if found and (len(telling) == 1 or role in ("lon", "lat", "time") or telling[-1] == found[-1]):
            return Meaning(role=role, side=side, word=found[0])
    if side and not telling and words[0] not in _UNSURE_SIDES:
        return Meaning(role="time" if "at" in rest else "place", side=side, word=words[0])
    return None


def _split_side(words: list[str]) -> tuple[str, list[str]]:
    """Return which end of a trip a name is of, and the other words of it."""
    for side, known in (("start", _START), ("end", _END)):
        for i, word in enumerate(words):
            rest = [*words[:i], *words[i + 1 :]]
            unsure = len(word) == 1 or word == "stop" or word in _UNSURE_SIDES
            if word in known and (not unsure or _tells(rest)):
                return side, rest
    return "", words


@cache
def _cut_word(word: str) -> tuple[str, ...]:
    """Return the known words that a word is made of, itself where it is not: a computer writes starttime as one.

    Examples
    --------
    >>> _cut_word("startstationname"), _cut_word("elng"), _cut_word("station"), _cut_word("customary")
    (('start', 'station', 'name'), ('e', 'lng'), ('station',), ('customary',))
    """
    if word in _VOCABULARY:
        return (word,)
    begins = [word[:length] for length in range(len(word) - 1, 0, -1) if word[:length] in _VOCABULARY]
    for begin in begins:
        # One letter says which end only before a coordinate: slat and elng, not stop or east.
        rest = word[len(begin) :]
        if len(begin) == 1 and rest not in (*WORDS["lon"], *WORDS["lat"], "time"):
            continue
        pieces = _cut_word(rest)
        if all(piece in _VOCABULARY and len(piece) > 1 for piece in pieces):
            return (begin, *pieces)
    return (word,)


def _tells(words: list[str]) -> bool:
    return any(word in WORDS[role] for word in words for role in ("time", "lon", "lat", "place"))
