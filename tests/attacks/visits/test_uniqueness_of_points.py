"""Known positions of a life against a restatement of the definition, on planted and on random points."""

from dataclasses import replace
from math import floor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.attacks.attack_base import owners_of
from wayveil.attacks.visits.known_points import KnownPoints
from wayveil.attacks.visits.uniqueness_of_points import UniquenessOfPoints
from wayveil.engines import LocalEngine
from wayveil.errors import InputError, ParameterError
from wayveil.model import Frame, Points

ENGINE = LocalEngine(workers=2)


def attack(truth, target=None, seed=1, engine=ENGINE, **parameters):
    target = truth if target is None else target
    rng = np.random.default_rng(seed)
    return UniquenessOfPoints(**parameters).run(truth, target, sensitive={}, rng=rng, engine=engine)


def coarse(row, cell, width):
    t, x, y = row
    return floor(x / cell), floor(y / cell), None if width is None else t // width


def person_of(data, i):
    return int(data.owner[i]) if data.owners == "given" else i


def lives(truth, target, cell, width):
    """Return the coarse points of everybody in the target, by the person of the truth."""
    found = {}
    for i in range(len(truth)):
        found.setdefault(person_of(truth, i), set()).update(coarse(row, cell, width) for row in target.record(i))
    return found


steps = st.integers(-4, 4)


@st.composite
def records(draw):
    at = sorted(draw(st.sets(st.integers(-2, 9), max_size=4)))
    return [(t, float(draw(steps)), float(draw(steps))) for t in at]


@st.composite
def pairs(draw):
    n = draw(st.integers(1, 6))
    owner = draw(st.none() | st.lists(st.integers(0, 3), min_size=n, max_size=n))
    truth = Points.from_records([draw(records()) for _ in range(n)], owner=owner)
    target = draw(st.sampled_from(["raw", "moved"]))
    return truth, truth if target == "raw" else Points.from_records([draw(records()) for _ in range(n)])


@given(pairs(), st.sampled_from([1, 2, 5]), st.sampled_from([1, 3, None]), st.integers(1, 4), st.integers(0, 99))
@settings(deadline=None, max_examples=120)
def test_equals_the_definition_on_small_data(pair, cell, width, points, seed):
    truth, target = pair
    bucket = {1: "exact", 3: "3", None: "any"}[width]
    result = attack(truth, target, seed, cell=cell, bucket=bucket, points=points, draws=2)
    known = KnownPoints.draw(
        owners_of(truth),
        truth.offsets,
        lambda at: (
            truth.x[at] // cell,
            truth.y[at] // cell,
            np.zeros(len(at)) if width is None else truth.t[at] // width,
        ),
        points=points,
        victims=2000,
        draws=2,
        rng=np.random.default_rng(seed),
    )
    rows = [(person_of(truth, i), row) for i in range(len(truth)) for row in truth.record(i)]
    people = lives(truth, target, cell, width)
    for level in range(1, points + 1):
        fitting, success = [], []
        for line in known.table.tolist():
            some = [rows[known.rows[i]] for i in line[:level] if i >= 0]
            wanted = {coarse(row, cell, width) for _, row in some}
            assert len(wanted) == len(some)
            fits = {person for person, life in people.items() if wanted <= life}
            fitting.append(len(fits))
            success.append(1 / len(fits) if some[0][0] in fits else 0.0)
        end = "" if level == points else f"_with_{level}_sample{'s' if level > 1 else ''}"
        expected = {
            f"identity_mean{end}": np.mean(success) if fitting else None,
            f"unique_share{end}": np.mean(np.array(fitting) == 1) if fitting else None,
        }
        assert {name: result.measured[name] for name in expected} == pytest.approx(expected)
    if fitting:
        assert result.measured["unmatched_share"] == pytest.approx(np.mean(np.array(fitting) == 0))


def test_the_wrong_person_is_not_found():
    """The victim's point was moved away and another person's onto its place: sure, and wrong."""
    truth = Points.from_records([[(0, 0.0, 0.0)], [(0, 900.0, 0.0)]])
    target = Points.from_records([[(0, 900.0, 0.0)], [(0, 0.0, 0.0)]])
    result = attack(truth, target, cell=100)
    assert (result.measured["unique_share"], result.measured["identity_mean"]) == (1, 0)


def test_people_are_those_of_the_truth_where_the_publication_hides_them():
    truth = Points.from_records([[(0, 0.0, 0.0)], [(1, 0.0, 0.0)], [(0, 0.0, 0.0)]], owner=[7, 7, 9])
    target = Points.from_records([[(0, 0.0, 0.0)], [(1, 0.0, 0.0)], [(0, 0.0, 0.0)]])
    result = attack(truth, target, points=2, cell=100)
    assert result.victims == 2
    assert result.measured["identity_mean"] == 0.75


def test_curves_over_cells_and_times():
    day = 86_400
    data = Points.from_records(
        [[(0, 50.0, 50.0), (5 * day, 20_000.0, 0.0)], [(30, 150.0, 50.0), (5 * day, 20_000.0, 0.0)],
         [(3 * 3600, 50.0, 450.0), (5 * day, 20_000.0, 0.0)], [(40_000, 50.0, 4500.0), (5 * day, 20_000.0, 0.0)]],
        time_format="epoch",
    )  # fmt: skip
    result = attack(data, points=2)
    chart = result.charts[2]
    assert chart.labels == ("1min", "15min", "1h", "1d", "any time")
    assert [s.name for s in chart.series] == [f"cells of {side}" for side in ("100 m", "500 m", "1 km", "5 km")]
    assert [s.values for s in chart.series] == [
        (1, 1, 1, 1, 1), (0.5, 0.5, 0.5, 0.25, 0.25), (0.5, 0.5, 0.5, 0.25, 0.25), (0.5, 0.5, 0.5, 0, 0),
    ]  # fmt: skip
    assert result.measured["unique_share"] == 0.5
    assert "cell of 500 m, time within 1h" in result.adversary
    assert result.charts[1].series[0].values[-1] == 0.5


def test_coarser_cells_and_times_never_single_out_more():
    rng = np.random.default_rng(5)
    listed = [
        [(60 * t, *rng.normal(0, 6000, 2).tolist()) for t in range(0, 2000, 100)] for _ in range(60)
    ]  # fmt: skip
    result = attack(Points.from_records(listed, time_format="epoch"), cell=100, bucket="1min")
    table = np.array([series.values for series in result.charts[2].series])
    assert (np.diff(table, axis=0) <= 0).all()
    assert (np.diff(table, axis=1) <= 0).all()
    assert table[0, 0] == 1 > table[-1, -1]


def test_ladders_and_headline_for_a_small_area():
    data = Points.from_records([[(0, 0.0, 0.0), (1, 90.0, 0.0)], [(0, 0.4, 0.0), (1, 90.0, 0.0)]])
    result = attack(data)
    assert [s.name for s in result.charts[2].series] == [f"cells of {side} m" for side in ("0.1", "0.5", "1", "5")]
    assert result.charts[2].labels == ("exact", "any time")
    assert "cell of 0.5 m, exact time" in result.adversary
    assert result.measured["unique_share"] == 0
    assert attack(data, cell=0.1).measured["unique_share"] == 1
    assert "1 position (cell of 2 km, no time)" in attack(data, cell=2000, bucket="any", points=1).adversary


def test_the_same_seed_gives_the_same_result_on_any_number_of_cores():
    rng = np.random.default_rng(5)
    listed = [[(t, *rng.normal(0, 30, 2).tolist()) for t in range(20)] for _ in range(40)]
    data = Points.from_records(listed)
    one, two = (attack(data, engine=LocalEngine(workers=n), victims=20) for n in (1, 2))
    assert (one.measured, one.charts, one.victims, one.sampled) == (two.measured, two.charts, 20, True)
    assert attack(data, seed=2, victims=20, points=1).measured != attack(data, victims=20, points=1).measured


@pytest.mark.parametrize("listed", [[], [[]], [[(1, 0.0, 0.0)]], [[(1, 0.0, 0.0)], []], [[(1, 5.0, 5.0)]] * 3])
def test_small_data_give_an_answer(listed):
    result = attack(Points.from_records(listed))
    people = sum(bool(record) for record in listed)
    assert result.victims == people
    assert result.measured["identity_mean"] == (1 / people if people else None)
    assert result.measured["identity_mean_low"] is None
    assert len(result.charts) == 3


@pytest.mark.parametrize("far", [1e12, 1e300, 1e308])
def test_huge_coordinates(far):
    data = Points.from_records([[(0, far, -far)], [(0, far, -far), (1, -far, far)], [(0, 0.0, 0.0)]])
    assert attack(data, points=2, cell=1).measured["identity_mean"] == pytest.approx((0.5 + 1 + 1) / 3)


def test_what_cannot_be_compared_is_refused():
    for wrong in ({"points": 0}, {"cell": 0}, {"cell": -1}, {"cell": "small"}, {"bucket": "soon"}):
        with pytest.raises(ParameterError, match="uniqueness_of_points"):
            UniquenessOfPoints(**wrong)
    data = Points.from_records([[(0, 0.0, 0.0)]])
    with pytest.raises(InputError, match="one trajectory for each"):
        attack(data, data.take(np.array([0, 0])))
    with pytest.raises(InputError, match="cannot be compared"):
        attack(data, replace(data, time_format="local"))
    with pytest.raises(InputError, match="different frames"):
        attack(data, replace(data, frame=Frame(crs="EPSG:3035")))
