"""Flows between places against counting."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.errors import ParameterError
from wayveil.metrics.flows import Flows
from wayveil.model import Visits


def visits(*records):
    """Each record is text such as "abc": places, one after the other."""
    return Visits.from_records([[(p, t) for t, p in enumerate(r)] for r in records])


def run(before, after, **given_):
    return Flows(**given_).run(before, after)


def test_all_numbers_of_a_small_case():
    score = run(visits("abc", "ac", "b", "ca", ""), visits("axc", "ab", "", "b", "", ""), top=1)
    # ac 2, bb 1, ca 1 against ac 1, ab 1, bb 1
    assert (score.name, score.better, score.percent) == ("flows", "lower", True)
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
            "origins_moved_share": (abs(2 / 4 - 2 / 3) + abs(1 / 4 - 1 / 3) + 1 / 4) / 2,
            "destinations_moved_share": (1 / 4 + abs(1 / 4 - 2 / 3) + abs(2 / 4 - 1 / 3)) / 2,
        }
    )
    (chart,) = score.charts
    assert chart.title == "The 3 largest flows"
    assert chart.labels == ("a → c", "b → b", "c → a")
    assert [s.values for s in chart.series] == [(2, 1, 1), (1, 1, 0)]
    assert chart.x_label == "from place to place"


records = st.lists(st.text("abcd", max_size=4), max_size=7)


@settings(deadline=None, max_examples=150)
@given(records, records)
def test_against_counting(before, after):
    score = run(visits(*before), visits(*after))
    old, new = (Counter((r[0], r[-1]) for r in side if r) for side in (before, after))
    assert score.measured["trips_before"] == old.total()
    assert score.measured["flows_after"] == len(new)
    assert score.value == (pytest.approx(1 - (old & new).total() / max(old.total(), new.total())) if old else None)
    for name, part in (("trips_moved_share", slice(2)), ("origins_moved_share", 0), ("destinations_moved_share", 1)):
        found = score.measured[name]
        if not old or not new:
            assert found is None
            continue
        sides = [Counter(), Counter()]
        for side, counts in zip(sides, (old, new), strict=True):
            for pair, n in counts.items():
                side[pair[part]] += n
        apart = sum(abs(sides[0][k] / old.total() - sides[1][k] / new.total()) for k in sides[0] | sides[1]) / 2
        assert found == pytest.approx(apart)


@pytest.mark.parametrize("nothing", [visits(), visits("", "")])
def test_nothing(nothing):
    score = run(visits("ab"), nothing)
    assert (score.value, score.measured["flows_kept_share"]) == (1, 0)
    assert score.charts[0].title == "The largest flow"
    empty = run(nothing, nothing)
    assert (empty.value, empty.charts, empty.measured["flows_kept_share"]) == (None, (), None)


def test_twelve_bars_and_bad_parameters():
    many = visits(*[chr(97 + i) * 2 for i in range(15)])
    assert len(run(many, many).charts[0].labels) == 12
    with pytest.raises(ParameterError, match="flows: top must be"):
        Flows(top=0)
