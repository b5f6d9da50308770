"""Finding stops: restatements of the three rules, small cases by hand, frames, and wrong input."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.errors import InputError, ParameterError
from wayveil.model import Frame, Points, Stops, Taxonomy
from wayveil.model.places.places import Places
from wayveil.steps.places.stop_finding import FindStops

Row = tuple[int, int, int]
Spot = tuple[int, int, int, float]  # x, y, radius, minimum time (NaN: none)
Stop = tuple[str, int, int]


def places_of(spots: list[Spot], **more: Any) -> Places:
    x, y, radius, stay = (np.array(column, float) for column in zip(*spots, strict=True))
    names = tuple("ABCDEFGH"[: len(spots)])
    return Places(name=names, node=("",) * len(spots), x=x, y=y, radius_m=radius, min_stay=stay, **more)


def tree_of(places: Places) -> Taxonomy:
    # The order differs from that of the places.
    return Taxonomy.from_parents([("Place", ""), *((name, "Place") for name in places.name[::-1])])


def stops_of(data: Stops, trajectory: int = 0) -> list[Stop]:
    rows = slice(data.offsets[trajectory], data.offsets[trajectory + 1])
    return list(zip(data.record(trajectory), data.t[rows].tolist(), data.t_end[rows].tolist(), strict=True))


def find(rows: list[Row], spots: list[Spot], **parameters: Any) -> list[Stop]:
    places = places_of(spots)
    data = Points.from_records([rows], time_format="epoch")
    found, _ = FindStops(**parameters).run(data, places=places, taxonomy=tree_of(places))
    return stops_of(found)


# The rules, restated.


def place_at(row: Row, spots: list[Spot], radius: int) -> int:
    inside = []
    for i, (x, y, own, _) in enumerate(spots):
        far = (row[1] - x) ** 2 + (row[2] - y) ** 2
        if far <= (own or radius) ** 2:
            inside.append((far, i))
    return min(inside)[1] if inside else -1


def joined(found: list[tuple[int, int, int]], rows: list[Row]) -> list[Stop]:
    """Stops from (place, first, last), those at one place with nothing between them as one."""
    merged: list[list[int]] = []
    for place, first, last in found:
        if merged and merged[-1][0] == place and first <= merged[-1][2] + 1:
            merged[-1][2] = last
        else:
            merged.append([place, first, last])
    return [("ABCDEFGH"[p], rows[a][0], rows[b][0]) for p, a, b in merged]


def smot(rows: list[Row], spots: list[Spot], radius: int, stay: int) -> list[Stop]:
    at = [place_at(row, spots, radius) for row in rows]
    n = len(rows)
    found = []
    for a in range(n):
        for b in range(a, n):
            same = at[a] >= 0 and len(set(at[a : b + 1])) == 1
            maximal = (a == 0 or at[a - 1] != at[a]) and (b == n - 1 or at[b + 1] != at[a])
            if same and maximal:
                least = spots[at[a]][3]
                if rows[b][0] - rows[a][0] >= (stay if np.isnan(least) else least):
                    found.append((at[a], a, b))
    return joined(found, rows)


def with_places(
    stretches: list[tuple[int, int]], rows: list[Row], spots: list[Spot], radius: int, distance: int
) -> list[tuple[int, int, int]]:
    found = []
    for a, b in sorted(stretches):
        at = [place_at(row, spots, radius) for row in rows[a : b + 1]]
        best = (-1, -1)
        for place in range(len(spots)):
            time = sum(rows[a + i + 1][0] - rows[a + i][0] for i in range(b - a) if at[i] == at[i + 1] == place)
            least = spots[place][3]
            if place in at and time > best[0] and not time < least:
                best = (time, place)
        place = best[1]
        if place < 0:
            n = b - a + 1
            x, y = Fraction(sum(r[1] for r in rows[a : b + 1]), n), Fraction(sum(r[2] for r in rows[a : b + 1]), n)
            far = [(x - s[0]) ** 2 + (y - s[1]) ** 2 for s in spots]
            nearest = far.index(min(far))
            if far[nearest] <= distance**2 and not rows[b][0] - rows[a][0] < spots[nearest][3]:
                place = nearest
        if place >= 0:
            found.append((place, a, b))
    return found


def slow(rows: list[Row], share: Fraction, most: Fraction, stay: int) -> list[tuple[int, int]]:
    """Stretches that grow from the slowest steps; rows move along x only, so that all numbers are exact."""
    n = len(rows) - 1
    way = [abs(rows[i + 1][1] - rows[i][1]) for i in range(n)]
    time = [rows[i + 1][0] - rows[i][0] for i in range(n)]
    if n < 1:
        return []
    mean = Fraction(sum(way), sum(time))
    speed = [Fraction(w, t) for w, t in zip(way, time, strict=True)]
    taken: set[int] = set()
    tried: set[int] = set()
    found = []
    for seed in sorted(range(n), key=lambda i: (speed[i], i)):
        if seed in taken | tried or speed[seed] > min(share, most) * mean:
            continue
        steps = [seed]
        while True:
            beside = [
                i for i in (steps[0] - 1, steps[-1] + 1) if 0 <= i < n and i not in taken and speed[i] <= most * mean
            ]
            for i in sorted(beside, key=lambda i: (speed[i], i)):
                more = [*steps, i]
                if Fraction(sum(way[j] for j in more), sum(time[j] for j in more)) <= share * mean:
                    steps = sorted(more)
                    break
            else:
                break
        if sum(time[j] for j in steps) >= stay:
            taken |= set(steps)
            found.append((steps[0], steps[-1] + 1))
        else:
            tried |= set(steps)
    return found


def turning(rows: list[Row], least: float, tolerance: int, stay: int) -> list[tuple[int, int]]:
    def is_turn(i: int) -> bool:
        if not 0 < i < len(rows) - 1:
            return False
        before = complex(rows[i][1] - rows[i - 1][1], rows[i][2] - rows[i - 1][2])
        after = complex(rows[i + 1][1] - rows[i][1], rows[i + 1][2] - rows[i][2])
        return bool(before and after and abs(np.degrees(np.angle(after / before))) > least)

    turns = [is_turn(i) for i in range(len(rows))]

    def fits(a: int, b: int) -> bool:
        quiet = 0
        for i in range(a, b + 1):
            quiet = 0 if turns[i] else quiet + 1
            if quiet > tolerance:
                return False
        return turns[a] and turns[b]

    all_of = [(a, b) for a in range(len(rows)) for b in range(a, len(rows)) if fits(a, b)]
    largest = [(a, b) for a, b in all_of if not any(c <= a and b <= d and (c, d) != (a, b) for c, d in all_of)]
    return [(a, b) for a, b in largest if rows[b][0] - rows[a][0] >= stay]


@st.composite
def tracks(draw: st.DrawFn, flat: bool = False) -> list[Row]:
    n = draw(st.integers(0, 14))
    gaps = draw(st.lists(st.integers(1, 4), min_size=n, max_size=n))
    steps = st.sampled_from([0, 0, 1, -1, 2, -2, 8, -8])
    xs = np.cumsum([0, *draw(st.lists(steps, min_size=n, max_size=n))])
    ys = np.cumsum([0, *draw(st.lists(steps, min_size=n, max_size=n))]) * (not flat)
    return [(int(t), int(x), int(y)) for t, x, y in zip(np.cumsum(gaps), xs[1:], ys[1:], strict=True)]


stays = st.sampled_from([np.nan, np.nan, 0.0, 3.0])
some_spots = st.lists(
    st.tuples(st.integers(-9, 9), st.integers(-9, 9), st.integers(0, 5), stays), min_size=1, max_size=5
)


def agrees(
    many: list[list[Row]], spots: list[Spot], rule: Callable[[list[Row]], list[Stop]], **parameters: Any
) -> None:
    """The step on all tracks at once finds the stops of the rule."""
    places = places_of(spots)
    many = [*many, [(0, spots[0][0], spots[0][1])]]  # where no point is in any place, the step refuses
    data = Points.from_records(many, time_format="epoch")
    found, notes = FindStops(**parameters).run(data, places=places, taxonomy=tree_of(places))
    assert [stops_of(found, i) for i in range(len(found))] == [rule(rows) for rows in many]
    assert len(notes) >= 1
    assert found.owner.tolist() == data.owner.tolist()


@settings(deadline=None, max_examples=150)
@given(st.lists(tracks(), max_size=3), some_spots, st.integers(1, 4), st.integers(1, 6))
def test_smot_is_the_rule(many: list[list[Row]], spots: list[Spot], radius: int, stay: int) -> None:
    agrees(many, spots, lambda rows: smot(rows, spots, radius, stay), method="smot", radius=radius, min_stay=stay)


@settings(deadline=None, max_examples=180)
@given(
    st.lists(tracks(flat=True), max_size=3), some_spots, st.integers(1, 5), st.integers(1, 9),
    st.sampled_from([0.25, 0.5, 0.75]), st.sampled_from([0.25, 1.0, 4.0]), st.integers(0, 6),
)  # fmt: skip
def test_cbsmot_is_the_rule(
    many: list[list[Row]], spots: list[Spot], radius: int, stay: int, share: float, most: float, distance: int
) -> None:
    def rule(rows: list[Row]) -> list[Stop]:
        stretches = slow(rows, Fraction(share), Fraction(most), stay)
        return joined(with_places(stretches, rows, spots, radius, distance), rows)

    more = {"radius": radius, "min_stay": stay, "speed": share, "max_speed": most, "max_distance": distance}
    agrees(many, spots, rule, method="cbsmot", **more)


@settings(deadline=None, max_examples=180)
@given(
    st.lists(tracks(), max_size=3), some_spots, st.integers(1, 5), st.integers(1, 9),
    st.sampled_from([0.0, 50.0, 100.0]), st.integers(0, 2), st.integers(0, 6),
)  # fmt: skip
def test_direction_is_the_rule(
    many: list[list[Row]], spots: list[Spot], radius: int, stay: int, least: float, tolerance: int, distance: int
) -> None:
    def rule(rows: list[Row]) -> list[Stop]:
        stretches = turning(rows, least, tolerance, stay)
        return joined(with_places(stretches, rows, spots, radius, distance), rows)

    more = {"radius": radius, "min_stay": stay, "min_turn": least, "max_tolerance": tolerance, "max_distance": distance}
    agrees(many, spots, rule, method="direction", **more)


NONE = float("nan")


def test_a_minimum_of_the_place_goes_before_that_of_the_step() -> None:
    rows = [(0, 0, 0), (60, 1, 0), (70, 500, 0), (130, 501, 0)]
    spots = [(0, 0, 0, 50.0), (500, 0, 0, NONE)]
    assert find(rows, spots, min_stay="61s") == [("A", 0, 60)]
    assert find(rows, spots, min_stay="1min") == [("A", 0, 60), ("B", 70, 130)]
    assert find(rows, [(0, 0, 0, 61.0), (500, 0, 0, NONE)], min_stay="1min") == [("B", 70, 130)]


def test_a_minimum_of_0_makes_a_single_point_a_stop() -> None:
    rows = [(0, 0, 0), (60, 500, 0)]
    assert find(rows, [(0, 0, 0, 0.0), (500, 0, 0, NONE)]) == [("A", 0, 0)]


def test_a_place_inside_another_one() -> None:
    rows = [(0, 90, 0), (600, 90, 0), (601, 2, 0), (1300, 3, 0)]
    assert find(rows, [(50, 0, 200, NONE), (0, 0, 10, NONE)]) == [("A", 0, 600), ("B", 601, 1300)]


def test_two_visits_with_a_way_between_are_two_stops() -> None:
    rows = [(0, 0, 0), (600, 0, 0), (700, 900, 0), (800, 0, 0), (1500, 0, 0)]
    assert find(rows, [(0, 0, 0, NONE)]) == [("A", 0, 600), ("A", 800, 1500)]


def test_a_gap_counts_as_staying() -> None:
    assert find([(0, 0, 0), (50_000, 3, 0)], [(0, 0, 0, NONE)]) == [("A", 0, 50_000)]


def test_low_speed_without_a_place_is_dropped_and_counted() -> None:
    rows = [(0, 0, 0), (700, 10, 0), (800, 3000, 0), (900, 6000, 0), (1700, 6010, 0), (1800, 9000, 0)]
    places = places_of([(0, 0, 0, NONE)])
    data = Points.from_records([rows, []], time_format="epoch")
    found, notes = FindStops(method="cbsmot").run(data, places=places, taxonomy=tree_of(places))
    assert stops_of(found) == [("A", 0, 700)]
    assert notes == (
        "6 points became 1 stop in 1 of 2 trajectories.",
        "1 of 2 stretches of low speed was dropped: it is at no known place.",
    )


def test_fast_steps_stay_out_of_a_long_rest() -> None:
    """After an hour, some steps at full speed would hardly change the mean."""
    rows = [(0, 0, 0), (3600, 0, 0), *((3600 + 10 * i, 100 * i, 0) for i in range(1, 60))]
    assert find(rows, [(0, 0, 0, NONE)], method="cbsmot") == [("A", 0, 3600)]
    loose = find(rows, [(0, 0, 0, NONE)], method="cbsmot", max_speed=100)
    assert loose[0][2] > 3600


def test_stretches_side_by_side_at_one_place_are_one_stop() -> None:
    rows = [(0, 0, 0), (100, 0, 0), (110, 30, 0), (210, 30, 0), (220, 1000, 0)]
    settings = {"method": "cbsmot", "min_stay": 50, "speed": 0.01, "max_speed": 0.01}
    assert find(rows, [(0, 0, 40, NONE)], **settings) == [("A", 0, 210)]
    assert find(rows, [(0, 0, 9, NONE), (30, 0, 9, NONE)], **settings) == [("A", 0, 100), ("B", 110, 210)]


def test_stops_are_in_the_order_of_time() -> None:
    """Though the second rest is the slower one, and found first."""
    rows = [(0, 0, 0), (700, 5, 0), (800, 3000, 0), (1600, 3000, 0), (1700, 6000, 0)]
    spots = [(3000, 0, 0, NONE), (0, 0, 0, NONE)]
    assert find(rows, spots, method="cbsmot") == [("B", 0, 700), ("A", 800, 1600)]


@pytest.mark.parametrize(("least", "expected"), [(701.0, 0), (700.0, 1), (NONE, 1)])
def test_the_nearest_place_may_ask_for_a_longer_stay(least: float, expected: int) -> None:
    rows = [(0, 0, 0), (700, 0, 0), (800, 3000, 0), (810, 6000, 0), (811, 6000, 0)]
    spots = [(90, 0, 0, least), (6000, 0, 0, NONE)]
    found = find(rows, spots, method="cbsmot")
    assert found == [("A", 0, 700)][:expected]


@pytest.mark.parametrize("side", [-1, 1])
def test_standing_still_is_no_turn(side: int) -> None:
    """Also where a step without length, multiplied, gives a negative zero."""
    rows = [(0, 0, 0)]
    for i in range(1, 30):
        go = side * 10 * ((i + 1) // 2)
        rows.append((60 * i, go, go))
    assert find(rows, [(0, 0, 5000, NONE)], method="direction", min_turn=0) == []


TO_AND_FRO = [(100 * i, 5 * (i % 2), 0) for i in range(8)]  # a turn at every point from the second to the last but one


def test_a_turn_is_more_than_the_least() -> None:
    straight = [(100 * i, 5 * i, 0) for i in range(20)]
    corners = [(100 * i, *((0, 0), (5, 0), (5, 5), (0, 5))[i % 4]) for i in range(20)]
    spots = [(0, 0, 500, NONE)]
    assert find(straight, spots, method="direction", min_turn=0) == []
    assert find(corners, spots, method="direction", min_turn=90) == []
    assert find(corners, spots, method="direction", min_turn=89) == [("A", 100, 1800)]


def test_turns_for_exactly_the_minimum() -> None:
    for stay, expected in ((500, [("A", 100, 600)]), (501, [])):
        assert find(TO_AND_FRO, [(0, 0, 50, NONE)], method="direction", min_stay=stay) == expected


def test_turns_of_two_people_are_two_stops() -> None:
    places = places_of([(0, 0, 50, NONE)])
    data = Points.from_records([TO_AND_FRO, TO_AND_FRO], time_format="epoch")
    step = FindStops(method="direction", min_stay="5min", max_tolerance=9)
    found, _ = step.run(data, places=places, taxonomy=tree_of(places))
    assert [stops_of(found, i) for i in range(2)] == [[("A", 100, 600)]] * 2


def test_time_after_a_stretch_does_not_count_for_its_place() -> None:
    rows = [*TO_AND_FRO[:7], (700, 30, 0), (5000, 29, 0)]
    spots = [(0, 0, 10, NONE), (30, 0, 10, NONE)]
    assert find(rows, spots, method="direction", min_stay=500) == [("A", 100, 700)]


def test_wandering_in_a_shop() -> None:
    """Up and down the aisles at a constant speed: no low speed, but many turns."""
    aisles = [(0, 0), (0, 9), (5, 9), (5, 0), (9, 0), (9, 9), (5, 9), (5, 0), (0, 0)]
    rows = [(10 * i, -300 + 10 * i, 0) for i in range(30)]
    rows += [(300 + 100 * i, x, y) for i, (x, y) in enumerate(aisles)]
    rows += [(1200 + 10 * i, 10 + 10 * i, 0) for i in range(30)]
    assert [s[0] for s in find(rows, [(5, 5, 30, NONE)], method="direction", min_stay="8min")] == ["A"]


def test_polygons() -> None:
    ring = {
        "ring_place": [0],
        "ring_offsets": [0, 4],
        "ring_x": [0.0, 1000.0, 1000.0, 0.0],
        "ring_y": [0.0, 0.0, 10.0, 10.0],
    }
    places = places_of([(500, 5, 0, NONE), (500, 200, 0, NONE)], **ring)
    rows = [(0, 3, 3), (700, 990, 8), (701, 500, 100), (702, 500, 195), (1500, 500, 201)]
    data = Points.from_records([rows], time_format="epoch")
    found, _ = FindStops().run(data, places=places, taxonomy=tree_of(places))
    assert stops_of(found) == [("A", 0, 700), ("B", 702, 1500)]


def test_microseconds_and_degrees() -> None:
    there = Frame.for_degrees(np.array([16.5]), np.array([48.5]))
    x, y = there.to_metres(np.array([16.3]), np.array([48.2]))
    places = replace(places_of([(0, 0, 0, 90.0)]), x=x, y=y, frame=there)
    here = Frame.for_degrees(np.array([16.0, 16.4]), np.array([48.0, 48.4]))
    px, py = here.to_metres(np.array([16.3, 16.3001, 16.4]), np.array([48.2, 48.2, 48.4]))
    for seconds, expected in ((90, 1), (89, 0)):
        rows = [[(0, px[0], py[0]), (seconds * 1_000_000, px[1], py[1]), (500_000_000, px[2], py[2])]]
        data = Points.from_records(rows, frame=here, time_format="utc")
        found, _ = FindStops().run(data, places=places, taxonomy=tree_of(places))
        assert found.n_rows == expected
        assert found.time_format == "utc"
    planar = Points.from_records([[(0, 0, 0)]], time_format="epoch")
    with pytest.raises(InputError, match="both be in degrees, or both in metres"):
        FindStops().run(planar, places=places, taxonomy=tree_of(places))


@pytest.mark.parametrize("method", ["smot", "staypoint", "cbsmot", "direction"])
def test_odd_input(method: str) -> None:
    places = places_of([(0, 0, 0, NONE)])
    tree = tree_of(places)
    step = FindStops(method=method)
    still = [(t, 0.0, 0.0) for t in range(0, 3000, 100)]
    several: list[list[list[tuple[int, float, float]]]] = [[], [[]], [[], [(0, 0.0, 0.0)], []], [still, still]]
    for records in several:
        found, notes = step.run(Points.from_records(records, time_format="epoch"), places=places, taxonomy=tree)
        assert len(found) == len(records)
        assert found.n_rows == (2 if len(records) == 2 and method != "direction" else 0)
        assert len(notes) == 1
    far = Points.from_records([[(0, 1e12, 1e12), (5000, 1e12, 1e12)]], time_format="epoch")
    with pytest.raises(InputError, match="stops: none of 2 points is in any of 1 places"):
        step.run(far, places=places, taxonomy=tree)
    with pytest.raises(InputError, match="too large"):
        step.run(Points.from_records([[(0, 1e80, 0)]], time_format="epoch"), places=places, taxonomy=tree)


def test_owners_and_attributes_stay() -> None:
    places = places_of([(0, 0, 0, NONE)])
    data = Points.from_records(
        [[(0, 0, 0), (900, 0, 0)], [(0, 999, 0)]], owner=[7, 7], attributes={"age": ["1", "2"]}, time_format="epoch"
    )
    found, _ = FindStops().run(data, places=places, taxonomy=tree_of(places))
    assert (found.owner.tolist(), found.owners) == ([7, 7], "given")
    assert found.attributes["age"].values() == ["1", "2"]


def test_errors() -> None:
    data = Points.from_records([[(0, 0, 0)]], time_format="epoch")
    places = places_of([(0, 0, 0, NONE), (0, 0, 0, 60.0)])
    for name in ("radius", "speed", "max_speed"):
        with pytest.raises(ParameterError, match=f"stops: {name} must be greater than 0"):
            FindStops(**{name: 0})  # type: ignore[arg-type]
    with pytest.raises(InputError, match="1 of 2 places are not in the taxonomy"):
        FindStops().run(data, places=places, taxonomy=Taxonomy.from_parents([("Place", ""), ("A", "Place")]))
    nested = Taxonomy.from_parents([("Place", ""), ("A", "Place"), ("B", "A")])
    with pytest.raises(InputError, match="1 of 2 places have other nodes of the taxonomy below them"):
        FindStops().run(data, places=places, taxonomy=nested)
    none = np.zeros(0)
    empty = Places(name=(), node=(), x=none, y=none, radius_m=none, min_stay=none)
    with pytest.raises(InputError, match="at least one place"):
        FindStops().run(data, places=empty, taxonomy=tree_of(places))
    with pytest.raises(InputError, match="marked as known"):
        FindStops().run(replace(data, known=np.ones(1, bool)), places=places, taxonomy=tree_of(places))
    plain = Points.from_records([[(0, 0, 0)]])
    with pytest.raises(InputError, match="min_stay in seconds"):
        FindStops(min_stay=5).run(plain, places=places, taxonomy=tree_of(places))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="plain integers without a unit, so min_stay must be one"):
        FindStops().run(plain, places=places, taxonomy=tree_of(places))


def test_a_staypoint_has_a_place_and_forgives_a_stray_point() -> None:
    """Slow and far from the mean speed of the trip: the person rests most of the time."""
    inside = [(60 * i, 3.0 * (i % 2), 400.0 if i == 7 else 0.0) for i in range(30)]
    away = [(1800 + 60 * i, 500.0 * i, 0.0) for i in range(1, 4)]
    data = Points.from_records([inside + away], time_format="epoch")
    for method, expected in (("staypoint", 1), ("smot", 1)):
        step = FindStops(method=method, min_stay="20min")
        stops, _ = step.run(data, places=NEAR, taxonomy=NEAR_TREE)
        assert stops.n_rows == expected
        long = stops.t_end[0] - stops.t[0]
        assert long == (29 * 60 if method == "staypoint" else 21 * 60)
    stops, _ = FindStops(method="staypoint", min_stay="20min", max_stray=0).run(data, places=NEAR, taxonomy=NEAR_TREE)
    assert stops.t.tolist() == [8 * 60]
    with pytest.raises(ParameterError, match="stay_radius must be greater than 0"):
        FindStops(stay_radius=0)


NEAR = Places(name=("P1",), node=("Park",), x=[0.0], y=[0.0], radius_m=[0.0], min_stay=[np.nan])
NEAR_TREE = Taxonomy.from_parents([("Place", ""), ("Park", "Place"), ("P1", "Park")])
