"""True boxes against the definition: some later position for each box, by trying all."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.model import Boxes, Frame, Points
from wayveil.verifiers.common import containment
from wayveil.verifiers.common.containment import beyond, contain, touched

# ---------------------------------------------------------------------------------------------------- the definition


def inside(box, x, y):
    _, _, x_min, x_max, y_min, y_max = box
    return x_min <= x <= x_max and y_min <= y <= y_max


def on_the_way(box, truth):
    """ "true", "outside" or "nowhere" for a box in whose time nothing is recorded."""
    before, after = [row for row in truth if row[0] < box[0]], [row for row in truth if row[0] > box[1]]
    if not before or not after:
        return "nowhere"
    (t0, *start), (t1, *end) = before[-1], after[0]
    shares = [Fraction(t - t0, t1 - t0) for t in box[:2]]
    ways = [[Fraction(a) * (1 - s) + Fraction(b) * s for a, b in zip(start, end, strict=True)] for s in shares]
    return "true" if all(inside(box, *way) for way in ways) else "outside"


def in_turn(boxes, truth):
    """What is said of every box: each takes the first position after the last one taken."""
    words, last = [], -1
    for box in boxes:
        in_time = [i for i, (t, _, _) in enumerate(truth) if box[0] <= t <= box[1]]
        fitting = [i for i in in_time if inside(box, *truth[i][1:])]
        later = [i for i in fitting if i > last]
        if later:
            last = later[0]
        words.append("true" if later else "again" if fitting else "outside" if in_time else on_the_way(box, truth))
    return words


def possible(boxes, truth, first=0):
    """Whether there is any choice of a later position for each box."""
    if not boxes:
        return True
    box, *others = boxes
    in_time = [i for i, (t, _, _) in enumerate(truth) if box[0] <= t <= box[1]]
    if not in_time:
        return on_the_way(box, truth) == "true" and possible(others, truth, first)
    return any(i >= first and inside(box, *truth[i][1:]) and possible(others, truth, i + 1) for i in in_time)


@st.composite
def publications(draw):
    """Boxes that overlap in time, or lie apart, or are of no time that is recorded."""
    truth, boxes = [], []
    coordinate, side = st.integers(0, 2).map(float), st.tuples(st.integers(0, 2), st.integers(0, 2)).map(sorted)
    for _ in range(draw(st.integers(1, 4))):
        times = sorted(draw(st.sets(st.integers(0, 9), max_size=7)))
        truth.append([(t, draw(coordinate), draw(coordinate)) for t in times])
        size = draw(st.integers(0, 5))
        since = sorted(draw(st.lists(st.integers(-1, 9), min_size=size, max_size=size)))
        until = np.maximum.accumulate([t + draw(st.sampled_from([0, 0, 1, 6])) for t in since] or [0]).tolist()
        rows = [(a, b, *draw(side), *draw(side)) for a, b in zip(since, until, strict=False)]
        boxes.append([(a, b, float(w), float(e), float(s), float(n)) for a, b, w, e, s, n in rows])
    return Boxes.from_records(boxes), Points.from_records(truth)


@given(publications(), st.sampled_from([1, 3, 1_000_000]))
@settings(deadline=None, max_examples=400)
def test_true_boxes_are_the_definition(made, chunk):
    boxes, truth = made
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(containment, "_CHUNK_ROWS", chunk)
        found = contain(boxes, truth)
        touches = touched(boxes, truth)
    words = [word for i in range(len(boxes)) for word in in_turn(boxes.record(i), truth.record(i))]
    for kind in ("outside", "again", "nowhere"):
        assert getattr(found, kind).tolist() == [word == kind for word in words]
    assert found.wrong.tolist() == [word != "true" for word in words]
    for i in range(len(boxes)):
        rows = slice(boxes.offsets[i], boxes.offsets[i + 1])
        assert possible(boxes.record(i), truth.record(i)) == (not found.wrong[rows].any())
        assert touches[rows].tolist() == [
            any(box[0] <= t <= box[1] and inside(box, x, y) for t, x, y in truth.record(i)) for box in boxes.record(i)
        ]


# --------------------------------------------------------------------------------------------------------- by hand

WIDE, NARROW = (0, 9, 0.0, 9.0, 0.0, 9.0), (0, 9, 0.0, 1.0, 0.0, 1.0)
AT_1, AT_5, AT_9 = (1, 1.0, 1.0), (5, 5.0, 5.0), (9, 1.0, 1.0)


@pytest.mark.parametrize(
    ("boxes", "truth", "words"),
    [
        ([WIDE, WIDE], [AT_1, AT_5], ["true", "true"]),
        ([WIDE, WIDE], [AT_1], ["true", "again"]),  # one position is not two
        ([WIDE, NARROW], [AT_1, AT_5], ["true", "again"]),  # the narrow one comes after: no later position is in it
        ([NARROW, WIDE], [AT_1, AT_5], ["true", "true"]),
        ([WIDE, NARROW], [AT_1, AT_5, AT_9], ["true", "true"]),
        ([WIDE, NARROW, WIDE], [AT_1, AT_5, AT_9], ["true", "true", "again"]),
        ([NARROW, NARROW], [AT_5], ["outside", "outside"]),
        ([NARROW, WIDE, WIDE], [AT_5], ["outside", "true", "again"]),  # what is not true takes nothing
        ([(1, 1, 0.0, 1.0, 0.0, 1.0)] * 2, [AT_1], ["true", "again"]),
        ([(2, 3, 0.0, 9.0, 0.0, 9.0)] * 3, [AT_1, AT_5], ["true"] * 3),  # on the way from one to the other: takes none
        ([WIDE, (2, 9, 0.0, 9.0, 0.0, 9.0), (2, 9, 0.0, 9.0, 0.0, 9.0)], [AT_1, AT_5], ["true", "true", "again"]),
        (
            [(0, 2, 0.0, 9.0, 0.0, 9.0), (2, 3, 0.0, 9.0, 0.0, 9.0), (3, 9, 0.0, 9.0, 0.0, 9.0)],
            [AT_1, AT_5],
            ["true"] * 3,
        ),
    ],
)
def test_a_later_position_for_each_box(boxes, truth, words):
    around = ([WIDE, WIDE], [AT_1, AT_5])
    found = contain(
        Boxes.from_records([around[0], boxes, around[0]]), Points.from_records([around[1], truth, around[1]])
    )
    said = ["outside" if o else "again" if a else "nowhere" if n else "true"
            for o, a, n in zip(found.outside, found.again, found.nowhere, strict=True)]  # fmt: skip
    assert said == ["true", "true", *words, "true", "true"]


def test_long_searches_find_the_first_position():
    """One box of all times, and the only position in it far behind; then one more box for what follows."""
    n = 5000
    truth = [(t, 5.0 if t == 3210 else 50.0, 0.0) for t in range(n)]
    box = (0, n, 0.0, 9.0, 0.0, 0.0)
    data = Points.from_records([truth, truth])
    assert contain(Boxes.from_records([[box], [box, box]]), data).again.tolist() == [False, False, True]
    rest = (3000, n, 40.0, 60.0, 0.0, 0.0)
    assert not contain(Boxes.from_records([[box, rest], [box, rest, rest]]), data).wrong.any()
    early = (0, n, 40.0, 60.0, 0.0, 0.0)
    assert not contain(Boxes.from_records([[early, box], [early] * 3210]), data).wrong.any()
    assert contain(Boxes.from_records([[early] * (n - 1), [early] * n]), data).wrong.sum() == 1


def test_points_in_their_boxes():
    boxes = Boxes.from_records([[(0, 5, 0.0, 1.0, 2.0, 3.0)] * 7])
    rows = [
        (0, 0.0, 2.0),
        (1, 1.0, 3.0),
        (2, -0.01, 2.0),
        (3, 1.01, 2.0),
        (4, 0.0, 1.99),
        (5, 0.0, 3.01),
        (6, 0.0, 2.0),
    ]
    assert beyond(boxes, Points.from_records([rows])).tolist() == [False, False, True, True, True, True, True]
    early = Boxes.from_records([[(1, 5, 0.0, 1.0, 2.0, 3.0)]])
    assert beyond(early, Points.from_records([[(0, 0.0, 2.0)]])).tolist() == [True]


def test_degrees_may_be_beyond_by_a_micrometre():
    frame = Frame(crs="EPSG:4326", degrees=True, x_scale=1e5, y_scale=1e5)
    for planar, shift, found in ((True, 5e-7, True), (False, 5e-7, False), (False, 2e-6, True)):
        extra = {} if planar else {"frame": frame}
        boxes = Boxes.from_records([[(0, 0, 0.0, 1.0, 0.0, 1.0)]], **extra)
        points = Points.from_records([[(0, 1.0 + shift, -shift)]], **extra)
        assert beyond(boxes, points).tolist() == [found]
        assert contain(boxes, points).outside.tolist() == [found]
        assert touched(boxes, points).tolist() == [not found]
