"""What the name of a column says: one table of the words of the field, in many tongues of data, easy to extend.

People and what they carry are in `owner_columns`; everything else is here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from wayveil.io.intake.other_scripts import find_script_words
from wayveil.io.tabular.owner_columns import looks_like_person, split_words

__all__ = ["WORDS", "Meaning", "column_meaning", "side_of_name"]

_TEXTS = {
    "time": """
        t time timestamp datetime ts when date epoch utc unixtime gpstime hour tracked recorded created occurred checkin
        loctime localtime zeit fecha hora datum uhrzeit zeitpunkt zeitstempel fechahora heure horodatage horaire
        frame timestep datetimeutc utctime calldatetime basedatetime tijd tijdstip data ora orario dato tidspunkt
    """,
    "lon": """
        lon lng long longitude lons lange laenge langengrad laengengrad longitud longitudine lengtegraad lengdegrad
        longitudee6 longitudee7 lone6 lone7 lnge6
    """,
    "lat": """
        lat latitude lats breite breitengrad latitud latitudine breedtegraad breddegrad latitudee6 latitudee7 late6
        late7
    """,
    "x": "x easting east xcoord coordx posx rechtswert",
    "y": "y northing north ycoord coordy posy hochwert",
    "geometry": "geometry geom thegeom wkt wkb point wkbgeometry shape",
    "latlon": "latlon latlng latlong latitudelongitude",
    "lonlat": "lonlat lnglat longlat longitudelatitude",
    "place": """
        location loc place station stop cell poi venue site zone business antenna tower bts gate store shop merchant
        spot locationid placeid venueid stopid haltestelle ort standort estacion lugar arret lieu terminal dock stops
        reader room ward door scanner antennaid cellid bssid lac geohash h3 taz tract area district neighborhood
        neighbourhood region suburb checkpoint tramo gateway stn statn sta bahnhof gare estacao stazione fermata halte
        cellule celda zelle antenne antena ap apname accesspoint detector hotspot parada paragem emplacement
    """,
    "trajectory": """
        traj trj trajectory tid trip track journey ride tour voyage trajid trjid tripid trajectoryid rideid trackid
        order orderid session activity fahrt viaje trajet viaggio viagem
    """,
    "order": "seq sequence index fid step rank",
    "offset": "timezoneoffset tzoffset utcoffset gmtoffset offsetminutes timezoneoffsetminutes",
    "line": "polyline linestring path route trace coordinates points",
}
WORDS: dict[str, tuple[str, ...]] = {role: tuple(text.split()) for role, text in _TEXTS.items()}
"""What a column may be, and the words that say so; without accents.  Other scripts are in `other_scripts`."""

_NAME_PARTS = {
    "start": """
        start started begin from origin orig pickup pick pu source o s in entry enter entered ent departure depart
        departed board boarding boarded tapin checkin origen retiro salida inicio abfahrt partenza von unlock rental
        checkout strt einstieg entree entrada entrata ingresso origem partida ausleihe ausleih entleihe entleih
        beginn anfang debut inizio comienzo depart
    """,
    "end": """
        end ended to destination dest dropoff drop do finish target stop e d out exit exited ex arrival arrive arrived
        alight alighting alighted tapout destino arribo llegada fin ankunft arrivee arrivo nach lock return returned
        ausstieg sortie uscita chegada ziel ruckgabe rueckgabe
        ende fine termino final
    """,
    "unsure side": "in out rental return checkin checkout lock unlock departure arrival enter ent ex drop pick",
    "says nothing": """
        id ids name code number no nr num key at of trip tpep lpep up off the ms tap check local utc gps census
        community council ciclo centroid logical hhmm unix numero nom nummer seconds raw ping pk detail details
    """,
    "says something else": """
        type headsign kind class category mode count sequence zip accuracy speed seq duration distance status fare
        arrondissement modified model eta desc description birth birthday dob month year week appele called callee
        daytype weekday dayofweek accur acc hdop dop
    """,
}
_PARTS = {part: frozenset(text.split()) for part, text in _NAME_PARTS.items()}
_START = _PARTS["start"]
_END = _PARTS["end"]
_UNSURE_SIDES = _PARTS["unsure side"]
"""Words that name an end of a trip only beside another word that says where or when."""
_OF = _PARTS["says nothing"]
_OTHER = _PARTS["says something else"]
_PAIRS = {
    "latlon": re.compile(r"\blat\w*[\s,;/&_|-]+lo?n\w*", re.IGNORECASE),
    "lonlat": re.compile(r"\b(lon|lng)\w*[\s,;/&_|-]+lat\w*", re.IGNORECASE),
}
"""Both coordinates in one name, which says their order."""

# Words that are safe to find inside a longer one.  Short words that begin or end many others ("t", "ap", "ora") are
# left out: "dataora" would be cut in the wrong place.
_VOCABULARY = {word for role in ("time", "lon", "lat", "place", "trajectory") for word in WORDS[role]}
_VOCABULARY -= {"t", "ap", "sta", "ora", "data"}
_VOCABULARY |= {*_START, *_END, *_OF, *_OTHER, "user", "person", "bike"} - {"ent", "ex", "strt"}
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
    # From what says most to what says least: both coordinates in one name, the words of another script, the whole name
    # as one word, a word for people, and at last the words of the name one by one.
    for role, pattern in _PAIRS.items():
        if pattern.search(name):
            return Meaning(role=role, word=role)
    if not any(sign.isascii() and sign.isalpha() for sign in name):
        words = find_script_words(name)
        return None if words is None else Meaning(role=words[0], side=words[1], word=words[2])
    # "pickupLocationID" -> pickup, location, id; whole is "pickuplocationid".
    apart = split_words(name)
    whole = "".join(apart)
    for role, known in WORDS.items():
        if whole in known:
            return Meaning(role=role, word=whole)
    if looks_like_person(name):
        return Meaning(role="person", word=name)
    meaning = _say_words([piece for word in apart for piece in _cut_word(word)])
    # PUlocationID is P and Ulocation to whoever trusts its capital letters.
    return meaning if meaning is not None or len(apart) < 2 else _say_words(list(_cut_word(whole)))


def _say_words(words: list[str]) -> Meaning | None:
    """Return what the words of a name say together."""
    # Numbers behind a name ("stop2") say nothing.
    words = [word for word in words if not word.isdecimal()]
    # One word that means something else spoils the name: "station type" is no station.
    if not words or any(word in _OTHER for word in words):
        return None
    # A trip id is the key of trajectories, whatever "trip" means in other names.
    if words[-2:] in (["trip", "id"], ["ride", "id"], ["journey", "id"]):
        return Meaning(role="trajectory", word=words[-2])
    side, rest = _split_side(words)
    # What is left when the side and the words that say nothing ("id", "name") are gone.
    telling = [word for word in rest if word not in _OF]
    # In the order of how sure a word is: a longitude is hardly ever anything else, "x" may be.
    for role in ("lon", "lat", "offset", "time", "place", "trajectory", "x", "y"):
        known = [word for word in telling if word in WORDS[role]]
        # A single telling word decides; with several, coordinates and times win anywhere, other roles only at the end,
        # where the noun of an English name stands.
        if known and (len(telling) == 1 or role in ("lon", "lat", "time") or telling[-1] == known[-1]):
            return Meaning(role=role, side=side, word=known[0])
    # "start" alone names an end: its time if "at" is beside it ("started_at"), else its place.
    if side and not telling and words[0] not in _UNSURE_SIDES:
        return Meaning(role="time" if "at" in rest else "place", side=side, word=words[0])
    return None


def side_of_name(name: str) -> str:
    """Return which end of a trip a name may be of, also where a word says it only beside what the column holds.

    Examples
    --------
    >>> side_of_name("Departure"), side_of_name("Return"), side_of_name("returns"), side_of_name("D")
    ('start', 'end', '', '')
    """
    words = [word for word in split_words(name) if word not in _OF]
    if len(words) != 1 or len(words[0]) == 1:
        return ""
    return "start" if words[0] in _START else "end" if words[0] in _END else ""


def _split_side(words: list[str]) -> tuple[str, list[str]]:
    """Return which end of a trip a name is of, and the other words of it.

    What says so in any company comes first: the end in "Rental End Station" is the end.
    """
    # Sure words first: in "Rental End Station", "rental" might be a start, "end" is an end.
    for unsure in (False, True):
        for side, known in (("start", _START), ("end", _END)):
            for i, word in enumerate(words):
                rest = [*words[:i], *words[i + 1 :]]
                if word in known and _is_unsure(word) == unsure and (not unsure or _tells(rest)):
                    return side, rest
    return "", words


def _is_unsure(word: str) -> bool:
    return len(word) == 1 or word == "stop" or word in _UNSURE_SIDES


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
    # The longest beginning that is a word is tried first: "starttime" is start + time, not star + ttime.
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
