"""Stops that are found against those that were made: F1 of `stops` on simulated days, beside trackintel.

    python benchmarks/bench_stops.py
    python benchmarks/bench_stops.py --days 200 --seed 3

People drive between places at 8 to 14 m/s, half of the ways with a wait of 2 to 8 minutes, and stay there for 12
minutes to 3 hours, or at home over night, seen every 30 s.  *clean*: 5 m of noise; *indoor*: 20 m while they stay;
*nights*: the same over five days, with nights at home; *strays*: as indoor, and one point of fifty is 150 to 800 m off.
A stop that is found is right if it and one that was made, each counted once, share at least half of the time of both
together.  trackintel (staypoints of 100 m and 10 minutes) is run where it is installed; otherwise the figures are those
that were measured with its version 1.4.2, 100 trips and seed 1.
"""

from __future__ import annotations

import warnings

import numpy as np

from bench import make_parser
from wayveil.model import Points
from wayveil.model.data.ragged import trajectory_of_row
from wayveil.steps.places.stop_finding import FindStops

PERIOD_S = 30
STAY_S = 600
SCENES = {
    "clean": {"indoor": 5.0, "days": 1, "strays": 0.0},
    "indoor": {"indoor": 20.0, "days": 1, "strays": 0.0},
    "nights": {"indoor": 20.0, "days": 5, "strays": 0.0},
    "strays": {"indoor": 20.0, "days": 1, "strays": 0.02},
}
Spans = list[list[tuple[int, int]]]


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--days", type=int, default=100, help="trips of each scene")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print("| scene | stops made | staypoint | cbsmot | trackintel |\n|---|---|---|---|---|")
    for scene in SCENES:
        data, truth = simulate(scene, options.days, np.random.default_rng(options.seed))
        ours = [f_score(truth, found(data, method)) for method in ("staypoint", "cbsmot")]
        theirs = f_score(truth, trackintel(data)) if has_trackintel() else MEASURED[scene]
        figures = " | ".join(f"{value:.2f}" for value in (*ours, theirs))
        print(f"| {scene} | {sum(map(len, truth)):,} | {figures} |", flush=True)


def simulate(scene: str, trips: int, rng: np.random.Generator) -> tuple[Points, Spans]:
    """Return points of trips, and the times from which to which people stayed."""
    given = SCENES[scene]
    records = []
    truth: Spans = []
    for _trip in range(trips):
        rows: list[tuple[int, float, float]] = []
        spans: list[tuple[int, int]] = []
        home = rng.uniform(-8000, 8000, 2)
        here = home
        t = 0
        for _ in range(int(given["days"])):
            places = [rng.uniform(-8000, 8000, 2) for _ in range(rng.integers(2, 5))]
            visits = [*places, home] if given["days"] > 1 else places
            for number, there in enumerate(visits):
                way = there - here
                speed = rng.uniform(8, 14)
                moving = int(np.hypot(*way) / speed)
                for s in range(0, moving, PERIOD_S):
                    rows.append((t + s, *(here + way * s / moving + rng.normal(0, 5.0, 2))))
                    halfway = s == PERIOD_S * (moving // PERIOD_S // 2)
                    if halfway and rng.random() < 0.5:  # a wait, shorter than a stop
                        waits = int(rng.uniform(120, 480))
                        waits -= waits % PERIOD_S
                        for w in range(PERIOD_S, waits, PERIOD_S):
                            rows.append((t + s + w, *(here + way * s / moving + rng.normal(0, given["indoor"], 2))))
                        t += waits
                t += moving - moving % PERIOD_S + PERIOD_S
                here = there
                if number == len(visits) - 1 and given["days"] == 1:
                    stays = 0
                elif there is home:
                    stays = int(rng.uniform(7, 11) * 3600)
                else:
                    stays = int(rng.uniform(720, 10_800))
                stays -= stays % PERIOD_S
                if stays:
                    spans.append((t, t + stays))
                    for s in range(0, stays + 1, PERIOD_S):
                        noise = rng.normal(0, given["indoor"], 2)
                        if rng.random() < given["strays"]:
                            angle = rng.uniform(0, 2 * np.pi)
                            noise = rng.uniform(150, 800) * np.array([np.cos(angle), np.sin(angle)])
                        rows.append((t + s, *(here + noise)))
                    t += stays + PERIOD_S
        records.append(rows)
        truth.append(spans)
    return Points.from_records(records, time_format="epoch"), truth


def found(data: Points, method: str) -> Spans:
    step = FindStops(method=method, min_stay=f"{STAY_S}s")
    first, last = step._stretches(data, trajectory_of_row(data.offsets), STAY_S)
    spans: Spans = [[] for _ in range(len(data))]
    of = trajectory_of_row(data.offsets)
    for a, b in zip(first.tolist(), last.tolist(), strict=True):
        spans[of[a]].append((int(data.t[a]), int(data.t[b])))
    return spans


def f_score(truth: Spans, spans: Spans) -> float:
    """Return the harmonic mean of the shares of stops that were found, and of those found that are right."""
    right = 0
    for made, seen in zip(truth, spans, strict=True):
        left = list(seen)
        for a, b in made:
            match = next((s for s in left if 2 * overlap((a, b), s) >= max(b, s[1]) - min(a, s[0])), None)
            if match is not None:
                left.remove(match)
                right += 1
    return 2 * right / max(1, sum(map(len, truth)) + sum(map(len, spans)))


def overlap(a: tuple[int, int], b: tuple[int, int]) -> int:
    return max(0, min(a[1], b[1]) - max(a[0], b[0]))


def has_trackintel() -> bool:
    try:
        import trackintel  # noqa: F401
    except ImportError:
        return False
    return True


def trackintel(data: Points) -> Spans:
    """Return the staypoints of trackintel, each trip as a user of its own; metres become degrees at the equator."""
    import geopandas as gpd
    import pandas as pd
    from trackintel import Positionfixes

    user = trajectory_of_row(data.offsets)
    metres = 6_371_000 * np.pi / 180
    table = gpd.GeoDataFrame(
        {"user_id": user, "tracked_at": pd.to_datetime(data.t, unit="s", utc=True)},
        geometry=gpd.points_from_xy(data.x / metres, data.y / metres),
        crs="EPSG:4326",
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fixes = Positionfixes(table)
        stays = fixes.generate_staypoints(dist_threshold=100, time_threshold=STAY_S / 60, include_last=True)[1]
    spans: Spans = [[] for _ in range(len(data))]
    epoch = pd.Timestamp(0, tz="UTC")
    begins = (stays["started_at"] - epoch) // pd.Timedelta("1s")
    ends = (stays["finished_at"] - epoch) // pd.Timedelta("1s")
    for who, a, b in zip(stays["user_id"], begins, ends, strict=True):
        spans[who].append((int(a), int(b)))
    return spans


MEASURED = {"clean": 1.00, "indoor": 0.84, "nights": 0.70, "strays": 0.21}

if __name__ == "__main__":
    main()
