"""The transit workload: its size, its shape, and the privacy problem that it is made for."""

import numpy as np
import pytest

from wayveil.errors import ParameterError
from wayveil.model import Visits
from wayveil.workloads import WORKLOADS, Transit
from wayveil.workloads import shared_routes as shared


def generate(seed=1, **parameters):
    return Transit(**parameters).generate(rng=np.random.default_rng(seed))


@pytest.fixture(scope="module")
def data():
    return generate(records=20_000)


def supports(data, hours):
    return np.bincount(data.location.astype(np.int64) * hours + data.t, minlength=len(data.locations) * hours)


def test_it_has_the_size_and_the_columns_it_says(data):
    assert isinstance(data, Visits)
    assert (len(data), data.n_owners, data.owners, data.time_format) == (20_000, 20_000, "given", "integer")
    assert len(data.locations) == 68
    assert data.locations[6] == "station-07"
    assert data.t.min() >= 0
    assert data.t.max() < 48
    assert list(data.attributes) == ["fare"]
    assert len(set(data.attributes["fare"].values())) == 24


def test_everybody_has_a_visit_and_times_increase(data):
    lengths = np.diff(data.offsets)
    assert lengths.min() >= 1
    low, high = 4.0, 5.0
    assert low <= lengths.mean() <= high
    inside = np.ones(data.n_visits - 1, bool)
    inside[data.offsets[1:-1] - 1] = False
    assert (np.diff(data.t)[inside] > 0).all()


def test_the_sensitive_share_is_as_said(data):
    values = np.array(data.attributes["fare"].values())
    sensitive = Transit.sensitive["fare"]
    assert len(sensitive) == 6
    assert set(sensitive) <= set(values)
    assert abs(np.isin(values, sensitive).mean() - 0.25) < 0.02


def test_the_sensitive_share_depends_on_where_people_go(data):
    """On some popular visits it is far above the average, on others far below."""
    sensitive = np.isin(np.array(data.attributes["fare"].values()), Transit.sensitive["fare"])
    row = np.repeat(sensitive, np.diff(data.offsets))
    code = data.location.astype(np.int64) * 48 + data.t
    count = np.bincount(code)
    share = np.bincount(code, row)[count >= 100] / count[count >= 100]
    assert share.max() > 1.5 * 0.25
    assert share.min() < 0.7 * 0.25


def test_a_few_visits_are_popular_and_many_are_rare(data):
    counts = np.sort(supports(data, 48))[::-1]
    assert counts[: len(counts) // 10].sum() > 0.4 * counts.sum()
    assert ((counts > 0) & (counts < 10)).sum() > len(counts) / 10


def test_people_share_routes_and_some_are_unlike_all_others(data):
    records, counts = np.unique([hash(tuple(data.record(i))) for i in range(2000)], return_counts=True)
    assert counts.max() >= 10
    assert (counts == 1).sum() > 100
    assert len(records) < 2000


def test_same_seed_same_data_and_another_seed_another():
    one, same, other = generate(7, records=500), generate(7, records=500), generate(8, records=500)
    for name in ("offsets", "location", "t", "owner"):
        np.testing.assert_array_equal(getattr(one, name), getattr(same, name))
    np.testing.assert_array_equal(one.attributes["fare"].codes, same.attributes["fare"].codes)
    assert one.n_visits != other.n_visits or (one.location != other.location).any()


@pytest.mark.parametrize("records", [1, 2, 17])
@pytest.mark.parametrize(("places", "hours"), [(1, 1), (1, 30), (2, 5), (300, 24), (3, 100)])
def test_any_size_will_do(records, places, hours):
    data = generate(records=records, stations=places, hours=hours)
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
    assert WORKLOADS["transit"] is Transit
    with pytest.raises(ParameterError, match="transit: records must be an integer from 1 to 100000000, got 0"):
        Transit(records=0)
    with pytest.raises(ParameterError, match="transit: records must be an integer from 1 to 100000000"):
        Transit(records=10**15)


def test_there_are_peaks_in_the_morning_and_in_the_evening_of_both_days(data):
    count = np.bincount(data.t, minlength=48)
    for day in (0, 24):
        morning, noon, evening = count[day + 6 : day + 10], count[day + 10 : day + 15], count[day + 15 : day + 20]
        assert morning.sum() > 2 * noon.sum()
        assert evening.sum() > 2 * noon.sum()
        assert count[day : day + 5].sum() < morning.sum() / 20


def test_the_second_day_is_much_like_the_first(data):
    """Whoever is seen at a place in the first hours is mostly seen there again a day later, give or take an hour."""
    again = total = 0
    for i in range(1000):
        record = data.record(i)
        for place, t in record:
            if t < 24 and len(record) >= 4:
                total += 1
                again += any(other == place and abs(later - t - 24) <= 1 for other, later in record)
    assert again > total / 2
