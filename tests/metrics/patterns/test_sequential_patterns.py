"""Sequential patterns, coverage and distance coefficients against literal restatements."""

from collections import Counter
from fractions import Fraction
from itertools import combinations
from math import ceil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.errors import InputError, ParameterError
from wayveil.metrics.patterns import sequential_patterns as module
from wayveil.metrics.patterns.sequential_patterns import SequentialPatterns
from wayveil.model import Stops, Taxonomy

PARENT = {
    "Place": "", "Food": "Place", "Italian": "Food", "Pizza": "Italian", "Pasta": "Italian", "Bar": "Food",
    "Park": "Place", "Health": "Place", "C1": "Health", "C2": "Health",
}  # fmt: skip
LEAVES = ["Pizza", "Pasta", "Bar", "Park", "C1", "C2"]
TREE = Taxonomy.from_parents(PARENT.items(), sensitive=["Health"])
TURNED = Taxonomy.from_parents([*list(PARENT.items())[::-1], ("Pub", "Food")], sensitive=["Health"])


def stops(*records, taxonomy=TREE):
    return Stops.from_records([r.split() for r in records], taxonomy=taxonomy)


# The definitions.


def above(node):
    return [node, *(above(PARENT[node]) if PARENT[node] else [])]


def n_leaves(node):
    return sum(node in above(leaf) for leaf in LEAVES)


def patterns(records, support, longest):
    found = Counter()
    for r in records:
        found.update({part for n in range(1, longest + 1) for part in combinations(r, n)})
    return {part for part, number in found.items() if number >= support}


def covered(p, q):
    return len(p) == len(q) and all(b in above(a) for a, b in zip(p, q, strict=True))


def coverage(old, new):
    return len([p for p in old if any(covered(p, q) for q in new)]) / len(old) if old else None


def distance(old, new, of):
    if not old:
        return None
    nearest = [min([of(p, q) for q in new if covered(p, q)], default=Fraction(1)) for p in old]
    return float(sum(nearest) / len(old))


def hops(p, q):
    return Fraction(sum(above(a).index(b) for a, b in zip(p, q, strict=True)), 3 * len(p))


def lost(p, q):
    return Fraction(sum(n_leaves(b) - n_leaves(a) for a, b in zip(p, q, strict=True)), 6 * len(p))


def untold(p, q):
    return Fraction(sum(above(a).index(b) for a, b in zip(p, q, strict=True)), sum(len(above(a)) - 1 for a in p))


def by_definition(before, after, share, longest):
    n = sum(bool(r) for r in before)
    counts = [max(2, ceil(share * times * n)) for times in (Fraction(1, 2), 1, 2, 4)]
    old, new = (patterns(records, counts[1], longest) for records in (before, after))
    found = {
        "min_support": counts[1],
        "patterns_covered_share_upper_bound": coverage(old, new),
        "patterns_covered_share": coverage(old, {q for q in new if set(q) != {"Place"}}),
        "patterns_covered_share_lower_bound": coverage(old, {q for q in new if "Place" not in q}),
        "patterns_kept_share": len(old & new) / len(old) if old else None,
        "patterns_told_share": 1 - distance(old, new, untold) if old else None,
        "hops_loss": distance(old, new, hops),
        "leaves_loss": distance(old, new, lost),
        "longest_before": max(map(len, old), default=0),
        "longest_after": max(map(len, new), default=0),
    }
    for name, count in zip(("_at_half", "", "_at_double", "_at_fourfold"), counts, strict=True):
        found[f"patterns_before{name}"] = len(patterns(before, count, longest))
        found[f"patterns_after{name}"] = len(patterns(after, count, longest))
    return found


trips = st.lists(
    st.lists(st.tuples(st.sampled_from(LEAVES[:4]), st.integers(0, 3), st.booleans()), max_size=5), max_size=9
)


@settings(deadline=None, max_examples=100)
@given(trips, st.sampled_from([Fraction(1, 8), Fraction(1, 3), Fraction(2, 3)]), st.integers(1, 4), st.booleans())
def test_random_publications(drawn, share, longest, turned):
    before = [[place for place, _, _ in trip] for trip in drawn]
    after = [[above(place)[min(up, len(above(place)) - 1)] for place, up, kept in trip if kept] for trip in drawn]
    score = SequentialPatterns(support=share, longest=longest).run(
        Stops.from_records(before, taxonomy=TREE), Stops.from_records(after, taxonomy=TURNED if turned else TREE)
    )
    expected = by_definition(before, after, share, longest)
    assert set(score.measured) == set(expected)
    for name, value in expected.items():
        assert score.measured[name] == (None if value is None else pytest.approx(value, abs=1e-12)), name
    assert score.value == score.measured["patterns_told_share"]


def test_all_numbers_of_a_small_case():
    before = stops("Pizza Bar", "Pizza Bar", "Park", "Park", "")
    after = stops("Italian Place", "Italian Place", "Place", "Place", "")
    score = SequentialPatterns(support=0.5).run(before, after)
    assert (score.name, score.better, score.percent) == ("sequential_patterns", "higher", True)
    assert score.meaning == (
        "how exactly the original's sequential patterns are still told: 100 % by the same places, less by levels above"
    )
    # Before: Pizza, Bar, Park, Pizza Bar.  After: Italian, Place, Italian Place.
    # Pizza is three levels down, Bar two, Park one: told by Italian, Place, Place and Italian Place.
    assert score.value == pytest.approx((2 / 3 + 0 + 0 + (5 - 3) / 5) / 4)
    measured = score.measured
    assert (measured["patterns_covered_share"], measured["patterns_kept_share"]) == (2 / 4, 0)
    assert measured["min_support"] == 2
    assert measured["patterns_covered_share_upper_bound"] == 1
    assert measured["patterns_covered_share_lower_bound"] == 1 / 4
    assert measured["hops_loss"] == pytest.approx((1 / 3 + 2 / 3 + 1 / 3 + (1 + 2) / 6) / 4)
    assert measured["leaves_loss"] == pytest.approx((1 / 6 + 5 / 6 + 5 / 6 + (1 + 5) / 12) / 4)
    assert (measured["patterns_before"], measured["patterns_after"]) == (4, 3)
    assert (measured["patterns_before_at_double"], measured["patterns_after_at_double"]) == (0, 1)
    number, by_length = score.charts
    assert number.labels == ("25 %", "50 %", "100 %")
    assert [series.values for series in number.series] == [(4, 4, 0), (3, 3, 1)]
    assert by_length.labels == ("1", "2")
    assert [series.values for series in by_length.series] == [
        pytest.approx((1, 1)),
        pytest.approx((1 / 3, 1)),
        pytest.approx((1 / 3, 0)),
    ]


def test_the_support_is_a_share_of_the_original_rounded_up():
    data = stops(*["Bar"] * 9, "Park")
    assert SequentialPatterns(support="0.3").run(data, data).measured["min_support"] == 3
    assert SequentialPatterns(support="0.31").run(data, data).measured["min_support"] == 4
    assert SequentialPatterns(support="0.3").run(data, stops("Bar")).measured["patterns_after"] == 0


def test_patterns_below_the_support_are_left_out():
    before = stops("Park", "Park", *["Pizza Bar"] * 6)
    after = stops(*["Italian Bar"] * 6, "Park", "Park")
    score = SequentialPatterns(support="0.5").run(before, after)
    # Park is a pattern at half the support only; Pizza, Bar and Pizza Bar are covered.
    assert (score.measured["patterns_before_at_half"], score.measured["patterns_before"]) == (4, 3)
    assert score.measured["patterns_covered_share"] == 1
    assert score.value == pytest.approx((2 / 3 + 1 + 4 / 5) / 3)
    assert score.measured["hops_loss"] == pytest.approx((1 / 3 + 0 + 1 / 6) / 3)


def test_what_cannot_be_listed_is_told(monkeypatch):
    data = stops(*["Pizza Bar Park Pasta"] * 2, *["Pizza Bar"] * 6)
    monkeypatch.setattr(module, "_MOST_PATTERNS", 10)
    score = SequentialPatterns(support="0.25").run(data, data)
    # At 2 trajectories there are 15 patterns, at 3 trajectories 3; 2 is asked for, so 4 is used.
    assert score.measured["min_support"] == 4
    assert score.measured["patterns_before"] is score.measured["patterns_after_at_half"] is None
    assert score.measured["patterns_before_at_double"] == 3
    assert score.meaning.endswith(
        "; with a support of 50.00% instead of 25.00%, as there are too many patterns to list"
    )
    assert score.charts[0].series[0].values == (None, None, 3, 3)
    only_half = SequentialPatterns(support="0.5").run(data, data)
    assert (only_half.measured["min_support"], only_half.measured["patterns_before_at_half"]) == (4, None)
    assert "instead" not in only_half.meaning
    monkeypatch.setattr(module, "_MOST_PATTERNS", 2)
    assert SequentialPatterns(support="0.25").run(data, data).measured["min_support"] == 16
    monkeypatch.setattr(module, "_MOST_PATTERNS", 10**6)
    monkeypatch.setattr(module, "_MOST_STEPS", 60)
    monkeypatch.setattr(module, "_STEPS_PER_STOP", 1)
    assert SequentialPatterns(support="0.25").run(data, data).measured["min_support"] > 2


def test_one_side_too_many(monkeypatch):
    monkeypatch.setattr(module, "_MOST_PATTERNS", 10)
    many, few = stops(*["Pizza Bar Park Pasta"] * 4), stops(*["Pizza"] * 4)
    score = SequentialPatterns(support="0.5").run(few, many)
    assert score.measured["patterns_before"] == 1
    assert score.measured["patterns_after"] is None
    assert score.measured["min_support"] == 8


@pytest.mark.parametrize("data", [stops(), stops("", ""), stops("Bar")])
def test_nothing(data):
    score = SequentialPatterns().run(data, data)
    assert score.value is score.measured["hops_loss"] is None
    assert score.charts == ()
    assert score.measured["patterns_before"] == 0


def test_only_a_root():
    tree = Taxonomy.from_parents([("Place", "")])
    data = stops("Place", "Place", taxonomy=tree)
    score = SequentialPatterns().run(data, data)
    assert (score.value, score.measured["hops_loss"]) == (0, 0)


def test_what_is_wrong_is_told():
    with pytest.raises(ParameterError, match="support must be more than 0"):
        SequentialPatterns(support=0)
    with pytest.raises(ParameterError, match="longest must be an integer from 1 to 10"):
        SequentialPatterns(longest=11)
    with pytest.raises(InputError, match=r"sequential_patterns: the taxonomy .* \(1 are not in it\)"):
        SequentialPatterns().run(stops("Bar"), stops("Pub", taxonomy=TURNED))
