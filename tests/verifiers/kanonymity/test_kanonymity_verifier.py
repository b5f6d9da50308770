"""The verifier of k-anonymity against the definition, written out with tuples and fractions, and planted violations."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.model import Boxes, Frame, KAnonymity, Points
from wayveil.verifiers.kanonymity.kanonymity_verifier import check_kanonymity

# ---------------------------------------------------------------------------------------------------- the definition


def oracle_support(data):
    owner = data.owner.tolist() if data.owners == "given" else list(range(len(data)))
    people = defaultdict(set)
    for i in range(len(data)):
        if data.record(i):
            people[tuple(data.record(i))].add(owner[i])
    return {sequence: len(owners) for sequence, owners in people.items()}


def oracle_share(data):
    """The largest share of one owner in the trajectories with one sequence."""
    owner = data.owner.tolist() if data.owners == "given" else list(range(len(data)))
    owners = defaultdict(list)
    for i in range(len(data)):
        owners[tuple(data.record(i))].append(owner[i])
    return max(Fraction(some.count(one), len(some)) for record, some in owners.items() if record for one in some)


def oracle_boxes(boxes, truth):
    """ "true", "outside", "again" or "nowhere", for every box of a trajectory and the rows of its original."""
    words, last = [], -1
    for t_min, t_max, x_min, x_max, y_min, y_max in boxes:

        def fits(x, y, x_min=x_min, x_max=x_max, y_min=y_min, y_max=y_max):
            return x_min <= x <= x_max and y_min <= y <= y_max

        in_time = [i for i, (t, _, _) in enumerate(truth) if t_min <= t <= t_max]
        before, after = [row for row in truth if row[0] < t_min], [row for row in truth if row[0] > t_max]
        fitting = [i for i in in_time if fits(*truth[i][1:])]
        later = [i for i in fitting if i > last]
        if in_time:
            words.append("true" if later else "again" if fitting else "outside")
            last = later[0] if later else last
        elif not before or not after:
            words.append("nowhere")
        else:
            (t0, x0, y0), (t1, x1, y1) = before[-1], after[0]
            shares = [Fraction(t - t0, t1 - t0) for t in (t_min, t_max)]
            way = [
                (Fraction(x0) * (1 - s) + Fraction(x1) * s, Fraction(y0) * (1 - s) + Fraction(y1) * s) for s in shares
            ]
            words.append("true" if all(fits(x, y) for x, y in way) else "outside")
    return words


def assert_agrees(data, claim, original):
    verdict, support = check_kanonymity(data, claim, original=original), oracle_support(data)
    if not support:
        assert not verdict.holds
        return verdict
    found = []
    if original is not None and isinstance(data, Boxes):
        found = [word for i in range(len(data)) for word in oracle_boxes(data.record(i), original.record(i))]
        assert verdict.measured["boxes_untrue"] == sum(word != "true" for word in found)
    else:
        assert verdict.measured["boxes_untrue"] is None
    least, share = min(support.values()), oracle_share(data)
    enough = least >= claim.k and share <= claim.owner_share
    assert verdict.holds == (enough and all(word == "true" for word in found))
    assert verdict.measured["max_owner_share"] == float(share)
    assert verdict.measured["min_support"] == least
    assert verdict.measured["groups"] == len(support)
    assert verdict.claim is claim
    assert verdict.counted == ("owners" if data.owners == "given" else "trajectories")
    assert (verdict.witness is None) == verdict.holds
    if least < claim.k:
        rare = [list(sequence[0]) for sequence, people in support.items() if people == least]
        assert verdict.witness["breaks"] == "support"
        assert verdict.witness["people"] == least
        assert verdict.witness["start"] in rare
    elif not enough:
        assert verdict.witness["breaks"] == "share"
        assert Fraction(verdict.witness["own"], verdict.witness["own"] + verdict.witness["others"]) == share
    elif not verdict.holds:
        assert verdict.witness["breaks"] == "truth"
        assert verdict.witness["person"] in found
        boxes = [list(box) for i in range(len(data)) for box in data.record(i)]
        assert (verdict.witness["box"], verdict.witness["person"]) in list(zip(boxes, found, strict=True))
    return verdict


# -------------------------------------------------------------------------------------------------------- random data


@st.composite
def truths(draw):
    times = st.lists(st.integers(-2, 9), max_size=6, unique=True).map(sorted)
    coordinate = st.integers(-1, 3).map(float)
    return [[(t, draw(coordinate), draw(coordinate)) for t in draw(times)] for _ in range(draw(st.integers(1, 6)))]


@st.composite
def generalized(draw):
    truth = draw(truths())
    low, high = st.integers(-1, 1).map(float), st.integers(1, 3).map(float)

    def sequence():
        bounds = sorted(draw(st.lists(st.integers(-3, 10), max_size=6)))
        pairs = list(zip(bounds[::2], bounds[1::2], strict=False))
        return [(a, b, draw(low), draw(high), draw(low), draw(high)) for a, b in pairs]

    kinds = [sequence() for _ in range(draw(st.integers(1, 2)))]
    owner = [draw(st.integers(0, 3)) for _ in truth]
    boxes = Boxes.from_records([draw(st.sampled_from([*kinds, []])) for _ in truth], owner=owner)
    boxes = replace(boxes, owners=draw(st.sampled_from(["given", "given", "declared", "hidden"])))
    return boxes, Points.from_records(truth, owner=owner)


@given(generalized(), st.integers(2, 3), st.booleans())
@settings(deadline=None, max_examples=250)
def test_verdict_is_the_definition(made, k, with_original):
    boxes, truth = made
    verdict = assert_agrees(boxes, KAnonymity(k=k), truth if with_original else None)
    assert len(verdict.not_judged) == (boxes.owners == "hidden") + (not with_original)


@given(st.data(), st.integers(2, 3), st.sampled_from(["1/k", Fraction(3, 5), Fraction(1, 4), Fraction(1)]))
@settings(deadline=None, max_examples=150)
def test_verdict_is_the_definition_where_people_have_several_trips(data, k, row_share):
    many = data.draw(st.lists(st.integers(1, 6), min_size=k, max_size=5))
    owner = [person for person, trips in enumerate(many) for _ in range(trips)]
    kinds = [data.draw(st.integers(0, 1)) for _ in owner]
    boxes = Boxes.from_records([[(0, 0, float(kind), 2.0, 0.0, 1.0)] for kind in kinds], owner=owner)
    assert_agrees(boxes, KAnonymity(k=k, row_share=row_share), None)


def test_twenty_trips_of_one_person_do_not_hide_behind_one_of_another():
    boxes = Boxes.from_records([[(0, 0, 0.0, 2.0, 0.0, 1.0)]] * 21, owner=[7] * 20 + [8])
    verdict = check_kanonymity(boxes, KAnonymity(k=2))
    assert not verdict.holds
    assert (verdict.measured["min_support"], verdict.measured["max_owner_share"]) == (2, 20 / 21)
    assert {key: verdict.witness[key] for key in ("breaks", "people", "own", "others")} == {
        "breaks": "share", "people": 2, "own": 20, "others": 1,
    }  # fmt: skip
    assert verdict.reason == (
        "Of 21 trajectories with the same sequence of boxes, 20 belong to one person, more than 1/2."
    )
    assert check_kanonymity(boxes, KAnonymity(k=2, row_share=Fraction(20, 21))).holds


@given(truths(), st.integers(2, 3), st.data())
@settings(deadline=None, max_examples=80)
def test_points_are_judged_by_their_sequence(records, k, data):
    repeated = [records[i] for i in data.draw(st.lists(st.integers(0, len(records) - 1), max_size=12))]
    points = Points.from_records(
        repeated, owner=data.draw(st.lists(st.integers(0, 4), min_size=len(repeated), max_size=len(repeated)))
    )
    verdict = assert_agrees(points, KAnonymity(k=k), None)
    assert verdict.not_judged == (
        "true positions: points were published, not boxes, so nothing says where the people really were",
    )
    assert assert_agrees(points, KAnonymity(k=k), points).not_judged == verdict.not_judged


@given(generalized(), st.integers(2, 3), st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=80)
def test_order_and_names_of_owners_do_not_matter(made, k, random):
    boxes, truth = made
    order = list(range(len(boxes)))
    random.shuffle(order)
    moved = [replace(data.take(np.array(order)), owner=data.owner[order] * 5 + 2**40) for data in (boxes, truth)]
    one = check_kanonymity(boxes, KAnonymity(k=k), original=truth)
    other = check_kanonymity(moved[0], KAnonymity(k=k), original=moved[1])
    assert (one.holds, one.measured, one.witness, one.reason) == (
        other.holds, other.measured, other.witness, other.reason,
    )  # fmt: skip


@given(generalized(), st.integers(2, 3))
@settings(deadline=None, max_examples=60)
def test_far_from_the_origin_the_verdict_is_the_same(made, k):
    boxes, truth = made
    far = replace(truth, x=truth.x + 1e6, y=truth.y - 1e6)
    sides = {
        name: getattr(boxes, name) + (1e6 if name[0] == "x" else -1e6) for name in ("x_min", "x_max", "y_min", "y_max")
    }
    one = check_kanonymity(boxes, KAnonymity(k=k), original=truth)
    other = check_kanonymity(replace(boxes, **sides), KAnonymity(k=k), original=far)
    assert one.holds == other.holds
    assert one.measured == other.measured


# ------------------------------------------------------------------------------------------------- planted violations

K, GROUPS, TIMES = 4, 500, 6
CLAIM = KAnonymity(k=K)


def groups():
    """500 groups of exactly k = 4 people, each with the box of the group at every time; truth and boxes."""
    rng = np.random.default_rng(11)
    x, y = rng.uniform(0, 1e5, (2, GROUPS, 1, TIMES)) + rng.uniform(0, 50, (2, GROUPS, K, TIMES))
    t = np.tile(np.arange(TIMES) * 60, GROUPS * K)
    n = GROUPS * K
    same = {"offsets": np.arange(n + 1) * TIMES, "owner": np.arange(n), "owners": "given"}
    sides = {
        f"{name}_{end}": np.repeat(function(values, axis=1), K, axis=0).ravel()
        for name, values in (("x", x), ("y", y))
        for end, function in (("min", np.min), ("max", np.max))
    }
    return Points(t=t, x=x.ravel(), y=y.ravel(), **same), Boxes(t_min=t, t_max=t, **sides, **same)


def changed(data, column, row, value):
    values = getattr(data, column).copy()
    values[row] = value
    return replace(data, **{column: values})


def test_a_publication_without_violation_holds():
    truth, boxes = groups()
    verdict = check_kanonymity(boxes, CLAIM, original=truth)
    assert verdict.holds
    assert verdict.not_judged == ()
    assert verdict.measured == {
        "min_support": K, "max_owner_share": 1 / K, "groups": GROUPS, "boxes_untrue": 0,
        "trajectories": GROUPS * K, "boxes": GROUPS * K * TIMES,
    }  # fmt: skip
    assert verdict.reason == (
        "Each of the 500 sequences of boxes is that of 4 people or more (k = 4), of whom nobody owns more than 1/4 of "
        "the trajectories, and all 12,000 boxes contain where they were."
    )


@pytest.mark.parametrize("column", ["x_min", "x_max", "y_min", "y_max"])
@pytest.mark.parametrize("row", [0, 7777, GROUPS * K * TIMES - 1])
def test_one_side_of_one_box_moved_by_the_smallest_number_is_found(column, row):
    truth, boxes = groups()
    out = -np.inf if column.endswith("min") else np.inf  # the box only grows: it is true, but another one
    moved = changed(boxes, column, row, np.nextafter(getattr(boxes, column)[row], out))
    for original in (truth, None):
        verdict = check_kanonymity(moved, CLAIM, original=original)
        assert not verdict.holds
        assert verdict.witness["people"] == 1
        assert verdict.measured["groups"] == GROUPS + 1
        assert verdict.reason == "A sequence of boxes is that of only 1 person, fewer than k = 4."


@pytest.mark.parametrize("column", ["t_min", "t_max"])
def test_one_time_is_enough_to_be_another_sequence(column):
    _, boxes = groups()
    moved = changed(boxes, column, 3000, boxes.t_min[3000] + (1 if column == "t_max" else -1))
    assert not check_kanonymity(moved, CLAIM).holds


def test_a_sequence_that_goes_on_is_another_one():
    """The first of each group ends early; what it has is a prefix of what the others have."""
    _, boxes = groups()
    keep = np.ones(boxes.n_rows, bool)
    keep[TIMES - 1] = False
    verdict = check_kanonymity(boxes.where(keep), CLAIM)
    assert not verdict.holds
    assert verdict.witness["rows"] == TIMES - 1
    two = Boxes.from_records([[(0, 0, 0.0, 0.0, 0.0, 0.0)] * 2, [(0, 0, 0.0, 0.0, 0.0, 0.0)] * 4])
    assert check_kanonymity(two, KAnonymity(k=2)).measured["min_support"] == 1


def test_the_order_of_boxes_matters():
    one, other = (0, 9, 0.0, 1.0, 0.0, 1.0), (0, 9, 5.0, 6.0, 0.0, 1.0)
    data = Boxes.from_records([[one, other], [other, one]])
    assert not check_kanonymity(data, KAnonymity(k=2)).holds


def test_an_owner_who_is_there_twice_counts_once():
    truth, boxes = groups()
    boxes, truth = (changed(data, "owner", 5, 6) for data in (boxes, truth))
    verdict = check_kanonymity(boxes, CLAIM, original=truth)
    assert not verdict.holds
    assert verdict.measured["min_support"] == K - 1
    assert "only 3 people" in verdict.reason
    assert check_kanonymity(replace(boxes, owners="declared"), CLAIM, original=truth).holds


def test_a_group_of_k_minus_one_is_found():
    truth, boxes = groups()
    keep = np.ones(boxes.n_rows, bool)
    keep[:TIMES] = False
    verdict = check_kanonymity(boxes.where(keep), CLAIM, original=truth)
    assert not verdict.holds
    assert verdict.witness["people"] == K - 1
    assert verdict.measured["trajectories"] == GROUPS * K - 1
    assert verdict.measured["boxes_untrue"] == 0


@pytest.mark.parametrize("axis", ["x", "y"])
@pytest.mark.parametrize("side", ["min", "max"])
def test_a_position_outside_by_the_smallest_number_is_found(axis, side):
    truth, boxes = groups()
    row = 4321
    border = getattr(boxes, f"{axis}_{side}")[row]
    assert check_kanonymity(boxes, CLAIM, original=changed(truth, axis, row, border)).holds
    beyond = np.nextafter(border, -np.inf if side == "min" else np.inf)
    verdict = check_kanonymity(boxes, CLAIM, original=changed(truth, axis, row, beyond))
    assert not verdict.holds
    assert verdict.measured["boxes_untrue"] == 1
    assert verdict.witness == {
        "box": list(boxes.record(row // TIMES)[row % TIMES]),
        "person": "outside",
        "breaks": "truth",
    }
    assert verdict.reason == ("A box does not contain where the person was in its time; of 12,000, 1 box is not true.")


BOX = (10, 20, 0.0, 4.0, 0.0, 4.0)
IN, OUT = (2.0, 2.0), (9.0, 2.0)


@pytest.mark.parametrize(
    ("truth", "person"),
    [
        ([(10, *IN), (20, *IN)], None),
        ([(9, *OUT), (10, *IN), (20, *IN), (21, *OUT)], None),  # what is outside its time does not matter
        ([(10, *OUT), (15, *IN)], None),  # one position in it is enough
        ([(15, *IN), (20, *OUT)], None),
        ([(12, *OUT), (15, *IN), (18, *OUT)], None),
        ([(10, *OUT), (15, *OUT), (20, *OUT)], "outside"),
        ([(9, *IN), (15, *OUT), (21, *IN)], "outside"),  # what is recorded comes before what was on the way
        ([(15, *IN)], None),
        ([(5, *IN), (25, *IN)], None),  # not recorded in its time, but on the way
        ([(0, -2.0, 2.0), (30, 4.0, 2.0)], None),  # at (0, 2) and (2, 2)
        ([(0, -2.1, 2.0), (30, 4.0, 2.0)], "outside"),
        ([(0, 4.0, 2.0), (30, -2.1, 2.0)], "outside"),
        ([(0, 2.0, -2.0), (30, 2.0, 4.0)], None),
        ([(0, 2.0, -2.1), (30, 2.0, 4.0)], "outside"),
        ([(0, *IN), (9, *IN)], "nowhere"),
        ([(21, *IN), (30, *IN)], "nowhere"),
        ([], "nowhere"),
    ],
)
def test_what_a_box_says(truth, person):
    for around in ([], [(0, *IN), (15, *IN), (40, *IN)]):  # other trajectories do not help
        boxes = Boxes.from_records([[BOX] if around else [], [BOX], [BOX] if around else []])
        verdict = check_kanonymity(boxes, KAnonymity(k=2), original=Points.from_records([around, truth, around]))
        if not around:
            assert verdict.measured["boxes_untrue"] == int(person is not None)
        elif person is None:
            assert verdict.holds
        else:
            assert verdict.witness == {"box": list(BOX), "person": person, "breaks": "truth"}
            assert ("nowhere" in verdict.reason) == (person == "nowhere")


def test_boxes_may_overlap_in_time_and_each_needs_a_later_position():
    boxes = [(0, 10, 0.0, 4.0, 0.0, 4.0), (5, 15, 0.0, 4.0, 0.0, 4.0)]
    data = Boxes.from_records([boxes, boxes])
    fine, not_fine = [(0, *OUT), (7, *IN), (15, *IN)], [(0, *OUT), (7, *IN), (15, *OUT)]
    assert check_kanonymity(data, KAnonymity(k=2), original=Points.from_records([fine, fine])).holds
    verdict = check_kanonymity(data, KAnonymity(k=2), original=Points.from_records([fine, not_fine]))
    assert not verdict.holds
    assert verdict.measured["boxes_untrue"] == 1
    assert verdict.witness == {"box": list(boxes[1]), "person": "again", "breaks": "truth"}
    assert verdict.reason == (
        "A box contains no later position of the person than the box before it; of 4, 1 box is not true."
    )


def test_times_far_apart_do_not_overflow():
    ends = [(-(2**63), 0.0, 0.0), (2**63 - 1, 4.0, 4.0)]
    boxes = Boxes.from_records([[(0, 0, 1.9, 2.1, 1.9, 2.1)]] * 2)
    assert check_kanonymity(boxes, KAnonymity(k=2), original=Points.from_records([ends, ends])).holds
    boxes = Boxes.from_records([[(0, 0, 2.2, 2.3, 1.9, 2.1)]] * 2)
    assert not check_kanonymity(boxes, KAnonymity(k=2), original=Points.from_records([ends, ends])).holds


# ------------------------------------------------------------------------------------------------- owners and originals


def pair(**changes):
    return replace(Boxes.from_records([[BOX], [BOX]], owner=[3, 4]), **changes)


def test_without_the_original_the_truth_is_not_judged():
    verdict = check_kanonymity(pair(), KAnonymity(k=2))
    assert verdict.holds
    assert verdict.not_judged == (
        "true positions: without the original it is not known whether the boxes contain them",
    )
    assert verdict.reason == (
        "The only sequence of boxes is that of 2 people or more (k = 2), of whom nobody owns more than 1/2 of the "
        "trajectories."
    )


def test_hidden_owners_are_not_counted():
    verdict = check_kanonymity(pair(owners="hidden", owner=np.array([1, 1])), KAnonymity(k=2))
    assert verdict.holds
    assert verdict.counted == "trajectories"
    assert "not whether they belong to 2 different people" in verdict.not_judged[0]


@pytest.mark.parametrize("odd", [-1, -(2**63)])
def test_a_negative_owner_is_nobody(odd):
    verdict = check_kanonymity(pair(owner=np.array([3, odd])), KAnonymity(k=2))
    assert not verdict.holds
    assert "negative owner code" in verdict.reason


def test_huge_owners_are_people_like_others():
    assert check_kanonymity(pair(owner=np.array([2**63 - 1, 2**63 - 2])), KAnonymity(k=2)).holds
    assert not check_kanonymity(pair(owner=np.array([2**63 - 1, 2**63 - 1])), KAnonymity(k=2)).holds


def test_zero_has_no_sign():
    plus, minus = (10, 20, 0.0, 4.0, 0.0, 4.0), (10, 20, -0.0, 4.0, -0.0, 4.0)
    assert check_kanonymity(Boxes.from_records([[plus], [minus]]), KAnonymity(k=2)).holds
    assert check_kanonymity(Points.from_records([[(0, 0.0, 1.0)], [(0, -0.0, 1.0)]]), KAnonymity(k=2)).holds


@pytest.mark.parametrize("data", [Boxes.from_records([]), Boxes.from_records([[], []]), Points.from_records([[]])])
def test_nothing_published_never_holds(data):
    verdict = check_kanonymity(data, KAnonymity(k=2), original=Points.from_records([[(0, 0.0, 0.0)]] * len(data)))
    assert not verdict.holds
    assert verdict.measured["min_support"] is None
    assert verdict.reason == "There is no published position, so there is nothing to judge."


def broken(**columns):
    data = pair()
    for name, values in columns.items():
        object.__setattr__(data, name, values)
    return data


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (broken(x_min=np.array([np.nan, np.nan])), "not a number"),
        (broken(y_max=np.array([np.inf, np.inf])), "not a number"),
        (broken(y_min=np.zeros(3)), "differ in length"),
        (broken(t_max=np.zeros(3, np.int64)), "differ in length"),
        (broken(x_min=np.array([5.0, 5.0])), "ends before it begins"),
        (broken(y_max=np.array([-1.0, -1.0])), "ends before it begins"),
        (broken(t_max=np.array([9, 9])), "ends before it begins"),
        (broken(offsets=np.array([0, 2])), "do not add up"),
        (broken(owners="mine"), "where the owners come from"),
    ],
)
def test_what_a_constructor_refuses_is_not_trusted_here(data, word):
    verdict = check_kanonymity(data, KAnonymity(k=2))
    assert not verdict.holds
    assert word in verdict.reason


def test_an_original_of_others_is_refused():
    inside = [(15, *IN)]
    truth = Points.from_records([inside, inside], owner=[3, 4])
    assert check_kanonymity(pair(), KAnonymity(k=2), original=truth).holds
    for wrong, word in (
        (Points.from_records([inside] * 3, owner=[3, 4, 5]), "one trajectory per published one"),
        (replace(truth, owner=np.array([4, 3])), "other owners"),
        (replace(truth, frame=Frame(crs="EPSG:2100")), "another frame"),
        (replace(truth, time_format="epoch"), "format of times"),
    ):
        verdict = check_kanonymity(pair(), KAnonymity(k=2), original=wrong)
        assert not verdict.holds
        assert verdict.witness is None
        assert word in verdict.reason
    assert check_kanonymity(
        pair(), KAnonymity(k=2), original=replace(truth, owner=np.array([9, 8]), owners="declared")
    ).holds


def test_degrees_read_back_still_contain_what_they_contained():
    rng = np.random.default_rng(2)
    lon, lat = rng.uniform(23, 24, 400), rng.uniform(37, 38, 400)
    frame = Frame.for_degrees(lon, lat)
    x, y = frame.to_metres(lon, lat)
    x, y = x + rng.uniform(0, 1e-3, 400), y + rng.uniform(0, 1e-3, 400)  # not what a file with degrees can hold
    truth = Points(offsets=np.arange(401), t=np.zeros(400), x=x, y=y, owner=np.arange(400), frame=frame)
    west, south = frame.to_metres(
        *frame.to_file(np.repeat(x.reshape(-1, 2).min(1), 2), np.repeat(y.reshape(-1, 2).min(1), 2))
    )
    east, north = frame.to_metres(
        *frame.to_file(np.repeat(x.reshape(-1, 2).max(1), 2), np.repeat(y.reshape(-1, 2).max(1), 2))
    )
    boxes = Boxes(
        offsets=np.arange(401), t_min=np.zeros(400), t_max=np.zeros(400), x_min=west, x_max=east, y_min=south,
        y_max=north, owner=np.arange(400), frame=frame,
    )  # fmt: skip
    assert check_kanonymity(boxes, KAnonymity(k=2), original=truth).holds
    assert not check_kanonymity(boxes, KAnonymity(k=2), original=replace(truth, x=x + 1e-4)).holds
    verdict = check_kanonymity(boxes, KAnonymity(k=3))
    assert 23 <= verdict.witness["start"][2] <= verdict.witness["start"][3] <= 24
    assert 37 <= verdict.witness["start"][4] <= verdict.witness["start"][5] <= 38


# ------------------------------------------------------------------------------------------------ points beside boxes


def drawn(rng=None):
    """The groups, and in each box one point for each of its people."""
    truth, boxes = groups()
    rng = rng or np.random.default_rng(5)
    x, y = (rng.uniform(getattr(boxes, f"{axis}_min"), getattr(boxes, f"{axis}_max")) for axis in "xy")
    return replace(truth, x=x, y=y), boxes, truth


def test_points_are_judged_by_their_boxes():
    points, boxes, truth = drawn()
    assert not check_kanonymity(points, CLAIM, original=truth).holds  # no two of them are the same
    verdict = check_kanonymity(points, CLAIM, original=truth, boxes=boxes)
    assert verdict.holds
    assert verdict.measured == {
        "min_support": K, "max_owner_share": 1 / K, "groups": GROUPS, "boxes_untrue": 0,
        "trajectories": GROUPS * K, "boxes": GROUPS * K * TIMES,
        "points_outside": 0,
    }  # fmt: skip
    assert verdict.reason == (
        "Each of the 500 sequences of boxes is that of 4 people or more (k = 4), of whom nobody owns more than 1/4 of "
        "the trajectories, and all 12,000 boxes contain where they were; every point is in its box."
    )
    assert verdict.not_judged == (
        "how the points were drawn: it is known that they are in their boxes, not that chance placed them",
    )
    alone = check_kanonymity(points, CLAIM, boxes=boxes)
    assert alone.holds
    assert len(alone.not_judged) == 2
    assert "without the original" in alone.not_judged[0]


def test_untrue_boxes_are_found_behind_points():
    points, boxes, truth = drawn()
    moved = changed(truth, "x", 777, boxes.x_max[777] + 0.01)
    verdict = check_kanonymity(points, CLAIM, original=moved, boxes=boxes)
    assert not verdict.holds
    assert verdict.witness["breaks"] == "truth"
    other = changed(boxes, "x_max", 777, boxes.x_max[777] + 0.01)
    assert check_kanonymity(points, CLAIM, original=truth, boxes=other).witness["breaks"] == "support"


@pytest.mark.parametrize("column", ["x_min", "x_max", "y_min", "y_max", "t"])
def test_a_point_beyond_its_box_is_found(column):
    points, boxes, truth = drawn()
    if column == "t":
        moved = changed(points, "t", 4321, points.t[4321] + 1)
    else:
        beyond = getattr(boxes, column)[4321] + (0.01 if column.endswith("max") else -0.01)
        moved = changed(points, column[0], 4321, beyond)
    verdict = check_kanonymity(moved, CLAIM, original=truth, boxes=boxes)
    assert not verdict.holds
    assert verdict.measured["points_outside"] == 1
    assert verdict.witness == {
        "point": list(moved.record(4321 // TIMES)[4321 % TIMES]),
        "box": list(boxes.record(4321 // TIMES)[4321 % TIMES]),
        "breaks": "points",
    }
    assert verdict.reason == ("A point is not in the box that is published with it; of 12,000 points, 1 is not.")


def test_the_owners_behind_points_are_counted():
    points, boxes, truth = drawn()
    hidden = replace(boxes, owners="hidden", owner=np.arange(len(boxes)))
    assert check_kanonymity(points, CLAIM, original=truth, boxes=hidden).counted == "owners"
    twice = changed(points, "owner", 5, 6)
    assert not check_kanonymity(twice, CLAIM, original=changed(truth, "owner", 5, 6), boxes=hidden).holds
    verdict = check_kanonymity(replace(points, owners="hidden"), CLAIM, original=truth, boxes=boxes)
    assert verdict.counted == "trajectories"
    assert "support by owner" in verdict.not_judged[0]


def test_boxes_that_do_not_fit_the_points_are_refused():
    points, boxes, truth = drawn()
    short = np.ones(boxes.n_rows, bool)
    short[0] = False
    moved_end = broken_boxes(boxes, offsets=np.concatenate([[0, TIMES - 1], boxes.offsets[2:]]))
    other_owner = changed(boxes, "owner", 0, GROUPS * K)
    late = broken_boxes(boxes, t_max=boxes.t_max[::-1] + 10_000)
    for wrong, word in (
        (boxes.take(np.arange(len(boxes) - 1)), "not one for each published point"),
        (boxes.where(short), "not one for each published point"),
        (moved_end, "not one for each published point"),
        (Boxes.from_records([]), "not one for each published point"),
        (other_owner, "other owners than the points"),
        (late, "not in the order of time"),
        (replace(boxes, frame=Frame(crs="EPSG:2100")), "another frame"),
        (replace(boxes, time_format="epoch"), "format of times"),
        (broken_boxes(boxes, x_min=np.full(boxes.n_rows, np.nan)), "not a number"),
    ):
        verdict = check_kanonymity(points, CLAIM, original=truth, boxes=wrong)
        assert not verdict.holds
        assert word in verdict.reason
        assert verdict.measured["points_outside"] is None
    verdict = check_kanonymity(boxes, CLAIM, original=truth, boxes=boxes)
    assert not verdict.holds
    assert "beside boxes" in verdict.reason
    nothing = points.where(np.zeros(points.n_rows, bool))
    assert not check_kanonymity(nothing, CLAIM, boxes=boxes.where(np.zeros(boxes.n_rows, bool))).holds
    assert not check_kanonymity(points, CLAIM, original=truth.take(np.arange(3)), boxes=boxes).holds


def broken_boxes(boxes, **columns):
    made = replace(boxes)
    for name, values in columns.items():
        object.__setattr__(made, name, values)
    return made
