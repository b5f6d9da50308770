"""A large crowd on the driver: in a few bytes per visit, and with the result of the usual types."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from wayveil.engines import LocalEngine
from wayveil.methods.kcl import Kcl, kcl_solver
from wayveil.methods.kcl.kcl_joined import NumberedPiece, join_records, split_by_piece
from wayveil.methods.kcl.kcl_strategies import EncodedVisits, Sequences
from wayveil.model.data.ragged import offsets_of
from wayveil.pipeline.blocks.store import Disk


def crowd(seed: int, people: int = 40, n_items: int = 9) -> EncodedVisits:
    """People with several trajectories each, in no order within a piece of ten people."""
    rng = np.random.default_rng(seed)
    owner = np.concatenate([rng.permutation(np.repeat(np.arange(p, p + 10), 3))[:22] for p in range(0, people, 10)])
    has = rng.random((len(owner), n_items)) < 0.5
    return EncodedVisits(
        offsets=offsets_of(has.sum(axis=1)),
        item=np.nonzero(has)[1].astype(np.int32),
        owner=owner,
        value=rng.integers(-1, 2, (len(owner), 2)).astype(np.int32),
        n_items=n_items,
        n_values=2,
    )


def in_pieces(whole: EncodedVisits, folder: Path) -> tuple[Disk, list[NumberedPiece]]:
    store = Disk(folder=folder)
    pieces = []
    lengths = np.diff(whole.offsets)
    for number in range(4):
        who = whole.owner // 10 == number
        part = EncodedVisits(
            offsets=offsets_of(lengths[who]),
            item=whole.item[np.repeat(who, lengths)],
            owner=whole.owner[who] + (number << 32),
            value=whole.value[who],
            n_items=whole.n_items,
            n_values=whole.n_values,
        )
        name = store.save(part, f"numbered/{number}")
        pieces.append(NumberedPiece(name=name, visits=len(part.item), trajectories=len(part.owner)))
    return store, pieces


@pytest.mark.parametrize("seed", range(3))
def test_joined_records_are_those_of_everybody_in_small_types(seed: int, tmp_path: Path) -> None:
    whole = crowd(seed)
    store, pieces = in_pieces(whole, tmp_path)
    expected, rows = whole.records()
    got = join_records(store, pieces)
    for name in expected._fields:
        assert np.array_equal(getattr(got, name), getattr(expected, name)), name
    assert [getattr(got, name).dtype for name in ("items", "owner", "sensitive", "alive")] == ["i4", "i4", "i4", "i1"]
    by_record = np.random.default_rng(seed).random(len(whole.item)) < 0.5
    by_row = np.empty_like(by_record)
    by_row[rows] = by_record
    assert np.array_equal(np.concatenate(list(split_by_piece(store, pieces, by_record))), by_row)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "asked", [{"k": 3, "c": "0.6", "l": 2}, {"k": 9, "c": "0.7", "l": 3}, {"k": 12, "c": 1, "l": 2}]
)
def test_small_types_give_the_same_choice(
    asked: dict[str, Any], seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kcl_solver, "MOST_VISITS", 0)
    monkeypatch.setattr("wayveil.methods.kcl.kcl_strategies.MOST_ALONE", 0)
    monkeypatch.setattr("wayveil.methods.kcl.kcl_strategies._COUNTED_AT_ONCE", 7)
    whole = crowd(seed)
    store, pieces = in_pieces(whole, tmp_path)
    solver = Kcl(**asked).solver
    engine = LocalEngine(workers=1)
    usual = solver.choose(solver.instance(whole, people=40), lambda: Sequences(n_violating=0), engine)
    small = solver.instance_of(join_records(store, pieces), None, people=40, only_shared=True)
    choice = solver.choose(small, lambda: Sequences(n_violating=0), engine)
    kept = np.concatenate(list(split_by_piece(store, pieces, choice.keep)))
    assert 0 < kept.sum() < len(kept)
    assert np.array_equal(kept, usual.keep)
    assert choice.facts == usual.facts
