"""Recoding along a hierarchy of places and times before `kcl` suppresses: for all, for a subtree, or visit by visit.

    python benchmarks/studies/study_recoding.py --bikes FOLDER/JC-201601-citibike-tripdata.csv.gz
    python benchmarks/studies/study_recoding.py --checkins FOLDER/Foursquare_Sample.csv.gz

Prints the tables of docs/research/methods/kcl.md.  A visit has a chain of forms, each of which covers the one before: a
station and an hour, the station and four hours, a cell of 500 m and four hours, and so on.  Compared with the same k
and l are

- one level for all visits (what `fold`, `bucket` and `zones` do),
- a cut: the finest cells of the hierarchy that do not overlap and each have visits of so many people,
- lifting: what `kcl` takes out becomes one level coarser, in that trajectory only, and `kcl` runs again.

With lifting, visits of a trajectory below a lifted one become that one, too, so that nothing known about a trajectory
fits two of its visits.  A visit keeps 1 - log(finest forms that it covers) / log(all finest forms) of its information.
"""

from __future__ import annotations

import argparse
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from wayveil.cli.app import main as wayveil
from wayveil.engines import LocalEngine
from wayveil.methods import Kcl
from wayveil.model import Visits, seconds_per_unit
from wayveil.model.data.ragged import offsets_of, trajectory_of_row
from wayveil.pipeline.input import load
from wayveil.recipe.recipe import load_recipe

Array = np.ndarray

_HOUR_S = 3600
_DAY_S = 86_400
_FIRST_WEEKDAY = 3  # 1 January 1970 was a Thursday, three days behind a Monday
_CROWDS = (5, 10, 25, 50)


class Hierarchy:
    """Visits, one entry each: the trajectory, its owner, and the form of the visit at every level, finest first."""

    def __init__(self, trajectory: Array, owner: Array, levels: list[Array], k: int, known: int) -> None:
        self.trajectory = trajectory
        self.owner = owner
        self.levels = levels
        self.method = Kcl(k=k, l=known)
        finest = int(levels[0].max()) + 1
        self.first = np.cumsum([0, *(int(level.max()) + 1 for level in levels)])
        covered = [np.unique(np.stack([level, levels[0]], axis=1), axis=0)[:, 0] for level in levels]
        self.information = np.concatenate([1 - np.log(np.bincount(one)) / np.log(finest) for one in covered])

    def publish(self, level: Array) -> tuple[Array, Array]:
        """Return which visits stay if each is published at its level, and the form that each has there."""
        forms = np.stack([one + first for one, first in zip(self.levels, self.first[:-1], strict=True)])
        form = forms[level, np.arange(len(level))]
        rows, row = np.unique(np.stack([self.trajectory, form], axis=1), axis=0, return_inverse=True)
        owner = np.zeros(int(self.trajectory.max()) + 1, np.int64)
        owner[self.trajectory] = self.owner
        # `kcl` asks which visits come together and never for their order, so the number of a form is its time.
        data = Visits(
            offsets=offsets_of(np.bincount(rows[:, 0], minlength=len(owner))),
            location=rows[:, 1],
            t=rows[:, 1],
            locations=tuple(map(str, range(self.first[-1]))),
            owner=owner,
            time_format="integer",
            owners="given",
        )
        solver = self.method.solver
        numbered = solver.encode(data)
        instance = solver.instance(numbered, people=data.n_owners)
        choice = solver.choose(instance, partial(solver.find, instance), LocalEngine(workers=1))
        return choice.keep[row.reshape(-1)], form

    def tell(self, name: str, level: Array) -> None:
        """Publish and print a line of the table."""
        stays, form = self.publish(level)
        information = float((self.information[form] * stays).mean())
        print(f"| {name} | {stays.mean():.1%} | {information:.1%} |", flush=True)

    def cut(self, people: int) -> Array:
        """Return the level of each visit: a node is split while all nodes below it have visits of enough people."""
        level = np.full(len(self.owner), len(self.levels) - 1)
        for finer in range(len(self.levels) - 2, -1, -1):
            pairs = np.unique(np.stack([self.levels[finer], self.owner], axis=1), axis=0)
            sparse = np.bincount(pairs[:, 0])[self.levels[finer]] < people
            blocked = np.isin(self.levels[finer + 1], self.levels[finer + 1][sparse])
            level[(level == finer + 1) & ~blocked] = finer
        return level

    def lift(self, start: int) -> Array:
        """Return the level of each visit after what was taken out became coarser, round by round."""
        level = np.full(len(self.owner), start)
        for _ in range(start, len(self.levels) - 1):
            stays, _ = self.publish(level)
            level = self._without_overlap(np.where(stays, level, np.minimum(level + 1, len(self.levels) - 1)))
        return level

    def _without_overlap(self, level: Array) -> Array:
        """Lift visits of a trajectory below one of its lifted visits, until no visit covers another."""
        while True:
            lifted = level.copy()
            for above in range(1, len(self.levels)):
                pairs = np.stack([self.trajectory, self.levels[above]], axis=1)
                node = np.unique(pairs, axis=0, return_inverse=True)[1].reshape(-1)
                taken = np.zeros(int(node.max()) + 1, np.bool_)
                taken[node[level == above]] = True
                lifted = np.where(taken[node] & (lifted < above), above, lifted)
            if (lifted == level).all():
                return level
            level = lifted


def _read(path: Path) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        recipe = Path(folder, "recipe.toml")
        if wayveil(["inspect", str(path), "--each-trajectory-is-a-person", "--write", str(recipe)]) != 0:
            raise SystemExit(2)
        return load(load_recipe(recipe).input, attributes=()).data


def _code(*columns: Array) -> Array:
    return np.unique(np.stack(columns, axis=1).astype(np.int64), axis=0, return_inverse=True)[1].reshape(-1)


def _hierarchy(data: Any, k: int, known: int) -> tuple[Hierarchy, list[str]]:
    trajectory = trajectory_of_row(data.offsets)
    owner = data.owner[trajectory]
    seconds = data.times() // round(1 / (seconds_per_unit(data.time_format) or 1))
    hour = seconds // _HOUR_S % 24
    weekend = (seconds // _DAY_S + _FIRST_WEEKDAY) % 7 >= 5
    x, y = data.positions()

    def cells(side: int) -> tuple[Array, Array]:
        return np.floor(x / side), np.floor(y / side)

    if data.trip_ends:
        arrives = np.array([name.startswith("to ") for name in data.locations])[data.location]
        sides = ((500, 4), (1000, 4), (1000, 12), (2000, 12))
        levels = [_code(data.location, hour // part, weekend) for part in (1, 4)]
        levels += [_code(arrives, *cells(side), hour // part, weekend) for side, part in sides]
        levels.append(_code(arrives, *cells(4000)))
        names = ["station, 1 h", "station, 4 h", *(f"{side} m, {part} h" for side, part in sides), "4000 m, any time"]
        return Hierarchy(trajectory, owner, levels, k, known), names
    sides = ((500, 2), (500, 4), (1000, 4), (2000, 4), (4000, 12), (8000, 12))
    levels = [_code(*cells(side), hour // part, weekend) for side, part in sides]
    levels.append(_code(*cells(16_000)))
    names = [*(f"{side} m, {part} h" for side, part in sides), "16000 m, any time"]
    days = _code(trajectory, seconds // _DAY_S)  # one trajectory per day of a person, as `fold` makes them
    return Hierarchy(days, owner, levels, k, known), names


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--bikes", type=Path)
    source.add_argument("--checkins", type=Path)
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--l", type=int, default=2)
    options = parser.parse_args()
    hierarchy, names = _hierarchy(_read(options.bikes or options.checkins), options.k, options.l)
    every = np.ones(len(hierarchy.owner), np.int64)
    print("| recoding | visits kept | information |\n|---|---|---|")
    for level, name in enumerate(names):
        hierarchy.tell(f"all: {name}", level * every)
    for people in _CROWDS:
        hierarchy.tell(f"cut, {people} people", hierarchy.cut(people))
    for start in range(4):
        hierarchy.tell(f"lifted from: {names[start]}", hierarchy.lift(start))


if __name__ == "__main__":
    main()
