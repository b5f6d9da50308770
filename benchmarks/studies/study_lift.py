"""Lifting instead of suppressing: what `kcl` would keep if rare visits became coarser ones, on real data.

    python benchmarks/studies/study_lift.py --bikes FOLDER/JC-201601-citibike-tripdata.csv.gz
    python benchmarks/studies/study_lift.py --checkins FOLDER

Prints the table of docs/research/methods/kcl.md.  A visit has a fine form (a station, an hour; a kind of place, four
hours) and a coarse one that covers it (a square kilometre and four hours; the family of the kind).  Three ways are
compared with the same k and l: the fine visits alone, the coarse ones for everybody, and a mixture: what `kcl` takes
out of the fine ones becomes coarse, and `kcl` runs on both.  A visit keeps 1 - log(fine ones that it covers) / log(all
fine ones): 1 for a fine one, 0 for a suppressed one.

Somebody who knows a fine visit fits every published visit that covers it.  So who fits what is known are the records of
several sequences of fine and coarse visits, and if each of these has k people, so have all of them together.  It is a
study of what is lost, not of a promise: shares of one person, or of a sensitive value, do not follow in this way.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from wayveil.engines import LocalEngine
from wayveil.methods import Kcl
from wayveil.model import Visits
from wayveil.model.data.ragged import offsets_of

Array = np.ndarray


@dataclass(frozen=True, kw_only=True)
class Lifts:
    """Visits (one entry per visit: whose trajectory, which fine visit), and for every fine visit the coarse one."""

    name: str
    owner: Array
    trajectory: Array
    fine: Array
    coarse_of: Array
    time_of_fine: Array
    time_of_coarse: Array

    @property
    def n_fine(self) -> int:
        return len(self.coarse_of)

    def information(self) -> Array:
        """What a visit tells, for all fine and then all coarse ones."""
        covered = np.bincount(self.coarse_of, minlength=len(self.time_of_coarse))
        return np.concatenate([np.ones(self.n_fine), 1 - np.log(np.maximum(covered, 1)) / np.log(self.n_fine)])

    def publish(self, visit: Array, used: Array, k: int, known: int) -> Array:
        """Return which visits stay, if each is published as `visit`, a fine one or n_fine and more for a coarse one."""
        times = np.concatenate([2 * self.time_of_fine, 2 * self.time_of_coarse + 1])
        rank = np.empty(len(times), np.int64)
        rank[np.argsort(times, kind="stable")] = np.arange(len(times))
        rows = np.unique(np.stack([self.trajectory[used], rank[visit[used]], visit[used]], axis=1), axis=0)
        data = Visits(
            offsets=offsets_of(np.bincount(rows[:, 0], minlength=len(self.owner))),
            location=rows[:, 2].astype(np.int32),
            t=rows[:, 1],
            locations=tuple(str(number) for number in range(len(times))),
            owner=self.owner,
            owners="given",
        )
        made = Kcl(k=k, l=known, improve=0).run(data, rng=np.random.default_rng(0), engine=LocalEngine()).data
        kept = np.repeat(np.arange(len(made)), made.lengths) * len(times) + made.location
        return used & np.isin(self.trajectory * len(times) + visit, kept)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bikes", type=Path, help="a month of trips of Citi Bike")
    parser.add_argument("--checkins", type=Path, help="folder of the check-ins of New York")
    options = parser.parse_args()
    print("| data | k | l | way | visits kept | of them fine | information kept |\n|---|---|---|---|---|---|---|")
    if options.bikes:
        bikes = read_bikes(options.bikes)
        compare(bikes, 5, 1)
        compare(bikes, 5, 2)
    if options.checkins:
        compare(read_checkins(options.checkins), 5, 2)


def compare(data: Lifts, k: int, known: int) -> None:
    """Print a row for each of the three ways."""
    information = data.information()
    coarse = data.coarse_of[data.fine] + data.n_fine
    every = np.ones(len(data.fine), bool)
    stays = data.publish(data.fine, every, k, known)
    # A lifted visit says nothing beside a fine one of the same record that it covers.
    n = len(information)
    told = np.isin(data.trajectory * n + coarse, (data.trajectory * n + coarse)[stays])
    ways = {
        "fine ones, suppressed": (data.fine, every),
        "coarse ones for everybody": (coarse, every),
        "suppressed ones lifted": (np.where(stays, data.fine, coarse), stays | ~told),
    }
    for way, (visit, used) in ways.items():
        kept = data.publish(visit, used, k, known)
        share = (information[visit] * kept).mean()
        fine = (kept & (visit < data.n_fine)).mean()
        print(f"| {data.name} | {k} | {known} | {way} | {kept.mean():.1%} | {fine:.1%} | {share:.1%} |", flush=True)


def read_bikes(path: Path) -> Lifts:
    """Return the ends of trips, each trip a person: station and hour, or square kilometre and four hours."""
    table = pl.read_csv(path)
    when = [table[name].str.to_datetime(strict=False).to_numpy() for name in ("Start Time", "Stop Time")]
    at = np.stack(when, axis=1).ravel().astype("datetime64[s]")
    station, lon, lat = (
        np.stack([table[f"{end} Station {what}"].to_numpy() for end in ("Start", "End")], axis=1).ravel()
        for what in ("ID", "Longitude", "Latitude")
    )
    weekend, hour = day_and_hour(at)
    cell = np.floor(lon * 84) * 100_000 + np.floor(lat * 111)
    return lifts(
        "bike trips", np.arange(len(table)), np.repeat(np.arange(len(table)), 2), station, cell, weekend, hour, 1
    )


def read_checkins(folder: Path) -> Lifts:
    """Return the check-ins of people: kind of place, or its family, and four hours."""
    table = pl.read_csv(folder / "Foursquare_Sample.csv.gz", infer_schema_length=10_000)
    parts = [pl.read_csv(folder / f"specific_{part}.csv.gz").select("tid", "label") for part in ("train", "test")]
    table = table.join(pl.concat(parts).unique("tid", maintain_order=True), on="tid")
    when = pl.col("date_time").cast(pl.String).str.slice(0, 19).str.replace("T", " ")
    table = table.with_columns(when.str.to_datetime("%Y-%m-%d %H:%M:%S", strict=False).alias("at"))
    table = table.drop_nulls(["type", "root_type", "at"])
    weekend, hour = day_and_hour(table["at"].to_numpy().astype("datetime64[s]"))
    trajectory, person, kind, family = (codes(table[name].to_numpy()) for name in ("tid", "label", "type", "root_type"))
    owner = np.zeros(trajectory.max() + 1, np.int64)
    owner[trajectory] = person
    return lifts("check-ins", owner, trajectory, kind, family, weekend, hour, 4)


def lifts(
    name: str, owner: Array, trajectory: Array, place: Array, zone: Array, weekend: Array, hour: Array, width: int
) -> Lifts:
    """Return visits to places in `width` hours, with zones in four hours as their coarse form."""
    fine, of = np.unique(np.stack([24 * weekend + hour // width * width, place], axis=1), axis=0, return_inverse=True)
    coarse, up = np.unique(np.stack([24 * weekend + hour // 4 * 4, zone], axis=1), axis=0, return_inverse=True)
    coarse_of = np.zeros(len(fine), np.int64)
    coarse_of[of.ravel()] = up.ravel()
    return Lifts(
        name=name,
        owner=owner,
        trajectory=trajectory,
        fine=of.ravel(),
        coarse_of=coarse_of,
        time_of_fine=fine[:, 0].astype(np.int64),
        time_of_coarse=coarse[:, 0].astype(np.int64),
    )


def day_and_hour(at: Array) -> tuple[Array, Array]:
    """Return 1 on Saturdays and Sundays, and the hour of the day."""
    weekend = (at.astype("datetime64[D]").astype(np.int64) + 3) % 7 >= 5
    return weekend.astype(np.int64), at.astype(np.int64) // 3600 % 24


def codes(values: Array) -> Array:
    return np.unique(values.astype(str), return_inverse=True)[1].ravel()


if __name__ == "__main__":
    main()
