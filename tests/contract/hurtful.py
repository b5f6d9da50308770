"""Data made to hurt: one person with very many trips, ties, a value that everybody has somewhere, several trips a day.

A crowd of eighteen people is the same for every kind of data.  Person 0 makes thirty trips, all on the first way, and
has the value; people 1 to 3 go the same way once each; the others go other ways, one to three times, on the same day.
On the last way everybody has the value.  Whoever counts people finds a crowd on the first way; whoever counts trips
finds person 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from wayveil.model import Points, Routes, Stops, Visits

__all__ = ["BESIDE", "WAYS", "table_of", "trips"]

WAYS = 4
DOMINANT = 30
"""Trips of the person who has most."""


class Trip(NamedTuple):
    """A trip: whose it is, on which way, the how many-th of the person on that day, and whether it has the value."""

    person: int
    way: int
    number: int
    ill: bool


def trips() -> Iterator[Trip]:
    """Yield the trips of everybody."""
    for number in range(DOMINANT):
        yield Trip(0, 0, number, True)
    for person in range(1, 4):
        yield Trip(person, 0, 0, False)
    for person in range(4, 12):
        for number in range(1 + person % 3):
            yield Trip(person, 1 + (person + number) % 2, number, person == 4)
    for person in range(12, 18):
        yield Trip(person, WAYS - 1, 0, True)


def _visits() -> tuple[str, list[tuple[Any, ...]]]:
    """Every trip has three visits; ways share the first one, and two ways the second."""
    found = []
    for i, trip in enumerate(trips()):
        names = ["stop-0", f"stop-{1 + trip.way // 2}", f"stop-{3 + trip.way}"]
        found += [(f"T{i}", f"P{trip.person}", t, name, _yes(trip)) for t, name in enumerate(names)]
    return "traj_id,user_id,t,location,ill", found


def _points() -> tuple[str, list[tuple[Any, ...]]]:
    """Trips of one way are equal to the metre in twos, which makes ties; the second trip of a day is an hour later."""
    found = []
    for i, trip in enumerate(trips()):
        later = 0 if trip.person == 0 else 60 * trip.number
        aside = 5 * ((i // 2) % 3)
        found += [
            (
                f"T{i}",
                f"P{trip.person}",
                later + t,
                1000 * trip.way + 100 * t + aside,
                300 * trip.way + aside,
                _yes(trip),
            )
            for t in range(6)
        ]
    return "traj_id,user_id,t,x,y,ill", found


def _routes() -> tuple[str, list[tuple[Any, ...]]]:
    """Trips drive all roads of their way, or all but the first."""
    found = []
    for i, trip in enumerate(trips()):
        roads = [f"road-{trip.way}-{j}" for j in range(i % 2, 5)]
        found += [(f"T{i}", f"P{trip.person}", j, road, _yes(trip)) for j, road in enumerate(roads)]
    return "traj_id,user_id,seq,road,ill", found


def _stops() -> tuple[str, list[tuple[Any, ...]]]:
    """Whoever has the value stops at a clinic, the dominant person and the last way always at the same one."""
    found = []
    for i, trip in enumerate(trips()):
        places = [f"shop-{trip.way % 3}", f"park-{trip.way % 2}"]
        if trip.ill:
            places.append(f"clinic-{0 if trip.person in (0, *range(12, 18)) else i % 3}")
        found += [(f"T{i}", f"P{trip.person}", j, place, _yes(trip)) for j, place in enumerate(places)]
    return "traj_id,user_id,seq,place,ill", found


def _yes(trip: Trip) -> str:
    return "yes" if trip.ill else "no"


_TABLES = {Visits: _visits, Points: _points, Routes: _routes, Stops: _stops}

BESIDE: dict[type, tuple[str, str]] = {
    Routes: (
        "network",
        "\n".join(
            [
                "road,from_node,to_node",
                *(
                    f"road-{way}-{i},{f'{way}-{i}' if i else 'start'},{way}-{i + 1}"
                    for way in range(WAYS)
                    for i in range(5)
                ),
            ]
        ),
    ),
    Stops: (
        "taxonomy",
        "\n".join(
            [
                "node,parent,sensitive",
                *("place,,", "shop,place,", "park,place,", "clinic,place,yes"),
                *(f"{kind}-{i},{kind}," for kind in ("shop", "park", "clinic") for i in range(3)),
            ]
        ),
    ),
}
"""What the data of a kind need beside them: the key in a recipe's [input], and the text of the file."""


def table_of(kind: type) -> str:
    """Return the trips as the text of a table of this kind of data."""
    header, rows = _TABLES[kind]()
    return "\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n"
