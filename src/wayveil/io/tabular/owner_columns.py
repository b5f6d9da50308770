"""Which columns look like a person, told from their names alone: the one table of words for it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from wayveil.io.tabular.messages import looks_like_value

__all__ = ["looks_like_person", "person_columns", "split_words"]

_PEOPLE_TEXT = """
    user uid username userhash person people human individual owner holder client customer consumer subscriber member
    account passenger rider commuter traveller traveler tourist visitor guest resident citizen patient participant
    respondent subject volunteer employee worker staff student driver cyclist pedestrian runner athlete courier agent
    player email mail surname ssn passport usuario utilisateur nutzer kunde fahrer conductor caller calling
    anumber msisdn appelant abonne anrufer llamante chamador utente cliente passeggero passageiro pasajero motorista
    mitglied teilnehmer abonado assinante medallion hack hacklicense
    vehicle veh vin car taxi cab truck lorry van plate licenseplate licenceplate registration bike bicycle scooter bici
    bicicleta velo fahrrad
    ebike motorcycle vessel ship boat mmsi imo callsign aircraft icao icao24 drone
    device tracker imei imsi meid iccid sim phone mobile cellphone smartphone handset tablet wearable mac
    fahrzeug kennzeichen gerat geraet vehicule vehiculo veiculo veicolo appareil dispositivo matricula placa voertuig
    bluetooth beacon idfa gaid maid adid aaid caid card smartcard karte karten kunden tarjeta tag badge collar animal
    bird
"""
_OTHER_TEXT = """
    type kind class category group gender sex age birth birthday birthyear year month day date time timestamp hour
    status state model make brand version os colour color count speed heading course fare fee price cost amount
    capacity station stop park lane zone area place location position lat lon lng latitude longitude x y accuracy
    battery taxon species casual comment event mode is genero edad sexo birthdate trip route bearing occupancy fixing
    bank length width sensor dept department team role company firm agency operator vendor provider street city country
"""

_PEOPLE = frozenset(_PEOPLE_TEXT.split())
"""What people call a person, or the thing that one person carries or drives; only whole words of a name count."""

_OTHER = frozenset(_OTHER_TEXT.split())
"""What says something of a person or thing, or where and when: "User Type" and "bike station" name nobody."""

# "userid" and "cardno" are one word to a computer.
_ENDINGS = ("identifier", "nummer", "number", "code", "hash", "name", "key", "ids", "id", "no", "nr")


def looks_like_person(name: str) -> bool:
    """Return whether the name of a column says that it holds people, or what one person carries or drives.

    Examples
    --------
    >>> [looks_like_person(name) for name in ("card_id", "vehicleID", "Bike ID", "userid", "MMSI")]
    [True, True, True, True, True]
    >>> [looks_like_person(name) for name in ("id", "User Type", "cardinal", "bike_station", "traj_id")]
    [False, False, False, False, False]
    """
    words = split_words(name)
    return any(_is_person(word) for word in words) and not any(word in _OTHER for word in words)


def person_columns(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names that look like a person, in their order; none that may be the person itself."""
    return tuple(name for name in names if looks_like_person(name) and not looks_like_value(name))


def split_words(name: str) -> list[str]:
    """Return the words of a name in small letters without accents; those of card_id, cardID and "Card ID" are the same.

    Units in brackets and a d' or l' before a word say nothing.

    Examples
    --------
    >>> split_words("Geschwindigkeit [km/h]"), split_words("Numéro d'appelant"), split_words("vehicleID")
    (['geschwindigkeit'], ['numero', 'appelant'], ['vehicle', 'id'])
    """
    bare = re.sub(r"\[[^\]]*\]|\([^)]*\)", " ", name)
    bare = re.sub(r"\b[dlDL]['’]", " ", bare if bare.strip() else name)
    # Accents are taken off, so that "véhicule" and "vehicule" are one word.
    bare = "".join(sign for sign in unicodedata.normalize("NFKD", bare) if not unicodedata.combining(sign))
    # Capital letters begin words: "cardID" is card and ID, and "GPSTime" GPS and Time.
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", bare)
    return [word.lower() for word in re.split(r"[\W_]+", apart) if word]


def _is_person(word: str) -> bool:
    shorter = {word, word.removesuffix("s"), *(word.removesuffix(end) for end in _ENDINGS)}
    return not shorter.isdisjoint(_PEOPLE)
