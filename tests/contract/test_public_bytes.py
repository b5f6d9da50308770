"""Everything public is a function of the published rows and of what was declared.

Somebody is added to the input of whom nothing is published: far away, on another day, at places and with values that
nobody else has.  With the same seed and secret, not a byte of the public files may change, ids included: these follow
from the order of the trajectories that are written.

Methods that move or widen what they publish go further: what they publish follows from the people of whom something is
published, whoever else is in the input.  Who is published may depend on others: where a tenth may be outliers, one
outlier more is one of these.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from campaign import ENGINE, Case, draw_case
from still_noise import still_noise

from wayveil.errors import WayveilError
from wayveil.methods import METHODS
from wayveil.methods.clusters.clusters import EXTRA
from wayveil.model import Points, Routes, Stops, Visits
from wayveil.pipeline.folder.secret import Secret
from wayveil.pipeline.folder.verify_folder import verify_folder
from wayveil.pipeline.publish import publish
from wayveil.recipe.recipe import make_recipe

PEOPLE = 12
SECRET = Secret(bytes(32))
Rows = list[tuple[Any, ...]]

GIVEN: dict[str, list[dict[str, Any]]] = {
    "kcl": [{"k": 2, "c": "0.9", "l": 2, "sensitive": {"ill": ["yes"]}}],
    "gsup": [{"p": "0.6", "adversaries": {"east": ["stop-0", "stop-1"], "west": ["stop-2", "stop-3"]}}],
    "tga": [{"k": 4}, {"k": 4, "publish": "points"}],
    "nwa": [
        {"k": 4, "delta": 0},
        {"k": 4, "delta": 20, "placement": "nearest"},
        {"k": 4, "delta": 20, "radius_max": 3000},
        {"k": 4, "delta": 20},
    ],
    "w4m": [
        {"k": 4, "delta": 0},
        {"k": 4, "delta": 20, "placement": "nearest"},
        {"k": 4, "delta": 20, "radius_max": 3000},
        {"k": 4, "delta": 20, "pivot": "farthest"},
        {"k": 4, "delta": 20, "distance": "edr"},
    ],
    "knode": [{"k": 4, "window": "1h"}, {"k": 2, "window": "1h"}, {"k": 2, "window": "1h", "variant": "paper"}],
    "qid": [{"k": 2, "cell": 100.0}],
    "cba": [{"k": 2}],
    "icba": [{"k": 2}],
    "prefix": [{"k": 2}],
    "cast": [{"c": "0.9", "m": 2}],
    "counts": [{"k": 2}, {"k": 2, "margins": "yes"}, {"k": 2, "tally": "flows", "margins": "yes"}],
    "dp_counts": [{"epsilon": 50, "per_person": 4}],
}
"""What is asked of each method; every registered one must be here."""


def visits(*, stranger: bool) -> tuple[str, Rows]:
    found: Rows = []
    for person in range(PEOPLE):
        way = person % 3
        found += [(f"T{person:02d}", f"P{person:02d}", t, f"stop-{(way + t) % 4}", "no") for t in range(1, 4)]
    # one visit is published, because a sensitive value must occur; what is not is another one
    found += [("TX", "PX", 1, "stop-1", "yes")]
    found += (
        [("TX", "PX", t, f"lighthouse-{t}", "yes") for t in range(900, 903)]
        if stranger
        else [("TX", "PX", 2, "hut", "yes")]
    )
    return "traj_id,user_id,t,location,ill", found


def points(*, stranger: bool, digits: int = 6) -> tuple[str, Rows]:
    """People in Athens, in pairs a few metres apart, and perhaps somebody in Tromsoe, faster, at other times."""
    rng = np.random.default_rng(3)
    found: Rows = []
    for person in range(PEOPLE):
        way = person % 3
        for t in range(5):
            lon = round(23.70 + 0.01 * way + 0.001 * t + rng.uniform(0, 5e-4), digits)
            lat = round(37.95 + 0.01 * way + rng.uniform(0, 5e-4), digits)
            found.append((f"T{person:02d}", f"P{person:02d}", f"2024-05-06T08:0{t}:00Z", lon, lat, "no"))
    if stranger:
        found += [
            ("TX", "PX", f"2024-11-30T23:1{t}:30Z", round(18.95531 + 0.3 * t, 5), round(69.6489137, 7), "yes")
            for t in range(3)
        ]
    return "traj_id,user_id,t,lon,lat,ill", found


def routes(*, stranger: bool) -> tuple[str, Rows]:
    found: Rows = []
    for person in range(PEOPLE):
        way = person % 3
        found += [
            (
                f"T{person:02d}",
                f"P{person:02d}",
                seq,
                f"road-{way}-{seq}",
                f"2024-05-06T08:{10 * way + seq:02d}:00Z",
                "no",
            )
            for seq in range(4)
        ]
    if stranger:
        found += [("TX", "PX", seq, f"road-3-{seq}", f"2024-11-30T23:1{seq}:00Z", "yes") for seq in range(4)]
    return "traj_id,user_id,seq,road,t,ill", found


def stops(*, stranger: bool) -> tuple[str, Rows]:
    found: Rows = []
    for person in range(PEOPLE):
        places = ["shop-0", f"park-{person % 2}", *(["clinic-0"] if person % 6 == 0 else [])]
        found += [(f"T{person:02d}", f"P{person:02d}", seq, place, "no") for seq, place in enumerate(places)]
    if stranger:
        # Of the last stop only the kind is known: it is put at a leaf of its own, which others do not need.
        places = ["shop-2", "park-2", "clinic-2", "shop-1", "park-2", "clinic-1", "clinic"]
        found += [("TX", "PX", seq, place, "yes") for seq, place in enumerate(places)]
    return "traj_id,user_id,seq,place,ill", found


def meals(*, stranger: bool) -> tuple[str, Rows]:
    """What `gsup` takes out is a place of whoever is alone in the eyes of an adversary; the rest stays."""
    found: Rows = []
    for person in range(PEOPLE):
        seen, other = f"stop-{person % 3}", f"cafe-{person // 3}"
        found += [(f"T{person:02d}", f"P{person:02d}", t, place, "no") for t, place in ((1, seen), (2, other))]
    found += [("TX", "PX", 1, "stop-3", "yes")]
    found += [("TX", "PX", 900, "lighthouse", "yes")] if stranger else [("TX", "PX", 2, "hut", "yes")]
    return "traj_id,user_id,t,location,ill", found


def excursion(*, stranger: bool) -> tuple[str, Rows]:
    """`tga` leaves nobody out, but points that have none of the others beside them: here the last of a person."""
    header, found = points(stranger=False)
    far: Rows = [("T00", "P00", "2024-11-30T23:10:30Z", 18.95531, 69.64891, "no")]
    return header, [*found, *(far if stranger else [])]


TABLES: dict[type, Callable[..., tuple[str, Rows]]] = {Visits: visits, Points: points, Routes: routes, Stops: stops}
OWN_TABLES = {"gsup": meals, "tga": excursion}


def beside(kind: type, folder: Path) -> dict[str, str]:
    """Write what a kind of data needs beside it: it is declared, and the same with and without the stranger."""
    if kind is Routes:
        roads = [f"road-{way}-{i},{f'{way}-{i}' if i else 'start'},{way}-{i + 1}" for way in range(4) for i in range(5)]
        (folder / "network.csv").write_text("\n".join(["road,from_node,to_node", *roads]) + "\n")
        return {"network": str(folder / "network.csv")}
    if kind is Stops:
        leaves = [f"{name}-{i},{name}," for name in ("shop", "park", "clinic") for i in range(3)]
        tree = ["node,parent,sensitive", "place,,", "shop,place,", "park,place,", "clinic,place,yes", *leaves]
        (folder / "taxonomy.csv").write_text("\n".join(tree) + "\n")
        return {"taxonomy": str(folder / "taxonomy.csv")}
    return {}


def published(
    name: str, given: dict[str, Any], table: tuple[str, Rows], folder: Path, **more: Any
) -> tuple[Path, dict[str, bytes]]:
    """Publish a table; return the public folder and its files."""
    folder.mkdir()
    header, rows = table
    (folder / "input.csv").write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n")
    recipe = make_recipe(
        {
            "seed": 5,
            "input": {"path": str(folder / "input.csv"), **beside(METHODS[name].accepts, folder)},
            "method": {"name": name, **given},
            "attacks": [],
            "metrics": [],
            "output": {"path": str(folder / "out"), "format": "csv"},
            **more,
        }
    )
    with still_noise():  # noise is never the same; all the rest is
        outcome = publish(recipe, secret=SECRET)
    assert outcome.public is not None
    return outcome.public, {path.name: path.read_bytes() for path in sorted(outcome.public.iterdir())}


def cases() -> Iterator[Any]:
    for name in sorted(METHODS):
        if METHODS[name].synthetic:  # of nobody anything is published, and everybody is in the noisy numbers
            continue
        for number, given in enumerate(GIVEN.get(name, [{}])):
            yield pytest.param(name, given, id=f"{name}-{number}")


@pytest.mark.parametrize(("name", "given"), list(cases()))
def test_who_is_not_published_changes_no_public_byte(name: str, given: dict[str, Any], tmp_path: Path) -> None:
    assert name in GIVEN, "a new method needs a line here"
    table = OWN_TABLES.get(name, TABLES[METHODS[name].accepts])
    _, without = published(name, given, table(stranger=False), tmp_path / "without")
    public, beyond = published(name, given, table(stranger=True), tmp_path / "with")
    told = b"".join(beyond.values())
    assert not any(word in told for word in (b"lighthouse", b"2024-11-30", b"road-3")), "the stranger is published"
    assert sorted(beyond) == sorted(without)
    for file, content in without.items():
        assert beyond[file] == content, f"{file} tells of somebody who is not published"
    assert verify_folder(public).holds is not False


@pytest.mark.parametrize("name", ["nwa", "w4m", "knode", "tga", "qid", "cast"])
def test_what_is_published_follows_from_the_people_who_are_published(name: str) -> None:
    """Of random tables: without those who are left out, the others are published as they were, to the last digit."""
    compared = 0
    for seed in range(60):
        case = draw_case(name, seed)
        made = _made(case)
        if made is None or not made.data.n_rows:
            continue
        records = [made.data.record(i) for i in range(len(made.data))]
        source = np.arange(len(records)) if made.source is None else made.source
        people = {case.owner[of] for of, record in zip(source.tolist(), records, strict=True) if record}
        stays = [i for i, who in enumerate(case.owner) if who in people]
        if made.groups is not None:  # trips that are outliers are nobody's either, even if another trip is published
            stays = [i for i, label in enumerate(made.groups.tolist()) if label >= 0 or label == EXTRA]
        if len(stays) == len(case.owner):
            continue
        compared += 1
        others_out = {"trash_max": Fraction(0)} if "trash_max" in case.parameters else {}
        again = _made(replace(case.take(stays), parameters=case.parameters | others_out))
        assert again is not None, case
        kept = [record for of, record in zip(source.tolist(), records, strict=True) if of in stays]
        assert [again.data.record(i) for i in range(len(again.data))] == kept, case
    assert compared


def _made(case: Case) -> Any:
    """Return what a method makes of random data, or None where it refuses them."""
    try:
        return METHODS[case.method](**case.parameters).run(
            case.data(), rng=np.random.default_rng(case.seed), engine=ENGINE
        )
    except WayveilError:
        return None


def decimals(files: dict[str, bytes]) -> int:
    """Return the most decimals of a coordinate of published points."""
    rows = files["published.csv"].decode().splitlines()[1:]
    return max(len(number.partition(".")[2]) for row in rows for number in row.split(",")[2:4])


FAR = ("TX", "PX", "2024-11-30T23:10:30Z", 18.95531, 69.64891, "yes")


def test_cells_and_the_frame_are_those_of_who_is_published(tmp_path: Path) -> None:
    """The width of a cell in degrees, the middle of the frame and the top speed would tell where somebody was."""
    public, _ = published("qid", GIVEN["qid"][0], points(stranger=True), tmp_path / "with")
    manifest = json.loads((public / "manifest.json").read_text())
    frame = manifest["schema"]["frame"]
    assert (frame["lon_0"], frame["lat_0"]) == (23.6, 37.95)
    assert manifest["claim"]["top_speed"] == 5.0
    assert manifest["verdict"]["measured"].keys() == {"min_declared", "trajectories", "boxes"}


FORGED: list[dict[str, Any]] = [
    {"lon_0": 1e20, "lat_0": 1e20},
    {"x_scale": 1.0, "y_scale": 1.0},
    {"lon_0": 23.8},
    {"overstatement": 0.0},
    {"crs": "planar"},
    {"degrees": False},
]


@pytest.mark.parametrize("form", ["csv", "parquet", "geojson"])
def test_a_forged_frame_fails(form: str, tmp_path: Path) -> None:
    output = {"path": str(tmp_path / "made" / "out"), "format": form}
    made = published("nwa", GIVEN["nwa"][0], points(stranger=False), tmp_path / "made", output=output)[0]
    text = (made / "manifest.json").read_text()
    assert verify_folder(made).failures == ()
    for forged in FORGED:
        content = json.loads(text)
        content["schema"]["frame"] |= forged
        (made / "manifest.json").write_bytes(_as_written(content))
        judged = verify_folder(made)
        assert judged.holds is False
        assert any("coordinates" in failure or "cannot be read" in failure for failure in judged.failures)


def _as_written(content: dict[str, Any]) -> bytes:
    return f"{json.dumps(content, sort_keys=True, indent=2, ensure_ascii=False)}\n".encode()


@pytest.mark.parametrize("lon", [179.9998, -179.9999, 23.7])
def test_frames_at_the_antimeridian_and_of_one_point(lon: float, tmp_path: Path) -> None:
    """What a manifest says is what verify finds, whatever side of a border points are on."""
    for name, given in (("nwa", GIVEN["nwa"][0]), ("knode", GIVEN["knode"][0])):
        rows: Rows = []
        for person in range(4):
            x = round((lon + 0.0001 * person + 180) % 360 - 180, 6)
            rows.append((f"T{person}", f"P{person}", "2024-05-06T08:00:00Z", x, -17.5, "no"))
        table = ("traj_id,user_id,t,lon,lat,ill", rows)
        _, without = published(name, given, table, tmp_path / f"{name}-without")
        public, beyond = published(name, given, (table[0], [*rows, FAR]), tmp_path / f"{name}-with")
        assert beyond == without
        assert verify_folder(public).failures == ()


def test_blocks_have_one_frame_of_what_is_published(tmp_path: Path) -> None:
    header, rows = points(stranger=True)
    again = [(f"Z{row[0]}", f"Z{row[1]}", row[2].replace("05-06", "05-07"), row[3] + 1, *row[4:]) for row in rows]
    table = (header, [*rows, *again])
    public, files = published("nwa", GIVEN["nwa"][0], table, tmp_path / "made", blocks={"by": "times", "rows": 60})
    manifest = json.loads(files["manifest.json"])
    assert len(manifest["files"]) > 1
    assert manifest["schema"]["frame"]["lat_0"] == 37.95
    assert verify_folder(public).failures == ()
    manifest["schema"]["frame"]["lat_0"] = 53.8
    (public / "manifest.json").write_bytes(_as_written(manifest))
    assert verify_folder(public).holds is False


@pytest.mark.parametrize("name", ["nwa", "w4m"])
@pytest.mark.parametrize("number", [0, 1])
def test_digits_do_not_tell_true_points_from_moved_ones(name: str, number: int, tmp_path: Path) -> None:
    """A twentieth of the input has six decimals, so that nothing has more; without, nothing has more than seven."""
    table = points(stranger=False)
    recorded = {(lon, lat) for *_, lon, lat, _ in table[1]}
    _, files = published(name, GIVEN[name][number], table, tmp_path / "six")
    rows = [line.split(",") for line in files["published.csv"].decode().splitlines()[1:]]
    kept = sum((float(row[2]), float(row[3])) in recorded for row in rows)
    assert kept < len(rows) or (name, number) == ("w4m", 0)  # where all become the one who leads, nobody is moved
    assert decimals(files) == 6
    _, files = published(name, GIVEN[name][number], points(stranger=False, digits=12), tmp_path / "twelve")
    assert decimals(files) == 7
