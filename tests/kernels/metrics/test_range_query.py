"""Range queries against the definition: distances by search over time, in plain Python, one pair at a time."""

import json
import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.kernels.metrics.range_query import DAI, PAI, PSI, SDI, BoxColumns, Queries, count_inside

GOLDEN = Path(__file__).parents[2] / "golden" / "range_queries" / "six_objects.json"
UNSURE = 1e-7


def boxes(records):
    """Records are lists of (t_min, t_max, x_min, x_max, y_min, y_max)."""
    rows = [row for record in records for row in record]
    columns = [np.array([row[c] for row in rows], np.int64 if c < 2 else np.float64) for c in range(6)]
    offsets = np.concatenate([[0], np.cumsum([len(record) for record in records], dtype=np.int64)])
    for column in (offsets, *columns):
        column.flags.writeable = False  # as in the model, so that one compiled kernel does for all
    return BoxColumns(offsets, *columns)


def points(*records):
    return boxes([[(t, t, x, x, y, y) for t, x, y in record] for record in records])


def ask(*queries):
    """Queries are (x, y, half, begin, end)."""
    return Queries(*(np.array([q[c] for q in queries], np.float64) for c in range(5)))


def inside(data, query, *, radius=0.0, disc=False):
    return count_inside(data, ask(query), radius=radius, disc=disc)[0].tolist()


# The definition: the box of a trajectory at a time, how far it is from the region, and how far it reaches out of it.


def box_at(record, t):
    found = None
    for row in record:
        if row[0] <= t <= row[1]:
            return row[2:]
    for one, two in pairwise(record):
        if one[1] <= t <= two[0]:
            u = (t - one[1]) / (two[0] - one[1])
            found = tuple(a + u * (b - a) for a, b in zip(one[2:], two[2:], strict=True))
    return found


def distance(box, query, disc):
    x, y, half = query[:3]
    dx, dy = max(box[0] - x, x - box[1], 0.0), max(box[2] - y, y - box[3], 0.0)
    if disc:
        return max(0.0, math.hypot(dx, dy) - half)
    dx, dy = max(box[0] - x - half, x - half - box[1], 0.0), max(box[2] - y - half, y - half - box[3], 0.0)
    return math.hypot(dx, dy)


def overhang(box, query, disc):
    """How far the farthest point of the box is from the centre, less what the region allows."""
    x, y, half = query[:3]
    dx, dy = max(abs(box[0] - x), abs(box[1] - x)), max(abs(box[2] - y), abs(box[3] - y))
    return (math.hypot(dx, dy) if disc else max(dx, dy)) - half


def smallest(function, low, high):
    """The least value of a convex function, by ternary search."""
    for _ in range(45):
        a, b = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, b) if function(a) <= function(b) else (a, high)
    return min(function(low), function(high), function((low + high) / 2))


def margins(record, query, radius, disc):
    """How far each predicate is from changing, in the order PSI, PAI, SDI, DAI; it holds where this is at most 0."""
    begin, end = query[3:]
    if not record or record[-1][1] < begin or record[0][0] > end:
        return [math.inf] * 4
    covered = record[0][0] <= begin and end <= record[-1][1]
    low, high = max(begin, record[0][0]), min(end, record[-1][1])
    times = sorted({low, high, *(t for row in record for t in row[:2] if low < t < high)})

    def near(t):
        return distance(box_at(record, t), query, disc) - radius

    def out(t):
        return overhang(box_at(record, t), query, disc) + radius

    # A box that rests and is left at once for another jumps there, so both are looked at.
    jumps = [row[2:] for row in record if row[0] <= end and row[1] >= begin]
    parts = list(pairwise(times)) or [(low, low)]
    least_near = min(smallest(near, a, b) for a, b in parts)
    least_out = min(smallest(out, a, b) for a, b in parts)
    most = [a + (b - a) * i / 8 for a, b in parts for i in range(9)]
    near_ends = [near(t) for t in most] + [distance(box, query, disc) - radius for box in jumps]
    out_ends = [out(t) for t in most] + [overhang(box, query, disc) + radius for box in jumps]
    return [
        min(least_near, *near_ends),
        max(near_ends) if covered else math.inf,
        min(least_out, *out_ends),
        max(out_ends) if covered else math.inf,
    ]


def check(records, queries, radius, disc):
    """The counts lie between what is surely inside and what is not surely outside."""
    found = count_inside(boxes(records), ask(*queries), radius=radius, disc=disc)
    for query, counts in zip(queries, found.tolist(), strict=True):
        table = [margins(record, query, radius, disc) for record in records]
        for column, count in enumerate(counts):
            surely = sum(row[column] < -UNSURE for row in table)
            perhaps = sum(row[column] < UNSURE for row in table)
            assert surely <= count <= perhaps


numbers = st.integers(-12, 12).map(lambda n: n / 2)


@st.composite
def records_of_points(draw):
    times = sorted(draw(st.sets(st.integers(0, 12), max_size=5)))
    return [(t, t, x, x, y, y) for t in times for x, y in [(draw(numbers), draw(numbers))]]


@st.composite
def records_of_boxes(draw):
    cuts = sorted(draw(st.lists(st.integers(0, 12), max_size=8)))
    record = []
    for begin, end in zip(cuts[::2], cuts[1::2], strict=False):
        x, y = draw(numbers), draw(numbers)
        record.append((begin, end, x, x + draw(st.integers(0, 6)) / 2, y, y + draw(st.integers(0, 6)) / 2))
    return record


queries_in = st.tuples(
    st.floats(-6, 6), st.floats(-6, 6), st.floats(0, 6), st.floats(-1, 12), st.sampled_from([0.0, 0.3, 1.0, 4.0, 20.0])
).map(lambda q: (*q[:4], q[3] + q[4]))


@settings(deadline=None, max_examples=120)
@given(st.lists(records_of_points(), max_size=4), st.lists(queries_in, min_size=1, max_size=3), st.floats(0, 3),
       st.booleans())  # fmt: skip
def test_points_are_counted_as_defined(records, queries, radius, disc):
    check(records, queries, radius, disc)


@settings(deadline=None, max_examples=120)
@given(st.lists(records_of_boxes(), max_size=4), st.lists(queries_in, min_size=1, max_size=3), st.floats(0, 3),
       st.booleans())  # fmt: skip
def test_boxes_are_counted_as_defined(records, queries, radius, disc):
    check(records, queries, radius, disc)


@pytest.mark.parametrize("disc", [False, True])
@pytest.mark.parametrize("spread", [3.0, 60.0])  # steps within a cell of the index, and across all of them
def test_many_queries_are_found_by_the_index(disc, spread):
    rng = np.random.default_rng(7)
    records = []
    for _ in range(8):
        times = np.sort(rng.choice(1000, 12, replace=False)).tolist()
        x, y = (rng.uniform(-20, 120) + np.cumsum(rng.normal(0, spread, 12)) for _ in range(2))
        size = rng.uniform(0, spread / 3, (2, 12)) * (rng.random() < 0.5)
        stay = rng.integers(0, 2, 12) * np.diff([*times, times[-1] + 5]) // 2
        records.append(
            [(t, t + int(s), a, a + w, b, b + h)
             for t, s, a, b, w, h in zip(times, stay, x, y, size[0], size[1], strict=True)]
        )  # fmt: skip
    begin = rng.uniform(0, 900, 80)
    queries = list(
        zip(rng.uniform(0, 100, 80), rng.uniform(0, 100, 80), rng.uniform(0.5, 9, 80), begin,
            begin + rng.uniform(0, 100, 80), strict=True)
    )  # fmt: skip
    check(records, queries, 0.5, disc)


def test_the_golden_example():
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    square, radius = golden["square"], golden["radius"]
    half = (square["x_max"] - square["x_min"]) / 2
    query = (square["x_min"] + half, square["y_min"] + half, half, *golden["interval"])
    names = ("possibly sometime", "possibly always", "sometime definitely", "definitely always")
    found = {name: [] for name in names}
    for letter, track in golden["objects"].items():
        for name, holds in zip(names, inside(points(track), query, radius=radius), strict=True):
            found[name] += [letter] * holds
    assert found == golden["inside"]
    assert inside(points(*golden["objects"].values()), query, radius=radius) == [5, 4, 3, 1]


@pytest.mark.parametrize("x_sign", [-1, 1])
@pytest.mark.parametrize("y_sign", [-1, 1])
def test_the_way_past_each_corner_and_across_each_pair_of_sides(x_sign, y_sign):
    def passes(start, stop, radius):
        track = [(0, x_sign * start[0], y_sign * start[1]), (7, x_sign * stop[0], y_sign * stop[1])]
        return inside(points(track), (0, 0, 5, 0, 7), radius=radius)[0]

    # Past the corner (5, 5): the distance of the line through (9, 4) and (4, 8) from it is 11 / sqrt(41) = 1.718.
    assert (passes((9, 4), (4, 8), 1.71), passes((9, 4), (4, 8), 1.72)) == (0, 1)
    assert passes((8, 1), (1, 7), 0) == 1  # cuts off the corner
    assert passes((9, 3), (-8, -1), 0) == 1  # from side to side
    assert passes((3, 9), (-1, -8), 0) == 1


def test_a_long_box_that_sweeps_over_a_small_region():
    # Slanted, so that at no end and at no corner the box is over the region.
    tall = [(0, 0, -10.0, -9.0, -70.0, 30.0), (9, 9, 30.0, 31.0, -30.0, 70.0)]
    wide = [(t, u, c, d, a, b) for t, u, a, b, c, d in tall]
    for record in (tall, wide, [(t, u, -b, -a, c, d) for t, u, a, b, c, d in tall]):
        for disc in (False, True):
            assert inside(boxes([record]), (0, 0, 0.1, 0, 9), disc=disc)[0] == 1
            assert inside(boxes([record]), (0, 500, 0.1, 0, 9), disc=disc)[0] == 0


def test_the_index_looks_at_every_cell_that_a_way_crosses():
    rng = np.random.default_rng(5)
    start, way = rng.uniform(-1, 8, (40, 2)), rng.uniform(-2.5, 2.5, (40, 2))
    records = [
        [(t, t, a[0] + t * w[0], a[0] + t * w[0], a[1] + t * w[1], a[1] + t * w[1]) for t in range(2)]
        for a, w in zip(start.tolist(), way.tolist(), strict=True)
    ]
    check(records, [(x, y, 0.4, 0, 1) for x in range(8) for y in range(8)], 0.05, False)


def test_near_a_corner_the_distance_counts_and_not_the_enlarged_square():
    # The way from (-4, 0) to (0, -4) passes the corner (0, 0) of the square at a distance of sqrt(8).
    way = points([(0, -4.0, 0.0), (10, 0.0, -4.0)])
    assert inside(way, (5, 5, 5, 0, 10), radius=2.82)[0] == 0
    assert inside(way, (5, 5, 5, 0, 10), radius=2.83)[0] == 1
    # Each end is 3 away from the square.
    assert inside(points([(0, -3.0, 0.5), (10, -0.5, -3.0)]), (5, 5, 5, 0, 10), radius=2.9)[0] == 1


def test_a_way_through_the_region_is_found_though_both_ends_are_outside():
    assert inside(points([(0, -100.0, 5.0), (1, 100.0, 5.0)]), (5, 5, 5, 0, 1)) == [1, 0, 1, 0]
    assert inside(points([(0, -95.0, -95.0), (1, 105.0, 105.0)]), (5, 5, 2, 0, 1), disc=True)[0] == 1


def test_only_the_way_in_the_interval_counts():
    way = points([(0, 0.0, 0.0), (100, 100.0, 0.0)])
    assert inside(way, (90, 0, 5, 0, 84.9)) == [0, 0, 0, 0]
    assert inside(way, (90, 0, 5, 0, 85)) == [1, 0, 1, 0]
    assert inside(way, (90, 0, 5, 85, 95)) == [1, 1, 1, 1]
    assert inside(way, (90, 0, 5, 95.1, 100)) == [0, 0, 0, 0]


def test_always_needs_the_whole_interval_to_be_lived():
    rest = points([(10, 0.0, 0.0), (20, 0.0, 0.0)])
    assert inside(rest, (0, 0, 1, 10, 20)) == [1, 1, 1, 1]
    assert inside(rest, (0, 0, 1, 9.5, 15)) == [1, 0, 1, 0]
    assert inside(rest, (0, 0, 1, 15, 20.5)) == [1, 0, 1, 0]
    assert inside(rest, (0, 0, 1, 21, 25)) == [0, 0, 0, 0]
    assert inside(rest, (0, 0, 1, 0, 10)) == [1, 0, 1, 0]


def test_a_single_point_lives_for_a_moment():
    assert inside(points([(5, 0.0, 0.0)]), (0, 0, 1, 0, 10)) == [1, 0, 1, 0]
    assert inside(points([(5, 0.0, 0.0)]), (0, 0, 1, 5, 5)) == [1, 1, 1, 1]
    assert inside(points([(5, 0.0, 0.0)]), (0, 0, 1, 6, 10)) == [0, 0, 0, 0]


def test_a_region_smaller_than_the_uncertainty_holds_nothing_definitely():
    rest = points([(0, 0.0, 0.0), (10, 0.0, 0.0)])
    for disc in (False, True):
        assert inside(rest, (0, 0, 1, 0, 10), radius=1.0, disc=disc) == [1, 1, 1, 1]
        assert inside(rest, (0, 0, 1, 0, 10), radius=1.1, disc=disc) == [1, 1, 0, 0]


def test_corners_of_a_square_are_outside_the_disc():
    rest = points([(0, 0.9, 0.9), (10, 0.9, 0.9)])
    assert inside(rest, (0, 0, 1, 0, 10)) == [1, 1, 1, 1]
    assert inside(rest, (0, 0, 1, 0, 10), disc=True) == [0, 0, 0, 0]
    corner = boxes([[(0, 10, -0.9, 0.9, -0.9, 0.9)]])
    assert inside(corner, (0, 0, 1, 0, 10), disc=True) == [1, 1, 0, 0]


def test_between_boxes_every_side_moves_evenly():
    # From [0, 2] to [20, 24] in x: at time 5 the box is [10, 13].
    way = boxes([[(0, 0, 0.0, 2.0, 0.0, 1.0), (10, 10, 20.0, 24.0, 0.0, 1.0)]])
    assert inside(way, (11.5, 0.5, 1.5, 5, 5)) == [1, 1, 1, 1]
    assert inside(way, (11.5, 0.5, 1.4, 5, 5)) == [1, 1, 0, 0]
    assert inside(way, (14.5, 0.5, 1.4, 5, 5)) == [0, 0, 0, 0]


def test_boxes_whose_times_touch_or_overlap_need_no_way_between():
    track = boxes([[(0, 5, 0.0, 1.0, 0.0, 1.0), (5, 9, 50.0, 51.0, 0.0, 1.0), (7, 10, 0.0, 1.0, 0.0, 1.0)]])
    assert inside(track, (25, 0, 10, 0, 10)) == [0, 0, 0, 0]
    assert inside(track, (50.5, 0.5, 1, 6, 6)) == [1, 1, 1, 1]
    assert inside(track, (50.5, 0.5, 1, 8, 8)) == [1, 0, 1, 0]
    assert inside(track, (0.5, 0.5, 1, 0, 10)) == [1, 0, 1, 0]


def test_only_what_is_wanted_is_counted():
    data, query = points([(0, 0.0, 0.0), (10, 0.0, 0.0)]), ask((0, 0, 1, 0, 10))
    for column, bit in enumerate((PSI, PAI, SDI, DAI)):
        found = count_inside(data, query, radius=0, disc=False, predicates=bit)
        assert found.tolist() == [[int(c == column) for c in range(4)]]


def test_a_trajectory_counts_once_and_others_count_too():
    there_and_back = [(t, 10.0 * (t % 2), 0.0) for t in range(9)]
    data = points(there_and_back, [], there_and_back, [(0, 500.0, 0.0), (8, 500.0, 0.0)])
    assert inside(data, (0, 0, 1, 0, 8)) == [2, 0, 2, 0]


def test_nothing_to_count():
    assert count_inside(points(), ask((0, 0, 1, 0, 1)), radius=0, disc=False).tolist() == [[0] * 4]
    assert count_inside(points([(0, 0.0, 0.0)]), ask(), radius=0, disc=False).shape == (0, 4)


def test_places_and_times_far_outside_the_queries():
    data = points([(-(10**15), 1e12, -1e12), (10**15, 1e12, -1e12)], [(0, -1e12, 0.0), (4, 1e12, 0.0)])
    assert inside(data, (0, 0, 1, 1, 3)) == [1, 0, 1, 0]
    assert inside(data, (1e12, -1e12, 1, 1, 3)) == [1, 1, 1, 1]


def test_the_same_place_and_moment_for_all():
    data = points(*[[(3, 1.0, 1.0)]] * 5)
    assert count_inside(data, ask(*[(1, 1, 0, 3, 3)] * 3), radius=0, disc=False).tolist() == [[5] * 4] * 3
