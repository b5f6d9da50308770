"""LocationTimeAttack of scikit-mobility is known_visits with the worst choice, where times are compared exactly."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.attacks.visits.known_visits import KnownVisits
from wayveil.engines import LocalEngine
from wayveil.model import Visits


def location_time_risk(records, mine, m):
    """The largest of 1 / people who have at least as many visits of each place and time, over all sets of m visits."""
    risk = 0.0
    for instance in combinations(mine, min(m, len(mine))):
        need = Counter(instance)
        people = sum(all(Counter(record)[visit] >= n for visit, n in need.items()) for record in records)
        risk = max(risk, 1 / people)
    return risk


@given(
    st.lists(
        st.dictionaries(st.integers(0, 5), st.sampled_from("abc"), min_size=1, max_size=6), min_size=1, max_size=8
    ),
    st.integers(1, 4),
)
@settings(deadline=None, max_examples=100)
def test_known_visits_agrees(people, m):
    records = [[(place, t) for t, place in sorted(person.items())] for person in people]
    data = Visits.from_records(records)
    attack = KnownVisits(m=m, choice="worst")
    found = attack.run(data, data, sensitive={}, rng=np.random.default_rng(1), engine=LocalEngine(workers=2))
    expected = np.array([location_time_risk(records, record, m) for record in records])
    assert found.measured["identity_mean"] == pytest.approx(expected.mean())
    assert found.measured["identity_max"] == pytest.approx(expected.max())
    assert found.measured["unique_share"] == pytest.approx((expected == 1).mean())
