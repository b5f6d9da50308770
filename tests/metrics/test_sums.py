"""Metrics that add up: counted in pieces, by people, they say what they say of the whole."""

import pickle
from dataclasses import replace
from functools import reduce

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.errors import InputError
from wayveil.metrics.boxes.box_loss import BoxLoss
from wayveil.metrics.flows import Flows, RouteFlows, StopFlows
from wayveil.metrics.hours import PlaceHours
from wayveil.metrics.points.distortion import Distortion
from wayveil.metrics.roads.road_error import RoadError
from wayveil.metrics.roads.traffic import Traffic
from wayveil.metrics.stats import LENGTHS, distribution, tally_of_sizes
from wayveil.metrics.stops.generalization_cost import GeneralizationCost
from wayveil.metrics.stops.taxonomy_levels import TaxonomyLevels
from wayveil.metrics.trip_lengths import RouteLength, TripDuration, TripLength, TripVisits
from wayveil.metrics.visits.instance_loss import InstanceLoss
from wayveil.metrics.visits.visit_support import VisitSupport
from wayveil.model import Boxes, Points, RoadNetwork, Routes, Stops, Taxonomy, Visits
from wayveil.model.accumulators import add
from wayveil.model.data.ragged import offsets_of

TREE = Taxonomy.from_parents(
    [("Place", ""), ("Food", "Place"), ("Bar", "Food"), ("Cafe", "Food"), ("Health", "Place"), ("Clinic", "Health")],
    sensitive=["Clinic"],
)
ROADS = [("ab", "a", "b"), ("bc", "b", "c"), ("cb", "c", "b"), ("ba", "b", "a")]
WHERE = {"a": (0.0, 0.0), "b": (300.0, 0.0), "c": (300.0, 400.0)}
NETWORK = replace(RoadNetwork.from_roads(ROADS, places=WHERE), length_m=np.array([300.0, 400.1, 400.1, 300.0]))


def in_pieces(metric, original, published, piece):
    """Return the score of what was counted in pieces; `piece` says where each person is."""
    counts = []
    for number in range(max(piece) + 1):
        own = [
            shuffled(data.take(np.flatnonzero(np.array(piece)[data.owner] == number)), number)
            for data in (original, published)
        ]
        counts.append(pickle.loads(pickle.dumps(metric.count(*own))))
    return metric.score(reduce(add, counts))


def shuffled(data, seed):
    """Return the same data with codes of their own."""
    rng = np.random.default_rng(seed)
    if isinstance(data, Visits):
        order = rng.permutation(len(data.locations))
        back = np.argsort(order)
        return replace(data, locations=tuple(data.locations[i] for i in order), location=back[data.location])
    if isinstance(data, Routes):
        old = data.network
        order = rng.permutation(len(old.roads))
        ends = {"from_node": old.from_node[order], "to_node": old.to_node[order]}
        network = replace(old, roads=tuple(old.roads[i] for i in order), length_m=old.length_m[order], **ends)
        return replace(data, network=network, road=np.argsort(order)[data.road])
    return data


def owned(draw, n):
    """Return owners of n trajectories, and the piece of each of them."""
    owner = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    return owner, draw(st.lists(st.integers(0, 2), min_size=4, max_size=4))


def thinned(draw, data):
    """Return the data without some rows, and sometimes in another order and without some trajectories."""
    keep = draw(st.lists(st.booleans(), min_size=data.n_rows, max_size=data.n_rows))
    return data.where(np.array(keep, bool))


@st.composite
def visits(draw):
    time = st.integers(-2, 60) | st.integers(0, 10**5)
    listed = draw(st.lists(st.dictionaries(time, st.sampled_from("abcde"), max_size=5), min_size=1, max_size=7))
    owner, piece = owned(draw, len(listed))
    data = Visits.from_records([[(place, t) for t, place in sorted(one.items())] for one in listed], owner=owner)
    data = replace(data, time_format=draw(st.sampled_from(["integer", "epoch", "local"])))
    after = thinned(draw, data)
    if draw(st.booleans()):  # a place that was never in the original
        after = replace(after, locations=tuple("y" if name == "b" else name for name in after.locations))
    return data, after, piece


@given(visits())
@settings(deadline=None, max_examples=40)
def test_visits(case):
    original, published, piece = case
    for metric in (InstanceLoss(), VisitSupport(), TripVisits(), TripDuration(), Flows(top=2), PlaceHours(top=2)):
        assert in_pieces(metric, original, published, piece) == metric.run(original, published)


@given(visits())
@settings(deadline=None, max_examples=20)
def test_a_publication_of_the_order_alone(case):
    original, published, piece = case
    place = np.arange(published.n_rows) - np.repeat(published.offsets[:-1], np.diff(published.offsets)) + 1
    published = replace(published, t=place, time_format="integer")
    for owners in ("given", "declared"):
        before, after = (replace(data, owners=owners) for data in (original, published))
        try:
            expected = InstanceLoss().run(before, after)
        except InputError:
            with pytest.raises(InputError, match="cannot be compared"):
                in_pieces(InstanceLoss(), before, after, piece)
            continue
        assert in_pieces(InstanceLoss(), before, after, piece) == expected
        assert (expected.measured["owners_before"] is None) == (owners == "declared")


@st.composite
def routes(draw):
    road = st.sampled_from([name for name, _, _ in ROADS])
    listed = draw(st.lists(st.lists(road, max_size=4), min_size=1, max_size=7))
    owner, piece = owned(draw, len(listed))
    slices = draw(st.lists(st.sampled_from([(0, 5), (5, 10)]), min_size=len(listed), max_size=len(listed)))
    data = Routes.from_records(listed, network=NETWORK, slices=slices, owner=owner)
    after = thinned(draw, data)
    if draw(st.booleans()):  # a slice that the original does not have
        start = after.t_start.copy()
        start[0] = 1
        after = replace(after, t_start=start)
    return data, after, piece


@given(routes())
@settings(deadline=None, max_examples=40)
def test_routes(case):
    original, published, piece = case
    for metric in (Traffic(top=1), RouteLength(), RouteFlows(top=2), RoadError(), RoadError(k=2)):
        assert in_pieces(metric, original, published, piece) == metric.run(original, published)


@st.composite
def stops(draw):
    listed = draw(st.lists(st.lists(st.sampled_from(["Bar", "Cafe", "Clinic"]), max_size=5), min_size=1, max_size=7))
    owner, piece = owned(draw, len(listed))
    data = Stops.from_records(listed, taxonomy=TREE, owner=owner)
    up = draw(st.lists(st.integers(0, 2), min_size=data.n_rows, max_size=data.n_rows))
    place = [node if TREE.sensitive[node] else _above(node, by) for node, by in zip(data.place, up, strict=True)]
    return data, thinned(draw, replace(data, place=np.array(place, np.int32))), piece


def _above(node, by):
    for _ in range(by):
        node = TREE.parent[node]
    return node


@given(stops())
@settings(deadline=None, max_examples=40)
def test_stops(case):
    original, published, piece = case
    for metric in (GeneralizationCost(), TaxonomyLevels(), StopFlows(top=1)):
        assert in_pieces(metric, original, published, piece) == metric.run(original, published)


@st.composite
def points(draw):
    place = st.tuples(st.integers(-3, 9), st.integers(-3, 9))
    listed = draw(st.lists(st.dictionaries(st.integers(0, 9), place, max_size=5), min_size=1, max_size=7))
    owner, piece = owned(draw, len(listed))
    records = [[(t, float(x), float(y)) for t, (x, y) in sorted(one.items())] for one in listed]
    data = Points.from_records(records, owner=owner)
    shift = draw(st.sampled_from([0.0, 0.5, 300.0]))
    return data, thinned(draw, replace(data, x=data.x + shift * (data.y > 0))), piece


@given(points())
@settings(deadline=None, max_examples=40)
def test_points(case):
    original, published, piece = case
    assert in_pieces(TripLength(), original, published, piece) == TripLength().run(original, published)
    for metric in (Distortion(), Distortion(omega=3)):
        found, expected = in_pieces(metric, original, published, piece), metric.run(original, published)
        # Sums of distances are rounded in another order.
        assert found.measured == {
            name: number if number is None else pytest.approx(number, rel=1e-12)
            for name, number in expected.measured.items()
        }
        assert found.value == (expected.value and pytest.approx(expected.value, rel=1e-12))
        assert found.charts == expected.charts


@given(points(), st.integers(0, 3))
@settings(deadline=None, max_examples=40)
def test_boxes(case, wide):
    original, published, piece = case
    # Sides on a grid, so that trajectories of several pieces have the same boxes.
    low = [np.floor(side / (wide + 1)) * (wide + 1) for side in (published.x, published.y)]
    boxes = Boxes(
        offsets=published.offsets,
        t_min=np.zeros(published.n_rows, np.int64),
        t_max=published.t * 0 + 9,
        x_min=low[0],
        x_max=low[0] + wide,
        y_min=low[1],
        y_max=low[1] + wide,
        owner=published.owner,
        owners="given",
    )
    for metric in (BoxLoss(), BoxLoss(max_area=4)):
        for owners in ("given", "declared"):
            before = replace(original, owners=owners)
            assert in_pieces(metric, before, boxes, piece) == metric.run(before, boxes)


def test_groups_reach_over_pieces_and_are_told_apart():
    box, other = (0, 1, 0.0, 2.0, 0.0, 1.0), (0, 1, 0.0, 1.0, 0.0, 2.0)
    rows = [[box, other], [box, other], [other, box], [box], [other], []]
    after = Boxes.from_records(rows, owner=range(6))
    before = Points.from_records([[(0, 0.0, 0.0)]] * 6, owner=range(6))
    for piece in ([0] * 6, [0, 1, 0, 1, 0, 1]):
        score = in_pieces(BoxLoss(max_area=10), before, after, piece)
        assert score.measured["groups"] == 4
        assert score.measured["discernibility"] == 4 + 1 + 1 + 1 + 6
        # Boxes of area 2: two of the first group, two, one and one of the others, and the sample that is lost.
        assert score.measured["information_given_up_printed"] == pytest.approx(6 * 2 / 10 + 1)


def test_boxes_without_an_area_are_told_apart():
    lines = [[(0, 1, 3.0, 3.0, low, high)] for low, high in ((0.0, 1.0), (0.0, 2.0), (1.0, 2.0), (0.0, 1.0))]
    before = Points.from_records([[(0, 0.0, 0.0)]] * 4, owner=range(4))
    after = Boxes.from_records(lines, owner=range(4))
    assert in_pieces(BoxLoss(), before, after, [0, 0, 0, 1]).measured["groups"] == 3


def test_ties_are_in_the_order_of_names_whatever_the_codes():
    data = Visits.from_records([[("b", 1), ("a", 2), ("c", 3)]] * 2, owner=[0, 1])
    other = replace(data, locations=("c", "b", "a"), location=2 - data.location)
    for metric in (InstanceLoss(), VisitSupport(), Flows(), PlaceHours()):
        assert metric.run(other, data) == metric.run(data, data)
    assert InstanceLoss().run(other, data).charts[0].labels == ("a", "b", "c")


def test_counts_do_not_grow_with_the_data():
    def size(metric, data):
        return len(pickle.dumps(metric.count(data, data)))

    some = Visits.from_records([[("a", 1), ("b", 2)]] * 10)
    many = Visits.from_records([[("a", 1), ("b", 2)]] * 5000)
    for metric in (InstanceLoss(), VisitSupport(), TripVisits(), TripDuration(), Flows(), PlaceHours()):
        assert size(metric, many) < size(metric, some) + 200
    rng = np.random.default_rng(1)
    x = rng.random(100_000) * 1000
    walk = Points(
        offsets=offsets_of(np.full(10, 10_000)), t=np.tile(np.arange(10_000), 10), x=x, y=x, owner=np.arange(10)
    )
    moved = replace(walk, x=x + rng.random(len(x)))
    assert len(pickle.dumps(Distortion().count(walk, moved))) < 100_000
    boxes = Boxes.from_records([[(0, 9, 0.0, 5.0, 0.0, 5.0)] * 3] * 3000)
    dots = Points.from_records([[(0, 1.0, 1.0)]] * 3000)
    assert len(pickle.dumps(BoxLoss().count(dots, boxes))) < 5000


# Values counted by their first digits, as charts show them.


@given(st.lists(st.floats(0, 1e9) | st.sampled_from([0.0, 0.3, 0.6, 7.0, 30.0, 999.9999999, 1e-9, 1e300]), min_size=1))
@settings(deadline=None, max_examples=100)
def test_sizes_keep_three_digits(listed):
    values = np.array(listed)
    found = tally_of_sizes(values)
    assert found.total == len(listed)
    assert (np.diff(found.values) > 0).all()
    every = np.repeat(found.values, found.counts)
    rising = np.sort(values)
    assert (every <= rising * (1 + 1e-9)).all()
    assert (every >= rising * 0.99 * (1 - 1e-9) - 1e-300).all()


@pytest.mark.parametrize("scale", [1e-3, 0.2, 1.0, 7.0, 130.0, 3333.0, 1e6])
def test_sizes_give_the_same_chart(scale):
    values = np.abs(np.random.default_rng(3).normal(0, scale, 5001))
    expected, found = (
        distribution("t", "w", LENGTHS, [("a", column)], "share") for column in (values, tally_of_sizes(values))
    )
    assert found == expected


def test_rounding_does_not_put_a_size_below_its_number():
    assert tally_of_sizes(np.array([0.3, 0.1 + 0.2, 0.3 - 1e-16])).values.tolist() == [0.3]


def test_sizes_too_large_for_a_number_give_no_chart():
    found = tally_of_sizes(np.array([1.0, np.inf]))
    assert found.values.tolist() == [1.0, np.inf]
    assert distribution("t", "w", LENGTHS, [("a", found)], "share") == ()
