"""Frequent patterns of roads against all stretches of all trajectories, listed one by one."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.errors import ParameterError
from wayveil.metrics.patterns.road_patterns import RoadPatterns
from wayveil.model import RoadNetwork, Routes

ROADS = ("ab", "bc", "cd", "de", "ba", "bd", "da", "ca")
NETWORK = RoadNetwork.from_roads([(name, *name) for name in ROADS])
TURNED = RoadNetwork.from_roads([(name, *name) for name in (*ROADS[::-1], "ef")])


def routes(*records, network=NETWORK, **more):
    return Routes.from_records([r.split() for r in records], network=network, **more)


def run(before, after, **given_):
    return RoadPatterns(**{"min_support": 2, **given_}).run(before, after)


def test_all_numbers_of_a_small_case():
    before = routes("ab bc cd de", "ab bc cd de", "ab bd")
    after = routes("ab bc cd", "ab bc", "cd de", "bd", "bd")
    score = run(before, after)
    # Before: ab bc cd de, abc bcd cde, abcd bcde, abcde.  After: ab bc cd bd, abc.
    assert (score.name, score.better, score.percent) == ("road_patterns", "higher", True)
    assert score.value == pytest.approx(2 * 4 / (10 + 5))
    # By half: of the old ab bc cd, abc bcd cde, abcd (abc), abcde (abc); of the new all but bd.
    p, r = 4 / 5, 8 / 10
    supports = [(3, 2), (2, 2), (2, 2), (2, 1), (2, 2), (2, 1), (2, 1), (2, 1), (2, 0), (2, 0)]
    assert score.measured == pytest.approx(
        {
            "min_support": 2,
            "patterns_before": 10,
            "patterns_after": 5,
            "patterns_in_both": 4,
            "f_measure": 8 / 15,
            "precision": 4 / 5,
            "recall": 4 / 10,
            "f_measure_half_match": 2 * p * r / (p + r),
            "precision_half_match": p,
            "recall_half_match": r,
            "longest_before": 4,
            "longest_after": 2,
            "routes_f_measure": 0,  # abcde is the only maximal one, and nobody is published with it
            "stretches_before": 1,
            "routes_after": 4,
            "routes_matched": 0,
            "support_error_rate": sum(abs(a - b) / a for a, b in supports) / 10,
        }
    )
    lengths, most = score.charts
    assert lengths.labels == ("1", "2", "3", "4")
    assert lengths.series[0].values == pytest.approx((2 * 3 / 8, 2 * 1 / 4, 0, 0))
    assert lengths.series[1].values[:2] == pytest.approx((2 * 3 / 8, 1))
    assert most.title == "The 6 most frequent patterns"
    assert most.labels[:2] == ("ab → bc", "bc → cd")
    assert most.labels[-1] == "ab → bc → cd → de"
    assert [s.values[:2] for s in most.series] == [(2, 2), (2, 1)]


record = st.lists(st.sampled_from(ROADS), max_size=6)
some = st.lists(record, max_size=7)


def frequent(records, support, longest):
    found = Counter()
    for r in records:
        parts = {tuple(r[i : i + n]) for n in range(1, longest + 1) for i in range(len(r) - n + 1)}
        found.update(p for p in parts if all(a[1] == b[0] for a, b in pairwise(p)))
    return {p: n for p, n in found.items() if n >= support}, found


def by_half(pattern, others):
    n = len(pattern)
    return any(
        pattern[i:j] in others for i in range(n) for j in range(i + 1, n + 1) if 2 * (j - i) >= n
    )  # fmt: skip


@settings(deadline=None, max_examples=200)
@given(some, some, st.integers(1, 3), st.integers(1, 5))
def test_against_all_stretches(before, after, support, longest):
    data = [Routes.from_records(x, network=n) for x, n in ((before, NETWORK), (after, TURNED))]
    found = run(*data, min_support=support, longest=longest).measured
    (old, _), (new, supports) = (frequent(x, support, longest) for x in (before, after))
    both = old.keys() & new.keys()
    assert found["patterns_before"] == len(old)
    assert found["patterns_after"] == len(new)
    assert found["patterns_in_both"] == len(both)
    assert found["precision"] == (pytest.approx(len(both) / len(new)) if new else None)
    assert found["recall"] == (pytest.approx(len(both) / len(old)) if old else None)
    assert found["f_measure"] == (pytest.approx(2 * len(both) / (len(old) + len(new))) if old or new else None)
    p = sum(by_half(x, old) for x in new) / len(new) if new else None
    r = sum(by_half(x, new) for x in old) / len(old) if old else None
    assert found["precision_half_match"] == (pytest.approx(p) if new else None)
    assert found["recall_half_match"] == (pytest.approx(r) if old else None)
    f = 2 * p * r / (p + r) if p and r else 0
    assert found["f_measure_half_match"] == (pytest.approx(f) if old or new else None)
    error = sum(abs(supports[x] - n) / n for x, n in old.items()) / len(old) if old else None
    assert found["support_error_rate"] == (pytest.approx(error) if old else None)
    assert found["longest_before"] == max(map(len, old), default=0)
    assert found["longest_after"] == max(map(len, new), default=0)


def test_a_trajectory_counts_once_and_a_gap_breaks():
    assert run(routes("ab ba ab ba ab"), routes("ab")).measured["patterns_before"] == 0
    gap = routes("ab cd", "ab cd")
    assert run(gap, gap).measured["longest_before"] == 1


def test_auto_is_one_percent_of_the_people_and_at_least_two():
    owners = [i % 250 for i in range(600)]
    data = routes(*["ab"] * 600, "", owner=[*owners, 999])
    assert run(data, data, min_support="auto").measured["min_support"] == 3
    few = routes("ab", "ab")
    assert run(few, few, min_support="auto").measured["min_support"] == 2
    assert run(replace(data, owners="hidden"), data, min_support="auto").measured["min_support"] == 6


@pytest.mark.parametrize("records", [[], ["", ""]])
def test_nothing_published_and_nothing_at_all(records):
    nothing, full = routes(*records), routes("ab bc", "ab bc")
    score = run(full, nothing)
    assert score.value == 0
    assert (score.measured["precision"], score.measured["recall"]) == (None, 0)
    assert run(nothing, full).measured["recall"] is None
    assert run(nothing, full).value == 0
    empty = run(nothing, nothing)
    assert empty.value is None
    assert empty.charts == ()
    assert empty.measured["support_error_rate"] is None
    blank = routes(*records, network=RoadNetwork.from_roads([]))
    assert run(blank, blank).value is None
    assert run(full, blank).value == 0


def test_a_support_that_nothing_has():
    data = routes("ab bc", "ab bc")
    score = run(data, data, min_support=10**9)
    assert score.value is None
    assert score.charts == ()


def test_no_shared_road_and_one_pattern():
    other = RoadNetwork.from_roads([("x", "1", "2")])
    score = run(routes("ab", "ab"), routes("x", "x", network=other))
    assert score.value == 0
    assert score.measured["f_measure_half_match"] == 0
    assert run(routes("ab bc", "ab bc"), routes("ab")).charts[1].title == "The most frequent pattern"


def test_twelve_patterns_are_drawn():
    network = RoadNetwork.from_roads([(f"r{i:02}", "a", "a") for i in range(30)])
    many = Routes.from_records([[f"r{i:02}", "r00"] for i in range(1, 30) for _ in range(40 - i)], network=network)
    labels = run(many, many).charts[1].labels
    assert labels == tuple(f"r{i:02} → r00" for i in range(1, 13))


def test_bad_parameters():
    with pytest.raises(ParameterError, match="road_patterns: min_support must be an integer >= 1 or 'auto', got 0"):
        RoadPatterns(min_support=0)
    with pytest.raises(ParameterError, match="road_patterns: longest must be an integer from 1 to 10, got 11"):
        RoadPatterns(longest=11)
