"""Flows between kinds of places against counting."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.errors import InputError, ParameterError
from wayveil.metrics.flows import StopFlows
from wayveil.metrics.stops.nodes import kinds_of_nodes
from wayveil.model import Stops, Taxonomy

PARENT = {
    "Bar": "Food", "Pizza": "Italian", "Place": "", "Food": "Place", "Italian": "Food", "Park": "Place",
    "Health": "Place", "C1": "Health",
}  # fmt: skip
KIND = {
    "Bar": "Food", "Pizza": "Food", "Italian": "Food", "Food": "Food", "Park": "Park", "Health": "Health",
    "C1": "Health", "Place": "Place",
}  # fmt: skip
TREE = Taxonomy.from_parents(PARENT.items(), sensitive=["Health"])
TURNED = Taxonomy.from_parents([*list(PARENT.items())[::-1], ("Pub", "Food")], sensitive=["Health"])


def stops(*records, taxonomy=TREE):
    return Stops.from_records([r.split() for r in records], taxonomy=taxonomy)


def test_kinds():
    for tree in (TREE, TURNED):
        found = [None if k < 0 else tree.nodes[k] for k in kinds_of_nodes(tree).tolist()]
        assert found == [{"Place": None, "Pub": "Food"}.get(name, KIND.get(name)) for name in tree.nodes]
    assert kinds_of_nodes(Taxonomy.from_parents([("Place", "")])).tolist() == [-1]


def test_all_numbers_of_a_small_case():
    before = stops("Bar Park", "Pizza C1 Park", "Park", "C1 Bar", "")
    after = stops("Food Place Park", "Place Park", "Park", "")
    score = StopFlows(top=1).run(before, after)
    # Food-Park 2, Park-Park 1, Health-Food 1 against Food-Park 1, Place-Park 1, Park-Park 1
    assert (score.name, score.better, score.percent) == ("stop_flows", "lower", True)
    assert score.value == pytest.approx(1 - 2 / 4)
    assert score.measured == pytest.approx(
        {
            "trips_before": 4,
            "trips_after": 3,
            "trips_moved_share": (1 / 6 + 1 / 12 + 1 / 4 + 1 / 3) / 2,
            "flows_before": 3,
            "flows_after": 3,
            "flows_kept_share": 2 / 3,
            "top_1_flows_kept_share": 1,
            "origins_moved_share": (abs(2 / 4 - 1 / 3) + abs(1 / 4 - 1 / 3) + 1 / 4 + 1 / 3) / 2,
            "destinations_moved_share": 1 / 4,
            "unknown_share": 1 / 3,
        }
    )
    (chart,) = score.charts
    assert set(chart.labels) == {"Food → Park", "Park → Park", "Health → Food"}
    assert chart.labels[0] == "Food → Park"
    assert chart.x_label == "from kind to kind"


records = st.lists(st.lists(st.sampled_from(sorted(PARENT)), max_size=4), max_size=6)


@settings(deadline=None, max_examples=150)
@given(records, records, st.sampled_from([TREE, TURNED]))
def test_against_counting(before, after, taxonomy):
    score = StopFlows().run(Stops.from_records(before, taxonomy=TREE), Stops.from_records(after, taxonomy=taxonomy))
    old, new = (Counter((KIND[r[0]], KIND[r[-1]]) for r in side if r) for side in (before, after))
    if old and new:
        apart = sum(abs(old[k] / old.total() - new[k] / new.total()) for k in old | new) / 2
        assert score.measured["trips_moved_share"] == pytest.approx(apart)
    else:
        assert score.measured["trips_moved_share"] is None
    assert score.value == (pytest.approx(1 - (old & new).total() / max(old.total(), new.total())) if old else None)
    unknown = sum(n for pair, n in new.items() if "Place" in pair)
    assert score.measured["unknown_share"] == (pytest.approx(unknown / new.total()) if new else None)


def test_nothing_and_mistakes():
    assert StopFlows().run(stops(""), stops()).value is None
    bare = Taxonomy.from_parents([("Place", "")])
    assert StopFlows().run(stops("Place", taxonomy=bare), stops("Place", taxonomy=bare)).value == 0
    with pytest.raises(InputError, match=r"stop_flows: the taxonomy .* \(1 are not in it\)"):
        StopFlows().run(stops("Bar"), stops("Pub", taxonomy=TURNED))
    with pytest.raises(ParameterError, match="stop_flows: top must be"):
        StopFlows(top=0)
