"""Workplaces: the rule restated, cases by hand around every limit, and data without times."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.errors import InputError, ParameterError
from wayveil.model import Stops, Taxonomy
from wayveil.steps.places.workplaces import Workplaces

TREE = Taxonomy.from_parents(
    [("Place", ""), ("Park", "Place"), ("Health", "Place"), ("C1", "Health"), ("C2", "Health"), ("P1", "Park")],
    sensitive=["Health"],
)
MONDAY = datetime(2024, 1, 1, tzinfo=UTC)
Visit = tuple[str, datetime, timedelta]
HOUR = timedelta(hours=1)


def on(day: int, hour: float = 9) -> datetime:
    """A time on a day, counted from a Monday."""
    return MONDAY + timedelta(days=day, hours=hour)


def stops_of(trips: list[tuple[int, list[Visit]]], unit: int = 1, **more: Any) -> Stops:
    def number(moment: datetime) -> int:
        return round((moment - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() * unit)

    return Stops.from_records(
        [[place for place, _, _ in trip] for _, trip in trips],
        taxonomy=TREE,
        owner=[owner for owner, _ in trips],
        times=[[(number(t), number(t + stay)) for _, t, stay in trip] for _, trip in trips],
        time_format="epoch" if unit == 1 else "utc",
        **more,
    )


def every(
    days: list[int], place: str = "C1", hour: float = 9, stay: timedelta = 8 * HOUR
) -> list[tuple[int, list[Visit]]]:
    """Trips of person 3 to one place."""
    return [(3, [(place, on(day, hour), stay)]) for day in days]


def left(trips: list[tuple[int, list[Visit]]], **parameters: Any) -> int:
    return Workplaces(**parameters).run(stops_of(trips))[0].n_rows


def oracle(
    trips: list[tuple[int, list[Visit]]], days: int, share: Fraction, begin: int, end: int, least: timedelta | None
) -> list[list[str]]:
    active, there = defaultdict(set), defaultdict(set)
    for owner, trip in trips:
        for place, t, stay in trip:
            if t.isoweekday() > 5:
                continue
            active[owner].add(t.date())
            hours = range(begin, end) if begin < end else [*range(begin, 24), *range(end)]
            if t.hour in hours and not (least and timedelta(0) < stay < least):
                there[owner, place].add(t.date())
    work = {
        (owner, place)
        for (owner, place), dates in there.items()
        if place in ("C1", "C2") and len(dates) >= days and Fraction(len(dates), len(active[owner])) >= share
    }
    return [[place for place, _, _ in trip if (owner, place) not in work] for owner, trip in trips]


visit = st.tuples(
    st.sampled_from(["C1", "C1", "C2", "P1"]),
    st.builds(on, st.integers(0, 8), st.sampled_from([0, 6.99, 7, 12, 18.99, 19, 23])),
    st.sampled_from([timedelta(0), HOUR, 2 * HOUR, 8 * HOUR]),
)
trip = st.lists(visit, max_size=4).map(lambda visits: sorted(visits, key=lambda v: v[1]))


@settings(deadline=None, max_examples=200)
@given(
    st.lists(st.tuples(st.integers(0, 2), trip), max_size=8), st.integers(1, 3),
    st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(1)]),
    st.sampled_from([(7, 19), (0, 24), (19, 7), (12, 13)]), st.sampled_from([None, 2, 3]),
    st.sampled_from([1, 1_000_000]),
)  # fmt: skip
def test_it_is_the_rule(
    trips: list[tuple[int, list[Visit]]],
    days: int,
    share: Fraction,
    hours: tuple[int, int],
    least: int | None,
    unit: int,
) -> None:
    data = stops_of(trips, unit)
    step = Workplaces(
        min_days=days,
        min_share=share,
        work_from=hours[0],
        work_to=hours[1],
        min_stay="none" if least is None else f"{least}h",
    )
    rest, notes = step.run(data)
    expected = oracle(trips, days, share, *hours, None if least is None else least * HOUR)
    assert [rest.record(i) for i in range(len(rest))] == expected
    gone = data.n_rows - rest.n_rows
    assert (
        f" {gone} of {int(data.sensitive.sum())} sensitive stops {'was' if gone == 1 else 'were'} left out." in notes[0]
    )
    assert rest.owner.tolist() == data.owner.tolist()


def test_five_weekdays_are_work_and_four_are_not() -> None:
    assert left(every([0, 1, 2, 3, 7])) == 0
    assert left(every([0, 1, 2, 3])) == 4
    assert left(every([0, 1, 2, 3, 3])) == 5  # twice on one day is one day
    assert left(every([0, 1, 2, 3, 5, 6])) == 6  # a weekend has no weekday
    assert left(every([0, 1, 2, 3]), min_days=4) == 0


def test_the_share_of_weekdays() -> None:
    others = [(3, [("P1", on(day), HOUR)]) for day in (8, 9, 10, 11, 14)]
    assert left(every([0, 1, 2, 3, 7]) + others) == 5
    one_more = [(3, [("P1", on(15), HOUR)])]
    assert left(every([0, 1, 2, 3, 7]) + others + one_more) == 11
    assert left(every([0, 1, 2, 3, 7]) + others + one_more, min_share="5/11") == 6
    of_others = [(4, [("P1", on(15), HOUR)])]
    assert left(every([0, 1, 2, 3, 7]) + others + of_others) == 6


def test_hours() -> None:
    week = [0, 1, 2, 3, 4]
    assert left(every(week, hour=6.99)) == 5
    assert left(every(week, hour=7)) == 0
    assert left(every(week, hour=18.99)) == 0
    assert left(every(week, hour=19)) == 5
    assert left(every(week, hour=23), work_from=22, work_to=6) == 0
    assert left(every(week, hour=5), work_from=22, work_to=6) == 0
    assert left(every(week, hour=6), work_from=22, work_to=6) == 5


def test_short_stops_are_no_work_where_it_is_known_how_long() -> None:
    week = [0, 1, 2, 3, 4]
    assert left(every(week, stay=2 * HOUR)) == 0
    assert left(every(week, stay=1.99 * HOUR)) == 5
    assert left(every(week, stay=0 * HOUR)) == 0
    assert left(every(week, stay=HOUR), min_stay="none") == 0


def test_all_stops_of_the_worker_there_go_and_no_others() -> None:
    trips = [*every([0, 1, 2, 3, 4]), (3, [("C1", on(5, 22), HOUR), ("C2", on(5, 23), HOUR)])]
    trips += [(8, [("C1", on(1), 8 * HOUR), ("P1", on(1, 20), HOUR)])]
    data = stops_of(trips)
    rest, notes = Workplaces().run(data)
    assert [rest.record(i) for i in range(len(rest))] == [[], [], [], [], [], ["C2"], ["C1", "P1"]]
    assert notes == ("1 of 2 people works at a sensitive place: 6 of 8 sensitive stops were left out.",)


def test_places_that_are_not_sensitive_stay() -> None:
    assert left(every([0, 1, 2, 3, 4], place="P1")) == 5


def test_without_times_nothing_is_judged() -> None:
    data = Stops.from_records([["C1"]] * 9, taxonomy=TREE, owner=[0] * 9)
    rest, notes = Workplaces(min_days=1).run(data)
    assert rest is data
    assert notes[0].startswith("The stops have no times")


def test_a_stop_without_a_time_is_on_no_weekday() -> None:
    """0 would be a Thursday of 1970."""
    trips = every([0, 1, 2, 3, 4])
    data = stops_of([*trips, (3, [("C1", datetime(1970, 1, 1, tzinfo=UTC), timedelta(0))])])
    assert Workplaces(min_share=Fraction(1)).run(data)[0].n_rows == 0
    assert Workplaces(min_days=6, work_from=0).run(data)[0].n_rows == 6


def test_integers_have_no_weekdays() -> None:
    data = Stops.from_records([["C1"]], taxonomy=TREE, times=[[(5, 9)]])
    with pytest.raises(InputError, match="plain integers without a calendar"):
        Workplaces().run(data)


def test_declared_owners_are_told() -> None:
    times = [[(1_704_099_600 + 86_400 * day, 1_704_130_000 + 86_400 * day)] for day in range(5)]
    data = Stops.from_records([["C1"]] * 5, taxonomy=TREE, times=times, time_format="epoch")
    rest, notes = Workplaces().run(data)
    assert rest.n_rows == 5
    assert notes[1].startswith("Each trajectory counts as another person")


@pytest.mark.parametrize("records", [[], [[]], [[], []]])
def test_empty_data(records: list[list[str]]) -> None:
    rest, notes = Workplaces().run(Stops.from_records(records, taxonomy=TREE, owner=list(range(len(records)))))
    assert (len(rest), rest.n_rows) == (len(records), 0)
    assert notes[0].startswith("0 of ")


def test_times_at_the_ends_of_what_fits() -> None:
    low, high = np.iinfo(np.int64).min + 1, np.iinfo(np.int64).max
    data = Stops.from_records([["C1"], ["P1"]], taxonomy=TREE, times=[[(low, high)], [(high, high)]], time_format="utc")
    assert Workplaces(min_days=1, work_from=0, work_to=24).run(data)[0].n_rows <= 2


def test_errors() -> None:
    with pytest.raises(ParameterError, match="work_from and work_to must differ, got 7 and 7"):
        Workplaces(work_from=7, work_to=7)
    with pytest.raises(ParameterError, match="min_share must be a number from 0 to 1"):
        Workplaces(min_share=2)  # type: ignore[arg-type]
