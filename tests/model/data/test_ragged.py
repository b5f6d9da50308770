"""Flat columns with offsets against lists of lists."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.model.data.ragged import frozen, keep_rows, offsets_of, take, trajectory_of_row

lists = st.lists(st.lists(st.integers(0, 99), max_size=4), max_size=6)


def flat(lists: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    return offsets_of(np.array([len(x) for x in lists], np.int64)), np.array([v for x in lists for v in x], np.int64)


def nested(offsets: np.ndarray, values: np.ndarray) -> list[list[int]]:
    return [values[a:b].tolist() for a, b in pairwise(offsets)]


@given(lists)
@settings(deadline=None)
def test_offsets(made: list[list[int]]) -> None:
    offsets, values = flat(made)
    assert offsets.dtype == np.int64
    assert nested(offsets, values) == made
    assert trajectory_of_row(offsets).tolist() == [i for i, x in enumerate(made) for _ in x]


@given(lists, st.data())
@settings(deadline=None)
def test_rows_that_are_kept(made: list[list[int]], data: st.DataObject) -> None:
    offsets, values = flat(made)
    keep = np.array(data.draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values))), bool)
    expected = [[v for v, kept in zip(x, keep[a:], strict=False) if kept] for x, a in zip(made, offsets, strict=False)]
    assert nested(keep_rows(offsets, keep), values[keep]) == expected


@given(lists.filter(bool), st.data())
@settings(deadline=None)
def test_trajectories_that_are_taken(made: list[list[int]], data: st.DataObject) -> None:
    offsets, values = flat(made)
    chosen = data.draw(st.lists(st.integers(0, len(made) - 1), max_size=8))
    new, rows = take(offsets, np.array(chosen, np.int64))
    assert nested(new, values[rows]) == [made[i] for i in chosen]


def test_frozen_arrays_cannot_be_written_through_what_they_came_from() -> None:
    source = np.arange(5)
    for given_ in (source, source[1:], source[::2], source.astype(np.int32), source.tolist()):
        array = frozen(given_, np.int64)
        before = array.copy()
        assert not array.flags.writeable
        assert array.flags.c_contiguous
        source += 1
        assert array.tolist() == before.tolist()
    assert source.flags.writeable


def test_what_is_frozen_is_not_copied_again() -> None:
    array = frozen(np.arange(5), np.int64)
    assert frozen(array, np.int64) is array
    assert np.shares_memory(frozen(array[1:], np.int64), array)
