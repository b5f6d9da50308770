"""Data and configurations that fit any method, made from its declaration alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from wayveil.methods import METHODS
from wayveil.model import Parameter, Points, Routes, Stops, Visits, parameters_of

PEOPLE, TRIPS = 60, 2


@pytest.fixture(params=sorted(METHODS))
def method(request: pytest.FixtureRequest) -> type[Any]:
    """Every registered method, present and future."""
    return METHODS[request.param]


@pytest.fixture
def parameters(method: type[Any]) -> dict[str, Any]:
    """Moderate values for the parameters that a method declares."""
    needed = [p for p in parameters_of(method) if p.required or p.kind == "sensitive"]
    return {p.name: moderate(p) for p in needed}


def moderate(p: Parameter) -> Any:
    values: dict[str, Any] = {
        "int": int(max(p.low or 0, 2)), "fraction": "0.9", "sensitive": {"ill": ["yes"]}, "duration": "10",
        "number": min(max(p.low or 0, 400), p.high or 400), "text": "",
        "groups": {"east": ["stop-0", "stop-1"], "west": ["stop-2", "stop-3"]},
    }  # fmt: skip
    return p.choices[0] if p.kind == "choice" else values[p.kind]


@pytest.fixture(scope="session")
def rows() -> list[tuple[str, str, int, str, str]]:
    """Visits of people who share their ways, as (traj_id, user_id, t, location, ill), with ids easy to search for."""
    rng = np.random.default_rng(11)
    found = []
    for trip in range(PEOPLE * TRIPS):
        person = trip % PEOPLE
        ill = "yes" if person % 3 == 0 else "no"
        way = int(rng.integers(4))
        found += [
            (f"CARD{trip:05d}", f"PERSON{person:05d}", t, f"stop-{(way + t) % 6}", ill)
            for t in range(1, 6)
            if rng.random() < 0.8
        ]
    return found


@pytest.fixture(scope="session")
def tracks() -> list[tuple[str, str, int, float, float, str]]:
    """Points of people who share their ways, as (traj_id, user_id, t, x, y, ill), with ids easy to search for."""
    rng = np.random.default_rng(12)
    found = []
    for trip in range(PEOPLE * TRIPS):
        person, way = trip % PEOPLE, int(rng.integers(4))
        found += [
            (
                f"CARD{trip:05d}", f"PERSON{person:05d}", t,
                round(1000 * way + 100 * t + rng.normal(0, 30), 3), round(500 * way + rng.normal(0, 30), 3),
                "yes" if person % 3 == 0 else "no",
            )
            for t in range(10, 16)
        ]  # fmt: skip
    return found


@pytest.fixture(scope="session")
def ways() -> list[tuple[str, str, int, str, str]]:
    """Routes of people who share their ways, as (traj_id, user_id, seq, road, ill), with ids easy to search for."""
    rng = np.random.default_rng(13)
    found = []
    for trip in range(PEOPLE * TRIPS):
        person, way, first = trip % PEOPLE, int(rng.integers(4)), int(rng.integers(2))
        ill = "yes" if person % 3 == 0 else "no"
        roads = [f"road-{way}-{i}" for i in range(first, 5)]
        found += [(f"CARD{trip:05d}", f"PERSON{person:05d}", seq, road, ill) for seq, road in enumerate(roads)]
    return found


@pytest.fixture(scope="session")
def errands() -> list[tuple[str, str, int, str, str]]:
    """Stops of people with similar habits, as (traj_id, user_id, seq, place, ill), with ids easy to search for."""
    rng = np.random.default_rng(14)
    found = []
    for trip in range(PEOPLE * TRIPS):
        person = trip % PEOPLE
        ill = "yes" if person % 3 == 0 else "no"
        places = [
            f"shop-{rng.integers(3)}",
            f"park-{rng.integers(3)}",
            *([f"clinic-{person % 2}"] if ill == "yes" else []),
        ]
        found += [(f"CARD{trip:05d}", f"PERSON{person:05d}", seq, place, ill) for seq, place in enumerate(places)]
    return found


@pytest.fixture
def beside(method: type[Any], network: Path | None, tmp_path: Path) -> dict[str, str]:
    """The files that a table needs beside it, as keys of a recipe's [input]."""
    if network is not None:
        return {"network": str(network)}
    if method.accepts is not Stops:
        return {}
    path = tmp_path / "taxonomy.csv"
    leaves = [f"{kind}-{i},{kind}," for kind in ("shop", "park", "clinic") for i in range(3)]
    path.write_text(
        "\n".join(["node,parent,sensitive", "place,,", "shop,place,", "park,place,", "clinic,place,yes", *leaves])
    )
    return {"taxonomy": str(path)}


@pytest.fixture
def network(method: type[Any], tmp_path: Path) -> Path | None:
    """The road network of routes: four ways out of one place."""
    if method.accepts is not Routes:
        return None
    path = tmp_path / "network.csv"
    roads = [f"road-{way}-{i},{f'{way}-{i}' if i else 'start'},{way}-{i + 1}" for way in range(4) for i in range(5)]
    path.write_text("\n".join(["road,from_node,to_node", *roads]) + "\n")
    return path


@pytest.fixture
def table(
    method: type[Any],
    rows: list[tuple[Any, ...]],
    tracks: list[tuple[Any, ...]],
    ways: list[tuple[Any, ...]],
    errands: list[tuple[Any, ...]],
    tmp_path: Path,
) -> Path:
    """The same data in the form that the method accepts."""
    content = {
        Visits: ("traj_id,user_id,t,location,ill", rows),
        Points: ("traj_id,user_id,t,x,y,ill", tracks),
        Routes: ("traj_id,user_id,seq,road,ill", ways),
        Stops: ("traj_id,user_id,seq,place,ill", errands),
    }
    assert method.accepts in content, "a new kind of data needs a table here"
    header, listed = content[method.accepts]
    path = tmp_path / "input.csv"
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in listed)]) + "\n")
    return path


@pytest.fixture
def make_content(
    method: type[Any], parameters: dict[str, Any], table: Path, beside: dict[str, str], tmp_path: Path
) -> Callable[..., Any]:
    """Return the content of a recipe for the method; `name` is the output folder."""

    def make(name: str = "out", *, form: str = "csv", seed: int = 5, path: Path = table, **output: Any) -> Any:
        return {
            "seed": seed,
            "input": {"path": str(path), **beside},
            "method": {"name": method.name, **parameters},
            "attacks": [],
            "metrics": [],
            "output": {"path": str(tmp_path / name), "format": form, **output},
        }

    return make
