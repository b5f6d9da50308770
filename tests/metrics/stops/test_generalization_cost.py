"""The generalization cost against the worked example and all readings of a publication."""

import json
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.errors import InputError
from wayveil.metrics.stops.generalization_cost import GeneralizationCost
from wayveil.model import Stops, Taxonomy

GOLDEN = Path(__file__).parents[2] / "golden" / "generalization_cost" / "running_example.json"
PARENT = {
    "Place": "", "Food": "Place", "Italian": "Food", "Pizza": "Italian", "Pasta": "Italian", "Bar": "Food",
    "Park": "Place", "Health": "Place", "C1": "Health", "C2": "Health",
}  # fmt: skip
SECRET = {"Health", "C1", "C2"}
TREE = Taxonomy.from_parents(PARENT.items(), sensitive=["Health"])
TURNED = Taxonomy.from_parents([*list(PARENT.items())[::-1], ("Pub", "Food")], sensitive=["Health"])
PLACES = ["Pizza", "Pasta", "Bar", "Park", "C1", "C2"]


def stops(*records, taxonomy=TREE):
    return Stops.from_records([r.split() for r in records], taxonomy=taxonomy)


def run(before, after):
    return GeneralizationCost().run(before, after)


def test_the_worked_example():
    case = json.loads(GOLDEN.read_text(encoding="utf-8"))
    tree = Taxonomy.from_parents(case["parents"].items(), sensitive=case["sensitive"])
    before = stops(*case["original"], taxonomy=tree)
    assert tree.height == 3
    for which, records in case["published"].items():
        score = run(before, stops(*records, taxonomy=tree))
        for name, value in case["costs"][which].items():
            assert score.measured[name] == pytest.approx(float(Fraction(value)), abs=1e-15)
        assert score.value == score.measured["hops_loss"]
        assert score.measured["unaligned_trajectories"] == 0


# The definition.


def above(node):
    return [node, *(above(PARENT[node]) if PARENT[node] else [])]


def leaves(node):
    return sum(leaf in PLACES and node in above(leaf) for leaf in PARENT)


def hops(p, g):
    return Fraction(above(p).index(g), 3)


def lost(p, g):
    return Fraction(leaves(g) - leaves(p), 6)


def fits(p, g):
    return g in above(p) and (p in SECRET) == (g in SECRET)


def cost(old, new, distance):
    readings = []
    for chosen in combinations(range(len(old)), len(new)):
        pairs = [(old[i], g) for i, g in zip(chosen, new, strict=True)]
        if all(fits(p, g) for p, g in pairs):
            readings.append(sum(distance(p, g) for p, g in pairs) + len(old) - len(new))
    return Fraction(min(readings), len(old)) if readings else Fraction(1)


def printed(old, new, distance):
    if len(old) != len(new) or not all(fits(p, g) for p, g in zip(old, new, strict=True)):
        return Fraction(1)
    return sum(distance(p, g) for p, g in zip(old, new, strict=True)) / len(old)


def mean(values):
    return float(sum(values) / len(values)) if values else None


def by_definition(before, after):
    found = {}
    for name, distance in (("hops_loss", hops), ("leaves_loss", lost)):
        for part, wanted in (("", (True, False)), ("qi_", (False,)), ("sensitive_", (True,))):
            pairs = [
                ([x for x in old if (x in SECRET) in wanted], [x for x in new if (x in SECRET) in wanted])
                for old, new in zip(before, after, strict=True)
            ]
            found[part + name] = mean([cost(old, new, distance) for old, new in pairs if old])
        found[f"{name}_printed"] = mean([printed(o, n, distance) for o, n in zip(before, after, strict=True) if o])
    return found


stop = st.tuples(st.sampled_from(PLACES), st.integers(0, 3), st.booleans())
trips = st.lists(st.lists(stop, max_size=6), max_size=5)


def generalized(place, steps):
    allowed = [g for g in above(place) if fits(place, g)]
    return allowed[min(steps, len(allowed) - 1)]


@settings(deadline=None, max_examples=150)
@given(trips, st.sampled_from([TREE, TURNED]), st.booleans())
def test_random_publications(drawn, taxonomy, shift):
    before = [[place for place, _, _ in trip] for trip in drawn]
    after = [[generalized(place, steps) for place, steps, kept in trip if kept] for trip in drawn]
    if shift:  # what cannot be a generalization of its original
        after = after[1:] + after[:1]
    score = run(Stops.from_records(before, taxonomy=TREE), Stops.from_records(after, taxonomy=taxonomy))
    expected = by_definition(before, after)
    for name, value in expected.items():
        assert score.measured[name] == (None if value is None else pytest.approx(value, abs=1e-12)), name
    assert score.value == score.measured["hops_loss"]
    if not shift:
        assert score.measured["unaligned_trajectories"] == 0


def test_all_numbers_of_a_small_case():
    before = stops("Pizza C1 Bar", "Pizza Park", "Bar", "Bar C1", "")
    after = stops("Italian Bar", "Place Park", "", "C2", "")
    score = run(before, after)
    assert (score.name, score.better, score.percent) == ("generalization_cost", "lower", True)
    # One step up and one left out; three steps up; not published; nothing that it stands for.
    assert score.value == pytest.approx(((1 / 3 + 1) / 3 + 1 / 2 + 1 + 1) / 4)
    assert score.measured["leaves_loss"] == pytest.approx(((1 / 6 + 1) / 3 + 5 / 6 / 2 + 1 + 1) / 4)
    assert score.measured["hops_loss_printed"] == pytest.approx((1 + 1 / 2 + 1 + 1) / 4)
    assert score.measured["qi_hops_loss"] == pytest.approx((1 / 6 + 1 / 2 + 1 + 1) / 4)
    assert score.measured["sensitive_hops_loss"] == 1
    assert score.measured["unaligned_trajectories"] == 1
    assert score.measured["other_length_share"] == 3 / 4
    assert score.measured["not_published_share"] == 1 / 4
    (chart,) = score.charts
    hops_shares = dict(zip(chart.labels, chart.series[0].values, strict=True))
    assert {label: share for label, share in hops_shares.items() if share} == {
        "up to 50 %": 1 / 2,
        "100 %: lost": 1 / 2,
    }
    assert [series.name for series in chart.series] == ["hops", "leaves"]
    kept = run(before, before)
    assert kept.value == 0
    assert kept.charts[0].series[1].values[0] == 1


def test_a_sensitive_stop_is_not_published_as_another():
    score = run(stops("C1"), stops("Place"))
    assert (score.value, score.measured["hops_loss_printed"]) == (1, 1)
    assert run(stops("Park C1"), stops("Place")).value == pytest.approx((1 / 3 + 1) / 2)


def test_the_cheapest_reading_counts():
    # The last two for the bar, so that both stand for themselves.
    assert run(stops("Bar Pizza Bar"), stops("Food Bar")).value == pytest.approx((1 / 3 + 0 + 1) / 3)
    # Food is one step from the bar, and two from the pizza.
    assert run(stops("Pizza Bar"), stops("Food")).value == pytest.approx((1 / 3 + 1) / 2)


def test_only_a_root():
    tree = Taxonomy.from_parents([("Place", "")])
    before = stops("Place Place", taxonomy=tree)
    assert run(before, before).value == 0
    assert run(before, stops("Place", taxonomy=tree)).value == 1 / 2


@pytest.mark.parametrize("data", [stops(), stops("", "")])
def test_nothing(data):
    score = run(data, data)
    assert score.value is None
    assert score.charts == ()


def test_what_cannot_be_compared_is_told():
    with pytest.raises(InputError, match="the original has 1 and the published data 2"):
        run(stops("Bar"), stops("Bar", "Bar"))
    with pytest.raises(InputError, match=r"generalization_cost: the taxonomy .* \(1 are not in it\)"):
        run(stops("Bar"), stops("Pub", taxonomy=TURNED))
