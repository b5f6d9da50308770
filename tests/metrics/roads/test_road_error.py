"""The error rate of roads: the paper's examples, and the formula in exact numbers on random data."""

from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from statistics import pstdev

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.errors import ParameterError
from wayveil.metrics.roads.road_error import RoadError
from wayveil.model import RoadNetwork, Routes

NETWORK = RoadNetwork.from_roads([(name, *name) for name in ("AB", "BC", "BD", "CA", "IA", "JA", "KA")])
TURNED = RoadNetwork.from_roads([(name, *name) for name in ("KA", "CA", "BC", "BD", "AB")])


def routes(*records, network=NETWORK, **more):
    return Routes.from_records([r.split() for r in records], network=network, **more)


def run(before, after, **given_):
    return RoadError(**given_).run(before, after)


def figure_6():
    """Figure 6 of Gurung et al.: three kinds of trajectories, of 10, 5 and 6 people."""
    nodes = [1, 2, 4, 7, 8, 9]
    names = [f"n{a}n{b}" for a, b in pairwise(nodes)]
    network = RoadNetwork.from_roads([(f"n{a}n{b}", f"n{a}", f"n{b}") for a, b in pairwise(nodes)])
    before = Routes.from_records([names] * 10 + [names[:3]] * 5 + [names[1:4]] * 6, network=network)
    return names, network, before


def test_figure_6_with_the_first_as_representative():
    names, network, before = figure_6()
    after = Routes.from_records([names] * 21, network=network)
    score = run(before, after)
    # 6/15 + 0 + 0 + 5/16 + 11/10 over 5 roads; the paper prints 58 % for this sum.
    assert score.value == pytest.approx(0.3625)
    assert score.measured["error_rate_deviation_published_roads"] == pytest.approx(0.4026474885057648)
    assert score.charts[0].series[0].values == pytest.approx((0, 0, 5 / 16, 6 / 15, 11 / 10))
    assert score.charts[0].labels == ("n2n4", "n4n7", "n7n8", "n1n2", "n8n9")


def test_figure_6_trimmed():
    names, network, before = figure_6()
    score = run(before, Routes.from_records([names[:4]] * 21, network=network))
    assert score.value == pytest.approx(0.178125)
    assert score.measured["error_rate_all_roads"] == pytest.approx(0.3425)
    assert score.measured["error_rate_deviation_all_roads"] == pytest.approx(0.3663673020344474)
    frequent = run(before, Routes.from_records([names[:4]] * 21, network=network), k=10)
    assert frequent.value == pytest.approx(0.3425)
    assert frequent.measured["frequent_roads_lost_share"] == pytest.approx(1 / 5)
    assert run(before, Routes.from_records([names[:4]] * 21, network=network), k=11).value == pytest.approx(0.178125)


def test_all_numbers_of_figure_1():
    before = routes("IA AB BC", "JA AB BC", "KA AB BC", "AB BD")
    after = routes("AB BC", "AB BC", "AB BC", "AB BC")
    for k, more in (("published", {}), (3, {"roads_frequent": 2, "frequent_roads_lost_share": 0})):
        score = run(before, after, k=k)
        assert score.value == pytest.approx(1 / 6)
        assert (score.name, score.better, score.percent) == ("road_error", "lower", True)
        if k == 3:
            more |= {"error_rate_frequent_roads": 1 / 6, "error_rate_deviation_frequent_roads": 1 / 6}
        assert score.measured == pytest.approx(
            {
                "slices": 1,
                "error_rate_published_roads": 1 / 6,
                "error_rate_deviation_published_roads": 1 / 6,
                "error_rate_all_roads": 13 / 18,
                "error_rate_deviation_all_roads": float(pstdev([0, 1 / 3, 1, 1, 1, 1])),
                "roads_before": 6,
                "roads_after": 2,
                "roads_lost_share": 4 / 6,
                "roads_new": 0,
                **more,
            }
        )
        assert score.meaning.startswith(
            f"mean error of the traffic of the {'published' if k != 3 else 'frequent'} roads"
        )


def test_roads_without_traffic_before_are_skipped():
    score = run(routes("AB", "AB"), routes("AB", "BD BD"))
    assert score.value == 1 / 2
    assert (score.measured["roads_new"], score.measured["roads_after"], score.measured["roads_before"]) == (1, 2, 1)


def test_k_counts_people_and_not_trips():
    before = routes("AB", "AB", "AB AB", "BC", "BC", owner=[0, 0, 0, 1, 2])
    after = routes("AB", "BC")
    assert run(before, after, k=2).value == pytest.approx(1 / 2)
    assert run(before, after, k=1).value == pytest.approx((3 / 4 + 1 / 2) / 2)
    assert run(before, after, k=3).value is None
    hidden = replace(before, owners="hidden")
    assert run(hidden, after, k=3).value == pytest.approx(3 / 4)


def test_classes_of_error():
    before = routes(*["AB"] * 20, *["BC"] * 20, *["BD"] * 20, *["CA"] * 20, *["IA"] * 20, "JA", "KA")
    numbers = {"AB": 20, "BC": 19, "BD": 18, "CA": 24, "IA": 10, "JA": 5}
    score = run(before, routes(*[name for name, n in numbers.items() for _ in range(n)]))
    chart = score.charts[1]
    assert dict(zip(chart.labels, chart.series[0].values, strict=True)) == pytest.approx(
        {
            "0: exact": 1 / 7,
            "up to 5 %": 1 / 7,
            "5 to 10 %": 1 / 7,
            "10 to 20 %": 1 / 7,
            "20 to 50 %": 1 / 7,
            "more than 50 %": 1 / 7,
            "not published": 1 / 7,
        }
    )


record = st.lists(st.sampled_from(["AB", "BC", "BD", "CA"]), max_size=4)
trip = st.tuples(record, st.sampled_from([(0, 5), (5, 9)]), st.integers(0, 2))
some = st.lists(trip, max_size=8)


@settings(deadline=None, max_examples=150)
@given(some, some, st.sampled_from(["published", 1, 2, 3]))
def test_against_the_formula(before, after, k):
    data = [
        Routes.from_records(
            [r for r, _, _ in x], network=network, slices=[s for _, s, _ in x], owner=[o for _, _, o in x]
        )
        for x, network in ((before, NETWORK), (after, TURNED))
    ]
    score = run(*data, k=k)
    sliced = {s for r, s, _ in after if r} <= {s for r, s, _ in before if r}
    old, new, people = Counter(), Counter(), defaultdict(set)
    for numbers, trips in ((old, before), (new, after)):
        for r, s, o in trips:
            for road in r:
                numbers[road, sliced and s] += 1
                if numbers is old:
                    people[road, sliced and s].add(o)
    error = {c: Fraction(abs(new[c] - old[c]), old[c]) for c in old}
    over = {
        "all": list(error.values()),
        "published": [e for c, e in error.items() if new[c]],
        "frequent": [e for c, e in error.items() if k != "published" and len(people[c]) >= k],
    }
    for which, errors in over.items():
        if which == "frequent" and k == "published":
            continue
        mean = pytest.approx(float(sum(errors) / len(errors))) if errors else None
        spread = pytest.approx(float(pstdev(errors)), abs=1e-9) if errors else None
        assert score.measured[f"error_rate_{which}_roads"] == mean
        assert score.measured[f"error_rate_deviation_{which}_roads"] == spread
    assert score.value == score.measured[f"error_rate_{'published' if k == 'published' else 'frequent'}_roads"]
    assert score.measured["roads_before"] == len(old)
    assert score.measured["roads_new"] == len(new.keys() - old.keys())
    for label, value in zip(score.charts[0].labels, score.charts[0].series[0].values, strict=True) if old else ():
        own = [e for (road, _), e in error.items() if road == label]
        assert value == pytest.approx(float(sum(own) / len(own)))


@pytest.mark.parametrize("k", ["published", 5])
@pytest.mark.parametrize("records", [[], ["", ""]])
def test_nothing_published_and_nothing_at_all(records, k):
    nothing = routes(*records)
    score = run(routes("AB BC"), nothing, k=k)
    assert score.value is None
    assert score.measured["error_rate_all_roads"] == 1
    assert score.measured["roads_lost_share"] == 1
    empty = run(nothing, nothing, k=k)
    assert empty.value is None
    assert empty.charts == ()
    assert run(nothing, routes("AB"), k=k).value is None
    blank = routes(*records, network=RoadNetwork.from_roads([]))
    assert run(blank, blank, k=k).value is None
    assert run(routes("AB"), blank, k=k).measured["error_rate_all_roads"] == 1


def test_no_shared_road():
    score = run(routes("AB"), routes("x", network=RoadNetwork.from_roads([("x", "1", "2")])))
    assert score.value is None
    assert score.measured["roads_new"] == 1


def test_twenty_roads_are_drawn():
    network = RoadNetwork.from_roads([(f"r{i}", "a", "a") for i in range(30)])
    many = Routes.from_records([[f"r{i}"] for i in range(30)], network=network)
    assert len(run(many, many).charts[0].labels) == 20


def test_bad_parameters():
    with pytest.raises(ParameterError, match="road_error: k must be an integer >= 1 or 'published', got 0"):
        RoadError(k=0)


def test_the_map_has_the_busiest_roads() -> None:
    places = {"a": (0.0, 0.0), "b": (100.0, 0.0), "c": (100.0, 50.0)}
    network = RoadNetwork.from_roads([("ab", "a", "b"), ("bc", "b", "c"), ("cb", "c", "b")], places=places)
    original = Routes.from_records([["ab", "bc"], ["ab"], ["ab", "bc"]], network=network)
    published = Routes.from_records([["ab"], ["ab"], ["ab", "bc"]], network=network)
    drawn = [chart for chart in RoadError().run(original, published).charts if chart.kind == "map"]
    assert drawn[0].labels == ("ab", "bc")
    assert drawn[0].series[0].values == (0.0, 0.5)
    assert drawn[0].lines == ((0.0, 0.0, 100.0, 0.0), (100.0, 0.0, 100.0, 50.0))
    plain = replace(original, network=replace(network, node_x=None, node_y=None))
    assert not [chart for chart in RoadError().run(plain, published).charts if chart.kind == "map"]
