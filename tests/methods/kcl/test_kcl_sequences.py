"""Sequences counted in pieces are those of one search; what is decided with them is what one machine would decide."""

from __future__ import annotations

from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from wayveil.engines import LocalEngine
from wayveil.errors import InputError
from wayveil.methods.kcl import Kcl, kcl_pieces, kcl_sequences, kcl_solver
from wayveil.methods.kcl.kcl_sequences import Counting, count_sequences, joined_sequences, locate, save_threats
from wayveil.methods.kcl.kcl_solver import KclSolver
from wayveil.methods.kcl.kcl_strategies import EncodedVisits
from wayveil.model.data.ragged import offsets_of
from wayveil.pipeline.blocks.store import Disk
from wayveil.pipeline.publish import publish
from wayveil.recipe.recipe import make_recipe

ENGINE = LocalEngine(workers=1)
ONE, TWO = {"ill": ["flu", "hiv"]}, {"ill": ["flu"], "job": ["nurse"]}


def crowd(rng: np.random.Generator, people: int, n_items: int, attributes: int) -> EncodedVisits:
    owner = np.sort(rng.integers(0, people, rng.integers(people, 2 * people)))
    has = rng.random((len(owner), n_items)) < rng.uniform(0.2, 0.7)
    return EncodedVisits(
        offsets=offsets_of(has.sum(axis=1)),
        item=np.nonzero(has)[1].astype(np.int32),
        owner=owner * 1000,
        value=rng.integers(-1, 2, (len(owner), attributes)).astype(np.int32),
        n_items=n_items,
        n_values=2 if attributes else 0,
    )


def part_of(whole: EncodedVisits, who: Any) -> EncodedVisits:
    lengths = np.diff(whole.offsets)
    rows = np.repeat(who, lengths)
    return EncodedVisits(
        offsets=offsets_of(lengths[who]), item=whole.item[rows], owner=whole.owner[who], value=whole.value[who],
        n_items=whole.n_items, n_values=whole.n_values,
    )  # fmt: skip


def as_sets(table: Any) -> list[tuple[int, ...]]:
    rows = table.rows[: table.n_rows[0] * table.width].reshape(-1, table.width).tolist()
    return [tuple(row[1 : 1 + row[0]]) for row in rows]


def told_of_common(common: Any) -> dict[tuple[int, ...], Any]:
    return {
        q: (
            int(common.clean[row]),
            int(common.support[row]),
            {int(common.value[e]): int(common.having[e]) for e in range(common.entry[row], common.entry[row + 1])},
        )
        for row, q in enumerate(as_sets(common.table))
    }


@pytest.mark.parametrize("occurrences", [7, 10**6])
@pytest.mark.parametrize("longest", [1, 2, 3, 4, "all"])
def test_pieces_have_the_sequences_of_everything(longest: Any, occurrences: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    for case in range(12):
        people, n_items, attributes = int(rng.integers(4, 14)), int(rng.integers(1, 7)), int(rng.integers(0, 2))
        whole = crowd(rng, people, n_items, attributes)
        asked = Kcl(k=int(rng.integers(1, 4)), c=["0.3", "0.5", "1"][case % 3], l=longest, accept_absence="yes")
        method = KclSolver(params=asked)
        piece = (whole.owner // 1000) * 3 // people
        parts = [part_of(whole, piece == p) for p in range(3) if (piece == p).any()]
        store = Disk(folder=tmp_path / f"scratch-{case}")
        store.folder.mkdir()
        files = [store.save(part, f"pieces/{i}") for i, part in enumerate(parts)]
        n_people = len(np.unique(whole.owner))
        counting = Counting(
            solver=method, people=n_people, n_items=n_items, n_values=whole.n_values, occurrences=occurrences,
            store=store,
        )  # fmt: skip
        expected = method.find(method.instance(whole, people=n_people))
        counted = count_sequences(counting, files, ENGINE, listed=True)
        threats = store.load(save_threats(counting, counted))
        got = joined_sequences(threats, [locate(threats, part) for part in parts], [len(p.owner) for p in parts])
        assert got.n_violating == expected.n_violating == counted.n_violating
        assert told_of_common(got.common) == told_of_common(expected.common)
        n, at = got.n_violating, expected.violating.first
        assert as_sets(got.violating.table) == as_sets(expected.violating.table)  # in the order that breaks ties
        assert got.violating.first.tolist() == at[: n + 1].tolist()
        assert got.violating.record.tolist() == expected.violating.record[: at[n]].tolist()
        numbers = count_sequences(counting, files, ENGINE, listed=False)
        assert numbers.n_violating == n
        assert not any(map(len, numbers.violating))
        assert [path.name for path in (tmp_path / f"scratch-{case}/sequences").iterdir()] == ["threats.pickle"]


def test_ranges_are_cut_by_what_all_pieces_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = crowd(np.random.default_rng(4), 8, 6, 0)
    parts = [part_of(whole, whole.owner < 3000), part_of(whole, whole.owner >= 3000)]
    store = Disk(folder=tmp_path)
    files = [store.save(part, str(i)) for i, part in enumerate(parts)]
    cut, plain = [], kcl_sequences._ranges

    def seeing(ahead: Any, occurrences: int) -> Any:
        cut.append(float(ahead.sum()))
        return plain(ahead, occurrences)

    monkeypatch.setattr(kcl_sequences, "_ranges", seeing)
    solver = KclSolver(params=Kcl(k=1, c=1, l=3, accept_absence="yes"))
    counting = Counting(solver=solver, people=8, n_items=6, n_values=0, occurrences=20, store=store)
    count_sequences(counting, files, ENGINE, listed=False)
    lengths = np.diff(whole.offsets).tolist()
    assert cut[1:] == [sum(comb(n, size) for n in lengths) for size in (2, 3)]


def test_more_common_sequences_than_can_be_counted_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = crowd(np.random.default_rng(2), 6, 6, 0)
    method = KclSolver(params=Kcl(k=1, c=1, l=3, accept_absence="yes"))
    store = Disk(folder=tmp_path)
    file = store.save(whole, "piece")
    counting = Counting(solver=method, people=6, n_items=6, n_values=0, occurrences=100, store=store)
    n = sum(len(level.items) for level in count_sequences(counting, [file], ENGINE, listed=True).common)
    for more, listed in [(0, True), (0, False), (-1, True), (-1, False)]:
        monkeypatch.setattr(kcl_solver, "MOST_BYTES", (n + more) * (8 * 4 + 100))
        if more == 0:
            count_sequences(counting, [file], ENGINE, listed=listed)
        else:
            with pytest.raises(InputError, match=f"more than {n - 1:,} sequences of visits are shared by k = 1 people"):
                count_sequences(counting, [file], ENGINE, listed=listed)


def test_ranges_hold_about_as_many_occurrences() -> None:
    ahead = np.random.default_rng(3).random(1000)
    ranges = kcl_sequences._ranges(ahead, 20)
    assert [a for a, _ in ranges] == [0, *(b for _, b in ranges[:-1])]
    assert ranges[-1][1] == 1000
    assert all(18 < ahead[a:b].sum() < 22 for a, b in ranges)
    assert len(kcl_sequences._ranges(ahead, 10**9)) == 1
    assert len(kcl_sequences._ranges(np.full(1000, 1e15), 1)) == 256
    assert kcl_sequences._ranges(np.array([0.0, 9.0, 0.0]), 2) == [(0, 2), (2, 3)]
    assert kcl_sequences._ranges(np.zeros(2), 5) == [(0, 2)]


def frame(seed: int) -> pl.DataFrame:
    numbers, rows = np.random.default_rng(seed), []
    for trip in range(60):
        person = trip % 40
        for t in range(4):
            if numbers.random() < 0.7:
                ill, job = ("flu", "hiv", "no", "no")[person % 4], "nurse" if person % 3 == 0 else "other"
                rows.append((f"T{trip}", f"P{person}", t, "aab"[int(numbers.integers(3))], ill, job, f"N{trip}"))
    return pl.DataFrame(rows, orient="row", schema=["traj_id", "user_id", "t", "location", "ill", "job", "name"])


def published(folder: Path, asked: dict[str, Any]) -> tuple[list[Any], dict[str, str]]:
    outcome = publish(
        make_recipe(
            {
                "seed": 6, "input": {"path": str(folder / "in.csv")}, "method": {"name": "kcl", **asked},
                "blocks": {"by": "whole", "rows": 30}, "attacks": [], "metrics": [],
                "output": {"path": str(folder / "out"), "format": "csv", "keep": ["name"], "overwrite": True},
            }
        ),
        engine=ENGINE,
    )  # fmt: skip
    tables = [pl.read_csv(file) for file in sorted((folder / "out/public").glob("published*.csv"))]
    return pl.concat(tables).select("name", "t", "location").sort("name", "t").rows(), dict(outcome.output_facts)


def published_at_once(folder: Path, asked: dict[str, Any]) -> tuple[list[Any], dict[str, str]]:
    """The same, decided by one search through the records of everybody."""

    def search(counting: Counting, names: list[str], engine: Any, *, listed: bool) -> Any:
        everybody = kcl_pieces._joined([kcl_pieces._Shipped(numbered=counting.store.load(name)) for name in names])
        return counting.solver.find(counting.solver.instance(everybody, people=counting.people))

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(KclSolver, "needs_everybody", lambda *_: True)
        patched.setattr(kcl_pieces, "_count_all", search)
        return published(folder, asked)


SETTINGS: list[dict[str, Any]] = [
    {"k": 3, "c": "0.5", "l": 2, "sensitive": ONE},
    {"k": 6, "c": "0.4", "l": 3, "sensitive": TWO},
    {"k": 5, "c": 1, "l": "all"},
    {"k": 6, "c": "0.5", "l": 3, "sensitive": ONE, "restore": "no"},
    {"k": 4, "c": "0.4", "l": 2, "sensitive": TWO, "restore": "no"},
    {"k": 6, "c": "0.5", "l": 3, "sensitive": ONE, "suppression": "global"},
    {"k": 4, "c": "0.6", "l": 2, "sensitive": TWO, "suppression": "global"},
    {"k": 5, "c": 1, "l": 3, "preserve": "mfs", "min_support": 6},
    {"k": 5, "c": 1, "l": 3, "preserve": "mfs", "min_support": 6, "suppression": "global"},
]


@pytest.mark.parametrize("asked", SETTINGS, ids=lambda asked: "-".join(str(v) for v in asked.values()))
def test_pieces_publish_what_one_machine_publishes(asked: dict[str, Any], tmp_path: Path) -> None:
    for seed in range(2):
        frame(seed).write_csv(tmp_path / "in.csv")
        visits, told = published_at_once(tmp_path, asked)
        assert visits
        assert published(tmp_path, asked) == (visits, told)


def test_absence_cannot_be_hidden_in_pieces(tmp_path: Path) -> None:
    frame(0).write_csv(tmp_path / "in.csv")
    with pytest.raises(InputError, match="hide_absence must be no where the data are published in pieces, got yes"):
        published(tmp_path, {"k": 3, "c": "0.5", "l": 2, "sensitive": ONE, "hide_absence": "yes"})
    assert not (tmp_path / "out").exists()


def test_large_data_are_built_up_in_pieces_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kcl_solver, "MOST_VISITS", 10)
    located: list[Any] = []
    monkeypatch.setattr(kcl_pieces, "locate", lambda *arguments: located.append(arguments))
    for seed in range(2):
        frame(seed).write_csv(tmp_path / "in.csv")
        asked = {"k": 4, "c": "0.5", "l": 3, "sensitive": ONE}
        assert published(tmp_path, asked) == published_at_once(tmp_path, asked)
    assert not located  # nobody needs to know where violating sequences are


@pytest.mark.parametrize(
    ("asked", "trips", "all_travel"),
    [({"restore": "yes"}, 1, True), ({"restore": "no"}, 1, False), ({"restore": "no"}, 2, True)],
)
def test_who_has_nothing_violating_travels_only_where_it_matters(
    asked: dict[str, Any], trips: int, all_travel: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [(f"Q{i}", "quiet", t) for i in range(20) for t in (1, 2)]
    rows += [(f"L{i}", "loud", t) for i in range(9) for t in (1, 2)] + [("L0", "quiet", 3), ("L1", "loud", 3)]
    rows += [(f"R{i}", "loud" if i % 2 else "quiet", 3) for i in range(10)]
    if trips == 2:
        rows += [("again", "quiet", 1)]  # where somebody has two, trajectories are counted, of everybody
    pl.DataFrame(rows, orient="row", schema=["traj_id", "location", "t"]).with_columns(
        name=pl.col("traj_id"), user_id=pl.col("traj_id").replace("again", "L0")
    ).write_csv(tmp_path / "in.csv")
    seen: list[Any] = []
    choose = KclSolver.choose

    def seeing(self: KclSolver, crowd: Any, *others: Any) -> Any:
        seen.append(crowd)
        return choose(self, crowd, *others)

    monkeypatch.setattr(KclSolver, "choose", seeing)
    method = {"k": 3, "c": 1, "l": 2, **asked}
    got = published(tmp_path, method)
    crowd = seen[-1]
    assert crowd.people == 39
    assert len(crowd.records.offsets) - 1 == (38 + trips if all_travel else 2)
    assert int(crowd.elsewhere.sum()) == (0 if all_travel else len(rows) - 6)
    assert got == published_at_once(tmp_path, method)
