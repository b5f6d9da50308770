"""Slices against a plain loop over rows."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.errors import InputError, ParameterError
from wayveil.model import Coded, RoadNetwork, Routes
from wayveil.model.data.ragged import offsets_of
from wayveil.steps.roads.slices import Slices

NETWORK = RoadNetwork.from_roads([("ab", "a", "b"), ("ba", "b", "a")])
DAY = 86_400


def routes_of(records: list[list[int]], time_format: str = "epoch") -> Routes:
    """Trajectories that go to and fro, and enter roads at these times."""
    lengths = np.array([len(record) for record in records], np.int64)
    n = len(records)
    return Routes(
        offsets=offsets_of(lengths),
        road=np.array([i % 2 for record in records for i in range(len(record))]),
        t=np.array([t for record in records for t in record], np.int64),
        t_start=np.zeros(n),
        t_end=np.zeros(n),
        network=NETWORK,
        owner=np.arange(n) // 2,
        attributes={"kind": Coded.from_values([f"k{i}" for i in range(n)])},
        time_format=time_format,  # type: ignore[arg-type]
        owners="given",
    )


def times(routes: Routes) -> list[list[int]]:
    return [routes.t[routes.offsets[i] : routes.offsets[i + 1]].tolist() for i in range(len(routes))]


def check(records: list[list[int]], step: Slices, slice_of) -> None:  # type: ignore[no-untyped-def]
    """Compare with cutting row by row; `slice_of` is (begin, end) of a time, or None outside."""
    data = routes_of(records)
    parts, notes, source = step.run_with_origin(data)
    expected: list[tuple[int, tuple[int, int], list[tuple[int, int]]]] = []
    for i, record in enumerate(records):
        last = None
        for row, t in enumerate(record):
            found = slice_of(t)
            if found is not None:
                if found != last:
                    expected.append((i, found, []))
                expected[-1][2].append((row % 2, t))
            last = found
    assert times(parts) == [[t for _, t in rows] for _, _, rows in expected]
    assert parts.road.tolist() == [road for _, _, rows in expected for road, _ in rows]
    assert source.tolist() == [i for i, _, _ in expected]
    assert list(zip(parts.t_start.tolist(), parts.t_end.tolist(), strict=True)) == [one for _, one, _ in expected]
    assert parts.owner.tolist() == [i // 2 for i, _, _ in expected]
    assert parts.attributes["kind"].values() == [f"k{i}" for i, _, _ in expected]
    assert (parts.owners, parts.time_format, parts.network) == ("given", "epoch", NETWORK)
    lost = data.n_rows - parts.n_rows
    assert any("outside all frames" in note for note in notes) == (lost > 0)
    assert step.run(data)[1] == notes


walks = st.lists(st.integers(-200, 400), max_size=8).map(sorted)


@given(st.lists(walks, max_size=5), st.integers(1, 150))
@settings(deadline=None, max_examples=150)
def test_uniform_slices_match_a_plain_loop(records: list[list[int]], width: int) -> None:
    if any(t for record in records for t in record):
        check(records, Slices(width=width), lambda t: (t // width * width, t // width * width + width))


def frame_of(t: int) -> tuple[int, int] | None:
    """06:00-10:00, 22:00-02:00 and 10:00-10:30, tried on three days."""
    for day in range(t // DAY - 1, t // DAY + 1):
        for begin, end in ((6, 10), (22, 26), (10, 10.5)):
            low, high = day * DAY + begin * 3600, day * DAY + int(end * 3600)
            if low <= t < high:
                return low, high
    return None


days = st.lists(st.integers(-2 * 48 * 2, 2 * 48 * 2).map(lambda half: half * 900), max_size=8).map(sorted)


@given(st.lists(days, max_size=5), st.sampled_from([0, 1, 899]))
@settings(deadline=None, max_examples=150)
def test_frames_match_a_plain_loop(records: list[list[int]], shift: int) -> None:
    records = [[t + shift for t in record] for record in records]
    if any(t for record in records for t in record):
        check(records, Slices(frames="06:00-10:00, 22:00-2:00,10:00-10:30"), frame_of)


def test_frames_of_dates_are_of_their_clock() -> None:
    at = [datetime(2024, 5, 1, hour, minute, tzinfo=UTC) for hour, minute in ((5, 59), (6, 0), (9, 59), (10, 0))]
    data = routes_of([[int(moment.timestamp()) * 1_000_000 for moment in at]], "utc")
    parts, notes = Slices(frames="06:00-10:00").run(data)
    assert times(parts) == [[int(moment.timestamp()) * 1_000_000 for moment in at[1:3]]]
    begin = int(datetime(2024, 5, 1, 6, tzinfo=UTC).timestamp()) * 1_000_000
    assert (parts.t_start[0], parts.t_end[0]) == (begin, begin + 4 * 3_600_000_000)
    assert notes == (
        "Cutting at the borders of the frames 06:00-10:00 made 1 trajectory of 1, in 1 slice.",
        "2 of 4 rows were dropped: they were entered outside all frames.",
    )


def test_notes_count_what_is_lost() -> None:
    _, notes = Slices(frames="00:00-01:00").run(routes_of([[10, 20], [3600], [30]]))
    assert notes == (
        "Cutting at the borders of the frames 00:00-01:00 made 2 trajectories of 3, in 1 slice.",
        "1 of 4 rows was dropped: it was entered outside all frames.",
        "1 of 3 trajectories has no row left.",
    )
    _, notes = Slices(width="1h").run(routes_of([[10, 20], [3600], [], []]))
    assert notes == (
        "Cutting at the borders of slices of 1h made 2 trajectories of 4, in 2 slices.",
        "2 of 4 trajectories have no row left.",
    )


def test_all_day_is_one_slice_a_day() -> None:
    data = routes_of([[1, DAY - 1, DAY, DAY + 1]])
    for frames in ("00:00-24:00", "00:00-00:00"):
        parts, _ = Slices(frames=frames).run(data)
        assert times(parts) == [[1, DAY - 1], [DAY, DAY + 1]]
    parts, _ = Slices(frames="12:00-12:00").run(data)
    assert list(zip(parts.t_start.tolist(), parts.t_end.tolist(), strict=True)) == [
        (-DAY // 2, DAY // 2),
        (DAY // 2, DAY // 2 + DAY),
    ]


@pytest.mark.parametrize("step", [Slices(width=10), Slices(frames="06:00-10:00")])
def test_no_data_is_no_mistake(step: Slices) -> None:
    parts, _, source = step.run_with_origin(routes_of([]))
    assert (len(parts), len(source)) == (0, 0)
    parts, notes, _ = step.run_with_origin(routes_of([[], []]))
    assert len(parts) == 0
    assert "made 0 trajectories of 2, in 0 slices" in notes[0]


@pytest.mark.parametrize(
    "frames",
    ["", "6-10", "06:00", "06:00-10:60", "06:60-10:00", "24:00-01:00", "06:00-24:01", "06:00-10:00,", "a:b-c:d"],
)
def test_frames_that_are_no_times(frames: str) -> None:
    with pytest.raises(ParameterError, match=r"frames must be times of the day such as 06:00-10:00,16:00-19:00"):
        Slices(frames=frames)


@pytest.mark.parametrize(
    "frames", ["06:00-10:00,09:59-12:00", "22:00-06:01,06:00-07:00", "06:00-06:00,12:00-13:00", "1:00-2:00,1:00-2:00"]
)
def test_frames_that_overlap(frames: str) -> None:
    with pytest.raises(ParameterError, match="frames must not overlap"):
        Slices(frames=frames)


def test_frames_that_meet_do_not_overlap() -> None:
    assert Slices(frames="22:00-06:00,06:00-22:00").frames == "22:00-06:00,06:00-22:00"


@pytest.mark.parametrize("given_both", [{}, {"width": "1h", "frames": "06:00-10:00"}])
def test_either_width_or_frames(given_both: dict) -> None:
    with pytest.raises(ParameterError, match="give either width or frames"):
        Slices(**given_both)


def test_times_that_cannot_be_cut() -> None:
    with pytest.raises(InputError, match="plain integers and have no days"):
        Slices(frames="06:00-10:00").run(routes_of([[1]], "integer"))
    with pytest.raises(InputError, match="the routes have no times"):
        Slices(width=10).run(routes_of([[0, 0]]))
    for t in (np.iinfo(np.int64).min + 1, np.iinfo(np.int64).max - 1):
        for step in (Slices(width=100), Slices(frames="06:00-10:00")):
            with pytest.raises(InputError, match="too close to the limits of 64-bit integers"):
                step.run(routes_of([[t]]))
    data = replace(routes_of([[5]]), time_format="utc")
    with pytest.raises(InputError, match="width needs a unit"):
        Slices(width=10).run(data)
