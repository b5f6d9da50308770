"""Levels of stops, counted one by one."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.errors import InputError
from wayveil.metrics.stops.taxonomy_levels import TaxonomyLevels
from wayveil.model import Stops, Taxonomy

PARENT = {
    "Place": "", "Food": "Place", "Italian": "Food", "Pizza": "Italian", "Bar": "Food", "Park": "Place",
    "Health": "Place", "C1": "Health",
}  # fmt: skip
DEPTH = {"Place": 0, "Food": 1, "Italian": 2, "Pizza": 3, "Bar": 2, "Park": 1, "Health": 1, "C1": 2}
LEAVES, SECRET = {"Pizza", "Bar", "Park", "C1"}, {"Health", "C1"}
TREE = Taxonomy.from_parents(PARENT.items(), sensitive=["Health"])
TURNED = Taxonomy.from_parents([*list(PARENT.items())[::-1], ("Pub", "Food")], sensitive=["Health"])


def stops(*records, taxonomy=TREE):
    return Stops.from_records([r.split() for r in records], taxonomy=taxonomy)


def test_all_numbers_of_a_small_case():
    score = TaxonomyLevels().run(stops("Pizza C1 Bar", "Park C1", ""), stops("Italian Health Bar", "Place", ""))
    assert (score.name, score.better, score.percent, score.value) == ("taxonomy_levels", "higher", True, 1 / 5)
    expected = {
        "own_place_share": 1 / 5,
        "left_out_share": 1 / 5,
        "root_share": 1 / 5,
        "qi_own_place_share": 1 / 3,
        "qi_left_out_share": 0,
        "sensitive_own_place_share": 0,
        "sensitive_left_out_share": 1 / 2,
    }
    for part, before, after in (
        ("qi", (0, 1 / 3, 1 / 3, 1 / 3), (1 / 3, 0, 2 / 3, 0)),
        ("sensitive", (0, 0, 1, 0), (0, 1 / 2, 0, 0)),
    ):
        expected |= {f"{part}_level_{i}_share_before": share for i, share in enumerate(before)}
        expected |= {f"{part}_level_{i}_share_after": share for i, share in enumerate(after)}
    assert score.measured == pytest.approx(expected)
    open_, secret = score.charts
    assert (open_.title, secret.title) == ("Levels of stops that are not sensitive", "Levels of sensitive stops")
    assert open_.labels == secret.labels == ("0: root", "1", "2", "3", "left out")
    assert open_.series[0].values == pytest.approx((0, 1 / 3, 1 / 3, 1 / 3, 0))
    assert secret.series[1].values == pytest.approx((0, 1 / 2, 0, 0, 1 / 2))


records = st.lists(st.lists(st.sampled_from(sorted(PARENT)), max_size=5), max_size=5)


@settings(deadline=None, max_examples=150)
@given(records, records, st.sampled_from([TREE, TURNED]))
def test_counts(before, after, taxonomy):
    found = TaxonomyLevels().run(
        Stops.from_records(before, taxonomy=TREE), Stops.from_records(after, taxonomy=taxonomy)
    )
    for part, kinds in (("", (True, False)), ("qi_", (False,)), ("sensitive_", (True,))):
        old, new = ([x for r in side for x in r if (x in SECRET) in kinds] for side in (before, after))
        left_out, own = found.measured[f"{part}left_out_share"], found.measured[f"{part}own_place_share"]
        if not old:
            assert left_out is own is None
            continue
        assert own == sum(x in LEAVES for x in new) / len(old)
        assert left_out == max(0, len(old) - len(new)) / len(old)
        if part:
            for level in range(4):
                counts = [sum(DEPTH[x] == level for x in side) / len(old) for side in (old, new)]
                names = [f"{part}level_{level}_share_{when}" for when in ("before", "after")]
                assert [found.measured[name] for name in names] == counts
        else:
            assert found.measured["root_share"] == new.count("Place") / len(old)
    assert found.value == found.measured["own_place_share"]


def test_without_stops_of_a_kind_there_is_no_chart():
    assert TaxonomyLevels().run(stops(), stops()).charts == ()
    assert len(TaxonomyLevels().run(stops("Bar"), stops("Food")).charts) == 1


def test_another_taxonomy_is_told():
    with pytest.raises(InputError, match=r"taxonomy_levels: the taxonomy .* \(1 are not in it\)"):
        TaxonomyLevels().run(stops("Bar"), stops("Pub", taxonomy=TURNED))
