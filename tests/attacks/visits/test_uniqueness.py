"""Known points of a life against a restatement of the definition, on planted and on random visits."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.attacks.attack_base import owners_of
from wayveil.attacks.visits import known_points as module
from wayveil.attacks.visits.known_points import KnownPoints, both, shared
from wayveil.attacks.visits.uniqueness import Uniqueness
from wayveil.engines import LocalEngine
from wayveil.errors import InputError, ParameterError
from wayveil.model import Visits

ENGINE = LocalEngine(workers=2)


def attack(truth, target=None, seed=1, engine=ENGINE, **parameters):
    target = truth if target is None else target
    return Uniqueness(**parameters).run(truth, target, sensitive={}, rng=np.random.default_rng(seed), engine=engine)


# The definition: who has all the known visits, in any of the trajectories?


def coarse(visit, width):
    place, t = visit
    return (place, None) if width is None else (place, t // width)


def lives(data, width):
    """Return the coarse visits of every person."""
    found = {}
    for i in range(len(data)):
        person = int(data.owner[i]) if data.owners == "given" else i
        if data.record(i):
            found.setdefault(person, set()).update(coarse(visit, width) for visit in data.record(i))
    return found


def people_with(known, data, width):
    wanted = {coarse(visit, width) for visit in known}
    return sum(wanted <= life for life in lives(data, width).values())


def rows_of(data):
    return [visit for i in range(len(data)) for visit in data.record(i)]


visits = st.tuples(st.sampled_from("abc"), st.integers(-3, 12))


@st.composite
def records(draw):
    found = {t: place for place, t in draw(st.lists(visits, max_size=5))}
    return [(place, t) for t, place in sorted(found.items())]


@st.composite
def tables(draw):
    listed = draw(st.lists(records(), min_size=1, max_size=6))
    owner = draw(st.none() | st.lists(st.integers(0, 3), min_size=len(listed), max_size=len(listed)))
    return Visits.from_records(listed, owner=owner)


@given(
    tables(), tables() | st.none(), st.sampled_from(["exact", "any", "2", "5"]), st.integers(1, 4), st.integers(0, 99)
)
@settings(deadline=None, max_examples=120)
def test_equals_the_definition_on_small_data(truth, other, bucket, points, seed):
    target = truth if other is None else other
    width = {"exact": 1, "any": None}.get(bucket, bucket) if not bucket.isdigit() else int(bucket)
    result = attack(truth, target, seed, bucket=bucket, points=points, draws=2)
    # The same draw again: what is known, in the order in which it becomes known.
    rows = rows_of(truth)
    column = {coarse(visit, width): i for i, visit in enumerate(sorted(rows, key=str))}
    assert result.victims == len(lives(truth, width))
    known = KnownPoints.draw(
        owners_of(truth),
        truth.offsets,
        lambda at: (truth.location[at], np.zeros(len(at), int) if width is None else truth.t[at] // width),
        points=points,
        victims=2000,
        draws=2,
        rng=np.random.default_rng(seed),
    )
    sets = [[rows[known.rows[i]] for i in line if i >= 0] for line in known.table.tolist()]
    assert all(len({column[coarse(visit, width)] for visit in one}) == len(one) for one in sets)
    for level in range(1, points + 1):
        fitting = np.array([people_with(one[:level], target, width) for one in sets], float).reshape(-1, 2)
        success = np.divide(1, fitting, out=np.zeros(fitting.shape), where=fitting > 0).mean(axis=1)
        end = "" if level == points else f"_with_{level}_sample{'s' if level > 1 else ''}"
        expected = {
            f"identity_mean{end}": success.mean() if len(sets) else None,
            f"unique_share{end}": (fitting == 1).mean() if len(sets) else None,
        }
        assert {name: result.measured[name] for name in expected} == pytest.approx(expected)
    if sets:
        assert result.measured["identity_max"] == pytest.approx(success.max())
        assert result.measured["identity_share_above"] == np.mean(success > 0.1)
        assert result.measured["unmatched_share"] == pytest.approx((fitting == 0).mean())


@given(tables(), tables() | st.none(), st.sampled_from([1, 3, None]))
@settings(deadline=None, max_examples=60)
def test_a_whole_life_known_needs_no_draw(truth, other, width):
    """With all points known the answer is exact, and can be told without knowing how points are drawn."""
    target = truth if other is None else other
    bucket = {1: "exact", 3: "3", None: "any"}[width]
    result = attack(truth, target, bucket=bucket, points=20)
    others = lives(target, width).values()
    fitting = [sum(life <= other for other in others) for life in lives(truth, width).values()]
    assert not result.sampled
    assert result.measured["identity_mean_low"] is None
    assert result.measured["identity_mean_high"] is None
    if fitting:
        assert result.measured["identity_mean"] == pytest.approx(np.mean([1 / n if n else 0 for n in fitting]))
        assert result.measured["unique_share"] == pytest.approx(np.mean([n == 1 for n in fitting]))


def test_the_mean_over_draws_is_that_over_all_sets():
    data = Visits.from_records(
        [[("a", 1), ("b", 2), ("c", 3), ("d", 4)], [("a", 1), ("b", 2)], [("b", 2), ("c", 3)], [("d", 4)]]
    )
    result = attack(data, points=2, draws=1000)
    means = []
    for life in lives(data, 1).values():
        sets = list(combinations(sorted(life), min(2, len(life))))
        means.append(np.mean([1 / people_with(one, data, 1) for one in sets]))
    assert result.measured["identity_mean"] == pytest.approx(np.mean(means), abs=0.01)
    single = [np.mean([1 / people_with([one], data, 1) for one in life]) for life in lives(data, 1).values()]
    assert result.measured["identity_mean_with_1_sample"] == pytest.approx(np.mean(single), abs=0.02)
    assert result.measured["identity_mean_low"] < np.mean(means) < result.measured["identity_mean_high"]
    assert result.sampled


def test_trajectories_of_a_person_are_one_life():
    data = Visits.from_records([[("a", 1)], [("b", 2)], [("a", 1)], [("b", 2)]], owner=[0, 0, 1, 2])
    result = attack(data, points=2)
    # Person 0 alone has both; the others have one point each, which two people have.
    assert result.measured["identity_mean"] == pytest.approx((1 + 0.5 + 0.5) / 3)
    assert result.victims == 3
    apart = attack(replace(data, owners="hidden"), points=2)
    assert apart.measured["identity_mean"] == 0.5
    assert apart.victims == 4


def test_many_rows_at_one_point_are_one_point():
    """100 visits to one place in one hour are one point to know, as likely as the lone one elsewhere."""
    stay = [("a", t) for t in range(100)]
    data = Visits.from_records([[*stay, ("b", 100)], stay, stay])
    result = attack(data, points=1, bucket="100", draws=1000)
    # Person 0: half of the draws are b, alone; half a, shared by three.
    assert result.measured["identity_mean"] == pytest.approx((0.5 * (1 + 1 / 3) + 2 / 3) / 3, abs=0.01)


def test_every_point_is_as_likely_as_any_other_to_be_known_first_and_every_row_behind_it():
    rows = np.arange(12)
    known = KnownPoints.draw(
        np.zeros(1, int), np.array([0, 12]), lambda at: (rows[at] // 4,), points=3, victims=9, draws=3000,
        rng=np.random.default_rng(1),
    )  # fmt: skip
    assert np.bincount(known.rows[known.table[:, 0]] // 4) == pytest.approx(1000, abs=100)
    assert np.bincount(known.rows) == pytest.approx(750, abs=100)


def test_a_result_is_exact_only_if_all_points_are_known():
    data = Visits.from_records([[("a", 1), ("b", 2), ("c", 3)], [("a", 1)]])
    for points, exact in ((2, False), (3, True)):
        result = attack(data, points=points)
        assert (result.sampled, result.measured["identity_mean_low"] is None) == (not exact, exact)


def test_places_are_matched_by_name():
    truth = Visits.from_records([[("a", 1)], [("b", 1)]])
    target = Visits.from_records([[("b", 1)], [("c", 1)], [("b", 1)]])
    result = attack(truth, target)
    assert result.measured["identity_mean"] == 0.25
    assert result.measured["unmatched_share"] == 0.5


def test_curves_over_points_and_times():
    data = Visits.from_records([[("a", 0), ("b", 5)], [("a", 1), ("b", 6)], [("a", 2), ("c", 9)]])
    result = attack(data, points=2)
    _, by_points, by_time = result.charts
    assert by_points.labels == ("1", "2")
    assert [s.values[-1] for s in by_points.series] == [
        result.measured["unique_share"], result.measured["identity_mean"],
    ]  # fmt: skip
    assert by_time.labels == ("exact", "4", "any time")
    assert [s.name for s in by_time.series] == ["1 point known", "2 points known"]
    assert by_time.series[1].values == pytest.approx((1, 1 / 3, 1 / 3))
    assert result.adversary == "knows 2 visits (place and exact time) of a person, drawn at random from all of them"


def test_dates_are_known_to_the_hour():
    hour = 3600
    data = Visits.from_records(
        [[("a", 10), ("b", 5 * hour)], [("a", 20), ("b", 5 * hour + 7)], [("a", 2 * hour), ("b", 90_000)]],
        time_format="epoch",
    )
    result = attack(data, points=2)
    assert result.measured["identity_mean"] == pytest.approx((0.5 + 0.5 + 1) / 3)
    assert result.charts[2].labels == ("exact", "15min", "1h", "6h", "1d", "any time")
    assert "time within 1h" in result.adversary
    assert attack(data, points=2, bucket="exact").measured["identity_mean"] == 1
    assert attack(data, points=2, bucket="any").measured["identity_mean"] == pytest.approx(1 / 3)
    assert "no time" in attack(data, bucket="any", points=1).adversary


def test_coarser_times_and_fewer_points_never_single_out_more():
    rng = np.random.default_rng(5)
    listed = [[(str(rng.integers(6)), int(t)) for t in np.sort(rng.choice(64, 12, replace=False))] for _ in range(80)]
    result = attack(Visits.from_records(listed))
    for chart, falls in ((result.charts[1], False), (result.charts[2], True)):
        for series in chart.series:
            steps = np.diff(series.values)
            assert (steps <= 0).all() if falls else (steps >= 0).all()
    assert result.charts[2].series[-1].values[0] > result.charts[2].series[-1].values[-1]


def test_people_are_drawn():
    data = Visits.from_records([[("a", i % 2)] for i in range(50)])
    result = attack(data, victims=10)
    assert (result.victims, result.sampled) == (10, True)
    assert result.measured["identity_mean"] == pytest.approx(1 / 25)
    assert 0 < result.measured["identity_mean_low"] < 1 / 25 < result.measured["identity_mean_high"] < 1


def test_the_same_seed_gives_the_same_result_on_any_number_of_cores():
    rng = np.random.default_rng(5)
    listed = [[(str(rng.integers(9)), t) for t in range(20)] for _ in range(40)]
    data = Visits.from_records(listed)
    one, two = (attack(data, engine=LocalEngine(workers=n), victims=20) for n in (1, 2))
    assert (one.measured, one.charts) == (two.measured, two.charts)
    assert attack(data, seed=2, victims=20).measured != one.measured


def test_what_is_known_does_not_depend_on_what_is_attacked():
    truth = Visits.from_records([[("a", 1), ("b", 2), ("c", 3)], [("a", 1), ("c", 4)]])
    assert attack(truth, truth.where(np.zeros(5, bool))).measured["unmatched_share"] == 1
    whole, part = (attack(truth, target, points=1, draws=9) for target in (truth, truth.take(np.array([0, 1]))))
    assert whole.measured == part.measured


@pytest.mark.parametrize("listed", [[], [[]], [[("a", 1)]], [[("a", 1)], []]])
def test_small_data_give_an_answer(listed):
    result = attack(Visits.from_records(listed))
    people = sum(bool(record) for record in listed)
    assert result.victims == people
    assert result.measured["identity_mean"] == (1.0 if people else None)
    assert len(result.charts) == 3


def test_times_at_the_ends_of_what_can_be_said():
    ends = np.iinfo(np.int64)
    data = Visits.from_records([[("a", ends.min), ("b", ends.max)], [("a", ends.min)]])
    assert attack(data, points=2).measured["identity_mean"] == 0.75


def test_bad_parameters_and_times_are_refused():
    for wrong in ({"points": 0}, {"points": 21}, {"bucket": "soon"}, {"draws": 0}, {"victims": 0}):
        with pytest.raises(ParameterError, match="uniqueness"):
            Uniqueness(**wrong)
    data = Visits.from_records([[("a", 1)]])
    with pytest.raises(InputError, match="uniqueness: the times that are known"):
        attack(data, replace(data, time_format="utc"))
    with pytest.raises(InputError, match="bucket must be one"):
        attack(data, bucket="1h")


@given(st.lists(st.integers(-9, 9)), st.lists(st.integers(-12, 12)), st.booleans(), st.sampled_from([0, 1 << 24]))
@settings(deadline=None, max_examples=100)
def test_shared_codes(known, rows, floats, widest):
    kind = float if floats else int
    before = module._WIDEST_TABLE
    module._WIDEST_TABLE = widest
    try:
        codes = shared(np.array(known, kind), np.array(rows, kind))
    finally:
        module._WIDEST_TABLE = before
    assert codes.n == len(set(known))
    assert [value in known for value in rows] == (codes.rows >= 0).tolist()
    for code, value in zip(codes.rows.tolist(), rows, strict=True):
        assert [c == code for c in codes.known.tolist()] == [v == value for v in known]


def test_codes_of_pairs():
    one = shared(np.array([1, 2, 1]), np.array([1, 1, 2, 3, 2]))
    other = shared(np.array([5, 6, 6]), np.array([5, 6, 5, 5, 9]))
    codes = both(one, other)
    assert codes.known.tolist() == [0, 2, 1]
    assert codes.rows.tolist() == [0, 1, -1, -1, -1]
