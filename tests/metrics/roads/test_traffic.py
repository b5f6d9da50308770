"""Traffic counts against counting by hand."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.errors import ParameterError
from wayveil.metrics.roads.road_counts import aligned_roads, follows
from wayveil.metrics.roads.traffic import Traffic
from wayveil.model import RoadNetwork, Routes

# A triangle a, b, c with a way out to d.
ROADS = {"ab": "ab", "bc": "bc", "ca": "ca", "ba": "ba", "bd": "bd"}
NETWORK = RoadNetwork.from_roads([(name, *ends) for name, ends in ROADS.items()])
TURNED = RoadNetwork.from_roads([(name, *ROADS[name]) for name in ("bd", "ba", "ca", "bc", "ab")])


def routes(*records, network=NETWORK, **more):
    return Routes.from_records([r.split() for r in records], network=network, **more)


def run(before, after, **given_):
    return Traffic(**given_).run(before, after)


def test_all_numbers_of_a_small_case():
    before = routes("ab bc ca", "ab bc", "ab bd", "bc bd")
    after = routes("ab bc", "ab bc", "ab bc", "ba")
    score = run(before, after, top=1)
    # ab 3 bc 3 ca 1 bd 2 against ab 3 bc 3 ba 1
    assert score.value == pytest.approx(4 / 9)
    assert (score.name, score.better, score.percent) == ("traffic", "lower", True)
    assert score.measured == pytest.approx(
        {
            "slices": 1,
            "passages_before": 9,
            "passages_after": 7,
            "passages_lost_share": 3 / 9,
            "passages_added_share": 1 / 9,
            "roads_before": 4,
            "roads_after": 3,
            "roads_lost_share": 2 / 4,
            "top_1_roads_kept_share": 1,
            # ab-bc 2, bc-ca 1, ab-bd 1 against ab-bc 3; bc-bd is a gap and no turn
            "turns_before": 4,
            "turns_after": 3,
            "turns_changed_share": 3 / 4,
            "turns_lost_share": 2 / 4,
            "turns_added_share": 1 / 4,
            "top_1_turns_kept_share": 1,
        }
    )
    busy, turns = score.charts
    assert busy.title == "The 4 busiest roads"
    assert busy.labels == ("ab", "bc", "bd", "ca")
    assert [s.values for s in busy.series] == [(3, 3, 2, 1), (3, 3, 0, 0)]
    assert turns.title == "The 3 busiest turns"
    assert turns.labels == ("ab → bc", "ab → bd", "bc → ca")
    assert [s.values for s in turns.series] == [(2, 1, 1), (3, 0, 0)]


def test_slices_are_told_apart_where_both_have_them():
    before = routes("ab", "ab", "bc", slices=[(0, 5), (5, 9), (5, 9)])
    moved = routes("ab", "ab", "bc", slices=[(0, 5), (0, 5), (5, 9)])
    score = run(before, moved)
    assert (score.value, score.measured["slices"]) == (2 / 3, 2)
    assert score.charts[0].series[1].values == (2, 1)
    other = routes("ab", "ab", "bc", slices=[(0, 9), (0, 5), (5, 9)])
    assert (run(before, other).value, run(before, other).measured["slices"]) == (0, 1)
    # A slice of which nothing is published is all lost; one without rows does not count.
    assert run(before, routes("ab", "", slices=[(0, 5), (1, 2)])).value == 2 / 3
    assert run(before, replace(moved, time_format="utc")).value == 0
    assert run(before, replace(moved, time_format="epoch")).value == 2 / 3


def test_roads_are_matched_by_name():
    before = routes("ab bc ca", "bd")
    assert run(before, routes("ab bc ca", "bd", network=TURNED)).value == 0
    elsewhere = RoadNetwork.from_roads([("x", "1", "2")])
    score = run(before, routes("x", network=elsewhere))
    assert score.value == pytest.approx(5 / 4)
    assert score.measured["roads_lost_share"] == 1
    assert aligned_roads(before, routes("x", network=elsewhere))[0] == (*ROADS, "x")


def test_the_busiest_are_compared_and_ties_count_as_in():
    before = routes(*["ab"] * 4, *["bc"] * 3, *["ca"] * 2, "bd")
    after = routes(*["ab"] * 2, *["bd"] * 2, "ca")
    assert run(before, after, top=2).measured["top_2_roads_kept_share"] == 1 / 2
    assert run(before, routes("bc", "ca", "bd"), top=2).measured["top_2_roads_kept_share"] == 1 / 2
    assert run(before, routes("ab ab", "ca", "bc"), top=2).measured["top_2_roads_kept_share"] == 1


record = st.lists(st.sampled_from(sorted(ROADS)), max_size=5)
some = st.lists(st.tuples(record, st.sampled_from([(0, 5), (5, 9)])), max_size=6)


def data_of(some_, network=NETWORK):
    return Routes.from_records([r for r, _ in some_], network=network, slices=[s for _, s in some_])


def count(some_, turns, sliced):
    found = Counter()
    for r, slice_ in some_:
        items = [(a, b) for a, b in pairwise(r) if ROADS[a][1] == ROADS[b][0]] if turns else r
        found.update((item, slice_ if sliced else None) for item in items)
    return found


@settings(deadline=None, max_examples=150)
@given(some, some)
def test_against_counting(before, after):
    score = run(data_of(before), data_of(after, TURNED))
    sliced = {s for r, s in after if r} <= {s for r, s in before if r}
    for turns, key in ((False, "passages"), (True, "turns")):
        old, new = count(before, turns, sliced), count(after, turns, sliced)
        total = sum(old.values())
        changed = sum(abs(old[c] - new[c]) for c in old | new)
        assert score.measured[f"{key}_before"] == total
        assert score.measured[f"{key}_after"] == sum(new.values())
        assert score.measured[f"{key}_lost_share"] == (pytest.approx((old - new).total() / total) if total else None)
        assert score.measured[f"{key}_added_share"] == (pytest.approx((new - old).total() / total) if total else None)
        value = score.value if key == "passages" else score.measured["turns_changed_share"]
        assert value == (pytest.approx(changed / total) if total else None)


@pytest.mark.parametrize("records", [[], ["", ""]])
def test_nothing_published_and_nothing_at_all(records):
    nothing = routes(*records)
    score = run(routes("ab bc"), nothing)
    assert score.value == 1
    assert score.measured["top_20_roads_kept_share"] == 0
    empty = run(nothing, nothing)
    assert empty.value is None
    assert empty.charts == ()
    assert empty.measured["top_20_turns_kept_share"] is None
    assert run(nothing, routes("ab bc")).value is None
    blank = routes(*records, network=RoadNetwork.from_roads([]))
    assert run(routes("ab bc"), blank).value == 1
    assert run(blank, blank).value is None
    assert follows(nothing).tolist() == []


def test_one_road_and_twelve_bars():
    network = RoadNetwork.from_roads([(f"r{i}", "a", "a") for i in range(15)])
    many = Routes.from_records([[f"r{i}"] * (20 - i) for i in range(15)], network=network)
    busy, _ = run(many, many).charts
    assert len(busy.labels) == 12
    assert run(routes("ab"), routes("ab")).charts[0].title == "The busiest road"
    assert len(run(routes("ab"), routes("ab")).charts) == 1


def test_bad_parameters():
    with pytest.raises(ParameterError, match="traffic: top must be an integer from 1 to 1000, got 0"):
        Traffic(top=0)
