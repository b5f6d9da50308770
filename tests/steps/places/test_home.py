"""Home: the rule restated minute by minute, what stays, and that the attack by home and work no longer finds homes."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.attacks.places.home_work import HomeWork
from wayveil.attacks.places.top_places import TopPlaces
from wayveil.engines import LocalEngine
from wayveil.errors import InputError, ParameterError
from wayveil.model import Trips, Visits
from wayveil.steps import STEPS
from wayveil.steps.places.home import Home

HOUR = 3600
DAY = 24 * HOUR
Records = list[tuple[int, list[tuple[str, int]]]]


def visits_of(records: Records, **more: Any) -> Visits:
    return Visits.from_records(
        [record for _, record in records], owner=[owner for owner, _ in records], time_format="epoch", **more
    )


def private_places(
    records: Records, night: tuple[int, int], work: tuple[int, int], stay_h: int
) -> dict[int, list[str]]:
    """Home and workplace of each person, by walking through every stay hour by hour; times are whole hours."""

    def inside(hour: int, begin: int, end: int) -> bool:
        return begin <= hour < end if begin < end else hour >= begin or hour < end

    rows: dict[int, list[tuple[int, int, str]]] = defaultdict(list)
    for trajectory, (owner, record) in enumerate(records):
        rows[owner] += [(t, trajectory, place) for place, t in record]
    found = {}
    for owner, seen in rows.items():
        seen.sort(key=lambda row: row[:2])
        nights: Counter[str] = Counter()
        works: Counter[str] = Counter()
        for i, (t, _, place) in enumerate(seen):
            until = min(seen[i + 1][0] if i + 1 < len(seen) else t + stay_h * HOUR, t + stay_h * HOUR)
            for moment in range(t, until, HOUR):
                nights[place] += inside(moment // HOUR % 24, *night)
                works[place] += inside(moment // HOUR % 24, *work)
        count = Counter(place for _, _, place in seen)
        places = sorted(count, key=lambda p: (-nights[p], -count[p], p))
        rest = sorted(places[1:], key=lambda p: (-nights[p] - works[p], -count[p], p))
        found[owner] = [*places[:1], *rest[:1]]
    return found


moments = st.lists(st.integers(0, 80), unique=True, max_size=7).map(sorted)
record = moments.flatmap(
    lambda hours: st.tuples(*(st.sampled_from("abcd") for _ in hours)).map(
        lambda places: [(place, hour * HOUR) for place, hour in zip(places, hours, strict=True)]
    )
)
hours = st.sampled_from([(22, 6), (0, 7), (9, 17), (20, 24), (6, 5)])


@given(
    st.lists(st.tuples(st.integers(0, 2), record), min_size=1, max_size=5), hours, hours, st.sampled_from([1, 12, 40])
)
@settings(max_examples=150, deadline=None)
def test_the_rule_restated(records: Records, night: tuple[int, int], work: tuple[int, int], stay_h: int) -> None:
    step = {
        "night_from": night[0],
        "night_to": night[1],
        "work_from": work[0],
        "work_to": work[1],
        "stay": f"{stay_h}h",
    }
    private = private_places(records, night, work, stay_h)
    data = visits_of(records)
    for workplaces, many in (("no", 1), ("yes", 2)):
        rest, _ = Home(workplaces=workplaces, **step).run(data)
        named, _ = Home(do="zone", cell="home", workplaces=workplaces, **step).run(data)
        for i, (owner, own) in enumerate(records):
            gone = private.get(owner, [])[:many]
            assert rest.record(i) == [(place, t) for place, t in own if place not in gone]
            assert named.record(i) == [("home" if place in gone else place, t) for place, t in own]


def week(home: str, work: str, *, night_shift: bool = False) -> list[tuple[str, int]]:
    """Five days: at home in the evening and at work by day (or the other way round), now and then a shop between."""
    by_day, by_night = (home, work) if night_shift else (work, home)
    rows = []
    for day in range(5):
        rows.append((by_day, day * DAY + 9 * HOUR))
        if day < 3:
            rows.append(("shop", day * DAY + 18 * HOUR))
        rows.append((by_night, day * DAY + 19 * HOUR))
    return rows


def crowd(people: int) -> Visits:
    """Everybody has a home of their own; ten people each share a workplace."""
    records = [(i, week(f"home {i}", f"work {i // 10}", night_shift=i % 7 == 0)) for i in range(people)]
    return visits_of(records)


def found(attack: Any, truth: Visits, target: Visits) -> float:
    rng = np.random.default_rng(1)
    result = attack.run(truth, target, sensitive={}, rng=rng, engine=LocalEngine(workers=1))
    return float(result.measured["identity_mean"])


def test_the_attackers_by_home_and_work_no_longer_find_anybody() -> None:
    # Somebody on night shift has home and work the other way round, so only workplaces=yes takes their home out.
    data = crowd(70)
    day_shift = data.take(np.flatnonzero(np.arange(70) % 7 > 0))
    assert found(HomeWork(), data, data) == 1
    rest, _ = Home().run(day_shift)
    assert found(HomeWork(), day_shift, rest) == 0
    assert not any(name.startswith("home") for i in range(len(rest)) for name, _ in rest.record(i))
    rest, _ = Home().run(data)
    assert {name for i in range(len(rest)) for name, _ in rest.record(i) if name.startswith("home")} == {
        f"home {i}" for i in range(0, 70, 7)
    }
    rest, _ = Home(workplaces="yes").run(data)
    assert {name for i in range(len(rest)) for name, _ in rest.record(i)} == {"shop"}
    for attack in (HomeWork(), TopPlaces(n=1)):
        assert found(attack, data, rest) <= 1 / 70


def test_an_attacker_who_sees_through_the_word_home_finds_people_by_work_only() -> None:
    data = crowd(70).take(np.flatnonzero(np.arange(70) % 7 > 0))
    named, _ = Home(do="zone", cell="home").run(data)
    assert found(HomeWork(), data, data) == 1
    assert found(HomeWork(), data, named) == 0
    # Who knows that every home is called so is left with the workplace: 7 of them, for 60 people.
    assert found(HomeWork(), named, named) == pytest.approx(7 / 60)


def test_homes_become_squares_with_the_names_of_zones() -> None:
    data = visits_of([(0, [("flat", 0), ("work", 9 * HOUR)]), (1, [("flat", 12 * HOUR), ("villa", 22 * HOUR)])])
    at = {"flat": (130.0, -20.0), "villa": (940.0, 310.0), "work": (10.0, 10.0)}
    data = replace(
        data,
        place_x=np.array([at[name][0] for name in data.locations]),
        place_y=np.array([at[name][1] for name in data.locations]),
    )
    moved, notes = Home(do="zone", cell=100).run(data)
    assert moved.record(0) == [("x100..200_y-100..0", 0), ("work", 9 * HOUR)]
    assert moved.record(1) == [("flat", 12 * HOUR), ("x900..1000_y300..400", 22 * HOUR)]  # somebody else's home stays
    assert moved.place_x is not None
    assert moved.place_y is not None
    positions = dict(zip(moved.locations, zip(moved.place_x, moved.place_y, strict=True), strict=True))
    assert positions["x100..200_y-100..0"] == (150, -50)
    assert positions["flat"] == (130, -20)
    assert "villa" not in moved.locations
    assert notes[0] == "Homes of 2 people became zones: 2 of 4 visits."
    by_zones, _ = STEPS["zones"](cell=100).run(data)
    assert by_zones.record(0)[0] == moved.record(0)[0]
    named, notes = Home(do="zone", cell="home").run(data)
    assert named.place_x is None
    assert "coordinates" in notes[-1]


def test_trips_have_no_stay_where_they_begin() -> None:
    trips = [
        ("home", 8 * HOUR, "work", 9 * HOUR),
        ("work", 17 * HOUR, "home", 18 * HOUR),
        ("x", 32 * HOUR, "x", 32 * HOUR),
    ]
    data = Trips.from_ends(trips, owner=[4, 4, 4], time_format="epoch")
    rest, notes = Home().run(data)
    assert [rest.record(i) for i in range(3)] == [
        [("to work", 9 * HOUR)],
        [("from work", 17 * HOUR)],
        [("from x", 32 * HOUR), ("to x", 32 * HOUR)],
    ]
    assert notes[0] == "Homes of 1 person were left out: 2 of 6 ends."
    named, _ = Home(do="zone", cell="home").run(Trips.from_ends([("z", 1, "b", 2)], owner=[0]))
    assert isinstance(named, Trips)
    assert named.record(0) == [("from z", 1), ("to home", 2)]


def test_plain_integers_have_no_nights() -> None:
    data = Visits.from_records([[("a", 1), ("b", 2), ("b", 3)], [("c", 1)]], owner=[0, 1])
    rest, notes = Home().run(data)
    assert [rest.record(i) for i in range(2)] == [[("a", 1)], []]
    assert notes == (
        "Homes of 2 people were left out: 3 of 4 visits.",
        "Homes were found by nights for 0 people, by visits for 2.",
        "Nothing is left of 1 person, who visited no other place.",
    )


def test_notes_name_nobody_and_no_place() -> None:
    _, notes = Home(workplaces="yes").run(crowd(20))
    assert not any(word in note for note in notes for word in ("home 1", "work 1", "shop"))
    assert "A workplace was found for 20 people." in notes


@pytest.mark.parametrize("do", ["drop", "zone"])
@pytest.mark.parametrize("kind", [Visits, Trips])
def test_nothing_in_nothing_out(do: str, kind: Any) -> None:
    empty = kind.tiny().where(np.zeros(kind.tiny().n_rows, bool))
    for cell in (500, "home"):
        assert Home(do=do, cell=cell).run(empty)[0].n_rows == 0


def test_what_cannot_be_done_is_refused() -> None:
    for wrong in ({"cell": 0}, {"night_from": 6, "night_to": 6}, {"work_from": 0, "work_to": 24}, {"do": "hide"}):
        with pytest.raises(ParameterError):
            Home(**wrong)
    with pytest.raises(InputError, match="not known where the places are"):
        Home(do="zone").run(crowd(2))
    with pytest.raises(InputError, match="too far from 1970"):
        Home().run(visits_of([(0, [("a", 2**62)])]))
