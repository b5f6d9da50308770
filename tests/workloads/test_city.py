"""The city workload: its size, its shape, and the privacy problem that it is made for."""

import numpy as np
import pytest

from wayveil.errors import ParameterError
from wayveil.model import Visits
from wayveil.workloads import WORKLOADS, City
from wayveil.workloads import shared_routes as shared


def generate(seed=1, **parameters):
    return City(**parameters).generate(rng=np.random.default_rng(seed))


@pytest.fixture(scope="module")
def data():
    return generate(records=20_000)


def supports(data, hours):
    return np.bincount(data.location.astype(np.int64) * hours + data.t, minlength=len(data.locations) * hours)


def test_it_has_the_size_and_the_columns_it_says(data):
    assert isinstance(data, Visits)
    assert (len(data), data.n_owners, data.owners, data.time_format) == (20_000, 20_000, "given", "integer")
    assert len(data.locations) == 26
    assert data.locations[6] == "block-07"
    assert data.t.min() >= 0
    assert data.t.max() < 24
    assert list(data.attributes) == ["status"]
    assert len(set(data.attributes["status"].values())) == 5


def test_everybody_has_a_visit_and_times_increase(data):
    lengths = np.diff(data.offsets)
    assert lengths.min() >= 1
    low, high = 6.0, 8.0
    assert low <= lengths.mean() <= high
    inside = np.ones(data.n_visits - 1, bool)
    inside[data.offsets[1:-1] - 1] = False
    assert (np.diff(data.t)[inside] > 0).all()


def test_the_sensitive_share_is_as_said(data):
    values = np.array(data.attributes["status"].values())
    sensitive = City.sensitive["status"]
    assert len(sensitive) == 1
    assert set(sensitive) <= set(values)
    assert abs(np.isin(values, sensitive).mean() - 0.20) < 0.02


def test_the_sensitive_share_depends_on_where_people_go(data):
    """On some popular visits it is far above the average, on others far below."""
    sensitive = np.isin(np.array(data.attributes["status"].values()), City.sensitive["status"])
    row = np.repeat(sensitive, np.diff(data.offsets))
    code = data.location.astype(np.int64) * 24 + data.t
    count = np.bincount(code)
    share = np.bincount(code, row)[count >= 100] / count[count >= 100]
    assert share.max() > 1.5 * 0.20
    assert share.min() < 0.7 * 0.20


def test_a_few_visits_are_popular_and_many_are_rare(data):
    counts = np.sort(supports(data, 24))[::-1]
    assert counts[: len(counts) // 10].sum() > 0.4 * counts.sum()
    assert ((counts > 0) & (counts < 10)).sum() > len(counts) / 10


def test_people_share_routes_and_some_are_unlike_all_others(data):
    records, counts = np.unique([hash(tuple(data.record(i))) for i in range(2000)], return_counts=True)
    assert counts.max() >= 10
    assert (counts == 1).sum() > 100
    assert len(records) < 2000


def test_a_few_visits_of_a_person_are_shared_and_a_whole_day_is_not(data):
    """Legs are chosen independently: three visits fit many more people than all of them do."""
    people = [set(data.record(i)) for i in range(len(data))]
    rng = np.random.default_rng(1)
    shared = {3: [], 6: []}
    for i in rng.permutation(len(data))[:200].tolist():
        visits = data.record(i)
        if len(visits) >= 6:
            for size, counts in shared.items():
                known = {visits[at] for at in rng.permutation(len(visits))[:size]}
                counts.append(sum(known <= other for other in people))
    assert np.median(shared[3]) >= 30
    assert np.median(shared[6]) < 30


def test_same_seed_same_data_and_another_seed_another():
    one, same, other = generate(7, records=500), generate(7, records=500), generate(8, records=500)
    for name in ("offsets", "location", "t", "owner"):
        np.testing.assert_array_equal(getattr(one, name), getattr(same, name))
    np.testing.assert_array_equal(one.attributes["status"].codes, same.attributes["status"].codes)
    assert one.n_visits != other.n_visits or (one.location != other.location).any()


@pytest.mark.parametrize("records", [1, 2, 17])
@pytest.mark.parametrize(("places", "hours"), [(1, 1), (1, 30), (2, 5), (300, 24), (3, 100)])
def test_any_size_will_do(records, places, hours):
    data = generate(records=records, blocks=places, hours=hours)
    assert len(data) == records
    assert np.diff(data.offsets).min() >= 1
    assert data.t.max() < hours
    assert len(data.locations) == places


def test_many_records_are_made_in_chunks(monkeypatch):
    monkeypatch.setattr(shared, "_CELLS", 1000)
    data = generate(records=1001)
    assert len(data) == 1001
    assert np.diff(data.offsets).min() >= 1


def test_the_registry_knows_it_by_name_and_parameters_are_checked():
    assert WORKLOADS["city"] is City
    with pytest.raises(ParameterError, match="city: records must be an integer from 1 to 100000000, got 0"):
        City(records=0)
    with pytest.raises(ParameterError, match="city: records must be an integer from 1 to 100000000"):
        City(records=10**15)
