"""Data for tests of advice: commuters between a few stations, on many dates."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

STATIONS = [(8.50, 50.00), (8.52, 50.00), (8.50, 50.02), (8.53, 50.03), (8.56, 50.01)]


@pytest.fixture
def trips_table(tmp_path: Path) -> Path:
    """One row per trip of 150 people: by the second almost no two trips are alike, by the part of the day many are."""
    rng = np.random.default_rng(3)
    lines = ["trip,start,end,from,to,from_lon,from_lat,to_lon,to_lat"]
    for trip in range(300):
        one, other = (int(rng.integers(len(STATIONS))) for _ in range(2))
        day = 1 + int(rng.integers(28))
        hour = int(rng.choice([8, 9, 17, 18]))
        begin = f"2024-05-{day:02} {hour:02}:{int(rng.integers(60)):02}:{int(rng.integers(60)):02}"
        end = f"2024-05-{day:02} {hour + 1:02}:{int(rng.integers(60)):02}:00"
        ends = (*STATIONS[one], *STATIONS[other])
        lines.append(f"{trip},{begin},{end},s{one},s{other}," + ",".join(f"{place:.4f}" for place in ends))
    path = tmp_path / "trips.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def trips_recipe(trips_table: Path) -> Path:
    """A recipe that leaves almost nothing of these trips: times stay as they are."""
    path = trips_table.with_name("recipe.toml")
    path.write_text(
        f"""
[input]
path = "{trips_table.name}"
kind = "trips"
owners = "each-trajectory"
crs = "EPSG:4326"
times = {{t_start = {{columns = ["start"], format = "ymd"}}, t_end = {{columns = ["end"], format = "ymd"}}}}

[input.columns]
origin = "from"
destination = "to"
origin_x = "from_lon"
origin_y = "from_lat"
destination_x = "to_lon"
destination_y = "to_lat"

[[prepare]]
step = "bucket"
width = "1min"

[method]
name = "kcl"
k = 5
l = 2

[output]
path = "out"
"""
    )
    return path


@pytest.fixture
def tracks_recipe(tmp_path: Path) -> Path:
    """Two dozen walkers who begin at different times: groups share a part of their time, so that pieces are cut off."""
    rng = np.random.default_rng(8)
    lines = ["traj_id,user_id,t,x,y"]
    for walker in range(24):
        begin = int(rng.integers(0, 30))
        lasting = int(rng.integers(8, 30))
        x, y = rng.uniform(0, 400, 2)
        for minute in range(begin, begin + lasting):
            lines.append(f"{walker},{walker},2024-05-06 08:{minute:02}:00,{x + 40 * (minute - begin):.1f},{y:.1f}")
    table = tmp_path / "tracks.csv"
    table.write_text("\n".join(lines) + "\n")
    path = tmp_path / "tracks.toml"
    path.write_text(
        f"""
seed = 1

[input]
path = "{table.name}"
kind = "points"

[[prepare]]
step = "resample"
period = "1min"

[method]
name = "knode"
k = 4
window = "1h"

[output]
path = "published"
"""
    )
    return path
