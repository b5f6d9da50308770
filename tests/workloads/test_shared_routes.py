"""The pieces that the workloads are made of."""

import numpy as np

from wayveil.workloads.shared_routes import Stops, leanings, names, pick, zipf


def test_zipf_falls_as_one_over_rank_and_sums_to_one():
    weights = zipf(4)
    assert weights.tolist() == sorted(weights.tolist(), reverse=True)
    np.testing.assert_allclose(weights[0] / weights, [1, 2, 3, 4])
    np.testing.assert_allclose(zipf(100, 3.0).sum(), 1)


def test_pick_follows_the_weights_and_never_takes_a_weight_of_zero():
    drawn = pick(np.array([0.0, 3.0, 0.0, 1.0]), 10_000, np.random.default_rng(1))
    counts = np.bincount(drawn, minlength=4)
    assert counts[0] == counts[2] == 0
    assert 0.72 < counts[1] / 10_000 < 0.78


def test_names_sort_by_number():
    for n in (1, 26, 334):
        listed = names("block", n)
        assert list(listed) == sorted(listed)
        assert len(set(listed)) == n


def test_leanings_are_higher_at_some_places_and_ignore_unused_stops():
    rng = np.random.default_rng(1)
    stops = Stops(place=np.tile(np.arange(1000)[:, None], 2), hour=np.tile([1, -1], (1000, 1)))
    found = leanings(stops, 1000, 0.0, 2.0, rng)
    assert set(found) == {0.0, 2.0}
    assert 0.05 < (found == 2.0).mean() < 0.15
    unused = Stops(place=stops.place, hour=np.full((1000, 2), -1))
    assert not leanings(unused, 1000, 0.0, 2.0, rng).any()
