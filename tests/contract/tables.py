"""Small tables of every kind of data, a network, a taxonomy, and settings under which every method publishes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["CONFIGURED", "PEOPLE", "write_inputs"]

PEOPLE = 60
TRIPS = 2
CONFIGURED: dict[str, dict[str, Any]] = {
    "nwa": {"k": 2, "delta": 500, "pi": "2"},
    "w4m": {"k": 2, "delta": 500},
    "knode": {"k": 2, "window": "20"},
    "tga": {"k": 2},
    "icba": {"k": 2},
    "cba": {"k": 2},
    "prefix": {"k": 2},
    "cast": {"c": "0.6", "m": 3},
    "counts": {"k": 5},
    "dp_counts": {"epsilon": 50, "per_person": 3},
    "synth": {"epsilon": 50, "days": "0..500", "length_max": 8},
    "kcl": {"k": 3, "c": "0.7", "l": 2, "sensitive": {"ill": ["yes"]}},
}


def write_inputs(folder: Path) -> None:
    """Write a table of every kind, a network and a taxonomy into a folder."""
    roads = [f"road-{way}-{i},{f'{way}-{i}' if i else 'start'},{way}-{i + 1}" for way in range(4) for i in range(5)]
    leaves = [f"{kind}-{i},{kind}," for kind in ("shop", "park", "clinic") for i in range(3)]
    files = {
        "points.csv": rows_of_points(),
        "routes.csv": rows_of_routes(),
        "stops.csv": rows_of_stops(),
        "trips.csv": rows_of_trips(),
        "visits.csv": rows_of_visits(),
        "network.csv": ["road,from_node,to_node", *roads],
        "taxonomy.csv": ["node,parent,sensitive", "place,,", "shop,place,", "park,place,", "clinic,place,yes", *leaves],
    }
    for name, rows in files.items():
        (folder / name).write_text("\n".join(rows) + "\n")


def rows_of_points() -> list[str]:
    numbers = np.random.default_rng(12)
    rows = ["traj_id,user_id,t,x,y,ill"]
    for trip in range(PEOPLE * TRIPS):
        person, way, first = trip % PEOPLE, int(numbers.integers(4)), 10 * int(numbers.integers(3))
        for t in range(first, first + 6):
            x, y = 3000 * way + 100 * (t - first) + numbers.normal(0, 30), 500 * way + numbers.normal(0, 30)
            rows.append(f"CARD{trip:05d},PERSON{person:05d},{t},{x:.3f},{y:.3f},{'yes' if person % 3 == 0 else 'no'}")
    return rows


def rows_of_routes() -> list[str]:
    numbers = np.random.default_rng(13)
    rows = ["traj_id,user_id,seq,road,t"]
    for trip in range(PEOPLE * TRIPS):
        way, first, begin = int(numbers.integers(4)), int(numbers.integers(2)), 100 * int(numbers.integers(1, 4))
        rows += [
            f"CARD{trip:05d},PERSON{trip % PEOPLE:05d},{seq},road-{way}-{i},{begin + seq}"
            for seq, i in enumerate(range(first, 5))
        ]
    return rows


def rows_of_stops() -> list[str]:
    numbers = np.random.default_rng(14)
    rows = ["traj_id,user_id,seq,place"]
    for trip in range(PEOPLE * TRIPS):
        n = 1 + int(numbers.integers(3))
        places = [f"{('shop', 'park')[int(numbers.integers(2))]}-{numbers.integers(3)}" for _ in range(n)]
        places += [f"clinic-{trip % 3}"] * (trip % PEOPLE % 4 == 0)
        rows += [f"CARD{trip:05d},PERSON{trip % PEOPLE:05d},{seq},{place}" for seq, place in enumerate(places)]
    return rows


def rows_of_trips() -> list[str]:
    """Return trips of a few minutes: most begin and end in one hour, and some bikes were never brought back."""
    numbers = np.random.default_rng(15)
    rows = ["user_id,t_start,origin,t_end,destination,ill"]
    for trip in range(PEOPLE * TRIPS):
        person = trip % PEOPLE
        ill = "yes" if person % 3 == 0 else "no"
        hour = int(numbers.integers(1, 4))
        origin, destination = numbers.integers(4, size=2)
        end = "," if trip % 20 == 0 else f"{hour + (trip % 5 == 0)},stop-{destination}"
        rows.append(f"PERSON{person:05d},{hour},stop-{origin},{end},{ill}")
    return rows


def rows_of_visits() -> list[str]:
    numbers = np.random.default_rng(11)
    rows = ["traj_id,user_id,t,location,ill"]
    for trip in range(PEOPLE * TRIPS):
        person, way = trip % PEOPLE, int(numbers.integers(3))
        ill = "yes" if person % 3 == 0 else "no"
        rows += [
            f"CARD{trip:05d},PERSON{person:05d},{t},stop-{(way + t) % 4},{ill}"
            for t in range(1, 6)
            if numbers.random() < 0.8
        ]
    return rows
