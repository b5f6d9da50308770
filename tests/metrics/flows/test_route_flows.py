"""Flows between intersections against counting."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.errors import ParameterError
from wayveil.metrics.flows import RouteFlows
from wayveil.model import RoadNetwork, Routes

# A triangle a, b, c with a way out to d; the other network has another order of nodes, and one more.
ROADS = {"ab": "ab", "bc": "bc", "ca": "ca", "ba": "ba", "bd": "bd"}
NETWORK = RoadNetwork.from_roads([(name, *ends) for name, ends in ROADS.items()])
OTHER = RoadNetwork.from_roads([(name, *ROADS[name]) for name in ("bd", "ba", "ca", "bc", "ab")] + [("_b", "_", "b")])


def routes(*records, network=NETWORK):
    return Routes.from_records([r.split() for r in records], network=network)


def test_all_numbers_of_a_small_case():
    before = routes("ab bc", "ab bc", "ab bd", "ca", "")
    after = routes("ab bc", "_b bc", "ca", network=OTHER)
    score = RouteFlows(top=1).run(before, after)
    # a-c 2, a-d 1, c-a 1 against a-c 1, _-c 1, c-a 1
    assert (score.name, score.better, score.percent) == ("route_flows", "lower", True)
    assert score.value == pytest.approx(1 - 2 / 4)
    assert score.measured == pytest.approx(
        {
            "trips_before": 4,
            "trips_after": 3,
            "trips_moved_share": (1 / 6 + 1 / 4 + 1 / 12 + 1 / 3) / 2,
            "flows_before": 3,
            "flows_after": 3,
            "flows_kept_share": 2 / 3,
            "top_1_flows_kept_share": 1,
            "origins_moved_share": (abs(3 / 4 - 1 / 3) + abs(1 / 4 - 1 / 3) + 1 / 3) / 2,
            "destinations_moved_share": (abs(2 / 4 - 2 / 3) + 1 / 4 + abs(1 / 4 - 1 / 3)) / 2,
        }
    )
    (chart,) = score.charts
    assert chart.labels == ("a → c", "a → d", "c → a")
    assert [s.values for s in chart.series] == [(2, 1, 1), (1, 0, 1)]
    assert chart.x_label == "from intersection to intersection"


records = st.lists(st.lists(st.sampled_from(sorted(ROADS)), max_size=4), max_size=6)


@settings(deadline=None, max_examples=100)
@given(records, records, st.sampled_from([NETWORK, OTHER]))
def test_against_counting(before, after, network):
    score = RouteFlows().run(Routes.from_records(before, network=NETWORK), Routes.from_records(after, network=network))
    old, new = (Counter((r[0][0], r[-1][1]) for r in side if r) for side in (before, after))
    if old and new:
        apart = sum(abs(old[k] / old.total() - new[k] / new.total()) for k in old | new) / 2
        assert score.measured["trips_moved_share"] == pytest.approx(apart)
    else:
        assert score.measured["trips_moved_share"] is None
    assert score.value == (pytest.approx(1 - (old & new).total() / max(old.total(), new.total())) if old else None)


def test_nothing_and_mistakes():
    blank = RoadNetwork.from_roads([])
    assert RouteFlows().run(routes("ab"), routes("", network=blank)).value == 1
    assert RouteFlows().run(routes(network=blank), routes(network=blank)).charts == ()
    with pytest.raises(ParameterError, match="route_flows: top must be"):
        RouteFlows(top=0)
