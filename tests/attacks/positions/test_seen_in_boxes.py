from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.attacks.positions.seen_in_boxes import SeenInBoxes
from wayveil.engines import LocalEngine
from wayveil.errors import InputError, ParameterError
from wayveil.model import Boxes


def attack(data, target=None, *, seed=1, workers=1, **parameters):
    target = data if target is None else target
    rng, engine = np.random.default_rng(seed), LocalEngine(workers=workers)
    return SeenInBoxes(**parameters).run(data, target, sensitive={}, rng=rng, engine=engine)


@st.composite
def boxes(draw):
    """Few trajectories of boxes on a small grid, so that many overlap; all sides are whole numbers."""
    records = []
    for _ in range(draw(st.integers(1, 5))):
        t, record = 0, []
        for _ in range(draw(st.integers(0, 3))):
            t += draw(st.integers(0, 2))
            end = t + draw(st.integers(0, 2))
            x, y = draw(st.integers(0, 3)), draw(st.integers(0, 3))
            record.append((t, end, float(x), float(x + draw(st.integers(0, 2))), float(y), float(y + 1)))
            t = end
        records.append(record)
    owner = draw(st.lists(st.integers(5, 8), min_size=len(records), max_size=len(records)))
    return Boxes.from_records(records, owner=owner)


def people_around(data, positions):
    """By the definition: owners with a trajectory that has, for each position, some box around it."""
    found = []
    for i in range(len(data)):
        if all(
            any(a <= t <= b and c <= x <= d and e <= y <= f for a, b, c, d, e, f in data.record(i))
            for t, x, y in positions
        ):
            found.append(i if data.owners == "hidden" else int(data.owner[i]))
    return found


@given(boxes(), st.integers(1, 3), st.booleans(), st.integers(0, 99))
@settings(deadline=None, max_examples=120)
def test_equals_the_definition_on_small_data(data, positions, hidden, seed):
    target = replace(data, owners="hidden") if hidden else data
    method = SeenInBoxes(positions=positions, draws=2)
    people, person, known, owner = method._draw(target, np.random.default_rng(seed))
    names = np.arange(len(target)) if hidden else np.unique(target.owner)
    found = attack(target, seed=seed, positions=positions, draws=2)
    expected = []
    for attacked, victim in zip(known, owner, strict=True):
        there = [tuple(p) for p in attacked if not np.isnan(p[0])]
        assert 1 <= len(there) <= positions
        fit = people_around(target, there)
        assert fit  # the victim's own boxes are around what is known
        expected.append(max(1 / len(set(fit)), fit.count(names[victim]) / len(fit)))
    assert found.victims == people == len(set(person.tolist()))
    if expected:
        per_person = [np.mean([e for e, p in zip(expected, person, strict=True) if p == v]) for v in range(people)]
        assert found.measured["identity_mean"] == pytest.approx(np.mean(per_person))
        assert found.measured["identity_max"] == pytest.approx(max(per_person))


def test_groups_that_share_their_boxes_bound_the_risk():
    shared = [(t, t + 5, 0.0, 100.0, 0.0, 50.0) for t in range(0, 50, 10)]
    apart = [(t, t + 5, 900.0, 950.0, 0.0, 50.0) for t in range(0, 50, 10)]
    data = Boxes.from_records([shared] * 4 + [apart] * 3)
    found = attack(data, threshold=Fraction(1, 4))
    assert found.measured["identity_max"] == pytest.approx(1 / 3)
    assert found.measured["identity_mean"] == pytest.approx((4 / 4 + 3 / 3) / 7)
    assert found.measured["identity_share_above"] == pytest.approx(3 / 7)
    one = attack(replace(data, owner=np.array([1, 1, 1, 1, 2, 3, 4]), owners="given"))
    assert one.measured["identity_max"] == 1
    assert one.victims == 4


def test_known_positions_are_of_the_truth_and_may_fit_nobody():
    truth = Boxes.from_records([[(0, 1, 0.0, 1.0, 0.0, 1.0)]])
    other = Boxes.from_records([[(0, 1, 5.0, 6.0, 0.0, 1.0)]])
    found = attack(truth, other)
    assert (found.measured["identity_mean"], found.measured["unmatched_share"]) == (0, 1)


def test_victims_are_drawn_and_workers_do_not_matter():
    rng = np.random.default_rng(2)
    records = [[(t, t, x, x + 3, 0.0, 1.0)] for t, x in zip(range(200), rng.uniform(0, 9, 200).tolist(), strict=True)]
    data = Boxes.from_records(records)
    one, two = (attack(data, victims=50, workers=workers) for workers in (1, 2))
    assert one.victims == 50
    assert one.measured == two.measured
    assert one.measured["identity_mean_low"] < one.measured["identity_mean"] <= one.measured["identity_mean_high"]


def test_nothing_to_attack():
    for data in (Boxes.from_records([]), Boxes.from_records([[]])):
        found = attack(data)
        assert (found.victims, found.measured["identity_mean"]) == (0, None)


def test_what_cannot_be_compared_or_is_out_of_range_is_refused():
    data = Boxes.from_records([[(0, 1, 0.0, 1.0, 0.0, 1.0)]])
    with pytest.raises(InputError, match="cannot be compared"):
        attack(data, replace(data, time_format="utc"))
    for positions in (0, 21):
        with pytest.raises(ParameterError):
            SeenInBoxes(positions=positions)
